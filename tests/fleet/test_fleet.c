// test_fleet.c - the orchestrator's core, call by call: on a ring with a way across, with robots that do at
// once what they are told.
//
//     p1 p2 p3 p4 (parks), s1 s2 s3 (stations), d1 (dock) along the ring a0 > a1 > ... > a7 > a0
#include "pons/fleet.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROBOTS 3

typedef struct fixture {
    pons_fleet_map *map;
    pons_fleet *f;
    int64_t now_ms;
    int32_t zone[ROBOTS];
    bool deaf[ROBOTS];
    double battery[ROBOTS];
    struct {
        pons_fleet_command c;
        char task[PONS_FLEET_NAME_MAX];
    } todo[64];
    size_t n_todo;
    int32_t mute; // it says where it is, and does nothing; -1: nobody
    int works, cancels, charges;
    char last[64]; // task and its state, as told last
} fixture;

static void on_command(void *user, const pons_fleet_command *c)
{
    fixture *x = user;
    assert_true(x->n_todo < 64);
    x->todo[x->n_todo].c = *c;
    snprintf(x->todo[x->n_todo++].task, PONS_FLEET_NAME_MAX, "%s", c->task ? c->task->id : "");
    x->works += c->what == PONS_FLEET_WORK;
    x->cancels += c->what == PONS_FLEET_CANCEL;
    x->charges += c->what == PONS_FLEET_CHARGE;
}

static void on_task(void *user, const pons_fleet_task *t)
{
    fixture *x = user;
    snprintf(x->last, sizeof x->last, "%s %s", t->id, pons_fleet_task_states[t->state]);
}

static int32_t z(const fixture *x, const char *id)
{
    const int32_t zone = pons_fleet_map_find(x->map, id);
    assert_true(zone >= 0);
    return zone;
}

static void say(fixture *x, int32_t robot)
{
    const pons_fleet_report r = {.robot = robot,
                                 .now_ms = x->now_ms,
                                 .zone = x->zone[robot],
                                 .next = -1,
                                 .battery_pct = x->battery[robot]};
    pons_fleet_hear(x->f, &r);
}

// Robots do what they are told, but `work` (unless works): half a second a step, `steps` times.
static void run(fixture *x, int steps, bool works)
{
    for (int i = 0; i < steps; i++) {
        x->now_ms += 500;
        for (int32_t r = 0; r < ROBOTS; r++) {
            if (!x->deaf[r] && x->zone[r] >= 0) {
                say(x, r);
            }
        }
        const size_t n = x->n_todo; // what follows from these is for the next step
        for (size_t k = 0; k < n; k++) {
            const pons_fleet_command c = x->todo[k].c;
            if (x->deaf[c.robot] || x->mute == c.robot) {
                continue;
            }
            if (c.what == PONS_FLEET_MOVE) {
                for (int32_t other = 0; other < ROBOTS; other++) {
                    assert_true(other == c.robot || x->zone[other] != c.zone);
                }
                x->zone[c.robot] = c.zone;
                say(x, c.robot);
            } else if (c.what == PONS_FLEET_WORK && works) {
                pons_fleet_worked(x->f, c.robot, x->todo[k].task, c.stop, true, x->now_ms);
            }
        }
        memmove(x->todo, x->todo + n, (x->n_todo -= n) * sizeof *x->todo);
        pons_fleet_tick(x->f, x->now_ms);
        assert_true(pons_fleet_safe(x->f));
    }
}

static void create(fixture *x)
{
    pons_fleet_options o = PONS_FLEET_OPTIONS_INIT;
    pons_error err = PONS_ERROR_INIT;
    const pons_fleet_robot robots[ROBOTS] = {
        {.id = "r1", .capabilities = 1, .payload_kg = 10, .speed_mps = 1, .pct_per_m = 0.1},
        {.id = "r2", .capabilities = 1, .payload_kg = 10, .speed_mps = 1, .pct_per_m = 0.1},
        {.id = "r3", .capabilities = 3, .payload_kg = 50, .speed_mps = 1, .pct_per_m = 0.1}};
    o.map = x->map;
    o.moving_max = 1.0;
    o.command = on_command;
    o.task = on_task;
    o.user = x;
    assert_int_equal(pons_fleet_create(&o, robots, ROBOTS, &x->f, &err), 0);
}

static int set_up(void **state)
{
    static fixture x;
    x = (fixture){.now_ms = 1000, .mute = -1, .battery = {90, 90, 90}};
    pons_autobuf text = PONS_BUF_INIT;
    pons_error err = PONS_ERROR_INIT;
    pons_buf_str(&text, "zones:\n");
    for (int i = 0; i < 8; i++) {
        pons_buf_printf(&text, "  - {id: a%d, x: %d, y: 0, to: [a%d]}\n", i, i, (i + 1) % 8);
    }
    static const char *const bays[8] = {"park p1", "station s1", "park p2", "station s2",
                                        "park p3", "station s3", "park p4", "dock d1"};
    for (int i = 0; i < 8; i++) {
        char kind[16], id[16];
        sscanf(bays[i], "%15s %15s", kind, id);
        pons_buf_printf(&text, "  - {id: %s, kind: %s, x: %d, y: 1, at: a%d}\n", id, kind, i, i);
    }
    assert_int_equal(pons_fleet_map_read(text.data, text.len, "ring", &x.map, &err), 0);
    create(&x);
    x.zone[0] = z(&x, "p1");
    x.zone[1] = z(&x, "p2");
    x.zone[2] = z(&x, "p3");
    run(&x, 2, true);
    *state = &x;
    return 0;
}

static int tear_down(void **state)
{
    fixture *x = *state;
    pons_fleet_destroy(x->f);
    pons_fleet_map_destroy(x->map);
    return 0;
}

static int add(fixture *x, const char *id, const char *from, const char *to, pons_error *err)
{
    pons_fleet_task t = {.n_stops = 2, .capabilities = 1, .created_ms = x->now_ms};
    t.stops[0] = z(x, from);
    t.stops[1] = z(x, to);
    snprintf(t.id, sizeof t.id, "%s", id);
    return pons_fleet_add(x->f, &t, err);
}

static void a_task_is_done(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    assert_int_equal(add(x, "t", "s1", "s3", &err), PONS_EEXIST);
    run(x, 60, true);
    assert_string_equal(x->last, "t done");
    assert_int_equal(x->works, 2);
    assert_null(pons_fleet_find(x->f, "t"));
    for (int32_t r = 0; r < ROBOTS; r++) { // all stand in parks again
        assert_int_equal(pons_fleet_map_zone(x->map, (size_t)x->zone[r])->kind, PONS_FLEET_PARK);
    }
}

static void nobody_can_do_it(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_task t = {.id = "t", .n_stops = 1, .stops = {z(x, "s1")}, .capabilities = 4};
    assert_int_equal(pons_fleet_add(x->f, &t, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "capabilities"));
    t.capabilities = 1;
    t.payload_kg = 51;
    assert_int_equal(pons_fleet_add(x->f, &t, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "carry"));
    t.payload_kg = 1;
    t.stops[0] = z(x, "p1");
    assert_int_equal(pons_fleet_add(x->f, &t, &err), PONS_EINVAL);
    t.stops[0] = z(x, "s1");
    t.payload_kg = 50; // only r3
    assert_int_equal(pons_fleet_add(x->f, &t, &err), 0);
    run(x, 2, true);
    assert_int_equal(pons_fleet_find(x->f, "t")->robot, 2);
}

static void lost_before_it_started(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    run(x, 1, true);
    const int32_t first = pons_fleet_find(x->f, "t")->robot;
    assert_true(first >= 0);
    x->deaf[first] = true;
    run(x, 30, false); // 15 s
    const pons_fleet_task *t = pons_fleet_find(x->f, "t");
    assert_non_null(t);
    assert_true(t->robot >= 0 && t->robot != first);
    x->zone[first] = -1; // carried away: the ring has no way round it
    pons_fleet_clear(x->f, first, x->now_ms);
    run(x, 80, true);
    assert_string_equal(x->last, "t done");
}

static void lost_after_it_started(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    run(x, 30, false);
    const pons_fleet_task *t = pons_fleet_find(x->f, "t");
    const int32_t robot = t->robot;
    assert_int_equal(t->state, PONS_FLEET_STARTED);
    assert_int_equal(x->works, 1);
    x->deaf[robot] = true;
    run(x, 40, false);
    assert_string_equal(x->last, "t outcome_unknown");
    assert_int_equal(pons_fleet_cancel(x->f, "t", x->now_ms, &err), PONS_EREFUSED);
    char why[120];
    assert_non_null(strstr(pons_fleet_why(x->f, robot, why, sizeof why), "is lost"));
    x->deaf[robot] = false; // back: it is asked again, under the same key
    run(x, 2, false);
    assert_int_equal(pons_fleet_find(x->f, "t")->state, PONS_FLEET_STARTED);
    assert_int_equal(x->works, 2);
    pons_fleet_worked(x->f, robot, "t", 0, true, x->now_ms);
    run(x, 60, true);
    assert_string_equal(x->last, "t done");
}

static void a_person_settles_it(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    run(x, 30, false);
    const int32_t robot = pons_fleet_find(x->f, "t")->robot;
    assert_int_equal(pons_fleet_settle(x->f, "t", true, &err), PONS_EREFUSED);
    x->deaf[robot] = true;
    run(x, 40, false);
    assert_int_equal(pons_fleet_settle(x->f, "t", false, &err), 0);
    assert_string_equal(x->last, "t failed");
    const int32_t zone = x->zone[robot];
    assert_int_equal(pons_fleet_holder(x->f, zone), robot);
    x->zone[robot] = -1; // carried away
    pons_fleet_clear(x->f, robot, x->now_ms);
    assert_int_equal(pons_fleet_holder(x->f, zone), -1);
}

// Nobody may enter where a lost robot stands; others find ways round, or wait.
static void its_zones_stay_blocked(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(add(x, "t", "s2", "s3", &err), 0);
    run(x, 1, false);
    const int32_t robot = pons_fleet_find(x->f, "t")->robot;
    for (int i = 0; i < 20 && pons_fleet_map_zone(x->map, (size_t)x->zone[robot])->kind; i++) {
        run(x, 1, false); // until it is on a lane
    }
    x->deaf[robot] = true;
    run(x, 100, true);
    pons_fleet_view v;
    pons_fleet_look(x->f, robot, &v);
    assert_int_equal(v.state, PONS_FLEET_LOST);
    assert_int_equal(pons_fleet_holder(x->f, x->zone[robot]), robot);
}

static void what_is_said_and_cannot_be(void **state)
{
    fixture *x = *state;
    pons_fleet_view v;
    x->zone[0] = z(x, "a5"); // it was in p1, and nobody sent it
    say(x, 0);
    pons_fleet_look(x->f, 0, &v);
    assert_int_equal(v.state, PONS_FLEET_ASTRAY);
    assert_int_equal(pons_fleet_holder(x->f, z(x, "a5")), -2);
    assert_int_equal(pons_fleet_holder(x->f, z(x, "p1")), 0);
    x->battery[1] = 1e9; // and a battery that cannot be
    say(x, 1);
    pons_fleet_look(x->f, 1, &v);
    assert_true(v.battery_pct == 100.0);
    x->battery[1] = NAN;
    say(x, 1);
    pons_fleet_look(x->f, 1, &v);
    assert_true(v.battery_pct == 100.0);
    const pons_fleet_report nonsense[] = {
        {.robot = 99, .now_ms = x->now_ms, .zone = 0, .next = -1},
        {.robot = 1, .now_ms = x->now_ms, .zone = 999, .next = -1},
        {.robot = -1, .now_ms = x->now_ms, .zone = 0, .next = 0}};
    for (size_t i = 0; i < 3; i++) {
        pons_fleet_hear(x->f, &nonsense[i]);
    }
    pons_fleet_clear(x->f, 0, x->now_ms);
    assert_int_equal(pons_fleet_holder(x->f, z(x, "a5")), -1);
}

// One that is there and does not get on: what it has not started is somebody else's, nobody counts on it, and
// when it gets on all is as before.
static void one_that_does_not_get_on(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_view v;
    char why[120];
    assert_int_equal(add(x, "t", "s2", "s3", &err), 0);
    run(x, 2, true);
    const int32_t robot = pons_fleet_find(x->f, "t")->robot;
    for (int i = 0; i < 40 && pons_fleet_map_zone(x->map, (size_t)x->zone[robot])->kind; i++) {
        run(x, 1, true); // until it is on a lane
    }
    x->mute = robot; // it says that it is there, and goes nowhere
    run(x, 2, true);
    pons_fleet_look(x->f, robot, &v);
    assert_true(v.next >= 0);
    pons_fleet_hinder(x->f, robot, true, x->now_ms);
    pons_fleet_look(x->f, robot, &v);
    assert_true(v.hindered);
    assert_non_null(strstr(pons_fleet_why(x->f, robot, why, sizeof why), "does not get on"));
    run(x, 40, true);
    pons_fleet_look(x->f, robot, &v);
    assert_true(v.hindered && v.state == PONS_FLEET_IDLE); // not lost: it says where it is
    assert_int_equal(pons_fleet_holder(x->f, x->zone[robot]), robot);
    assert_true(!pons_fleet_find(x->f, "t") || pons_fleet_find(x->f, "t")->robot != robot);
    x->zone[robot] = v.next; // it gets on
    x->mute = -1;
    run(x, 120, true);
    pons_fleet_look(x->f, robot, &v);
    assert_false(v.hindered);
    assert_string_equal(x->last, "t done");
    x->deaf[robot] = true; // and of one that is lost it is not said
    run(x, 40, true);
    pons_fleet_hinder(x->f, robot, true, x->now_ms);
    pons_fleet_look(x->f, robot, &v);
    assert_false(v.hindered);
}

// One that stands in its bay and may not begin: the zone that it was to enter is free, and its task and the dock that it
// would have gone to are others'; nobody sends it until it may.
static void one_that_may_not_begin(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_view v;
    assert_int_equal(add(x, "t", "s2", "s3", &err), 0);
    for (int i = 0; i < 4 && pons_fleet_find(x->f, "t")->robot < 0; i++) {
        x->mute = 0;
        run(x, 1, true);
    }
    const int32_t robot = pons_fleet_find(x->f, "t")->robot, at = x->zone[robot];
    x->mute = robot;
    run(x, 1, true);
    pons_fleet_look(x->f, robot, &v);
    const int32_t next = v.next;
    assert_true(next >= 0 && pons_fleet_map_zone(x->map, (size_t)at)->kind == PONS_FLEET_PARK);
    pons_fleet_stay(x->f, robot, x->now_ms); // of one that is not hindered it is not said
    assert_int_equal(pons_fleet_holder(x->f, next), robot);
    pons_fleet_hinder(x->f, robot, true, x->now_ms);
    pons_fleet_stay(x->f, robot, x->now_ms);
    assert_int_not_equal(pons_fleet_holder(x->f, next), robot);
    assert_int_equal(pons_fleet_holder(x->f, at), robot);
    x->n_todo = 0; // what it was told is void
    x->battery[robot] = 10;
    run(x, 120, true);
    assert_string_equal(x->last, "t done");
    pons_fleet_look(x->f, robot, &v);
    assert_true(v.next < 0 && v.hindered && v.state == PONS_FLEET_IDLE);
    x->mute = -1;
    pons_fleet_hinder(x->f, robot, false, x->now_ms);
    run(x, 60, true);
    assert_int_equal(x->zone[robot], z(x, "d1"));
}

static void a_clock_that_leaps_loses_nobody(void **state)
{
    fixture *x = *state;
    pons_fleet_view v;
    pons_fleet_tick(x->f, x->now_ms + 3600000); // this process slept
    for (int32_t r = 0; r < ROBOTS; r++) {
        pons_fleet_look(x->f, r, &v);
        assert_int_equal(v.state, PONS_FLEET_IDLE);
    }
    x->now_ms = 5; // and back
    pons_fleet_tick(x->f, x->now_ms);
    pons_fleet_look(x->f, 0, &v);
    assert_int_equal(v.state, PONS_FLEET_IDLE);
    x->deaf[0] = true; // who is silent from now on is lost, an hour ago or not
    run(x, 30, true);
    pons_fleet_look(x->f, 0, &v);
    assert_int_equal(v.state, PONS_FLEET_LOST);
    pons_fleet_look(x->f, 1, &v);
    assert_int_equal(v.state, PONS_FLEET_IDLE);
}

static void docks_are_fewer_than_robots(void **state)
{
    fixture *x = *state;
    char why[120];
    x->battery[0] = 30;
    x->battery[1] = 25;
    run(x, 40, true);
    assert_int_equal(x->zone[1], z(x, "d1")); // the lower one first
    assert_int_equal(x->charges, 1);
    assert_non_null(strstr(pons_fleet_why(x->f, 0, why, sizeof why), "waits for a dock"));
    pons_fleet_close_zone(x->f, z(x, "d1"), true, x->now_ms);
    run(x, 40, true);
    assert_int_equal(pons_fleet_map_zone(x->map, (size_t)x->zone[1])->kind, PONS_FLEET_PARK);
    pons_error err = PONS_ERROR_INIT; // no dock is in order: nobody could come back to one
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    run(x, 20, true);
    assert_int_equal(pons_fleet_find(x->f, "t")->state, PONS_FLEET_WAITING);
    pons_fleet_close_zone(x->f, z(x, "d1"), false, x->now_ms);
    run(x, 20, true);
    assert_true(pons_fleet_find(x->f, "t") == NULL ||
                pons_fleet_find(x->f, "t")->state != PONS_FLEET_WAITING);
}

// More tasks than are looked at in one turn: one that is urgent is among them, and one that waits longer comes first.
static void the_urgent_one_overtakes_all(void **state)
{
    enum { WAITING = 60 };
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    char id[PONS_FLEET_NAME_MAX];
    for (int32_t r = 0; r < ROBOTS; r++) {
        x->battery[r] = 100;
    }
    for (int i = 0; i < WAITING; i++) {
        snprintf(id, sizeof id, "t%d", i);
        assert_int_equal(add(x, id, i % 2 ? "s1" : "s2", "s3", &err), 0);
    }
    pons_fleet_task urgent = {.id = "urgent",
                              .n_stops = 2,
                              .capabilities = 1,
                              .created_ms = x->now_ms,
                              .priority = PONS_FLEET_HIGH,
                              .stops = {z(x, "s1"), z(x, "s3")}};
    assert_int_equal(pons_fleet_add(x->f, &urgent, &err), 0);
    pons_fleet_tick(x->f, x->now_ms);
    assert_int_not_equal(pons_fleet_find(x->f, "urgent")->state, PONS_FLEET_WAITING);
    int begun = 0;
    for (int i = 0; i < WAITING; i++) {
        snprintf(id, sizeof id, "t%d", i);
        const bool waits = pons_fleet_find(x->f, id)->state == PONS_FLEET_WAITING;
        begun += !waits;
        assert_true(waits || i < ROBOTS * 3 + 16);
    }
    assert_int_equal(begun, ROBOTS - 1);
}

static void cancelled_at_each_moment(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_fleet_cancel(x->f, "none", x->now_ms, &err), PONS_ENOTFOUND);
    assert_int_equal(add(x, "t", "s1", "s3", &err), 0);
    assert_int_equal(pons_fleet_cancel(x->f, "t", x->now_ms, &err), 0); // it waits
    assert_string_equal(x->last, "t cancelled");
    assert_int_equal(add(x, "u", "s1", "s3", &err), 0);
    run(x, 1, false);
    assert_int_equal(pons_fleet_cancel(x->f, "u", x->now_ms, &err), 0); // its robot is on its way
    assert_string_equal(x->last, "u cancelled");
    assert_int_equal(add(x, "v", "s1", "s3", &err), 0);
    run(x, 30, false);
    const int32_t robot = pons_fleet_find(x->f, "v")->robot;
    assert_int_equal(pons_fleet_cancel(x->f, "v", x->now_ms, &err), 0); // at work: its robot's word
    assert_int_equal(x->cancels, 1);
    assert_string_equal(x->last, "v started");
    pons_fleet_worked(x->f, robot, "v", 0, false, x->now_ms);
    assert_string_equal(x->last, "v cancelled");
    pons_fleet_worked(x->f, robot, "v", 0, true, x->now_ms); // too late
    assert_string_equal(x->last, "v cancelled");
}

// After a restart nobody enters where a robot may be that has not been seen yet.
static void kept_over_a_restart(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_task t = {.id = "t",
                         .n_stops = 2,
                         .capabilities = 1,
                         .robot = 0,
                         .state = PONS_FLEET_STARTED,
                         .working = true};
    t.stops[0] = z(x, "s1");
    t.stops[1] = z(x, "s3");
    pons_fleet_destroy(x->f);
    create(x);
    const int32_t leg[] = {z(x, "a3"), z(x, "a4"), z(x, "p3")};
    assert_int_equal(pons_fleet_restore_leg(x->f, 0, leg, 3, &err), 0);
    assert_int_equal(pons_fleet_restore_task(x->f, &t, &err), 0);
    x->deaf[0] = true;
    x->zone[2] = z(x, "p4");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pons_fleet_holder(x->f, leg[i]), -2);
    }
    run(x, 40, true);
    assert_string_equal(x->last, "t outcome_unknown");
    assert_int_equal(pons_fleet_holder(x->f, leg[0]), -2);
    x->deaf[0] = false;
    x->zone[0] = z(x, "a4");
    run(x, 100, true);
    assert_string_equal(x->last, "t done");
    assert_int_equal(pons_fleet_holder(x->f, leg[0]), -1);
}

// After a restart somebody stands on a lane, for a moment, when the way of another one is looked for.
static void a_lane_that_was_shut_for_a_moment(void **state)
{
    fixture *x = *state;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_task t = {
        .id = "t", .n_stops = 1, .capabilities = 1, .robot = 1, .state = PONS_FLEET_ASSIGNED};
    t.stops[0] = z(x, "s2");
    pons_fleet_destroy(x->f);
    create(x);
    assert_int_equal(pons_fleet_restore_task(x->f, &t, &err), 0);
    x->zone[0] = z(x, "a1");
    x->zone[1] = z(x, "p3"); // all round the ring, by a1
    x->zone[2] = z(x, "p4");
    run(x, 60, true);
    assert_string_equal(x->last, "t done");
}

static void more_robots_than_parks(void **state)
{
    fixture *x = *state;
    pons_fleet *f = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_fleet_options o = PONS_FLEET_OPTIONS_INIT;
    pons_fleet_robot robots[5];
    o.map = x->map;
    for (int i = 0; i < 5; i++) {
        robots[i] = (pons_fleet_robot){.speed_mps = 1};
        snprintf(robots[i].id, sizeof robots[i].id, "r%d", i);
    }
    assert_int_equal(pons_fleet_create(&o, robots, 5, &f, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "5 robots and 4 parks"));
    snprintf(robots[1].id, sizeof robots[1].id, "r0");
    assert_int_equal(pons_fleet_create(&o, robots, 2, &f, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "twice"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_task_is_done),
        T(nobody_can_do_it),
        T(lost_before_it_started),
        T(lost_after_it_started),
        T(a_person_settles_it),
        T(its_zones_stay_blocked),
        T(what_is_said_and_cannot_be),
        T(one_that_does_not_get_on),
        T(one_that_may_not_begin),
        T(a_clock_that_leaps_loses_nobody),
        T(docks_are_fewer_than_robots),
        T(the_urgent_one_overtakes_all),
        T(cancelled_at_each_moment),
        T(kept_over_a_restart),
        T(a_lane_that_was_shut_for_a_moment),
        T(more_robots_than_parks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
