// test_spec_channels.c - conformance: channels and reducers, one case for each rule of the table,
// with every checkpoint that it leaves. test_channels.c has more values; this has the sentences.
#include "graph/spec.h"

#include <string.h>

// What nodes a, b, c write in one step, after an input; the checkpoints of the whole run, or the
// status that it fails with.
typedef struct rule {
    const char *says, *input, *a, *b, *c;
    const char *want; // values of the last checkpoint
    int status;
} rule;

static const rule rules[] = {
    {"last value: the newest is the value", "{'last':1}", "put last 2", NULL, NULL, "{'last':2}",
     0},
    {"more than one write a step", "{'last':1}", "put last 2", "put last 2", NULL, "{'last':1}",
     PONS_ECONCURRENT},
    {"duplicate writes from one node are allowed", "{}", "put last 2; put last 3", NULL, NULL,
     "{'last':3}", 0},
    {"any value: the last in task order", "{}", "put any 1", "put any 2", NULL, "{'any':2}", 0},
    {"any value: cleared on a step without a write", "{'any':1}", NULL, NULL, NULL, "{}", 0},
    {"ephemeral: cleared on a step without a write", "{'once':1}", NULL, NULL, NULL, "{}", 0},
    {"topic: flattens lists, clears each step", "{'topic':'in'}", "put topic [1,[2]]",
     "put topic 3", NULL, "{'topic':[1,[2],3]}", 0},
    {"topic: cleared", "{'topic':'in'}", NULL, NULL, NULL, "{}", 0},
    {"topic: accumulates", "{'acc':'in'}", "put acc [1]", NULL, "put acc 2", "{'acc':['in',1,2]}",
     0},
    {"append, folded in task order", "{'log':0}", "put log [1,2]", "put log 3", "put log [[4]]",
     "{'log':[0,1,2,3,[4]]}", 0},
    {"add", "{'sum':1}", "put sum 2", "put sum 0.5", NULL, "{'sum':3.5}", 0},
    {"merge, null removes", "{'obj':{'k':1,'g':1}}", "put obj {'k':2}", "put obj {'g':null,'n':3}",
     NULL, "{'obj':{'k':2,'n':3}}", 0},
    {"union, the first occurrence keeps its place", "{'set':[1,2]}", "put set [2,3]", "put set 1",
     NULL, "{'set':[1,2,3]}", 0},
    {"overwrite discards earlier and later", "{'log':0}", "put log 1",
     "put log {'__overwrite__':[9]}", "put log 2", "{'log':[9]}", 0},
    {"two overwrites are an error", "{'log':0}", "put log {'__overwrite__':[1]}",
     "put log {'__overwrite__':[2]}", NULL, "{'log':[0]}", PONS_ECONCURRENT},
    {"two overwrites by one node as well", "{'sum':1}",
     "put sum {'__overwrite__':1}; put sum {'__overwrite__':2}", NULL, NULL, "{'sum':1}",
     PONS_ECONCURRENT},
    {"an overwrite of nothing yet", "{}", "put sum {'__overwrite__':7}", "put sum 1", NULL,
     "{'sum':7}", 0},
    {"overwrite of messages", "{'msgs':[{'id':'1'}]}", "put msgs {'__overwrite__':[{'id':'9'}]}",
     "put msgs {'id':'2'}", NULL, "{'msgs':[{'id':'9'}]}", 0},
    {"messages: missing ids get one", "{}", "put msgs {'t':1}", "put msgs [{'t':2},{'id':'x'}]",
     NULL, "{'msgs':[{'t':1,'id':'#1'},{'t':2,'id':'#2'},{'id':'x'}]}", 0},
    {"messages: the same id replaces in place", "{'msgs':[{'id':'1','t':1},{'id':'2','t':2}]}",
     "put msgs {'id':'1','t':'new'}", "put msgs {'id':'3'}", NULL,
     "{'msgs':[{'id':'1','t':'new'},{'id':'2','t':2},{'id':'3'}]}", 0},
    {"messages: remove", "{'msgs':[{'id':'1'},{'id':'2'},{'id':'3'}]}",
     "put msgs {'type':'remove','id':'2'}", NULL, NULL, "{'msgs':[{'id':'1'},{'id':'3'}]}", 0},
    {"messages: an unknown id to remove is an error", "{'msgs':[{'id':'1'}]}",
     "put msgs {'type':'remove','id':'7'}", NULL, NULL, "{'msgs':[{'id':'1'}]}", PONS_EINVAL},
    {"messages: what another node removed can't be removed again", "{'msgs':[{'id':'1'}]}",
     "put msgs {'type':'remove','id':'1'}", "put msgs {'type':'remove','id':'1'}", NULL,
     "{'msgs':[{'id':'1'}]}", PONS_EINVAL},
    {"messages: written and removed in one update", "{}",
     "put msgs [{'id':'1'},{'id':'2'},{'type':'remove','id':'1'}]", NULL, NULL,
     "{'msgs':[{'id':'2'}]}", 0},
    {"messages: remove_all keeps what follows its last occurrence", "{'msgs':[{'id':'1'}]}",
     "put msgs [{'id':'2'},{'type':'remove','id':'__remove_all__'},{'id':'3'},"
     "{'type':'remove','id':'__remove_all__'},{'id':'4'},{'id':'5'}]",
     NULL, NULL, "{'msgs':[{'id':'4'},{'id':'5'}]}", 0},
    {"messages: remove_all at the end leaves nothing", "{'msgs':[{'id':'1'}]}",
     "put msgs [{'id':'2'},{'type':'remove','id':'__remove_all__'}]", NULL, NULL, "{'msgs':[]}", 0},
    {"messages: remove_all of one node, then another's", "{'msgs':[{'id':'1'}]}",
     "put msgs {'type':'remove','id':'__remove_all__'}", "put msgs {'id':'2'}", NULL,
     "{'msgs':[{'id':'2'}]}", 0},
    {"messages: remove then re-add keeps it", "{'msgs':[{'id':'1','t':1},{'id':'2'}]}",
     "put msgs [{'type':'remove','id':'1'},{'id':'1','t':'again'}]", NULL, NULL,
     "{'msgs':[{'id':'1','t':'again'},{'id':'2'}]}", 0},
    {"untracked: never persisted", "{'gone':1,'last':1}", "put gone 2", NULL, NULL, "{'last':1}",
     0},
};

static void each_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const rule *k = &rules[i];
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", k->a, "END"}, {"b", k->b, "END"}, {"c", k->c, "END"}, {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a,b,c", n});
        pons_run *r =
            spec_run(&b, g, k->input, SPEC_VALUES, k->status ? PONS_RUN_FAILED : PONS_RUN_DONE);
        if (pons_run_error(r)->status != k->status) {
            fail_msg("%s: %s", k->says, pons_run_error(r)->message);
        }
        pons_run_destroy(r);
        pons_autovalue history = NULL;
        assert_ok(pons_state_history(b.store, "t1", "", 0, true, &history, &b.err));
        // A conflict changes nothing: the step is not there.
        if (json_array_size(history) != (k->status ? 2 : 3)) {
            fail_msg("%s: %zu checkpoints", k->says, json_array_size(history));
        }
        spec_state(&b, "", k->want);
        pons_graph_destroy(g);
        bed_close(&b);
    }
    assert_string_equal(pons_status_word(PONS_ECONCURRENT), "INVALID_CONCURRENT_GRAPH_UPDATE");
}

// "missing ids get one", which the stored message has, and a replay gives again.
static void ids_of_messages_are_stored(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put msgs {'t':1}; ask 'ok?'; put msgs {'t':2}", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, "{'msgs':{'t':0}}", 0, PONS_RUN_INTERRUPTED);
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'msgs':[{'t':0,'id':'#1'}]}],"
                     "[1,'loop',[],{'log':['yes'],"
                     "'msgs':[{'t':0,'id':'#1'},{'t':1,'id':'#2'},{'t':2,'id':'#3'}]}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "untracked: never persisted": a resume in another process does not find it.
static void untracked_is_gone_after_a_resume(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", "put gone 1", "b"}, {"b", "ask '?'; see gone", "END"}, {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED);
        if (reopen) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = spec_resume(&b, g, 0, PONS_RUN_INTERRUPTED);
        }
        spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), reopen ? "['yes',null]" : "['yes',1]");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// "managed: is_last_step, remaining_steps". With a limit of 4 three nodes can run.
static void managed_values_count_down(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "see left; see final", "b"},
                     {"b", "see left; see final", "c"},
                     {"c", "see left; see final", "END"},
                     {NULL}};
    pons_graph *g =
        spec_compile(&(spec_graph){"a", n, .opts = &(pons_graph_options){.recursion_limit = 4}});
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_DONE));
    spec_state(&b, "", "{'log':[3,false,2,false,1,true]}");
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(ids_of_messages_are_stored),
        cmocka_unit_test(untracked_is_gone_after_a_resume),
        cmocka_unit_test(managed_values_count_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
