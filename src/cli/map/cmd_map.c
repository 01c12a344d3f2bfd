// cmd_map.c - `pons map import|show|check|zones|sdf|nav2`: maps that robots have made, as worlds.
#include "app/map/world_files.h"
#include "cli/map/map.h"
#include "pons/footprint.h"
#include "pons/map.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, COLUMNS_MIN = 20, COLUMNS_MAX = 400 };

// ---- show: where from and where to --------------------------------------------------------------

// Without a yaw any will do.
static pons_pose2 pose_of(const pons_value *v)
{
    return (pons_pose2){pons_get_num(v, "x", 0.0), pons_get_num(v, "y", 0.0),
                        pons_get_num(v, "yaw", NAN)};
}

// A place that --path names: a zone by its id or a name, `start`, `charger`, or X,Y or X,Y,YAW.
static int place(const pons_value *world, const char *text, pons_pose2 *ret, pons_error *err)
{
    const bool charger = strcmp(text, "charger") == 0;
    const pons_value *at = strcmp(text, "start") == 0 ? pons_get(world, "start")
                           : charger                  ? pons_get(pons_get(world, "charger"), "pose")
                                                      : NULL;
    pons_each(zone, pons_get(world, "zones")) {
        bool named = strcmp(pons_get_str(zone, "id", ""), text) == 0;
        pons_each_member(language, words, pons_get(zone, "names")) {
            pons_each(word, words) {
                named = named || strcmp(json_string_value(word), text) == 0;
            }
        }
        at = named ? pons_get(zone, "target") : at;
    }
    if (!at && charger) {
        return app_bad(err, "--path: this world has no charger");
    }
    if (!at) {
        const int rc = map_pose(text, "--path", ret, err);
        const char *comma = strchr(text, ',');
        ret->yaw = comma && strchr(comma + 1, ',') ? ret->yaw : NAN;
        return rc;
    }
    *ret = pose_of(at);
    return PONS_OK;
}

// ---- show ---------------------------------------------------------------------------------------

// What of the floor its robot covers.
static void tell_robot(const pons_value *world)
{
    const pons_value *r = pons_get(world, "robot"), *link = pons_get(r, "lidar_at"),
                     *sees = pons_get(world, "lidar"), *lidar = pons_get(sees, "pose");
    const char *urdf = pons_get_str(r, "urdf", NULL);
    const double turning = pons_get_num(r, "turning_radius_m", 0.0);
    pons_footprint f;
    cli_out("robot %s%s%s: ", pons_get_str(r, "id", "robot"), urdf ? " of " : "", urdf ? urdf : "");
    if (pons_get(r, "footprint") && !pons_footprint_read(pons_get(r, "footprint"), &f)) {
        cli_out(
            "a footprint of %d corners, %.2f m to its nearest edge, %.2f m to its furthest corner",
            f.n, f.inscribed_m, f.circumscribed_m);
    } else {
        cli_out("round, radius %g m", pons_get_num(r, "radius_m", 0.0));
    }
    if (turning > 0.0) {
        cli_out(", turning radius %g m", turning);
    }
    if (lidar) {
        cli_out(", lidar %s%sat %.2f %.2f, yaw %.2f", pons_get_str(link, "link", ""),
                link ? " " : "", pons_get_num(lidar, "x", 0.0), pons_get_num(lidar, "y", 0.0),
                pons_get_num(lidar, "yaw", 0.0));
    }
    if (lidar && link) {
        cli_out(", %.2f m up", pons_get_num(link, "z", 0.0));
    }
    if (lidar) {
        cli_out(", sees %g to %g m", pons_get_num(sees, "range_min", 0.0),
                pons_get_num(sees, "range_max", 0.0));
    }
    cli_out("\n");
}

static void tell_map(const cli *c, const map_subject *s, const pons_value *world)
{
    const pons_map_info *i = s->map ? pons_map_about(s->map) : NULL;
    if (c->json) {
        pons_autovalue row = pons_object("type", json_string(world ? "world" : "map"), NULL);
        if (world) {
            json_object_set_new(row, "name", json_string(pons_get_str(world, "name", "")));
            json_object_set_new(row, "boxes",
                                json_integer((json_int_t)json_array_size(
                                    pons_get(pons_get(world, "map"), "boxes"))));
            json_object_set(row, "robot", (json_t *)(uintptr_t)pons_get(world, "robot"));
            json_object_set(row, "bounds", (json_t *)(uintptr_t)pons_get(world, "bounds"));
        }
        if (i) {
            json_object_set_new(row, "image", json_string(i->image));
            json_object_set_new(row, "mode", json_string(pons_map_mode_word(i->mode)));
            json_object_set_new(row, "width", json_integer(i->w));
            json_object_set_new(row, "height", json_integer(i->h));
            json_object_set_new(row, "resolution_m", json_real(i->resolution_m));
            json_object_set_new(row, "origin",
                                json_pack("[f,f,f]", i->origin.x, i->origin.y, i->origin.yaw));
            json_object_set_new(row, "occupied", json_integer(i->occupied));
            json_object_set_new(row, "free", json_integer(i->free));
            json_object_set_new(row, "unknown", json_integer(i->unknown));
        }
        cli_print_json(row);
        return;
    }
    if (i) {
        cli_out("%d × %d cells of %g m (%s), origin %g %g turned %g rad; %lld occupied, %lld free, "
                "%lld unknown\n",
                i->w, i->h, i->resolution_m, pons_map_mode_word(i->mode), i->origin.x, i->origin.y,
                i->origin.yaw, (long long)i->occupied, (long long)i->free, (long long)i->unknown);
    }
    if (world) {
        cli_out("world %s: %zu walls and boxes, %zu zones, %zu keep-out, %zu slow, %zu filters\n",
                pons_get_str(world, "name", ""),
                json_array_size(pons_get(pons_get(world, "map"), "boxes")),
                json_array_size(pons_get(world, "zones")),
                json_array_size(pons_get(world, "keep_out")),
                json_array_size(pons_get(world, "speed_zones")),
                json_array_size(pons_get(world, "filters")));
        tell_robot(world);
    }
}

static void tell_way(const cli *c, const pons_ground_way *w)
{
    if (c->json) {
        pons_autovalue poses = json_array();
        for (int i = 0; i < w->n; i++) {
            json_array_append_new(poses, json_pack("[f,f]", w->x[i], w->y[i]));
        }
        pons_autovalue row =
            pons_object("type", json_string("path"), "length_m", json_real(w->length_m), "time_s",
                        json_real(w->time_s), "moved_goal", json_boolean(w->moved_goal), "searched",
                        json_integer(w->searched), "poses", pons_value_ref(poses), NULL);
        cli_print_json(row);
        return;
    }
    cli_out("path %.2f m, about %.0f s, %d cells searched%s\n", w->length_m, w->time_s, w->searched,
            w->moved_goal ? "; the goal is occupied: it ends beside it" : "");
}

static int plan(const pons_value *world, pons_ground *g, const char *text, pons_ground_way *ret,
                pons_error *err)
{
    char from[256];
    pons_pose2 a, b;
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof from) {
        return app_bad(err, "--path takes FROM:TO, each X,Y or a zone, not '%s'", text);
    }
    snprintf(from, sizeof from, "%.*s", (int)(colon - text), text);
    int rc = place(world, from, &a, err);
    rc = rc < 0 ? rc : place(world, colon + 1, &b, err);
    return rc < 0 ? rc : pons_ground_plan(g, a, b, ret, err);
}

static int show(cli *c, const char *name, const char *way, const char *width, pons_error *err)
{
    map_subject s = {0};
    pons_ground *g = NULL;
    pons_ground_way w = {0};
    pons_autovalue bare = NULL;
    double columns = COLUMNS;
    int rc =
        width ? cli_number(width, "--width", COLUMNS_MIN, COLUMNS_MAX, &columns, err) : PONS_OK;
    rc = rc < 0 ? rc : map_subject_load(name, &s, err);
    rc = rc < 0 || s.world ? rc : map_bare_world(name, &bare, err);
    const pons_value *world = s.world ? s.world : bare;
    rc = rc < 0 ? rc : pons_ground_open(world, &g, err);
    rc = rc < 0 || !way ? rc : plan(world, g, way, &w, err);
    if (rc == PONS_OK) {
        if (!c->json) {
            map_draw(world, g, way ? &w : NULL, (int)columns);
        }
        tell_map(c, &s, s.world);
        if (way) {
            tell_way(c, &w);
        }
    }
    pons_ground_way_clear(&w);
    pons_ground_close(g);
    map_subject_clear(&s);
    return rc;
}

// ---- check --------------------------------------------------------------------------------------

typedef struct checked {
    const cli *c;
    const char *name;
    int faults;
} checked;

static void tell(checked *k, const char *what, const char *id, const char *why)
{
    k->faults++;
    if (k->c->json) {
        pons_autovalue row = pons_object("type", json_string("fault"), "what", json_string(what),
                                         "id", json_string(id), "why", json_string(why), NULL);
        cli_print_json(row);
        return;
    }
    cli_err("%s: %s %s: %s\n", k->name, what, id, why);
}

// Can the robot stand there, and come there from where it starts?
static void check_place(checked *k, pons_ground *g, pons_pose2 start, const pons_value *at,
                        const char *what, const char *id)
{
    pons_error why = PONS_ERROR_INIT;
    pons_ground_way w = {0};
    const pons_pose2 p = pose_of(at);
    if (pons_ground_at(g, p.x, p.y) == PONS_GROUND_KEEP_OUT) {
        tell(k, what, id, "lies in a keep-out area");
    } else if (pons_ground_plan(g, start, p, &w, &why) < 0) {
        tell(k, what, id, why.message);
    } else if (w.moved_goal) {
        tell(k, what, id, "is too near to something: the robot stops beside it");
    }
    pons_ground_way_clear(&w);
}

static int check(cli *c, const char *name, pons_error *err)
{
    map_subject s = {0};
    pons_ground *g = NULL;
    checked k = {c, name, 0};
    int rc = map_subject_load(name, &s, err);
    if (rc == PONS_OK && s.world) {
        const pons_pose2 start = pose_of(pons_get(s.world, "start"));
        rc = pons_ground_open(s.world, &g, err);
        if (rc == PONS_OK && pons_ground_at(g, start.x, start.y) == PONS_GROUND_KEEP_OUT) {
            tell(&k, "start", "of the robot", "lies in a keep-out area");
        } else if (rc == PONS_OK) {
            if (pons_get(s.world, "charger")) {
                check_place(&k, g, start, pons_get(pons_get(s.world, "charger"), "pose"), "charger",
                            "of the robot");
            }
            pons_each(zone, pons_get(s.world, "zones")) {
                check_place(&k, g, start, pons_get(zone, "target"), "zone",
                            pons_get_str(zone, "id", ""));
            }
        }
    }
    if (rc == PONS_OK && k.faults == 0) {
        tell_map(c, &s, s.world);
    }
    pons_ground_close(g);
    map_subject_clear(&s);
    return rc < 0 ? rc : k.faults > 0 ? APP_FAULTY : PONS_OK;
}

// ---- import, sdf, nav2 --------------------------------------------------------------------------

static void tell_import(const cli *c, const app_import *w)
{
    const pons_map_info *i = pons_map_about(w->map);
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("imported"), "world", json_string(w->name), "file",
                        json_string(w->world), "start",
                        json_pack("[f,f,f]", w->start.x, w->start.y, w->start.yaw), "occupied",
                        json_integer(i->occupied), "free", json_integer(i->free), "unknown",
                        json_integer(i->unknown), NULL);
        cli_print_json(row);
        return;
    }
    cli_out(
        "%s: %d × %d cells of %g m, %lld occupied, %lld unknown; the robot starts at %.2f %.2f\n"
        "`pons run --world %s` drives in it, `pons map zones %s add …` gives places names; no "
        "charger is known: docs/reference/worlds.md says how the file names one\n",
        w->world, i->w, i->h, i->resolution_m, (long long)i->occupied, (long long)i->unknown,
        w->start.x, w->start.y, w->name, w->name);
}

static int import(cli *c, const char *robot, const char *start, pons_error *err)
{
    pons_autovalue robot_world = NULL;
    char worlds[PATH_MAX + 16];
    app_import *w = pons_need_zeroed(1, sizeof *w);
    w->file = c->argv[1];
    w->named = c->argc > 2 ? c->argv[2] : NULL;
    w->start_text = start;
    int rc = start ? map_pose(start, "--start", &w->start, err) : PONS_OK;
    rc = rc < 0 ? rc : app_world(robot ? robot : "house", &robot_world, err);
    w->robot_world = robot_world;
    rc = rc < 0 ? rc : app_import_read(w, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    snprintf(worlds, sizeof worlds, "%s/worlds", c->app.workspace);
    rc = rc < 0 ? rc : app_import_write(w, worlds, err);
    if (rc == PONS_OK) {
        tell_import(c, w);
    }
    pons_map_destroy(w->map);
    free(w);
    return rc;
}

// A world that has a robot. *ret: the caller's.
static int robots_world(const char *name, pons_value **ret, pons_error *err)
{
    map_subject s;
    const int rc = map_subject_load(name, &s, err);
    if (rc < 0) {
        return rc;
    }
    *ret = s.world ? pons_value_ref(s.world) : NULL;
    map_subject_clear(&s);
    return *ret ? rc
                : app_bad(err, "map: %s has no robot; `pons map import` makes a world of it", name);
}

static int sdf(const char *name, pons_error *err)
{
    pons_autovalue world = NULL;
    pons_autobuf text = PONS_BUF_INIT;
    int rc = robots_world(name, &world, err);
    rc = rc < 0 ? rc : app_world_sdf(world, &text, err);
    if (rc == PONS_OK) {
        cli_out_text(text.data, text.len);
    }
    return rc;
}

static int nav2(const char *name, const char *dir, pons_error *err)
{
    pons_autovalue world = NULL;
    int rc = robots_world(name, &world, err);
    rc = rc < 0 ? rc : app_world_nav2(world, dir, err);
    if (rc == PONS_OK) {
        cli_out("%s: ros2 launch nav2_bringup bringup_launch.py map:=%s/map.yaml "
                "params_file:=ROBOT.yaml, with %s/nav2_params.yaml merged into the robot's own\n",
                dir, dir, dir);
    }
    return rc;
}

static int usage(pons_error *err)
{
    return app_bad(err, "map: use `pons map import FILE.yaml [NAME]`, `show WORLD`, `check WORLD`, "
                        "`zones WORLD [add|remove ID]`, `rooms WORLD [name N]`, `sdf WORLD` or "
                        "`nav2 WORLD DIR`");
}

static int zones_or_rooms(cli *c, const char *verb, map_zone *zone, pons_error *err)
{
    const bool names = c->argc == 4 && strcmp(c->argv[2], "name") == 0;
    if (strcmp(verb, "rooms") == 0 && (c->argc == 2 || names)) {
        return map_rooms(c, c->argv[1], names ? c->argv[3] : NULL, zone, err);
    }
    if (strcmp(verb, "zones") == 0 && (c->argc == 2 || c->argc == 4)) {
        return map_zones(c, c->argv[1], c->argc > 2 ? c->argv[2] : NULL,
                         c->argc > 3 ? c->argv[3] : NULL, zone, err);
    }
    return usage(err);
}

// ---- public functions ---------------------------------------------------------------------------

int cmd_map(cli *c, pons_error *err)
{
    const char *way = NULL, *width = NULL, *robot = NULL, *start = NULL, *keep_out = NULL;
    map_zone zone = {0};
    const cli_option options[] = {
        {"--path", "FROM:TO", "of show: the way from one place to another; X,Y or a zone", &way},
        {"--width", "COLUMNS", "of show: how wide the picture is; default 100", &width},
        {"--robot", "WORLD", "of import: the world whose robot it takes; default house", &robot},
        {"--start", "X,Y[,YAW]", "of import: where the robot begins; default near 0,0", &start},
        {"--polygon", "\"X,Y …\"", "of zones add: three corners or more", &zone.polygon},
        {"--zh", "NAME,…", "of zones add and rooms name: what people call it in Chinese", &zone.zh},
        {"--en", "NAME,…", "of zones add and rooms name: and in English", &zone.en},
        {"--target", "X,Y[,YAW]", "of zones add: where going there ends; default its middle",
         &zone.target},
        {"--keep-out", NULL, "of zones add: nobody goes there", &keep_out},
        {"--percent", "N", "of zones add: drive there at N percent of the robot's speed",
         &zone.percent},
        {"--speed", "MPS", "of zones add: drive there at MPS m/s or less", &zone.speed},
        {"--reason", "TEXT", "of zones add: why, for who is refused", &zone.reason},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    zone.keep_out = keep_out != NULL;
    const char *verb = c->argc > 0 ? c->argv[0] : "";
    cli_busy(way ? "planning on the map" : "reading the map", 0);
    if (strcmp(verb, "show") == 0 && c->argc == 2) {
        return show(c, c->argv[1], way, width, err);
    }
    if (strcmp(verb, "check") == 0 && c->argc == 2) {
        return check(c, c->argv[1], err);
    }
    if (strcmp(verb, "sdf") == 0 && c->argc == 2) {
        return sdf(c->argv[1], err);
    }
    if (strcmp(verb, "nav2") == 0 && c->argc == 3) {
        return nav2(c->argv[1], c->argv[2], err);
    }
    if (strcmp(verb, "import") == 0 && (c->argc == 2 || c->argc == 3)) {
        return import(c, robot, start, err);
    }
    if (strcmp(verb, "zones") == 0 || strcmp(verb, "rooms") == 0) {
        return zones_or_rooms(c, verb, &zone, err);
    }
    return usage(err);
}
