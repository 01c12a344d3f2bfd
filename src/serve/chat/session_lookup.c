// session_lookup.c - what the store says of sessions: which one asks, and where its turn began; and what was said in
// one, as words for another.
//
// A run that asks waits, so that its questions are among the newest events of its thread: to find who
// asks needs no agent, and no list of questions beside the store that could say something else.
// Whether a question is still open, the session itself knows.
#include "serve/chat/session_lookup.h"

#include <stdio.h>
#include <string.h>

#define PAST_MAX (24UL * 1024UL) // bytes
#define NEWEST   32 // events of a thread that are looked at: more questions than a turn asks at once

bool pons__chat_is(const pons_value *question, const char *id)
{
    return *id && (strcmp(pons_get_str(question, "plan_id", ""), id) == 0 ||
                   strcmp(pons_get_str(question, "request_id", ""), id) == 0);
}

typedef struct looking {
    pons_store store;
    const char *question;
    char *ret;
    bool asks, found;
} looking;

static int look_at(void *user, const pons_event_row *row)
{
    looking *l = user;
    pons_autovalue payload = NULL;
    const bool asks = strcmp(row->type, "plan_approval_request") == 0 ||
                      strcmp(row->type, "approval_request") == 0;
    if (asks && pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        l->asks |= pons__chat_is(payload, l->question);
    }
    return 0;
}

static int look_in(void *user, const pons_thread_info *info)
{
    looking *l = user;
    int64_t last = 0;
    pons_error none = PONS_ERROR_INIT;
    const pons_store s = l->store;
    l->asks = false;
    if (s.ops->event_last(s.self, info->thread, &last, &none) < 0 || last == 0 ||
        s.ops->events(s.self, info->thread, last > NEWEST ? last - NEWEST : 0, 0, look_at, l,
                      &none) < 0 ||
        !l->asks || !pons_agent_thread_is(s, info->thread)) {
        return 0;
    }
    snprintf(l->ret, PONS_NAME_MAX, "%s", info->thread);
    l->found = true;
    return 1;
}

int pons__chat_find(pons_store store, const char *question, char ret[PONS_NAME_MAX],
                    pons_error *err)
{
    looking l = {.store = store, .question = question, .ret = ret};
    const int rc = store.ops->thread_list
                       ? store.ops->thread_list(store.self, NULL, false, look_in, &l, err)
                       : store.ops->threads(store.self, look_in, &l, err);
    if (rc < 0) {
        return rc;
    }
    return l.found ? PONS_OK
                   : pons_error_set(err, PONS_ENOTFOUND, "serve", "nobody asks %.100s", question);
}

typedef struct counting {
    int64_t after, at; // the number of the event before
    pons__ends *ret;
} counting;

static int count_end(void *user, const pons_event_row *row)
{
    counting *c = user;
    if (strcmp(row->type, "done") == 0) {
        c->ret->before = c->at;
        c->ret->newest = row->seq;
        c->ret->n += row->seq > c->after;
    }
    c->at = row->seq;
    return 0;
}

int pons__chat_ends(pons_store store, const char *session, int64_t after, pons__ends *ret,
                    pons_error *err)
{
    counting c = {.after = after, .ret = ret};
    *ret = (pons__ends){0};
    return store.ops->events(store.self, session, 0, 0, count_end, &c, err);
}

void pons__chat_past(const pons_value *said, pons_buf *ret)
{
    const size_t n = json_array_size(said), begun = ret->len;
    if (n == 0) {
        return;
    }
    pons_buf_str(ret, "(Earlier in this conversation, as the program tells it:\n");
    for (size_t i = 0; i < n && ret->len - begun < PAST_MAX; i++) {
        const pons_value *m = json_array_get(said, i);
        pons_buf_printf(ret, "%s: %s\n", pons_get_str(m, "role", ""),
                        pons_get_str(m, "content", ""));
    }
    pons_buf_str(ret, ")\n\n");
}
