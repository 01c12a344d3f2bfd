// test_spec_history.c - conformance: checkpoints and history, forks, updates of the state, copies,
// prunes and sizes. Each case quotes its sentence and compares the stored checkpoints.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

static pons_value *history(bed *b, const char *thread, int64_t limit, bool values)
{
    pons_value *list = NULL;
    assert_ok(pons_state_history(b->store, thread, "", limit, values, &list, &b->err));
    return list;
}

// "thread_id + namespace + time-sortable checkpoint id. Metadata {source, step, parents}. History
// newest first."
static void history_is_newest_first(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    for (int i = 0; i < 2; i++) {
        b.time.now_ns += PONS_NS_PER_S;
        pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_DONE));
    }
    pons_autovalue all = history(&b, "t1", 0, false);
    pons_autovalue three = history(&b, "t1", 3, false);
    assert_int_equal(json_array_size(all), 8);
    assert_int_equal(json_array_size(three), 3);
    for (size_t i = 0; i < 8; i++) {
        const pons_value *row = json_array_get(all, i), *older = json_array_get(all, i + 1);
        assert_int_equal(pons_get_int(row, "step", -9), 6 - (int)i);
        assert_string_equal(pons_get_str(row, "source", ""), i == 3 || i == 7 ? "input" : "loop");
        assert_json(pons_get(row, "parents"), "{}");
        if (i < 3) {
            assert_true(json_equal((pons_value *)(uintptr_t)row, json_array_get(three, i)));
        }
        if (!older) {
            continue;
        }
        assert_string_equal(pons_get_str(row, "parent_id", ""),
                            pons_get_str(older, "checkpoint_id", "?"));
        assert_true(strcmp(pons_get_str(row, "checkpoint_id", ""),
                           pons_get_str(older, "checkpoint_id", "")) > 0);
        assert_true(pons_get_int(row, "ts_ms", 0) >= pons_get_int(older, "ts_ms", 0));
    }
    assert_json(pons_get(json_array_get(all, 7), "parent_id"), "null");
    pons_graph_destroy(g);
    bed_close(&b);
}

static pons_run *fork_to(bed *b, const pons_graph *g, int64_t step, const char *input,
                         pons_run_state want)
{
    char at[32];
    pons_run *r = NULL;
    pons_autovalue in = input ? json(input) : NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    spec_checkpoint_at(b, "", step, at);
    if (pons_run_fork(b->t, g, "", at, in, &o, &r, &b->err) != PONS_OK) {
        fail_msg("fork: %s", b->err.message);
    }
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), want);
    return r;
}

// "Running from an older checkpoint writes a fork and reruns; its old resume values are dropped so
// interrupts fire again; the head checkpoint id plus a resume is a resume."
static void a_fork_asks_again(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {
            {"a", "put log 'a'", "ask"}, {"ask", "ask 'one?'; ask 'two?'", "END"}, {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED);
        spec_answer(&b, r, "1", PONS_RUN_INTERRUPTED);
        char first[64], again[64];
        spec_pending(r, 0, first);
        pons_run_destroy(r);
        if (reopen) {
            bed_thread(&b);
        }
        // The head's id: the first answer is still there.
        r = fork_to(&b, g, 1, NULL, PONS_RUN_INTERRUPTED);
        spec_pending(r, 0, again);
        assert_string_equal(first, again);
        spec_answer(&b, r, "2", PONS_RUN_DONE);
        pons_run_destroy(r);
        // An older one: both are asked again, under new ids, and a is not run again.
        if (reopen) {
            bed_thread(&b);
        }
        r = fork_to(&b, g, 1, NULL, PONS_RUN_INTERRUPTED);
        spec_pending(r, 0, again);
        assert_string_not_equal(first, again);
        spec_answer(&b, r, "3", PONS_RUN_INTERRUPTED);
        spec_answer(&b, r, "4", PONS_RUN_DONE);
        pons_run_destroy(r);
        assert_int_equal(n[0].runs, 1);
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                         "[1,'loop',['ask'],{'log':['a']}],[2,'loop',[],{'log':['a',1,2]}],"
                         "[2,'fork',['ask'],{'log':['a']}],[3,'loop',[],{'log':['a',3,4]}]]");
        pons_autovalue all = history(&b, "t1", 0, false);
        assert_string_equal(pons_get_str(json_array_get(all, 1), "parent_id", ""),
                            pons_get_str(json_array_get(all, 3), "checkpoint_id", "?"));
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// A fork with an input is a new invocation on the older state.
static void a_fork_with_an_input(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_destroy(spec_run(&b, g, "{'log':'in'}", 0, PONS_RUN_DONE));
    pons_run_destroy(fork_to(&b, g, 1, "{'log':'new'}", PONS_RUN_DONE));
    spec_state(&b, "", "{'log':['in','a','new','a','b']}");
    pons_graph_destroy(g);
    bed_close(&b);
}

// A fork of an input's checkpoint, which has what was before it, runs that input again; also of the
// second of two.
static void a_fork_of_an_input(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_destroy(spec_run(&b, g, "{'log':'one'}", 0, PONS_RUN_DONE));
    pons_run_destroy(spec_run(&b, g, "{'log':'two'}", 0, PONS_RUN_DONE));
    pons_run_destroy(fork_to(&b, g, 3, NULL, PONS_RUN_DONE));
    spec_state(&b, "", "{'log':['one','a','b','two','a','b']}");
    pons_run_destroy(fork_to(&b, g, -1, NULL, PONS_RUN_DONE));
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'log':['one']}],"
                     "[1,'loop',['b'],{'log':['one','a']}],[2,'loop',[],{'log':['one','a','b']}],"
                     "[3,'input',['__start__'],{'log':['one','a','b']}],"
                     "[4,'loop',['a'],{'log':['one','a','b','two']}],"
                     "[5,'loop',['b'],{'log':['one','a','b','two','a']}],"
                     "[6,'loop',[],{'log':['one','a','b','two','a','b']}],"
                     "[5,'fork',['a'],{'log':['one','a','b','two']}],"
                     "[6,'loop',['b'],{'log':['one','a','b','two','a']}],"
                     "[7,'loop',[],{'log':['one','a','b','two','a','b']}],"
                     "[1,'fork',['a'],{'log':['one']}],[2,'loop',['b'],{'log':['one','a']}],"
                     "[3,'loop',[],{'log':['one','a','b']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "update_state(values, as_node) runs that node's routers; default as_node = last writer, a tie is
// an error." What is next follows from whom the update speaks for.
static void updates_speak_for_a_node(void **state)
{
    (void)state;
    static const struct {
        const char *as;
        int status;
        const char *want;
    } cases[] = {
        {"a", 0, "[2,'update',['x'],{'log':['a','told'],'last':'x'}]"},
        {NULL, 0, "[2,'update',['x'],{'log':['a','told'],'last':'x'}]"},
        {"b", 0, "[2,'update',['z'],{'log':['a','told'],'last':'x'}]"},
        {PONS_START, 0, "[3,'update',['a'],{'log':['a','told'],'last':'x'}]"},
        {PONS_END, PONS_EINVAL, NULL}, // which writes nothing
        {"nobody", PONS_EINVAL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", "put log 'a'; put last 'b'", "", "b,x"},
                         {"b", "put log 'b'; ask '?'", "z"},
                         {"x", "put log 'x'", "END"},
                         {"z", "put log 'z'", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED));
        pons_autovalue v = json("{'log':'told','last':'x'}");
        char id[32];
        assert_int_equal(pons_state_update(b.t, g, "", v, cases[i].as, id, &b.err),
                         cases[i].status);
        static const char before[] = "[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                                     "[1,'loop',['b'],{'log':['a'],'last':'b'}]";
        char want[512];
        snprintf(want, sizeof want, cases[i].status ? "[%s]" : "[%s,%s]", before, cases[i].want);
        spec_checkpoints(&b, "", want);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// The last writer in every durability, and after forks and updates; several are a tie.
static void the_last_writer_is_known(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++) {
        for (int reopen = 0; reopen < 2; reopen++) {
            bed b;
            bed_open(&b);
            spec_node n[] = {{"a", "put log 'a'", "b"},
                             {"b", "put log 'b'", "c"},
                             {"c", "ask '?'", "END"},
                             {NULL}};
            pons_graph *g = spec_compile(&(spec_graph){"a", n});
            pons_run *r = NULL;
            pons_run_options o = {.durability = (pons_durability)d};
            assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
            assert_ok(pons_run_advance(r, &b.err));
            pons_run_destroy(r);
            if (reopen) {
                bed_thread(&b);
            }
            pons_autovalue v = json("{'log':'told'}");
            for (int i = 0; i < 2; i++) { // as b each time: c is next
                assert_ok(pons_state_update(b.t, g, "", v, NULL, NULL, &b.err));
            }
            pons_autovalue all = history(&b, "t1", 1, true);
            assert_json(pons_get(json_array_get(all, 0), "next"), "['c']");
            assert_json(pons_get(json_array_get(all, 0), "values"),
                        "{'log':['a','b','told','told']}");
            pons_graph_destroy(g);
            bed_close(&b);
        }
    }
    bed b;
    bed_open(&b);
    spec_node n[] = {
        {"a", "put log 'a'", "c"}, {"b", "put log 'b'", "c"}, {"c", "ask '?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b", n});
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED));
    pons_autovalue v = json("{'log':'told'}");
    assert_int_equal(pons_state_update(b.t, g, "", v, NULL, NULL, &b.err), PONS_EAMBIGUOUS);
    assert_ok(pons_state_update(b.t, g, "", v, "a", NULL, &b.err));
    assert_ok(pons_state_update(b.t, g, "", v, NULL, NULL, &b.err)); // an update has one writer
    spec_state(&b, "", "{'log':['a','b','told','told']}");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "Copy, delete, prune (keep last n or since t), and a size report per thread."
typedef struct sizes {
    int64_t checkpoints, bytes;
    bool found;
} sizes;

static int size_row(void *user, const pons_thread_info *info)
{
    sizes *s = user;
    if (strcmp(info->thread, "copy") == 0) {
        *s = (sizes){info->checkpoints, info->bytes, true};
    }
    return 0;
}

static void copies_prunes_and_sizes(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'; goto a", ""}, {NULL}};
    pons_graph *g =
        spec_compile(&(spec_graph){"a", n, .opts = &(pons_graph_options){.recursion_limit = 200}});
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_FAILED)); // 200 steps
    assert_ok(pons_state_copy(b.store, "t1", "copy", &b.err));
    assert_int_equal(pons_state_copy(b.store, "t1", "copy", &b.err), PONS_EEXIST);
    assert_int_equal(pons_state_copy(b.store, "none", "other", &b.err), PONS_ENOTFOUND);
    pons_autovalue from = history(&b, "t1", 0, true);
    pons_autovalue to = history(&b, "copy", 0, true);
    assert_true(json_equal(from, to));
    assert_int_equal(json_array_size(to), 202);
    sizes before = {0}, after = {0};
    assert_ok(b.store.ops->threads(b.store.self, size_row, &before, &b.err));
    assert_int_equal(before.checkpoints, 202);
    int64_t removed = 0;
    assert_ok(pons_state_prune(b.store, "copy", 1, 0, &removed, &b.err));
    assert_true(removed > 100);
    assert_ok(b.store.ops->threads(b.store.self, size_row, &after, &b.err));
    assert_int_equal(after.checkpoints, 202 - removed);
    assert_true(after.bytes < before.bytes);
    pons_autovalue left = history(&b, "copy", 0, true); // what is there reads as before
    for (size_t i = 0; i < json_array_size(left); i++) {
        assert_true(json_equal(json_array_get(left, i), json_array_get(to, i)));
    }
    assert_int_equal(pons_state_prune(b.store, "copy", -1, 0, &removed, &b.err), PONS_EINVAL);
    assert_ok(b.store.ops->thread_delete(b.store.self, "copy", &b.err));
    after.found = false;
    assert_ok(b.store.ops->threads(b.store.self, size_row, &after, &b.err));
    assert_false(after.found);
    assert_int_equal(b.store.ops->thread_delete(b.store.self, "t1", &b.err), PONS_EBUSY);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_is_newest_first),  cmocka_unit_test(a_fork_asks_again),
        cmocka_unit_test(a_fork_with_an_input),     cmocka_unit_test(a_fork_of_an_input),
        cmocka_unit_test(updates_speak_for_a_node), cmocka_unit_test(the_last_writer_is_known),
        cmocka_unit_test(copies_prunes_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
