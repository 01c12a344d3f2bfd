// companion_graph.c - the companion as a graph that clients run: each message of a person goes to its
// phone.
//
//     begin -----> companion --> END      begin      posts the words, as `pons companion message` does
//                                         companion  waits for the minute in which they are heard, and
//                                                    shows what was decided in it
//
// Whoever lives the companion is another process (`pons companion run`), or nobody: then the words stay
// on the phone, and the run says so. Who writes, and whether it is urgent, is in the run's context:
// {"sender": "mother", "urgent": true}.
//
// Words are posted once (served_words.c).
#include "app/serve/companion_graph.h"

#include "pons/companion.h"
#include "pons/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "companion"
#define NS    "companion" // of its thread of the store

struct app_companion {
    pons_store store;
    app_follower *w;
    pons_graph *graph;
    pons_await_handler handlers[1];
};

// ---- the companion's log ------------------------------------------------------------------------

typedef struct looking {
    const char *text;
    char minute[40]; // in which it was heard; "": not yet
    pons_value *seen;
} looking;

static int look_at(void *user, const pons_event_row *row)
{
    looking *l = user;
    pons_autovalue p = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    const char *time = pons_get_str(p, "time", "");
    const bool received = strcmp(pons_get_str(p, "type", ""), "external.message") == 0 &&
                          strcmp(pons_get_str(p, "text", ""), l->text) == 0;
    if (received && !l->minute[0]) {
        snprintf(l->minute, sizeof l->minute, "%s", time);
    }
    if (l->minute[0] && strcmp(time, l->minute) == 0) {
        json_array_append_new(l->seen, pons_value_ref(p));
    }
    return l->minute[0] && strcmp(time, l->minute) != 0;
}

// A minute's events are one commit: when the message is there, so is what was decided.
static int received_since(pons_store s, int64_t after, looking *l, pons_error *err)
{
    return s.ops->events(s.self, PONS_COMPANION_THREAD, after, 0, look_at, l, err);
}

static pons_value *look(void *user, app_followed *f)
{
    const app_companion *c = user;
    pons_error none = PONS_ERROR_INIT;
    pons_lease holder;
    looking l = {.text = f->text, .seen = json_array()};
    const bool lives =
        c->store.ops->lease_peek(c->store.self, PONS_COMPANION_THREAD, &holder, NULL) >= 0;
    received_since(c->store, f->after, &l, &none);
    if (!l.minute[0] && lives) {
        pons_value_unref(l.seen);
        return NULL;
    }
    pons_value *state = NULL;
    pons_companion_read(c->store, NULL, &state, &none);
    return pons_object("time", json_string(l.minute), "seen", l.seen, "state",
                       state ? state : json_null(), NULL);
}

static void start(void *user, pons_run *run, const char *await_id, const pons_value *request,
                  bool restarted)
{
    app_companion *c = user;
    (void)restarted; // the log is read again from where the request says
    app_follower_start(c->w, await_id, request, look, c);
}

// What is on the phone stays there: only nobody waits any more.
static void stop(void *user, const char *thread, pons_run *run)
{
    const app_companion *c = user;
    app_follower_forget(c->w, thread);
}

// ---- begin --------------------------------------------------------------------------------------

static int mark(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const app_companion *c = user;
    const int rc = app_log_mark(c->store, PONS_COMPANION_THREAD, ret, err);
    return rc < 0 || json_integer_value(*ret) > 0
               ? rc
               : pons_error_set(err, PONS_ENOTFOUND, WHERE,
                                "no companion has lived here yet: pons companion run");
}

static int post(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const app_companion *c = user;
    const pons_store s = c->store;
    bool waits = false;
    looking l = {.text = pons_get_str(args, "text", ""), .seen = json_array()};
    int rc = app_inbox_has(s, PONS_COMPANION_THREAD, NS, NULL, l.text, &waits, err);
    rc = rc < 0 ? rc : received_since(s, pons_get_int(args, "after", 0), &l, err);
    if (rc >= 0 && !waits && !l.minute[0]) {
        rc = pons_companion_message(s, NULL, l.text, pons_get_str(args, "sender", NULL),
                                    pons_get_bool(args, "urgent", false), err);
    }
    pons_value_unref(l.seen);
    *ret = json_true();
    return rc;
}

static int begin(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *after = NULL, *done = NULL;
    const pons_value *context = pons_cx_context(cx);
    const char *sender = pons_get_str(context, "sender", NULL);
    pons_autovalue text = NULL;
    int rc = app_served_words(cx, WHERE, &text, err);
    rc = rc < 0 ? rc : pons_task(cx, "mark", NULL, mark, user, &after, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_autovalue what = pons_object("text", pons_value_ref(text), "after", pons_value_ref(after),
                                      "sender", sender ? json_string(sender) : NULL, "urgent",
                                      json_boolean(pons_get_bool(context, "urgent", false)), NULL);
    rc = pons_task(cx, "post", what, post, user, &done, err);
    if (rc == PONS_OK) {
        pons_cx_put(cx, "sent", pons_value_ref(what));
    }
    return rc;
}

// ---- companion ----------------------------------------------------------------------------------

static const pons_value *of_type(const pons_value *seen, const char *type)
{
    const pons_value *found = NULL;
    pons_each(ev, seen) {
        found = strcmp(pons_get_str(ev, "type", ""), type) == 0 ? ev : found;
    }
    return found;
}

static pons_value *words_of(const pons_value *answer)
{
    const pons_value *state = pons_get(answer, "state");
    const pons_value *decision = of_type(pons_get(answer, "seen"), "decision");
    const char *time = pons_get_str(answer, "time", "");
    const char *does = pons_get_str(pons_get(state, "activity"), "type", "nothing");
    const char *action = pons_get_str(pons_get(decision, "action"), "type", NULL);
    if (!*time) {
        return json_string(
            "It is on the phone. Nobody lives the companion now: pons companion run");
    }
    return json_sprintf("%.16s: heard. %s%s%s%sAt %s, doing: %s.", time, action ? "Decided: " : "",
                        action ? action : "", action ? ", by " : "",
                        action ? pons_get_str(decision, "branch", "") : "",
                        pons_get_str(state, "place", "?"), does);
}

static int companion(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer = NULL;
    char id[PONS_ID_MAX];
    const pons_value *sent = pons_cx_get(cx, "sent");
    if (!json_is_object(sent)) { // a client may begin wherever it likes
        return pons_error_set(err, PONS_EINVAL, WHERE, "nothing was sent: begin with a message");
    }
    pons_value *request = json_copy((pons_value *)(uintptr_t)sent);
    json_object_set_new(request, "thread", json_string(pons_thread_id(pons_cx_thread(cx))));
    const int rc = pons_await(cx, "life", request, 0, &answer, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_each(ev, pons_get(answer, "seen")) {
        pons_cx_custom(cx, pons_value_ref(ev));
    }
    pons_cx_id(cx, id);
    pons_value *m = pons_object("type", json_string("ai"), "id", json_string(id), "content",
                                words_of(answer), NULL);
    pons_cx_message(cx, pons_value_ref(m), NULL);
    pons_cx_put(cx, "messages", m);
    pons_cx_put(cx, "life", pons_value_ref(pons_get(answer, "state")));
    return PONS_OK;
}

// ---- the graph ----------------------------------------------------------------------------------

int app_companion_open(pons_store store, app_follower *w, app_companion **ret, pons_error *err)
{
    app_companion *c = pons_need_zeroed(1, sizeof *c);
    c->store = store;
    c->w = w;
    c->handlers[0] = (pons_await_handler){.kind = "life", .start = start, .user = c};
    pons_graph_builder *b = pons_graph_builder_create("companion");
    pons_graph_channel(b, "messages",
                       &(pons_channel_options){.kind = PONS_CHANNEL_MESSAGES, .chat = true});
    pons_graph_channel(b, "sent", &(pons_channel_options){.internal = true});
    pons_graph_channel(b, "life", NULL);
    pons_graph_node(b, "begin", begin, c);
    pons_graph_node(b, "companion", companion, c);
    pons_graph_edge(b, PONS_START, "begin");
    pons_graph_edge(b, "begin", "companion");
    pons_graph_edge(b, "companion", PONS_END);
    const int rc = pons_graph_compile(b, NULL, &c->graph, err);
    pons_graph_builder_destroy(b);
    if (rc < 0) {
        app_companion_close(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

void app_companion_close(app_companion *c)
{
    if (c) {
        pons_graph_destroy(c->graph);
        free(c);
    }
}

void app_companion_graph(app_companion *c, pons_serve_graph *ret)
{
    *ret = (pons_serve_graph){.id = "companion",
                              .help = "the companion: each message of a person goes to its phone",
                              .graph = c->graph,
                              .ns = "",
                              .handlers = c->handlers,
                              .n_handlers = 1,
                              .stop = stop,
                              .let_go = stop,
                              .user = c};
}
