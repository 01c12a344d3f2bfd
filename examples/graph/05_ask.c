// 05_ask.c - a node asks a person, the process ends, another one takes the answer.
//
// pons_interrupt returns PONS_EPARKED until there is an answer; the node passes that on. When there
// is one, the node is run again from its top, and this time the call has the answer. So what a node
// does before it asks must give the same again; time, ids and randomness from the cx do.
//
// Prints:
//   asks: "send 5 letters?"
//   status: "sent 3"
#include "example.h"

static int post(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    pons_value *question =
        json_sprintf("send %d letters?", (int)json_integer_value(pons_cx_get(cx, "letters")));
    int st = pons_interrupt(cx, question, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "status", json_sprintf("sent %d", (int)json_integer_value(answer)));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    pons_store store;
    need(pons_store_memory_open(&store, &err), &err);

    pons_graph_builder *b = pons_graph_builder_create("ask");
    pons_graph_channel(b, "letters", NULL);
    pons_graph_channel(b, "status", NULL);
    pons_graph_node(b, "post", post, NULL);
    pons_graph_edge(b, PONS_START, "post");
    pons_graph_edge(b, "post", PONS_END);
    pons_graph *g = compiled(b);

    pons_thread *t = opened(store, "t1");
    pons_autovalue input = value("{'letters':5}");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", input, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err); // INTERRUPTED: it waits for people only
    pons_value *pending = pons_run_pending(r);
    show("asks", pons_get(json_array_get(pending, 0), "request"));
    pons_value_unref(pending);
    pons_run_destroy(r);
    pons_thread_close(t);

    // Days later, elsewhere. A command as input carries the answer.
    t = opened(store, "t1");
    pons_autovalue three = json_integer(3);
    need(pons_run_command(t, g, "", &(pons_command){.resume = three}, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("status", pons_run_get(r, "status"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    pons_store_close(&store);
    return 0;
}
