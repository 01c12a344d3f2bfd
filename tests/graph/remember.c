// remember.c - see remember.h.
#include "graph/remember.h"

#include "graph/place.h"
#include "pons/items.h"

#include <stdio.h>
#include <string.h>

static pons_items outside(const bed *b)
{
    return (pons_items){.store = b->store, .clock = b->clock};
}

// "key=n key=n …" under a namespace, as everybody else sees it.
static void assert_items(const bed *b, const char *ns, const char *want)
{
    const pons_items it = outside(b);
    pons_value *list = NULL, *item;
    char have[256] = "";
    size_t i, n = 0;
    assert_ok(pons_items_search(&it, &(pons_items_query){.prefix = ns, .limit = -1}, &list, NULL));
    json_array_foreach(list, i, item) {
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s=%d", i ? " " : "",
                              pons_get_str(item, "key", ""),
                              (int)pons_get_int(pons_get(item, "value"), "n", -1));
    }
    pons_value_unref(list);
    assert_string_equal(have, want);
}

static int put(pons_cx *cx, const char *key, int n, pons_error *err)
{
    pons_autovalue v = pons_object_whole("n", json_integer(n), "text", json_string(key), NULL);
    return pons_cx_item_put(cx, "mem.robot", key, v, NULL, err);
}

// What this node sees under a key, as a write to "log".
static int note(pons_cx *cx, const char *key, pons_error *err)
{
    const pons_value *item = NULL;
    int st = pons_cx_item_get(cx, "mem.robot", key, &item, err);
    if (st != PONS_OK && st != PONS_ENOTFOUND) {
        return st;
    }
    return pons_cx_put(cx, "log",
                       item ? pons_value_ref(pons_get(pons_get(item, "value"), "n"))
                            : json_string("nothing"));
}

static pons_graph *two_steps(pons_node_fn first, pons_node_fn sibling, pons_node_fn second,
                             void *user)
{
    pons_graph_builder *gb = pons_graph_builder_create("two");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "first", first, user);
    pons_graph_node(gb, "second", second, user);
    pons_graph_edge(gb, PONS_START, "first");
    pons_graph_edge(gb, "first", "second");
    pons_graph_edge(gb, "second", PONS_END);
    if (sibling) {
        pons_graph_node(gb, "sibling", sibling, user);
        pons_graph_edge(gb, PONS_START, "sibling");
        pons_graph_edge(gb, "sibling", PONS_END);
    }
    return compile(gb, NULL);
}

static int writes(pons_cx *cx, void *user, pons_error *err)
{
    bed *b = user;
    int st = put(cx, "a", 1, err);
    st = st ? st : put(cx, "b", 2, err);
    st = st ? st : note(cx, "a", err); // its own
    st = st ? st : put(cx, "a", 3, err);
    st = st ? st : note(cx, "a", err);
    assert_items(b, "mem", ""); // nobody else's yet
    return st;
}

static int looks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    return note(cx, "a", err);
}

static int goes_on(pons_cx *cx, void *user, pons_error *err)
{
    bed *b = user;
    const pons_value *found = NULL;
    assert_items(b, "mem", "a=3 b=2");
    int st = note(cx, "a", err);
    st = st ? st : pons_cx_item_delete(cx, "mem.robot", "b", err);
    st = st ? st : note(cx, "b", err);
    st = st ? st : put(cx, "c", 4, err);
    st = st ? st : pons_cx_item_search(cx, &(pons_items_query){.query = "a b c"}, &found, err);
    return st ? st : pons_cx_put(cx, "log", json_integer((json_int_t)json_array_size(found)));
}

static void test_with_the_step(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = two_steps(writes, looks, goes_on, &p.b);
    pons_run *r = run_to(&p.b, g, "", "{}", PONS_RUN_DONE);
    assert_items(&p.b, "mem", "a=3 c=4");
    assert_json(pons_run_get(r, "log"), "[1,3,'nothing',3,'nothing',2]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- between ------------------------------------------------------------------------------------

static int asks(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    (void)user;
    int st = put(cx, "asked", 5, err); // written anew each time it is run
    return st ? st : pons_interrupt(cx, json_string("ok?"), &answer, err);
}

static int writes_one(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    return put(cx, "done", 6, err);
}

static int nothing(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    (void)err;
    return PONS_OK;
}

// A sibling has finished and waits: its item waits with it, also for another process.
static void test_waits_with_its_step(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = two_steps(asks, writes_one, nothing, &p.b);
    pons_run *r = run_to(&p.b, g, "", "{}", PONS_RUN_INTERRUPTED);
    assert_items(&p.b, "mem", "");
    pons_run_destroy(r);
    bed_thread(&p.b); // as another process
    r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
    assert_items(&p.b, "mem", "");
    pons_value *yes = json_string("yes");
    assert_ok(pons_run_resume_value(r, yes, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_items(&p.b, "mem", "asked=5 done=6");
    pons_value_unref(yes);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static int fails_once(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    int st = put(cx, pons_cx_attempt(cx) == 1 ? "lost" : "kept", 7, err);
    return st                         ? st
           : pons_cx_attempt(cx) == 1 ? pons_error_set(err, PONS_EIO, "test", "not now")
                                      : PONS_OK;
}

static void test_a_failed_attempt_writes_nothing(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph_builder *gb = pons_graph_builder_create("again");
    pons_graph_node(gb, "a", fails_once, NULL);
    pons_graph_node_options(gb, "a", &(pons_node_options){.retry = {.attempts = 2}});
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&p.b, g, "", "{}", PONS_RUN_DONE);
    assert_items(&p.b, "mem", "kept=7");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static int counts(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const int n = (int)json_array_size(pons_cx_get(cx, "log")) + 1;
    int st = put(cx, "count", n, err);
    return st ? st : pons_cx_put(cx, "log", json_integer(n));
}

static int on(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_array_size(pons_cx_get(cx, "log")) < 6 ? "count" : PONS_END);
    return PONS_OK;
}

static pons_graph *counting(void)
{
    static const char *const targets[] = {"count", PONS_END, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("counting");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "count", counts, NULL);
    pons_graph_edge(gb, PONS_START, "count");
    pons_graph_router(gb, "count", on, NULL, targets);
    return compile(gb, NULL);
}

// The process dies at each commit: the item says what the newest checkpoint says, never more or less,
// and the next process goes on from both.
static void test_killed_at_every_commit(void **state)
{
    static const pons_durability ways[] = {PONS_DURABILITY_SYNC, PONS_DURABILITY_ASYNC,
                                           PONS_DURABILITY_EXIT};
    pons_graph *g = counting();
    for (size_t w = 0; w < 3; w++) {
        bool died = true;
        for (int left = 0; died; left++) {
            place p;
            open_place(&p, state);
            bed *b = &p.b;
            fuse f = {.inner = p.store, .left = left};
            pons_value *values = NULL, *item = NULL;
            b->store = fuse_store(&f);
            bed_thread(b);
            const pons_run_options opts = {.durability = ways[w]};
            pons_run *r = NULL;
            int st = pons_run_start(b->t, g, "", NULL, &opts, &r, &b->err);
            st = st ? st : pons_run_advance(r, &b->err);
            died = f.dead;
            pons_run_destroy(r);
            f.dead = false;
            f.left = -1;
            pons_thread_close(b->t);
            b->t = NULL;
            const pons_items it = {.store = f.inner, .clock = b->clock};
            const int there = pons_items_get(&it, "mem.robot", "count", &item, NULL);
            const int head = pons_state_read(f.inner, "t1", "", &values, &b->err);
            const size_t steps = json_array_size(pons_get(values, "log"));
            assert_true(head == PONS_OK || head == PONS_ENOTFOUND);
            assert_int_equal(there, steps ? PONS_OK : PONS_ENOTFOUND);
            assert_int_equal(steps ? pons_get_int(pons_get(item, "value"), "n", -1) : 0, steps);
            pons_value_unref(values);
            pons_value_unref(item);
            bed_thread(b);
            if (head == PONS_OK) {
                r = resume_to(b, g, "", PONS_RUN_DONE);
                pons_run_destroy(r);
                assert_ok(pons_items_get(&it, "mem.robot", "count", &item, NULL));
                assert_int_equal(pons_get_int(pons_get(item, "value"), "n", -1), 6);
                pons_value_unref(item);
            }
            close_place(&p);
        }
    }
    pons_graph_destroy(g);
}

// ---- what can't be ------------------------------------------------------------------------------

static int puts_badly(pons_cx *cx, void *user, pons_error *err)
{
    pons_autovalue v = json_object();
    return pons_cx_item_put(cx, user, "k", v, NULL, err);
}

static void refused(bed *b, const char *ns, const char *why)
{
    pons_graph_builder *gb = pons_graph_builder_create("bad");
    pons_graph_node(gb, "a", puts_badly, (void *)(uintptr_t)ns);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(b, g, "", "{}", PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, why));
    pons_run_destroy(r);
    pons_graph_destroy(g);
}

static void test_refused(void **state)
{
    place p;
    open_place(&p, state);
    refused(&p.b, "", "needs a namespace");
    refused(&p.b, "a..b", "is empty");
    refused(&p.b, "langgraph.x", "is not 'langgraph'");
    close_place(&p);
    bed b;
    bed_open_without_store(&b);
    refused(&b, "a", "has no items");
    bed_close(&b);
}

int remember_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_the_step),
        cmocka_unit_test(test_waits_with_its_step),
        cmocka_unit_test(test_a_failed_attempt_writes_nothing),
        cmocka_unit_test(test_killed_at_every_commit),
        cmocka_unit_test(test_refused),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
