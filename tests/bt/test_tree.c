// test_tree.c - trees at work through the C interface: leaves with ports and arguments, results
// that come later, save and restore at every tick, pause, reload, the live stream of changes.
#include "bt/bt_help.h"
#include "pons/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    pons_clock_manual clock;
    int calls, halts, changes;
    int answer;
    bool defer;
    uint32_t node;
    uint64_t run;
    char seen[64];
} world;

static int act(pons_bt_call *call, void *user, pons_error *err)
{
    world *w = user;
    (void)err;
    if (call->reason == PONS_BT_HALT) {
        w->halts++;
        return PONS_BT_READY;
    }
    w->calls++;
    if (w->defer) {
        call->deferred = true;
        w->node = call->node;
        w->run = call->run;
        return PONS_BT_RUNNING;
    }
    return w->answer;
}

// Reads port "in" (or the first argument) and writes port "out".
static int ports(pons_bt_call *call, void *user, pons_error *err)
{
    world *w = user;
    pons_value *in = NULL;
    pons_autovalue args = pons_bt_call_args(call);
    if (json_array_size(args) > 0) {
        in = pons_value_ref(json_array_get(args, 0));
    } else {
        const int rc = pons_bt_call_input(call, "in", &in, err);
        if (rc < 0) {
            return rc;
        }
    }
    char *text = NULL;
    pons_value_line(in, &text);
    snprintf(w->seen, sizeof w->seen, "%s", text);
    free(text);
    const int rc = pons_bt_call_output(call, "out", in, err);
    return rc < 0 ? rc : PONS_BT_SUCCESS;
}

static void on_change(void *user, const pons_bt_change *change)
{
    assert_true(change->from != change->to);
    ((world *)user)->changes++;
}

static pons_bt_registry *registry(world *w)
{
    static const pons_bt_port in_out[] = {{"in", 'i', "int", "5", false},
                                          {"out", 'o', "int", NULL, false}};
    pons_bt_registry *r = pons_bt_registry_create();
    pons_error err = PONS_ERROR_INIT;
    pons_bt_register(r, &(pons_bt_leaf){.name = "Act", .fn = act, .user = w}, &err);
    pons_bt_register(
        r, &(pons_bt_leaf){.name = "Ports", .fn = ports, .user = w, .ports = in_out, .n_ports = 2},
        &err);
    assert_int_equal(err.status, PONS_OK);
    assert_int_equal(pons_bt_register(r, &(pons_bt_leaf){.name = "Act", .fn = act}, NULL),
                     PONS_EEXIST);
    return r;
}

static pons_bt_tree *tree_on(world *w, const pons_bt_registry *r, pons_bt *bt)
{
    const pons_bt_tree_options o = {
        .clock = pons_clock_from_manual(&w->clock), .leaves = r, .on_change = on_change, .user = w};
    pons_bt_tree *t = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_bt_tree_create(bt, &o, &t, &err), PONS_OK);
    return t;
}

typedef struct fixture {
    world w;
    pons_bt_registry *r;
    pons_bt *bt;
    pons_bt_tree *t;
} fixture;

// The world's address goes into the registry, so the fixture is filled in place.
static void begin(fixture *f, const char *file, const char *text)
{
    pons_value *faults = NULL;
    *f = (fixture){.w = {.answer = PONS_BT_RUNNING}};
    f->r = registry(&f->w);
    f->bt = load_text(file, text, f->r, &faults);
    assert_non_null(f->bt);
    f->t = tree_on(&f->w, f->r, f->bt);
}

static void end(fixture *f)
{
    pons_bt_tree_destroy(f->t);
    pons_bt_unref(f->bt);
    pons_bt_registry_destroy(f->r);
}

static pons_bt_status tick(pons_bt_tree *t)
{
    pons_bt_status s = PONS_BT_READY;
    pons_error err = PONS_ERROR_INIT;
    char line[1200];
    if (pons_bt_tick(t, PONS_BT_EXACTLY_ONCE, &s, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    return s;
}

#define XML(body) "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\">" body "</BehaviorTree></root>"

static void ports_and_arguments(void **state)
{
    (void)state;
    fixture f;
    pons_value *v = NULL;
    begin(&f, "t.xml",
          XML("<Sequence><Ports out=\"{x}\"/><Ports in=\"{x}\" out=\"{y}\"/></Sequence>"));
    assert_int_equal(tick(f.t), PONS_BT_SUCCESS);
    assert_int_equal(pons_bt_get(f.t, "y", &v), PONS_OK);
    assert_int_equal(json_integer_value(v), 5);
    pons_value_unref(v);
    assert_int_equal(pons_bt_get(f.t, "z", &v), PONS_ENOTFOUND);
    assert_int_equal(pons_bt_set(f.t, "y", json_string("word"), NULL), PONS_EINVAL);
    assert_int_equal(pons_bt_set(f.t, "z", json_string("word"), NULL), PONS_OK);
    end(&f);
    begin(&f, "t.mdsl", "root { action [Ports, \"a\"] }");
    assert_int_equal(tick(f.t), PONS_BT_SUCCESS);
    assert_string_equal(f.w.seen, "\"a\"");
    end(&f);
}

static void literal_of_a_registered_port(void **state)
{
    (void)state;
    world w = {0};
    pons_bt_registry *r = registry(&w);
    pons_value *faults = NULL;
    assert_null(load_text("t.xml", XML("<Ports in=\"five\" other=\"1\"/>"), r, &faults));
    assert_int_equal(json_array_size(faults), 2);
    pons_value_unref(faults);
    pons_bt_registry_destroy(r);
}

static void a_leaf_that_nobody_serves(void **state)
{
    (void)state;
    world w = {0};
    pons_value *faults = NULL;
    pons_bt *bt = load_text("t.xml", XML("<Sequence><Spin/><BackUp/></Sequence>"), NULL, &faults);
    pons_bt_tree *t = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_bt_tree_options o = {.clock = pons_clock_from_manual(&w.clock)};
    assert_non_null(bt);
    assert_int_equal(pons_bt_tree_create(bt, &o, &t, &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "Spin, BackUp"));
    pons_bt_unref(bt);
}

static void result_that_comes_later(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"t.mdsl", "root { action [Act] }"},
                                           {"t.xml", XML("<Act/>")}};
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f, texts[i][0], texts[i][1]);
        f.w.defer = true;
        assert_int_equal(tick(f.t), PONS_BT_RUNNING);
        assert_int_equal(tick(f.t), PONS_BT_RUNNING);
        assert_int_equal(f.w.calls, 1);
        assert_int_equal(pons_bt_resolve(f.t, f.w.node, f.w.run + 1, PONS_BT_SUCCESS),
                         PONS_ENOTPENDING);
        assert_int_equal(pons_bt_resolve(f.t, f.w.node, f.w.run, PONS_BT_SUCCESS), PONS_OK);
        assert_int_equal(tick(f.t), PONS_BT_SUCCESS);
        // What is halted does not get its late result.
        assert_int_equal(tick(f.t), PONS_BT_RUNNING);
        assert_int_equal(pons_bt_halt(f.t, NULL), PONS_OK);
        assert_int_equal(f.w.halts, 1);
        assert_int_equal(pons_bt_resolve(f.t, f.w.node, f.w.run, PONS_BT_SUCCESS),
                         PONS_ENOTPENDING);
        assert_int_equal(tick(f.t), PONS_BT_RUNNING);
        assert_int_equal(f.w.calls, 3);
        assert_true(f.w.changes > 0);
        end(&f);
    }
}

static void pause_stops_time(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "t.xml", XML("<Delay delay_msec=\"100\"><Act/></Delay>"));
    assert_int_equal(tick(f.t), PONS_BT_RUNNING);
    pons_bt_pause(f.t, true);
    f.w.clock.now_ns += PONS_NS_PER_S;
    assert_int_equal(tick(f.t), PONS_BT_RUNNING);
    pons_bt_pause(f.t, false);
    f.w.clock.now_ns += 50 * PONS_NS_PER_MS;
    tick(f.t);
    assert_int_equal(f.w.calls, 0);
    f.w.clock.now_ns += 50 * PONS_NS_PER_MS;
    tick(f.t);
    assert_int_equal(f.w.calls, 1);
    assert_int_equal(f.w.halts, 0);
    end(&f);
}

// A tree that is saved and restored into a new one after every tick does what the other one does.
static void save_at_every_tick(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"t.mdsl",
         "root { sequence { wait [250] repeat [3] { action [Act] } lotto { wait [100] wait "
         "[200] } retry [1, 4] { fail { action [Act] } } } }"},
        {"t.xml",
         XML("<Sequence><Script code=\"n:=0; s:='a'\"/><Delay delay_msec=\"250\"><Repeat "
             "num_cycles=\"3\"><Sequence><Act/><Script code=\"n+=1; s+='b'\"/></Sequence></Repeat>"
             "</Delay><LoopInt queue=\"1;2;3\" value=\"{v}\"><Act/></LoopInt><RateController "
             "hz=\"5\"><Act/></RateController><Sleep msec=\"300\"/></Sequence>")}};
    for (int i = 0; i < 2; i++) {
        fixture a, b;
        begin(&a, texts[i][0], texts[i][1]);
        begin(&b, texts[i][0], texts[i][1]);
        a.w.answer = b.w.answer = PONS_BT_SUCCESS;
        b.w.clock.now_ns = 77 * PONS_NS_PER_S; // another process has another clock
        for (int n = 0; n < 60; n++) {
            assert_int_equal(tick(a.t), tick(b.t));
            a.w.clock.now_ns += 40 * PONS_NS_PER_MS;
            pons_value *saved = NULL, *again = NULL;
            assert_int_equal(pons_bt_save(b.t, &saved, NULL), PONS_OK);
            pons_bt_tree_destroy(b.t);
            b.w.clock.now_ns += 5 * PONS_NS_PER_S;
            b.t = tree_on(&b.w, b.r, b.bt);
            assert_int_equal(pons_bt_restore(b.t, saved, NULL), PONS_OK);
            assert_int_equal(pons_bt_save(b.t, &again, NULL), PONS_OK);
            b.w.clock.now_ns += 40 * PONS_NS_PER_MS;
            char *x = pons_bt_states(a.t), *y = pons_bt_states(b.t);
            assert_string_equal(x, y);
            free(x);
            free(y);
            pons_autovalue p = pons_bt_board(a.t);
            pons_autovalue q = pons_bt_board(b.t);
            assert_true(json_equal(p, q));
            assert_int_equal(a.w.calls, b.w.calls);
            pons_value_unref(saved);
            pons_value_unref(again);
        }
        end(&a);
        end(&b);
    }
}

static void damaged_saves(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "t.mdsl", "root { lotto { action [Act] action [Act] } }");
    tick(f.t);
    pons_value *saved = NULL;
    assert_int_equal(pons_bt_save(f.t, &saved, NULL), PONS_OK);
    static const char *const rows[] = {"[99,1,0,0,0,0.0,0,0]",
                                       "[0,9,0,0,0,0.0,0,0]",
                                       "[1,1,7,0,0,0.0,0,0]",
                                       "[1,1,-1,0,0,0.0,0,0]",
                                       "[1,1]",
                                       "\"x\"",
                                       "[1,1,0,0,0,0.0,9,0]"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue bad = json_deep_copy(saved);
        json_array_append_new(json_object_get(bad, "nodes"),
                              json_loads(rows[i], JSON_DECODE_ANY, NULL));
        assert_int_equal(pons_bt_restore(f.t, bad, NULL), PONS_EINVAL);
        assert_int_equal(pons_bt_root(f.t), PONS_BT_RUNNING);
    }
    json_object_set_new(saved, "bt", json_string("another"));
    assert_int_equal(pons_bt_restore(f.t, saved, NULL), PONS_EINVAL);
    pons_value_unref(saved);
    end(&f);
}

static void reload_keeps_what_runs(void **state)
{
    (void)state;
    fixture f;
    pons_value *faults = NULL;
    begin(&f, "t.xml", XML("<Sequence><Script code=\"x:=1\"/><Act/></Sequence>"));
    tick(f.t);
    assert_int_equal(f.w.calls, 1);
    // More behind what runs: it goes on.
    pons_bt *more = load_text(
        "t.xml", XML("<Sequence><Script code=\"x:=1\"/><Act/><Script code=\"y:=x\"/></Sequence>"),
        f.r, &faults);
    assert_int_equal(pons_bt_reload(f.t, more, f.r, NULL), PONS_OK);
    pons_bt_unref(more);
    assert_int_equal(f.w.halts, 0);
    f.w.answer = PONS_BT_SUCCESS;
    assert_int_equal(tick(f.t), PONS_BT_SUCCESS);
    pons_autovalue board = pons_bt_board(f.t);
    assert_int_equal(pons_get_int(board, "y", 0), 1);
    // Another structure: what runs is halted, the blackboard stays.
    f.w.answer = PONS_BT_RUNNING;
    tick(f.t);
    pons_bt *other = load_text(
        "t.xml", XML("<Inverter><ScriptCondition code=\"x==1\"/></Inverter>"), f.r, &faults);
    assert_int_equal(pons_bt_reload(f.t, other, f.r, NULL), PONS_OK);
    pons_bt_unref(other);
    assert_int_equal(f.w.halts, 1);
    assert_int_equal(tick(f.t), PONS_BT_FAILURE);
    // A definition that cannot work changes nothing.
    pons_bt *bad = load_text("t.xml", XML("<Spin/>"), f.r, &faults);
    assert_int_equal(pons_bt_reload(f.t, bad, f.r, NULL), PONS_ENOTFOUND);
    pons_bt_unref(bad);
    assert_int_equal(tick(f.t), PONS_BT_FAILURE);
    end(&f);
}

static void drawings(void **state)
{
    (void)state;
    fixture f;
    char *text = NULL;
    begin(&f, "t.mdsl",
          "root { sequence while(C) then succeed { action [Act, 1, $x] wait [1, 2] } }");
    assert_int_equal(pons_bt_draw(f.bt, "text", &text, NULL), PONS_OK);
    assert_string_equal(text, "root\n  sequence while(C) then succeed\n    action [Act, 1, $x]\n"
                              "    wait [1, 2]\n");
    free(text);
    assert_int_equal(pons_bt_draw(f.bt, "dot", &text, NULL), PONS_OK);
    assert_non_null(strstr(text, "n1 -> n2"));
    free(text);
    assert_int_equal(pons_bt_draw(f.bt, "png", &text, NULL), PONS_EINVAL);
    end(&f);
}

static void enums_by_name(void **state)
{
    (void)state;
    world w = {0};
    pons_bt_registry *r = registry(&w);
    pons_value *faults = NULL;
    assert_int_equal(pons_bt_register_enum(r, "RED", 3, NULL), PONS_OK);
    assert_int_equal(pons_bt_register_enum(r, "RED", 4, NULL), PONS_EEXIST);
    pons_bt *bt = load_text("t.xml",
                            XML("<Sequence><Script code=\"c:=RED+1\"/><Switch2 variable=\"3\" "
                                "case_1=\"1\" case_2=\"RED\"><AlwaysFailure/><AlwaysSuccess/>"
                                "<AlwaysFailure/></Switch2></Sequence>"),
                            r, &faults);
    assert_non_null(bt);
    pons_bt_tree *t = tree_on(&w, r, bt);
    assert_int_equal(tick(t), PONS_BT_SUCCESS);
    pons_autovalue board = pons_bt_board(t);
    assert_true(pons_get_num(board, "c", 0) == 4.0);
    pons_bt_tree_destroy(t);
    pons_bt_unref(bt);
    pons_bt_registry_destroy(r);
}

static int write_call(void *user, const char *name, const pons_value *args, pons_error *err)
{
    char *text = NULL;
    const long len = args ? pons_value_line(args, &text) : 0;
    assert_true(len >= 0);
    pons_buf_printf(user, "%s%s ", name, text ? text : "");
    free(text);
    return strcmp(name, "bad") == 0 ? pons_error_set(err, PONS_EINVAL, "t", "no bad ones")
                                    : PONS_OK;
}

// Guards, callbacks and leaves, outermost first; a refusal names its node.
static void calls_of_a_definition(void **state)
{
    (void)state;
    static const struct {
        pons_bt_format format;
        const char *text, *calls, *where;
    } table[] = {
        {PONS_BT_MDSL,
         "root entry(e, 1) { sequence while(g) until(h, \"x\") exit(x) { action [a, $p] branch [B] "
         "} }"
         " root [B] { condition [c] step(s) }",
         "e[1] g h[\"x\"] x a[{\"$\":\"p\"}] s c ", ""},
        {PONS_BT_XML,
         "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence><A/><AlwaysSuccess/><B/>"
         "</Sequence></BehaviorTree></root>",
         "A B ", ""},
        {PONS_BT_MDSL, "root { sequence { action [a]\n action [bad] action [b] } }", "a bad ",
         "t:2:2"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const pons_bt_load_options o = {.format = table[i].format, .name = "t", .any_leaf = true};
        pons_bt *bt = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_autobuf got = PONS_BUF_INIT;
        assert_int_equal(pons_bt_load(table[i].text, strlen(table[i].text), &o, &bt, NULL, &err),
                         PONS_OK);
        assert_int_equal(pons_bt_calls(bt, write_call, &got, &err),
                         *table[i].where ? PONS_EINVAL : PONS_OK);
        assert_string_equal(got.data, table[i].calls);
        assert_string_equal(err.source, table[i].where);
        pons_bt_unref(bt);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(ports_and_arguments),
                                       cmocka_unit_test(literal_of_a_registered_port),
                                       cmocka_unit_test(a_leaf_that_nobody_serves),
                                       cmocka_unit_test(result_that_comes_later),
                                       cmocka_unit_test(pause_stops_time),
                                       cmocka_unit_test(save_at_every_tick),
                                       cmocka_unit_test(damaged_saves),
                                       cmocka_unit_test(reload_keeps_what_runs),
                                       cmocka_unit_test(drawings),
                                       cmocka_unit_test(enums_by_name),
                                       cmocka_unit_test(calls_of_a_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
