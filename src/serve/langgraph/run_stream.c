// run_stream.c - a reply that follows a run.
//
// Both kinds are watches of the run host. A stream writes what the speaker makes of the log, and a
// comment now and then, by which a connection that is gone shows. A wait writes newlines, and when
// the run has ended the thread's values, or {"__error__": …}.
#include "serve/langgraph/run_stream.h"

#include "pons/out_of_memory.h"
#include "serve/access/reply.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/run_request.h"
#include "serve/run_events/sse_events.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCEL_BEAT_MS = 500, WRITE_BYTES = 16384 };

typedef struct following {
    pons__watch w; // first
    pons_serve *s;
    pons__speaker speaker;
    char ns[PONS_NAME_MAX];
    bool waits, cancel, over;
    pons_buf out; // of events that were given together: one write
} following;

static void on_given(pons__watch *w)
{
    following *f = (following *)w;
    w->gone = w->gone || f->out.failed;
    if (!f->waits && f->out.len > 0) {
        pons__watch_write(w, f->out.data, f->out.len);
    }
    pons_buf_clear(&f->out);
}

static int on_event(pons__watch *w, const pons_event_row *row)
{
    following *f = (following *)w;
    f->over = pons__speak(&f->speaker, row, &f->out);
    if (f->waits || f->out.len >= WRITE_BYTES) {
        on_given(w);
    }
    return f->over;
}

// What a wait is answered with.
static void last_words(following *f)
{
    pons_autovalue run = NULL;
    pons_autovalue snapshot = NULL;
    pons_autovalue body = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons_autobuf b = PONS_BUF_INIT;
    pons__runhost_run(f->s->host, f->w.thread, f->w.run, &run, &none);
    const pons_value *error = pons_get(run, "error");
    if (error) {
        body = pons_object("__error__", pons_value_ref(error), NULL);
    } else {
        pons_state_snapshot(f->s->o.store, f->w.thread, f->ns, NULL, &snapshot, &none);
        body = snapshot ? pons__lg_values(snapshot) : json_object();
    }
    pons__buf_value(&b, body);
    if (!b.failed) {
        pons__watch_write(&f->w, b.data, b.len);
    }
}

static void on_over(pons__watch *w)
{
    static const char end[] = "event: end\ndata: null\n\n";
    following *f = (following *)w;
    pons_error none = PONS_ERROR_INIT;
    const bool whole = f->over || w->complete;
    if (whole && f->waits) {
        last_words(f);
    } else if (whole) {
        pons__watch_write(w, end, sizeof end - 1);
    } else if (f->cancel && w->gone) {
        pons__runhost_cancel(f->s->host, w->thread, w->run, false, &none);
    }
    w->http->stream_end(w->stream);
    pons_buf_fini(&f->out);
    pons__speaker_fini(&f->speaker);
    free(f);
}

// ---- beginning ----------------------------------------------------------------------------------

// Of a run, or (NULL) of whatever runs on the thread.
static following *make(const pons__request *r, const char *thread, const pons_value *run,
                       bool cancel)
{
    following *f = pons_need_zeroed(1, sizeof *f);
    const pons_serve_graph *g =
        run ? pons__runhost_graph(r->s->host, pons_get_str(run, "graph_id", "")) : NULL;
    f->s = r->s;
    f->cancel = cancel;
    snprintf(f->w.thread, sizeof f->w.thread, "%s", pons_get_str(run, "thread_id", thread));
    snprintf(f->w.run, sizeof f->w.run, "%s", pons_get_str(run, "run_id", ""));
    snprintf(f->ns, sizeof f->ns, "%s", g ? g->ns : "");
    memcpy(f->speaker.run, f->w.run, sizeof f->speaker.run);
    f->speaker.root = g ? g->ns : NULL;
    f->speaker.skip_seq = -1;
    f->w.at = pons_get_int(run, "after", 0);
    f->w.http = r->s->http;
    f->w.event = on_event;
    f->w.given = on_given;
    f->w.beat = ": heartbeat\n";
    f->w.beat_ms = cancel ? CANCEL_BEAT_MS : 0;
    f->w.over = on_over;
    return f;
}

// Takes f. From now on the stream is answered; who cannot be served is told in it.
static int begin(pons__request *r, following *f, const char *last, const char *const *headers)
{
    static const char busy[] =
        "event: error\ndata: {\"error\":\"Busy\",\"message\":\"too many clients listen\"}\n\n";
    const bool placed = !last || pons__speaker_place(&f->speaker, last);
    if (!*f->w.run) {
        f->w.at = f->speaker.skip_seq > 0 ? f->speaker.skip_seq - 1 : 0;
    }
    f->w.stream = !placed    ? NULL
                  : f->waits ? pons__reply_stream(r, "application/json", headers)
                             : pons__reply_events(r, headers);
    if (!f->w.stream) {
        pons__speaker_fini(&f->speaker);
        free(f);
        return placed ? PONS_OK
                      : pons__reply_error(r, 422, "Last-Event-ID is an event's id, or -1");
    }
    if (pons__runhost_watch(f->s->host, &f->w, &r->err) < 0) {
        pons__watch_write(&f->w, busy, f->waits ? 0 : sizeof busy - 1);
        f->cancel = false;
        on_over(&f->w);
    }
    return PONS_OK;
}

int pons__lg_stream(pons__request *r, const pons__lg_follow *o)
{
    pons__lg_where where;
    following *f = make(r, "", o->run, o->cancel);
    const pons_value *kwargs = pons_get(o->run, "kwargs");
    pons__speaker_modes(&f->speaker, o->modes ? o->modes : pons_get(kwargs, "stream_mode"));
    f->speaker.input = f->speaker.events ? pons_value_ref(pons_get(kwargs, "input")) : NULL;
    f->speaker.subgraphs = pons_get_bool(kwargs, "stream_subgraphs", false);
    return begin(r, f, o->last_event_id, pons__lg_where_of(o->run, "stream", &where));
}

int pons__lg_wait(pons__request *r, const pons_value *run, bool cancel)
{
    pons__lg_where where;
    following *f = make(r, "", run, cancel);
    f->waits = true;
    f->w.beat = "\n";
    return begin(r, f, NULL, pons__lg_where_of(run, "join", &where));
}

int pons__lg_stream_thread(pons__request *r, const pons_value *modes)
{
    const pons_store store = r->s->o.store;
    int64_t newest = 0;
    if (store.ops->event_last(store.self, r->args[0], &newest, &r->err) < 0) {
        return r->err.status;
    }
    following *f = make(r, r->args[0], NULL, false);
    pons__speaker_modes(&f->speaker, modes);
    f->speaker.subgraphs = true;
    f->speaker.inside = true; // what is streamed is a run's, whoever's
    f->speaker.skip_seq = newest;
    f->speaker.skip_sub = INT_MAX;
    return begin(r, f, r->s->http->header(r->x, "Last-Event-ID"), NULL);
}
