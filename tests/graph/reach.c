// reach.c - see reach.h. Each case asserts what a program sees, and then that another process, which
// opens the thread anew, sees the same.
#include "graph/reach.h"

#include "graph/place.h"
#include "graph/spec.h"

#include <stdlib.h>
#include <string.h>

// ---- conversations ------------------------------------------------------------------------------

static pons_graph *chat_graph(void)
{
    pons_graph_builder *b = pons_graph_builder_create("chat");
    pons_graph_channel(b, "m",
                       &(pons_channel_options){.kind = PONS_CHANNEL_MESSAGES, .chat = true});
    channel(b, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(b, "n", node_log, (void *)"n");
    pons_graph_edge(b, PONS_START, "n");
    pons_graph_edge(b, "n", PONS_END);
    return compile(b, NULL);
}

// [[type, id, content]…] of the channel "m".
static void assert_chat(place *p, const char *want)
{
    pons_autovalue state = NULL;
    pons_autovalue list = json_array();
    size_t i;
    pons_value *m;
    assert_ok(pons_state_read(p->store, "t1", "", &state, &p->b.err));
    json_array_foreach(json_object_get(state, "m"), i, m) {
        const char *id = pons_get_str(m, "id", "");
        json_array_append_new(list,
                              json_pack("[ssO]", pons_get_str(m, "type", ""),
                                        strlen(id) == 26 ? "made" : id, pons_get(m, "content")));
    }
    assert_json(list, want);
}

static void say(place *p, const pons_graph *g, const char *input)
{
    pons_run_destroy(run_to(&p->b, g, "", input, PONS_RUN_DONE));
}

static void a_conversation_by_ids(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = chat_graph();
    say(&p, g,
        "{'m':['hi',['ai','hello'],{'role':'user','id':'3','content':[{'type':'text',"
        "'text':'see'},{'type':'image_url','image_url':{'url':'data:x'}}]},"
        "{'role':'ai','id':'4','content':[{'type':'tool_use','id':'c','name':'f',"
        "'input':{'deep':[{'er':null}]}}],'tool_calls':[{'name':'f','args':{},'id':'c'}]},"
        "{'role':'tool','id':'5','tool_call_id':'c','content':'done'}]}");
    const char *first =
        "[['human','made','hi'],['ai','made','hello'],['human','3',[{'type':'text','text':'see'},"
        "{'type':'image_url','image_url':{'url':'data:x'}}]],['ai','4',[{'type':'tool_use',"
        "'id':'c','name':'f','input':{'deep':[{'er':null}]}}]],['tool','5','done']]";
    assert_chat(&p, first);
    reopen(&p);
    assert_chat(&p, first);
    // One is replaced where it stands, one is removed, one comes.
    say(&p, g,
        "{'m':[{'type':'remove','id':'4'},{'role':'user','id':'3','content':'seen'},'more']}");
    assert_chat(&p, "[['human','made','hi'],['ai','made','hello'],['human','3','seen'],"
                    "['tool','5','done'],['human','made','more']]");
    reopen(&p);
    // All of them, and what follows stays.
    say(&p, g,
        "{'m':[['user','lost'],{'role':'remove','content':'','id':'__remove_all__'},"
        "{'role':'system','id':'s','content':'anew'}]}");
    assert_chat(&p, "[['system','s','anew']]");
    reopen(&p);
    say(&p, g, "{'m':{'type':'remove','id':'__remove_all__'}}");
    assert_chat(&p, "[]");
    pons_graph_destroy(g);
    close_place(&p);
}

// What is no message, and a removal of what is not there, fail the run and change nothing.
static void a_conversation_refuses(void **state)
{
    static const char *const bad[][2] = {
        {"{'m':3}", "a message is an object, a text or [role, text]"},
        {"{'m':[['boss','x']]}", "unknown role 'boss'"},
        {"{'m':{'type':'remove','id':'9'}}", "can't remove message '9': there is none of that id"},
    };
    place p;
    open_place(&p, state);
    pons_graph *g = chat_graph();
    say(&p, g, "{'m':[{'role':'user','id':'1','content':'kept'}]}");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue in = json(bad[i][0]);
        pons_run *r = NULL;
        assert_int_equal(pons_run_start(p.b.t, g, "", in, NULL, &r, &p.b.err), PONS_EINVAL);
        assert_non_null(strstr(p.b.err.message, bad[i][1]));
        assert_chat(&p, "[['human','1','kept']]");
    }
    pons_graph_destroy(g);
    close_place(&p);
}

static int node_trims(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const human[] = {"human", NULL};
    const pons_messages_trim_options o = {
        .max_tokens = 12, .include_system = true, .start_on = human};
    const pons_value *all = pons_cx_get(cx, "m");
    pons_autovalue kept = NULL;
    pons_value *change = NULL;
    int st = pons_messages_trim(all, &o, &kept, err);
    st = st == PONS_OK ? pons_messages_change(all, kept, &change, err) : st;
    return st == PONS_OK ? pons_cx_put(cx, "m", change) : st;
}

static void a_node_trims_its_conversation(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph_builder *b = pons_graph_builder_create("trim");
    pons_graph_channel(b, "m",
                       &(pons_channel_options){.kind = PONS_CHANNEL_MESSAGES, .chat = true});
    pons_graph_node(b, "n", node_trims, NULL);
    pons_graph_edge(b, PONS_START, "n");
    pons_graph_edge(b, "n", PONS_END);
    pons_graph *g = compile(b, NULL);
    say(&p, g, "{'m':[['system','s'],['user','1'],['ai','2'],['user','3']]}");
    assert_chat(&p, "[['system','made','s'],['human','made','3']]");
    reopen(&p);
    say(&p, g, "{'m':['4']}");
    assert_chat(&p, "[['system','made','s'],['human','made','4']]");
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- streams ------------------------------------------------------------------------------------

static pons_run *streamed(place *p, const pons_graph *g, const char *input,
                          const pons_run_options *o, pons_run_state want)
{
    pons_autovalue in = input ? json(input) : NULL;
    pons_run *r = NULL;
    assert_ok(in ? pons_run_start(p->b.t, g, "", in, o, &r, &p->b.err)
                 : pons_run_resume(p->b.t, g, "", o, &r, &p->b.err));
    assert_ok(pons_run_advance(r, &p->b.err));
    assert_int_equal(pons_run_state_get(r), want);
    return r;
}

// By what a task was triggered, what it wrote twice, and what is known of the run.
static void tasks_say_where_they_come_from(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put log 'a'; put log 'A'; send z {'k':1}", "END"},
                     {"b", "", "END"},
                     {"z", "", "END"},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b", n, "a+b>z"});
    pons_autovalue meta = json("{'who':'me','tags':['t1']}");
    pons_run_destroy(streamed(&p, g, "{}",
                              &(pons_run_options){.stream = PONS_STREAM_TASKS, .metadata = meta},
                              PONS_RUN_DONE));
#define WHO "'metadata':{'who':'me','tags':['t1']}"
    const char *want =
        "[{'id':'#1','name':'a','input':{},'triggers':['branch:to:a']," WHO "},"
        "{'id':'#1','name':'a','error':null,'result':{'log':{'$writes':['a','A']}},'cached':false,"
        "'interrupts':[]},"
        "{'id':'#2','name':'b','input':{},'triggers':['branch:to:b']," WHO "},"
        "{'id':'#2','name':'b','error':null,'result':{},'cached':false,'interrupts':[]},"
        "{'id':'#3','name':'z','input':{'log':['a','A']},'triggers':['branch:to:z',"
        "'join:a+b:z']," WHO "},"
        "{'id':'#3','name':'z','error':null,'result':{},'cached':false,'interrupts':[]},"
        "{'id':'#4','name':'z','input':{'k':1},'triggers':['__pregel_push']," WHO "},"
        "{'id':'#4','name':'z','error':null,'result':{},'cached':false,'interrupts':[]}]";
    spec_events(&p.b, PONS_STREAM_TASKS, false, want);
    pons_graph_destroy(g);
    close_place(&p);
}

// A run that goes on in another process begins with the state, and its checkpoint once more.
static void a_run_that_goes_on_shows_where_it_is(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "ask 'ok?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    const pons_run_options o = {.durability = PONS_DURABILITY_SYNC,
                                .stream = PONS_STREAM_VALUES | PONS_STREAM_CHECKPOINTS};
    pons_run_destroy(streamed(&p, g, "{}", &o, PONS_RUN_INTERRUPTED));
    json_array_clear(p.b.events);
    reopen(&p);
    pons_run *r = streamed(&p, g, NULL, &o, PONS_RUN_INTERRUPTED);
#define CONFIG(id) "{'configurable':{'thread_id':'t1','checkpoint_ns':'','checkpoint_id':'" id "'}}"
    spec_events(&p.b, o.stream, false,
                "[['values',{'log':['a']}],['checkpoints',{'config':" CONFIG(
                    "#1") ",'parent_config':" CONFIG("#2") ",'values':{'log':['a']},'metadata':{"
                                                           "'source':'loop','step':1,'parents':{}},"
                                                           "'next':['b'],'tasks':[{'id':'#3',"
                                                           "'name':'b','interrupts':[{'id':'#4',"
                                                           "'value':'ok?'}],'state':null}]}]]");
    spec_answer(&p.b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// Of the tasks those that it runs: the one that waited is shown to start again, the finished one not.
static void a_run_that_goes_on_shows_what_it_runs(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "ask 'ok?'", "END"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b", n});
    const pons_run_options o = {.durability = PONS_DURABILITY_SYNC, .stream = PONS_STREAM_TASKS};
    pons_run_destroy(streamed(&p, g, "{}", &o, PONS_RUN_INTERRUPTED));
    json_array_clear(p.b.events);
    reopen(&p);
    pons_run *r = streamed(&p, g, NULL, &o, PONS_RUN_INTERRUPTED);
    spec_answer(&p.b, r, "'yes'", PONS_RUN_DONE);
    spec_events(&p.b, o.stream, false,
                "[{'id':'#1','name':'a','input':{},'triggers':['branch:to:a']},"
                "{'id':'#1','name':'a','result':{'log':'yes'},'error':null,'cached':false,"
                "'interrupts':[]}]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// Only what tasks of one node do, the subgraph that it is and what is in it.
static void a_stream_of_some_nodes(void **state)
{
    static const char *const sub[] = {"sub", NULL}, *const deep[] = {"in2", NULL},
                             *const none[] = {"ghost", NULL};
    place p;
    open_place(&p, state);
    spec_node in[] = {{"in1", "custom 1", "in2"}, {"in2", "custom 2", "END"}, {NULL}};
    pons_graph *inner = spec_compile(&(spec_graph){"in1", in});
    spec_node n[] = {{"a", "custom 0", "sub"}, {"sub", NULL, "END", .sub = inner}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_options o = {.stream = PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM,
                          .stream_subgraphs = true,
                          .stream_nodes = sub};
    pons_run_destroy(streamed(&p, g, "{}", &o, PONS_RUN_DONE));
    spec_events(&p.b, PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM, false,
                "[['custom',1],['updates',{'in1':null}],['custom',2],['updates',{'in2':null}],"
                "['updates',{'sub':null}]]");
    o.stream_nodes = deep;
    pons_run_destroy(streamed(&p, g, "{}", &o, PONS_RUN_DONE));
    spec_events(&p.b, PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM, false,
                "[['custom',2],['updates',{'in2':null}]]");
    o.stream_nodes = none;
    pons_run *r = NULL;
    assert_int_equal(pons_run_start(p.b.t, g, "", NULL, &o, &r, &p.b.err), PONS_EINVAL);
    assert_string_equal(p.b.err.message,
                        "stream_nodes names 'ghost', which is no node of graph spec, nor of its "
                        "subgraphs");
    pons_graph_destroy(g);
    pons_graph_destroy(inner);
    close_place(&p);
}

// Checkpoints by a tag of their run, and by what is known of it.
static void a_history_by_tags(void **state)
{
    static const struct {
        const char *filter;
        size_t n;
    } cases[] = {
        {"{'tags':{'$has':'night'}}", 2}, {"{'tags':{'$has':'day'}}", 4},
        {"{'tags':['day']}", 2},          {"{'tags':{'$has':'dusk'}}", 0},
        {"{'who':{'$has':'me'}}", 0},     {"{'tags':{'$has':'day'},'who':'me'}", 2},
    };
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put sum 1", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    static const char *const runs[] = {"{'tags':['day'],'who':'you'}",
                                       "{'tags':['night','day'],'who':'me'}", "{}"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        pons_autovalue meta = json(runs[i]);
        const pons_run_options o = {.durability = PONS_DURABILITY_SYNC, .metadata = meta};
        pons_run_destroy(streamed(&p, g, "{}", &o, PONS_RUN_DONE));
    }
    reopen(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autovalue filter = json(cases[i].filter);
        pons_autovalue loop = json("'loop'");
        json_object_set(filter, "source", loop);
        pons_autovalue list = NULL;
        assert_ok(pons_state_history_find(
            p.store, "t1", "", &(pons_history_query){.filter = filter}, &list, &p.b.err));
        if (json_array_size(list) != cases[i].n) {
            fail_msg("%s: %zu", cases[i].filter, json_array_size(list));
        }
    }
    pons_graph_destroy(g);
    close_place(&p);
}

static int node_once(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    return pons_cx_put(cx, user, json_integer(pons_cx_node(cx)[0]));
}

// Two writers of a value that lasts a step, or is not stored, are a conflict unless it is said.
static void several_writers(void **state)
{
    static const pons_channel_kind kinds[] = {PONS_CHANNEL_EPHEMERAL, PONS_CHANNEL_UNTRACKED};
    for (size_t i = 0; i < 4; i++) {
        place p;
        open_place(&p, state);
        pons_graph_builder *b = pons_graph_builder_create("several");
        pons_graph_channel(b, "c", &(pons_channel_options){.kind = kinds[i / 2], .several = i % 2});
        pons_graph_node(b, "a", node_once, (void *)(uintptr_t) "c");
        pons_graph_node(b, "b", node_once, (void *)(uintptr_t) "c");
        pons_graph_edge(b, PONS_START, "a");
        pons_graph_edge(b, PONS_START, "b");
        pons_graph_edge(b, "a", PONS_END);
        pons_graph_edge(b, "b", PONS_END);
        pons_graph *g = compile(b, NULL);
        pons_run *r = run_to(&p.b, g, "", "{}", i % 2 ? PONS_RUN_DONE : PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, i % 2 ? PONS_OK : PONS_ECONCURRENT);
        if (i % 2) {
            assert_int_equal(json_integer_value(pons_run_get(r, "c")), 'b');
        }
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// ---- schemas ------------------------------------------------------------------------------------

#define TWO                                                                                        \
    "{'type':'object','properties':{'wanted':{'type':'integer','minimum':1},'who':{'type':"        \
    "'string'}},'required':['wanted'],'additionalProperties':false}"
#define CONTEXT "{'type':'object','properties':{'lang':{'enum':['en','de']}},'required':['lang']}"
#define PIECE   "{'type':'object','properties':{'k':{'type':'integer'}},'required':['k']}"

static int node_sends(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_cx_send(cx, "piece", pons_value_ref(user));
    return pons_cx_put(cx, "secret", json_string("s"));
}

static pons_graph *declared(pons_value *arg)
{
    static const char *const goes[] = {"piece", NULL};
    pons_autovalue in = json(TWO);
    pons_autovalue out = json("{'type':'object','properties':{'log':{'type':'array'}}}");
    pons_autovalue context = json(CONTEXT);
    pons_autovalue piece = json(PIECE);
    pons_autovalue word = json("{'type':'string'}");
    pons_graph_builder *b = pons_graph_builder_create("forms");
    channel(b, "wanted", PONS_CHANNEL_LAST, NULL);
    pons_graph_channel(b, "who", &(pons_channel_options){.schema = word});
    channel(b, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_channel(b, "secret", &(pons_channel_options){.internal = true});
    pons_graph_node(b, "a", node_sends, arg);
    pons_graph_node_options(b, "a", &(pons_node_options){.goes = goes});
    pons_graph_node(b, "piece", node_log, NULL);
    pons_graph_node_options(b, "piece", &(pons_node_options){.input_schema = piece});
    pons_graph_edge(b, PONS_START, "a");
    pons_graph_edge(b, "a", PONS_END);
    pons_graph_edge(b, "piece", PONS_END);
    pons_graph_declare(b, &(pons_schemas){.input = in, .output = out, .context = context});
    return compile(b, NULL);
}

// An input and a context that do not fit change nothing, and say which key it is.
static void inputs_and_contexts_are_checked(void **state)
{
    static const struct {
        const char *input, *context, *want;
    } cases[] = {
        {"{'wanted':'two'}", "{'lang':'en'}",
         "the input of forms: /wanted: expected integer, found string \"two\""},
        {"{}", "{'lang':'en'}", "the input of forms: /: missing property 'wanted'"},
        {"{'wanted':0}", "{'lang':'en'}",
         "the input of forms: /wanted: expected a number at least 1, found integer 0"},
        {"{'wanted':1,'secret':1}", "{'lang':'en'}",
         "the input of forms: /secret: unknown property, expected one of: wanted, who"},
        {"{'wanted':1}", NULL, "the context of forms: /: missing property 'lang'"},
        {"{'wanted':1}", "{'lang':'fr'}", "the context of forms: /lang: "},
    };
    place p;
    open_place(&p, state);
    pons_autovalue arg = json("{'k':1}");
    pons_graph *g = declared(arg);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autovalue in = json(cases[i].input);
        pons_autovalue context = cases[i].context ? json(cases[i].context) : NULL;
        pons_run *r = NULL;
        pons_value *v = NULL;
        assert_int_equal(
            pons_run_start(p.b.t, g, "", in, &(pons_run_options){.context = context}, &r, &p.b.err),
            PONS_EINVAL);
        if (strncmp(p.b.err.message, cases[i].want, strlen(cases[i].want)) != 0) {
            fail_msg("%s", p.b.err.message);
        }
        assert_int_equal(pons_state_read(p.store, "t1", "", &v, &p.b.err), PONS_ENOTFOUND);
    }
    pons_autovalue in = json("{'wanted':1,'who':'me'}");
    pons_autovalue context = json("{'lang':'de'}");
    pons_run *r = NULL;
    assert_ok(
        pons_run_start(p.b.t, g, "", in, &(pons_run_options){.context = context}, &r, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_state(&p.b, "", "{'wanted':1,'who':'me','log':['piece'],'secret':'s'}");
    // An update is no input, but a channel's own schema holds for it, too.
    pons_autovalue bad = json("{'who':7}");
    assert_int_equal(pons_state_update(p.b.t, g, "", bad, "a", NULL, &p.b.err), PONS_EINVAL);
    assert_string_equal(p.b.err.message,
                        "the value of channel who: /: expected string, found integer 7");
    reopen(&p);
    spec_state(&p.b, "", "{'wanted':1,'who':'me','log':['piece'],'secret':'s'}");
    pons_graph_destroy(g);
    close_place(&p);
}

// A Send's argument that does not fit is the failure of the task that it is.
static void a_nodes_own_input_is_checked(void **state)
{
    place p;
    open_place(&p, state);
    pons_autovalue arg = json("{'k':'x'}");
    pons_graph *g = declared(arg);
    pons_autovalue in = json("{'wanted':1}");
    pons_autovalue context = json("{'lang':'de'}");
    pons_run *r = NULL;
    assert_ok(
        pons_run_start(p.b.t, g, "", in, &(pons_run_options){.context = context}, &r, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_string_equal(pons_run_error(r)->message,
                        "the input of node piece: /k: expected integer, found string \"x\"");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// What was declared, what follows from the channels, what a whole run gives, and the drawing.
static void schemas_are_read(void **state)
{
    place p;
    open_place(&p, state);
    pons_autovalue arg = json("{'k':1}");
    pons_graph *g = declared(arg);
    pons_autovalue v = NULL;
    assert_ok(pons_graph_schemas(g, &v, &p.b.err));
    assert_json(v, "{'input_schema':" TWO ",'output_schema':{'type':'object','properties':{'log':"
                   "{'type':'array'}}},'state_schema':{'title':'forms_state','type':'object',"
                   "'properties':{'wanted':{},'who':{'type':'string'},'log':{'type':'array'},"
                   "'secret':{}}},'context_schema':" CONTEXT ",'nodes':{'piece':" PIECE "}}");
    pons_autovalue in = json("{'wanted':1}");
    pons_autovalue context = json("{'lang':'en'}");
    pons_autovalue out = NULL;
    assert_ok(pons_graph_invoke(g, p.store, "t2", in, NULL, &(pons_run_options){.context = context},
                                &out, &p.b.err));
    assert_json(out, "{'log':['piece']}");
    char *text = NULL;
    assert_ok(pons_graph_draw(g, "mermaid", &text, &p.b.err));
    assert_non_null(strstr(text, "__start__([\"start<br/>wanted, who\"])"));
    free(text);
    assert_ok(pons_graph_draw(g, "dot", &text, &p.b.err));
    assert_non_null(strstr(text, "label=\"start\\nwanted, who\"];"));
    free(text);
    pons_graph_destroy(g);
    spec_node n[] = {{"a", "", "END"}, {NULL}};
    g = spec_compile(&(spec_graph){"a", n});
    pons_autovalue derived = NULL;
    assert_ok(pons_graph_schemas(g, &derived, &p.b.err));
    assert_json(pons_get(derived, "input_schema"),
                "{'title':'spec_input','type':'object','properties':{'log':{'type':'array'},"
                "'last':{},'any':{},'once':{},'topic':{'type':'array'},'acc':{'type':'array'},"
                "'sum':{'type':'number'},'obj':{'type':'object'},'set':{},'msgs':{'type':'array',"
                "'items':{'type':'object'}},'gone':{}}}");
    assert_json(pons_get(derived, "context_schema"), "null");
    pons_graph_destroy(g);
    close_place(&p);
}

// A schema that is none is a fault of the graph, told with all others.
static void schemas_that_are_none(void **state)
{
    (void)state;
    pons_autovalue typo = json("{'propertys':{}}");
    pons_autovalue loop = json("{'$ref':'#'}");
    pons_autovalue text = json("'object'");
    pons_graph_builder *b = pons_graph_builder_create("typos");
    pons_graph_channel(b, "c", &(pons_channel_options){.schema = text});
    pons_graph_node(b, "n", node_log, NULL);
    pons_graph_node_options(b, "n", &(pons_node_options){.input_schema = loop});
    pons_graph_edge(b, PONS_START, "n");
    pons_graph_edge(b, "n", PONS_END);
    pons_graph_declare(b, &(pons_schemas){.input = typo});
    pons_autovalue faults = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_graph_faults(b, NULL, &faults, &err));
    pons_graph_builder_destroy(b);
    assert_int_equal(json_array_size(faults), 3);
    const char *const want[] = {"the input schema: ", "the schema of channel c: a schema is an ",
                                "the input schema of node n: "};
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(json_string_value(json_array_get(faults, i)), want[i], strlen(want[i]));
    }
}

// ---- all of them --------------------------------------------------------------------------------

int reach_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation_by_ids),
        cmocka_unit_test(a_conversation_refuses),
        cmocka_unit_test(a_node_trims_its_conversation),
        cmocka_unit_test(tasks_say_where_they_come_from),
        cmocka_unit_test(a_run_that_goes_on_shows_where_it_is),
        cmocka_unit_test(a_run_that_goes_on_shows_what_it_runs),
        cmocka_unit_test(a_stream_of_some_nodes),
        cmocka_unit_test(a_history_by_tags),
        cmocka_unit_test(several_writers),
        cmocka_unit_test(inputs_and_contexts_are_checked),
        cmocka_unit_test(a_nodes_own_input_is_checked),
        cmocka_unit_test(schemas_are_read),
        cmocka_unit_test(schemas_that_are_none),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
