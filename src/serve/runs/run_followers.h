// run_followers.h - the events of threads, to whoever follows them: each once, in order, from any place on.
#pragma once

#include "serve/access/server.h"

typedef struct pons__watcher pons__watcher;

// Embedded in what the follower allocates. The functions are called on the watcher's thread, one
// after the other, and never again after `over`.
typedef struct pons__watch {
    struct pons__watch *next; // the watcher's
    bool dirty;               // the watcher's
    char thread[PONS_NAME_MAX];
    char run[40];  // "" or the run whose end is the watch's, however it comes
    int64_t at;    // events with greater numbers follow
    bool complete; // nothing more will come: over once everything was given
    const pons_http_server_ops *http;
    pons_http_stream *stream;
    bool gone;        // the client: the watch is over
    const char *beat; // what is written now and then, by which that shows
    // 0: go on; anything else: over.
    int (*event)(struct pons__watch *w, const pons_event_row *row);
    void (*given)(struct pons__watch *w); // after some events, and before `over`; NULL: nothing
    void (*over)(struct pons__watch *w);  // frees, but for the stream, which has ended then
    int64_t beat_ms;                      // how often; 0: as the watcher likes
    int64_t beaten_ms;                    // the watcher's
} pons__watch;

// tick: called now and then on its thread; returns in how many ms it wants to be called again.
int pons__watcher_open(const pons_serve *s, int64_t (*tick)(void *user), void *user,
                       pons__watcher **ret, pons_error *err);
void pons__watcher_stop(pons__watcher *w);  // every watch is over, no more begin; NULL-safe
void pons__watcher_close(pons__watcher *w); // frees; NULL-safe
// From now on w is the watcher's. PONS_EAGAIN: too many; then it stays the caller's. Any thread.
int pons__watch_begin(pons__watcher *ww, pons__watch *w, pons_error *err);
bool pons__watch_write(pons__watch *w, const char *text, size_t n); // false: it is gone
// A thread has new events; a run has ended, and nothing more of it will come. Any thread.
void pons__watcher_event(pons__watcher *ww, const char *thread);
void pons__watcher_ended(pons__watcher *ww, const char *thread, const char *run);
bool pons__watcher_has(pons__watcher *ww, const char *thread); // somebody follows it
void pons__watcher_wake(pons__watcher *ww);                    // tick, now
