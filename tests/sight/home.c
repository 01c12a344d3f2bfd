#include "home.h"

#include "pons/drivers.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "sight/view_from_report.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const labels[] = {"cup", "book", "ball", "phone", "bottle", "key", "apple"};
static const double WALL_M = 0.1, DOOR_M = 1.1, NEAR_M = 0.5;
enum { LABELS = sizeof labels / sizeof *labels };

typedef struct box {
    double x, y, sx, sy;
    bool wall;
} box;

typedef struct plan { // of a home, as it is made
    box boxes[64];
    int n;
} plan;

static double between(home *h, double low, double high)
{
    return low + (high - low) * pons_rand_unit(&h->rand);
}

static void add_box(plan *p, double x0, double y0, double x1, double y1, bool wall)
{
    p->boxes[p->n++] = (box){0.5 * (x0 + x1), 0.5 * (y0 + y1), x1 - x0, y1 - y0, wall};
}

// A wall with a door in its middle third.
static void add_wall(home *h, plan *p, double x0, double y0, double x1, double y1, bool door)
{
    const bool along_x = x1 - x0 > y1 - y0;
    const double low = along_x ? x0 : y0, high = along_x ? x1 : y1;
    if (!door) {
        add_box(p, x0, y0, x1, y1, true);
        return;
    }
    const double middle = 0.5 * (low + high) + between(h, -0.4, 0.4);
    const double a = middle - 0.5 * DOOR_M, b = middle + 0.5 * DOOR_M;
    if (along_x) {
        add_box(p, x0, y0, a, y1, true);
        add_box(p, b, y0, x1, y1, true);
    } else {
        add_box(p, x0, y0, x1, a, true);
        add_box(p, x0, b, x1, y1, true);
    }
}

static void add_walls(home *h, plan *p)
{
    const double w = h->width_m, d = h->depth_m, t = 0.5 * WALL_M;
    for (int c = 0; c <= h->columns; c++) {
        for (int r = 0; r < h->rows; r++) {
            add_wall(h, p, c * w - t, r * d, c * w + t, (r + 1) * d, c > 0 && c < h->columns);
        }
    }
    for (int r = 0; r <= h->rows; r++) {
        for (int c = 0; c < h->columns; c++) {
            add_wall(h, p, c * w, r * d - t, (c + 1) * w, r * d + t, r > 0 && r < h->rows);
        }
    }
}

// In a corner of its room, so that neither the middle nor a door is blocked.
static box add_furniture(home *h, plan *p, int room)
{
    const double x0 = (room % h->columns) * h->width_m,
                 y0 = (double)(room / h->columns) * h->depth_m;
    const uint64_t corner = pons_rand_below(&h->rand, 4);
    const double sx = between(h, 0.5, 0.9), sy = between(h, 0.4, 0.6);
    const double x = corner & 1 ? x0 + h->width_m - WALL_M - sx : x0 + WALL_M;
    const double y = corner & 2 ? y0 + h->depth_m - WALL_M - sy : y0 + WALL_M;
    add_box(p, x, y, x + sx, y + sy, false);
    return p->boxes[p->n - 1];
}

static bool is_taken(const home *h, int n, const char *label, double x, double y)
{
    for (int i = 0; i < HOME_OBJECTS; i++) {
        const home_object *o = &h->objects[i];
        const double apart = hypot(o->at[0] - x, o->at[1] - y);
        if (i != n && *o->id && apart < (strcmp(o->label, label) == 0 ? 1.2 : 0.3)) {
            return true;
        }
    }
    return false;
}

// On a piece of furniture, or low beside a wall, where nothing of its kind is near.
static void place(home *h, const box *furniture, int n, int room)
{
    home_object *o = &h->objects[n];
    const double x0 = (room % h->columns) * h->width_m,
                 y0 = (double)(room / h->columns) * h->depth_m;
    for (int tries = 0;; tries++) {
        const box *f = &furniture[room];
        double x, y, z;
        if (pons_rand_below(&h->rand, 3) && tries < 20) {
            x = f->x + between(h, -0.4, 0.4) * f->sx, y = f->y + between(h, -0.4, 0.4) * f->sy;
            z = 0.8;
        } else {
            const double in = between(h, 0.25, 0.5), along = between(h, 0.8, h->width_m - 0.8);
            x = x0 + along, y = y0 + (pons_rand_below(&h->rand, 2) ? in : h->depth_m - in), z = 0.1;
        }
        if (!is_taken(h, n, o->label, x, y) || tries > 200) {
            o->at[0] = x, o->at[1] = y, o->at[2] = z, o->room = room;
            return;
        }
    }
}

static void write_world(home *h, const plan *p, const char *path)
{
    const double w = h->columns * h->width_m, d = h->rows * h->depth_m;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "name: home\nbounds: [-0.05, -0.05, %.3f, %.3f]\nstart: {x: %.3f, y: %.3f, yaw: 0}\n"
        "robot: {id: pons-1, radius_m: 0.2, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.6,"
        " reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2,"
        " yaw_accel_max_radps2: 4}\n"
        "battery: {initial_pct: 100, idle_pct_per_s: 0, motion_pct_per_m: 0, charge_pct_per_s: 1}\n"
        "lidar: {beams: 120, angle_min: -3.141592653589793, angle_max: 3.141592653589793,"
        " range_min: 0.05, range_max: 10, hz: 10, noise_m: 0.01}\n"
        "odometry: {scale_std: 0.01, yaw_scale_std: 0.02, noise_m: 0.01, noise_rad: 0.02}\n"
        "sight: {hz: 5, fov_deg: 90, range_m: 4.5, height_m: 1.1, miss: 0.2, false_alarm: 0.02,"
        " noise_m: 0.08}\n",
        w + 0.05, d + 0.05, 0.5 * h->width_m, 0.5 * h->depth_m);
    fprintf(f, "map:\n  resolution_m: 0.05\n  boxes:\n");
    for (int i = 0; i < p->n; i++) {
        const box *b = &p->boxes[i];
        fprintf(f, "    - {id: b%d, x: %.3f, y: %.3f, sx: %.3f, sy: %.3f, kind: %s}\n", i, b->x,
                b->y, b->sx, b->sy, b->wall ? "wall" : "furniture");
    }
    fprintf(f, "zones:\n");
    for (int i = 0; i < h->rooms; i++) {
        const double x = (i % h->columns) * h->width_m, y = (double)(i / h->columns) * h->depth_m;
        fprintf(f,
                "  - {id: room%d, names: {en: [room %d]}, polygon: [[%.3f, %.3f], [%.3f, %.3f], "
                "[%.3f, %.3f], [%.3f, %.3f]], target: {x: %.3f, y: %.3f, yaw: 0}}\n",
                i, i, x, y, x + h->width_m, y, x + h->width_m, y + h->depth_m, x, y + h->depth_m,
                x + 0.5 * h->width_m, y + 0.5 * h->depth_m);
    }
    fprintf(f, "objects:\n");
    for (int i = 0; i < HOME_OBJECTS; i++) {
        const home_object *o = &h->objects[i];
        fprintf(f, "  - {id: %s, class: %s, names: {en: [the %s]}, position: [%.3f, %.3f, %.3f]}\n",
                o->id, o->label, o->id, o->at[0], o->at[1], o->at[2]);
    }
    fclose(f);
}

static void make(home *h, const char *path)
{
    plan p = {.n = 0};
    box furniture[HOME_ROOMS_MAX];
    h->rooms = h->columns * h->rows;
    h->width_m = between(h, 3.4, 4.6);
    h->depth_m = between(h, 3.2, 4.2);
    add_walls(h, &p);
    for (int i = 0; i < h->rooms; i++) {
        furniture[i] = add_furniture(h, &p, i);
    }
    for (int i = 0; i < HOME_OBJECTS; i++) {
        home_object *o = &h->objects[i];
        const char *label = labels[pons_rand_below(&h->rand, LABELS)];
        snprintf(o->label, sizeof o->label, "%s", label);
        place(h, furniture, i, (int)pons_rand_below(&h->rand, (uint64_t)h->rooms));
        snprintf(o->id, sizeof o->id, "%s%d", label, i);
    }
    write_world(h, &p, path);
}

void home_open(home *h, uint64_t seed, int columns, int rows)
{
    char path[] = "/tmp/pons-home-XXXXXX.yaml";
    *h = (home){.columns = columns, .rows = rows};
    pons_rand_seed(&h->rand, seed);
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    make(h, path);
    bench_open_with(&h->bench, path, &pons_robot_kinematic, seed);
    unlink(path);
    h->bench.opts.auto_reset_sim = true;
    bench_reboot(&h->bench);
    bench_hello(&h->bench);

    h->observer = bench_join(&h->bench);
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {.protocol = 1, .role = "observer", .name = "sight", .sees = true}};
    assert_int_equal(pons_message_send(h->observer, &hello, NULL), PONS_OK);
    assert_int_equal(pons_store_memory_open(&h->items.store, NULL), PONS_OK);
    h->items.clock = pons_clock_from_manual(&h->bench.time);
    assert_int_equal(pons__walls_init(&h->walls, h->bench.world, NULL), PONS_OK);
    const pons_object_memory_options options = {.items = h->items,
                                                .ns = "home.objects",
                                                .zones = pons_get(h->bench.world, "zones"),
                                                .objects = pons_get(h->bench.world, "objects")};
    assert_int_equal(pons_object_memory_open(&options, &h->memory, NULL), PONS_OK);
}

void home_close(home *h)
{
    pons_object_memory_close(h->memory);
    pons__walls_fini(&h->walls);
    pons_store_close(&h->items.store);
    pons_link_close(h->observer);
    bench_close(&h->bench);
}

static void tell(home *h, const pons_report_sees *r)
{
    pons__simulated_view v;
    pons_object_seen seen;
    pons_error err = PONS_ERROR_INIT;
    if (!pons__simulated_view_of(r, "sim", h->boot_id, h->items.clock.wall_ms(h->items.clock.ctx),
                                 &v)) {
        return;
    }
    v.view.clear = pons__walls_clear;
    v.view.user = &h->walls;
    if (pons_object_memory_put(h->memory, &v.view, v.found, v.n, &seen, &err)) {
        fail_msg("%s", err.message);
    }
    h->looks++;
    h->refused += (int)seen.refused;
    h->gone += (int)seen.gone;
    h->moved += (int)seen.moved;
    assert_false(seen.again);
}

static void hear(home *h)
{
    pons_value *msg = NULL;
    while (pons_link_recv(h->observer, &msg, NULL) == 1) {
        pons_report r;
        if (pons_report_decode(msg, &r, NULL) == PONS_OK && r.type == PONS_REPORT_SEES) {
            tell(h, &r.as.sees);
        } else if (r.type == PONS_REPORT_HELLO) {
            snprintf(h->boot_id, sizeof h->boot_id, "%s", r.as.hello.boot_id);
        }
        pons_report_clear(&r);
        pons_value_unref(msg);
    }
}

static void do_goal(home *h, const char *skill, const char *args)
{
    char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&h->bench, NULL, skill, args));
    for (int i = 0; i < 12000 && !pons_get(h->bench.results, id); i++) {
        bench_step(&h->bench, 0.01);
        hear(h);
    }
    const char *status = pons_get_str(pons_get(h->bench.results, id), "status", "no result");
    if (strcmp(status, "done") != 0) {
        fail_msg("%s %s: %s", skill, args, status);
    }
    bench_forget(&h->bench);
}

void home_tour(home *h)
{
    for (int i = 0; i < h->rooms; i++) {
        const int row = i / h->columns, along = i % h->columns;
        const int column = row % 2 ? h->columns - 1 - along : along; // there and back
        char args[128];
        snprintf(args, sizeof args, "{\"pose\":{\"x\":%.3f,\"y\":%.3f,\"yaw\":0.0}}",
                 (column + 0.5) * h->width_m, (row + 0.5) * h->depth_m);
        do_goal(h, "navigate_to_pose", args);
        do_goal(h, "spin", "{\"angle_rad\":6.28}");
    }
    assert_int_equal(pons_object_memory_save(h->memory, true, NULL), PONS_OK);
}

void home_move_all(home *h)
{
    box furniture[HOME_ROOMS_MAX] = {0};
    int room = 0;
    pons_each(b, pons_get(pons_get(h->bench.world, "map"), "boxes")) {
        if (strcmp(pons_get_str(b, "kind", ""), "furniture") == 0) {
            furniture[room++] = (box){pons_get_num(b, "x", 0), pons_get_num(b, "y", 0),
                                      pons_get_num(b, "sx", 0), pons_get_num(b, "sy", 0), false};
        }
    }
    for (int i = 0; i < HOME_OBJECTS; i++) {
        home_object *o = &h->objects[i];
        const int to =
            h->rooms > 1
                ? (o->room + 1 + (int)pons_rand_below(&h->rand, (uint64_t)h->rooms - 1)) % h->rooms
                : 0;
        place(h, furniture, i, to);
        const pons_message move = {.type = PONS_MESSAGE_SPAWN,
                                   .as.spawn = {.id = o->id,
                                                .x = o->at[0],
                                                .y = o->at[1],
                                                .yaw = NAN,
                                                .sx = NAN,
                                                .sy = NAN,
                                                .height = o->at[2]}};
        assert_int_equal(pons_message_send(h->bench.link, &move, NULL), PONS_OK);
        bench_step(&h->bench, 0.01);
    }
}

home_score home_judge(home *h)
{
    home_score s = {.objects = HOME_OBJECTS};
    bool used[HOME_OBJECTS] = {false};
    pons_autovalue all = NULL;
    const pons_object_query q = {.limit = 1000};
    assert_int_equal(pons_objects_find(&h->items, "home.objects", &q, &all, NULL), PONS_OK);
    pons_each(o, all) {
        const pons_value *at = pons_get(o, "position");
        const double x = json_number_value(json_array_get(at, 0)),
                     y = json_number_value(json_array_get(at, 1));
        int best = -1;
        double nearest = NEAR_M;
        for (int i = 0; i < HOME_OBJECTS; i++) {
            const double apart = hypot(h->objects[i].at[0] - x, h->objects[i].at[1] - y);
            if (!used[i] && apart < nearest &&
                strcmp(h->objects[i].label, pons_get_str(o, "label", "")) == 0) {
                best = i, nearest = apart;
            }
        }
        if (!pons_get_bool(o, "known", false)) {
            continue;
        }
        if (best < 0) {
            s.extra++;
            continue;
        }
        used[best] = true;
        s.errors[s.known++] = nearest;
    }
    return s;
}
