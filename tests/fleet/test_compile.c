// test_compile.c - maps of floors: random floors with boxes on them. Whatever the floor, who stands on a zone or drives
// straight to the next one touches nothing, and no two robots that keep to their zones touch each other.
#include "pons/fleet.h"
#include "pons/geometry.h"
#include "pons/random.h"
#include "unit.h"

#include <string.h>

#define RADIUS 0.25

typedef struct hall {
    double side;
    pons_box2 boxes[64];
    size_t n;
} hall;

static double room(void *user, double x, double y)
{
    const hall *h = user;
    double m = fmin(fmin(x, h->side - x), fmin(y, h->side - y));
    for (size_t i = 0; i < h->n; i++) {
        m = fmin(m, pons_box2_distance(&h->boxes[i], x, y));
    }
    return fmax(fmin(m, 2.0), 0.0);
}

static pons_fleet_floor floor_of(hall *h, size_t robots)
{
    return (pons_fleet_floor){.xmax = h->side,
                              .ymax = h->side,
                              .radius_m = RADIUS,
                              .robots = robots,
                              .room = room,
                              .user = h};
}

static double from_piece(const pons_fleet_zone *a, const pons_fleet_zone *b,
                         const pons_fleet_zone *p)
{
    const double dx = b->x - a->x, dy = b->y - a->y, mm = dx * dx + dy * dy;
    const double t = fmin(fmax(((p->x - a->x) * dx + (p->y - a->y) * dy) / mm, 0.0), 1.0);
    return hypot(a->x + t * dx - p->x, a->y + t * dy - p->y);
}

static double between(const pons_fleet_zone *a, const pons_fleet_zone *b, const pons_fleet_zone *c,
                      const pons_fleet_zone *d)
{
    double least = INFINITY; // by looking: so no crossing is missed
    for (int i = 0; i <= 40; i++) {
        const double t = i / 40.0;
        const pons_fleet_zone at = {.x = a->x + t * (b->x - a->x), .y = a->y + t * (b->y - a->y)};
        least = fmin(least, from_piece(c, d, &at));
    }
    return least;
}

typedef struct piece {
    size_t a, b;
} piece;

static void nobody_touches(const pons_fleet_map *map, hall *h)
{
    piece pieces[16384];
    size_t n = 0;
    for (size_t z = 0; z < pons_fleet_map_size(map); z++) {
        size_t k = 0;
        const int32_t *exits = pons_fleet_map_exits(map, z, &k);
        const pons_fleet_zone *a = pons_fleet_map_zone(map, z);
        for (size_t i = 0; i < k; i++) {
            const pons_fleet_zone *b = pons_fleet_map_zone(map, (size_t)exits[i]);
            for (int s = 0; s <= 20; s++) {
                const double t = s / 20.0;
                assert_true(room(h, a->x + t * (b->x - a->x), a->y + t * (b->y - a->y)) > RADIUS);
            }
            assert_true(n < sizeof pieces / sizeof *pieces);
            pieces[n++] = (piece){z, (size_t)exits[i]};
        }
    }
    for (size_t i = 0; i < n; i++) {
        const pons_fleet_zone *a = pons_fleet_map_zone(map, pieces[i].a);
        const pons_fleet_zone *b = pons_fleet_map_zone(map, pieces[i].b);
        for (size_t z = 0; z < pons_fleet_map_size(map); z++) {
            assert_true(z == pieces[i].a || z == pieces[i].b ||
                        from_piece(a, b, pons_fleet_map_zone(map, z)) > 2.0 * RADIUS);
        }
        for (size_t k = 0; k < i; k++) {
            const piece *o = &pieces[k];
            const bool shares = o->a == pieces[i].a || o->a == pieces[i].b || o->b == pieces[i].a ||
                                o->b == pieces[i].b;
            const pons_fleet_zone *c = pons_fleet_map_zone(map, o->a);
            if (!shares && hypot(a->x - c->x, a->y - c->y) < 15.0) {
                assert_true(between(a, b, c, pons_fleet_map_zone(map, o->b)) > 2.0 * RADIUS);
            }
        }
    }
}

static void is_played(pons_fleet_map *map, size_t robots, uint64_t seed)
{
    const pons_fleet_play p = {
        .robots = robots, .hours = 0.5, .seed = seed, .map = map, .robot_kills_per_hour = 10};
    pons_autovalue r = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_fleet_simulate(&p, &r, NULL, &err), 0);
    assert_int_equal(pons_get_int(r, "shared_zones", -1), 0);
    assert_int_equal(pons_get_int(r, "deadlocks", -1), 0);
    assert_int_equal(pons_get_int(r, "unsafe_states", -1), 0);
    assert_true(pons_get_int(pons_get(r, "tasks"), "done", 0) > 0);
}

static void any_floor(void **state)
{
    (void)state;
    size_t made = 0;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        pons_rand r;
        hall h = {0};
        pons_rand_seed(&r, seed);
        h.side = 8.0 + 16.0 * pons_rand_unit(&r);
        h.n = (size_t)(pons_rand_unit(&r) * h.side * 1.5);
        for (size_t i = 0; i < h.n; i++) {
            h.boxes[i] = (pons_box2){.x = h.side * pons_rand_unit(&r),
                                     .y = h.side * pons_rand_unit(&r),
                                     .yaw = 3.0 * pons_rand_unit(&r),
                                     .sx = 0.2 + 2.5 * pons_rand_unit(&r),
                                     .sy = 0.2 + pons_rand_unit(&r)};
        }
        const size_t robots = 2 + seed % 5;
        pons_fleet_floor floor = floor_of(&h, robots);
        pons_fleet_map *map = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_fleet_map_compile("any", &floor, &map, &err);
        if (rc < 0) {
            assert_int_equal(rc, PONS_EINVAL);
            assert_non_null(strstr(err.message, "room"));
            continue;
        }
        made++;
        assert_true(pons_fleet_map_count(map, PONS_FLEET_PARK) >= robots);
        nobody_touches(map, &h);
        is_played(map, robots, seed);
        pons_fleet_map_destroy(map);
    }
    assert_true(made >= 20);
}

// Two rooms, one door. The station is asked for in the door itself: it gets a place beside the way.
static void through_a_door(void **state)
{
    (void)state;
    hall h = {.side = 10.0,
              .boxes = {{.x = 5.0, .y = 2.2, .sx = 0.2, .sy = 4.4},
                        {.x = 5.0, .y = 7.7, .sx = 0.2, .sy = 4.6}},
              .n = 2};
    pons_fleet_bay bays[] = {
        {.id = "door", .kind = PONS_FLEET_STATION, .x = 5.0, .y = 4.9, .pad_x = 5.0, .pad_y = 4.9},
        {.id = "d", .kind = PONS_FLEET_DOCK, .x = 1.1, .y = 9.0, .pad_x = 0.5, .pad_y = 9.0},
        {.id = "wall", .kind = PONS_FLEET_STATION, .x = 5.0, .y = 1.0, .pad_x = 5.0, .pad_y = 1.0}};
    pons_fleet_floor floor = floor_of(&h, 4);
    pons_fleet_map *map = NULL;
    pons_error err = PONS_ERROR_INIT;
    floor.bays = bays;
    floor.n_bays = 3;
    assert_int_equal(pons_fleet_map_compile("rooms", &floor, &map, &err), 0);
    nobody_touches(map, &h);
    assert_true(bays[0].made && bays[1].made);
    const int32_t door = pons_fleet_map_find(map, "door"), dock = pons_fleet_map_find(map, "d");
    assert_true(door >= 0 && dock >= 0);
    assert_true(pons_fleet_map_zone(map, (size_t)dock)->x == 1.1);
    bool west = false, east = false;
    for (size_t z = 0; z < pons_fleet_map_size(map); z++) { // from both sides of the wall
        const double x = pons_fleet_map_zone(map, z)->x;
        west = west || (x < 4.0 && isfinite(pons_fleet_map_way(map, z, (size_t)door)));
        east = east || (x > 6.0 && isfinite(pons_fleet_map_way(map, z, (size_t)door)));
    }
    assert_true(west && east);
    pons_fleet_map_destroy(map);
}

// More floor than zones of the usual width: they are wider. Not too many, where somebody asks for narrow ones.
static void a_very_wide_floor(void **state)
{
    (void)state;
    hall h = {.side = 600.0};
    pons_fleet_floor floor = floor_of(&h, 3);
    pons_fleet_map *map = NULL;
    pons_error err = PONS_ERROR_INIT;
    floor.step_m = 4.0;
    assert_int_equal(pons_fleet_map_compile("field", &floor, &map, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "on a floor of this size"));
    floor.step_m = 0.0;
    assert_int_equal(pons_fleet_map_compile("field", &floor, &map, &err), 0);
    assert_true(pons_fleet_map_count(map, PONS_FLEET_PARK) >= 3);
    pons_fleet_map_destroy(map);
}

static void says_what_has_no_room(void **state)
{
    (void)state;
    hall h = {.side = 3.0};
    pons_fleet_floor floor = floor_of(&h, 500);
    pons_fleet_map *map = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_fleet_map_compile("closet", &floor, &map, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "not for 500"));
    floor.robots = 2;
    floor.step_m = 0.3;
    assert_int_equal(pons_fleet_map_compile("closet", &floor, &map, &err), PONS_EINVAL);
    floor.step_m = 0.0;
    floor.xmax = NAN;
    assert_int_equal(pons_fleet_map_compile("closet", &floor, &map, &err), PONS_EINVAL);
    assert_null(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_floor),
        cmocka_unit_test(through_a_door),
        cmocka_unit_test(a_very_wide_floor),
        cmocka_unit_test(says_what_has_no_room),
    };
    return cmocka_run_group_tests_name("fleet compile", tests, NULL, NULL);
}
