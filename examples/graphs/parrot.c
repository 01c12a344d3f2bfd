// parrot.c - a graph to talk to: it says again what a person said, a word a superstep, as a model would
// say it, and asks before it says anything that begins with "please". For chat pages and clients of
// `pons serve`; no model is needed.
//
//     pons serve      and, from a client: graph "parrot",
//     input {"messages": [{"type":"human","content":"hello there"}], "pause_ms": 50}
//
//     listen --> speak --> speak … --> finish
//        +--> ask ---^
//
// The question is of the kind that LangChain's chat pages show as an approval: {action_requests,
// review_configs}, answered by {decisions: [{type: approve | edit | reject, …}]}.
#include "pons/graph_module.h"
#include "pons/module.h"

#include <string.h>

// A message's text: a string, or a list of parts with texts.
static pons_value *text_of(const pons_value *message)
{
    const pons_value *content = pons_get(message, "content");
    if (json_is_string(content)) {
        return pons_value_ref(content);
    }
    const char *text = pons_get_str(json_array_get(content, 0), "text", "");
    return json_string(text);
}

static int listen(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *messages = pons_cx_get(cx, "messages");
    pons_autovalue text = NULL;
    for (size_t i = json_array_size(messages); i > 0 && !text; i--) {
        const pons_value *m = json_array_get(messages, i - 1);
        const char *who = pons_get_str(m, "type", pons_get_str(m, "role", ""));
        text = strcmp(who, "human") == 0 || strcmp(who, "user") == 0 ? text_of(m) : NULL;
    }
    const char *words = text ? json_string_value(text) : "";
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    pons_cx_put(cx, "id", json_string(id));
    pons_cx_put(cx, "said", json_string(""));
    pons_cx_put(cx, "left", json_string(words));
    pons_cx_goto(cx, strncmp(words, "please", strlen("please")) == 0 ? "ask" : "speak");
    return PONS_OK;
}

static pons_value *question(const char *text)
{
    return json_pack("{s:[{s:s, s:{s:s}, s:s}], s:[{s:s, s:[sss]}]}", "action_requests", "name",
                     "speak", "args", "text", text, "description", "says it aloud",
                     "review_configs", "action_name", "speak", "allowed_decisions", "approve",
                     "edit", "reject");
}

static int ask(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL, *left = pons_cx_get(cx, "left");
    const int rc = pons_interrupt(cx, question(json_string_value(left)), &answer, err);
    if (rc != PONS_OK) {
        return rc;
    }
    const pons_value *decision = json_array_get(pons_get(answer, "decisions"), 0);
    const char *type = pons_get_str(decision, "type", "reject");
    const pons_value *edited = pons_get(pons_get(decision, "edited_action"), "args");
    if (strcmp(type, "approve") == 0) {
        pons_cx_goto(cx, "speak");
    } else if (strcmp(type, "edit") == 0 && pons_get_str(edited, "text", NULL)) {
        pons_cx_put(cx, "left", pons_value_ref(pons_get(edited, "text")));
        pons_cx_goto(cx, "speak");
    } else {
        const char *why = pons_get_str(decision, "message", "");
        pons_cx_put(cx, "said", json_sprintf("I say nothing: %s", why));
        pons_cx_goto(cx, "finish");
    }
    return PONS_OK;
}

static int speak(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *ignored = NULL;
    const json_int_t pause = json_integer_value(pons_cx_get(cx, "pause_ms"));
    if (pause > 0) {
        const int rc = pons_await(cx, "pause", json_integer(pause), pause, &ignored, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    const char *left = json_string_value(pons_cx_get(cx, "left"));
    const char *said = json_string_value(pons_cx_get(cx, "said"));
    const size_t word = strcspn(left, " "), n = word + strspn(left + word, " ");
    if (strncmp(left, "error", word) == 0 && word == strlen("error")) {
        return pons_error_set(err, PONS_EINVAL, "parrot", "a parrot does not say that");
    }
    pons_cx_custom(cx, pons_object("speaking", json_stringn(left, word), NULL));
    pons_cx_message(cx,
                    pons_object("type", json_string("AIMessageChunk"), "id",
                                pons_value_ref(pons_cx_get(cx, "id")), "content",
                                json_stringn(left, n), NULL),
                    NULL);
    pons_cx_put(cx, "said", json_sprintf("%s%.*s", said, (int)n, left));
    return pons_cx_put(cx, "left", json_string(left + n));
}

static int more(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const char *left = json_string_value(pons_cx_get(cx, "left"));
    pons_cx_goto(cx, *left ? "speak" : "finish");
    return PONS_OK;
}

static int finish(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "messages",
                       pons_object("type", json_string("ai"), "id",
                                   pons_value_ref(pons_cx_get(cx, "id")), "content",
                                   pons_value_ref(pons_cx_get(cx, "said")), NULL));
}

static int build(pons_graph **ret, pons_error *err)
{
    static const char *const after_listen[] = {"ask", "speak", NULL};
    static const char *const after_ask[] = {"speak", "finish", NULL};
    static const char *const after_speak[] = {"speak", "finish", NULL};
    pons_graph_builder *b = pons_graph_builder_create("parrot");
    pons_graph_channel(b, "messages", &(pons_channel_options){PONS_CHANNEL_MESSAGES});
    pons_graph_channel(b, "pause_ms", NULL);
    pons_graph_channel(b, "id", NULL);
    pons_graph_channel(b, "said", NULL);
    pons_graph_channel(b, "left", NULL);
    pons_graph_node(b, "listen", listen, NULL);
    pons_graph_node(b, "ask", ask, NULL);
    pons_graph_node(b, "speak", speak, NULL);
    pons_graph_node(b, "finish", finish, NULL);
    pons_graph_node_options(b, "listen", &(pons_node_options){.goes = after_listen});
    pons_graph_node_options(b, "ask", &(pons_node_options){.goes = after_ask});
    pons_graph_edge(b, PONS_START, "listen");
    pons_graph_router(b, "speak", more, NULL, after_speak);
    pons_graph_edge(b, "finish", PONS_END);
    const int rc = pons_graph_compile(b, NULL, ret, err);
    pons_graph_builder_destroy(b);
    return rc;
}

// A pause is over when its time is: nobody answers it.
static void pause_start(void *user, pons_run *run, const char *await_id, const pons_value *request,
                        bool restarted)
{
    (void)user;
    (void)run;
    (void)await_id;
    (void)request;
    (void)restarted;
}

static const pons_await_handler handlers[] = {{.kind = "pause", .start = pause_start}};

static const pons_graph_module parrot = {
    .abi = PONS_GRAPH_MODULE_ABI,
    .name = "parrot",
    .help = "says again what it is told, word by word, and asks when it is asked nicely",
    .build = build,
    .handlers = handlers,
    .n_handlers = sizeof handlers / sizeof handlers[0],
};
PONS_MODULE_EXPORT("graph", "parrot", &parrot);
