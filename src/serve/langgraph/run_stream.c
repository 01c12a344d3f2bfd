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
    pons_http_stream *stream;
    pons__speaker speaker;
    char ns[PONS_NAME_MAX];
    bool waits, cancel, gone, over;
    pons_buf out; // of events that were given together: one write
} following;

static following *of(pons__watch *w)
{
    return (following *)w;
}

static bool put(following *f, const char *text, size_t n)
{
    f->gone = f->gone || f->s->http->stream_write(f->stream, text, n) < 0;
    return !f->gone;
}

static void on_given(pons__watch *w)
{
    following *f = of(w);
    f->gone = f->gone || f->out.failed;
    if (!f->waits && f->out.len > 0 && !f->gone) {
        put(f, f->out.data, f->out.len);
    }
    pons_buf_clear(&f->out);
}

static int on_event(pons__watch *w, const pons_event_row *row)
{
    following *f = of(w);
    f->over = pons__speak(&f->speaker, row, &f->out);
    if (f->waits || f->out.len >= WRITE_BYTES) {
        on_given(w);
    }
    return f->over || f->gone;
}

static size_t on_unsent(pons__watch *w)
{
    return of(w)->s->http->stream_unsent(of(w)->stream);
}

static bool on_beat(pons__watch *w)
{
    static const char comment[] = ": heartbeat\n";
    return of(w)->waits ? put(of(w), "\n", 1) : put(of(w), comment, sizeof comment - 1);
}

// What a wait is answered with.
static void last_words(following *f)
{
    pons_autovalue run = NULL;
    pons_autovalue snapshot = NULL;
    pons_autovalue body = NULL;
    pons_error none = PONS_ERROR_INIT;
    char *text = NULL;
    pons__runhost_run(f->s->host, f->w.thread, f->w.run, &run, &none);
    const pons_value *error = pons_get(run, "error");
    if (error) {
        body = pons_object("__error__", pons_value_ref(error), NULL);
    } else {
        pons_state_snapshot(f->s->o.store, f->w.thread, f->ns, NULL, &snapshot, &none);
        body = snapshot ? pons__lg_values(snapshot) : json_object();
    }
    const long n = pons_value_line(body, &text);
    if (n > 0) {
        put(f, text, (size_t)n);
    }
    free(text);
}

static void on_over(pons__watch *w)
{
    static const char end[] = "event: end\ndata: null\n\n";
    following *f = of(w);
    pons_error none = PONS_ERROR_INIT;
    const bool whole = f->over || w->complete;
    if (whole && f->waits) {
        last_words(f);
    } else if (whole) {
        put(f, end, sizeof end - 1);
    } else if (f->cancel && f->gone) {
        pons__runhost_cancel(f->s->host, w->thread, w->run, false, &none);
    }
    f->s->http->stream_end(f->stream);
    pons_buf_fini(&f->out);
    pons__speaker_fini(&f->speaker);
    free(f);
}

// ---- beginning ----------------------------------------------------------------------------------

static following *make(pons__request *r, const char *thread, const char *run, bool cancel)
{
    following *f = pons_need_zeroed(1, sizeof *f);
    f->s = r->s;
    f->cancel = cancel;
    snprintf(f->w.thread, sizeof f->w.thread, "%s", thread);
    snprintf(f->w.run, sizeof f->w.run, "%s", run);
    memcpy(f->speaker.thread, f->w.thread, sizeof f->speaker.thread);
    memcpy(f->speaker.run, f->w.run, sizeof f->speaker.run);
    f->speaker.skip_seq = -1;
    f->w.event = on_event;
    f->w.given = on_given;
    f->w.unsent = on_unsent;
    f->w.beat = on_beat;
    f->w.beat_ms = cancel ? CANCEL_BEAT_MS : 0;
    f->w.over = on_over;
    return f;
}

// From now on the stream is answered; who cannot be served is told in it.
static void begin(following *f)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons__runhost_watch(f->s->host, &f->w, &err) < 0) {
        static const char busy[] =
            "event: error\ndata: {\"error\":\"Busy\",\"message\":\"too many clients listen\"}\n\n";
        put(f, busy, f->waits ? 0 : sizeof busy - 1);
        f->cancel = false;
        on_over(&f->w);
    }
}

static void about(following *f, const pons_value *run)
{
    const pons_serve_graph *g = pons__runhost_graph(f->s->host, pons_get_str(run, "graph_id", ""));
    snprintf(f->ns, sizeof f->ns, "%s", g ? g->ns : "");
    f->speaker.root = g ? g->ns : NULL;
    f->w.at = pons_get_int(run, "after", 0);
}

void pons__lg_stream(pons__request *r, const pons__lg_follow *o)
{
    pons__lg_where where;
    following *f = make(r, pons_get_str(o->run, "thread_id", ""),
                        pons_get_str(o->run, "run_id", ""), o->cancel);
    const pons_value *kwargs = pons_get(o->run, "kwargs");
    about(f, o->run);
    pons__speaker_modes(&f->speaker, o->modes ? o->modes : pons_get(kwargs, "stream_mode"));
    f->speaker.input = f->speaker.events ? pons_value_ref(pons_get(kwargs, "input")) : NULL;
    f->speaker.subgraphs = o->subgraphs || pons_get_bool(kwargs, "stream_subgraphs", false);
    if (o->last_event_id && !pons__speaker_place(&f->speaker, o->last_event_id)) {
        pons__speaker_fini(&f->speaker);
        free(f);
        pons__reply_error(r, 422, "Last-Event-ID is an event's id, or -1");
        return;
    }
    f->stream = pons__reply_events(r, pons__lg_where_of(o->run, "stream", &where));
    if (!f->stream) {
        pons__speaker_fini(&f->speaker);
        free(f);
        return;
    }
    begin(f);
}

void pons__lg_wait(pons__request *r, const pons_value *run, bool cancel)
{
    pons__lg_where where;
    following *f =
        make(r, pons_get_str(run, "thread_id", ""), pons_get_str(run, "run_id", ""), cancel);
    about(f, run);
    f->waits = true;
    f->stream = pons__reply_stream(r, "application/json", pons__lg_where_of(run, "join", &where));
    if (!f->stream) {
        free(f);
        return;
    }
    begin(f);
}

void pons__lg_stream_thread(pons__request *r, const char *thread, const pons_value *modes,
                            const char *last_event_id)
{
    const pons_store store = r->s->o.store;
    pons_error err = PONS_ERROR_INIT;
    int64_t newest = 0;
    if (store.ops->event_last(store.self, thread, &newest, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    following *f = make(r, thread, "", false);
    pons__speaker_modes(&f->speaker, modes);
    f->speaker.subgraphs = true;
    f->speaker.inside = true; // what is streamed is a run's, whoever's
    f->speaker.skip_seq = newest;
    f->speaker.skip_sub = INT_MAX;
    if (last_event_id && !pons__speaker_place(&f->speaker, last_event_id)) {
        free(f);
        pons__reply_error(r, 422, "Last-Event-ID is an event's id, or -1");
        return;
    }
    f->w.at = f->speaker.skip_seq > 0 ? f->speaker.skip_seq - 1 : 0;
    f->stream = pons__reply_events(r, NULL);
    if (!f->stream) {
        free(f);
        return;
    }
    begin(f);
}
