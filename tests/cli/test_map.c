// test_map.c - `pons map`: a map becomes a world of the workspace that other commands find; zones are put
// into its file and taken out, with all else as it was; what is wrong changes nothing.
#include "cli_bench.h"
#include "pons/footprint.h"
#include "pons/map.h"
#include "pons/yaml.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bench b;

static const char *in_bench(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", b.dir, name);
    return path;
}

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_true(getdelim(&text, &cap, '\0', f) > 0);
    fclose(f);
    return text;
}

// A room of 8 × 6 m with walls of 0.1 m around it, and where `at` says.
static void draw_room(bool (*at)(int x, int y))
{
    FILE *f = fopen(in_bench("room.pgm"), "we");
    assert_non_null(f);
    fprintf(f, "P2 80 60 255\n");
    for (int y = 0; y < 60; y++) {
        for (int x = 0; x < 80; x++) {
            const bool wall = x == 0 || y == 0 || x == 79 || y == 59 || (at && at(x, y));
            fprintf(f, "%d ", wall ? 0 : 254);
        }
    }
    fclose(f);
}

static void describe_room(const char *origin, const char *more)
{
    FILE *f = fopen(in_bench("room.yaml"), "we");
    assert_non_null(f);
    fprintf(f,
            "image: room.pgm\nresolution: 0.1\norigin: %s\nnegate: 0\n"
            "occupied_thresh: 0.65\nfree_thresh: 0.25\n%s",
            origin, more);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    bench_open(&b);
    draw_room(NULL);
    describe_room("[-2, -2, 0]", "");
    return 0;
}

static int tear_down(void **state)
{
    unlink(in_bench("room.pgm"));
    unlink(in_bench("room.yaml"));
    return bench_teardown(state);
}

static void must(const char *words, const char *type)
{
    proc p;
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    assert_true(!type || bench_count(&p, type, NULL, NULL) > 0);
    bench_free(&p);
}

static char *import(void)
{
    static char path[200];
    char words[300];
    snprintf(words, sizeof words, "map import %s --json", in_bench("room.yaml"));
    must(words, "imported");
    snprintf(path, sizeof path, "%s/worlds/room.yaml", b.workspace);
    return path;
}

static bool a_pole_beside_the_origin(int x, int y)
{
    return x == 23 && y == 37; // a corner of its cell is 0.36 m from there
}

static bool all_but_a_lane(int x, int y)
{
    (void)x;
    return y < 35 || y > 43; // 0.9 m
}

// Where a robot of the map's world starts, it can stand: where there is room it has some to spare.
static void it_starts_where_it_can_stand(void **state)
{
    (void)state;
    draw_room(a_pole_beside_the_origin);
    import();
    must("map check room --json", "world");
}

static void it_starts_in_a_narrow_place_too(void **state)
{
    (void)state;
    draw_room(all_but_a_lane);
    import();
}

// The corners of one that lies aslant are no round numbers; its zone is within it all the same.
static void a_map_aslant_becomes_a_world(void **state)
{
    (void)state;
    static const char *const yaws[] = {"0.3", "-0.7", "1.234567891", "3.1"};
    for (size_t i = 0; i < sizeof yaws / sizeof yaws[0]; i++) {
        char words[300];
        FILE *f = fopen(in_bench("room.yaml"), "we");
        assert_non_null(f);
        fprintf(f,
                "image: room.pgm\nresolution: 0.1\norigin: [-1.05, -1.1, %s]\nnegate: 0\n"
                "occupied_thresh: 0.65\nfree_thresh: 0.25\n",
                yaws[i]);
        fclose(f);
        snprintf(words, sizeof words, "map import %s aslant%zu --json", in_bench("room.yaml"), i);
        must(words, "imported");
        // To Gazebo its walls are one model, for two of a name are none.
        proc p;
        snprintf(words, sizeof words, "map sdf aslant%zu", i);
        bench_start(&b, &p, NULL, words);
        bench_must_exit(&p, 0);
        const char *walls = strstr(p.text, "<model name=\"walls\">");
        assert_non_null(walls);
        assert_null(strstr(walls + 1, "<model name=\"walls\">"));
        assert_null(strstr(p.text, "<model name=\"map\">"));
        const char *wall = strstr(walls, "<collision name=");
        assert_true(wall && strstr(wall + 1, "<collision name=") < strstr(walls, "</model>"));
        bench_free(&p);
    }
}

static void a_map_becomes_a_world(void **state)
{
    (void)state;
    char words[300];
    import();
    must("map check room --json", "world");
    must("map show room --path start:4,2 --json", "path");
    must("map show house --path kitchen:study --json", "path");
    snprintf(words, sizeof words, "map show %s --path 0,0:4,2 --json", in_bench("room.yaml"));
    must(words, "path");
    snprintf(words, sizeof words, "map import %s", in_bench("room.yaml"));
    bench_must_fail(&b, words, 2, "is there already");
    snprintf(words, sizeof words, "map import %s ../out", in_bench("room.yaml"));
    bench_must_fail(&b, words, 2, "a world's name has letters");
    snprintf(words, sizeof words, "map import %s x --start 30,30", in_bench("room.yaml"));
    bench_must_fail(&b, words, 2, "free floor around it");
    bench_must_fail(&b, "map show room --path start:30,30", 2, "outside the map");
    bench_must_fail(&b, "map show room --path start", 2, "FROM:TO");
    bench_must_fail(&b, "map import /nonexistent.yaml", 2, "/nonexistent.yaml");
    bench_must_fail(&b, "map draw room", 2, "it takes import, show");
    // The world is one like any other: a run drives in it.
    must("run --world room " FAST " --json '去全图'", NULL);
}

// However much of a cell, or however many cells, a character is: walls all around, and the pole inside.
static void no_wall_is_lost(void **state)
{
    (void)state;
    static const int widths[] = {20, 37, 79, 80, 100, 233, 400};
    draw_room(a_pole_beside_the_origin);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        char words[300];
        proc p;
        snprintf(words, sizeof words, "map show %s --width %d", in_bench("room.yaml"), widths[i]);
        bench_start(&b, &p, NULL, words);
        bench_must_exit(&p, 0);
        static const char wall[] = "█";
        const char *line = p.text, *legend = strstr(p.text, "a column is");
        int gaps = 0, inner = 0, rows = 0;
        for (const char *end; line < legend; line = end + 1, rows++) {
            end = strchr(line, '\n');
            const bool edge = rows == 0 || end + 1 == legend;
            gaps += strncmp(line, wall, 3) != 0 || strncmp(end - 3, wall, 3) != 0;
            gaps += edge && memchr(line, ' ', (size_t)(end - line)) != NULL;
            for (const char *at = line; !edge && (at = strstr(at, " █")) && at < end - 4; at++) {
                inner++;
            }
        }
        if (gaps > 0 || inner == 0) {
            fail_msg("%d columns: %d gaps in the walls, %d poles\n%s", widths[i], gaps, inner,
                     p.text);
        }
        bench_free(&p);
    }
}

static void must_say(const char *words, int status, const char *says)
{
    proc p;
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, status);
    if (!strstr(p.text, says)) {
        fail_msg("%s: no '%s' in\n%s", words, says, p.text);
    }
    bench_free(&p);
}

// A map names no charger, and none is made up: nothing is backed off at the start, and what needs one says so.
static void a_map_has_no_charger(void **state)
{
    (void)state;
    const char *path = import();
    char *text = read_text(path);
    assert_null(strstr(text, "charger"));
    char *full = strstr(text, "\"initial_pct\":90");
    assert_non_null(full);
    memcpy(full, "\"initial_pct\":16", strlen("\"initial_pct\":16"));
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "%s", text);
    fclose(f);
    free(text);
    bench_must_fail(&b, "map show room --path start:charger", 2, "this world has no charger");
    must("map zones room add far --polygon '3,2 5,2 5,3 3,3' --en far", NULL);
    must_say("run --world room " FAST " 'go to far'", 0, "kinematic in room, which has no charger");
    must_say("run --world room " FAST " 'go to far'", 0,
             "no skill of this body charges it: a person must");
    must_say("run --world room " FAST " 去充电", 1, "takes a charger in its world");
}

// Its frame is the building's: the picture lies in it as it may, and far from where the frame begins.
static void a_turned_map_becomes_a_world(void **state)
{
    (void)state;
    static const char *const origins[] = {"[1.5, -2, 0.6]", "[-3, 7.3, -2.2]",
                                          "[500123.456, -40231.7, 1.5707963267948966]"};
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        char words[300], world[20];
        snprintf(world, sizeof world, "turned%zu", i);
        describe_room(origins[i], "");
        snprintf(words, sizeof words, "map import %s %s --json", in_bench("room.yaml"), world);
        must(words, "imported");
        snprintf(words, sizeof words, "map check %s --json", world);
        must(words, "world");
    }
    must("run --world turned0 " FAST " --json '去全图'", NULL);
}

// A mapper that tells how sure it is of each cell: what is free to it is seldom 0.
static void a_raw_map_becomes_a_world(void **state)
{
    (void)state;
    FILE *f = fopen(in_bench("room.pgm"), "we");
    assert_non_null(f);
    fprintf(f, "P2 80 60 255\n");
    for (int y = 0; y < 60; y++) {
        for (int x = 0; x < 80; x++) {
            const bool wall = x == 0 || y == 0 || x == 79 || y == 59;
            fprintf(f, "%d ", wall ? 97 : 2 + (x + y) % 20);
        }
    }
    fclose(f);
    describe_room("[-2, -2, 0]", "mode: raw\n");
    import();
    must("map check room --json", "world");
    must("map show room --path start:4,2 --json", "path");
}

static void zones_come_and_go(void **state)
{
    (void)state;
    const char *path = import();
    char *before = read_text(path);
    must(
        "map zones room add kitchen --polygon '1,1 3,1 3,3 1,3' --zh 厨房,灶间 --en kitchen --json",
        "zone");
    must("map zones room add wet --polygon '4,-1 5,-1 5,1' --keep-out --reason 'wet floor' --json",
         "keep-out");
    must("map zones room add calm --polygon '4,1 5,1 5,3' --percent 30 --json", "slow");
    must("map zones room add calmer --polygon '4,1 5,1 5,3' --speed 0.2 --json", "slow");
    proc p;
    bench_start(&b, &p, NULL, "map zones room --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "zone", NULL, NULL), 2);
    assert_int_equal(bench_count(&p, "keep-out", "id", "wet"), 1);
    assert_int_equal(bench_count(&p, "slow", NULL, NULL), 2);
    bench_free(&p);
    char *full = read_text(path);
    static const char *const wrong[][2] = {
        {"map zones room add far --polygon '100,100 101,100 100,101'", "outside the bounds"},
        {"map zones room add far --polygon '100,100 101,100 100,101' --keep-out", "nowhere in"},
        {"map zones room add kitchen --polygon '1,1 3,1 3,3'", "already"},
        {"map zones room add other --polygon '1,1 3,1 3,3' --en kitchen", "kitchen"},
        {"map zones room add wet --polygon '1,1 3,1 3,3' --keep-out", "already taken"},
        {"map zones room add x --polygon '1,1 3,1'", "3 to 64 corners"},
        {"map zones room add x --polygon '1,1 3,1 3,z'", "3,z"},
        {"map zones room add x", "--polygon"},
        {"map zones room add x --polygon '1,1 3,1 3,3' --keep-out --percent 5", "one of"},
        {"map zones room add x --polygon '1,1 3,1 3,3' --percent 0", "--percent"},
        {"map zones room add 9x --polygon '1,1 3,1 3,3'", "id"},
        {"map zones room remove nothing", "no zone nothing"},
        {"map zones house add x --polygon '1,1 3,1 3,3'", "pons ships"},
        {"map zones room paint x", "add ID or remove ID"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bench_must_fail(&b, wrong[i][0], 2, wrong[i][1]);
        if (i == 0) { // the place in the file that a person has, not in the draft
            bench_must_fail(&b, wrong[i][0], 2, "worlds/room.yaml:");
        }
        char *after = read_text(path);
        assert_string_equal(after, full);
        free(after);
    }
    must("map zones room remove calm", NULL);
    must("map zones room remove kitchen", NULL);
    must("map zones room remove calmer", NULL);
    must("map zones room remove wet", NULL);
    char *after = read_text(path);
    assert_string_equal(after, before);
    free(after);
    free(full);
    free(before);
}

// A person's own layout: comments, entries of several lines, keys after the list.
static void a_file_stays_its_writers(void **state)
{
    (void)state;
    const char *path = import();
    char *text = read_text(path);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "%s", text);
    fprintf(f,
            "keep_out: # by hand\n  # the pit\n  - id: pit\n    polygon:\n      - [4, 2]\n"
            "      - [5, 2]\n      - [5, 3]\n\n  # the other\n  - id: other\n    polygon: [[1, 1], "
            "[2, 1], [2, 2]]\n# the end\ndescription: mine\n");
    fclose(f);
    must("map zones room remove pit", NULL);
    char *after = read_text(path);
    assert_non_null(
        strstr(after, "keep_out: # by hand\n  # the pit\n\n  # the other\n  - id: other\n"));
    assert_non_null(strstr(after, "# the end\ndescription: mine\n"));
    free(after);
    must("map zones room remove other", NULL);
    after = read_text(path);
    assert_null(strstr(after, "keep_out"));
    assert_non_null(strstr(after, "  # the other\n# the end\n"));
    assert_non_null(strstr(after, "# the end\ndescription: mine\n"));
    assert_int_equal(strncmp(after, text, strlen(text)), 0);
    free(after);
    free(text);
}

// Several edits at once, each in its own process: every edit that reported success is in the file, which stays readable.
static void edits_at_once_all_count(void **state)
{
    (void)state;
    enum { MANY = 6 };
    const char *path = import();
    proc p[MANY];
    struct stat now;
    assert_int_equal(chmod(path, 0644), 0);
    for (int i = 0; i < MANY; i++) {
        char words[160];
        snprintf(words, sizeof words,
                 "map zones room add z%d --keep-out --polygon '%d,2 %d.5,2 %d.5,3'", i, i - 1,
                 i - 1, i - 1);
        bench_start(&b, &p[i], NULL, words);
    }
    for (int i = 0; i < MANY; i++) {
        bench_must_exit(&p[i], 0);
        bench_free(&p[i]);
    }
    char *text = read_text(path);
    for (int i = 0; i < MANY; i++) {
        char id[20];
        snprintf(id, sizeof id, "\"id\":\"z%d\"", i);
        if (!strstr(text, id)) {
            fail_msg("z%d is lost in\n%s", i, text);
        }
    }
    free(text);
    assert_int_equal(stat(path, &now), 0);
    assert_int_equal(now.st_mode & 07777, 0644);
}

// Fields that a person has added to a named room's zone stay, and so do the comments around it.
static void a_room_is_named_anew(void **state)
{
    (void)state;
    const char *path = import();
    char *text = read_text(path), *at = strstr(text, "zones:\n");
    assert_non_null(at);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f,
            "%.*szones:\n  # mine\n  - id: room_1\n    names: {en: [kitchen]}\n"
            "    polygon: [[-1, -1], [4, -1], [4, 3], [-1, 3]]\n"
            "    target: {x: 2.25, y: 1.5, yaw: 0.5}\n  # far\n"
            "  - {id: far, names: {en: [far]}, polygon: [[3, 2], [5, 2], [5, 3], [3, 3]], "
            "target: {x: 4, y: 2.5, yaw: 0}}\n# the end\n",
            (int)(at - text), text);
    fclose(f);
    free(text);
    must_say("map rooms room name 1 --en den --zh 书房", 0, "en: den");
    text = read_text(path);
    at = strstr(text, "zones:\n");
    assert_non_null(at);
    const char *const now =
        "zones:\n  # mine\n  - {\"id\":\"room_1\",\"names\":{\"en\":[\"den\"],\"zh\":"
        "[\"书房\"]},\"polygon\":[[-1,-1],[4,-1],[4,3],[-1,3]],"
        "\"target\":{\"x\":2.25,\"y\":1.5,\"yaw\":0.5}}\n  # far\n  - {id: far";
    assert_int_equal(strncmp(at, now, strlen(now)), 0);
    static const char *const wrong[][2] = {{"--en stop", "controls the robot"},
                                           {"--zh 停", "controls the robot"},
                                           {"--en yes", "controls the robot"},
                                           {"--en 'go to far'", "the world has one"},
                                           {"--en far", "the world has one"},
                                           {"--en ' '", "cannot be blank"},
                                           {"--en den\x1b[2J", "control char"},
                                           {"--en 'a\nb'", "control char"},
                                           {"--zh 书房 --en 'a\xc2\x85'", "control char"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char words[100];
        snprintf(words, sizeof words, "map rooms room name 1 %s", wrong[i][0]);
        bench_must_fail(&b, words, 2, wrong[i][1]);
    }
    must_say("map rooms room name 1 --en 'den, study'", 0, "en: den, study"); // own name: allowed
    free(text);
}

// Keep-out areas are read when a body starts, and `pons map` says so.
static void a_body_there_follows_later(void **state)
{
    (void)state;
    proc p, body;
    import();
    bench_start(&b, &p, NULL, "map zones room add wet --polygon '4,-1 5,-1 5,1' --keep-out");
    bench_must_exit(&p, 0);
    assert_null(strstr(p.text, "next start"));
    bench_free(&p);
    bench_start_body(&b, &body, "--driver kinematic --seed 3 --world room");
    must_say("map zones room add calm --polygon '4,1 5,1 5,3' --speed 0.2", 0,
             "after its next start");
    must_say("map zones room remove wet", 0, "after its next start");
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
}

// Nav2's files say what the world says: walls, an area to keep out of, and one where it is slow.
static void a_world_is_what_nav2_loads(void **state)
{
    (void)state;
    proc p;
    char words[400];
    pons_error err = PONS_ERROR_INIT;
    snprintf(words, sizeof words, "map import %s room", in_bench("room.yaml"));
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(bench_run(&b, "map zones room add wet --polygon '4,2 5,2 5,3 4,3' --keep-out"),
                     0);
    assert_int_equal(
        bench_run(&b, "map zones room add people --polygon '0,2 1,2 1,3 0,3' --percent 40"), 0);
    snprintf(words, sizeof words, "map nav2 room %s", in_bench("nav2"));
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    bench_free(&p);
    static const struct {
        const char *file;
        double x, y;
        int value;
    } all[] = {
        {"map", 4.5, 2.5, 0},       {"map", -1.97, 1.0, 100}, {"map", 3.0, 2.5, 0},
        {"keepout", 4.5, 2.5, 100}, {"keepout", 3.0, 2.5, 0}, {"keepout", 0.5, 2.5, 0},
        {"speed", 0.5, 2.5, 60},    {"speed", 3.0, 2.5, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pons_map *m = NULL;
        snprintf(words, sizeof words, "%s/%s.yaml", in_bench("nav2"), all[i].file);
        if (pons_map_load(words, &m, &err) < 0) {
            fail_msg("%s [%s]", err.message, err.source);
        }
        const int at = pons_map_at(m, all[i].x, all[i].y);
        if (at != all[i].value) {
            fail_msg("%s at %g, %g is %d, not %d", all[i].file, all[i].x, all[i].y, at,
                     all[i].value);
        }
        pons_map_destroy(m);
    }
    pons_yaml *y = NULL;
    snprintf(words, sizeof words, "%s/nav2_params.yaml", in_bench("nav2"));
    assert_int_equal(pons_yaml_load(words, &y, &err), PONS_OK);
    const pons_value *global =
        pons_get(pons_get(pons_get(pons_yaml_value(y), "global_costmap"), "global_costmap"),
                 "ros__parameters");
    assert_int_equal(json_array_size(pons_get(global, "filters")), 2);
    assert_string_equal(pons_get_str(pons_get(global, "keepout_filter"), "plugin", ""),
                        "nav2_costmap_2d::KeepoutFilter");
    // The servers by the names of Nav2's bringup, and each finds the next by its topic.
    for (int i = 0; i < 2; i++) {
        static const char *const filters[] = {"keepout", "speed"};
        char name[64], filter[64];
        snprintf(name, sizeof name, "%s_filter_mask_server", filters[i]);
        const pons_value *mask = pons_get(pons_get(pons_yaml_value(y), name), "ros__parameters");
        snprintf(name, sizeof name, "%s_costmap_filter_info_server", filters[i]);
        const pons_value *info = pons_get(pons_get(pons_yaml_value(y), name), "ros__parameters");
        snprintf(filter, sizeof filter, "%s_filter", filters[i]);
        assert_string_equal(pons_get_str(mask, "topic_name", "?"),
                            pons_get_str(info, "mask_topic", ""));
        assert_string_equal(pons_get_str(info, "filter_info_topic", "?"),
                            pons_get_str(pons_get(global, filter), "filter_info_topic", ""));
        assert_int_equal(pons_get_int(info, "type", -1), i);
    }
    const pons_value *smooth = pons_get(pons_get(pons_yaml_value(y), "velocity_smoother"),
                                        "ros__parameters"),
                     *limit;
    size_t k;
    json_array_foreach((json_t *)pons_get(smooth, "max_accel"), k, limit) {
        assert_true(json_is_real(limit)); // ROS takes no list of integers and others
    }
    assert_int_equal(k, 3);
    assert_true(fabs(pons_get_num(global, "robot_radius", 0.0) - 0.22) < 1e-9);
    pons_yaml_destroy(y);
    snprintf(words, sizeof words, "map nav2 room %s", in_bench("nav2"));
    bench_must_fail(&b, words, 2, "is there already");
    bench_must_fail(&b, "map nav2 room", 2, "nav2 WORLD DIR");
}

// A robot with corners has them in Nav2 too: the circle around them would be kept out of doors that it fits through.
static void a_footprint_is_nav2s_too(void **state)
{
    (void)state;
    static const char round[] = "\"radius_m\":0.22";
    static const char corners[] = "\"footprint\":[[0.4,0.2],[-0.3,0.2],[-0.3,-0.2],[0.4,-0.2]]";
    char words[400];
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *y = NULL;
    const char *path = import();
    char *text = read_text(path), *at = strstr(text, round);
    assert_non_null(at);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, corners, at + strlen(round));
    fclose(f);
    free(text);
    snprintf(words, sizeof words, "map nav2 room %s", in_bench("nav2"));
    must(words, NULL);
    snprintf(words, sizeof words, "%s/nav2_params.yaml", in_bench("nav2"));
    assert_int_equal(pons_yaml_load(words, &y, &err), PONS_OK);
    static const char *const maps[] = {"local_costmap", "global_costmap"};
    for (int i = 0; i < 2; i++) {
        const pons_value *p =
            pons_get(pons_get(pons_get(pons_yaml_value(y), maps[i]), maps[i]), "ros__parameters");
        pons_footprint shape;
        assert_null(pons_get(p, "robot_radius"));
        assert_non_null(pons_get(p, "footprint"));
        assert_null(pons_footprint_read(pons_get(p, "footprint"), &shape));
        assert_int_equal(shape.n, 4);
        assert_true(fabs(shape.circumscribed_m - hypot(0.4, 0.2)) < 1e-9);
    }
    pons_yaml_destroy(y);
}

// Of a map alone, and of a world of it: what it prints, a fleet drives on, and its stations have the zones' names.
static void a_map_becomes_a_fleets(void **state)
{
    (void)state;
    char words[400];
    proc p;
    snprintf(words, sizeof words, "fleet map %s --robots 2 --radius 0.15", in_bench("room.yaml"));
    bench_start(&b, &p, NULL, words);
    assert_string_equal(bench_line(&p), "name: room");
    bench_must_exit(&p, 0);
    bench_free(&p);
    snprintf(words, sizeof words, "fleet map %s --robots 2 --radius 2", in_bench("room.yaml"));
    bench_must_fail(&b, words, 2, "there is room on this floor for 0 robots");
    bench_must_fail(&b, "fleet map --radius 1", 2, "--radius is of a world's floor");
    import();
    must("map zones room add off --target 4,2 --en offside --polygon '3,1 5,1 5,3 3,3'", NULL);
    bench_start(&b, &p, NULL, "fleet map room --robots 2");
    bench_must_exit(&p, 0);
    const char *off = strstr(p.text, "{id: \"off\", kind: station");
    const char *names = off ? strstr(off, "offside") : NULL;
    assert_true(names && names < strchr(off, '\n'));
    FILE *f = fopen(in_bench("map.yaml"), "we");
    assert_true(f && fputs(p.text, f) >= 0 && fclose(f) == 0);
    bench_free(&p);
    snprintf(words, sizeof words, "fleet simulate --robots 2 --hours 0.1 --map %s",
             in_bench("map.yaml"));
    must(words, NULL);
    unlink(in_bench("map.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_map_becomes_a_fleets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_starts_where_it_can_stand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_starts_in_a_narrow_place_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_becomes_a_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_wall_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_has_no_charger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_turned_map_becomes_a_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_raw_map_becomes_a_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_aslant_becomes_a_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_is_what_nav2_loads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_footprint_is_nav2s_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edits_at_once_all_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_room_is_named_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_there_follows_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zones_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_stays_its_writers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
