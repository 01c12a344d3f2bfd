// 10_stream.c - watching a run, losing the connection, and a second message while the first is at
// work.
//
// What is streamed is an event with a number, committed before it is shown: a client that comes
// back asks for what came after its last number. A second run on a thread that is at work waits for
// its turn, or is refused, or takes the place of the first.
//
// Prints:
//   1: ["messages",["to","write"]]
//   2: ["messages",["ken","write"]]
//   3: ["updates",{"write":{"text":"token"}}]
//   missed 2: "messages"
//   missed 3: "updates"
//   second run: busy
#include "example.h"

static const uint32_t modes = PONS_STREAM_UPDATES | PONS_STREAM_MESSAGES;

static void on_event(void *user, const pons_event *ev)
{
    (void)user;
    char number[24];
    snprintf(number, sizeof number, "%d", (int)ev->seq);
    pons_autovalue seen = pons_stream_shape(ev, modes, false);
    if (strcmp(ev->type, "stream.messages") == 0) { // of where it comes from, the node
        const pons_value *meta = json_array_get(ev->payload, 1);
        json_array_set_new(seen, 1,
                           json_pack("[Os]", json_array_get(ev->payload, 0),
                                     pons_get_str(meta, "langgraph_node", "")));
    }
    if (seen) {
        show(number, seen);
    }
}

static int write_text(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    if (pons_cx_get(cx, "ask")) { // the second conversation waits for a model that never answers
        return pons_await(cx, "model", json_string("?"), 0, &answer, err);
    }
    pons_cx_message(cx, json_string("to"), NULL); // as a model's tokens come
    pons_cx_message(cx, json_string("ken"), NULL);
    return pons_cx_put(cx, "text", json_string("token"));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    pons_store store;
    need(pons_store_memory_open(&store, &err), &err);

    pons_graph_builder *b = pons_graph_builder_create("stream");
    pons_graph_channel(b, "text", NULL);
    pons_graph_channel(b, "ask", NULL);
    pons_graph_node(b, "write", write_text, NULL);
    pons_graph_edge(b, PONS_START, "write");
    pons_graph_edge(b, "write", PONS_END);
    pons_graph *g = compiled(b);

    pons_thread_options o = {.clock = pons_clock_real(), .seed = 1, .on_event = on_event};
    pons_thread *t = NULL;
    need(pons_thread_open(store, "t1", &o, &t, &err), &err);
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", NULL, &(pons_run_options){.stream = modes}, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    pons_run_destroy(r);

    pons_value *list = NULL, *e;
    size_t i;
    need(pons_stream_read(store, "t1", modes, 1, 0, &list, &err), &err); // after number 1
    json_array_foreach(list, i, e) {
        char what[32];
        snprintf(what, sizeof what, "missed %d", (int)pons_get_int(e, "seq", 0));
        show(what, pons_get(e, "mode"));
    }
    pons_value_unref(list);

    pons_autovalue ask = value("{'ask':true}");
    pons_run *second = NULL;
    need(pons_run_start(t, g, "", ask, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err); // PARKED
    int st = pons_run_submit(t, g, "", NULL, PONS_BUSY_REJECT, NULL, &second, &err);
    printf("second run: %s\n", pons_status_word(st));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    pons_store_close(&store);
    return 0;
}
