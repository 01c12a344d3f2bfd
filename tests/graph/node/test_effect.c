// test_effect.c - the effect ledger: its life is a table, a dispatch is committed before its send,
// a replay never sends again, and outside readers see it.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

typedef struct plan {
    int sends;
    bool fail_send;
    bool fail_after; // the node fails after its dispatch
    bool died;       // the store dies at the dispatch's commit
    int settle;      // or -1
    fuse *f;
    char id[40];
} plan;

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    plan *p = user;
    p->sends++;
    assert_int_equal(e->state, PONS_EFFECT_DISPATCHED);
    assert_string_equal(json_string_value(e->skill), "go");
    assert_json(e->args, "{'to':'kitchen'}");
    assert_json(e->details, "{'epoch':4}");
    assert_json(e->tag, "{'task':'t'}");
    return p->fail_send ? pons_error_set(err, PONS_EIO, "test", "the line is cut") : PONS_OK;
}

static int node_act(pons_cx *cx, void *user, pons_error *err)
{
    plan *p = user;
    pons_effect_state was;
    int st =
        pons_effect_intend(cx, "go", json("{'to':'kitchen'}"), 1, json("{'task':'t'}"), p->id, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_effect e;
    st = pons_effect_get(cx, p->id, &e, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons_effect_dispatch(cx, p->id, json("{'epoch':4}"), send_it, p, &was, err);
    if (st != PONS_OK) {
        return st;
    }
    if (p->fail_after) {
        p->fail_after = false;
        return pons_error_set(err, PONS_EIO, "test", "after the dispatch");
    }
    if (p->settle >= 0) {
        st = pons_effect_settle(cx, p->id, (pons_effect_state)p->settle, json("{'ok':true}"), err);
    }
    return st;
}

static pons_graph *acting(plan *p)
{
    pons_graph_builder *gb = pons_graph_builder_create("act");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "act", node_act, p);
    pons_graph_edge(gb, PONS_START, "act");
    pons_graph_edge(gb, "act", PONS_END);
    return compile(gb, NULL);
}

static void intended_dispatched_settled(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    plan p = {.settle = PONS_EFFECT_DONE};
    pons_graph *g = acting(&p);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_DONE));
    assert_int_equal(p.sends, 1);
    assert_int_equal(strlen(p.id), 32);
    pons_autovalue list = NULL;
    assert_ok(pons_effects_read(b.store, "t1", 1u << PONS_EFFECT_DONE, &list, &b.err));
    assert_int_equal(json_array_size(list), 1);
    const pons_value *e = json_array_get(list, 0);
    assert_string_equal(pons_get_str(e, "id", ""), p.id);
    assert_string_equal(pons_get_str(e, "state", ""), "done");
    assert_string_equal(pons_get_str(e, "skill", ""), "go");
    assert_json(pons_get(e, "result"), "{'ok':true}");
    assert_json(pons_get(e, "details"), "{'epoch':4}");
    assert_int_equal(pons_get_int(e, "attempt", 0), 1);
    pons_autovalue none = NULL;
    assert_ok(pons_effects_read(b.store, "t1", 1u << PONS_EFFECT_INTENDED, &none, &b.err));
    assert_int_equal(json_array_size(none), 0);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_replay_finds_it_dispatched_and_does_not_send(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    plan p = {.settle = PONS_EFFECT_ACCEPTED, .fail_after = true};
    pons_graph *g = acting(&p);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_FAILED));
    char first[40];
    snprintf(first, sizeof first, "%s", p.id);
    bed_thread(&b);
    pons_run_destroy(resume_to(&b, g, "", PONS_RUN_DONE));
    assert_string_equal(p.id, first);
    assert_int_equal(p.sends, 1);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_failed_send_leaves_it_dispatched(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    plan p = {.settle = -1, .fail_send = true};
    pons_graph *g = acting(&p);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_FAILED));
    pons_autovalue list = NULL;
    assert_ok(pons_effects_read(b.store, "t1", 1u << PONS_EFFECT_DISPATCHED, &list, &b.err));
    assert_int_equal(json_array_size(list), 1);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void nothing_is_sent_when_the_commit_fails(void **state)
{
    (void)state;
    pons_store inner;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_memory_open(&inner, &err));
    fuse f = {.inner = inner, .left = 1}; // the start goes through, the dispatch does not
    bed b;
    bed_open_on(&b, fuse_store(&f));
    plan p = {.settle = PONS_EFFECT_DONE};
    pons_graph *g = acting(&p);
    pons_run *r;
    assert_ok(pons_run_start(b.t, g, "", NULL,
                             &(pons_run_options){.durability = PONS_DURABILITY_SYNC}, &r, &b.err));
    assert_int_equal(pons_run_advance(r, &b.err), PONS_EIO);
    assert_int_equal(p.sends, 0);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_READY);
    f.dead = false;
    f.left = -1;
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_int_equal(p.sends, 1);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
    pons_store_close(&inner);
}

static int node_every_move(pons_cx *cx, void *user, pons_error *err)
{
    int *legal = user;
    (void)err;
    for (int from = 0; from < 8; from++) {
        for (int to = 0; to < 8; to++) {
            char id[40];
            pons_error e = PONS_ERROR_INIT;
            assert_ok(pons_effect_intend(cx, "s", json_integer(from * 8 + to), 0, NULL, id, &e));
            if (from != PONS_EFFECT_INTENDED && from != PONS_EFFECT_REFUSED) {
                assert_ok(pons_effect_dispatch(cx, id, NULL, NULL, NULL, NULL, &e));
            }
            if (from != PONS_EFFECT_INTENDED && from != PONS_EFFECT_DISPATCHED) {
                assert_ok(pons_effect_settle(cx, id, (pons_effect_state)from, NULL, &e));
            }
            int st = pons_effect_settle(cx, id, (pons_effect_state)to, NULL, &e);
            assert_true(st == PONS_OK || st == PONS_EINVAL);
            *legal += st == PONS_OK;
            pons_effect now;
            assert_ok(pons_effect_get(cx, id, &now, &e));
            assert_int_equal(now.state, st == PONS_OK ? to : from);
        }
    }
    return PONS_OK;
}

static void only_the_moves_of_the_table(void **state)
{
    (void)state;
    for (int store = 0; store < 2; store++) {
        bed b;
        if (store) {
            bed_open(&b);
        } else {
            bed_open_without_store(&b);
        }
        int legal = 0;
        pons_graph_builder *gb = pons_graph_builder_create("moves");
        pons_graph_node(gb, "n", node_every_move, &legal);
        pons_graph_edge(gb, PONS_START, "n");
        pons_graph_edge(gb, "n", PONS_END);
        pons_graph *g = compile(gb, NULL);
        pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_DONE));
        assert_int_equal(legal, 11); // 1 of intended (dispatched apart), 6 of dispatched, 4
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void words_of_states(void **state)
{
    (void)state;
    assert_string_equal(pons_effect_state_word(PONS_EFFECT_OUTCOME_UNKNOWN), "outcome_unknown");
    assert_string_equal(pons_effect_state_word(PONS_EFFECT_INTENDED), "intended");
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intended_dispatched_settled),
        cmocka_unit_test(a_replay_finds_it_dispatched_and_does_not_send),
        cmocka_unit_test(a_failed_send_leaves_it_dispatched),
        cmocka_unit_test(nothing_is_sent_when_the_commit_fails),
        cmocka_unit_test(only_the_moves_of_the_table),
        cmocka_unit_test(words_of_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
