// 03_memory.c - a conversation that is remembered: a store, a messages channel, the history.
//
// With a store every superstep is a checkpoint. A second run on the same thread begins with the
// state that the first one left, in this process or in another. The messages channel gives ids,
// replaces by id, and stores only what was appended.
//
// Prints:
//   said: ["hi","you said hi","bye","you said bye"]
//   input -1: ["__start__"]
//   loop 0: ["answer"]
//   loop 1: []
//   input 2: ["__start__"]
//   loop 3: ["answer"]
//   loop 4: []
#include "example.h"

static int answer(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *all = pons_cx_get(cx, "messages");
    const pons_value *last = json_array_get(all, json_array_size(all) - 1);
    pons_value *text = json_sprintf("you said %s", pons_get_str(last, "content", ""));
    return pons_cx_put(cx, "messages",
                       pons_object("role", json_string("assistant"), "content", text, NULL));
}

static void say(pons_store store, const pons_graph *g, const char *input_text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_thread *t = opened(store, "conversation");
    pons_autovalue input = value(input_text);
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", input, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    pons_run_destroy(r);
    pons_thread_close(t); // and gone: the next one reads the store
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    pons_store store;
    need(pons_store_memory_open(&store, &err), &err); // or pons_store_sqlite_open("my.db", …)

    pons_graph_builder *b = pons_graph_builder_create("chat");
    pons_graph_channel(b, "messages", &(pons_channel_options){PONS_CHANNEL_MESSAGES});
    pons_graph_node(b, "answer", answer, NULL);
    pons_graph_edge(b, PONS_START, "answer");
    pons_graph_edge(b, "answer", PONS_END);
    pons_graph *g = compiled(b);

    say(store, g, "{'messages':{'role':'user','content':'hi'}}");
    say(store, g, "{'messages':{'role':'user','content':'bye'}}");

    pons_value *state = NULL, *history = NULL, *m;
    pons_autovalue said = json_array();
    size_t i;
    need(pons_state_read(store, "conversation", "", &state, &err), &err);
    json_array_foreach(pons_get(state, "messages"), i, m) {
        json_array_append(said, json_object_get(m, "content"));
    }
    show("said", said);
    need(pons_state_history(store, "conversation", "", 0, false, &history, &err), &err);
    for (i = json_array_size(history); i-- > 0;) { // newest first, so from its end
        const pons_value *c = json_array_get(history, i);
        char what[64];
        snprintf(what, sizeof what, "%s %d", pons_get_str(c, "source", ""),
                 (int)pons_get_int(c, "step", 0));
        show(what, pons_get(c, "next"));
    }

    pons_value_unref(state);
    pons_value_unref(history);
    pons_graph_destroy(g);
    pons_store_close(&store);
    return 0;
}
