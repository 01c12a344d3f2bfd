// test_services.c - what is asked of Nav2 itself: clearing its costmaps, its state, its lifecycle manager; and a
// service that only a robot's configuration knows. The services are played here; each call is made once. A Nav2 that
// says that it is not active gets no goal, and the robot says why it stands, until it is active.
#include "../conformance.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/ext/skill.h"
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct robot {
    void *driver;
    peer senses; // when it is heard of
    bool received;
    ros2_node node;
    ros2_types *types;
    char ns[64];
} robot;

typedef struct service {
    const ros2_shape *asks, *answers;
    dds_entity_t r, w;
} service;

// Limits of a robot that waits for a server and its answers as long as it takes; and with what is soon given up: a
// server, one that does not answer, and both.
#define PATIENT "server_s: 60, answer_s: 60"
#define HASTY   "server_s: 0.3, answer_s: 60"
#define BRIEF   "server_s: 60, answer_s: 1"
#define BOTH    "server_s: 0.3, answer_s: 0.3"

// Servers that exist before the driver starts.
static void open_network(robot *r, const char *release)
{
    static int nth;
    pons_error err = PONS_ERROR_INIT;
    *r = (robot){.driver = NULL};
    snprintf(r->ns, sizeof r->ns, "%s/s%d", peer_ns, nth++);
    assert_int_equal(ros2_node_open(&r->node, peer_domain, &err), PONS_OK);
    r->types = peer_types(release);
}

static void open_beside(robot *r, const char *release, const char *limits, const char *more,
                        bool received)
{
    char yaml[4096];
    pons_error err = PONS_ERROR_INIT;
    r->received = received;
    snprintf(yaml, sizeof yaml,
             "distro: %s\nnamespace: %s\ndomain: %u\nlimits: {discovery_s: 0.05, "
             "%s}\nuse_sim_time: true\n"
             "topics: {tf: tf, tf_static: tf_static, clock: clock}\n%s",
             release, r->ns, peer_domain, limits, more);
    pons_autovalue world = house_world();
    if (peer_driver_open(yaml, world, NULL, &r->driver, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    if (received) {
        peer_open(&r->senses, world, NULL, r->ns, peer_domain, false);
        peer_say_battery(&r->senses);
    }
}

static void open_robot(robot *r, const char *release, const char *limits, const char *more,
                       bool received)
{
    open_network(r, release);
    open_beside(r, release, limits, more, received);
}

static void close_robot(robot *r)
{
    if (r->received) {
        peer_close(&r->senses);
    }
    ros2->close(r->driver);
    ros2_node_close(&r->node);
    ros2_types_destroy(r->types);
}

// One step of whatever a test waits for.
static void wait_a_little(robot *r)
{
    if (r->received) {
        peer_step(&r->senses, 5 * PONS_NS_PER_MS);
        peer_say(&r->senses);
        peer_say_battery(&r->senses);
    }
    dds_sleepfor(DDS_MSECS(5));
}

// As ROS names it, whatever the driver does: type "nav2_msgs::srv::dds_::ClearEntireCostmap_Request_".
static void serve(robot *r, service *s, const char *name, const char *type)
{
    const ros2_qos sure = {.reliable = true, .depth = 10};
    char topic[128], asks[160], answers[160];
    pons_error err = PONS_ERROR_INIT;
    const char *package = type, *last = strrchr(type, '/') + 1;
    snprintf(topic, sizeof topic, "%s/%s", r->ns, name);
    snprintf(asks, sizeof asks, "%.*s::srv::dds_::%s_Request_", (int)strcspn(package, "/"), package,
             last);
    snprintf(answers, sizeof answers, "%.*s::srv::dds_::%s_Response_", (int)strcspn(package, "/"),
             package, last);
    s->asks = server_shape(r->types, type, "Asked");
    s->answers = server_shape(r->types, type, "Answered");
    s->w = ros2_node_writer(&r->node, "rrReply", topic, answers,
                            ros2_types_topic(r->types, s->answers, &err), sure, &err);
    s->r = ros2_node_reader(&r->node, "rqRequest", topic, asks,
                            ros2_types_topic(r->types, s->asks, &err), sure, &err);
    if (!s->w || !s->r) {
        fail_msg("%s", err.message);
    }
}

static pons_value *taken(service *s)
{
    void *sample[1] = {NULL};
    dds_sample_info_t info;
    pons_value *v = NULL;
    if (dds_take(s->r, sample, &info, 1, 1) > 0) {
        v = info.valid_data ? ros2_value_to(s->asks, sample[0]) : NULL;
        dds_return_loan(s->r, sample, 1);
    }
    return v;
}

static pons_value *asked(robot *r, service *s)
{
    for (int i = 0; i < 12000; i++) {
        pons_value *v = taken(s);
        if (v) {
            return v;
        }
        wait_a_little(r);
    }
    fail_msg("no request came");
    return NULL;
}

static bool quiet(service *s)
{
    pons_autovalue v = taken(s);
    return !v;
}

static void answer(service *s, const pons_value *request, const char *response)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = pons_object("guid_", json_incref((json_t *)pons_get(request, "guid_")),
                                   "seq_", json_incref((json_t *)pons_get(request, "seq_")),
                                   "response", json_loads(response, 0, NULL), NULL);
    void *mem = calloc(1, s->answers->size);
    if (ros2_value_from(s->answers, v, "map", mem, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(dds_write(s->w, mem), 0);
    ros2_value_fini(s->answers, mem);
    free(mem);
}

static void begin(robot *r, const char *id, const char *skill, const char *args)
{
    pons_autovalue v = json_loads(args, 0, NULL);
    assert_non_null(v);
    pons_external_goal_request g = {.goal_id = id, .skill = skill, .args = v, .behavior_tree = ""};
    assert_true(ros2->outside->takes(r->driver, skill));
    ros2->outside->begin(r->driver, &g);
}

static pons_external_goal_state state_of(robot *r, const char *id)
{
    pons_external_goal e;
    ros2->outside->look(r->driver, id, &e);
    pons_value_unref(e.answer);
    return e.state;
}

static pons_external_goal ended(robot *r, const char *id)
{
    for (int i = 0; i < 12000; i++) {
        pons_external_goal e;
        ros2->outside->look(r->driver, id, &e);
        if (e.state != PONS_ERRAND_RUNS) {
            return e;
        }
        pons_value_unref(e.answer);
        wait_a_little(r);
    }
    fail_msg("it did not end");
    return (pons_external_goal){.state = PONS_ERRAND_NONE};
}

static void ends_as(robot *r, const char *id, pons_external_goal_state state, const char *text)
{
    const pons_external_goal e = ended(r, id);
    if (e.state != state || !strstr(e.text, text) ||
        (state == PONS_ERRAND_FAILED && e.error_code == 0)) {
        fail_msg("state %d, code %d: %s", (int)e.state, e.error_code, e.text);
    }
    pons_value_unref(e.answer);
    ros2->outside->end(r->driver, id);
    assert_int_equal(state_of(r, id), PONS_ERRAND_NONE);
}

#define CLEAR  "nav2_msgs/srv/ClearEntireCostmap"
#define LOCAL  "local_costmap/clear_entirely_local_costmap"
#define GLOBAL "global_costmap/clear_entirely_global_costmap"

static void test_costmaps_are_cleared(void **state)
{
    (void)state;
    static const char *const releases[] = {"humble", "jazzy", "lyrical"};
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        robot r;
        service local, global;
        open_robot(&r, releases[i], PATIENT, "", false);
        serve(&r, &local, LOCAL, CLEAR);
        serve(&r, &global, GLOBAL, CLEAR);
        const char *good = i == 2 ? "{\"success\":true}" : "{}";
        begin(&r, "both", "clear_costmaps", "{}");
        begin(&r, "both", "clear_costmaps", "{}"); // the same goal: no second call
        pons_autovalue at_local = asked(&r, &local);
        pons_autovalue at_global = asked(&r, &global);
        answer(&local, at_local, good);
        assert_int_equal(state_of(&r, "both"), PONS_ERRAND_RUNS); // one of two
        answer(&global, at_global, good);
        ends_as(&r, "both", PONS_ERRAND_DONE, "");
        begin(&r, "one", "clear_costmaps", "{\"costmap\":\"global\"}");
        pons_autovalue alone = asked(&r, &global);
        answer(&global, at_global, good); // of a call that is over
        assert_int_equal(state_of(&r, "one"), PONS_ERRAND_RUNS);
        answer(&global, alone, good);
        ends_as(&r, "one", PONS_ERRAND_DONE, "");
        assert_true(quiet(&local) && quiet(&global));
        if (i == 2) { // a release in which it may say no
            begin(&r, "no", "clear_costmaps", "{\"costmap\":\"local\"}");
            pons_autovalue no = asked(&r, &local);
            answer(&local, no, "{\"success\":false}");
            ends_as(&r, "no", PONS_ERRAND_FAILED, "Nav2 could not do it");
        }
        close_robot(&r);
    }
}

static void test_a_costmap_that_is_not_there_or_does_not_answer(void **state)
{
    (void)state;
    robot r;
    service local;
    open_robot(&r, "jazzy", BOTH, "services: {clear_global_costmap: null}\n", false);
    begin(&r, "never", "clear_costmaps", "{}");
    ends_as(&r, "never", PONS_ERRAND_FAILED, "Nav2 does not serve it");
    begin(&r, "none", "clear_costmaps", "{\"costmap\":\"global\"}");
    ends_as(&r, "none", PONS_ERRAND_FAILED, "config/ros2.yaml names no such costmap");
    serve(&r, &local, LOCAL, CLEAR);
    begin(&r, "mute", "clear_costmaps", "{}");
    pons_autovalue request = asked(&r, &local);
    ends_as(&r, "mute", PONS_ERRAND_FAILED, "Nav2 did not answer");
    assert_true(quiet(&local)); // asked once
    close_robot(&r);
}

static void test_the_lifecycle_manager_is_commanded(void **state)
{
    (void)state;
    robot r;
    service manager;
    open_robot(&r, "jazzy", HASTY, "", false);
    serve(&r, &manager, "lifecycle_manager_navigation/manage_nodes",
          "nav2_msgs/srv/ManageLifecycleNodes");
    begin(&r, "good", "manage_navigation", "{\"command\":\"resume\"}");
    pons_autovalue resume = asked(&r, &manager);
    assert_int_equal(pons_get_int(pons_get(resume, "request"), "command", -1), 2);
    answer(&manager, resume, "{\"success\":true}");
    ends_as(&r, "good", PONS_ERRAND_DONE, "");
    begin(&r, "bad", "manage_navigation", "{\"command\":\"startup\"}");
    pons_autovalue startup = asked(&r, &manager);
    assert_int_equal(pons_get_int(pons_get(startup, "request"), "command", -1), 0);
    answer(&manager, startup, "{\"success\":false}");
    ends_as(&r, "bad", PONS_ERRAND_FAILED, "Nav2 could not do it");
    begin(&r, "lost", "manage_navigation", "{\"command\":\"reset\"}");
    pons_autovalue reset = asked(&r, &manager);
    dds_delete(manager.r);
    dds_delete(manager.w);
    ends_as(&r, "lost", PONS_ERRAND_UNKNOWN, "Nav2's server is gone");
    size_t n = 0;
    const char *interface = NULL;
    const pons_skill *const *skills = ros2->outside->skills(r.driver, &n, &interface);
    const pons_skill *manage = skills[n - 1];
    assert_string_equal(manage->name, "manage_navigation");
    assert_true(manage->requires_approval); // nobody's Nav2 is shut down by a model alone
    assert_non_null(strstr(manage->reported, "ros2_service"));
    close_robot(&r);
}

// ---- a Nav2 that is not active ------------------------------------------------------------------

typedef struct nav2 {
    service manager, bt, controller;
    bool active;
    const char *label; // of its controller's state
} nav2;

static void open_nav2(robot *r, nav2 *n)
{
    serve(r, &n->manager, "lifecycle_manager_navigation/is_active", "std_srvs/srv/Trigger");
    serve(r, &n->bt, "bt_navigator/get_state", "lifecycle_msgs/srv/GetState");
    serve(r, &n->controller, "controller_server/get_state", "lifecycle_msgs/srv/GetState");
}

static void answer_nav2(nav2 *n)
{
    service *all[] = {&n->manager, &n->bt, &n->controller};
    for (size_t i = 0; i < 3; i++) {
        pons_autovalue v = taken(all[i]);
        char text[96];
        if (!v) {
            continue;
        }
        if (i == 0) {
            snprintf(text, sizeof text, "{\"success\":%s}", n->active ? "true" : "false");
        } else {
            snprintf(text, sizeof text, "{\"current_state\":{\"id\":3,\"label\":\"%s\"}}",
                     n->active || i == 1 ? "active" : n->label);
        }
        answer(all[i], v, text);
    }
}

// The servers that answer while a test waits.
typedef struct wait_for {
    robot *r;
    nav2 *n;
} wait_for;

static void wait_and_answer(void *user)
{
    const wait_for *w = user;
    wait_a_little(w->r);
    answer_nav2(w->n);
}

static void until_lacks(robot *r, nav2 *n, const char *expected)
{
    answer_nav2(n);
    peer_until_lacks(r->driver, expected, wait_and_answer, &(wait_for){r, n});
}

// Returns the goal that the server receives in the end.
static pons_value *goal_at_last(robot *r, nav2 *n, server *s)
{
    pons_value *goal = NULL;
    for (int i = 0; i < 12000 && !goal; i++) {
        answer_nav2(n);
        wait_a_little(r);
        goal = server_goal_yet(s);
    }
    assert_non_null(goal);
    return goal;
}

static void test_a_nav2_that_is_not_active_gets_no_goal(void **state)
{
    (void)state;
    robot r;
    server spin, path;
    nav2 n = {.label = "unconfigured"};
    char full[128];
    open_robot(&r, "jazzy", HASTY, "", true);
    snprintf(full, sizeof full, "%s/spin", r.ns);
    server_open(&spin, &r.node, r.types, full, "nav2_msgs/action/Spin");
    snprintf(full, sizeof full, "%s/compute_path_to_pose", r.ns);
    server_open(&path, &r.node, r.types, full, "nav2_msgs/action/ComputePathToPose");
    open_nav2(&r, &n);
    until_lacks(&r, &n, ""); // without a goal nothing is missing
    begin(&r, "state", "navigation_state", "{}");
    pons_external_goal e = {.state = PONS_ERRAND_RUNS};
    for (int i = 0; i < 12000 && e.state == PONS_ERRAND_RUNS; i++) {
        answer_nav2(&n);
        ros2->outside->look(r.driver, "state", &e);
        wait_a_little(&r);
    }
    assert_int_equal(e.state, PONS_ERRAND_DONE);
    assert_true(json_is_false(pons_get(e.answer, "active")));
    const pons_value *nodes = pons_get(e.answer, "nodes");
    assert_string_equal(pons_get_str(nodes, "bt_navigator", ""), "active");
    assert_string_equal(pons_get_str(nodes, "controller_server", ""), "unconfigured");
    assert_true(json_is_null(pons_get(nodes, "planner_server"))); // it does not answer
    pons_value_unref(e.answer);
    begin(&r, "turn", "spin", "{\"angle_rad\":1}");
    until_lacks(&r, &n, "Nav2 is not active: controller_server is unconfigured");
    for (int i = 0; i < 120; i++) { // longer than a server is waited for
        answer_nav2(&n);
        wait_a_little(&r);
    }
    assert_int_equal(state_of(&r, "turn"), PONS_ERRAND_RUNS);
    assert_true(server_quiet(&spin));
    begin(&r, "way", "compute_path_to_pose", "{\"pose\":{\"x\":1,\"y\":0}}"); // moves nothing
    ends_as(&r, "way", PONS_ERRAND_FAILED, "Nav2 is not active: controller_server");
    assert_true(server_quiet(&path));
    n.active = true;
    until_lacks(&r, &n, "");
    pons_autovalue goal = server_goal(&spin);
    server_answer(&spin, goal, true);
    pons_autovalue asks = server_asked(&spin);
    n.active = false; // while the goal runs
    n.label = "inactive";
    until_lacks(&r, &n, "Nav2 is not active: controller_server is inactive");
    server_end(&spin, asks, 6, "{}");
    ends_as(&r, "turn", PONS_ERRAND_FAILED, "Nav2 gave up");
    until_lacks(&r, &n, ""); // nobody waits for it any more
    assert_true(server_quiet(&spin));
    close_robot(&r);
}

// Brought up by hand, the nodes are active whatever the manager says; and where nobody says anything, goals are sent.
static void test_a_nav2_of_which_little_is_known(void **state)
{
    (void)state;
    robot r;
    server spin;
    nav2 n = {.label = "active"};
    char full[128];
    open_robot(&r, "jazzy", BRIEF, "", true);
    snprintf(full, sizeof full, "%s/spin", r.ns);
    server_open(&spin, &r.node, r.types, full, "nav2_msgs/action/Spin");
    begin(&r, "silent", "spin", "{\"angle_rad\":1}");
    pons_autovalue silent = server_goal(&spin);
    server_answer(&spin, silent, false);
    ends_as(&r, "silent", PONS_ERRAND_FAILED, "did not take");
    open_nav2(&r, &n);
    pons_autovalue first = asked(&r, &n.bt); // after the manager's silence
    answer(&n.bt, first, "{\"current_state\":{\"id\":3,\"label\":\"active\"}}");
    begin(&r, "by hand", "spin", "{\"angle_rad\":1}");
    pons_autovalue goal = goal_at_last(&r, &n, &spin);
    server_answer(&spin, goal, false);
    ends_as(&r, "by hand", PONS_ERRAND_FAILED, "did not take");
    close_robot(&r);
}

// The services exist but do not answer at first: a goal that comes earlier waits for the first answer.
static void test_a_nav2_that_answers_late(void **state)
{
    (void)state;
    robot r;
    server spin;
    nav2 n = {.label = "inactive"};
    char full[128];
    open_network(&r, "jazzy");
    snprintf(full, sizeof full, "%s/spin", r.ns);
    server_open(&spin, &r.node, r.types, full, "nav2_msgs/action/Spin");
    open_nav2(&r, &n);
    open_beside(&r, "jazzy", BOTH, "", true);
    begin(&r, "turn", "spin", "{\"angle_rad\":1}");
    for (int i = 0; i < 3; i++) { // neither the manager nor its nodes answer
        pons_autovalue unanswered = asked(&r, &n.manager);
        assert_true(server_quiet(&spin));
    }
    until_lacks(&r, &n, "Nav2 is not active: ");
    assert_true(server_quiet(&spin));
    n.active = true;
    pons_autovalue goal = goal_at_last(&r, &n, &spin);
    server_answer(&spin, goal, false);
    ends_as(&r, "turn", PONS_ERRAND_FAILED, "did not take");
    close_robot(&r);
}

// ---- a robot's own service ----------------------------------------------------------------------

#define BEEP                                                                                       \
    "skills:\n  - name: beep\n    interface_type: ros2_service\n    description: Beep.\n"          \
    "    success_criteria: it beeped\n    timeout_s: 1\n"

static void test_a_robots_own_service(void **state)
{
    (void)state;
    robot r;
    service s;
    pons_error err = PONS_ERROR_INIT;
    open_robot(&r, "jazzy", PATIENT,
               BEEP "    type: my_msgs/srv/Beep\n    service: horn/beep\n    goal: {loud: true}\n"
                    "    definition: |\n      int32 times\n      bool loud\n      ---\n"
                    "      bool success\n      string message\n",
               false);
    assert_true(ros2_texts_define(ros2_types_texts(r.types), "my_msgs/srv/Beep",
                                  "int32 times\nbool loud\n---\nbool success\nstring message\n",
                                  "test", &err) >= 0);
    serve(&r, &s, "horn/beep", "my_msgs/srv/Beep");
    begin(&r, "a", "beep", "{\"times\":3}");
    pons_autovalue request = asked(&r, &s);
    assert_int_equal(pons_get_int(pons_get(request, "request"), "times", 0), 3);
    assert_true(json_is_true(pons_get(pons_get(request, "request"), "loud")));
    answer(&s, request, "{\"success\":true,\"message\":\"beeped\"}");
    const pons_external_goal e = ended(&r, "a");
    assert_int_equal(e.state, PONS_ERRAND_DONE);
    assert_string_equal(pons_get_str(e.answer, "message", ""), "beeped");
    pons_value_unref(e.answer);
    begin(&r, "b", "beep", "{\"times\":1}");
    pons_autovalue second = asked(&r, &s);
    answer(&s, second, "{\"success\":false,\"message\":\"no air\"}");
    ends_as(&r, "b", PONS_ERRAND_FAILED, "gave up: no air");
    begin(&r, "c", "beep", "{\"times\":1}");
    pons_autovalue third = asked(&r, &s);
    ends_as(&r, "c", PONS_ERRAND_UNKNOWN, "did not answer"); // it may have beeped
    assert_true(quiet(&s));
    close_robot(&r);
}

static void test_what_is_neither_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *expect;
    } bad[] = {
        {BEEP "    type: nav2_msgs/action/Spin\n", "its type is package/srv/X"},
        {BEEP "    type: std_srvs/srv/Trigger\n    action: beep\n", "its name `service`"},
        {BEEP "    type: my_msgs/srv/Nothing\n", "my_msgs/srv/Nothing is not known"},
        {"services: {clear_map: x}\n", "clear_map"},
        {"lifecycle_nodes: [bt-navigator]\n", "lifecycle_nodes"},
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
        cmocka_unit_test(test_costmaps_are_cleared),
        cmocka_unit_test(test_a_costmap_that_is_not_there_or_does_not_answer),
        cmocka_unit_test(test_the_lifecycle_manager_is_commanded),
        cmocka_unit_test(test_a_nav2_that_is_not_active_gets_no_goal),
        cmocka_unit_test(test_a_nav2_that_answers_late),
        cmocka_unit_test(test_a_nav2_of_which_little_is_known),
        cmocka_unit_test(test_a_robots_own_service),
        cmocka_unit_test(test_what_is_neither_is_refused),
    };
    return cmocka_run_group_tests_name("drivers/ros2/services", tests, peer_group_open,
                                       peer_group_close);
}
