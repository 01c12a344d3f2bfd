// rooms.c - `pons map rooms WORLD [name N]`: the rooms that a world's map has, and one of them as a zone with a name.
//
// What a person says where a robot stands names a place (docs/how-to/named-places.md); here a whole room gets its outline.
#include "cli/map/map.h"
#include "pons/map_rooms.h"

#include <stdlib.h>
#include <string.h>

static int rooms_of(const char *name, pons_room **ret, size_t *ret_n, pons_error *err)
{
    pons_autovalue world = NULL;
    pons_map *m = NULL;
    int rc = app_world(name, &world, err);
    const char *path = pons_get_str(pons_get(world, "map"), "path", NULL);
    if (rc == PONS_OK && !path) {
        rc = app_bad(err, "map rooms: the world %s has no map.file", name);
    }
    rc = rc < 0 ? rc : pons_map_load(path, &m, err);
    rc = rc < 0 ? rc : pons_map_rooms(m, PONS_ROOM_DOOR_M, ret, ret_n, err);
    pons_map_destroy(m);
    return rc;
}

static void tell_rooms(const cli *c, const pons_room *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c->json) {
            pons_autovalue row =
                pons_object("type", json_string("room"), "number", json_integer((json_int_t)i + 1),
                            "area_m2", json_real(all[i].area_m2), "x", json_real(all[i].x), "y",
                            json_real(all[i].y), NULL);
            cli_print_json(row);
        } else {
            cli_out("%2zu  %5.1f m2, its middle at %.2f %.2f\n", i + 1, all[i].area_m2, all[i].x,
                    all[i].y);
        }
    }
}

int map_rooms(cli *c, const char *world, const char *number, map_zone *zone, pons_error *err)
{
    pons_room *all = NULL;
    size_t n = 0;
    double which = 0.0;
    char id[40], target[80];
    pons_autobuf polygon = PONS_BUF_INIT;
    int rc = rooms_of(world, &all, &n, err);
    if (rc == PONS_OK && !number) {
        tell_rooms(c, all, n);
    }
    if (rc < 0 || !number) {
        free(all);
        return rc;
    }
    rc = cli_number(number, "rooms name", 1.0, (double)n, &which, err);
    if (rc == PONS_OK && !zone->en && !zone->zh) {
        rc = app_bad(err, "map rooms: say its name: --en kitchen, --zh 厨房");
    }
    if (rc == PONS_OK) {
        const pons_room *r = &all[(size_t)which - 1];
        for (int i = 0; i < r->n; i++) {
            pons_buf_printf(&polygon, "%s%.2f,%.2f", i ? " " : "", r->corners[i][0],
                            r->corners[i][1]);
        }
        snprintf(id, sizeof id, "room_%d", (int)which);
        snprintf(target, sizeof target, "%.2f,%.2f", r->x, r->y);
        zone->polygon = polygon.data;
        zone->target = target;
        rc = map_zones(c, world, "add", id, zone, err);
    }
    free(all);
    return rc;
}
