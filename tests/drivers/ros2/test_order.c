// test_order.c - what servers of actions hear, in which order, and what each goal ends as: each pair of {goal, cancel,
// stop, spin, dock}, one right after the other, as the body has them: a cancel and a stop are both an end of what is
// under way. The servers, one of each action, answer at once, late, with a no, or never. A goal that would move the
// robot never arrives while a cancel has no answer, and no cancel before its goal.
#include "../conformance.h"
#include "peer.h"
#include "pons/ext/skill.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

typedef enum op { GOAL, SPIN, DOCK, CANCEL, STOP, OPS } op;
enum { ACTIONS = 3 }; // the first ones are goals
static const struct {
    const char *word, *skill, *args, *action, *type;
} all[OPS] = {
    [GOAL] = {"goal", "navigate_to_pose", "{}", "navigate_to_pose",
              "nav2_msgs/action/NavigateToPose"},
    [SPIN] = {"spin", "spin", "{\"angle_rad\":1}", "spin", "nav2_msgs/action/Spin"},
    [DOCK] = {"dock", "dock_to_charger", "{}", "dock_robot", "nav2_msgs/action/DockRobot"},
    [CANCEL] = {.word = "cancel"},
    [STOP] = {.word = "stop"},
};

typedef struct robot {
    void *driver;
    ros2_node node;
    ros2_types *types;
    server servers[ACTIONS];
    // what the servers know of the newest goal and of the newest cancel
    pons_value *goal[ACTIONS], *asked[ACTIONS];
    bool has_cancel[ACTIONS], answered[ACTIONS]; // came; and has had its answer
    server_cancel cancel[ACTIONS];
    char received[128]; // "+spin" a goal, "-spin" its cancel
} robot;

static void open_robot(robot *r, const char *limits)
{
    static int nth;
    char yaml[512], ns[64], full[128];
    pons_error err = PONS_ERROR_INIT;
    *r = (robot){.driver = NULL};
    snprintf(ns, sizeof ns, "%s/o%d", peer_ns, nth++);
    snprintf(yaml, sizeof yaml,
             "distro: jazzy\nnamespace: %s\ndomain: %u\nlimits: {discovery_s: 0.001, %s}\n"
             "services: {lifecycle_manager: null}\n",
             ns, peer_domain, limits);
    pons_autovalue world = house_world();
    if (peer_driver_open(yaml, world, NULL, &r->driver, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    assert_int_equal(ros2_node_open(&r->node, peer_domain, &err), PONS_OK);
    r->types = peer_types("jazzy");
    for (int i = 0; i < ACTIONS; i++) {
        snprintf(full, sizeof full, "%s/%s", ns, all[i].action);
        server_open(&r->servers[i], &r->node, r->types, full, all[i].type);
    }
}

static void fresh(robot *r)
{
    for (int i = 0; i < ACTIONS; i++) {
        pons_value_unref(r->goal[i]);
        pons_value_unref(r->asked[i]);
        r->goal[i] = r->asked[i] = NULL;
        r->has_cancel[i] = r->answered[i] = false;
    }
    r->received[0] = '\0';
}

static void close_robot(robot *r)
{
    fresh(r);
    ros2->close(r->driver);
    ros2_node_close(&r->node);
    ros2_types_destroy(r->types);
}

static void note(robot *r, char what, int action)
{
    const size_t n = strlen(r->received);
    snprintf(r->received + n, sizeof r->received - n, "%s%c%s", n > 0 ? " " : "", what,
             all[action].word);
}

// What has come. Of what came at the same time a cancel is noted first: it must not be there before its goal.
static void hear(robot *r)
{
    for (int i = 0; i < ACTIONS; i++) {
        server_cancel c;
        while (server_cancel_yet(&r->servers[i], &c)) {
            if (!r->has_cancel[i]) {
                note(r, '-', i);
            }
            r->has_cancel[i] = true;
            r->cancel[i] = c;
        }
    }
    for (int i = 0; i < ACTIONS; i++) {
        pons_value *goal = server_goal_yet(&r->servers[i]);
        if (goal) {
            for (int k = 0; k < ACTIONS; k++) {
                if (r->has_cancel[k] && !r->answered[k]) {
                    fail_msg("%s came before the cancel of %s was answered", all[i].word,
                             all[k].word);
                }
            }
            note(r, '+', i);
            pons_value_unref(r->goal[i]);
            r->goal[i] = goal;
        }
        pons_value *asked = server_asked_yet(&r->servers[i]);
        if (asked) {
            pons_value_unref(r->asked[i]);
            r->asked[i] = asked;
        }
    }
    dds_sleepfor(DDS_MSECS(1));
}

#define UNTIL(r, condition)                                                                        \
    for (int until_ = 0; !(condition); until_++) {                                                 \
        if (until_ > 30000) {                                                                      \
            fail_msg("no %s; heard: %s", #condition, (r)->received);                               \
        }                                                                                          \
        hear(r);                                                                                   \
    }

static void begin(robot *r, op o, const char *id)
{
    pons_autovalue args = json_loads(all[o].args, 0, NULL);
    const pons_external_goal_request g = {.goal_id = id,
                                          .skill = all[o].skill,
                                          .args = args,
                                          .behavior_tree = "",
                                          .n = 1,
                                          .poses = {{1, 2, 0}}};
    ros2->outside->begin(r->driver, &g);
}

// What is said of a goal; an end only once, as the body asks.
static pons_external_goal look(robot *r, const char *id)
{
    pons_external_goal e;
    ros2->outside->look(r->driver, id, &e);
    pons_value_unref(e.answer);
    e.answer = NULL;
    if (e.state != PONS_ERRAND_RUNS) {
        ros2->outside->end(r->driver, id);
    }
    return e;
}

static void ends_as(robot *r, const char *id, pons_external_goal_state state, const char *text)
{
    pons_external_goal e;
    UNTIL(r, (e = look(r, id)).state != PONS_ERRAND_RUNS);
    if (e.state != state || !strstr(e.text, text)) {
        fail_msg("%s: state %d: %s; heard: %s", id, (int)e.state, e.text, r->received);
    }
}

static void runs(robot *r, const char *id)
{
    const pons_external_goal e = look(r, id);
    if (e.state != PONS_ERRAND_RUNS) {
        fail_msg("%s: it is told to have ended before it has: state %d: %s; heard: %s", id,
                 (int)e.state, e.text, r->received);
    }
}

// A goal that its server has taken.
static void under_way(robot *r, int action, const char *id)
{
    begin(r, (op)action, id);
    UNTIL(r, r->goal[action]);
    server_answer(&r->servers[action], r->goal[action], true);
    UNTIL(r, r->asked[action]);
}

static void received(robot *r, const char *expected)
{
    if (strcmp(r->received, expected) != 0) {
        fail_msg("heard: %s, not %s", r->received, expected);
    }
}

// What is under way is ended, the next begun at once; late: the servers do not answer before they have heard all
// there is to hear for a while.
static void end_then_goal(robot *r, int first, int next, bool twice, bool late)
{
    char expect[64];
    fresh(r);
    under_way(r, first, "a");
    ros2->outside->end(r->driver, "a");
    if (twice) { // a cancel and a stop, in this order or the other
        ros2->outside->end(r->driver, "a");
    }
    begin(r, (op)next, "b");
    UNTIL(r, r->has_cancel[first]);
    for (int i = 0; late && i < 60; i++) {
        hear(r);
    }
    runs(r, "a");
    server_cancel_answer(&r->servers[first], &r->cancel[first], 0);
    for (int i = 0; late && i < 60; i++) { // it is canceling: that is not its end
        hear(r);
    }
    runs(r, "a");
    snprintf(expect, sizeof expect, "+%s -%s", all[first].word, all[first].word);
    received(r, expect);
    r->answered[first] = true;
    server_end(&r->servers[first], r->asked[first], 5, "{}");
    ends_as(r, "a", PONS_ERRAND_CANCELED, "canceled in Nav2");
    pons_value_unref(r->goal[next]);
    r->goal[next] = NULL;
    UNTIL(r, r->goal[next]);
    server_answer(&r->servers[next], r->goal[next], false);
    ends_as(r, "b", PONS_ERRAND_FAILED, "did not take the goal");
}

static void a_cancel_or_stop_then_a_goal(void **state)
{
    (void)state;
    robot r;
    open_robot(&r, "server_s: 60, answer_s: 60");
    for (int first = 0; first < ACTIONS; first++) {
        for (int next = 0; next < ACTIONS; next++) {
            end_then_goal(&r, first, next, (first + next) % 2 == 1, first == next);
        }
    }
    close_robot(&r);
}

static void a_goal_then_a_cancel_or_stop(void **state)
{
    (void)state;
    robot r;
    open_robot(&r, "server_s: 60, answer_s: 60");
    for (int i = 0; i < ACTIONS; i++) {
        char expect[64];
        // Taken at once.
        fresh(&r);
        begin(&r, (op)i, "a");
        UNTIL(&r, r.goal[i]);
        ros2->outside->end(r.driver, "a");
        server_answer(&r.servers[i], r.goal[i], true);
        UNTIL(&r, r.has_cancel[i] && r.asked[i]);
        server_cancel_answer(&r.servers[i], &r.cancel[i], 0);
        runs(&r, "a");
        server_end(&r.servers[i], r.asked[i], 4, "{}"); // it was done before the cancel
        ends_as(&r, "a", PONS_ERRAND_DONE, "");
        snprintf(expect, sizeof expect, "+%s -%s", all[i].word, all[i].word);
        received(&r, expect);
        // Not taken.
        fresh(&r);
        begin(&r, (op)i, "b");
        UNTIL(&r, r.goal[i]);
        ros2->outside->end(r.driver, "b");
        server_answer(&r.servers[i], r.goal[i], false);
        ends_as(&r, "b", PONS_ERRAND_FAILED, "did not take the goal");
        // Not sent: nothing is heard of it.
        fresh(&r);
        begin(&r, (op)i, "c");
        ros2->outside->end(r.driver, "c");
        UNTIL(&r, look(&r, "c").state != PONS_ERRAND_RUNS || r.has_cancel[i] || r.goal[i]);
        if (r.goal[i]) { // it was just under way
            server_answer(&r.servers[i], r.goal[i], false);
            UNTIL(&r, look(&r, "c").state != PONS_ERRAND_RUNS);
        }
    }
    close_robot(&r);
}

// Two goals with nothing between them arrive in their order, one at each server.
static void a_goal_then_a_goal(void **state)
{
    (void)state;
    robot r;
    open_robot(&r, "server_s: 60, answer_s: 60");
    for (int i = 0; i < ACTIONS; i++) {
        const int k = (i + 1) % ACTIONS;
        fresh(&r);
        under_way(&r, i, "a");
        begin(&r, (op)k, "b");
        UNTIL(&r, r.goal[k]);
        server_answer(&r.servers[k], r.goal[k], true);
        UNTIL(&r, r.asked[k]);
        server_end(&r.servers[i], r.asked[i], 6, "{}"); // preempted, as Nav2 does it
        server_end(&r.servers[k], r.asked[k], 4, "{}");
        ends_as(&r, "a", PONS_ERRAND_FAILED, "gave up");
        ends_as(&r, "b", PONS_ERRAND_DONE, "");
    }
    close_robot(&r);
}

// A server that says no to the cancel, and one that never answers it: nobody knows, and nothing is sent over it.
static void no_and_never(void **state)
{
    (void)state;
    robot all_robots[2];
    for (int i = 0; i < 2; i++) {
        robot *r = &all_robots[i];
        open_robot(r, "server_s: 60, answer_s: 1");
        under_way(r, GOAL, "a");
        ros2->outside->end(r->driver, "a");
        begin(r, GOAL, "b");
        begin(r, SPIN, "c");
        begin(r, DOCK, "d");
    }
    for (int i = 0; i < 2; i++) {
        robot *r = &all_robots[i];
        UNTIL(r, r->has_cancel[GOAL]);
        if (i == 0) {
            server_cancel_answer(&r->servers[GOAL], &r->cancel[GOAL], 1);
        }
        ends_as(r, "a", PONS_ERRAND_UNKNOWN, "Nav2 did not cancel the goal");
        ends_as(r, "b", PONS_ERRAND_FAILED, "not sent to Nav2: the cancel of an earlier goal");
        ends_as(r, "c", PONS_ERRAND_FAILED, "not sent to Nav2: the cancel of an earlier goal");
        ends_as(r, "d", PONS_ERRAND_FAILED, "not sent to Nav2: the cancel of an earlier goal");
        received(r, "+goal -goal");
        // It answers after all: the way is free.
        r->has_cancel[GOAL] = false;
        UNTIL(r, r->has_cancel[GOAL]); // said again, as nobody has answered
        server_cancel_answer(&r->servers[GOAL], &r->cancel[GOAL], 3);
        r->answered[GOAL] = true;
        begin(r, SPIN, "e");
        UNTIL(r, r->goal[SPIN]);
        close_robot(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancel_or_stop_then_a_goal),
        cmocka_unit_test(a_goal_then_a_cancel_or_stop),
        cmocka_unit_test(a_goal_then_a_goal),
        cmocka_unit_test(no_and_never),
    };
    return cmocka_run_group_tests_name("drivers/ros2/order", tests, peer_group_open,
                                       peer_group_close);
}
