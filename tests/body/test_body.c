// The body as a whole, under the virtual clock with the kinematic robot in the house: the goal
// protocol with every way to be refused, holding and adopting, stop and reset, boots clean and
// unclean, and that the same seed gives the same messages. One thread, no waiting: a minute of
// robot time takes a fraction of a second.
#include "body_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"
#define DRIVE "{\"zone\":\"kitchen\"}"

static bench t; // of the test that runs

static int open_house(void **state)
{
    (void)state;
    bench_open(&t, HOUSE);
    return 0;
}

static int open_house_with_controller(void **state)
{
    open_house(state);
    bench_hello(&t);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static pons_value *word(const char *type)
{
    return pons_object("type", json_string(type), NULL);
}

static pons_value *about(const char *type, const char *goal_id, int64_t epoch)
{
    return pons_object("type", json_string(type), "goal_id", json_string(goal_id), "epoch",
                       json_integer(epoch), NULL);
}

static pons_value *hello(const char *role)
{
    return pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                       json_string(role), "name", json_string("second"), "pid", json_integer(43),
                       NULL);
}

// What another client has heard: the last message of a type, or NULL. The caller's.
static pons_value *received(pons_link *l, const char *type)
{
    pons_value *m = NULL, *last = NULL;
    while (pons_link_recv(l, &m, NULL) == 1) {
        if (strcmp(pons_get_str(m, "type", ""), type) == 0) {
            pons_value_unref(last);
            last = pons_value_ref(m);
        }
        pons_value_unref(m);
    }
    return last;
}

static const char *stop_reason(void)
{
    return pons_get_str(pons_get(t.telemetry, "stop"), "reason", "");
}

static bool latched(void)
{
    return pons_get_bool(pons_get(t.telemetry, "stop"), "latched", false);
}

static void start_drive(const char *id)
{
    bench_goal(&t, id, "navigate_to_pose", DRIVE);
    bench_step(&t, 3.0);
    assert_true(bench_speed(&t) > 0.2);
}

// ---- greeting -----------------------------------------------------------------------------------

static void hello_tells_what_a_brain_needs(void **state)
{
    (void)state;
    const pons_value *h = bench_last(&t, "hello");
    assert_int_equal(pons_get_int(h, "protocol", 0), 1);
    assert_int_equal(strlen(pons_get_str(h, "boot_id", "")), 32);
    assert_string_equal(pons_get_str(h, "robot_id", ""), "pons-1");
    assert_string_equal(pons_get_str(h, "driver", ""), "kinematic");
    assert_true(pons_get_bool(h, "simulated", false));
    const pons_value *w = pons_get(h, "world");
    assert_string_equal(pons_get_str(w, "name", ""), "house");
    assert_int_equal(json_array_size(pons_get(w, "zones")), 5);
    assert_int_equal(json_array_size(pons_get(w, "bounds")), 4);
    assert_true(json_array_size(pons_get(w, "objects")) >= 3);
    assert_non_null(pons_get(pons_get(w, "charger"), "pose"));
    assert_true(json_array_size(pons_get(h, "skills")) >= 9);
    assert_true(json_is_object(pons_get(h, "limits")));
}

static void telemetry_has_its_shape_and_its_rate(void **state)
{
    (void)state;
    static const char *const keys[] = {"robot_ms",    "pose",           "pose_std_m",
                                       "twist",       "battery_pct",    "battery_state",
                                       "docked",      "goal",           "distance_remaining_m",
                                       "resources",   "stop",           "held",
                                       "nearest_m",   "zone_of_safety", "realtime",
                                       "scan_age_ms", "fifo",           "boot_id",
                                       "odometer_m",  "obstacles",      "collision_risk"};
    bench_step(&t, 1.0);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!pons_get(t.telemetry, keys[i])) {
            fail_msg("telemetry has no %s", keys[i]);
        }
    }
    assert_true(json_is_null(pons_get(t.telemetry, "goal")));
    bench_goal(&t, "g", "navigate_to_pose", DRIVE);
    t.telemetries = t.feedbacks = 0;
    bench_step(&t, 5.0);
    assert_in_range(t.telemetries, 99, 101); // 20 Hz
    assert_in_range(t.feedbacks, 45, 51);    // at most 10 Hz
    const pons_value *g = pons_get(t.telemetry, "goal");
    assert_string_equal(pons_get_str(g, "goal_id", ""), "g");
    assert_string_equal(pons_get_str(g, "skill", ""), "navigate_to_pose");
    assert_string_equal(pons_get_str(g, "state", ""), "started");
    assert_true(pons_get_bool(pons_get(t.telemetry, "resources"), "base_busy", false));
    assert_true(pons_get_num(t.telemetry, "distance_remaining_m", 0.0) > 1.0);
}

static void bad_messages_are_answered_and_do_no_harm(void **state)
{
    (void)state;
    static const struct {
        const char *text, *code;
    } table[] = {
        {"{\"n\":1}", "protocol"},
        {"[1,2]", "protocol"},
        {"{\"type\":\"dance\"}", "unknown_type"},
        {"{\"type\":\"goal\",\"goal_id\":\"x\"}", "no_hello"},
        {"{\"type\":\"hello\",\"protocol\":2}", "protocol"},
        {"{\"type\":\"hello\",\"protocol\":1,\"role\":\"king\"}", "bad_args"},
        {"{\"type\":\"hello\",\"protocol\":1,\"role\":7}", "bad_args"},
        {"{\"type\":\"hello\",\"protocol\":\"1\"}", "protocol"},
        {"{\"type\":\"reset\",\"auto\":\"no\"}", "bad_args"},
    };
    pons_link *l = bench_join(&t);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        pons_value *v = NULL;
        assert_int_equal(pons_value_parse(table[i].text, strlen(table[i].text), &v, NULL), PONS_OK);
        assert_int_equal(pons_link_send(l, v, NULL), PONS_OK);
        bench_step(&t, 0.01);
        pons_autovalue m = received(l, "error");
        if (!m || strcmp(pons_get_str(m, "code", ""), table[i].code) != 0) {
            fail_msg("%s: %s", table[i].text, pons_get_str(m, "code", "no answer"));
        }
        assert_true(strlen(pons_get_str(m, "message", "")) > 0);
    }
    pons_link_close(l);
}

// ---- rejection ----------------------------------------------------------------------------------

// Sends a goal with some members changed, and expects it to be refused with that code.
static void refuse(const char *change, const char *code)
{
    pons_autovalue edit = NULL;
    assert_int_equal(pons_value_parse(change, strlen(change), &edit, NULL), PONS_OK);
    pons_value *m = pons_object(
        "type", json_string("goal"), "goal_id", json_string("r"), "epoch", json_integer(t.epoch),
        "expires_ms", json_integer(t.time.now_ns / PONS_NS_PER_MS + 5000), "robot_id",
        json_string("pons-1"), "skill", json_string("wait"), "args", json_pack("{s:i}", "s", 1),
        "args_hash", json_string("h"), "thread", json_string("t"), "task_id", json_string("k"),
        "attempt", json_integer(0), NULL);
    json_object_update(m, edit);
    bench_forget(&t);
    bench_send(&t, m);
    bench_step(&t, 0.02);
    const pons_value *no = bench_last(&t, "rejected");
    if (strcmp(pons_get_str(no, "code", ""), code) != 0) {
        fail_msg("%s: %s, expected %s (%s)", change, pons_get_str(no, "code", ""), code,
                 pons_get_str(no, "message", ""));
    }
    assert_true(strlen(pons_get_str(no, "message", "")) > 0);
    const char *id = pons_get_str(edit, "goal_id", "r");
    assert_int_equal(bench_ledger(&t, id, "accepted"), 0);
    assert_int_equal(bench_ledger(&t, id, "started"), 0);
}

static void a_goal_is_refused_for_these_reasons(void **state)
{
    (void)state;
    refuse("{\"epoch\":0}", "stale_epoch");
    refuse("{\"epoch\":99}", "stale_epoch");
    refuse("{\"epoch\":\"1\"}", "stale_epoch");
    refuse("{\"robot_id\":\"another\"}", "wrong_robot");
    refuse("{\"skill\":\"fly\"}", "unknown_skill");
    refuse("{\"skill\":7}", "unknown_skill");
    refuse("{\"goal_id\":\"\"}", "bad_args");
    refuse("{\"args_hash\":\"\"}", "bad_args");
    refuse("{\"attempt\":\"first\"}", "bad_args");
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "message", ""),
                        "attempt must be an integer, not a string");
    refuse("{\"args\":[]}", "bad_args");
    refuse("{\"args\":{}}", "bad_args");
    refuse("{\"args\":{\"s\":-1}}", "bad_args");
    refuse("{\"args\":{\"s\":\"1\"}}", "bad_args");
    refuse("{\"args\":{\"s\":1,\"t\":2}}", "bad_args");
    refuse("{\"expires_ms\":1}", "expired");
    refuse("{\"expires_ms\":null}", "expired");
    refuse("{\"expires_ms\":-9223372036854775808}", "expired");
    refuse("{\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"garage\"}}", "bad_args");
    refuse("{\"skill\":\"navigate_to_pose\",\"args\":{}}", "bad_args");
    refuse("{\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"kitchen\",\"pose\":{\"x\":1,"
           "\"y\":1}}}",
           "bad_args");
    refuse("{\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"kitchen\",\"behavior_tree\":"
           "\"a.xml\"}}",
           "bad_args");
    assert_non_null(strstr(pons_get_str(bench_last(&t, "rejected"), "message", ""), "a.xml"));

    start_drive("g");
    refuse("{\"skill\":\"spin\",\"args\":{\"angle_rad\":1}}", "busy");
    assert_non_null(strstr(pons_get_str(bench_last(&t, "rejected"), "message", ""), "g"));
    // A reason that is cut in the middle of a character is still text.
    bench_send(&t,
               pons_object("type", json_string("stop"), "reason",
                           json_string("a cat 猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫"
                                       "猫猫猫猫猫猫猫猫猫猫"),
                           NULL));
    refuse("{\"skill\":\"spin\",\"args\":{\"angle_rad\":1}}", "latched");
    assert_non_null(strstr(pons_get_str(bench_last(&t, "rejected"), "message", ""), "a cat"));
}

static void an_observer_commands_nothing_but_may_stop(void **state)
{
    (void)state;
    start_drive("g");
    pons_link *l = bench_join(&t);
    pons_link_send(l, hello("observer"), NULL);
    bench_step(&t, 0.01);
    pons_autovalue h = received(l, "hello");
    assert_int_equal(pons_get_int(h, "epoch", -1), 0);
    pons_link_send(l, about("cancel", "g", t.epoch), NULL);
    bench_step(&t, 0.02);
    pons_autovalue no = received(l, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "not_controller");
    pons_link_send(l, about("adopt", "g", t.epoch), NULL);
    bench_step(&t, 0.02);
    pons_autovalue nor = received(l, "rejected");
    assert_string_equal(pons_get_str(nor, "code", ""), "not_controller");
    assert_string_equal(pons_get_str(bench_status(&t, "g"), "state", ""), "started");
    int reported = 0; // once, of heartbeats that are in vain
    for (int i = 0; i < 5; i++) {
        pons_link_send(l, word("heartbeat"), NULL);
        bench_step(&t, 0.02);
        pons_autovalue vain = received(l, "error");
        reported += strcmp(pons_get_str(vain, "code", ""), "not_controller") == 0;
    }
    assert_int_equal(reported, 1);
    pons_link_send(l, word("stop"), NULL);
    bench_step(&t, 0.2);
    assert_true(latched());
    pons_link_close(l);
}

// What is wrong with a message never takes its stop away, and never shows past the fence.
static void a_faulty_stop_stops_and_a_faulty_goal_is_fenced_first(void **state)
{
    (void)state;
    start_drive("g");
    pons_link *l = bench_join(&t);
    pons_link_send(l, hello("observer"), NULL);
    pons_link_send(l, json_pack("{s:s, s:i, s:[]}", "type", "goal", "goal_id", 5, "args"), NULL);
    pons_link_send(l, json_pack("{s:s, s:i}", "type", "cancel", "goal_id", 5), NULL);
    bench_step(&t, 0.02);
    pons_autovalue no = received(l, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "not_controller");
    bench_send(&t, json_pack("{s:s, s:I, s:i}", "type", "cancel", "epoch", (json_int_t)t.epoch,
                             "goal_id", 5));
    bench_step(&t, 0.02);
    const pons_value *fault = bench_last(&t, "error");
    assert_string_equal(pons_get_str(fault, "code", ""), "bad_args");
    assert_string_equal(pons_get_str(fault, "re", ""), "cancel");
    assert_string_equal(pons_get_str(bench_status(&t, "g"), "state", ""), "started");
    pons_link_send(l, json_pack("{s:s, s:[i]}", "type", "stop", "reason", 5), NULL);
    bench_step(&t, 0.2);
    assert_true(latched());
    pons_link_close(l);
}

static void a_stop_in_a_line_that_cannot_be_read_stops(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } lines[] = {
#define LINE(text) {text, sizeof(text) - 1}
        LINE("{\"type\":\"stop\",\"reason\":\"\0\"}\n"),
        LINE("{\"reason\":\"\xff\",\"type\":\"stop\"}\n"),
        LINE("{\"type\":\"stop\"\n"),
        LINE("[{\"type\":\"stop\"}]\n"),
        LINE("{\"type\":\"stop\""), // and its sender dies
#undef LINE
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char id[16];
        snprintf(id, sizeof id, "g%zu", i);
        start_drive(id);
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
                         0);
        assert_int_equal(pons_body_attach(t.body, pons_link_from_fd(fds[1]), NULL), PONS_OK);
        // Without a hello: anybody may stop.
        assert_int_equal(write(fds[0], lines[i].bytes, lines[i].n), (ssize_t)lines[i].n);
        shutdown(fds[0], SHUT_WR);
        bench_step(&t, 0.2);
        assert_true(latched());
        assert_string_equal(pons_get_str(pons_get(t.telemetry, "stop"), "origin", ""), "stop");
        close(fds[0]);
        bench_send(&t, word("reset"));
        bench_step(&t, 0.2);
        assert_false(latched());
    }
}

static void a_bad_line_that_is_no_stop_stops_nothing(void **state)
{
    (void)state;
    static const char line[] = "{\"type\":\"say\",\"text\":\"\xff \\\"type\\\":\\\"stop\\\"\"}\n";
    start_drive("g");
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(pons_body_attach(t.body, pons_link_from_fd(fds[1]), NULL), PONS_OK);
    assert_int_equal(write(fds[0], line, sizeof line - 1), (ssize_t)sizeof line - 1);
    bench_step(&t, 0.2);
    assert_false(latched());
    close(fds[0]);
}

// A reset that names a stop lifts that one and no later one.
static void a_reset_lifts_the_stop_that_it_names(void **state)
{
    (void)state;
    bench_send(&t, word("stop"));
    bench_step(&t, 0.2);
    const int64_t first = pons_get_int(pons_get(t.telemetry, "stop"), "number", -1);
    bench_send(&t, word("stop"));
    bench_step(&t, 0.2);
    const int64_t second = pons_get_int(pons_get(t.telemetry, "stop"), "number", -1);
    assert_true(first > 0 && second > first);
    bench_send(&t, json_pack("{s:s, s:I}", "type", "reset", "number", (json_int_t)first));
    bench_step(&t, 0.2);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "latched");
    assert_true(latched());
    bench_send(&t, json_pack("{s:s, s:I}", "type", "reset", "number", (json_int_t)second));
    bench_step(&t, 0.2);
    assert_false(latched());
}

// Before any stop there is a number, too: a reset of one who has seen no stop lifts none.
static void a_reset_of_no_stop_lifts_none(void **state)
{
    (void)state;
    bench_step(&t, 0.2);
    assert_false(latched());
    const int64_t none = pons_get_int(pons_get(t.telemetry, "stop"), "number", -1);
    assert_true(none > 0);
    bench_send(&t, word("stop"));
    bench_step(&t, 0.2);
    pons_link *late = bench_join(&t); // it has the stop at hand, and means what it saw before
    bench_step(&t, 0.2);
    assert_int_equal(
        pons_link_send(late, json_pack("{s:s, s:I}", "type", "reset", "number", (json_int_t)none),
                       NULL),
        PONS_OK);
    bench_step(&t, 0.2);
    assert_true(latched());
    pons_link_close(late);
}

// Which of two clients spoke first the body does not know where it hears both at once: the stop wins, and the
// reset is said again.
static void a_reset_that_is_heard_with_anothers_stop_lifts_nothing(void **state)
{
    (void)state;
    pons_link *second = bench_join(&t);
    assert_int_equal(pons_link_send(second, word("reset"), NULL),
                     PONS_OK); // for none: nothing is latched
    bench_send(&t, word("stop"));
    bench_step(&t, 0.2);
    assert_true(latched());
    assert_int_equal(pons_link_send(second, word("reset"), NULL), PONS_OK);
    bench_step(&t, 0.2);
    assert_false(latched());
    // The other way round, and between a stop of one's own and its reset.
    assert_int_equal(pons_link_send(second, word("stop"), NULL), PONS_OK);
    bench_send(&t, word("reset"));
    bench_step(&t, 0.2);
    assert_true(latched());
    assert_int_equal(pons_link_send(second, word("stop"), NULL), PONS_OK);
    assert_int_equal(pons_link_send(second, word("reset"), NULL), PONS_OK);
    bench_send(&t, word("stop"));
    bench_step(&t, 0.2);
    assert_true(latched());
    assert_int_equal(pons_link_send(second, word("stop"), NULL), PONS_OK);
    assert_int_equal(pons_link_send(second, word("reset"), NULL), PONS_OK);
    bench_step(&t, 0.2);
    assert_false(latched()); // it knows what it said
    pons_link_close(second);
}

// More than one poll reads of one client.
static void say_much(pons_link *link)
{
    for (int i = 0; i < 130; i++) {
        assert_int_equal(
            pons_link_send(link, json_pack("{s:s, s:s}", "type", "status", "goal_id", "g"), NULL),
            PONS_OK);
    }
}

// So it is where its reset waits for the next poll, behind much else that it has said.
static void a_reset_that_waits_lifts_no_stop_that_came_meanwhile(void **state)
{
    (void)state;
    pons_link *second = bench_join(&t);
    assert_int_equal(pons_link_send(second,
                                    json_pack("{s:s, s:i, s:s}", "type", "hello", "protocol", 1,
                                              "role", "observer"),
                                    NULL),
                     PONS_OK);
    bench_step(&t, 0.2);
    for (int i = 0; i < 2; i++) { // whichever of them is heard first
        pons_link *resets = i ? t.link : second, *stops = i ? second : t.link;
        say_much(resets);
        assert_int_equal(pons_link_send(resets, word("reset"), NULL), PONS_OK);
        assert_int_equal(pons_link_send(stops, word("stop"), NULL), PONS_OK);
        bench_step(&t, 0.2);
        assert_true(latched());
        assert_int_equal(pons_link_send(resets, word("reset"), NULL), PONS_OK); // all is read
        bench_step(&t, 0.2);
        assert_false(latched());
        // A stop of its own it knows, however many polls lie between.
        say_much(resets);
        assert_int_equal(pons_link_send(resets, word("stop"), NULL), PONS_OK);
        say_much(resets);
        assert_int_equal(pons_link_send(resets, word("reset"), NULL), PONS_OK);
        bench_step(&t, 0.2);
        assert_false(latched());
    }
    // Between its being read and the other's stop, in one poll; and who connects meanwhile.
    assert_int_equal(pons_link_send(second, word("stop"), NULL), PONS_OK);
    bench_step(&t, 0.01);
    bench_send(&t, word("reset"));
    pons_link *third = bench_join(&t);
    assert_int_equal(pons_link_send(third, word("reset"), NULL), PONS_OK);
    bench_step(&t, 0.2);
    assert_true(latched());
    bench_send(&t, word("reset"));
    bench_step(&t, 0.2);
    assert_false(latched());
    pons_link_close(third);
    pons_link_close(second);
}

// ---- duplicates ---------------------------------------------------------------------------------

static void a_known_goal_is_answered_and_never_started_again(void **state)
{
    (void)state;
    start_drive("g");
    bench_forget(&t);
    bench_goal(&t, "g", "navigate_to_pose", DRIVE);
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "accepted"), "state", ""), "started");
    assert_string_equal(bench_until_result(&t, "g", 120.0), "done 0");

    bench_forget(&t); // done: the state, and the result again
    const double at = pons_get_num(t.telemetry, "odometer_m", 0.0);
    bench_goal(&t, "g", "navigate_to_pose", DRIVE);
    bench_step(&t, 1.0);
    assert_string_equal(pons_get_str(bench_last(&t, "accepted"), "state", ""), "done");
    assert_string_equal(pons_get_str(bench_last(&t, "result"), "status", ""), "done");
    assert_true(pons_get_num(t.telemetry, "odometer_m", 0.0) - at < 0.01);

    bench_forget(&t); // the same id for something else
    bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"study\"}");
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "args_mismatch");

    bench_reboot(&t); // and in another boot
    bench_hello(&t);
    bench_goal(&t, "g", "navigate_to_pose", DRIVE);
    bench_step(&t, 1.0);
    assert_string_equal(pons_get_str(bench_last(&t, "accepted"), "state", ""), "done");
    assert_int_equal(bench_ledger(&t, "g", "started"), 1);
    assert_int_equal(bench_ledger(&t, "g", "done"), 1);
    const pons_value *s = bench_status(&t, "g");
    assert_true(pons_get_bool(s, "known", false));
    assert_false(pons_get_bool(s, "same_boot", true));
    assert_true(pons_get_bool(s, "started", false));
    assert_true(pons_get_num(pons_get(s, "metrics"), "distance_m", 0.0) > 5.0);
    assert_false(pons_get_bool(bench_status(&t, "never"), "known", true));
}

// ---- hold, cancel -------------------------------------------------------------------------------

static void a_lost_link_holds_and_a_new_brain_adopts(void **state)
{
    (void)state;
    start_drive("g");
    pons_link *l = bench_join(&t);
    pons_link_send(l, hello("observer"), NULL);
    const int64_t epoch = t.epoch;
    bench_drop(&t);
    bench_step(&t, 1.0);
    pons_value *m = received(l, "telemetry");
    assert_true(pons_get_bool(m, "held", false));
    assert_string_equal(pons_get_str(pons_get(m, "goal"), "state", ""), "held");
    assert_true(fabs(pons_get_num(pons_get(m, "twist"), "v", 1.0)) < 0.01);
    assert_false(pons_get_bool(pons_get(m, "stop"), "latched", true)); // a hold is no latch
    pons_value_unref(m);
    pons_link_close(l);
    assert_int_equal(bench_ledger(&t, "g", "held"), 1);

    bench_hello(&t);
    assert_true(t.epoch > epoch);
    bench_step(&t, 1.0);
    assert_true(bench_speed(&t) < 0.01); // a hello alone moves nothing
    const pons_value *s = bench_status(&t, "g");
    assert_string_equal(pons_get_str(s, "state", ""), "held");
    assert_true(pons_get_bool(s, "same_boot", false));
    bench_send(&t, about("adopt", "g", epoch)); // by whoever was in control before
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "stale_epoch");
    bench_send(&t, about("adopt", "g", t.epoch));
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "adopted"), "state", ""), "adopted");
    assert_string_equal(bench_until_result(&t, "g", 120.0), "done 0");
    assert_int_equal(bench_ledger(&t, "g", "started"), 1);
    assert_int_equal(bench_ledger(&t, "g", "adopted"), 1);

    bench_send(&t, about("adopt", "g", t.epoch)); // late: its end is told again
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "adopted"), "state", ""), "done");
    bench_send(&t, about("adopt", "never", t.epoch));
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "unknown_goal");
}

// A stop, a reset, a hold, an adoption: whoever looks hears of it with the next telemetry, which does not wait for its turn.
static void what_stands_otherwise_is_told_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        bench_step(&t, 1.0 + 0.01 * i); // at another place between two of them
        bench_send(&t, pons_object("type", json_string("stop"), "reason", json_string("x"), NULL));
        bench_step(&t, 0.02);
        assert_true(latched());
        bench_step(&t, 1.0 + 0.01 * i);
        bench_send(&t, word("reset"));
        bench_step(&t, 0.02);
        assert_false(latched());
    }
    start_drive("g");
    for (int i = 0; i < 5; i++) {
        t.beats = false;
        bench_step(&t, 0.32 + 0.01 * i);
        assert_true(pons_get_bool(t.telemetry, "held", false));
        t.beats = true;
        bench_step(&t, 0.1);
        bench_send(&t, about("adopt", "g", t.epoch));
        bench_step(&t, 0.02);
        assert_false(pons_get_bool(t.telemetry, "held", true));
        bench_step(&t, 0.5);
    }
}

static void a_late_heartbeat_holds_as_well(void **state)
{
    (void)state;
    start_drive("g");
    t.beats = false;
    bench_step(&t, 0.29); // 300 ms are allowed
    assert_false(pons_get_bool(t.telemetry, "held", true));
    bench_step(&t, 0.6);
    assert_true(pons_get_bool(t.telemetry, "held", false));
    assert_true(bench_speed(&t) < 0.05);
    t.beats = true;
    bench_step(&t, 1.0);
    assert_true(pons_get_bool(t.telemetry, "held", false)); // until it is adopted
    bench_send(&t, about("adopt", "g", t.epoch));
    assert_string_equal(bench_until_result(&t, "g", 120.0), "done 0");
}

static void a_held_goal_fails_after_30_s(void **state)
{
    (void)state;
    start_drive("g");
    bench_drop(&t);
    bench_step(&t, 29.5);
    assert_int_equal(bench_ledger(&t, "g", "failed"), 0);
    bench_step(&t, 1.0);
    assert_int_equal(bench_ledger(&t, "g", "failed"), 1);
    bench_hello(&t);
    const pons_value *s = bench_status(&t, "g");
    assert_string_equal(pons_get_str(s, "state", ""), "failed");
    assert_int_equal(pons_get_int(s, "error_code", 0), 9901);
    assert_non_null(strstr(pons_get_str(s, "error_msg", ""), "BRAIN_LOST"));
    start_drive("next"); // and the body is ready for another
}

static void a_cancel_brakes_and_frees_the_base(void **state)
{
    (void)state;
    start_drive("g");
    bench_send(&t, about("cancel", "g", t.epoch));
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "result"), "status", ""), "canceled");
    bench_step(&t, 0.6);
    assert_true(bench_speed(&t) < 0.01);
    assert_int_equal(bench_ledger(&t, "g", "canceled"), 1);
    bench_send(&t, about("cancel", "g", t.epoch)); // again: the same answer
    bench_step(&t, 0.02);
    assert_int_equal(bench_ledger(&t, "g", "canceled"), 1);
    start_drive("next");
    bench_drop(&t); // a held one can be canceled too
    bench_step(&t, 1.0);
    bench_hello(&t);
    bench_send(&t, about("cancel", "next", t.epoch));
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "result"), "status", ""), "canceled");
}

static void one_controller_at_a_time(void **state)
{
    (void)state;
    pons_link *l = bench_join(&t);
    pons_link_send(l, hello("controller"), NULL);
    bench_step(&t, 0.02);
    pons_autovalue busy = received(l, "error");
    assert_string_equal(pons_get_str(busy, "code", ""), "busy");
    assert_non_null(strstr(pons_get_str(busy, "message", ""), "42")); // the first one's pid
    pons_link_close(l);

    start_drive("g");
    t.beats = false; // the first one hangs
    bench_step(&t, 0.5);
    l = bench_join(&t);
    pons_link_send(l, hello("controller"), NULL);
    bench_step(&t, 0.02);
    pons_autovalue h = received(l, "hello");
    assert_int_equal(pons_get_int(h, "epoch", 0), t.epoch + 1);
    t.beats = true; // and comes back: fenced
    bench_goal(&t, "late", "wait", "{\"s\":1}");
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "not_controller");
    pons_link_close(l);
}

static void a_good_end_holds_nothing(void **state)
{
    (void)state;
    start_drive("g");
    bench_send(&t, word("bye"));
    bench_step(&t, 0.02);
    assert_string_equal(pons_get_str(bench_last(&t, "result"), "status", ""), "canceled");
    assert_string_equal(pons_get_str(bench_last(&t, "ok"), "re", ""), "bye");
    assert_int_equal(bench_ledger(&t, "g", "held"), 0);
}

// ---- stop, boots --------------------------------------------------------------------------------

static void a_stop_ends_the_goal_and_only_a_new_one_moves_again(void **state)
{
    (void)state;
    start_drive("g");
    pons_body_stop(t.body, "a person");
    bench_step(&t, 0.05);
    assert_string_equal(bench_until_result(&t, "g", 0.1), "failed 9902");
    assert_true(latched());
    assert_string_equal(stop_reason(), "a person");
    assert_non_null(strstr(pons_get_str(bench_last(&t, "result"), "error_msg", ""), "a person"));
    bench_step(&t, 0.5);
    assert_true(bench_speed(&t) < 0.01);
    bench_send(&t, word("reset"));
    bench_step(&t, 2.0);
    assert_false(latched());
    assert_true(bench_speed(&t) < 0.01);
    start_drive("next");
    // A reset and a goal in one breath.
    bench_send(&t, word("stop"));
    bench_send(&t, word("reset"));
    bench_goal(&t, "third", "navigate_to_pose", DRIVE);
    bench_step(&t, 0.2);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "busy");
    bench_send(&t, word("reset"));
    bench_goal(&t, "fourth", "navigate_to_pose", DRIVE);
    assert_string_equal(bench_until_result(&t, "fourth", 120.0), "done 0");
}

static void an_unclean_end_boots_latched(void **state)
{
    (void)state;
    start_drive("g");
    const double x = pons_get_num(pons_get(t.telemetry, "pose"), "x", 0.0);
    char boot[64];
    snprintf(boot, sizeof boot, "%s", pons_get_str(t.telemetry, "boot_id", ""));
    bench_reboot(&t);
    bench_hello(&t);
    assert_string_not_equal(pons_get_str(bench_last(&t, "hello"), "boot_id", ""), boot);
    bench_step(&t, 0.1);
    assert_true(latched());
    assert_true(strncmp(stop_reason(), "boot", 4) == 0);
    // It stands where it stood, and knows it.
    assert_true(fabs(pons_get_num(pons_get(t.telemetry, "pose"), "x", -9.0) - x) < 0.3);
    pons_pose2 p;
    pons_body_truth(t.body, &p, NULL);
    assert_true(fabs(pons_get_num(pons_get(t.telemetry, "pose"), "x", -9.0) - p.x) < 0.1);
    const pons_value *s = bench_status(&t, "g");
    assert_string_equal(pons_get_str(s, "state", ""), "started");
    assert_false(pons_get_bool(s, "same_boot", true)); // its outcome is not known

    bench_reboot(&t); // a latch outlives the process
    bench_hello(&t);
    bench_step(&t, 0.1);
    assert_true(latched());
    bench_send(&t, word("reset"));
    bench_step(&t, 0.1);
    bench_reboot(&t); // and so does its end
    bench_hello(&t);
    bench_step(&t, 0.1);
    assert_false(latched());
    start_drive("next");
}

static void in_simulation_the_policy_lifts_the_boot_latch(void **state)
{
    (void)state;
    t.opts.auto_reset_sim = true;
    bench_reboot(&t);
    bench_hello(&t);
    start_drive("g");
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.1);
    assert_false(latched());
    assert_non_null(strstr(stop_reason(), "auto_reset")); // and it says so
    start_drive("next");
    pons_body_stop(t.body, "a person"); // a person's stop is not the policy's to lift
    bench_step(&t, 0.2);
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    assert_true(latched());
    assert_string_equal(stop_reason(), "a person");
}

// A disk that takes no byte more: played by a limit on the size of files.
static void what_cannot_be_recorded_is_not_started(void **state)
{
    (void)state;
    start_drive("g");
    assert_string_equal(bench_until_result(&t, "g", 120.0), "done 0");
    char path[128];
    snprintf(path, sizeof path, "%s/body.ledger", t.dir);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    struct rlimit before, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    full = before;
    full.rlim_cur = (rlim_t)st.st_size + 100; // half a line
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    const double at = pons_get_num(t.telemetry, "odometer_m", 0.0);
    bench_goal(&t, "h", "navigate_to_pose", "{\"zone\":\"study\"}");
    bench_step(&t, 1.0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "ledger");
    assert_true(pons_get_num(t.telemetry, "odometer_m", 0.0) - at < 0.01);
    assert_false(pons_get_bool(bench_status(&t, "h"), "known", true));
    // There is room again: the half line is gone, and the same id may start, once.
    bench_goal(&t, "h", "navigate_to_pose", "{\"zone\":\"study\"}");
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "accepted"), "goal_id", ""), "h");
    assert_int_equal(bench_ledger(&t, "h", "started"), 1);
}

// What is older than its audit time is known by its id alone: told of as far as it is, never begun anew.
static void an_id_that_is_no_longer_kept_is_never_started_again(void **state)
{
    (void)state;
    char path[160];
    t.opts.ledger_part_mb = 0.0005;
    t.opts.ledger_size_mb = 0.0;
    t.opts.ledger_audit_days = 1.0;
    bench_reboot(&t);
    bench_hello(&t);
    bench_goal(&t, "old", "wait", "{\"s\":0}");
    assert_string_equal(bench_until_result(&t, "old", 5.0), "done 0");
    const pons_value *known = bench_status(&t, "old"); // sealed, and its line is read there
    assert_string_equal(pons_get_str(known, "skill", ""), "wait");
    assert_true(pons_get_bool(known, "same_boot", false));
    t.time.wall_epoch_ms = 4000000000000; // 2096
    bench_reboot(&t);
    bench_hello(&t);
    bench_forget(&t);
    bench_goal(&t, "old", "wait", "{\"s\":0}");
    bench_step(&t, 1.0);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "forgotten");
    known = bench_status(&t, "old");
    assert_true(pons_get_bool(known, "known", false) && pons_get_bool(known, "started", false));
    assert_string_equal(pons_get_str(known, "state", ""), "done");
    assert_false(pons_get_bool(known, "same_boot", true));
    assert_int_equal(bench_ledger(&t, "old", "started"), 0);
    for (int i = 1; i < 10; i++) {
        snprintf(path, sizeof path, "%s/body.ledger.%d", t.dir, i);
        unlink(path);
        snprintf(path, sizeof path, "%s/body.ledger.%d.ids", t.dir, i);
        unlink(path);
    }
}

static void the_epoch_never_falls(void **state)
{
    (void)state;
    int64_t last = t.epoch;
    for (int i = 0; i < 3; i++) {
        bench_goal(&t, NULL, "wait", "{\"s\":0}");
        bench_step(&t, 0.2);
        bench_reboot(&t);
        char path[128];
        snprintf(path, sizeof path, "%s/body.epoch", t.dir);
        if (i == 1) {
            remove(path); // lost: the ledger remembers
        }
        if (i == 1) {
            bench_reboot(&t);
        }
        bench_hello(&t);
        assert_true(t.epoch > last);
        last = t.epoch;
    }
}

// ---- simulation ---------------------------------------------------------------------------------

static void the_simulated_world_can_be_changed(void **state)
{
    (void)state;
    bench_send(&t,
               pons_object("type", json_string("world.battery"), "pct", json_integer(25), NULL));
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "ok"), "re", ""), "world.battery");
    assert_true(fabs(pons_get_num(t.telemetry, "battery_pct", 0.0) - 25.0) < 0.5);
    bench_send(&t,
               pons_object("type", json_string("world.battery"), "pct", json_integer(250), NULL));
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("x"), NULL));
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "re", ""), "world.spawn");
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("box"), "x",
                               json_real(2.6), "y", json_real(2.6), "sx", json_real(0.3), "sy",
                               json_real(0.3), NULL));
    bench_step(&t, 2.0);
    assert_true(json_array_size(pons_get(t.telemetry, "obstacles")) >= 1);
}

static void a_box_that_falls_before_the_wheels_is_a_risk(void **state)
{
    (void)state;
    start_drive("g");
    pons_pose2 p;
    pons_body_truth(t.body, &p, NULL);
    const double ahead = 0.22 + 0.09 + 0.15;
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("box"), "x",
                               json_real(p.x + ahead * cos(p.yaw)), "y",
                               json_real(p.y + ahead * sin(p.yaw)), "sx", json_real(0.3), "sy",
                               json_real(0.3), NULL));
    t.risks = 0;
    bench_step(&t, 1.0);
    assert_true(t.risks > 0);
    assert_true(bench_speed(&t) < 0.05);
}

static pons_value *journey(uint64_t seed)
{
    bench_open(&t, HOUSE);
    t.opts.seed = seed;
    bench_reboot(&t);
    bench_hello(&t);
    bench_goal(&t, "g", "navigate_to_pose", DRIVE);
    bench_until_result(&t, "g", 120.0);
    pons_value *v = pons_object("inbox", json_deep_copy(t.inbox), "telemetry",
                                json_deep_copy(t.telemetry), NULL);
    bench_close(&t);
    return v;
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    pons_autovalue a = journey(11);
    pons_autovalue b = journey(11);
    pons_autovalue c = journey(12);
    char ha[33], hb[33], hc[33];
    pons_value_hash(a, ha);
    pons_value_hash(b, hb);
    pons_value_hash(c, hc);
    assert_string_equal(ha, hb);
    assert_string_not_equal(ha, hc);
}

int main(void)
{
    pons_value_init();
    signal(SIGXFSZ, SIG_IGN); // a write over the limit fails instead
#define WITH_CONTROLLER(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, open_house_with_controller, close_house)
    const struct CMUnitTest tests[] = {
        WITH_CONTROLLER(hello_tells_what_a_brain_needs),
        WITH_CONTROLLER(telemetry_has_its_shape_and_its_rate),
        WITH_CONTROLLER(bad_messages_are_answered_and_do_no_harm),
        WITH_CONTROLLER(a_goal_is_refused_for_these_reasons),
        WITH_CONTROLLER(an_observer_commands_nothing_but_may_stop),
        WITH_CONTROLLER(a_faulty_stop_stops_and_a_faulty_goal_is_fenced_first),
        WITH_CONTROLLER(a_stop_in_a_line_that_cannot_be_read_stops),
        WITH_CONTROLLER(a_bad_line_that_is_no_stop_stops_nothing),
        WITH_CONTROLLER(a_reset_lifts_the_stop_that_it_names),
        WITH_CONTROLLER(a_reset_of_no_stop_lifts_none),
        WITH_CONTROLLER(a_reset_that_is_heard_with_anothers_stop_lifts_nothing),
        WITH_CONTROLLER(a_reset_that_waits_lifts_no_stop_that_came_meanwhile),
        WITH_CONTROLLER(a_known_goal_is_answered_and_never_started_again),
        WITH_CONTROLLER(a_lost_link_holds_and_a_new_brain_adopts),
        WITH_CONTROLLER(what_stands_otherwise_is_told_at_once),
        WITH_CONTROLLER(a_late_heartbeat_holds_as_well),
        WITH_CONTROLLER(a_held_goal_fails_after_30_s),
        WITH_CONTROLLER(a_cancel_brakes_and_frees_the_base),
        WITH_CONTROLLER(one_controller_at_a_time),
        WITH_CONTROLLER(a_good_end_holds_nothing),
        WITH_CONTROLLER(a_stop_ends_the_goal_and_only_a_new_one_moves_again),
        WITH_CONTROLLER(an_unclean_end_boots_latched),
        cmocka_unit_test_setup_teardown(in_simulation_the_policy_lifts_the_boot_latch, open_house,
                                        close_house),
        WITH_CONTROLLER(what_cannot_be_recorded_is_not_started),
        WITH_CONTROLLER(an_id_that_is_no_longer_kept_is_never_started_again),
        WITH_CONTROLLER(the_epoch_never_falls),
        WITH_CONTROLLER(the_simulated_world_can_be_changed),
        WITH_CONTROLLER(a_box_that_falls_before_the_wheels_is_a_risk),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
