// test_live.c - a run's files when others have the folder open as well: what somebody asks for is said to the run whoever
// took the edit in first, and taken back it is cancelled; rows that runs show of their own are nobody's wish.
#include "pons/workspace_live.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lab {
    char dir[64];
    pons_clock_manual time;
    pons_clock clock;
    pons_ws_live *live;
    pons_ws_place *other; // another program, in the same folder
    char said[512], cancelled[512];
} lab;

static int say(void *user, const char *words, pons_error *err)
{
    lab *l = user;
    const size_t n = strlen(l->said);
    (void)err;
    snprintf(l->said + n, sizeof l->said - n, "%s;", words);
    return PONS_OK;
}

static int cancel(void *user, const char *task, pons_error *err)
{
    lab *l = user;
    const size_t n = strlen(l->cancelled);
    (void)err;
    snprintf(l->cancelled + n, sizeof l->cancelled - n, "%s;", task);
    return PONS_OK;
}

static void start(lab *l)
{
    pons_error err = PONS_ERROR_INIT;
    *l = (lab){.dir = "/tmp/pons-live-XXXXXX", .time.now_ns = PONS_NS_PER_MS * 1000};
    l->clock = pons_clock_from_manual(&l->time);
    assert_non_null(mkdtemp(l->dir));
    const pons_ws_place_options other = {.role = PONS_WS_BY_PLANNER};
    assert_int_equal(pons_ws_place_open(l->dir, &other, &l->other, &err), PONS_OK);
}

static void open_live(lab *l, bool hal)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_live_options o = {.dir = l->dir,
                                    .robot_id = "r1",
                                    .who = "t1",
                                    .clock = l->clock,
                                    .hal = hal,
                                    .say = say,
                                    .cancel = cancel,
                                    .user = l};
    assert_int_equal(pons_ws_live_open(&o, &l->live, &err), PONS_OK);
}

static void end(lab *l)
{
    char command[128];
    pons_ws_live_close(l->live);
    pons_ws_place_close(l->other);
    snprintf(command, sizeof command, "rm -rf %s", l->dir);
    assert_int_equal(system(command), 0);
}

static void change(lab *l, pons_ws_file file, const char *kind, const char *id, const char *json)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = json ? json_loads(json, 0, NULL) : NULL;
    const pons_ws_change c = {kind, id, v};
    if (pons_ws_place_change(l->other, file, &c, 1, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (int i = 0; i < 30; i++) { // three seconds of the run's clock
        l->time.now_ns += 100 * PONS_NS_PER_MS;
        pons_ws_live_poll(l->live);
    }
}

#define GO(id) "{\"action_id\":\"" id "\",\"action_type\":\"stop\",\"status\":\"pending\"}"
#define ROW(n, note)                                                                               \
    "{\"n\":\"" n "\",\"action\":\"go to the kitchen\",\"status\":\"pending\",\"note\":\"" note    \
    "\"}"
#define TASK_OF(words)                                                                             \
    "{\"task\":{\"id\":\"task-9\",\"text\":\"" words "\",\"goals\":[{\"zone\":\"kitchen\"}]}}"

static void what_others_took_in_is_said(void **state)
{
    (void)state;
    lab l;
    start(&l);
    open_live(&l, true);
    change(&l, PONS_WS_ACTION, "action", "a1", GO("a1"));
    assert_string_equal(l.said, "do stop_base {};");
    change(&l, PONS_WS_TASK, "subtask", "1", ROW("1", ""));
    assert_string_equal(l.said, "do stop_base {};go to the kitchen;"); // each once
    end(&l);
}

static void what_was_there_waits(void **state)
{
    (void)state;
    lab l;
    start(&l);
    open_live(&l, true);
    change(&l, PONS_WS_ACTION, "action", "a1", GO("a1"));
    pons_ws_live_close(l.live);
    l.said[0] = '\0';
    open_live(&l, true);
    change(&l, PONS_WS_TASK, "subtask", "1", ROW("1", "t2 task-1")); // another run shows it
    assert_string_equal(l.said, "");
    pons_ws_live_close(l.live);
    open_live(&l, false); // a watchdog has the actions
    change(&l, PONS_WS_ACTION, "action", "a2", GO("a2"));
    assert_string_equal(l.said, "");
    end(&l);
}

static void what_is_taken_back_is_cancelled(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) { // taken back before the run has made a task of it
        lab l;
        start(&l);
        open_live(&l, true);
        change(&l, PONS_WS_TASK, "subtask", "1", ROW("1", ""));
        pons_autovalue task = json_loads(TASK_OF("go to the kitchen"), 0, NULL);
        if (!late) {
            pons_ws_live_event(l.live, "task.queued", task);
        }
        change(&l, PONS_WS_TASK, "subtask", "1", NULL);
        if (late) {
            assert_string_equal(l.cancelled, "");
            pons_ws_live_event(l.live, "task.queued", task);
            pons_ws_live_poll(l.live);
        }
        assert_string_equal(l.cancelled, "task-9;");
        end(&l);
    }
}

// What another program says of the map and of frames, a run leaves as it is while it writes where the robot is; and the
// map's bounds are where it may go.
static pons_value *value_of(const char *text)
{
    pons_value *v = json_loads(text, 0, NULL);
    assert_non_null(v);
    return v;
}

static void turns(lab *l)
{
    for (int i = 0; i < 30; i++) {
        l->time.now_ns += 100 * PONS_NS_PER_MS;
        pons_ws_live_poll(l->live);
        pons_ws_place_poll(l->other, l->time.now_ns / PONS_NS_PER_MS);
    }
}

static double x_of(const lab *l, const char *id)
{
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(l->other, PONS_WS_ENVIRONMENT), "object", id);
    assert_non_null(r);
    return json_number_value(json_array_get(pons_get(r->value, "position"), 0));
}

// What was seen is among the objects with when that was, and where it was seen if that is not where the map has it.
static void what_is_remembered_is_there(void **state)
{
    (void)state;
    lab l;
    pons_error err = PONS_ERROR_INIT;
    start(&l);
    pons_autovalue world = value_of("{\"name\": \"w\", \"zones\": [], \"objects\": [{\"id\": "
                                    "\"cup\", \"class\": \"cup\", \"position\": "
                                    "[1, 1, 0.8], \"on\": \"table\"}, {\"id\": \"pan\", \"class\": "
                                    "\"pan\", \"position\": [2, 2, 0.8]}]}");
    const pons_ws_live_options o = {.dir = l.dir,
                                    .robot_id = "r1",
                                    .who = "t1",
                                    .clock = l.clock,
                                    .hal = true,
                                    .world = world,
                                    .say = say,
                                    .cancel = cancel,
                                    .user = &l};
    assert_int_equal(pons_ws_live_open(&o, &l.live, &err), PONS_OK);
    pons_autovalue first =
        value_of("{\"observation\": {\"robot\": {\"pose\": {\"x\": 1, \"y\": 2, \"yaw\": 0}}, "
                 "\"world\": {\"objects\": ["
                 "{\"id\": \"cup\", \"class\": \"cup\", \"position\": [1.1, 1, 0.8], \"zone\": "
                 "\"kitchen\", \"last_seen_ms\": 1700000030000},"
                 "{\"id\": \"pan\", \"class\": \"pan\", \"position\": [2, 2, 0.8]},"
                 "{\"id\": \"obj-3\", \"class\": \"key\", \"names\": [\"key\"], \"position\": [5, "
                 "1, 0.1], \"zone\": \"hall\", \"last_seen_ms\": 1700000000000}]}}}");
    pons_ws_live_event(l.live, "observation", first);
    turns(&l);
    const pons_ws_doc *d = pons_ws_place_doc(l.other, PONS_WS_ENVIRONMENT);
    assert_true(x_of(&l, "cup") == 1.0); // it is where the map has it
    assert_string_equal(pons_get_str(pons_ws_find(d, "object", "cup")->value, "last_seen", ""),
                        "2023-11-14T22:13:00Z");
    assert_null(pons_get(pons_ws_find(d, "object", "pan")->value, "last_seen"));
    assert_true(x_of(&l, "obj-3") == 5.0);
    assert_string_equal(pons_get_str(pons_ws_find(d, "object", "obj-3")->value, "name", ""), "key");
    assert_non_null(pons_ws_find(d, "edge", "obj-3 in hall"));
    assert_non_null(pons_ws_find(d, "edge", "cup on table"));
    pons_autovalue second =
        value_of("{\"observation\": {\"robot\": {\"pose\": {\"x\": 1, \"y\": 2, \"yaw\": 0}}, "
                 "\"world\": {\"objects\": ["
                 "{\"id\": \"cup\", \"class\": \"cup\", \"position\": [7, 1, 0.8], \"zone\": "
                 "\"hall\", \"last_seen_ms\": 1700000300000}]}}}");
    pons_ws_live_event(l.live, "observation", second);
    turns(&l);
    d = pons_ws_place_doc(l.other, PONS_WS_ENVIRONMENT);
    assert_true(x_of(&l, "cup") == 7.0);
    assert_non_null(pons_ws_find(d, "edge", "cup in hall"));
    assert_null(pons_ws_find(d, "edge", "cup on table"));
    end(&l);
}

static void a_map_and_its_frames_stay(void **state)
{
    (void)state;
    lab l;
    char path[128];
    start(&l);
    snprintf(path, sizeof path, "%s/ENVIRONMENT.md", l.dir);
    FILE *f = fopen(path, "we");
    assert_true(f && fputs("```json\n{\"map\": {\"name\": \"mine\", \"bounds\": [0, 0, 4, 4], "
                           "\"cells\": [0, 100]},\n \"tf\": [{\"frame\": \"base\", \"x\": 1}]}\n"
                           "```\n",
                           f) >= 0);
    assert_int_equal(fclose(f), 0);
    open_live(&l, true);
    pons_autovalue robot = json_loads("{\"pose\": {\"x\": 1, \"y\": 2, \"yaw\": 0}}", 0, NULL);
    pons_ws_live_event(l.live, "telemetry", robot);
    for (int i = 0; i < 30; i++) {
        l.time.now_ns += 100 * PONS_NS_PER_MS;
        pons_ws_live_poll(l.live);
        pons_ws_place_poll(l.other, l.time.now_ns / PONS_NS_PER_MS);
    }
    const pons_ws_doc *d = pons_ws_place_doc(l.other, PONS_WS_ENVIRONMENT);
    const pons_ws_record *r = pons_ws_find(d, "robot_state", "r1");
    const pons_ws_record *scene = pons_ws_find(d, "scene", "scene");
    assert_true(r && scene);
    assert_true(json_number_value(json_array_get(pons_get(r->value, "pose"), 1)) == 2.0);
    pons_autovalue map =
        json_loads("{\"name\": \"mine\", \"bounds\": [0, 0, 4, 4], \"cells\": [0, 100]}", 0, NULL);
    pons_autovalue tf = json_loads("[{\"frame\": \"base\", \"x\": 1}]", 0, NULL);
    assert_true(json_equal(pons_get(scene->value, "map"), map));
    assert_true(json_equal(pons_get(scene->value, "tf"), tf));
    for (int far = 0; far < 2; far++) {
        pons_autovalue rules = json_array();
        pons_autovalue args =
            json_pack("{s{sf sf sf}}", "pose", "x", far ? 9.0 : 3.0, "y", 2.0, "yaw", 0.0);
        pons_ws_live_judge(l.live, "navigate_to_pose", args, false, rules);
        assert_int_equal(json_array_size(rules) > 0, far);
    }
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_took_in_is_said),
        cmocka_unit_test(what_was_there_waits),
        cmocka_unit_test(what_is_taken_back_is_cancelled),
        cmocka_unit_test(what_is_remembered_is_there),
        cmocka_unit_test(a_map_and_its_frames_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
