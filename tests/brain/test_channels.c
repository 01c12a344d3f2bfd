// test_channels.c - what the channels of both graphs say at the moments that matter: a story under way, read
// from the store as another process would, and from the events.
#include "brain_bench.h"
#include "pons/graph.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SOON 3.0

// A channel of a namespace as it is stored; the caller's.
static pons_value *channel(bench *b, const char *ns, const char *name)
{
    pons_autovalue state = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_state_read(b->store, "t1", ns, &state, &err) >= 0);
    return pons_value_ref(pons_get(state, name));
}

static void is(const pons_value *v, const char *key, const char *text)
{
    assert_string_equal(pons_get_str(v, key, "?"), text);
}

static void begin(bench *b, const char *asks)
{
    bench_open(b, NULL);
    if (asks) {
        json_object_set_new(json_object_get(b->config, "approval"), "skills",
                            json_pack("[s]", asks));
    }
    bench_brain(b);
    bench_run(b, 0.5);
}

static void what_a_person_said_is_in_hci(void **state)
{
    (void)state;
    static const struct {
        const char *text, *type;
    } rows[] = {
        {"go to the kitchen", "NEW_GOAL"}, {"pause", "PAUSE"}, {"暂停", "PAUSE"}, {"stop", "STOP"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, NULL);
        b.base_ms = BENCH_NEVER;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_say(&b, rows[i].text);
        bench_run(&b, 0.5);
        pons_autovalue hci = channel(&b, "kernel", "hci");
        is(hci, "user_utterance", rows[i].text);
        is(pons_get(hci, "user_interrupt"), "type", rows[i].type);
        is(pons_get(hci, "user_interrupt"), "payload", rows[i].text);
        bench_close(&b);
    }
    for (int i = 0; i < 2; i++) { // as commands of other terminals
        bench b;
        begin(&b, NULL);
        b.base_ms = BENCH_NEVER;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_post(&b, "control", i ? "{'word':'stop'}" : "{'word':'pause'}");
        bench_run(&b, 0.5);
        pons_autovalue hci = channel(&b, "kernel", "hci");
        is(hci, "user_utterance", "去厨房");
        is(pons_get(hci, "user_interrupt"), "type", i ? "STOP" : "PAUSE");
        bench_close(&b);
    }
}

static void an_answer_is_in_hci(void **state)
{
    (void)state;
    bench b;
    begin(&b, "navigate_to_pose");
    bench_goal_text(&b, "去厨房");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    is(asked, "task_id", "task-1");
    pons_autovalue before = channel(&b, "react", "react");
    const pons_value *proposed = pons_get(before, "proposed_ops");
    is(json_array_get(pons_get(proposed, "to_dispatch"), 0), "skill", "navigate_to_pose");
    assert_true(json_is_array(pons_get(proposed, "to_cancel")));
    assert_true(json_is_array(pons_get(proposed, "to_speak")));
    assert_true(json_is_boolean(pons_get(proposed, "need_approval")));
    assert_non_null(pons_get(proposed, "approval_payload"));
    is(pons_get(before, "approval"), "id", pons_get_str(asked, "id", ""));
    bench_post(&b, "answer", "{'action':'approve','by':'anna'}");
    bench_await(&b, "approval.resolved", "action", "approve", SOON);
    bench_run(&b, 0.3);
    pons_autovalue hci = channel(&b, "kernel", "hci");
    is(pons_get(hci, "approval_response"), "action", "approve");
    is(pons_get(hci, "approval_response"), "by", "anna");
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    pons_autovalue after = channel(&b, "react", "react");
    is(after, "stop_reason", "done");
    bench_close(&b);
}

static void a_task_under_way_is_in_tasks_and_skills(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 0.5);
    pons_autovalue tasks = channel(&b, "kernel", "tasks");
    const pons_value *task = json_array_get(pons_get(tasks, "queue"), 0);
    is(tasks, "active_task_id", "task-1");
    is(tasks, "mode", "EXEC");
    assert_true(json_is_null(pons_get(tasks, "preempt_flag")));
    is(task, "status", "active");
    assert_int_equal(pons_get_int(task, "priority", 0), 50);
    assert_true(json_is_null(pons_get(task, "deadline_ms")));
    assert_string_equal(json_string_value(json_array_get(pons_get(task, "resources"), 0)), "base");
    assert_true(pons_get_bool(task, "preemptible", false));
    pons_autovalue skills = channel(&b, "react", "skills");
    const pons_value *running = json_array_get(pons_get(skills, "running"), 0);
    is(running, "goal_id", bench_newest(&b, "navigate_to_pose")->id);
    assert_true(pons_get_int(running, "started_ms", 0) > 0);
    assert_true(pons_get_num(running, "timeout_s", 0.0) > 0.0);
    assert_string_equal(json_string_value(json_array_get(pons_get(running, "resources"), 0)),
                        "base");
    assert_true(json_array_size(pons_get(skills, "registry")) > 3);
    pons_autovalue messages =
        channel(&b, "react", "messages"); // an observation, and what was decided
    assert_true(json_array_size(messages) >= 2);
    bench_close(&b);
}

static void why_a_task_is_let_go_of_is_a_flag(void **state)
{
    (void)state;
    static const char *const flags[] = {"SAFETY", "BATTERY", "USER"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        bench b;
        begin(&b, NULL);
        b.base_ms = BENCH_NEVER;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "accepted", SOON);
        if (i == 0) {
            b.risk = true;
        } else if (i == 1) {
            b.battery = 15.0;
        } else {
            bench_post(&b, "say", "{'text':'go to the bedroom','priority':'urgent'}");
        }
        bench_run(&b, 1.0);
        pons_autovalue past = NULL; // once it is let go of, there is no reason any more
        pons_error err = PONS_ERROR_INIT;
        assert_true(pons_state_history(b.store, "t1", "kernel", 50, true, &past, &err) >= 0);
        int found = 0;
        size_t k;
        json_t *point;
        json_array_foreach(past, k, point) {
            const pons_value *tasks = pons_get(pons_get(point, "values"), "tasks");
            found += strcmp(pons_get_str(tasks, "preempt_flag", ""), flags[i]) == 0;
        }
        assert_true(found > 0);
        bench_close(&b);
    }
}

static void the_world_says_whether_the_goal_can_be_reached(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 200;
    b.fail_code = 208; // no way
    bench_goal_text(&b, "去厨房");
    const pons_value *first = bench_await(&b, "observation", NULL, NULL, SOON);
    const pons_value *world = pons_get(pons_get(first, "observation"), "world");
    assert_non_null(strstr(pons_get_str(world, "summary", ""), "robot in living_room"));
    assert_true(json_array_size(pons_get(world, "zones")) >= 2);
    assert_true(json_is_integer(pons_get(world, "obstacles")));
    bench_await(&b, "effect", "state", "failed", SOON);
    bool reported = false;
    for (int i = 0; i < 20 && !reported; i++) {
        const pons_value *next = bench_await(&b, "observation", NULL, NULL, 30.0);
        world = pons_get(pons_get(next, "observation"), "world");
        reported =
            strstr(pons_get_str(world, "summary", ""), "the goal is kitchen (unreachable") != NULL;
    }
    assert_true(reported);
    bench_close(&b);
}

static void what_the_body_tells_is_in_the_observation(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
    const pons_value *robot = pons_get(pons_get(seen, "observation"), "robot");
    assert_true(json_is_number(pons_get(pons_get(robot, "pose"), "x")));
    assert_true(pons_get_num(robot, "battery_pct", 0.0) > 0.0);
    is(robot, "zone", "living_room");
    assert_true(json_is_object(pons_get(robot, "resources")));
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 0.5);
    pons_autovalue status = pons_brain_status(b.brain);
    assert_true(json_is_number(pons_get(pons_get(status, "pose"), "x")));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_person_said_is_in_hci),
        cmocka_unit_test(an_answer_is_in_hci),
        cmocka_unit_test(a_task_under_way_is_in_tasks_and_skills),
        cmocka_unit_test(why_a_task_is_let_go_of_is_a_flag),
        cmocka_unit_test(the_world_says_whether_the_goal_can_be_reached),
        cmocka_unit_test(what_the_body_tells_is_in_the_observation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
