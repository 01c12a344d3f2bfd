// companion.h - a digital partner that lives by its world view without being told what to do.
//
// Every minute a behaviour tree is ticked once. Its root selector tries an emergency (a message),
// then a model that may propose one action when it is allowed to, then the routine. Whatever is
// proposed, by the tree or by the model, has to pass the safety filter; what passes is started by
// the executor, and what lasts is ended by it. docs/reference/companion.md tells the whole story.
//
//     pons_world_view_load("config/world-view.yaml", &view, &err);
//     pons_companion_open(&(pons_companion_options){.view = view, .tree = tree, .store = store,
//                         .seed = 1, .start_min = from, .simulated = true}, &c, &err);
//     while (pons_companion_minute(c) < until)
//         pons_companion_tick(c, true, &err);
//
// Times are minutes of Unix time (UTC); the world view has the offset of its people's clocks. A
// companion asks nobody for the time: its life is at a minute, and a tick lives that minute. So a
// life can be simulated, and minutes that were missed can be lived afterwards.
//
// Threads: a companion belongs to one thread; a world view is read by any.
#pragma once

#include "pons/bt.h"
#include "pons/ext/llm.h"
#include "pons/ext/store.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_COMPANION_THREAD "companion"

typedef struct pons_world_view pons_world_view;
typedef struct pons_companion pons_companion;

// ---- the world view -----------------------------------------------------------------------------

// Reads config/world-view.yaml and checks it by schemas/world-view.json and against itself (a place
// that nobody knows, a window that does not exist). PONS_EINVAL with file:line:col.
int pons_world_view_load(const char *path, pons_world_view **ret, pons_error *err);
int pons_world_view_parse(const char *text, size_t len, const char *name, pons_world_view **ret,
                          pons_error *err);
pons_world_view *pons_world_view_ref(pons_world_view *v);
void pons_world_view_unref(pons_world_view *v); // NULL-safe

// "2026-03-02T07:20+08:00" into buf (32 bytes are enough); returns buf.
char *pons_world_view_time(const pons_world_view *v, int64_t minute, char *buf, size_t cap);
// "2026-03-02", "2026-03-02T07:20", also with a blank, seconds, and +08:00 or Z; without an offset
// it is the world view's. "07:20" is the latest such minute up to `near`. PONS_EINVAL.
int pons_world_view_minute(const pons_world_view *v, const char *text, int64_t near, int64_t *ret,
                           pons_error *err);
// Is there school on the day of this minute? *ret_why (may be NULL): the holiday's name, or NULL.
bool pons_world_view_school_day(const pons_world_view *v, int64_t minute, const char **ret_why);
// "sleep" → "sleep", "睡觉": an activity's or a place's first name in a language ("en", "zh"), else
// its id. Borrowed from v, or id itself.
const char *pons_world_view_name(const pons_world_view *v, const char *id, const char *language);

// ---- a life -------------------------------------------------------------------------------------

// {"time":…,"type":"tick|decision|action.started|action.ended|state.changed|external.message|
// filtered", …}, borrowed. All but ticks have been committed when they are shown; ticks are not
// kept. Must not call the companion.
typedef void (*pons_companion_event_fn)(void *user, const pons_value *event);

typedef struct pons_companion_options {
    pons_world_view *view;   // required; referenced
    pons_bt *tree;           // required; referenced
    pons_store store;        // ops NULL: nothing is kept
    const char *thread;      // NULL: PONS_COMPANION_THREAD
    uint64_t seed;           // of a new life
    int64_t start_min;       // of a new life: its first minute
    int64_t until_min;       // kept with the life, for those who ask where it was going; 0: no end
    bool simulated;          // kept with the life; quiet minutes are committed together
    const pons_llm *llm;     // NULL: no model; borrowed as long as the companion lives
    const pons_clock *clock; // times the model's answer; needed with llm
    // Waits until fd (-1: none) is readable or ms have passed on that clock; < 0: stop waiting.
    // NULL: no tick waits for the model. Its answer counts at the first tick that finds it, as long
    // as it has come in time; until then the routine runs.
    int (*wait)(void *user, int fd, int64_t ms);
    pons_companion_event_fn on_event; // NULL: nobody; more by pons_companion_subscribe
    void *user;
} pons_companion_options;

// Takes the thread's lease and goes on with the life that is there, or begins one. PONS_EBUSY when
// another process lives it. PONS_EINVAL names a leaf of the tree that does not exist, or what the
// saved life has that the world view has no more.
int pons_companion_open(const pons_companion_options *opts, pons_companion **ret, pons_error *err);
// Commits what is lived and not yet committed, gives the lease back, frees. NULL-safe.
void pons_companion_close(pons_companion *c);

// Subscribes to events of one type (NULL: all); at most 8. PONS_EBUSY.
int pons_companion_subscribe(pons_companion *c, const char *type, pons_companion_event_fn fn,
                             void *user, pons_error *err);

// Lives one minute. ask: the model may be asked (not when minutes are caught up with). On an error
// of the store or the tree nothing of the minute has happened and the companion has stopped: close
// it, open it again.
int pons_companion_tick(pons_companion *c, bool ask, pons_error *err);
// Between ticks, when no tick waits for the model: takes what it has said by now, and gives up a
// request that is too late. A tick does so first, too. The descriptor is the model's while a
// request is under way (readable: call poll), else -1; a model that has none is polled a few times
// a second.
void pons_companion_poll(pons_companion *c);
int pons_companion_fd(const pons_companion *c);
// Commits quiet minutes now.
int pons_companion_flush(pons_companion *c, pons_error *err);
// Leaves out the minutes up to one that is ahead; what lasted is ended.
int pons_companion_skip(pons_companion *c, int64_t minute, pons_error *err);

int64_t pons_companion_minute(const pons_companion *c); // the next to be lived
// The life as it is kept (docs/reference/companion.md). A new reference; NULL on no memory.
pons_value *pons_companion_state(const pons_companion *c);

// ---- from outside, any process ------------------------------------------------------------------

// The life as it was last committed. PONS_ENOTFOUND when there is none.
int pons_companion_read(pons_store store, const char *thread, pons_value **ret, pons_error *err);
// Events with times in [from_min, to_min], in order; each is also given its "seq". Return nonzero
// from fn to stop.
typedef int (*pons_companion_log_fn)(void *user, const pons_value *event);
int pons_companion_log(pons_store store, const char *thread, int64_t from_min, int64_t to_min,
                       pons_companion_log_fn fn, void *user, pons_error *err);
// What was decided at a minute, and what it had to do with: {time, decision (the one in force: its
// "time" may be earlier when minutes after it decided the same), events[] of that minute, activity
// (what lasted then, or null)}. PONS_ENOTFOUND before the life's first minute and from its next on.
int pons_companion_why(pons_store store, const char *thread, const pons_world_view *v,
                       int64_t minute, pons_value **ret, pons_error *err);
// Posts {text, from?, urgent?} to the companion's phone. It is read at its next minute, if it may.
int pons_companion_message(pons_store store, const char *thread, const char *text, const char *from,
                           bool urgent, pons_error *err);

PONS_C_END
