// messages.c - conversations as pons has them, for tests/graph/peer/messages.py. One case a line:
//
//   {"form": F}                            -->  a message, or {"error"}
//   {"tokens": [F…]}                       -->  a number
//   {"updates": [U…]}                      -->  the channel after them, each an input of its own
//   {"trim": [F…], "max", "count": "len" | "approximate", "first", "partial", "system",
//    "start", "end": [type…]}              -->  what is left
#include "messages.h"

#include "pons/graph.h"

#include <stdio.h>
#include <stdlib.h>

enum { TYPES_MAX = 8 };

static pons_value *outcome(int st, pons_value *v, const pons_error *err)
{
    if (st == PONS_OK) {
        return v;
    }
    return pons_object_whole("error", json_string(err->message), NULL);
}

static int64_t count_messages(void *user, const pons_value *list)
{
    (void)user;
    return (int64_t)json_array_size(list);
}

static void types_of(const pons_value *list, const char *ret[TYPES_MAX + 1])
{
    size_t n = 0;
    for (; n < json_array_size(list) && n < TYPES_MAX; n++) {
        ret[n] = json_string_value(json_array_get(list, n));
    }
    ret[n] = NULL;
}

static pons_value *trim(const pons_value *c)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    const char *start[TYPES_MAX + 1], *end[TYPES_MAX + 1];
    types_of(pons_get(c, "start"), start);
    types_of(pons_get(c, "end"), end);
    const bool len = pons_get_str(c, "count", "")[0] == 'l';
    const pons_messages_trim_options o = {.max_tokens = pons_get_int(c, "max", 0),
                                          .count = len ? count_messages : NULL,
                                          .first = pons_get_bool(c, "first", false),
                                          .allow_partial = pons_get_bool(c, "partial", false),
                                          .include_system = pons_get_bool(c, "system", false),
                                          .start_on = start[0] ? start : NULL,
                                          .end_on = end[0] ? end : NULL};
    int st = pons_messages_trim(pons_get(c, "trim"), &o, &v, &err);
    return outcome(st, v, &err);
}

static int nothing(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    (void)err;
    return PONS_OK;
}

static pons_value *merge(const pons_value *updates)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store store;
    pons_graph *g = NULL;
    pons_graph_builder *b = pons_graph_builder_create("messages");
    pons_graph_channel(b, "m",
                       &(pons_channel_options){.kind = PONS_CHANNEL_MESSAGES, .chat = true});
    pons_graph_node(b, "n", nothing, NULL);
    pons_graph_edge(b, PONS_START, "n");
    pons_graph_edge(b, "n", PONS_END);
    if (pons_graph_compile(b, NULL, &g, &err) != PONS_OK ||
        pons_store_memory_open(&store, &err) != PONS_OK) {
        fprintf(stderr, "no graph: %s\n", err.message);
        exit(1);
    }
    pons_graph_builder_destroy(b);
    int st = PONS_OK;
    for (size_t i = 0; i < json_array_size(updates) && st == PONS_OK; i++) {
        pons_autovalue input =
            pons_object_whole("m", pons_value_ref(json_array_get(updates, i)), NULL);
        pons_value *state = NULL;
        st = pons_graph_invoke(g, store, "t", input, NULL, NULL, &state, &err);
        pons_value_unref(state);
    }
    pons_autovalue state = NULL;
    if (st == PONS_OK) {
        st = pons_state_read(store, "t", "", &state, &err);
    }
    pons_value *m = st == PONS_OK ? pons_value_ref(pons_get(state, "m")) : NULL;
    m = st == PONS_OK && !m ? json_array() : m;
    pons_graph_destroy(g);
    pons_store_close(&store);
    return outcome(st, m, &err);
}

pons_value *peer_messages(const pons_value *line)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    if (pons_get(line, "updates")) {
        return merge(pons_get(line, "updates"));
    }
    if (pons_get(line, "trim")) {
        return trim(line);
    }
    if (pons_get(line, "tokens")) {
        return json_integer(pons_messages_tokens(pons_get(line, "tokens")));
    }
    int st = pons_message_of(pons_get(line, "form"), &v, &err);
    return outcome(st, v, &err);
}
