// test_spec_streaming.c - conformance: stream modes. One graph with a fan-out, a subgraph and an
// interrupt; the exact events of every mode, alone and with subgraphs, in the order of their
// numbers, and a client that comes back after any of them.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

static int node_says(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_message(cx, json("{'content':'hel'}"), NULL);
    pons_cx_message(cx, json("{'content':'lo'}"), json("{'model':'m'}"));
    pons_cx_custom(cx, json("{'half':true}"));
    return pons_cx_put(cx, "log", json("'says'"));
}

typedef struct stage {
    bed b;
    spec_node in[3], n[4];
    pons_graph *sub, *g;
} stage;

// START → a, sub(says → ask) → z
static void stage_open(stage *s)
{
    static const spec_node in[] = {{"ask", "ask 'ok?'", "END"}, {NULL}},
                           n[] = {{"a", "put log 'a'", "END"}, {"z", "", "END"}, {NULL}};
    bed_open(&s->b);
    memcpy(s->in, in, sizeof in);
    memcpy(s->n, n, sizeof n);
    pons_graph_builder *ib = spec_builder(&(spec_graph){"says", s->in});
    pons_graph_node(ib, "says", node_says, NULL);
    pons_graph_edge(ib, "says", "ask");
    s->sub = compile(ib, NULL);
    pons_graph_builder *gb = spec_builder(&(spec_graph){"a,sub", s->n});
    pons_graph_subgraph(gb, "sub", s->sub, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, "sub", "z");
    s->g = compile(gb, NULL);
}

static void stage_close(stage *s)
{
    pons_graph_destroy(s->g);
    pons_graph_destroy(s->sub);
    bed_close(&s->b);
}

static void stage_run(stage *s, uint32_t modes, bool subgraphs)
{
    bed *b = &s->b;
    pons_autovalue in = json("{'sum':1}");
    pons_autovalue yes = json("'yes'");
    pons_run *r = NULL;
    pons_run_options o = {
        .durability = PONS_DURABILITY_SYNC, .stream = modes, .stream_subgraphs = subgraphs};
    assert_ok(pons_run_start(b->t, s->g, "", in, &o, &r, &b->err));
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    assert_ok(pons_run_resume_value(r, yes, &b->err));
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
}

// "values (full state after input and each changing step), updates ({node: update} per finished
// task; {"__interrupt__": […]}), messages ([chunk, metadata{langgraph_step,…}]), custom, tasks
// (start and result), checkpoints, debug ({step,timestamp,type,payload})."
static void each_mode(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode;
        bool subgraphs;
        const char *want;
    } cases[] = {
        // z changes nothing: no values for its step.
        {PONS_STREAM_VALUES, false,
         "[{'sum':1},{'sum':1,'__interrupt__':[{'id':'#1','value':'ok?'}]},{'log':['a','says',"
         "'yes'],'sum':1}]"},
        {PONS_STREAM_VALUES, true,
         "[[[],'values',{'sum':1}],[['sub'],'values',{'sum':1}],[['sub'],'values',{'log':["
         "'says'],'sum':1}],[['sub'],'values',{'log':['says'],'sum':1,'__interrupt__':[{'id':"
         "'#1','value':'ok?'}]}],[[],'values',{'sum':1,'__interrupt__':[{'id':'#1','value':"
         "'ok?'}]}],[['sub'],'values',{'log':['says','yes'],'sum':1}],[[],'values',{'log':['a',"
         "'says','yes'],'sum':1}]]"},
        {PONS_STREAM_UPDATES, false,
         "[{'a':{'log':'a'}},{'__interrupt__':[{'id':'#1','value':'ok?'}]},{'sub':{'log':['says',"
         "'yes']}},{'z':null}]"},
        {PONS_STREAM_UPDATES, true,
         "[[['sub'],'updates',{'says':{'log':'says'}}],[['sub'],'updates',{'__interrupt__':[{"
         "'id':'#1','value':'ok?'}]}],[[],'updates',{'a':{'log':'a'}}],[[],'updates',{"
         "'__interrupt__':[{'id':'#1','value':'ok?'}]}],[['sub'],'updates',{'ask':{'log':"
         "'yes'}}],[[],'updates',{'sub':{'log':['says','yes']}}],[[],'updates',{'z':null}]]"},
        // A node's words are never lost on the way, asked for subgraphs or not.
        {PONS_STREAM_MESSAGES, false,
         "[[{'content':'hel'},{'thread_id':'t1','langgraph_step':1,'langgraph_node':'says',"
         "'langgraph_triggers':['branch:to:says'],'langgraph_path':['__pregel_pull','says'],"
         "'langgraph_checkpoint_ns':'sub|says:#1','checkpoint_ns':'sub|says:#1'}],[{'content':"
         "'lo'},{'thread_id':'t1','langgraph_step':1,'langgraph_node':'says',"
         "'langgraph_triggers':['branch:to:says'],'langgraph_path':['__pregel_pull','says'],"
         "'langgraph_checkpoint_ns':'sub|says:#1','checkpoint_ns':'sub|says:#1','model':'m'}]]"},
        {PONS_STREAM_MESSAGES, true,
         "[[['sub'],'messages',[{'content':'hel'},{'thread_id':'t1','langgraph_step':1,"
         "'langgraph_node':'says','langgraph_triggers':['branch:to:says'],'langgraph_path':["
         "'__pregel_pull','says'],'langgraph_checkpoint_ns':'sub|says:#1','checkpoint_ns':"
         "'sub|says:#1'}]],[['sub'],'messages',[{'content':'lo'},{'thread_id':'t1',"
         "'langgraph_step':1,'langgraph_node':'says','langgraph_triggers':['branch:to:says'],"
         "'langgraph_path':['__pregel_pull','says'],'langgraph_checkpoint_ns':'sub|says:#1',"
         "'checkpoint_ns':'sub|says:#1','model':'m'}]]]"},
        {PONS_STREAM_CUSTOM, false, "[{'half':true}]"},
        {PONS_STREAM_CUSTOM, true, "[[['sub'],'custom',{'half':true}]]"},
        {PONS_STREAM_TASKS, false,
         "[{'id':'#1','name':'a','input':{'sum':1},'triggers':['branch:to:a']},{'id':'#1','name':"
         "'a','error':null,'result':{'log':'a'},'cached':false,'interrupts':[]},{'id':'#2',"
         "'name':'sub','input':{'sum':1},'triggers':['branch:to:sub']},{'id':'#2','name':'sub',"
         "'error':null,'result':{},'cached':false,'interrupts':[{'id':'#3','value':'ok?'}]},{"
         "'id':'#2','name':'sub','error':null,'result':{'log':['says','yes']},'cached':false,"
         "'interrupts':[]},{'id':'#4','name':'z','input':{'log':['a','says','yes'],'sum':1},"
         "'triggers':['branch:to:z']},{'id':'#4','name':'z','error':null,'result':{},'cached':"
         "false,'interrupts':[]}]"},
        // Once more where people are waited for, with what the tasks wrote and ask.
        {PONS_STREAM_CHECKPOINTS, false,
         "[{'config':{'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#1'}},"
         "'parent_config':null,'values':{},'metadata':{'source':'input','step':-1,'parents':{}},"
         "'next':['__start__'],'tasks':[{'id':'#2','name':'__start__','interrupts':[],'state':"
         "null}]},{'config':{'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':"
         "'#3'}},'parent_config':{'configurable':{'thread_id':'t1','checkpoint_ns':'',"
         "'checkpoint_id':'#1'}},'values':{'sum':1},'metadata':{'source':'loop','step':0,"
         "'parents':{}},'next':['a','sub'],'tasks':[{'id':'#4','name':'a','interrupts':[],"
         "'state':null},{'id':'#5','name':'sub','interrupts':[],'state':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'sub'}}}]},{'config':{'configurable':{'thread_id':"
         "'t1','checkpoint_ns':'','checkpoint_id':'#3'}},'parent_config':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#1'}},'values':{'sum':1},"
         "'metadata':{'source':'loop','step':0,'parents':{}},'next':['a','sub'],'tasks':[{'id':"
         "'#4','name':'a','result':{'log':'a'},'interrupts':[],'state':null},{'id':'#5','name':"
         "'sub','interrupts':[{'id':'#6','value':'ok?'}],'state':{'configurable':{'thread_id':"
         "'t1','checkpoint_ns':'sub'}}}]},{'config':{'configurable':{'thread_id':'t1',"
         "'checkpoint_ns':'','checkpoint_id':'#7'}},'parent_config':{'configurable':{'thread_id':"
         "'t1','checkpoint_ns':'','checkpoint_id':'#3'}},'values':{'log':['a','says','yes'],"
         "'sum':1},'metadata':{'source':'loop','step':1,'parents':{}},'next':['z'],'tasks':[{"
         "'id':'#8','name':'z','interrupts':[],'state':null}]},{'config':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#9'}},'parent_config':{"
         "'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#7'}},'values':{"
         "'log':['a','says','yes'],'sum':1},'metadata':{'source':'loop','step':2,'parents':{}},"
         "'next':[],'tasks':[]}]"},
        {PONS_STREAM_DEBUG, false,
         "[{'step':-1,'timestamp':0,'type':'checkpoint','payload':{'config':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#1'}},'parent_config':null,"
         "'values':{},'metadata':{'source':'input','step':-1,'parents':{}},'next':['__start__'],"
         "'tasks':[{'id':'#2','name':'__start__','interrupts':[],'state':null}]}},{'step':0,"
         "'timestamp':0,'type':'checkpoint','payload':{'config':{'configurable':{'thread_id':"
         "'t1','checkpoint_ns':'','checkpoint_id':'#3'}},'parent_config':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#1'}},'values':{'sum':1},"
         "'metadata':{'source':'loop','step':0,'parents':{}},'next':['a','sub'],'tasks':[{'id':"
         "'#4','name':'a','interrupts':[],'state':null},{'id':'#5','name':'sub','interrupts':[],"
         "'state':{'configurable':{'thread_id':'t1','checkpoint_ns':'sub'}}}]}},{'step':1,"
         "'timestamp':0,'type':'task','payload':{'id':'#4','name':'a','input':{'sum':1},"
         "'triggers':['branch:to:a']}},{'step':1,'timestamp':0,'type':'task_result','payload':{"
         "'id':'#4','name':'a','error':null,'result':{'log':'a'},'cached':false,'interrupts':["
         "]}},{'step':1,'timestamp':0,'type':'task','payload':{'id':'#5','name':'sub','input':{"
         "'sum':1},'triggers':['branch:to:sub']}},{'step':1,'timestamp':0,'type':'task_result',"
         "'payload':{'id':'#5','name':'sub','error':null,'result':{},'cached':false,'interrupts':"
         "[{'id':'#6','value':'ok?'}]}},{'step':0,'timestamp':0,'type':'checkpoint','payload':{"
         "'config':{'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#3'}},"
         "'parent_config':{'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':"
         "'#1'}},'values':{'sum':1},'metadata':{'source':'loop','step':0,'parents':{}},'next':["
         "'a','sub'],'tasks':[{'id':'#4','name':'a','result':{'log':'a'},'interrupts':[],'state':"
         "null},{'id':'#5','name':'sub','interrupts':[{'id':'#6','value':'ok?'}],'state':{"
         "'configurable':{'thread_id':'t1','checkpoint_ns':'sub'}}}]}},{'step':1,'timestamp':0,"
         "'type':'task_result','payload':{'id':'#5','name':'sub','error':null,'result':{'log':["
         "'says','yes']},'cached':false,'interrupts':[]}},{'step':1,'timestamp':0,'type':"
         "'checkpoint','payload':{'config':{'configurable':{'thread_id':'t1','checkpoint_ns':'',"
         "'checkpoint_id':'#7'}},'parent_config':{'configurable':{'thread_id':'t1',"
         "'checkpoint_ns':'','checkpoint_id':'#3'}},'values':{'log':['a','says','yes'],'sum':1},"
         "'metadata':{'source':'loop','step':1,'parents':{}},'next':['z'],'tasks':[{'id':'#8',"
         "'name':'z','interrupts':[],'state':null}]}},{'step':2,'timestamp':0,'type':'task',"
         "'payload':{'id':'#8','name':'z','input':{'log':['a','says','yes'],'sum':1},'triggers':["
         "'branch:to:z']}},{'step':2,'timestamp':0,'type':'task_result','payload':{'id':'#8',"
         "'name':'z','error':null,'result':{},'cached':false,'interrupts':[]}},{'step':2,"
         "'timestamp':0,'type':'checkpoint','payload':{'config':{'configurable':{'thread_id':"
         "'t1','checkpoint_ns':'','checkpoint_id':'#9'}},'parent_config':{'configurable':{"
         "'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'#7'}},'values':{'log':['a','says',"
         "'yes'],'sum':1},'metadata':{'source':'loop','step':2,'parents':{}},'next':[],'tasks':["
         "]}}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stage s;
        stage_open(&s);
        stage_run(&s, cases[i].mode, cases[i].subgraphs);
        spec_events(&s.b, cases[i].mode, cases[i].subgraphs, cases[i].want);
        stage_close(&s);
    }
}

// "alone or several": [mode, payload], in the order in which it happened.
static void several_modes(void **state)
{
    (void)state;
    stage s;
    stage_open(&s);
    const uint32_t modes = PONS_STREAM_VALUES | PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM;
    stage_run(&s, modes, false);
    spec_events(&s.b, modes, false,
                "[['values',{'sum':1}],['custom',{'half':true}],['updates',{'a':{'log':'a'}}],["
                "'updates',{'__interrupt__':[{'id':'#1','value':'ok?'}]}],['values',{'sum':1,"
                "'__interrupt__':[{'id':'#1','value':'ok?'}]}],['updates',{'sub':{'log':['says',"
                "'yes']}}],['values',{'log':['a','says','yes'],'sum':1}],['updates',{'z':null}]]");
    stage_close(&s);
}

// "Every event is appended to a log with a sequence number, so a client that reconnects with its
// last number misses nothing": from any number on, the log is what was shown.
static void a_client_reconnects(void **state)
{
    (void)state;
    stage s;
    stage_open(&s);
    const uint32_t all = 0x7f;
    stage_run(&s, all, true);
    size_t n = json_array_size(s.b.events);
    assert_true(n > 30);
    for (size_t from = 0; from <= n; from++) {
        pons_autovalue log = NULL;
        assert_ok(pons_stream_read(s.b.store, "t1", all, (int64_t)from, 0, &log, &s.b.err));
        assert_int_equal(json_array_size(log), n - from);
        for (size_t i = from; i < n; i++) {
            const pons_value *shown = json_array_get(s.b.events, i);
            const pons_value *kept = json_array_get(log, i - from);
            assert_int_equal(pons_get_int(shown, "seq", 0), (int64_t)i + 1);
            assert_int_equal(pons_get_int(kept, "seq", 0), (int64_t)i + 1);
            assert_string_equal(pons_get_str(kept, "ns", "?"), pons_get_str(shown, "ns", ""));
            assert_string_equal(pons_get_str(kept, "mode", ""),
                                pons_get_str(shown, "type", "") + strlen("stream."));
            assert_true(
                json_equal(json_object_get(kept, "payload"), json_object_get(shown, "payload")));
        }
    }
    stage_close(&s);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode),
        cmocka_unit_test(several_modes),
        cmocka_unit_test(a_client_reconnects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
