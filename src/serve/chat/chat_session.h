// chat_session.h - one session with the agent: what its thread does with an order, and who listens. Its thread's alone but
// for what says [desk], which is under the desk's lock.
#pragma once

#include "serve/chat/session_threads.h"

#include <pthread.h>

typedef enum pons__order_kind {
    PONS__ORDER_SAY,
    PONS__ORDER_JOIN,
    PONS__ORDER_ANSWER,
    PONS__ORDER_HALT,
    PONS__ORDER_TURN,
    PONS__ORDER_LEAVE
} pons__order_kind;

typedef struct pons__order { // on the stack of the worker that waits for it, or posted: on the heap
    struct pons__order *next;
    pons__order_kind what;
    const char *text, *question; // words; whose answer
    const pons_value *answer;
    const pons_value *pictures; // of PONS__ORDER_SAY
    pons__listener *listener;
    bool acts; // of PONS__ORDER_SAY
    bool again;
    bool renews; // the configuration is another since the session was opened
    int64_t after;
    bool done; // [desk]
    int rc;
    pons_error err;
    // Of one that was posted: it owns its texts.
    bool posted;
    char session[PONS_NAME_MAX];
} pons__order;

typedef struct pons__session {
    struct pons__session *next; // [desk]
    pons__chat_host *d;
    pons_serve *serve;
    char name[PONS_NAME_MAX];
    pthread_t thread;
    int wake;
    pons__order *first, *last; // [desk]
    bool renew;                // [desk]
    // The rest is the thread's.
    pons_serve_agent a;
    pons__listener *listeners;
    int64_t used_ms, beat_ms;
    bool failed; // the engine is done for; open it anew
    bool looks;  // a is open with those tools alone that change nothing
} pons__session;

// Does what it is; o->rc and o->err say how that went, and its listener has heard of it.
void pons__session_do(pons__session *s, pons__order *o);
// What the agent has to do by now; when that fails, its listeners hear why and it is opened anew.
void pons__session_work(pons__session *s);
// Whoever is not there any more listens no more.
void pons__session_beat(pons__session *s, int64_t now);
// Until there is something to do, at most a second.
void pons__session_wait(pons__session *s);
bool pons__session_rests(const pons__session *s); // nothing is under way, nobody listens
void pons__session_end(pons__session *s, int rc, const pons_error *err); // nobody listens any more
void pons__session_deaf(pons__listener *l, int rc, const pons_error *err); // the one; NULL-safe
// Those who listen for a thread's run, told nothing more, not even that.
void pons__session_forget(pons__listener **list, const char *thread);
