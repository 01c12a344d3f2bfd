// test_groot.c - what Groot2 is shown of a tree: the file that its editor opens, and the replies of its
// live protocol. What the replies must be was read off BehaviorTree.CPP 4.10's own publisher with the
// same tree and the same requests.
#include "bt/bt_help.h"
#include "pons/groot.h"
#include "pons/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

static const char text[] =
    "<root BTCPP_format=\"4\" main_tree_to_execute=\"Main\"><BehaviorTree ID=\"Main\">"
    "<Sequence name=\"seq\"><Script code=\"x:=1; y:=2.5; s:='hi'\"/><SubTree ID=\"Sub\" p=\"{x}\" "
    "q=\"7\"/>"
    "<SubTree ID=\"Sub\" name=\"second\" p=\"{y}\" q=\"hi &lt;you&gt;\"/>"
    "<Action ID=\"a\" name=\"leaf\" _skipIf=\"x==2\"/><Action ID=\"r\"/></Sequence></BehaviorTree>"
    "<BehaviorTree ID=\"Sub\"><Fallback><Inverter><ScriptCondition code=\"p==1\"/></Inverter>"
    "<AlwaysSuccess name=\"ok\"/></Fallback></BehaviorTree>"
    "<TreeNodesModel><Action ID=\"a\"/><Action ID=\"r\"/></TreeNodesModel></root>";

enum {
    SEQ,
    SCRIPT,
    SUB,
    SUB_FALLBACK,
    SUB_NOT,
    SUB_IS,
    SUB_OK,
    SECOND,
    LEAF = 12,
    RUNS = 13,
    NODES
};

typedef struct scene {
    pons_clock_manual clock;
    pons_bt_registry *leaves;
    pons_bt *bt;
    pons_bt_tree *tree;
    pons_groot *g;
    int calls;     // of the leaf a
    int holds;     // how often a breakpoint was asked about
    int unlock_at; // at this one a monitor unlocks it, with `unlock`
    const char *unlock;
} scene;

static int leaf_a(pons_bt_call *call, void *user, pons_error *err)
{
    (void)call;
    (void)err;
    ((scene *)user)->calls++;
    return PONS_BT_SUCCESS;
}

static int leaf_r(pons_bt_call *call, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return call->reason == PONS_BT_START ? PONS_BT_RUNNING : PONS_BT_SUCCESS;
}

static void on_change(void *user, const pons_bt_change *c)
{
    pons_groot_change(((scene *)user)->g, c->node, c->from, c->to);
}

static pons_groot_reply ask(scene *s, char letter, const char *body)
{
    const uint8_t head[6] = {2, (uint8_t)letter, 77, 0, 1, 0};
    const pons_groot_part parts[2] = {{head, 6}, {body, body ? strlen(body) : 0}};
    pons_groot_reply r;
    assert_int_equal(pons_groot_answer(s->g, parts, body ? 2 : 1, &r), PONS_OK);
    return r;
}

// The reply's body: its header is the request's, and this tree's name.
static char *said(scene *s, char letter, const char *body)
{
    pons_groot_reply r = ask(s, letter, body);
    const uint8_t head[6] = {2, (uint8_t)letter, 77, 0, 1, 0};
    if (r.head.len != 22 || memcmp(r.head.data, head, 6) != 0) {
        fail_msg("%c: %.*s: %.*s", letter, (int)r.head.len, r.head.data, (int)r.body.len,
                 r.body.data);
    }
    char *out = r.packed ? json_dumps(r.packed, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY)
                : r.has_body && r.body.data ? strndup(r.body.data, r.body.len)
                                            : strdup("");
    pons_groot_reply_fini(&r);
    return out;
}

static void expect(scene *s, char letter, const char *body, const char *want)
{
    char *got = said(s, letter, body);
    assert_string_equal(got, want);
    free(got);
}

static void expect_refused(scene *s, char letter, const char *body, const char *want)
{
    pons_groot_reply r = ask(s, letter, body);
    assert_string_equal(r.head.data, "error");
    assert_string_equal(r.body.data, want);
    pons_groot_reply_fini(&r);
}

static pons_bt_status on_hook(void *user, uint32_t node, bool after)
{
    scene *s = user;
    int wanted;
    while ((wanted = pons_groot_hook(s->g, node, after)) == PONS_GROOT_HOLD) {
        if (++s->holds == s->unlock_at) {
            expect(s, 'U', s->unlock, "");
        }
        s->clock.now_ns += PONS_NS_PER_S;
        pons_groot_beat(s->g);
    }
    return (pons_bt_status)wanted;
}

static void open_scene(scene *s, bool hooks)
{
    pons_error err = PONS_ERROR_INIT;
    *s = (scene){.leaves = pons_bt_registry_create()};
    const pons_bt_leaf a = {.name = "a", .fn = leaf_a, .user = s}, r = {.name = "r", .fn = leaf_r};
    assert_int_equal(pons_bt_register(s->leaves, &a, &err), PONS_OK);
    assert_int_equal(pons_bt_register(s->leaves, &r, &err), PONS_OK);
    s->bt = load_text("t.xml", text, s->leaves, NULL);
    assert_non_null(s->bt);
    const pons_clock clock = pons_clock_from_manual(&s->clock);
    const pons_groot_options o = {.clock = clock, .hooks = hooks};
    const pons_bt_tree_options t = {.clock = clock,
                                    .leaves = s->leaves,
                                    .on_change = on_change,
                                    .hook = hooks ? on_hook : NULL,
                                    .user = s};
    assert_int_equal(pons_groot_create(s->bt, &o, &s->g, &err), PONS_OK);
    assert_int_equal(pons_bt_tree_create(s->bt, &t, &s->tree, &err), PONS_OK);
    pons_groot_show(s->g, s->tree);
}

static void close_scene(scene *s)
{
    pons_bt_tree_destroy(s->tree);
    pons_groot_destroy(s->g);
    pons_bt_unref(s->bt);
    pons_bt_registry_destroy(s->leaves);
}

static pons_bt_status tick(scene *s)
{
    pons_bt_status status = PONS_BT_READY;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_bt_tick(s->tree, PONS_BT_EXACTLY_ONCE, &status, &err), PONS_OK);
    return status;
}

static void expect_status(scene *s, const int *want)
{
    pons_groot_reply r = ask(s, 'S', NULL);
    assert_int_equal(r.body.len, 3 * NODES);
    for (int i = 0; i < NODES; i++) {
        const uint8_t *at = (const uint8_t *)r.body.data + (size_t)3 * (size_t)i;
        assert_int_equal(at[0] | at[1] << 8, i + 1);
        if (at[2] != want[i]) {
            fail_msg("node %d has the status %d, not %d", i, at[2], want[i]);
        }
    }
    pons_groot_reply_fini(&r);
}

// ---- the file -----------------------------------------------------------------------------------

// What the editor opens is the same tree, also when it is read and written again.
static void a_file_for_the_editor(void **state)
{
    (void)state;
    scene s;
    pons_error err = PONS_ERROR_INIT;
    char *once = NULL, *twice = NULL, *shown[2] = {NULL, NULL};
    open_scene(&s, false);
    assert_int_equal(pons_bt_draw(s.bt, "groot", &once, &err), PONS_OK);
    assert_null(strstr(once, "_uid"));
    assert_null(strstr(once, "<Control ID=\"Sequence\"")); // it knows those
    assert_non_null(strstr(once, "<Action ID=\"a\""));
    assert_non_null(strstr(once, "q=\"hi &lt;you&gt;\""));
    pons_bt *again = load_text("t.xml", once, NULL, NULL);
    assert_non_null(again);
    assert_int_equal(pons_bt_draw(again, "groot", &twice, &err), PONS_OK);
    assert_string_equal(once, twice);
    assert_int_equal(pons_bt_draw(s.bt, "text", &shown[0], &err), PONS_OK);
    assert_int_equal(pons_bt_draw(again, "text", &shown[1], &err), PONS_OK);
    assert_string_equal(shown[0], shown[1]);
    free(once);
    free(twice);
    free(shown[0]);
    free(shown[1]);
    pons_bt_unref(again);
    close_scene(&s);
}

// ---- replies ------------------------------------------------------------------------------------

static void the_whole_tree(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, false);
    char *xml = said(&s, 'T', NULL);
    static const char *const has[] = {
        "<BehaviorTree ID=\"Main\" _fullpath=\"\">",
        "<Sequence name=\"seq\" _uid=\"1\">",
        "<SubTree ID=\"Sub\" _fullpath=\"Sub::3\" _uid=\"3\" p=\"{x}\" q=\"7\"/>",
        "<SubTree ID=\"Sub\" _fullpath=\"second\" _uid=\"8\"",
        "<BehaviorTree ID=\"Sub\" _fullpath=\"second\">",
        "<a name=\"leaf\" _uid=\"13\" _skipIf=\"x==2\"/>",
        "<Control ID=\"Sequence\">",
        "<input_port name=\"code\" type=\"std::string\"/>"};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++) {
        if (!strstr(xml, has[i])) {
            fail_msg("there is no %s in\n%s", has[i], xml);
        }
    }
    free(xml);
    close_scene(&s);
}

static void states_and_blackboards(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, false);
    const int idle[NODES] = {0};
    expect_status(&s, idle);
    assert_int_equal(tick(&s), PONS_BT_RUNNING);
    // A node that its parent made idle again is 10 more than what it was.
    const int running[NODES] = {
        [SEQ] = 1,         [SCRIPT] = 2,     [SUB] = 2,    [SUB_FALLBACK] = 12, [SUB_NOT] = 13,
        [SUB_IS] = 12,     [SUB_OK] = 12,    [SECOND] = 2, [SECOND + 1] = 12,   [SECOND + 2] = 12,
        [SECOND + 3] = 13, [SECOND + 4] = 0, [LEAF] = 2,   [RUNS] = 1};
    expect_status(&s, running);
    expect(&s, 'B', "Main;Sub::3;second;nope",
           "{\"Main\":{\"s\":\"hi\",\"x\":1,\"y\":2.5},\"ROOT\":{\"s\":\"hi\",\"x\":1,\"y\":2.5},"
           "\"Sub::3\":{\"q\":7},\"second\":{\"q\":\"hi <you>\"}}");
    expect(&s, 'B', "Main", "{\"Main\":{\"s\":\"hi\",\"x\":1,\"y\":2.5}}");
    expect(&s, 'B', "", "null");
    assert_int_equal(tick(&s), PONS_BT_SUCCESS);
    close_scene(&s);
}

static void requests_that_make_no_sense(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true);
    expect_refused(&s, 'B', NULL, "must be 2 parts message");
    expect_refused(&s, 'Z', NULL, "Request not recognized");
    expect_refused(&s, 'R', "{\"uid\":3,\"position\":0}", "Node ID not found");
    expect_refused(&s, 'I', "{\"uid\":999,\"position\":0}", "Node ID not found");
    expect_refused(&s, 'I', "{\"uid\":\"3\",\"position\":0}", "a hook has uid and position");
    expect_refused(&s, 'U', "{\"uid\":3,\"position\":1}", "Node ID not found");
    const pons_groot_part odd[] = {{"abc", 3}, {"", 0}};
    for (size_t n = 0; n <= 2; n++) {
        pons_groot_reply r;
        assert_int_equal(pons_groot_answer(s.g, odd, n, &r), PONS_OK);
        assert_string_equal(r.body.data, "wrong request header");
        pons_groot_reply_fini(&r);
    }
    pons_groot_reply r = ask(&s, 'I', "{nope");
    assert_string_equal(r.head.data, "error");
    pons_groot_reply_fini(&r);
    expect(&s, 'D', NULL, "[]");
    close_scene(&s);
}

static void a_recording(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, false);
    char *began = said(&s, 'r', "start");
    assert_true(strlen(began) > 0 && strspn(began, "0123456789") == strlen(began));
    free(began);
    s.clock.now_ns += 3 * PONS_NS_PER_MS;
    pons_groot_change(s.g, LEAF, PONS_BT_READY, PONS_BT_RUNNING);
    pons_groot_reply r = ask(&s, 't', NULL);
    const uint8_t want[9] = {3000 & 255, 3000 >> 8, 0, 0, 0, 0, LEAF + 1, 0, PONS_BT_RUNNING};
    assert_int_equal(r.body.len, 9);
    assert_memory_equal(r.body.data, want, 9);
    pons_groot_reply_fini(&r);
    expect(&s, 't', NULL, ""); // told once
    for (int i = 0; i < 1500; i++) {
        pons_groot_change(s.g, LEAF, PONS_BT_READY, PONS_BT_RUNNING);
    }
    r = ask(&s, 't', NULL);
    assert_int_equal(r.body.len, 9 * 1000); // the newest
    pons_groot_reply_fini(&r);
    expect(&s, 'r', "stop", "");
    pons_groot_change(s.g, LEAF, PONS_BT_READY, PONS_BT_RUNNING);
    expect(&s, 't', NULL, "");
    close_scene(&s);
}

// ---- hooks --------------------------------------------------------------------------------------

#define HOOK(mode, once, status, position)                                                         \
    "{\"desired_status\":\"" status "\",\"enabled\":true,\"mode\":" #mode ",\"once\":" #once       \
    ",\"position\":" #position ",\"uid\":13}"

static void a_result_replaced(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true);
    expect(&s, 'I', HOOK(1, true, "FAILURE", 0), ""); // instead of its tick
    expect(&s, 'D', NULL, "[" HOOK(1, true, "FAILURE", 0) "]");
    assert_int_equal(tick(&s), PONS_BT_FAILURE);
    assert_int_equal(s.calls, 0);
    expect(&s, 'D', NULL, "[]"); // it was for once
    assert_int_equal(tick(&s), PONS_BT_RUNNING);
    assert_int_equal(s.calls, 1);
    assert_int_equal(tick(&s), PONS_BT_SUCCESS);
    expect(&s, 'I', "[" HOOK(1, false, "FAILURE", 1) "]", ""); // after it
    assert_int_equal(tick(&s), PONS_BT_FAILURE);
    assert_int_equal(s.calls, 2);
    expect(&s, 'X', NULL, "");
    assert_int_equal(tick(&s), PONS_BT_RUNNING);
    expect(&s, 'R', "{\"uid\":13,\"position\":1}", "");
    expect(&s, 'D', NULL, "[]");
    close_scene(&s);
}

static void a_breakpoint(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true);
    s.unlock_at = 2;
    s.unlock =
        "{\"uid\":13,\"position\":0,\"desired_status\":\"SKIPPED\",\"remove_when_done\":false}";
    expect(&s, 'I', HOOK(0, false, "SKIPPED", 0), "");
    assert_int_equal(tick(&s), PONS_BT_RUNNING); // unlocked: the node is ticked
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.holds, 2);
    assert_int_equal(tick(&s), PONS_BT_SUCCESS); // it has its result: nobody is asked
    s.holds = 0;
    s.unlock_at = 1;
    s.unlock =
        "{\"uid\":13,\"position\":0,\"desired_status\":\"FAILURE\",\"remove_when_done\":true}";
    assert_int_equal(tick(&s), PONS_BT_FAILURE); // unlocked with a result
    assert_int_equal(s.calls, 1);
    expect(&s, 'D', NULL, "[]");
    close_scene(&s);
}

// A monitor that went away holds nothing: five seconds without a request.
static void a_breakpoint_that_nobody_unlocks(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true);
    expect(&s, 'I', HOOK(0, false, "SKIPPED", 0), "");
    assert_int_equal(tick(&s), PONS_BT_RUNNING);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.holds, 6);        // seconds
    expect(&s, 'S', "", (char[]){1, 0}); // it is back, and so is the breakpoint
    assert_true(pons_groot_hooked(s.g, LEAF, false));
    close_scene(&s);
}

static void a_robot_takes_no_hooks(void **state)
{
    (void)state;
    scene s;
    static const char why[] =
        "no breakpoints here: they would hold a robot's tree in the midst of a tick";
    open_scene(&s, false);
    expect_refused(&s, 'I', HOOK(0, false, "SKIPPED", 0), why);
    expect_refused(&s, 'U', HOOK(0, false, "SKIPPED", 0), why);
    expect_refused(&s, 'R', HOOK(0, false, "SKIPPED", 0), why);
    expect(&s, 'D', NULL, "[]");
    expect(&s, 'A', NULL, ""); // there are none to take away
    assert_int_equal(tick(&s), PONS_BT_RUNNING);
    close_scene(&s);
}

// ---- sockets ------------------------------------------------------------------------------------

static void over_sockets(void **state)
{
    (void)state;
    scene s;
    pons_error err = PONS_ERROR_INIT;
    const void *found = NULL;
    if (pons_module_load("groot", "zmq", &found, &err) < 0) {
        skip();
    }
    const pons_groot_socket_ops *ops = found;
    pons_groot_socket *socket = NULL, *second = NULL;
    uint16_t port = 0;
    char where[64], body[256];
    open_scene(&s, false);
    tick(&s);
    assert_int_equal(ops->open("127.0.0.1", &port, &socket, &err), PONS_OK);
    assert_true(port > 0);
    assert_int_equal(ops->open("127.0.0.1", &port, &second, &err), PONS_EENV); // it is taken
    void *context = zmq_ctx_new(), *client = zmq_socket(context, ZMQ_REQ);
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", port);
    assert_int_equal(zmq_connect(client, where), 0);
    const uint8_t head[6] = {2, 'B', 77, 0, 1, 0};
    zmq_send(client, head, 6, ZMQ_SNDMORE);
    zmq_send(client, "second", 6, 0);
    int came = 0;
    for (int i = 0; i < 600 && came == 0; i++) {
        came = ops->serve(socket, 100, s.g, &err);
    }
    assert_int_equal(came, 1);
    assert_int_equal(zmq_recv(client, body, sizeof body, 0), 22);
    const int n = zmq_recv(client, body, sizeof body, 0);
    static const uint8_t want[] = "\x82\xa6"
                                  "second\x81\xa1q\xa8hi <you>\xa4ROOT\x83"; // MessagePack
    assert_true(n > (int)sizeof want - 1);
    assert_memory_equal(body, want, sizeof want - 1);
    zmq_close(client);
    zmq_ctx_term(context);
    ops->close(socket);
    close_scene(&s);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_for_the_editor),
        cmocka_unit_test(the_whole_tree),
        cmocka_unit_test(states_and_blackboards),
        cmocka_unit_test(requests_that_make_no_sense),
        cmocka_unit_test(a_recording),
        cmocka_unit_test(a_result_replaced),
        cmocka_unit_test(a_breakpoint),
        cmocka_unit_test(a_breakpoint_that_nobody_unlocks),
        cmocka_unit_test(a_robot_takes_no_hooks),
        cmocka_unit_test(over_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
