// reach.c - see reach.h. Each case asserts what a program sees, and then that another process, which
// opens the thread anew, sees the same.
#include "graph/reach.h"

#include "graph/place.h"
#include "graph/spec.h"

#include <stdio.h>
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
    json_array_foreach(json_object_get(state, "m"), i, m)
    {
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

// ---- all of them --------------------------------------------------------------------------------

int reach_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation_by_ids),
        cmocka_unit_test(a_conversation_refuses),
        cmocka_unit_test(a_node_trims_its_conversation),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
