// rooms.c - `pons map rooms WORLD [name N]`: the rooms that a world's map has, and one of them as a zone with a name.
//
// What a person says where a robot stands names a place (docs/how-to/named-places.md); here a whole room gets its outline.
#include "cli/map/map.h"

static void tell_rooms(const cli *c, const pons_value *all)
{
    pons_each(room, all) {
        if (c->json) {
            pons_autovalue row = json_copy((json_t *)(uintptr_t)room);
            json_object_set_new(row, "type", json_string("room"));
            cli_print_json(row);
        } else {
            const char *zone = pons_get_str(room, "zone", NULL);
            cli_out("%2d  %5.1f m2, its middle at %.2f %.2f", (int)pons_get_int(room, "number", 0),
                    pons_get_num(room, "area_m2", 0.0), pons_get_num(room, "x", 0.0),
                    pons_get_num(room, "y", 0.0));
            if (zone) {
                cli_out("  %s", zone);
            }
            cli_out("\n");
        }
    }
}

int map_rooms(cli *c, const char *world, const char *number, const map_zone *zone, pons_error *err)
{
    pons_autovalue all = NULL;
    pons_autovalue named = NULL;
    char path[PATH_MAX];
    double which = 0.0;
    int rc = app_rooms(world, &all, err);
    if (rc == PONS_OK && !number) {
        tell_rooms(c, all);
    }
    if (rc < 0 || !number) {
        return rc;
    }
    rc = cli_number(number, "rooms name", 1.0, (double)json_array_size(all), &which, err);
    rc = rc < 0 ? rc
                : app_room_name(&c->app, world, json_array_get(all, (size_t)which - 1), zone->en,
                                zone->zh, APP_EDIT_MS, &named, err);
    rc = rc < 0 ? rc : app_world_file(world, path, err);
    return rc < 0 ? rc : map_tell_zone(c, path, named, APP_ZONE, err);
}
