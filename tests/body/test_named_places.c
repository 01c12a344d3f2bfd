// test_named_places.c - a person names zones and a charger while the body runs. The body knows them at once, sends every client
// a hello, docks at the charger, and refuses zones that would not be valid in the world's file.
#include "body_bench.h"
#include "pons/drivers.h"
#include "pons/link_message.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bench t;
static char folder[64], world_path[96];

static const char BARE[] =
    "name: bare\nmap: {file: bare.map.yaml, grows: true}\nstart: {x: 2, y: 1.5, yaw: 0}\n"
    "robot: {id: pons-1, radius_m: 0.2, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.6, "
    "reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2, "
    "yaw_accel_max_radps2: 4}\n"
    "lidar: {beams: 90, angle_min: -3.14159, angle_max: 3.14159, range_min: 0.05, range_max: 8, "
    "hz: 10, noise_m: 0}\nbattery: {initial_pct: 50, idle_pct_per_s: 0, motion_pct_per_m: 0, "
    "charge_pct_per_s: 1}\n";

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// The map of the room: walls below and above.
static void write_map(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/bare.map.yaml", folder);
    write_file(path, "image: bare.map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\n"
                     "occupied_thresh: 0.65\nfree_thresh: 0.2\n");
    snprintf(path, sizeof path, "%s/bare.map.pgm", folder);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "P5 80 60 255\n");
    for (int row = 0; row < 60; row++) {
        for (int column = 0; column < 80; column++) {
            fputc(row < 2 || row >= 58 ? 0 : 254, f);
        }
    }
    fclose(f);
}

// A robot in a room of 4 by 3 m with a charger that its own world does not have.
static void open_bare(void)
{
    char text[2048], real_path[96];
    snprintf(folder, sizeof folder, "%s/pons-places-XXXXXX", bench_disk());
    assert_non_null(mkdtemp(folder));
    snprintf(real_path, sizeof real_path, "%s/real.yaml", folder);
    snprintf(world_path, sizeof world_path, "%s/bare.yaml", folder);
    snprintf(text, sizeof text, "%ssimulated: real.yaml\n", BARE);
    write_file(world_path, text);
    snprintf(
        text, sizeof text,
        "name: real\nbounds: [0, 0, 4, 3]\nstart: {x: 2, y: 1.5, yaw: 0}\n%s"
        "zones: [{id: room, names: {en: [room]}, polygon: [[0, 0], [4, 0], [4, 3], [0, 3]], "
        "target: {x: 2, y: 1.5, yaw: 0}}]\n"
        "charger: {pose: {x: 3.5, y: 1.5, yaw: 0}, contact_m: 0.12}\n"
        "map: {resolution_m: 0.05, boxes: [{id: w, x: 2, y: 0.05, sx: 4, sy: 0.1, kind: wall}, "
        "{id: e, x: 2, y: 2.95, sx: 4, sy: 0.1, kind: wall}]}\n",
        strstr(BARE, "robot:"));
    write_file(real_path, text);
    write_map();
    bench_open(&t, world_path);
    bench_hello(&t);
}

static void close_bare(void)
{
    bench_close(&t);
    static const char *const names[] = {"real.yaml", "bare.yaml", "bare.map.yaml", "bare.map.pgm"};
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void tell(const char *text)
{
    pons_value *said = NULL;
    bench_forget(&t);
    assert_int_equal(pons_value_parse(text, strlen(text), &said, NULL), PONS_OK);
    bench_send(&t, said);
    bench_step(&t, 0.2);
}

static bool has_skill(const pons_value *hello, const char *name)
{
    bool has = false;
    pons_each(skill, pons_get(hello, "skills")) {
        has = has || strcmp(pons_get_str(skill, "name", ""), name) == 0;
    }
    return has;
}

#define CHARGER "\"charger\":{\"pose\":{\"x\":3.5,\"y\":1.5,\"yaw\":0.0},\"contact_m\":0.12}"
#define KITCHEN                                                                                    \
    "\"zones\":[{\"id\":\"room_1\",\"names\":{\"en\":[\"kitchen\"]},\"polygon\":[[0.2,0.2],[1.5,"  \
    "0.2],[1.5,2.5],[0.2,2.5]],\"target\":{\"x\":1.0,\"y\":1.5,\"yaw\":0.0}}]"

static void known_at_once(void **state)
{
    (void)state;
    char id[PONS_WORLD_ID_MAX];
    pons_autovalue file = NULL;
    open_bare();
    assert_string_equal(bench_until_result(&t, bench_goal(&t, NULL, "dock_to_charger", "{}"), 1.0),
                        ""); // there is no such skill
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "unknown_skill");
    tell("{\"type\":\"world.places\"," CHARGER "," KITCHEN "}");
    assert_string_equal(pons_get_str(bench_last(&t, "ok"), "re", ""), "world.places");
    const pons_value *hello = bench_last(&t, "hello"), *world = pons_get(hello, "world");
    assert_true(pons_get_int(hello, "epoch", 0) == t.epoch);
    assert_true(has_skill(hello, "dock_to_charger"));
    assert_int_equal(json_array_size(pons_get(world, "zones")), 1);
    assert_true(pons_get_num(pons_get(pons_get(world, "charger"), "pose"), "x", 0.0) == 3.5);

    // Equals a world read from a file with these zones.
    char text[4096];
    snprintf(
        text, sizeof text,
        "%ssimulated: real.yaml\ncharger: {pose: {x: 3.5, y: 1.5, yaw: 0.0}, contact_m: 0.12}\n"
        "zones: %s\n",
        BARE, strchr(KITCHEN, '['));
    write_file(world_path, text);
    assert_int_equal(pons_world_load(world_path, &file, NULL), PONS_OK);
    assert_int_equal(pons_world_id(file, id, NULL), PONS_OK);
    assert_string_equal(pons_get_str(hello, "world_id", ""), id);

    assert_string_equal(
        bench_until_result(&t, bench_goal(&t, NULL, "navigate_to_pose", "{\"zone\":\"room_1\"}"),
                           60.0),
        "done 0");
    assert_string_equal(bench_until_result(&t, bench_goal(&t, NULL, "dock_to_charger", "{}"), 90.0),
                        "done 0");
    assert_string_equal(pons_get_str(t.telemetry, "battery_state", ""), "charging");

    // A field that is left out stays; an empty list removes all zones.
    tell("{\"type\":\"world.places\",\"zones\":[]}");
    hello = bench_last(&t, "hello");
    assert_null(pons_get(pons_get(hello, "world"), "zones"));
    assert_non_null(pons_get(pons_get(hello, "world"), "charger"));
    close_bare();
}

static void others_hear_it(void **state)
{
    (void)state;
    open_bare();
    pons_link *other = bench_join(&t);
    pons_value *line = NULL;
    int hellos = 0;
    assert_int_equal(
        pons_message_send(other,
                          &(pons_message){.type = PONS_MESSAGE_HELLO,
                                          .as.hello = {.protocol = 1, .name = "watcher"}},
                          NULL),
        PONS_OK);
    bench_step(&t, 0.1);
    tell("{\"type\":\"world.places\"," KITCHEN "}");
    while (pons_link_recv(other, &line, NULL) > 0) {
        hellos += strcmp(pons_get_str(line, "type", ""), "hello") == 0;
        pons_value_unref(line);
    }
    assert_int_equal(hellos, 2);
    pons_link_close(other);
    close_bare();
}

// A running goal continues, and ends as it would have.
static void what_runs_goes_on(void **state)
{
    (void)state;
    open_bare();
    char id[32];
    snprintf(id, sizeof id, "%s",
             bench_goal(&t, NULL, "navigate_to_pose", "{\"pose\":{\"x\":0.8,\"y\":1.0}}"));
    bench_step(&t, 1.0);
    assert_null(pons_get(t.results, id));
    tell("{\"type\":\"world.places\"," CHARGER "," KITCHEN "}");
    assert_string_equal(bench_until_result(&t, id, 60.0), "done 0");
    assert_true(bench_truth_to(&t, 0.8, 1.0) < 0.3);
    close_bare();
}

static void nothing_senseless(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"\"zones\":3", "zones"},
        {"\"zones\":[{\"id\":\"a\"}]", "names"},
        {"\"zones\":[{\"id\":\"a\",\"names\":{\"en\":[7]},\"polygon\":[[0,0],[1,0],[1,1]],"
         "\"target\":{\"x\":0.9,\"y\":0.1}}]",
         "names"},
        {"\"zones\":[{\"id\":\"a\",\"names\":{\"en\":[\"a\"]},\"polygon\":[[0,0],[1,0],[1,1]],"
         "\"target\":{\"x\":3.0,\"y\":0.1,\"yaw\":0}}]",
         "outside its polygon"},
        {"\"charger\":{}", "pose"},
        {"\"charger\":{\"pose\":{\"x\":900,\"y\":1,\"yaw\":0},\"contact_m\":0.1}",
         "outside the bounds"},
        {"\"charger\":{\"pose\":{\"x\":1,\"y\":1,\"yaw\":0},\"contact_m\":0.1,\"x\":1}", "charger"},
    };
    open_bare();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"type\":\"world.places\",%s}", rows[i].text);
        tell(text);
        const pons_value *no = bench_last(&t, "error");
        assert_string_equal(pons_get_str(no, "re", ""), "world.places");
        if (!strstr(pons_get_str(no, "message", ""), rows[i].says)) {
            fail_msg("%s: %s", rows[i].text, pons_get_str(no, "message", ""));
        }
    }
    tell("{\"type\":\"world.places\"}"); // nothing new
    const pons_value *world = pons_get(bench_last(&t, "hello"), "world");
    assert_null(pons_get(world, "zones"));
    assert_null(pons_get(world, "charger"));
    close_bare();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_at_once),
        cmocka_unit_test(others_hear_it),
        cmocka_unit_test(what_runs_goes_on),
        cmocka_unit_test(nothing_senseless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
