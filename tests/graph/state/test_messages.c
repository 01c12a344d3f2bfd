// test_messages.c - conversations: every form of a message, what is wrong with those that are none,
// tokens, and what a trim leaves. What langchain-core makes of the same is compared over random cases
// by ./dev prove graph; here are the cases that a reader wants to see.
#include "graph/graph_help.h"
#include "pons/messages.h"

#include <stdio.h>
#include <string.h>

typedef struct form_case {
    const char *form;
    const char *want; // the members that count, or what is wrong
} form_case;

static const form_case forms[] = {
    {"'hi'", "{'type':'human','content':'hi','id':null,'name':null,'additional_kwargs':{},"
             "'response_metadata':{}}"},
    {"['user','hi']", "{'type':'human','content':'hi','id':null,'name':null,"
                      "'additional_kwargs':{},'response_metadata':{}}"},
    {"{'role':'assistant','content':null,'id':7,'tool_calls':[{'id':'c','type':'function',"
     "'function':{'name':'f','arguments':'{}'}}]}",
     "{'type':'ai','content':'','id':'7','name':null,'additional_kwargs':{},'response_metadata':{},"
     "'tool_calls':[{'name':'f','args':{},'id':'c','type':'tool_call'}],'invalid_tool_calls':[],"
     "'usage_metadata':null}"},
    {"{'role':'developer','content':'d','mine':1,'additional_kwargs':{'k':2}}",
     "{'type':'system','content':'d','id':null,'name':null,'response_metadata':{},"
     "'additional_kwargs':{'mine':1,'k':2,'__openai_role__':'developer'}}"},
    {"{'type':'tool','content':5,'tool_call_id':'c','status':'error'}",
     "{'type':'tool','content':'5','id':null,'name':null,'additional_kwargs':{},"
     "'response_metadata':{},'tool_call_id':'c','status':'error','artifact':null}"},
    {"{'type':'remove','id':'__remove_all__'}",
     "{'type':'remove','content':'','id':'__remove_all__','name':null,'additional_kwargs':{},"
     "'response_metadata':{}}"},
    {"{'lc':1,'type':'constructor','id':['langchain','HumanMessage'],'kwargs':{'content':'k'}}",
     "{'type':'human','content':'k','id':null,'name':null,'additional_kwargs':{},"
     "'response_metadata':{}}"},
    {"{'role':'user','content':['a',{'type':'image_url','image_url':{'url':'u'}}]}",
     "{'type':'human','content':['a',{'type':'image_url','image_url':{'url':'u'}}],'id':null,"
     "'name':null,'additional_kwargs':{},'response_metadata':{}}"},
    {"3", "a message is an object, a text or [role, text]"},
    {"['user']", "a message that is a list is [role, content]"},
    {"['boss','hi']", "unknown role 'boss' of a message (human, user, ai, assistant, system, "
                      "developer, tool, function)"},
    {"{'content':'x'}", "a message has a 'role' or a 'type', and 'content'"},
    {"{'role':'user'}", "a message has no 'content'"},
    {"{'role':'user','content':5}", "a message's content is a text or a list of blocks"},
    {"{'role':'user','content':[5]}", "a block of a message's content is a text or an object"},
    {"{'role':'tool','content':'x'}", "a tool message needs the 'tool_call_id' that it answers"},
    {"{'role':'ai','content':'','tool_calls':[{'name':'f','args':'[1]'}]}",
     "the arguments of a tool call are an object, or one as JSON text"},
    {"{'role':'ai','content':'','tool_calls':{}}", "a message's 'tool_calls' is a list"},
    {"{'role':'user','content':'x','id':[]}", "a message's 'id' is a text"},
};

static void every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        pons_autovalue form = json(forms[i].form);
        pons_error err = PONS_ERROR_INIT;
        pons_value *m = NULL;
        int st = pons_message_of(form, &m, &err);
        if (forms[i].want[0] != '{') {
            assert_int_equal(st, PONS_EINVAL);
            assert_string_equal(err.message, forms[i].want);
            continue;
        }
        assert_int_equal(st, PONS_OK);
        assert_json(m, forms[i].want);
        pons_value *again = NULL; // the whole form stays what it is
        assert_int_equal(pons_message_of(m, &again, &err), PONS_OK);
        assert_ptr_equal(again, m);
        pons_value_unref(again);
        pons_value_unref(m);
    }
}

static int64_t each(void *user, const pons_value *list)
{
    (void)user;
    return (int64_t)json_array_size(list);
}

#define TALK                                                                                       \
    "[['system','be brief'],['user','one'],['ai','two'],['user','three\\nfour\\nfive'],"           \
    "{'role':'ai','content':[{'type':'text','text':'six'},{'type':'text','text':'seven'}]}]"

typedef struct trim_case {
    pons_messages_trim_options o;
    const char *want; // contents, or what is wrong
} trim_case;

static const char *const human[] = {"human", NULL}, *const ai[] = {"ai", NULL};
static const char six_seven[] = "[{'type':'text','text':'six'},{'type':'text','text':'seven'}]";

static void trims(void **state)
{
    (void)state;
    char all[160], partial[200];
    snprintf(all, sizeof all, "['three\\nfour\\nfive',%s]", six_seven);
    snprintf(partial, sizeof partial, "['five',%s]", six_seven);
    const trim_case cases[] = {
        {{.max_tokens = 2, .count = each}, all},
        {{.max_tokens = 2, .count = each, .first = true}, "['be brief','one']"},
        {{.max_tokens = 2, .count = each, .include_system = true},
         "['be brief',[{'type':'text',"
         "'text':'six'},{'type':'text',"
         "'text':'seven'}]]"},
        {{.max_tokens = 4, .count = each, .start_on = ai},
         "['two','three\\nfour\\nfive',[{'type':'text','text':'six'},{'type':'text','text':'seven'}"
         "]"
         "]"},
        {{.max_tokens = 2, .count = each, .end_on = human}, "['two','three\\nfour\\nfive']"},
        {{.max_tokens = 3, .count = each, .first = true, .end_on = human}, "['be brief','one']"},
        {{.max_tokens = 0, .count = each}, "[]"},
        {{.max_tokens = -5, .count = each, .include_system = true}, "['be brief']"},
        {{.max_tokens = 14, .allow_partial = true}, partial},
        {{.max_tokens = 7, .allow_partial = true}, "[[{'type':'text','text':'seven'}]]"},
        {{.max_tokens = 9, .first = true, .allow_partial = true}, "['be brief']"},
        {{.max_tokens = 1, .first = true, .start_on = ai},
         "what is kept from the beginning has no start_on or include_system"},
    };
    pons_autovalue talk = json(TALK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue kept = NULL;
        pons_autovalue contents = json_array();
        int st = pons_messages_trim(talk, &cases[i].o, &kept, &err);
        if (cases[i].want[0] != '[') {
            assert_int_equal(st, PONS_EINVAL);
            assert_string_equal(err.message, cases[i].want);
            continue;
        }
        assert_int_equal(st, PONS_OK);
        for (size_t k = 0; k < json_array_size(kept); k++) {
            json_array_append_new(contents,
                                  pons_value_ref(pons_get(json_array_get(kept, k), "content")));
        }
        print_message("  %zu\n", i);
        assert_json(contents, cases[i].want);
    }
}

static void tokens(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int64_t want;
    } cases[] = {
        {"[]", 0},
        {"['']", 4},         // its role, and three
        {"['abcdefgh']", 6}, // 8 + "user"
        {"['水水水水']", 5}, // characters, not bytes
        {"[{'role':'user','content':[{'type':'image_url'}]}]", 89},
        {"[3,{'role':'user'}]", 0}, // no messages
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autovalue list = json(cases[i].list);
        assert_int_equal(pons_messages_tokens(list), cases[i].want);
    }
}

// What a trim left, as an update: the channel then holds it.
static void a_change_brings_a_channel_there(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue from = json("[{'id':'1'},{'id':'2','t':1},{'id':'3'}]");
    pons_autovalue to = json("[{'id':'2','t':2},{'id':'3'},{'t':'new'}]");
    pons_autovalue change = NULL;
    assert_int_equal(pons_messages_change(from, to, &change, &err), PONS_OK);
    assert_json(change, "[{'type':'remove','id':'1'},{'id':'2','t':2},{'t':'new'}]");
    pons_autovalue none = NULL;
    assert_int_equal(pons_messages_change(to, to, &none, &err), PONS_OK);
    assert_json(none, "[{'t':'new'}]"); // without an id, nobody knows that it is there
}

static void a_message_has_a_role_and_a_text(void **state)
{
    static const struct {
        const char *form, *role, *text;
    } rows[] = {
        {"{'role':'user','content':'hi'}", "human", "hi"},
        {"{'type':'ai','content':['a',{'type':'text','text':'b'},{'type':'image_url'}]}", "ai",
         "ab"},
        {"{'lc':1,'type':'constructor','id':['x','HumanMessage'],'kwargs':{'content':'c'}}",
         "human", "c"},
        {"{'type':'nonsense','content':7}", NULL, ""},
        {"{}", NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_autovalue form = json(rows[i].form);
        pons_autovalue text = pons_message_text(form);
        const char *role = pons_message_role(form);
        assert_string_equal(role ? role : "none", rows[i].role ? rows[i].role : "none");
        assert_string_equal(json_string_value(text), rows[i].text);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_a_role_and_a_text),
        cmocka_unit_test(every_form),
        cmocka_unit_test(trims),
        cmocka_unit_test(tokens),
        cmocka_unit_test(a_change_brings_a_channel_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
