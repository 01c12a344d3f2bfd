// edits.c - see edits.h.
//
// The graph is a, b, c. It waits at b: for an answer, at a breakpoint, for an answer inside the
// subgraph that b is (fresh, or with a state of its own), or after b's failure. A row says what a
// change from outside, and then a resume or an answer by another process, make of it: how the run
// stands, the channel "log", the channel "x". It is what LangGraph 1.2.24 does with the same graph,
// but where a cell has a second part, which is LangGraph's: pons gives no answer to what has not been
// asked, as somebody's yes would be given to a question that nobody had seen.
#include "graph/edits.h"

#include "graph/place.h"
#include "pons/buf.h"

#include <stdio.h>
#include <string.h>

typedef enum wait { ASKS, STOP, SUB, OWN, FAIL, WAITS } wait_at;
static const char *const waits[WAITS] = {"asks", "stop", "sub", "own", "fail"};

static bool broken;
static char to_log[] = "log", to_x[] = "x";

static int asks(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    const int st = pons_interrupt(cx, json_string("ok?"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, user, pons_value_ref(answer)) : st;
}

static int breaks(pons_cx *cx, void *user, pons_error *err)
{
    return broken ? pons_error_set(err, PONS_EIO, "test", "broken") : node_log(cx, user, err);
}

static int marks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    char text[64];
    const char *was = json_string_value(pons_cx_get(cx, "x"));
    snprintf(text, sizeof text, "%s!", was ? was : "");
    return pons_cx_put(cx, "x", json_string(text));
}

static pons_graph *inner(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "x", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "s1", marks, NULL);
    pons_graph_node(gb, "s2", asks, to_x);
    pons_graph_node(gb, "s3", marks, NULL);
    pons_graph_edge(gb, PONS_START, "s1");
    pons_graph_edge(gb, "s1", "s2");
    pons_graph_edge(gb, "s2", "s3");
    pons_graph_edge(gb, "s3", PONS_END);
    return compile(gb, NULL);
}

static pons_graph *outer(wait_at at, const pons_graph *in)
{
    static const char *const before[] = {"b", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "x", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "c", node_log, NULL);
    if (at == SUB || at == OWN) {
        pons_graph_subgraph(gb, "b", in, at == OWN ? PONS_SUBGRAPH_OWN : PONS_SUBGRAPH_INHERIT);
    } else {
        pons_graph_node(gb, "b", at == ASKS ? asks : at == FAIL ? breaks : node_log, to_log);
    }
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", "c");
    pons_graph_edge(gb, "c", PONS_END);
    pons_graph_options o = PONS_GRAPH_OPTIONS_INIT;
    o.interrupt_before = at == STOP ? before : NULL;
    return compile(gb, &o);
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct row {
    const char *change;
    const char *resume[WAITS], *answer[WAITS];
} row;
static const row rows[] = {
    // clang-format off: a cell a state, as in waits
    {"nothing",
     {"asks a", "done a,b,c", "asks a", "asks a", "done a,b,c"},
     {"done a,yes,c", "done a,b,c", "done a,c yes!", "done a,c yes!", "not_pending; done a,b,c"}},
    {"update",
     {"asks a,u", "done a,u,b,c", "asks a,u", "asks a,u", "done a,u,b,c"},
     {"done a,u,yes,c", "done a,u,b,c", "done a,u,c yes!", "done a,u,c yes!", "done a,u,b,c"}},
    {"update as a",
     {"asks a,u", "done a,u,b,c", "asks a,u", "asks a,u", "done a,u,b,c"},
     {"done a,u,yes,c", "done a,u,b,c", "done a,u,c yes!", "done a,u,c yes!", "done a,u,b,c"}},
    {"update as b",
     {"done a,u,c", "done a,u,c", "done a,u,c", "done a,u,c", "done a,u,c"},
     {"done a,u,c", "done a,u,c", "done a,u,c", "done a,u,c", "done a,u,c"}},
    {"update as START",
     {"asks a,u,a", "stopped a,u,a", "asks a,u,a", "asks a,u,a", "done a,u,a,b,c"},
     {"asks a,u,a", "stopped a,u,a", "asks a,u,a", "asks a,u,a", "done a,u,a,b,c"}},
    {"update inside",
     {NULL, NULL, "asks a", "asks a", NULL},
     {NULL, NULL, "done a,c yes!", "done a,c yes!", NULL}},
    {"update inside as s2",
     {NULL, NULL, "done a,c u!", "done a,c u!", NULL},
     {NULL, NULL, "done a,c u!", "done a,c u!", NULL}},
    {"bulk update",
     {"asks a,u,v", "done a,u,v,b,c", "asks a,u,v", "asks a,u,v", "done a,u,v,b,c"},
     {"done a,u,v,yes,c", "done a,u,v,b,c", "done a,u,v,c yes!", "done a,u,v,c yes!",
      "done a,u,v,b,c"}},
    {"fork of the head",
     {"asks a", "done a,b,c", "asks a", "asks a", "done a,b,c"},
     {"done a,yes,c", "done a,b,c", "done a,c yes!", "done a,c yes!", "not_pending; done a,b,c"}},
    {"fork of the input",
     {"asks a", "stopped a", "asks a", "asks a", "done a,b,c"},
     {"not_pending; asks a", "not_pending; stopped a", "not_pending; asks a", "not_pending; asks a",
      "not_pending; done a,b,c"}},
    {"answer",
     {"done a,yes,c", "done a,b,c", "done a,c yes!", "done a,c yes!", "not_pending; done a,b,c"},
     {"not found; done a,yes,c", "not found; done a,b,c", "not found; done a,c yes!",
      "not found; done a,c yes!", "not_pending; done a,b,c"}},
    {"resume",
     {"asks a", "done a,b,c", "asks a", "asks a", "done a,b,c"},
     {"done a,yes,c", "not found; done a,b,c", "done a,c yes!", "done a,c yes!",
      "not found; done a,b,c"}},
    {"input",
     {"asks a,i,a", "done a,i,a,b,c", "asks a,i,a", "asks a,i,a", "done a,i,a,b,c"},
     {"done a,i,a,yes,c", "done a,i,a,b,c", "done a,i,a,c yes!", "done a,i,a,c yes!",
      "not found; done a,i,a,b,c"}},
    {"cancel",
     {"asks a", "done a,b,c", "asks a", "asks a", "done a,b,c"},
     {"done a,yes,c", "done a,b,c", "done a,c yes!", "done a,c yes!", "not_pending; done a,b,c"}},
    {"copy",
     {"asks a", "done a,b,c", "asks a", "asks a", "done a,b,c"},
     {"done a,yes,c", "done a,b,c", "done a,c yes!", "done a,c yes!", "not_pending; done a,b,c"}},
    {"delete",
     {"not found; EmptyInputError", "not found; EmptyInputError", "not found; EmptyInputError",
      "not found; EmptyInputError", "not found; EmptyInputError"},
     {"not found; asks a", "not found; stopped a", "not found; asks a", "not found; asks a",
      "not found; done a,b,c"}},
    // clang-format on
};

static int inner_ns(void *user, const char *ns)
{
    if (ns[0]) {
        snprintf(user, 200, "%s", ns);
    }
    return 0;
}

static int change(bed *b, pons_graph *g, const pons_graph *in, const char *what, pons_run **ret)
{
    pons_autovalue u = json("{'log':'u'}");
    pons_autovalue v = json("{'log':'v'}");
    pons_autovalue x = json("{'x':'u'}");
    pons_autovalue i = json("{'log':'i'}");
    pons_autovalue yes = json("'yes'");
    char id[32] = "";
    pons_autovalue list = NULL;
    int rc = PONS_OK;
    size_t k;
    if (strcmp(what, "update") == 0) {
        rc = pons_state_update(b->t, g, "", u, NULL, NULL, &b->err);
    } else if (strncmp(what, "update as ", 10) == 0) {
        const char *as = strcmp(what + 10, "START") == 0 ? PONS_START : what + 10;
        rc = pons_state_update(b->t, g, "", u, as, NULL, &b->err);
    } else if (strncmp(what, "update inside", 13) == 0) {
        char ns[200] = "";
        assert_ok(b->store.ops->namespaces(b->store.self, "t1", inner_ns, ns, &b->err));
        rc = pons_state_update(b->t, in, ns, x, what[13] ? "s2" : NULL, NULL, &b->err);
    } else if (strcmp(what, "bulk update") == 0) {
        pons_state_change one[] = {{u, "a"}}, two[] = {{v, "a"}};
        rc = pons_state_update_bulk(b->t, g, "", (pons_state_step[]){{one, 1}, {two, 1}}, 2, NULL,
                                    &b->err);
    } else if (strncmp(what, "fork", 4) == 0) {
        assert_ok(pons_state_history(b->store, "t1", "", 0, false, &list, &b->err));
        k = strcmp(what, "fork of the head") == 0 ? 0 : json_array_size(list) - 1;
        const pons_value *at = json_array_get(list, k);
        snprintf(id, sizeof id, "%s", pons_get_str(at, "checkpoint_id", ""));
        rc = pons_run_fork(b->t, g, "", id, NULL, NULL, ret, &b->err);
    } else if (strcmp(what, "answer") == 0 || strcmp(what, "resume") == 0) {
        rc = *what == 'a'
                 ? pons_run_command(b->t, g, "", &(pons_command){.resume = yes}, NULL, ret, &b->err)
                 : pons_run_resume(b->t, g, "", NULL, ret, &b->err);
        rc = rc == PONS_OK ? pons_run_advance(*ret, &b->err) : rc;
        pons_run_destroy(*ret);
        *ret = NULL;
    } else if (strcmp(what, "input") == 0) {
        rc = pons_run_start(b->t, g, "", i, NULL, ret, &b->err);
        rc = rc == PONS_OK ? pons_run_advance(*ret, &b->err) : rc;
        pons_run_destroy(*ret);
        *ret = NULL;
    } else if (strcmp(what, "cancel") == 0) {
        rc = pons_run_resume(b->t, g, "", NULL, ret, &b->err);
        if (rc == PONS_OK) {
            pons_run_cancel(*ret, PONS_CANCEL_INTERRUPT);
            (void)pons_run_advance(*ret, &b->err);
            pons_run_destroy(*ret);
            *ret = NULL;
        }
    } else if (strcmp(what, "delete") == 0) {
        pons_thread_close(b->t);
        b->t = NULL;
        rc = b->store.ops->thread_delete(b->store.self, "t1", &b->err);
        bed_thread(b);
    } else if (strcmp(what, "copy") == 0) {
        rc = pons_state_copy(b->store, "t1", "t2", &b->err);
        pons_thread_options o = {.clock = b->clock, .seed = 3};
        pons_thread_close(b->t);
        b->t = NULL;
        rc = rc == PONS_OK ? pons_thread_open(b->store, "t2", &o, &b->t, &b->err) : rc;
    }
    return rc;
}

static const char *status_of(const pons_run *r)
{
    pons_autovalue pending = pons_run_pending(r);
    switch (pons_run_state_get(r)) {
    case PONS_RUN_DONE:
        return "done";
    case PONS_RUN_FAILED:
        return "failed";
    default:
        return json_array_size(pending) ? "asks" : "stopped";
    }
}

static void outcome(const void *state, wait_at at, const char *what, bool answers, char *ret,
                    size_t cap)
{
    place p;
    void *kind = (void *)(uintptr_t)state;
    open_place(&p, &kind);
    bed *b = &p.b;
    pons_graph *in = inner(), *g = outer(at, in);
    pons_autovalue yes = json("'yes'");
    pons_run *r = NULL;
    broken = at == FAIL;
    assert_ok(pons_run_start(b->t, g, "", NULL, NULL, &r, &b->err));
    (void)pons_run_advance(r, &b->err);
    pons_run_destroy(r);
    r = NULL;
    broken = false;
    bed_thread(b); // another process
    int rc = change(b, g, in, what, &r);
    if (rc == PONS_OK && !r && strcmp(what, "copy") != 0) {
        bed_thread(b);
    }
    if (rc == PONS_OK && answers) {
        rc = r ? pons_run_resume_value(r, yes, &b->err)
               : pons_run_command(b->t, g, "", &(pons_command){.resume = yes}, NULL, &r, &b->err);
    } else if (rc == PONS_OK && !r) {
        rc = pons_run_resume(b->t, g, "", NULL, &r, &b->err);
    }
    if (rc == PONS_OK) {
        (void)pons_run_advance(r, &b->err);
        pons_buf text = PONS_BUF_INIT;
        const pons_value *log = pons_run_get(r, "log"), *x = pons_run_get(r, "x"), *v;
        size_t i;
        pons_buf_printf(&text, "%s ", status_of(r));
        json_array_foreach((pons_value *)(uintptr_t)log, i, v) {
            pons_buf_printf(&text, "%s%s", i ? "," : "", json_string_value(v));
        }
        if (x) {
            pons_buf_printf(&text, " %s", json_string_value(x));
        }
        snprintf(ret, cap, "%.*s", (int)text.len, text.data);
        pons_buf_fini(&text);
    } else {
        snprintf(ret, cap, "%s", pons_status_word(rc));
    }
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    close_place(&p);
}

static void each_change(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int at = 0; at < WAITS; at++) {
            for (int answers = 0; answers < 2; answers++) {
                const char *want = (answers ? rows[i].answer : rows[i].resume)[at];
                char is[200];
                if (!want) {
                    continue;
                }
                outcome(*state, (wait_at)at, rows[i].change, answers, is, sizeof is);
                if (strncmp(is, want, strcspn(want, ";")) != 0 ||
                    strlen(is) != strcspn(want, ";")) {
                    printf("%s, %s, then %s: %s, and not %s\n", waits[at], rows[i].change,
                           answers ? "an answer" : "a resume", is, want);
                    wrong++;
                }
            }
        }
    }
    assert_int_equal(wrong, 0);
}

int edits_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_change, (void *)(uintptr_t)kind),
    };
    return cmocka_run_group_tests_name(kind->name, tests, NULL, NULL);
}
