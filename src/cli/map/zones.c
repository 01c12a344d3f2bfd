// zones.c - `pons map zones WORLD [add ID … | remove ID]`: zones, keep-out areas and slow zones of a
// world of the workspace.
//
// The file is changed by map/zone_edit.c.
#include "cli/map/map.h"

#include <string.h>

enum { POINTS_MAX = 64 };
static const char *const KIND_WORDS[APP_ZONE_KINDS] = {"zone", "keep-out", "slow"};

// ---- list ---------------------------------------------------------------------------------------

static void tell_zone(const cli *c, const pons_value *zone, int kind)
{
    if (c->json) {
        pons_autovalue row = json_copy((json_t *)(uintptr_t)zone);
        json_object_set_new(row, "type", json_string(KIND_WORDS[kind]));
        cli_print_json(row);
        return;
    }
    cli_out("%-9s %s", KIND_WORDS[kind], pons_get_str(zone, "id", ""));
    if (pons_get(zone, "percent")) {
        cli_out(" %g %%", pons_get_num(zone, "percent", 0.0));
    } else if (pons_get(zone, "speed_max_mps")) {
        cli_out(" %g m/s", pons_get_num(zone, "speed_max_mps", 0.0));
    }
    pons_each_member(language, words, pons_get(zone, "names")) {
        cli_out("  %s:", language);
        pons_each(word, words) {
            cli_out("%s %s", word_at ? "," : "", json_string_value(word));
        }
    }
    if (pons_get(zone, "reason")) {
        cli_out("  (%-s)", pons_get_str(zone, "reason", ""));
    }
    cli_out("\n");
}

static void list(const cli *c, const pons_value *world)
{
    for (int kind = 0; kind < APP_ZONE_KINDS; kind++) {
        pons_each(zone, pons_get(world, app_zone_lists[kind])) {
            tell_zone(c, zone, kind);
        }
    }
}

// ---- a zone from the command line ---------------------------------------------------------------

static int polygon_of(const char *text, pons_value **ret, pons_error *err)
{
    pons_autovalue all = json_array();
    for (const char *at = text; *at;) {
        char corner[80];
        pons_pose2 p;
        const size_t n = strcspn(at, " ;");
        if (n > 0) {
            snprintf(corner, sizeof corner, "%.*s", (int)n, at);
            const int rc = map_pose(corner, "--polygon's corner", &p, err);
            if (rc < 0) {
                return rc;
            }
            json_array_append_new(all, json_pack("[f,f]", p.x, p.y));
        }
        at += n + (at[n] != '\0');
    }
    if (json_array_size(all) < 3 || json_array_size(all) > POINTS_MAX) {
        return app_bad(err, "--polygon takes 3 to %d corners X,Y with blanks between, not %zu",
                       POINTS_MAX, json_array_size(all));
    }
    *ret = pons_value_ref(all);
    return PONS_OK;
}

// The corners' mean, or what is given.
static int target_of(const map_zone *z, const pons_value *polygon, pons_value **ret,
                     pons_error *err)
{
    pons_pose2 p = {0};
    const double n = (double)json_array_size(polygon);
    if (z->target) {
        const int rc = map_pose(z->target, "--target", &p, err);
        if (rc < 0) {
            return rc;
        }
    }
    pons_each(corner, polygon) {
        p.x += z->target ? 0.0 : json_number_value(json_array_get(corner, 0)) / n;
        p.y += z->target ? 0.0 : json_number_value(json_array_get(corner, 1)) / n;
    }
    *ret = json_pack("{s:f,s:f,s:f}", "x", p.x, "y", p.y, "yaw", p.yaw);
    return PONS_OK;
}

static int zone_of(const char *id, const map_zone *z, app_zone_kind *ret_kind, pons_value **ret,
                   pons_error *err)
{
    pons_autovalue polygon = NULL;
    pons_autovalue target = NULL;
    double slow = 0.0;
    const bool limited = z->percent || z->speed;
    if (!z->polygon) {
        return app_bad(err, "zones add needs --polygon \"X,Y X,Y X,Y …\"");
    }
    if ((z->percent != NULL) + (z->speed != NULL) + z->keep_out > 1) {
        return app_bad(err, "zones add takes one of --keep-out, --percent and --speed");
    }
    int rc = polygon_of(z->polygon, &polygon, err);
    if (rc == PONS_OK && limited) {
        rc = z->percent ? cli_number(z->percent, "--percent", 1.0, 100.0, &slow, err)
                        : cli_number(z->speed, "--speed", 0.001, 100.0, &slow, err);
    }
    const app_zone_kind slow_or_not = limited ? APP_ZONE_SLOW : APP_ZONE;
    const app_zone_kind kind = z->keep_out ? APP_ZONE_KEEP_OUT : slow_or_not;
    rc = rc < 0 || kind != APP_ZONE ? rc : target_of(z, polygon, &target, err);
    if (rc < 0) {
        return rc;
    }
    if (kind != APP_ZONE && z->target) {
        return app_bad(err, "--target goes with zones that one goes to");
    }
    pons_autovalue names = app_zone_names(z->en                       ? z->en
                                          : z->zh || kind != APP_ZONE ? NULL
                                                                      : id,
                                          z->zh);
    const bool named = kind == APP_ZONE || z->zh || z->en;
    *ret = pons_object(
        "id", json_string(id), "names", named ? pons_value_ref(names) : NULL, "polygon",
        pons_value_ref(polygon), "target", target ? pons_value_ref(target) : NULL, "percent",
        z->percent ? json_real(slow) : NULL, "speed_max_mps", z->speed ? json_real(slow) : NULL,
        "reason", z->reason ? json_string(z->reason) : NULL, NULL);
    *ret_kind = kind;
    return PONS_OK;
}

// ---- what is done -------------------------------------------------------------------------------

// Tells the body about a changed zone. Keep-out and slow areas are read by the velocity gate when the body starts.
static int tell_body(const cli *c, const char *path, app_zone_kind kind, pons_error *err)
{
    bool known_now = false;
    const int rc = kind == APP_ZONE ? app_places_tell(&c->app, path, &known_now, err) : PONS_OK;
    if (known_now && !c->json) {
        cli_out("the running robot has this change now\n");
    }
    if (kind != APP_ZONE && !c->json && app_body_in(&c->app, path)) {
        cli_out("the running robot has this change after its next start\n");
    }
    return rc;
}

int map_tell_zone(const cli *c, const char *path, const pons_value *zone, app_zone_kind kind,
                  pons_error *err)
{
    tell_zone(c, zone, kind);
    return tell_body(c, path, kind, err);
}

static int add(cli *c, const char *path, const char *id, const map_zone *zone, pons_error *err)
{
    pons_autovalue v = NULL;
    app_zone_kind kind = APP_ZONE;
    int rc = zone_of(id, zone, &kind, &v, err);
    rc = rc < 0 ? rc : app_zone_put(path, kind, v, APP_EDIT_MS, err);
    return rc < 0 ? rc : map_tell_zone(c, path, v, kind, err);
}

static int drop(cli *c, const char *path, const char *id, pons_error *err)
{
    app_zone_kind kind = APP_ZONE;
    const int rc = app_zone_remove(path, id, &kind, err);
    if (rc == PONS_OK && !c->json) {
        cli_out("%s %s is no more\n", KIND_WORDS[kind], id);
    }
    return rc < 0 ? rc : tell_body(c, path, kind, err);
}

int map_zones(cli *c, const char *world, const char *verb, const char *id, const map_zone *zone,
              pons_error *err)
{
    char path[PATH_MAX];
    if (!verb) {
        pons_autovalue w = NULL;
        const int rc = app_world(world, &w, err);
        if (rc == PONS_OK) {
            list(c, w);
        }
        return rc;
    }
    if (strcmp(verb, "add") != 0 && strcmp(verb, "remove") != 0) {
        return app_bad(err, "map zones: add ID or remove ID, not '%s'", verb);
    }
    const int rc = app_world_file(world, path, err);
    return rc < 0 ? rc : *verb == 'a' ? add(c, path, id, zone, err) : drop(c, path, id, err);
}
