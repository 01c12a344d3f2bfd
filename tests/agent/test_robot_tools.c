// test_robot_tools.c - a body's skills as tools: what a call becomes on the link, and what becomes
// of it when links break and processes die.
//
// The body is played by the test, over links in process and a clock that moves when told. Shown:
// the list from the hello; a controller only while a goal is out; results, refusals, another
// controller; a key of an earlier life in each state that the body may know it in; a link that
// breaks; a cancel; a body that says nothing; what the critic says of a call.
#include "agent_bench.h"
#include "tools/conformance.h"

#include <stdio.h>
#include <string.h>

#define ENDS_MAX 16

typedef struct body { // the test's
    pons_link *ends[ENDS_MAX];
    char roles[ENDS_MAX][16];
    size_t n;
    bool gone;         // nobody answers on the socket
    bool busy;         // another controller has it
    bool mute;         // takes goals and says nothing
    const char *den;   // the name of a further zone of the world; NULL: none
    const char *known; // what status says of a key: a state, or NULL: unknown
    bool same_boot;
    pons_value *got; // every message but heartbeats and hellos
    int goals, hellos, byes, beats;
    int64_t epoch;
    char goal_id[128];
    size_t hand; // the end that the newest goal came from
} body;

typedef struct rig {
    body b;
    pons_clock_manual time;
    pons_tools tools;
    pons_error err;
} rig;

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    body *b = user;
    if (b->gone || b->n == ENDS_MAX) {
        return pons_error_set(err, PONS_ECLOSED, "test", "nobody is there");
    }
    const int rc = pons_link_pair(ret, &b->ends[b->n], err);
    b->n += rc >= 0;
    return rc;
}

static void send(body *b, size_t end, pons_value *msg)
{
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_link_send(b->ends[end], msg, &err) >= 0);
}

static pons_value *hello(const body *b, bool controller)
{
    pons_value *h = json(
        "{'type':'hello','protocol':1,'boot_id':'b1','robot_id':'r1','driver':'test','speed':1.0,"
        "'simulated':true,'world':{'name':'w','bounds':[0,0,10,8],'zones':[{'id':'kitchen','names':"
        "{'en':['kitchen']},'polygon':[[1,1],[3,1],[3,3],[1,3]],'target':{'x':2,'y':2,'yaw':0}},"
        "{'id':'hall','names':{'en':['hall']},'polygon':[[4,1],[6,1],[6,5],[4,5]]}],"
        "'objects':[]},'skills':[{'name':'navigate_to_pose','description':'drive','args_schema':{"
        "'type':'object','properties':{'zone':{'type':'string'}},'required':['zone']},"
        "'resources_required':['base']},{'name':'speak','description':'say','args_schema':{"
        "'type':'object','properties':{'text':{'type':'string'}}},'resources_required':[]}],"
        "'limits':{},'pid':1}");
    json_object_set_new(h, "epoch", json_integer(controller ? b->epoch : 0));
    if (b->den) {
        json_array_append_new(json_object_get(json_object_get(h, "world"), "zones"),
                              json_pack("{s:s,s:{s:[s]},s:[[ii][ii][ii]],s:{s:i,s:i,s:i}}", "id",
                                        b->den, "names", "en", b->den, "polygon", 7, 1, 9, 1, 9, 4,
                                        "target", "x", 8, "y", 2, "yaw", 0));
    }
    return h;
}

static pons_value *telemetry(bool latched)
{
    pons_value *t = json("{'type':'telemetry','robot_ms':1,'pose':{'x':5.0,'y':4.0,'yaw':0.0},"
                         "'battery_pct':80.0,'stop':{'latched':false,'reason':''},'resources':{}}");
    json_object_set_new(json_object_get(t, "stop"), "latched", json_boolean(latched));
    return t;
}

static void body_message(body *b, size_t end, const pons_value *msg)
{
    const char *type = pons_get_str(msg, "type", ""), *id = pons_get_str(msg, "goal_id", "");
    if (strcmp(type, "heartbeat") == 0) {
        b->beats++;
        return;
    }
    if (strcmp(type, "hello") == 0) {
        const bool controller = strcmp(pons_get_str(msg, "role", ""), "controller") == 0;
        snprintf(b->roles[end], sizeof b->roles[end], "%s", pons_get_str(msg, "role", ""));
        b->hellos += controller;
        b->epoch += controller;
        if (controller && b->busy) {
            send(b, end, json("{'type':'error','code':'busy','message':'pid 7 controls it'}"));
            return;
        }
        send(b, end, hello(b, controller));
        send(b, end, telemetry(false));
        return;
    }
    json_array_append(b->got, (pons_value *)(uintptr_t)msg);
    b->byes += strcmp(type, "bye") == 0;
    if (strcmp(type, "goal") == 0) {
        b->goals++;
        b->hand = end;
        snprintf(b->goal_id, sizeof b->goal_id, "%s", id);
        if (!b->mute) {
            send(b, end,
                 pons_object("type", json_string("accepted"), "goal_id", json_string(id), "state",
                             json_string("started"), NULL));
        }
    } else if (strcmp(type, "status") == 0 && !b->mute) {
        b->hand = end;
        send(b, end,
             pons_object("type", json_string("status"), "goal_id", json_string(id), "known",
                         json_boolean(b->known != NULL), "state",
                         json_string(b->known ? b->known : ""), "boot_id", json_string("b1"),
                         "same_boot", json_boolean(b->same_boot), "started", json_true(),
                         "error_code", json_integer(0), "error_msg", json_string("why"), "metrics",
                         json_object(), NULL));
    } else if (strcmp(type, "adopt") == 0) {
        send(b, end,
             pons_object("type", json_string("adopted"), "goal_id", json_string(id), "state",
                         json_string("adopted"), NULL));
    }
}

// Lets both sides talk until nothing moves; returns whether an event came.
static bool talk(rig *r, pons_tool_event *ret)
{
    bool came = false;
    for (int i = 0; i < 20; i++) {
        pons_tool_event ev = {0};
        if (r->tools.ops->next(r->tools.self, &ev)) {
            assert_false(came);
            came = true;
            *ret = ev;
        }
        for (size_t k = 0; k < r->b.n; k++) {
            pons_value *msg = NULL;
            while (r->b.ends[k] && pons_link_recv(r->b.ends[k], &msg, &r->err) > 0) {
                body_message(&r->b, k, msg);
                pons_value_unref(msg);
            }
        }
    }
    return came;
}

static void result(rig *r, const char *status)
{
    send(&r->b, r->b.hand,
         pons_object("type", json_string("result"), "goal_id", json_string(r->b.goal_id), "skill",
                     json_string("navigate_to_pose"), "status", json_string(status), "error_code",
                     json_integer(0), "error_msg", json_string("a box"), "metrics",
                     json("{'distance_m':2.5}"), NULL));
}

static void rig_open(rig *r)
{
    r->b.got = json_array();
    r->b.same_boot = true;
    const pons_robot_tools_options o = {
        .clock = pons_clock_from_manual(&r->time), .connect = connect_body, .user = &r->b};
    assert_int_equal(pons_robot_tools_open(&o, &r->tools, &r->err), PONS_OK);
    pons_tool_event none;
    assert_false(talk(r, &none));
}

static void rig_close(rig *r)
{
    pons_robot_tools_close(&r->tools);
    for (size_t i = 0; i < r->b.n; i++) {
        pons_link_close(r->b.ends[i]);
    }
    pons_value_unref(r->b.got);
}

static void start(rig *r, uint64_t call, const char *key)
{
    pons_autovalue args = json("{'zone':'kitchen'}");
    assert_int_equal(
        r->tools.ops->start(r->tools.self, call, "navigate_to_pose", args, key, &r->err), PONS_OK);
}

static void must_fail(pons_tool_event *ev, int status, const char *words)
{
    assert_int_equal(ev->kind, PONS_TOOL_FAILED);
    assert_int_equal(ev->error.status, status);
    if (!strstr(ev->error.message, words)) {
        fail_msg("%s has no '%s'", ev->error.message, words);
    }
    pons_tool_event_clear(ev);
}

static void skills_are_tools(void **state)
{
    (void)state;
    rig r = {.b = {.gone = true}};
    rig_open(&r);
    pons_value *list = NULL;
    r.tools.ops->list(r.tools.self, &list, &r.err);
    assert_int_equal(json_array_size(list), 1); // query_world alone: no body is there
    pons_value_unref(list);
    const uint64_t before = r.tools.ops->generation(r.tools.self);
    pons_autovalue args = json("{'zone':'kitchen'}");
    assert_int_equal(r.tools.ops->start(r.tools.self, 9, "navigate_to_pose", args, "k", &r.err),
                     PONS_EENV);
    r.b.gone = false;
    r.time.now_ns += 2 * PONS_NS_PER_S;
    pons_tool_event ev;
    assert_false(talk(&r, &ev));
    assert_true(r.tools.ops->generation(r.tools.self) != before);
    r.tools.ops->list(r.tools.self, &list, &r.err);
    assert_int_equal(json_array_size(list), 3);
    const pons_value *drive = json_array_get(list, 1);
    assert_string_equal(pons_get_str(drive, "category", ""), "robot");
    assert_string_equal(pons_get_str(drive, "risk", ""), "warn");
    assert_string_equal(pons_get_str(json_array_get(list, 2), "risk", ""), "safe"); // speak
    assert_int_equal(r.b.hellos, 0);                                                // it only looks
    pons_value_unref(list);
    pons_autovalue none = json_object();
    assert_int_equal(r.tools.ops->start(r.tools.self, 1, "query_world", none, "q", &r.err), 0);
    assert_true(talk(&r, &ev));
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "\"battery_pct\":80"));
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "\"zone\":\"hall\""));
    pons_tool_event_clear(&ev);
    rig_close(&r);
}

static void a_call_is_a_goal(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        int error;
    } rows[] = {{"done", 0}, {"failed", PONS_EIO}, {"canceled", PONS_ECANCELED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rig r = {0};
        rig_open(&r);
        pons_tool_event ev;
        start(&r, 5, "key-1");
        assert_false(talk(&r, &ev));
        assert_int_equal(r.b.goals, 1);
        assert_string_equal(r.b.goal_id, "key-1");
        const pons_value *goal = json_array_get(r.b.got, 0);
        assert_int_equal(pons_get_int(goal, "epoch", 0), r.b.epoch);
        assert_string_equal(pons_get_str(goal, "robot_id", ""), "r1");
        assert_string_equal(pons_get_str(pons_get(goal, "args"), "zone", ""), "kitchen");
        r.time.now_ns += PONS_NS_PER_S;
        assert_false(talk(&r, &ev));
        assert_true(r.b.beats > 0);
        result(&r, rows[i].status);
        assert_true(talk(&r, &ev));
        assert_int_equal(ev.call, 5);
        if (rows[i].error) {
            must_fail(&ev, rows[i].error, "a box");
        } else {
            assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "2.5"));
            pons_tool_event_clear(&ev);
        }
        assert_int_equal(r.b.byes, 1); // others may have the body now
        assert_false(talk(&r, &ev));
        rig_close(&r);
    }
}

// A person names a room while the session goes on. The critic's world is made again then, and only then.
static void a_zone_that_is_named_meanwhile(void **state)
{
    (void)state;
    rig r = {0};
    rig_open(&r);
    pons_tool_event ev;
    assert_false(talk(&r, &ev));
    const uint64_t before = r.tools.ops->generation(r.tools.self);
    send(&r.b, 0, hello(&r.b, false));
    assert_false(talk(&r, &ev));
    assert_true(r.tools.ops->generation(r.tools.self) == before);
    r.b.den = "den";
    send(&r.b, 0, hello(&r.b, false));
    assert_false(talk(&r, &ev));
    assert_true(r.tools.ops->generation(r.tools.self) != before);
    pons_autovalue none = json_object();
    assert_int_equal(r.tools.ops->start(r.tools.self, 1, "query_world", none, "q", &r.err), 0);
    assert_true(talk(&r, &ev));
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "den"));
    pons_tool_event_clear(&ev);
    rig_close(&r);
}

static void what_the_body_does_not_do_is_told(void **state)
{
    (void)state;
    pons_tool_event ev;
    rig busy = {.b = {.busy = true}};
    rig_open(&busy);
    start(&busy, 1, "k");
    assert_true(talk(&busy, &ev));
    must_fail(&ev, PONS_EBUSY, "pid 7 controls it");
    assert_int_equal(busy.b.goals, 0);
    rig_close(&busy);

    rig mute = {.b = {.mute = true}};
    rig_open(&mute);
    start(&mute, 1, "k");
    assert_false(talk(&mute, &ev));
    mute.time.now_ns += 11 * PONS_NS_PER_S;
    assert_true(talk(&mute, &ev));
    must_fail(&ev, PONS_ECLOSED, "does not answer"); // it was sent: nobody knows
    rig_close(&mute);

    rig no = {.b = {.mute = true}};
    rig_open(&no);
    start(&no, 1, "k");
    assert_false(talk(&no, &ev));
    send(&no.b, no.b.hand,
         pons_object("type", json_string("rejected"), "goal_id", json_string("k"), "code",
                     json_string("latched"), "message", json_string("a stop is latched"), NULL));
    assert_true(talk(&no, &ev));
    must_fail(&ev, PONS_EREFUSED, "a stop is latched");
    rig_close(&no);
}

static void a_key_of_an_earlier_life(void **state)
{
    (void)state;
    static const struct {
        const char *known;
        bool same_boot;
        int status; // of the event; 0: done
        int goals;
    } rows[] = {
        {NULL, true, PONS_ENOTFOUND, 0},     {"done", true, 0, 0}, {"done", false, 0, 0},
        {"failed", true, PONS_EIO, 0},       {"held", true, 1, 0}, {"started", true, 1, 0},
        {"started", false, PONS_ECLOSED, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rig r = {0};
        rig_open(&r);
        r.b.known = rows[i].known;
        r.b.same_boot = rows[i].same_boot;
        snprintf(r.b.goal_id, sizeof r.b.goal_id, "old");
        pons_tool_event ev = {0};
        assert_int_equal(r.tools.ops->adopt(r.tools.self, 3, "navigate_to_pose", "old", &r.err),
                         PONS_OK);
        bool came = talk(&r, &ev);
        if (rows[i].status == 1) { // joined: its end comes later
            assert_false(came);
            result(&r, "done");
            came = talk(&r, &ev);
        }
        assert_true(came);
        assert_int_equal(r.b.goals, rows[i].goals); // nothing is sent again
        assert_int_equal(ev.kind, rows[i].status < 0 ? PONS_TOOL_FAILED : PONS_TOOL_DONE);
        if (rows[i].status < 0) {
            assert_int_equal(ev.error.status, rows[i].status);
        }
        pons_tool_event_clear(&ev);
        rig_close(&r);
    }
}

static void a_link_breaks(void **state)
{
    (void)state;
    rig r = {0};
    pons_tool_event ev;
    rig_open(&r);
    start(&r, 1, "k");
    assert_false(talk(&r, &ev));
    for (size_t i = 0; i < r.b.n; i++) {
        pons_link_close(r.b.ends[i]);
        r.b.ends[i] = NULL;
    }
    r.b.known = "held";
    r.time.now_ns += 2 * PONS_NS_PER_S;
    assert_false(talk(&r, &ev));
    assert_int_equal(r.b.hellos, 2);
    assert_int_equal(r.b.goals, 1); // asked about, and adopted; not sent again
    result(&r, "done");
    assert_true(talk(&r, &ev));
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    rig_close(&r);
}

// This process came too late with a heartbeat, and the body holds the goal: it is asked for again, and
// once for a while.
static void what_is_held_is_taken_up(void **state)
{
    (void)state;
    rig r = {0};
    pons_tool_event ev;
    rig_open(&r);
    start(&r, 1, "k");
    assert_false(talk(&r, &ev));
    r.time.now_ns += PONS_NS_PER_S;
    pons_autovalue held = telemetry(false);
    json_object_set_new(held, "held", json_true());
    for (int i = 0; i < 3; i++) {
        send(&r.b, 0, pons_value_ref(held)); // the observer's end
        assert_false(talk(&r, &ev));
    }
    int adopted = 0;
    size_t i;
    const pons_value *msg;
    json_array_foreach(r.b.got, i, msg) {
        adopted += strcmp(pons_get_str(msg, "type", ""), "adopt") == 0;
    }
    assert_int_equal(adopted, 1);
    assert_int_equal(r.b.goals, 1);
    result(&r, "done");
    assert_true(talk(&r, &ev));
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    rig_close(&r);
}

static void a_cancel_reaches_the_body(void **state)
{
    (void)state;
    rig r = {0};
    pons_tool_event ev;
    rig_open(&r);
    start(&r, 1, "k");
    assert_false(talk(&r, &ev));
    r.tools.ops->cancel(r.tools.self, 1);
    assert_false(talk(&r, &ev));
    const pons_value *last = json_array_get(r.b.got, json_array_size(r.b.got) - 1);
    assert_string_equal(pons_get_str(last, "type", ""), "cancel");
    result(&r, "canceled");
    assert_false(talk(&r, &ev)); // no event of it comes any more
    assert_int_equal(r.b.byes, 1);
    rig_close(&r);
}

static void the_critic_judges(void **state)
{
    (void)state;
    rig r = {0};
    rig_open(&r);
    static const struct {
        const char *args;
        bool ok;
        const char *rule;
    } rows[] = {{"{'zone':'kitchen'}", true, ""}, {"{'zone':'mars'}", false, "mars"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autoverdict v = NULL;
        pons_autovalue args = json(rows[i].args);
        assert_true(
            pons_robot_tools_judge(r.tools.self, "navigate_to_pose", args, NULL, &v, &r.err) >= 0);
        assert_int_equal(pons_verdict_ok(v), rows[i].ok);
        if (!rows[i].ok) {
            pons_error why = PONS_ERROR_INIT;
            pons_verdict_error(v, &why);
            assert_non_null(strstr(why.message, rows[i].rule));
        }
    }
    // A stop that is latched: nothing moves.
    for (size_t i = 0; i < r.b.n; i++) {
        send(&r.b, i, telemetry(true));
    }
    pons_autoverdict stopped = NULL;
    pons_autovalue args = json("{'zone':'kitchen'}");
    assert_true(pons_robot_tools_judge(r.tools.self, "navigate_to_pose", args, NULL, &stopped,
                                       &r.err) >= 0);
    assert_false(pons_verdict_ok(stopped));
    pons_autoverdict none = NULL;
    assert_int_equal(pons_robot_tools_judge(r.tools.self, "read_file", args, NULL, &none, &r.err),
                     PONS_ENOTFOUND);
    rig_close(&r);
}

static void pump(void *user)
{
    rig *r = user;
    r->time.now_ns += 10 * PONS_NS_PER_MS;
    for (size_t k = 0; k < r->b.n; k++) {
        pons_value *msg = NULL;
        while (r->b.ends[k] && pons_link_recv(r->b.ends[k], &msg, &r->err) > 0) {
            body_message(&r->b, k, msg);
            pons_value_unref(msg);
        }
    }
}

// The suite of every provider of tools (tests/tools/conformance.c); the suite closes it.
static void it_is_a_provider_like_others(void **state)
{
    (void)state;
    rig r = {.b = {.known = NULL}};
    rig_open(&r);
    tools_conformance(&(tools_subject){.tools = r.tools,
                                       .pump = pump,
                                       .user = &r,
                                       .tool = "query_world",
                                       .args = "{}",
                                       .slow_tool = "navigate_to_pose",
                                       .slow_args = "{\"zone\":\"kitchen\"}"});
    r.tools = (pons_tools){0};
    for (size_t i = 0; i < r.b.n; i++) {
        pons_link_close(r.b.ends[i]);
    }
    pons_value_unref(r.b.got);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skills_are_tools),
        cmocka_unit_test(a_call_is_a_goal),
        cmocka_unit_test(a_zone_that_is_named_meanwhile),
        cmocka_unit_test(what_the_body_does_not_do_is_told),
        cmocka_unit_test(a_key_of_an_earlier_life),
        cmocka_unit_test(a_link_breaks),
        cmocka_unit_test(what_is_held_is_taken_up),
        cmocka_unit_test(a_cancel_reaches_the_body),
        cmocka_unit_test(the_critic_judges),
        cmocka_unit_test(it_is_a_provider_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
