// test_goals.c - goals of pons's skills at a robot's actions: the driver against servers that are played
// (server.c), one of each action of Nav2, and of a type that nobody but its configuration knows. Each
// goal is sent once, whatever is lost; what an end says is what the server said.
#include "../conformance.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/ext/skill.h"
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "000102030405060708090a0b0c0d0eff"

typedef struct robot {
    void *driver;
    ros2_node node;
    ros2_types *types;
    char ns[64];
} robot;

// Limits of a robot that waits for a server and its answers as long as it takes; with a server that is soon given up;
// and with an answer that is.
#define PATIENT "server_s: 60, answer_s: 60"
#define HASTY   "server_s: 0.3, answer_s: 60"
#define BRIEF   "server_s: 60, answer_s: 1"

static void open_limited(robot *r, const char *release, const char *limits, const char *more)
{
    static int nth;
    char yaml[4096];
    pons_error err = PONS_ERROR_INIT;
    *r = (robot){.driver = NULL};
    snprintf(r->ns, sizeof r->ns, "%s/g%d", peer_ns, nth++);
    snprintf(yaml, sizeof yaml,
             "distro: %s\nnamespace: %s\ndomain: %u\nlimits: {discovery_s: 0.001, %s}\n"
             "services: {lifecycle_manager: null}\n%s",
             release, r->ns, peer_domain, limits, more);
    pons_autovalue world = house_world();
    if (peer_driver_open(yaml, world, NULL, &r->driver, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    assert_int_equal(ros2_node_open(&r->node, peer_domain, &err), PONS_OK);
    r->types = peer_types(release);
}

static void open_robot(robot *r, const char *release, const char *more)
{
    open_limited(r, release, PATIENT, more);
}

static void close_robot(robot *r)
{
    ros2->close(r->driver);
    ros2_node_close(&r->node);
    ros2_types_destroy(r->types);
}

static void serve(robot *r, server *s, const char *name, const char *type)
{
    char full[128];
    snprintf(full, sizeof full, "%s/%s", r->ns, name);
    server_open(s, &r->node, r->types, full, type);
}

static void begin(robot *r, const char *id, const char *skill, const char *args)
{
    pons_autovalue v = json_loads(args, 0, NULL);
    assert_non_null(v);
    pons_external_goal_request g = {.goal_id = id, .skill = skill, .args = v, .behavior_tree = ""};
    if (strncmp(skill, "navigate", 8) == 0) { // as the body does
        g.n = 2;
        g.poses[0] = (pons_pose2){1, 2, 0.5};
        g.poses[1] = (pons_pose2){3, 4, 0};
    }
    assert_true(ros2->outside->takes(r->driver, skill));
    ros2->outside->begin(r->driver, &g);
}

// The end, waited for; the answer is the caller's.
static pons_external_goal ended(robot *r, const char *id)
{
    for (int i = 0; i < 60000; i++) {
        pons_external_goal e;
        ros2->outside->look(r->driver, id, &e);
        if (e.state != PONS_ERRAND_RUNS) {
            return e;
        }
        pons_value_unref(e.answer);
        dds_sleepfor(DDS_MSECS(1));
    }
    fail_msg("it did not end");
    return (pons_external_goal){.state = PONS_ERRAND_NONE};
}

static void ends_as(robot *r, const char *id, pons_external_goal_state state, int code,
                    const char *text)
{
    const pons_external_goal e = ended(r, id);
    if (e.state != state || e.error_code != code || !strstr(e.text, text)) {
        fail_msg("state %d, code %d: %s", (int)e.state, e.error_code, e.text);
    }
    pons_value_unref(e.answer);
    ros2->outside->end(r->driver, id);
}

static const pons_value *at(const pons_value *v, const char *path)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; v && (key = strsep(&rest, "."));) {
        v = json_is_array(v) ? json_array_get(v, (size_t)atoi(key)) : json_object_get(v, key);
    }
    return v;
}

static void is(const pons_value *v, const char *path, double expected)
{
    const pons_value *x = at(v, path);
    const double got = json_is_boolean(x) ? json_is_true(x) : json_number_value(x);
    if (!x || !(fabs(got - expected) < 1e-5)) {
        fail_msg("%s is %f, not %f", path, x ? got : NAN, expected);
    }
}

static void test_every_action_gets_its_goal(void **state)
{
    (void)state;
    static const struct {
        const char *release, *skill, *action, *type, *args, *path[3];
        double value[3];
    } all[] = {
        {"jazzy",
         "navigate_to_pose",
         "navigate_to_pose",
         "NavigateToPose",
         "{}",
         {"goal.pose.pose.position.x", "goal.pose.pose.position.y", "goal.pose.pose.orientation.w"},
         {1, 2, 0.968912}},
        {"humble",
         "navigate_to_pose",
         "navigate_to_pose",
         "NavigateToPose",
         "{}",
         {"goal.pose.pose.position.x", "goal.pose.pose.position.y"},
         {1, 2}},
        {"jazzy",
         "navigate_through_poses",
         "navigate_through_poses",
         "NavigateThroughPoses",
         "{}",
         {"goal.poses.0.pose.position.x", "goal.poses.1.pose.position.y"},
         {1, 4}},
        {"kilted",
         "navigate_through_poses",
         "navigate_through_poses",
         "NavigateThroughPoses",
         "{}",
         {"goal.poses.goals.0.pose.position.x", "goal.poses.goals.1.pose.position.y"},
         {1, 4}},
        {"jazzy",
         "spin",
         "spin",
         "Spin",
         "{\"angle_rad\":-1.5,\"time_allowance_s\":7.5}",
         {"goal.target_yaw", "goal.time_allowance.sec", "goal.time_allowance.nanosec"},
         {-1.5, 7, 5e8}},
        {"kilted",
         "spin",
         "spin",
         "Spin",
         "{\"angle_rad\":1}",
         {"goal.target_yaw", "goal.time_allowance.sec", "goal.disable_collision_checks"},
         {1, 12, 0}},
        {"humble",
         "back_up",
         "backup",
         "BackUp",
         "{\"distance_m\":0.3,\"speed_mps\":0.1}",
         {"goal.target.x", "goal.speed", "goal.time_allowance.sec"},
         {0.3, 0.1, 16}},
        {"jazzy",
         "drive_on_heading",
         "drive_on_heading",
         "DriveOnHeading",
         "{\"distance_m\":1}",
         {"goal.target.x", "goal.speed", "goal.time_allowance.sec"},
         {1, 0.2, 20}},
        {"jazzy",
         "dock_to_charger",
         "dock_robot",
         "DockRobot",
         "{}", // the house's charger
         {"goal.use_dock_id", "goal.dock_pose.pose.position.y", "goal.navigate_to_staging_pose"},
         {0, 4.65, 1}},
        {"jazzy", "undock", "undock_robot", "UndockRobot", "{}", {"goal.max_undocking_time"}, {30}},
        {"humble",
         "follow_waypoints",
         "follow_waypoints",
         "FollowWaypoints",
         "{\"poses\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4,\"yaw\":1}]}",
         {"goal.poses.0.pose.position.x", "goal.poses.1.pose.position.y"},
         {1, 4}},
        {"jazzy",
         "follow_waypoints",
         "follow_waypoints",
         "FollowWaypoints",
         "{\"zones\":[\"kitchen\"]}",
         {"goal.number_of_loops", "goal.poses.0.pose.orientation.x"},
         {0, 0}},
        {"jazzy",
         "compute_path_to_pose",
         "compute_path_to_pose",
         "ComputePathToPose",
         "{\"pose\":{\"x\":5,\"y\":6},\"start\":{\"x\":1,\"y\":1}}",
         {"goal.goal.pose.position.x", "goal.start.pose.position.x", "goal.use_start"},
         {5, 1, 1}},
        {"lyrical",
         "compute_path_to_pose",
         "compute_path_to_pose",
         "ComputePathToPose",
         "{\"zone\":\"kitchen\"}",
         {"goal.use_start"},
         {0}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char type[64];
        robot r;
        server s;
        snprintf(type, sizeof type, "nav2_msgs/action/%s", all[i].type);
        open_robot(&r, all[i].release, "");
        serve(&r, &s, all[i].action, type);
        begin(&r, ID, all[i].skill, all[i].args);
        pons_autovalue goal = server_goal(&s);
        is(goal, "goal_id.0", 0);
        is(goal, "goal_id.1", 1);
        is(goal, "goal_id.15", 255);
        for (int k = 0; k < 3 && all[i].path[k]; k++) {
            is(goal, all[i].path[k], all[i].value[k]);
        }
        server_answer(&s, goal, true);
        pons_autovalue asked = server_asked(&s);
        server_end(&s, asked, 4, "{}");
        ends_as(&r, ID, PONS_ERRAND_DONE, 0, "");
        assert_true(server_quiet(&s)); // sent once
        close_robot(&r);
    }
}

// A goal that the server has, and the question for its result.
static void under_way_limited(robot *r, server *s, const char *release, const char *limits,
                              pons_value **goal, pons_value **asked)
{
    open_limited(r, release, limits, "");
    serve(r, s, "spin", "nav2_msgs/action/Spin");
    begin(r, ID, "spin", "{\"angle_rad\":1}");
    *goal = server_goal(s);
    server_answer(s, *goal, true);
    *asked = server_asked(s);
}

static void under_way(robot *r, server *s, const char *release, pons_value **goal,
                      pons_value **asked)
{
    under_way_limited(r, s, release, PATIENT, goal, asked);
}

static void test_how_a_goal_ends(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        int status;
        const char *result;
        pons_external_goal_state end;
        int code;
        const char *text;
    } all[] = {
        {"jazzy", 6, "{\"error_code\":703,\"error_msg\":\"played\"}", PONS_ERRAND_FAILED, 703,
         "Nav2 gave up: played"},
        {"jazzy", 6, "{}", PONS_ERRAND_FAILED, 700, "it gives no reason"},
        {"jazzy", 6, "{\"error_code\":9902}", PONS_ERRAND_FAILED, 700,
         "it gives no reason"}, // the body's own
        {"humble", 6, "{}", PONS_ERRAND_FAILED, 700, "Humble gives no reason"},
        {"jazzy", 5, "{}", PONS_ERRAND_FAILED, 700, "somebody else canceled it in Nav2"},
        {"jazzy", 0, "{}", PONS_ERRAND_UNKNOWN, 0, "Nav2 has forgotten the goal"},
        {"jazzy", 77, "{}", PONS_ERRAND_UNKNOWN, 0, "Nav2 has forgotten the goal"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        robot r;
        server s;
        pons_value *goal, *asked;
        under_way(&r, &s, all[i].release, &goal, &asked);
        server_end(&s, asked, all[i].status, all[i].result);
        ends_as(&r, ID, all[i].end, all[i].code, all[i].text);
        pons_value_unref(goal);
        pons_value_unref(asked);
        close_robot(&r);
    }
}

static void test_what_a_docking_says(void **state)
{
    (void)state;
    robot r;
    server s;
    open_robot(&r, "jazzy", "dock: {id: home, type: plug}\n");
    serve(&r, &s, "dock_robot", "nav2_msgs/action/DockRobot");
    begin(&r, ID, "dock_to_charger", "{}");
    pons_autovalue goal = server_goal(&s);
    is(goal, "goal.use_dock_id", 1);
    assert_string_equal(json_string_value(at(goal, "goal.dock_id")), "home");
    assert_string_equal(json_string_value(at(goal, "goal.dock_type")), "plug");
    server_answer(&s, goal, true);
    pons_autovalue asked = server_asked(&s);
    pons_external_goal e = {.docking = false};
    server_tell(&s, goal, "{\"state\":1}"); // on its way: as any driving
    server_tell(&s, goal, "{\"state\":3}"); // in front of it
    for (int i = 0; i < 60000 && !e.docking; i++) {
        ros2->outside->look(r.driver, ID, &e);
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(e.docking);
    server_end(&s, asked, 4, "{\"success\":false,\"error_code\":906,\"error_msg\":\"no current\"}");
    ends_as(&r, ID, PONS_ERRAND_FAILED, 906, "no current");
    close_robot(&r);
}

static void test_a_server_that_refuses_is_not_there_or_goes(void **state)
{
    (void)state;
    robot r;
    server s;
    open_limited(&r, "jazzy", HASTY, "");
    begin(&r, "never", "spin", "{\"angle_rad\":1}");
    ends_as(&r, "never", PONS_ERRAND_FAILED, 700, "Nav2 does not serve it");
    serve(&r, &s, "spin", "nav2_msgs/action/Spin");
    begin(&r, "refused", "spin", "{\"angle_rad\":1}");
    pons_autovalue refused = server_goal(&s); // and not the first one, which was given up
    server_answer(&s, refused, false);
    ends_as(&r, "refused", PONS_ERRAND_FAILED, 700, "Nav2 did not take the goal");
    begin(&r, ID, "spin", "{\"angle_rad\":1}");
    pons_autovalue goal = server_goal(&s);
    server_answer(&s, goal, true);
    pons_autovalue asked = server_asked(&s);
    server_close(&s);
    ends_as(&r, ID, PONS_ERRAND_UNKNOWN, 0, "Nav2's server is gone");
    close_robot(&r);
}

static void test_a_server_that_comes_back_is_asked_again(void **state)
{
    (void)state;
    robot r;
    server s;
    pons_value *goal, *asked;
    under_way(&r, &s, "jazzy", &goal, &asked);
    server_close(&s);
    serve(&r, &s, "spin", "nav2_msgs/action/Spin");
    pons_autovalue again = server_asked(&s);
    assert_true(json_equal(pons_get(again, "goal_id"), pons_get(goal, "goal_id")));
    assert_true(server_quiet(&s)); // asked, and not sent
    server_end(&s, again, 4, "{}");
    ends_as(&r, ID, PONS_ERRAND_DONE, 0, "");
    pons_value_unref(goal);
    pons_value_unref(asked);
    close_robot(&r);
}

static void test_a_lost_answer(void **state)
{
    (void)state;
    robot r;
    server s;
    open_limited(&r, "jazzy", BRIEF, "");
    serve(&r, &s, "spin", "nav2_msgs/action/Spin");
    begin(&r, ID, "spin", "{\"angle_rad\":1}");
    pons_autovalue goal = server_goal(&s);
    server_list(&s, goal, 2); // it has it, and its answer never comes
    uint8_t uuid[16];
    begin(&r, "lost", "spin", "{\"angle_rad\":1}");
    pons_autovalue lost = server_goal(&s); // it has this one too, and says nothing of it at all
    pons_autovalue asked = server_asked(&s);
    server_end(&s, asked, 4, "{}");
    ends_as(&r, ID, PONS_ERRAND_DONE, 0, "");
    ends_as(&r, "lost", PONS_ERRAND_UNKNOWN, 0, "Nav2 did not answer the goal");
    server_canceled(&s, uuid, 0);
    is(lost, "goal_id.0", uuid[0]);
    assert_true(server_quiet(&s));
    close_robot(&r);
}

static void test_what_is_no_longer_wanted_is_canceled(void **state)
{
    (void)state;
    robot r;
    server s;
    uint8_t uuid[16];
    pons_value *goal, *asked;
    under_way(&r, &s, "jazzy", &goal, &asked);
    ros2->outside->end(r.driver, ID);
    server_canceled(&s, uuid, 0);
    assert_int_equal(uuid[15], 255);
    pons_external_goal e;
    ros2->outside->look(r.driver, ID, &e);
    assert_int_equal(e.state, PONS_ERRAND_RUNS); // until its server says what became of it
    server_end(&s, asked, 5, "{}");
    ends_as(&r, ID, PONS_ERRAND_CANCELED, 700, "canceled in Nav2");
    ros2->outside->look(r.driver, ID, &e);
    assert_int_equal(e.state, PONS_ERRAND_NONE);
    // Given up before the answer: canceled a second later, and again when the server has taken it after that.
    begin(&r, "early", "spin", "{\"angle_rad\":1}");
    pons_autovalue early = server_goal(&s);
    ros2->outside->end(r.driver, "early");
    server_canceled(&s, uuid, 0);
    server_answer(&s, early, true);
    server_canceled(&s, uuid, 0);
    is(early, "goal_id.3", uuid[3]);
    pons_value_unref(goal);
    pons_value_unref(asked);
    close_robot(&r);
}

// Killed, not ended: for DDS its endpoints are there until the lease ends, beside those of the server that was started in
// its place, which has never heard of the goal.
static void test_a_server_that_was_killed_and_started_again(void **state)
{
    (void)state;
    robot r;
    server killed, again;
    uint8_t uuid[16];
    pons_value *goal, *asked;
    under_way(&r, &killed, "jazzy", &goal, &asked);
    serve(&r, &again, "spin", "nav2_msgs/action/Spin");
    pons_autovalue question = server_asked(&again);
    assert_true(json_equal(pons_get(question, "goal_id"), pons_get(goal, "goal_id")));
    server_end(&again, question, 0, "{}");
    ends_as(&r, ID, PONS_ERRAND_UNKNOWN, 0, "Nav2 has forgotten the goal");
    server_canceled(&again, uuid, 2); // whoever has it is to let go of it
    assert_int_equal(uuid[15], 255);
    assert_true(server_quiet(&again));
    pons_value_unref(goal);
    pons_value_unref(asked);
    close_robot(&r);
}

// The list of goals says that it is over, and the result does not come: it is asked for once more, then the list counts.
static void test_an_end_without_a_result(void **state)
{
    (void)state;
    static const struct {
        int status;
        pons_external_goal_state end;
        int code;
        const char *text;
    } all[2] = {{4, PONS_ERRAND_DONE, 0, ""}, {6, PONS_ERRAND_FAILED, 700, "it gives no reason"}};
    robot r[2]; // that wait at the same time
    server s[2];
    pons_value *goal[2], *asked[2];
    for (int i = 0; i < 2; i++) {
        under_way_limited(&r[i], &s[i], "jazzy", BRIEF, &goal[i], &asked[i]);
        server_list(&s[i], goal[i], all[i].status);
    }
    for (int i = 0; i < 2; i++) {
        pons_autovalue again = server_asked(&s[i]);
        assert_true(json_equal(pons_get(again, "goal_id"), pons_get(goal[i], "goal_id")));
        ends_as(&r[i], ID, all[i].end, all[i].code, all[i].text);
        assert_true(server_quiet(&s[i]));
        pons_value_unref(goal[i]);
        pons_value_unref(asked[i]);
        close_robot(&r[i]);
    }
}

// An end that the list takes back is none; of results the one that was asked for counts, once.
static void test_a_server_that_does_not_know_what_it_wants(void **state)
{
    (void)state;
    robot r;
    server s;
    pons_value *goal, *asked;
    under_way(&r, &s, "jazzy", &goal, &asked);
    server_list(&s, goal, 4);
    server_list(&s, goal, 1);
    pons_autovalue other = json_deep_copy(asked);
    json_object_set_new(other, "seq_", json_integer(4711));
    server_end(&s, other, 4, "{}"); // nobody's
    pons_external_goal e;
    ros2->outside->look(r.driver, ID, &e);
    assert_int_equal(e.state, PONS_ERRAND_RUNS);
    server_end(&s, asked, 6, "{\"error_code\":703,\"error_msg\":\"first\"}");
    server_end(&s, asked, 4, "{}"); // and it has changed its mind
    begin(&r, "next", "spin", "{\"angle_rad\":1}");
    pons_autovalue next = server_goal(&s);
    server_answer(&s, next, true);
    pons_autovalue question = server_asked(&s);
    server_end(&s, question, 4, "{}");
    ends_as(&r, "next", PONS_ERRAND_DONE, 0, ""); // so what was said before has been heard
    ends_as(&r, ID, PONS_ERRAND_FAILED, 703, "first");
    pons_value_unref(goal);
    pons_value_unref(asked);
    close_robot(&r);
}

// A cancel is said until it is answered: to one that refuses, and to one that was away when the goal was given up.
static void test_a_cancel_that_is_not_heard(void **state)
{
    (void)state;
    robot r;
    server s;
    uint8_t uuid[16];
    pons_value *goal, *asked;
    under_way_limited(&r, &s, "jazzy", HASTY, &goal, &asked);
    ros2->outside->end(r.driver, ID);
    server_canceled(&s, uuid, 1);
    server_canceled(&s, uuid, 0); // said again
    assert_int_equal(uuid[15], 255);
    server_end(&s, asked, 5, "{}");
    ends_as(&r, ID, PONS_ERRAND_CANCELED, 700, "canceled in Nav2");
    begin(&r, "away", "spin", "{\"angle_rad\":1}");
    pons_autovalue away = server_goal(&s);
    server_answer(&s, away, true);
    pons_autovalue question = server_asked(&s);
    server_close(&s);
    ends_as(&r, "away", PONS_ERRAND_UNKNOWN, 0, "Nav2's server is gone");
    serve(&r, &s, "spin", "nav2_msgs/action/Spin"); // it was a cable
    server_canceled(&s, uuid, 0);
    is(away, "goal_id.5", uuid[5]);
    pons_value_unref(goal);
    pons_value_unref(asked);
    close_robot(&r);
}

// The same id begun twice, and several at once, each with its own answers and feedback; another client's are
// nobody's.
static void test_goals_beside_one_another(void **state)
{
    (void)state;
    robot r;
    server s;
    open_robot(&r, "jazzy", "");
    serve(&r, &s, "compute_path_to_pose", "nav2_msgs/action/ComputePathToPose");
    begin(&r, "a", "compute_path_to_pose", "{\"pose\":{\"x\":1,\"y\":0}}");
    pons_autovalue a = server_goal(&s);
    begin(&r, "a", "compute_path_to_pose", "{\"pose\":{\"x\":7,\"y\":0}}");
    begin(&r, "b", "compute_path_to_pose", "{\"pose\":{\"x\":2,\"y\":0}}");
    pons_autovalue b = server_goal(&s);
    is(b, "goal.goal.pose.position.x", 2); // the second a was not sent
    pons_autovalue foreign = json_deep_copy(a);
    json_object_set_new(foreign, "guid_", json_integer(12345));
    server_answer(&s, foreign, false);
    server_answer(&s, b, true);
    pons_autovalue asked_b = server_asked(&s);
    server_answer(&s, a, true);
    pons_autovalue asked_a = server_asked(&s);
    server_end(&s, asked_b, 6, "{\"error_code\":208}");
    ends_as(&r, "b", PONS_ERRAND_FAILED, 208, "gave up");
    server_end(&s, asked_a, 4,
               "{\"path\":{\"header\":{\"frame_id\":\"map\"},\"poses\":[{\"x\":0,\"y\":0},{\"x\":3,"
               "\"y\":4},"
               "{\"x\":3,\"y\":5}]}}");
    const pons_external_goal e = ended(&r, "a");
    assert_int_equal(e.state, PONS_ERRAND_DONE);
    is(e.answer, "path.length_m", 6);
    is(e.answer, "path.poses", 3);
    pons_value_unref(e.answer);
    close_robot(&r);
}

static const char WAVE[] =
    "skills:\n  - name: wave\n    interface_type: ros2_action\n    type: my_msgs/action/Wave\n"
    "    description: Wave.\n    success_criteria: it waved\n    timeout_s: 30\n"
    "    goal: {speed: 0.25}\n    definition: |\n      int32 times\n      float32 speed\n"
    "      Style style\n      ---\n      bool success\n      string message\n      ---\n      "
    "int32 left\n"
    "      === my_msgs/msg/Style\n      string<=8 hand 'left'\n      geometry_msgs/PoseStamped "
    "towards\n";

static void test_a_robots_own_skill(void **state)
{
    (void)state;
    robot r;
    server s;
    pons_error err = PONS_ERROR_INIT;
    open_robot(&r, "jazzy", WAVE);
    size_t n = 0;
    const char *interface = NULL;
    const pons_skill *const *skills = ros2->outside->skills(r.driver, &n, &interface);
    const pons_skill *wave = NULL;
    for (size_t i = 0; i < n; i++) {
        wave = strcmp(skills[i]->name, "wave") == 0 ? skills[i] : wave;
    }
    assert_string_equal(interface, "ros2_action");
    assert_non_null(wave);
    pons_autovalue schema = json_loads(wave->args_schema, 0, NULL);
    assert_non_null(at(schema, "properties.times"));
    assert_null(at(schema, "properties.speed")); // it is fixed
    assert_true(ros2_texts_define(
                    ros2_types_texts(r.types), "my_msgs/action/Wave",
                    "int32 times\nfloat32 speed\nStyle style\n---\nbool success\nstring message\n"
                    "---\nint32 left\n=== my_msgs/msg/Style\nstring hand\n"
                    "geometry_msgs/PoseStamped towards\n",
                    "test", &err) >= 0);
    serve(&r, &s, "wave", "my_msgs/action/Wave");
    begin(&r, ID, "wave", "{\"times\":3,\"style\":{\"towards\":{\"x\":1,\"y\":2}}}");
    pons_autovalue goal = server_goal(&s);
    is(goal, "goal.times", 3);
    is(goal, "goal.speed", 0.25);
    is(goal, "goal.style.towards.pose.position.y", 2);
    assert_string_equal(json_string_value(at(goal, "goal.style.hand")), "left");
    server_answer(&s, goal, true);
    pons_autovalue asked = server_asked(&s);
    server_end(&s, asked, 4, "{\"success\":false,\"message\":\"the hand is full\"}");
    ends_as(&r, ID, PONS_ERRAND_FAILED, PONS_SKILL_OWN_ERRORS, "gave up: the hand is full");
    begin(&r, "bad", "wave", "{\"times\":3,\"style\":{\"hand\":\"both of them\"}}");
    ends_as(&r, "bad", PONS_ERRAND_FAILED, PONS_SKILL_OWN_ERRORS,
            "style: hand: the text is too long");
    assert_true(server_quiet(&s));
    close_robot(&r);
}

static void test_a_skill_that_cannot_be_is_refused(void **state)
{
    (void)state;
#define SKILL                                                                                      \
    "skills:\n  - name: wave\n    interface_type: ros2_action\n    description: Wave.\n"           \
    "    success_criteria: it waved\n    timeout_s: 30\n"
    static const struct {
        const char *yaml, *expect;
    } bad[] = {
        {SKILL "    type: my_msgs/action/Nothing\n", "my_msgs/action/Nothing is not known"},
        {SKILL "    type: my_msgs/msg/Wave\n", "/skills/0/type: expected a match of"},
        {SKILL "    type: my_msgs/action/Wave\n    definition: int32 a\n", "too few parts"},
        {SKILL "    type: nav2_msgs/action/Spin\n    goal: {angle: 1}\n",
         "angle: there is no such member"},
        {SKILL, "type"},
        {"skills:\n  - {name: wave}\n", "interface_type"},
    };
    pons_autovalue world = house_world();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char yaml[4096], line[1024];
        void *driver = NULL;
        pons_error err = PONS_ERROR_INIT;
        snprintf(yaml, sizeof yaml, "domain: %u\n%s", peer_domain, bad[i].yaml);
        const int rc = peer_driver_open(yaml, world, NULL, &driver, &err);
        if (rc >= 0 || !strstr(pons_error_line(&err, line, sizeof line), bad[i].expect)) {
            fail_msg("%zu: %d %s", i, rc, pons_error_line(&err, line, sizeof line));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_action_gets_its_goal),
        cmocka_unit_test(test_how_a_goal_ends),
        cmocka_unit_test(test_what_a_docking_says),
        cmocka_unit_test(test_a_server_that_refuses_is_not_there_or_goes),
        cmocka_unit_test(test_a_server_that_comes_back_is_asked_again),
        cmocka_unit_test(test_a_lost_answer),
        cmocka_unit_test(test_what_is_no_longer_wanted_is_canceled),
        cmocka_unit_test(test_a_server_that_was_killed_and_started_again),
        cmocka_unit_test(test_an_end_without_a_result),
        cmocka_unit_test(test_a_server_that_does_not_know_what_it_wants),
        cmocka_unit_test(test_a_cancel_that_is_not_heard),
        cmocka_unit_test(test_goals_beside_one_another),
        cmocka_unit_test(test_a_robots_own_skill),
        cmocka_unit_test(test_a_skill_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("drivers/ros2/goals", tests, peer_group_open,
                                       peer_group_close);
}
