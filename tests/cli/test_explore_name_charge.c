// test_explore_name_charge.c - from a place without a map to ordinary goals, as a person types it. The robot explores, is told
// where it charges, its rooms get names, and every kind of goal works, without a restart of the body.
//
// It takes seconds: a real body and real brains map a flat of two rooms and drive in it.
#include "cli_bench.h"
#include "serve_client.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROBOT "--driver kinematic --seed 3 "

// Two rooms with a door between them; the robot stands on its charger in the left one.
static const char FLAT[] =
    "name: real\nbounds: [0, 0, 5.6, 2.8]\nstart: {x: 0.6, y: 0.8, yaw: 3.141592653589793}\n"
    "robot: {id: pons-1, radius_m: 0.18, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.6, "
    "reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2, "
    "yaw_accel_max_radps2: 4}\n"
    "lidar: {beams: 180, angle_min: -3.141592653589793, angle_max: 3.141592653589793, range_min: "
    "0.05, range_max: 8, hz: 10, noise_m: 0.005}\n"
    "battery: {initial_pct: 60, idle_pct_per_s: 0.01, motion_pct_per_m: 0.2, charge_pct_per_s: "
    "20}\n"
    "charger: {pose: {x: 0.6, y: 0.8, yaw: 3.141592653589793}, contact_m: 0.12}\n"
    "zones: [{id: all, names: {en: [all]}, polygon: [[0, 0], [5.6, 0], [5.6, 2.8], [0, 2.8]], "
    "target: {x: 1.5, y: 1.4, yaw: 0}}]\n"
    "map:\n  resolution_m: 0.05\n  boxes:\n"
    "    - {id: s, x: 2.8, y: 0.05, sx: 5.6, sy: 0.1, kind: wall}\n"
    "    - {id: n, x: 2.8, y: 2.75, sx: 5.6, sy: 0.1, kind: wall}\n"
    "    - {id: w, x: 0.05, y: 1.4, sx: 0.1, sy: 2.8, kind: wall}\n"
    "    - {id: e, x: 5.55, y: 1.4, sx: 0.1, sy: 2.8, kind: wall}\n"
    "    - {id: d1, x: 2.95, y: 0.5, sx: 0.1, sy: 1.0, kind: wall}\n"
    "    - {id: d2, x: 2.95, y: 2.35, sx: 0.1, sy: 0.9, kind: wall}\n"
    "    - {id: cupboard, x: 5.2, y: 0.4, sx: 0.5, sy: 0.6, kind: furniture}\n";

static void goals_succeed(bench *b, const char *words)
{
    proc p = {0};
    char all[512];
    snprintf(all, sizeof all, "run --json %s", words);
    bench_start(b, &p, NULL, all);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
}

static void name_room(bench *b, int number, const char *names)
{
    proc p = {0};
    char all[160];
    snprintf(all, sizeof all, "map rooms flat name %d %s", number, names);
    bench_start(b, &p, NULL, all);
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "the running robot has this change now"));
    bench_free(&p);
}

// Names a room as the page does, with a running body. Returns the other room's number.
static int name_room_on_page(bench *b)
{
    proc p = {0};
    pons_autovalue all = NULL;
    char body[160];
    bench_start(b, &p, NULL, SERVE);
    const serve_at a = serve_ready(b, &p);
    char *reply = serve_reply(&a, a.port, "GET", "/v1/map/rooms", "");
    const char *json = strstr(reply, "{\"world\"");
    assert_non_null(json);
    assert_int_equal(pons_value_parse(json, strlen(json), &all, NULL), PONS_OK);
    free(reply);
    const pons_value *rooms = pons_get(all, "rooms"), *first = json_array_get(rooms, 0);
    const int number = pons_get(first, "zone") ? 1 : 2;
    const pons_value *room = json_array_get(rooms, number == 1);
    assert_int_equal(json_array_size(rooms), 2);
    assert_non_null(pons_get(json_array_get(rooms, number == 2), "zone"));
    assert_null(pons_get(room, "zone"));
    snprintf(body, sizeof body, "{\"x\":%.2f,\"y\":%.2f,\"en\":\"kitchen\",\"zh\":\"厨房\"}",
             pons_get_num(room, "x", 0.0), pons_get_num(room, "y", 0.0));
    serve_must(&a, a.port, "POST", "/v1/map/rooms", body, 200, "\"known\":true");
    serve_must(&a, a.port, "GET", "/v1/map/rooms", "", 200, "\"zone\":\"room_2\"");
    serve_must(&a, a.port, "GET", "/v1/map", "", 200, "厨房"); // from the body
    serve_must(&a, a.port, "POST", "/v1/map/rooms", "{\"x\":90,\"y\":0,\"en\":\"den\"}", 404,
               "no room");
    serve_must(&a, a.port, "POST", "/v1/map/rooms", "{\"x\":0,\"y\":0}", 422, "say its name");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    return number;
}

static void from_nothing(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, body = {0};
    char words[256];
    if (access(PONS_BINARY_DIR "/lib/pons/slam-mrpt.so", F_OK) < 0) {
        skip();
    }
    bench_open(&b);
    bench_must_fail(&b, "explore house", 2, "house is a world that pons ships"); // name is taken
    snprintf(words, sizeof words, "explore flat --json --thread map " ROBOT "--speed 5 --world %s",
             bench_file(&b, "real.yaml", FLAT));
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);

    bench_start_body(&b, &body, ROBOT "--speed 20 --world flat");
    assert_int_equal(bench_run(&b, "run charge"), 1); // it does not know its charger
    bench_start(&b, &p, NULL, "run --json 'this is your place'");
    const pons_value *kept = bench_await(&p, "charger.kept", NULL, NULL);
    assert_true(hypot(pons_get_num(kept, "x", 9.0), pons_get_num(kept, "y", 9.0)) < 0.15);
    bench_must_exit(&p, 0);
    bench_free(&p);

    bench_start(&b, &p, NULL, "run --json 'this is the lounge'");
    bench_await(&p, "room.named", "name", "lounge");
    bench_must_exit(&p, 0);
    bench_free(&p);
    const int lounge = name_room_on_page(&b);
    name_room(&b, lounge, "--zh 书房"); // the English one stays
    goals_succeed(&b, "'go to the lounge'");
    name_room(&b, lounge, "--en study"); // named anew
    goals_succeed(&b, "'go to the kitchen' 去书房 patrol charge");
    bench_must_fail(&b, "run 'go to the lounge'", 2, "");
    assert_int_equal(bench_body_pid(&b), body.pid);
    assert_true(bench_alive(&body));

    // The names are in the file, so another body knows them too.
    bench_end_body(&b);
    bench_waited(&body);
    bench_free(&body);
    goals_succeed(&b, "去厨房 'go charge'");

    // A charger in a keep-out area is refused.
    assert_int_equal(bench_run(&b, "map zones flat add dry --polygon '-0.4,-0.4 0.4,-0.4 0.4,0.4 "
                                   "-0.4,0.4' --keep-out"),
                     0);
    bench_start(&b, &p, NULL, "run --json " ROBOT "--speed 20 --world flat 'this is your place'");
    bench_await(&p, "place.refused", "reason", "it lies in a keep-out area");
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(from_nothing, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
