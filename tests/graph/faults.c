#include "graph/faults.h"

#include "graph/place.h"
#include "graph/spec.h"
#include "pons/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void update(bed *b, const pons_graph *g, const char *values, const char *as)
{
    pons_autovalue v = values ? json(values) : NULL;
    if (pons_state_update(b->t, g, "", v, as, NULL, &b->err) != PONS_OK) {
        fail_msg("update: %s", b->err.message);
    }
}

// ---- subgraphs ----------------------------------------------------------------------------------

// The argument of a Send is the subgraph's input; parallel ones work in every mode.
static void a_send_to_a_subgraph_brings_its_argument(void **state)
{
    for (int mode = 0; mode < 3; mode++) {
        place p;
        open_place(&p, state);
        bed *b = &p.b;
        spec_node in[] = {{"see", "see last", "END"}, {NULL}};
        pons_graph *sub = spec_compile(&(spec_graph){"see", in});
        spec_node n[] = {{"split", "send sub {'last':1}; send sub {'last':2,'ghost':0}", ""},
                         {"sub", NULL, "END", .sub = sub, .mode = (pons_subgraph_mode)mode},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"split", n});
        for (int run = 0; run < 2; run++) {
            pons_run_destroy(spec_run(b, g, NULL, 0, PONS_RUN_DONE));
        }
        spec_state(b, "", "{'log':[1,2,1,2]}");
        if (mode == PONS_SUBGRAPH_OWN) { // each remembers its own
            spec_state(b, "sub", "{'last':1,'log':[1,1]}");
            spec_state(b, "sub:#1", "{'last':2,'log':[2,2]}");
        }
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        close_place(&p);
    }
}

static void a_send_to_a_subgraph_wants_an_object(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {{"see", "see last", "END"}, {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"see", in});
    spec_node n[] = {{"split", "send sub 7", ""},
                     {"sub", NULL, "END", .sub = sub, .mode = PONS_SUBGRAPH_INHERIT},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"split", n});
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, "'sub'"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    close_place(&p);
}

static void fork_at(place *p, const pons_graph *g, int64_t step, const char *input,
                    pons_run_state want)
{
    bed *b = &p->b;
    char at[32];
    pons_run *r = NULL;
    pons_autovalue in = input ? json(input) : NULL;
    spec_checkpoint_at(b, "", step, at);
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    if (pons_run_fork(b->t, g, "", at, in, &o, &r, &b->err) != PONS_OK) {
        fail_msg("fork: %s", b->err.message);
    }
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), want);
    pons_run_destroy(r);
}

static void remembers(bed *b, int sum)
{
    pons_autovalue v = NULL;
    assert_ok(pons_state_read(b->store, "t1", "sub|deep", &v, &b->err));
    assert_int_equal(pons_get_int(v, "sum", 0), sum);
}

// The child counts its runs: a fork must find the count that belonged to its checkpoint.
static void a_fork_takes_an_own_subgraph_back(void **state)
{
    place p;
    open_place(&p, state);
    bed *b = &p.b;
    spec_node deep[] = {{"more", "put sum 1", "END"}, {NULL}};
    pons_graph *dg = spec_compile(&(spec_graph){"more", deep});
    spec_node in[] = {{"deep", NULL, "count", .sub = dg, .mode = PONS_SUBGRAPH_OWN},
                      {"count", "put obj {'ran':true}", "END"},
                      {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"deep", in});
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "obj", PONS_CHANNEL_REDUCE, pons_reduce_merge);
    pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, NULL);
    for (int run = 0; run < 3; run++) {
        p.b.time.now_ns += PONS_NS_PER_S;
        pons_run_destroy(spec_run(b, g, "{}", 0, PONS_RUN_DONE));
    }
    remembers(b, 6); // 1; then 1 + 1 of the parent's + 1; then 3 + 2 + 1
    // After the first run (step 1): the next input is the second run again.
    fork_at(&p, g, 1, "{}", PONS_RUN_DONE);
    remembers(b, 3);
    // Of that branch's own past, after another process took the thread.
    reopen(&p);
    pons_run_destroy(spec_run(b, g, "{}", 0, PONS_RUN_DONE));
    remembers(b, 6);
    // The first branch's third checkpoint knows nothing of the second branch; before the first run
    // there is nothing at all.
    fork_at(&p, g, 0, NULL, PONS_RUN_DONE);
    remembers(b, 1);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    pons_graph_destroy(dg);
    close_place(&p);
}

// What a subgraph remembers in shared channels stays: the parent's values are folded into it, and
// what it added in this run goes out.
static void an_own_subgraph_remembers_shared_channels(void **state)
{
    place p;
    open_place(&p, state);
    bed *b = &p.b;
    spec_node in[] = {{"work",
                       "put log 'w'; put sum 10; put set ['w']; put obj {'w':1}; "
                       "put msgs {'role':'ai','content':'w','id':'w'}",
                       "END"},
                      {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"work", in});
    spec_node n[] = {
        {"sub", NULL, "after", .sub = sub, .mode = PONS_SUBGRAPH_OWN},
        {"after", "put log {'__overwrite__':['p']}; put sum {'__overwrite__':1}", "END"},
        {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"sub", n});
    pons_run_destroy(spec_run(b, g, NULL, 0, PONS_RUN_DONE));
    spec_state(b, "sub",
               "{'log':['w'],'sum':10,'set':['w'],'obj':{'w':1},"
               "'msgs':[{'role':'ai','content':'w','id':'w'}]}");
    reopen(&p);
    pons_run_destroy(spec_run(b, g, "{'sum':5}", 0, PONS_RUN_DONE));
    // log: w, then p of the parent, then w; sum: 10 + (1 + 5) + 10.
    spec_state(b, "sub",
               "{'log':['w','p','w'],'sum':26,'set':['w'],'obj':{'w':1},"
               "'msgs':[{'role':'ai','content':'w','id':'w'}]}");
    pons_autovalue history = NULL;
    assert_ok(pons_state_history(b->store, "t1", "", 2, true, &history, &b->err));
    // Before "after" overwrites: only what this run added.
    const pons_value *out = pons_get(json_array_get(history, 1), "values");
    assert_json(pons_get(out, "log"), "['p','w']");
    assert_json(pons_get(out, "sum"), "16");
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    close_place(&p);
}

// ---- updates ------------------------------------------------------------------------------------

static pons_graph *siblings(spec_node n[5])
{
    static const spec_node nodes[] = {{"a", "put log 'a'", "b,z"},
                                      {"b", "put log 'b'", "c"},
                                      {"c", "put log 'c'", "END"},
                                      {"z", "ask '?'", "END"},
                                      {NULL}};
    memcpy(n, nodes, sizeof nodes);
    return spec_compile(&(spec_graph){"a", n});
}

static void an_update_as_end_keeps_what_had_finished(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[5];
    pons_graph *g = siblings(n);
    pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED));
    reopen(&p);
    update(&p.b, g, NULL, PONS_END);
    spec_checkpoints(&p.b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                     "[1,'loop',['b','z'],{'log':['a']}],[2,'update',[],{'log':['a','b']}]]");
    pons_run_destroy(spec_resume(&p.b, g, 0, PONS_RUN_DONE));
    assert_int_equal(n[2].runs, 0);
    pons_autovalue v = json("{'log':'lost?'}");
    assert_int_equal(pons_state_update(p.b.t, g, "", v, PONS_END, NULL, &p.b.err), PONS_EINVAL);
    pons_graph_destroy(g);
    close_place(&p);
}

static void an_update_of_several_says_what_it_means(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[5];
    pons_graph *g = siblings(n);
    pons_autovalue v = json("{'log':'x'}");
    const pons_state_change changes[] = {{v, "a"}, {NULL, PONS_END}, {v, PONS_START}, {v, "b"}};
    const pons_state_step bad[][2] = {{{&changes[0], 1}, {NULL, 0}},
                                      {{changes, 2}, {0}},
                                      {{&changes[1], 2}, {0}},
                                      {{&changes[2], 2}, {0}}};
    const size_t lengths[] = {2, 1, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pons_state_update_bulk(p.b.t, g, "", bad[i], lengths[i], NULL, &p.b.err),
                         PONS_EINVAL);
    }
    assert_int_equal(pons_state_update_bulk(p.b.t, g, "", NULL, 0, NULL, &p.b.err), PONS_EINVAL);
    pons_autovalue nothing = NULL;
    assert_int_equal(pons_state_read(p.store, "t1", "", &nothing, &p.b.err), PONS_ENOTFOUND);
    pons_graph_destroy(g);
    close_place(&p);
}

// As in LangGraph: -1 is an input's checkpoint, 0 the one that START made, nodes come from 1.
static void an_update_counts_steps_as_a_run_does(void **state)
{
    static const struct {
        const char *as, *want;
    } cases[] = {{NULL, "[[0,'update',['a'],{'log':['x']}]]"},
                 {PONS_START, "[[0,'update',['a'],{'log':['x']}]]"},
                 {"a", "[[0,'update',['b','z'],{'log':['x']}]]"}};
    for (size_t i = 0; i < 3; i++) {
        place p;
        open_place(&p, state);
        spec_node n[5];
        pons_graph *g = siblings(n);
        update(&p.b, g, "{'log':'x'}", cases[i].as);
        spec_checkpoints(&p.b, "", cases[i].want);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

static void an_edit_before_a_deferred_node_keeps_it(void **state)
{
    static const struct {
        const char *as, *next, *log;
    } cases[] = {{NULL, "['d']", "['a','b','c','x','d']"},
                 {"c", "['d']", "['a','b','c','x','d']"},
                 {"b", "['c','d']", "['a','b','c','x','c','d']"},
                 {"a", "['b']", "['a','b','c','x','b','c','d']"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place p;
        open_place(&p, state);
        static const char *const before[] = {"d", NULL};
        const pons_node_options late = {.deferred = true};
        spec_node n[] = {{"a", "put log 'a'", "b,d"},
                         {"b", "put log 'b'", "c"},
                         {"c", "put log 'c'", "END"},
                         {"d", "put log 'd'", "END", .opts = &late},
                         {NULL}};
        pons_graph *g = spec_compile(
            &(spec_graph){"a", n, .opts = &(pons_graph_options){.interrupt_before = before}});
        pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED));
        reopen(&p);
        update(&p.b, g, "{'log':'x'}", cases[i].as);
        pons_autovalue h = NULL;
        assert_ok(pons_state_history(p.store, "t1", "", 1, false, &h, &p.b.err));
        assert_json(pons_get(json_array_get(h, 0), "next"), cases[i].next);
        pons_run *r = spec_resume(&p.b, g, 0,
                                  i < 3 ? PONS_RUN_DONE : PONS_RUN_INTERRUPTED); // before d again
        pons_run_destroy(r);
        if (i == 3) {
            pons_run_destroy(spec_resume(&p.b, g, 0, PONS_RUN_DONE));
        }
        pons_autovalue s = NULL;
        assert_ok(pons_state_read(p.store, "t1", "", &s, &p.b.err));
        assert_json(pons_get(s, "log"), cases[i].log);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// The same before a node that a join has triggered.
static void an_edit_before_a_join_keeps_it(void **state)
{
    place p;
    open_place(&p, state);
    static const char *const before[] = {"d", NULL};
    spec_node n[] = {
        {"a", "put log 'a'", "b"}, {"b", "put log 'b'", ""}, {"d", "put log 'd'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){
        "a", n, .join = "a+b>d", .opts = &(pons_graph_options){.interrupt_before = before}});
    pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED));
    reopen(&p);
    update(&p.b, g, "{'log':'x'}", NULL);
    reopen(&p);
    update(&p.b, g, "{'log':'y'}", NULL);
    pons_run_destroy(spec_resume(&p.b, g, 0, PONS_RUN_DONE));
    spec_state(&p.b, "", "{'log':['a','b','x','y','d']}");
    pons_graph_destroy(g);
    close_place(&p);
}

// What a fork's input makes is stored before the first node runs, and an input's own checkpoint can
// be gone on from with another input.
static void a_fork_with_an_input_is_stored(void **state)
{
    place p;
    open_place(&p, state);
    static const char *const before[] = {"a", NULL};
    spec_node n[] = {{"a", "put log 'a'", "END"}, {NULL}};
    pons_graph *g = spec_compile(
        &(spec_graph){"a", n, .opts = &(pons_graph_options){.interrupt_before = before}});
    pons_run_destroy(spec_run(&p.b, g, "{'last':1}", 0, PONS_RUN_INTERRUPTED));
    fork_at(&p, g, -1, "{'last':2}", PONS_RUN_INTERRUPTED);
    spec_state(&p.b, "", "{'last':2}");
    pons_run_destroy(spec_resume(&p.b, g, 0, PONS_RUN_DONE));
    spec_state(&p.b, "", "{'last':2,'log':['a']}");
    // Of an input without another one: before its first nodes, as the first time.
    fork_at(&p, g, -1, NULL, PONS_RUN_INTERRUPTED);
    spec_state(&p.b, "", "{'last':1}");
    pons_graph_destroy(g);
    close_place(&p);
}

// An own subgraph that runs in two steps of one run, beside nodes that change its task's place.
static void an_own_subgraph_runs_step_after_step(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {{"more", "put sum 1", "END"}, {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"more", in});
    spec_node n[] = {{"a", "put log 'a'", "sub"},
                     {"b", "put log 'b'", "END"},
                     {"sub", NULL, "END", .sub = sub, .mode = PONS_SUBGRAPH_OWN},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b,sub", n});
    pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_DONE));
    pons_autovalue s = NULL;
    assert_ok(pons_state_read(p.store, "t1", "", &s, &p.b.err));
    assert_json(pons_get(s, "sum"), "2");
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    close_place(&p);
}

// ---- answers ------------------------------------------------------------------------------------

// An answer that comes right after an update goes to the question that is asked next; once, also
// when the process ends in between.
static void an_answer_right_after_an_update(void **state)
{
    for (int crash = 0; crash < 3; crash++) {
        place p;
        open_place(&p, state);
        spec_node n[] = {{"a", "put log 'a'", "z"}, {"z", "ask 1; ask 2", "END"}, {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED));
        update(&p.b, g, "{'log':'u'}", "a");
        pons_autovalue yes = json("'yes'");
        pons_run *r = NULL;
        pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
        assert_ok(pons_run_command(p.b.t, g, "", &(pons_command){.resume = yes}, &o, &r, &p.b.err));
        if (crash == 1) { // it was taken: the next process goes on with it
            pons_run_destroy(r);
            reopen(&p);
            r = spec_resume(&p.b, g, 0, PONS_RUN_INTERRUPTED);
        } else {
            assert_ok(pons_run_advance(r, &p.b.err));
        }
        if (crash == 2) { // the first question has it, and only the first
            pons_run_destroy(r);
            reopen(&p);
            r = spec_resume(&p.b, g, 0, PONS_RUN_INTERRUPTED);
        }
        assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
        pons_autovalue pending = pons_run_pending(r);
        assert_int_equal(json_array_size(pending), 1);
        assert_json(pons_get(json_array_get(pending, 0), "request"), "2");
        spec_answer(&p.b, r, "'then'", PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "['a','u','yes','then']");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

static void what_has_ended_gives_its_state(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put log 'a'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = NULL;
    assert_int_equal(pons_run_resume(p.b.t, g, "", NULL, &r, &p.b.err), PONS_ENOTFOUND);
    pons_run_destroy(spec_run(&p.b, g, NULL, 0, PONS_RUN_DONE));
    reopen(&p);
    json_array_clear(p.b.events);
    r = spec_resume(&p.b, g, SPEC_VALUES | SPEC_UPDATES, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['a']");
    spec_events(&p.b, SPEC_VALUES | SPEC_UPDATES, false, "[['values',{'log':['a']}]]");
    pons_run_destroy(r);
    assert_int_equal(n[0].runs, 1);
    pons_graph_destroy(g);
    close_place(&p);
}

static int ignores_its_question(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    pons_interrupt(cx, json("'well?'"), &answer, err);
    return pons_cx_put(cx, "log", answer ? pons_value_ref(answer) : json_string("nobody asked"));
}

static bool asks_less;
static int asks_twice(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    int st = pons_interrupt(cx, json("1"), &answer, err);
    if (st != PONS_OK || asks_less) {
        return st;
    }
    return pons_interrupt(cx, json("2"), &answer, err);
}

static pons_graph *one(pons_node_fn fn)
{
    pons_graph_builder *gb = pons_graph_builder_create("one");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "sum", PONS_CHANNEL_REDUCE, pons_reduce_add);
    pons_graph_node(gb, "n", fn, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    return compile(gb, NULL);
}

static void a_question_is_asked_whatever_its_node_returns(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = one(ignores_its_question);
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED);
    spec_answer(&p.b, r, "'me'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_state(&p.b, "", "{'log':['me']}");
    pons_graph_destroy(g);
    close_place(&p);
}

static void fewer_calls_than_recorded_are_nondeterminism(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = one(asks_twice);
    asks_less = false;
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED);
    spec_answer(&p.b, r, "1", PONS_RUN_INTERRUPTED);
    asks_less = true; // the second one is recorded, and not asked any more
    pons_run_destroy(r);
    reopen(&p);
    r = spec_resume(&p.b, g, 0, PONS_RUN_INTERRUPTED);
    spec_answer(&p.b, r, "2", PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ENONDETERMINISM);
    assert_non_null(strstr(pons_run_error(r)->message, "call 1 of node 'n'"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

typedef struct received {
    int warnings;
    char last[512];
} received;
static void hear(void *user, const pons_log_record *r)
{
    received *h = user;
    h->warnings += r->level == PONS_LOG_WARN;
    snprintf(h->last, sizeof h->last, "%s", r->message);
}

static int awaits_nobody(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    int st = pons_await(cx, "nobody", json("{}"), 0, &answer, err);
    return st;
}

static void an_await_that_nobody_serves_says_so(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = one(awaits_nobody);
    received h = {0};
    pons_log_configure("graph");
    pons_log_set_sink(hear, &h);
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_PARKED);
    pons_log_set_sink(NULL, NULL);
    pons_log_configure("");
    assert_int_equal(h.warnings, 1);
    assert_non_null(strstr(h.last, "'nobody'"));
    assert_non_null(strstr(h.last, "'n'"));
    char id[64];
    spec_pending(r, 0, id);
    assert_ok(pons_run_answer(r, id, json("1"), &p.b.err)); // the program still can
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- steps --------------------------------------------------------------------------------------

static void a_conflict_names_channel_and_node(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put sum 1", "END"}, {"b", "put sum 'two'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b", n});
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_FAILED);
    const char *m = pons_run_error(r)->message;
    if (!strstr(m, "node 'b'") || !strstr(m, "channel 'sum'") || !strstr(m, "only numbers")) {
        fail_msg("it says: %s", m);
    }
    pons_run_destroy(r);
    pons_autovalue bad = json("{'obj':1}");
    assert_int_equal(pons_state_update(p.b.t, g, "", bad, "a", NULL, &p.b.err), PONS_EINVAL);
    assert_non_null(strstr(p.b.err.message, "channel 'obj'"));
    pons_graph_destroy(g);
    close_place(&p);
}

static void a_stop_is_streamed(void **state)
{
    for (int after = 0; after < 2; after++) {
        place p;
        open_place(&p, state);
        static const char *const b_only[] = {"b", NULL}, *const a_only[] = {"a", NULL};
        spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
        pons_graph *g = spec_compile(
            &(spec_graph){"a", n,
                          .opts = &(pons_graph_options){.interrupt_before = after ? NULL : b_only,
                                                        .interrupt_after = after ? a_only : NULL}});
        pons_run *r = spec_run(&p.b, g, NULL, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
        spec_events(&p.b, SPEC_UPDATES, false, "[{'a':{'log':'a'}},{'__interrupt__':[]}]");
        spec_answer(&p.b, r, "null", PONS_RUN_DONE);
        spec_events(&p.b, SPEC_UPDATES, false, "[{'b':{'log':'b'}}]");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// Under `exit` a run leaves one checkpoint a graph, also one with a subgraph that is stored.
static void exit_leaves_one_checkpoint(void **state)
{
    for (int mode = 0; mode < 2; mode++) {
        place p;
        open_place(&p, state);
        spec_node in[] = {{"count", "put sum 1", "END"}, {NULL}};
        pons_graph *sub = spec_compile(&(spec_graph){"count", in});
        spec_node n[] = {{"a", "put log 'a'", "sub"},
                         {"sub", NULL, "b", .sub = sub, .mode = (pons_subgraph_mode)mode},
                         {"b", "put log 'b'", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        for (int run = 1; run < 3; run++) {
            pons_run *r = NULL;
            pons_run_options o = {.durability = PONS_DURABILITY_EXIT};
            assert_ok(pons_run_start(p.b.t, g, "", NULL, &o, &r, &p.b.err));
            assert_ok(pons_run_advance(r, &p.b.err));
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            pons_run_destroy(r);
            reopen(&p);
            pons_autovalue h = NULL;
            pons_autovalue own = NULL;
            assert_ok(pons_state_history(p.store, "t1", "", 0, false, &h, &p.b.err));
            assert_int_equal(json_array_size(h), run);
            if (mode == PONS_SUBGRAPH_OWN) { // what it remembers is there
                assert_ok(pons_state_history(p.store, "t1", "sub", 0, false, &own, &p.b.err));
                assert_int_equal(json_array_size(own), run);
                spec_state(&p.b, "sub",
                           run == 1 ? "{'sum':1,'log':['a']}"
                                    : "{'sum':3,'log':['a','a','b','a']}");
            }
        }
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        close_place(&p);
    }
}

// ---- values that no store could give again ------------------------------------------------------

enum {
    ZERO,
    LEVELS,
    TOO_DEEP,
    DEEP_SEND,
    DEEP_EVENT,
    DEEP_WORD,
    DEEP_QUESTION,
    NO_TYPE,
    NOWHERE,
    ODD
};

static pons_value *nested(int n)
{
    pons_value *v = json_integer(1);
    for (int i = 0; i < n; i++) {
        v = json_pack("[o]", v);
    }
    return v;
}

static int node_odd(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    switch (*(int *)user) {
    case ZERO:
        return pons_cx_put(cx, "last", json_stringn("a\0b", 3));
    case LEVELS:
        return pons_cx_put(cx, "last", nested(PONS_VALUE_DEPTH_MAX));
    case TOO_DEEP:
        return pons_cx_put(cx, "last", nested(3000));
    case DEEP_SEND:
        pons_cx_send(cx, "odd", nested(3000));
        return PONS_OK;
    case DEEP_EVENT:
        return pons_cx_emit(cx, "odd", nested(3000));
    case DEEP_WORD:
        pons_cx_custom(cx, nested(3000));
        return PONS_OK;
    case DEEP_QUESTION:
        return pons_interrupt(cx, nested(3000), &answer, err);
    case NO_TYPE:
        return pons_cx_emit(cx, NULL, json_true());
    default:
        pons_cx_goto(cx, NULL);
        return PONS_OK;
    }
}

// A node may write what texts from outside may not have; what a store could not give again is its
// failure, with its name, and not a commit that is tried for ever or a thread that nobody can read.
static void what_a_node_writes_can_be_read_again(void **state)
{
    static const char *const goes[] = {"odd", NULL};
    for (int what = 0; what < ODD; what++) {
        place p;
        open_place(&p, state);
        pons_graph_builder *gb = pons_graph_builder_create("odd");
        channel(gb, "last", PONS_CHANNEL_LAST, NULL);
        pons_graph_node(gb, "odd", node_odd, &what);
        pons_graph_node_options(gb, "odd", &(pons_node_options){.goes = goes});
        pons_graph_edge(gb, PONS_START, "odd");
        pons_graph_edge(gb, "odd", PONS_END);
        pons_graph *g = compile(gb, NULL);
        const bool fine = what == ZERO || what == LEVELS;
        const pons_run_options o = {.stream = PONS_STREAM_CUSTOM};
        for (int i = 0; i < 2; i++) { // and in the next process
            pons_run *r = NULL;
            assert_ok(i ? pons_run_resume(p.b.t, g, "", &o, &r, &p.b.err)
                        : pons_run_start(p.b.t, g, "", NULL, &o, &r, &p.b.err));
            assert_ok(pons_run_advance(r, &p.b.err));
            assert_int_equal(pons_run_state_get(r), fine ? PONS_RUN_DONE : PONS_RUN_FAILED);
            if (fine) {
                pons_autovalue want =
                    what == ZERO ? json_stringn("a\0b", 3) : nested(PONS_VALUE_DEPTH_MAX);
                assert_true(json_equal((pons_value *)(uintptr_t)pons_run_get(r, "last"), want));
            } else {
                assert_non_null(strstr(pons_run_error(r)->message, "'odd'"));
            }
            pons_run_destroy(r);
            reopen(&p);
        }
        pons_value *past = NULL;
        assert_ok(pons_state_history(p.store, "t1", "", 0, true, &past, &p.b.err));
        pons_value_unref(past);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

int faults_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_to_a_subgraph_brings_its_argument),
        cmocka_unit_test(a_send_to_a_subgraph_wants_an_object),
        cmocka_unit_test(a_fork_takes_an_own_subgraph_back),
        cmocka_unit_test(an_own_subgraph_remembers_shared_channels),
        cmocka_unit_test(an_update_as_end_keeps_what_had_finished),
        cmocka_unit_test(an_update_of_several_says_what_it_means),
        cmocka_unit_test(an_update_counts_steps_as_a_run_does),
        cmocka_unit_test(an_edit_before_a_deferred_node_keeps_it),
        cmocka_unit_test(an_edit_before_a_join_keeps_it),
        cmocka_unit_test(a_fork_with_an_input_is_stored),
        cmocka_unit_test(an_own_subgraph_runs_step_after_step),
        cmocka_unit_test(an_answer_right_after_an_update),
        cmocka_unit_test(what_has_ended_gives_its_state),
        cmocka_unit_test(a_question_is_asked_whatever_its_node_returns),
        cmocka_unit_test(fewer_calls_than_recorded_are_nondeterminism),
        cmocka_unit_test(an_await_that_nobody_serves_says_so),
        cmocka_unit_test(a_conflict_names_channel_and_node),
        cmocka_unit_test(a_stop_is_streamed),
        cmocka_unit_test(exit_leaves_one_checkpoint),
        cmocka_unit_test(what_a_node_writes_can_be_read_again),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
