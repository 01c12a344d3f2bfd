// stream_replay.c - what was streamed, read again: by number, for a client that comes back, and in the shape
// in which one of several modes sees it.
#include "graph/engine.h"
#include "graph/persist/stream.h"
#include "graph/persist/stream_payloads.h"

#include <string.h>

static const char *const words[] = {"values", "updates", "messages",   "custom",
                                    "tasks",  "debug",   "checkpoints"};
static const uint32_t bits[] = {PONS_STREAM_VALUES,     PONS_STREAM_UPDATES, PONS_STREAM_MESSAGES,
                                PONS_STREAM_CUSTOM,     PONS_STREAM_TASKS,   PONS_STREAM_DEBUG,
                                PONS_STREAM_CHECKPOINTS};
enum { MODES = sizeof bits / sizeof *bits };

typedef struct stream_read {
    pons_value *list;
    uint32_t modes;
    size_t limit;
} stream_read;

static int read_event(void *user, const pons_event_row *row)
{
    stream_read *s = user;
    pons_value *payload = NULL;
    if (strncmp(row->type, PONS__STREAM_PREFIX, strlen(PONS__STREAM_PREFIX)) != 0 ||
        !(pons_stream_mode(row->type + strlen(PONS__STREAM_PREFIX)) & s->modes) ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) != PONS_OK) {
        return 0;
    }
    int bad = json_array_append_new(
        s->list, pons_object_whole("seq", json_integer(row->seq), "ns", json_string(row->ns),
                                   "ts_ms", json_integer(row->ts_ms), "mode",
                                   json_string(row->type + strlen(PONS__STREAM_PREFIX)), "payload",
                                   payload, NULL));
    return bad || (s->limit && json_array_size(s->list) >= s->limit);
}

int pons_stream_read(pons_store store, const char *thread, uint32_t modes, int64_t after,
                     int64_t limit, pons_value **ret_list, pons_error *err)
{
    if (!store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "without a store, what was streamed is not kept");
    }
    stream_read s = {json_array(), modes, limit > 0 ? (size_t)limit : 0};
    int st = store.ops->events(store.self, thread, after, 0, read_event, &s, err);
    if (st != PONS_OK) {
        pons_value_unref(s.list);
    } else {
        *ret_list = s.list;
    }
    return st;
}

pons_value *pons_stream_shape(const pons_event *ev, uint32_t modes, bool subgraphs)
{
    if (strncmp(ev->type, PONS__STREAM_PREFIX, strlen(PONS__STREAM_PREFIX)) != 0) {
        return NULL;
    }
    const char *word = ev->type + strlen(PONS__STREAM_PREFIX);
    if (!(pons_stream_mode(word) & modes)) {
        return NULL;
    }
    bool several = modes & (modes - 1);
    if (!several && !subgraphs) {
        return pons_value_ref(ev->payload);
    }
    pons_value *list = json_array();
    bool ok = list != NULL;
    ok = ok && (!subgraphs || json_array_append_new(list, pons__shown_namespace(ev->ns)) == 0);
    ok = ok && json_array_append_new(list, json_string(word)) == 0;
    ok = ok && json_array_append_new(list, pons_value_ref(ev->payload)) == 0;
    return pons__whole(list, ok);
}

uint32_t pons_stream_mode(const char *word)
{
    for (size_t i = 0; i < MODES; i++) {
        if (strcmp(words[i], word) == 0) {
            return bits[i];
        }
    }
    return 0;
}

const char *pons__stream_word(uint32_t mode)
{
    size_t i = 0;
    while (i < MODES - 1 && bits[i] != mode) {
        i++;
    }
    return words[i];
}
