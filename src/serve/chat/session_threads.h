// session_threads.h - sessions with the planning agent: one thread each, for as long as somebody needs it.
#pragma once

#include "serve/access/server.h"

// Who hears a session's turn. All on the session's thread; the desk owns it from the call that gets
// it on, also when that fails.
typedef struct pons__listener {
    struct pons__listener *next; // the desk's
    // An event; false: that was enough.
    bool (*hear)(struct pons__listener *l, const pons_event *ev);
    bool (*beat)(struct pons__listener *l); // now and then; false: it is gone. NULL: it never is
    // The end: of the turn (rc >= 0), or why there is none. Frees l.
    void (*end)(struct pons__listener *l, int rc, const pons_error *err);
    // Whoever carries this thread's run does not want to hear any more: frees l, and says nothing. False:
    // it is another one's. May be NULL.
    bool (*leaves)(struct pons__listener *l, const char *thread);
} pons__listener;

int pons__chat_host_open(pons_serve *s, pons__chat_host **ret, pons_error *err);
void pons__chat_host_stop(pons__chat_host *d);  // every session is left as it is; NULL-safe
void pons__chat_host_close(pons__chat_host *d); // after the server's last request; NULL-safe

// Each waits until the session has heard it. Workers.

// A session whose name begins so may only look, but in a turn that says that it acts.
#define PONS__DESK_LOOKS "openai-"

// Begins a turn; l (NULL: nobody) hears it to its end. PONS_EBUSY: one is under way, or another process has the
// session; then l has been ended with that.
int pons__chat_host_say(pons__chat_host *d, const char *session, const char *text,
                        const pons_value *pictures, bool acts, pons__listener *l, pons_error *err);
// Pictures of a request, each a data: URL of a JPEG or PNG, kept for a turn. *ret: the caller's. PONS_EINVAL says which
// is none.
int pons__chat_pictures(const pons_serve *s, const pons_value *urls, pons_value **ret,
                        pons_error *err);
// l (NULL: nobody) hears the turn that is under way, from its beginning as far as it is stored; without one, it ends.
int pons__chat_host_join(pons__chat_host *d, const char *session, pons__listener *l,
                         pons_error *err);
// An answer to the open question with this plan_id or request_id, in whichever session; session NULL:
// it is looked for. PONS_ENOTFOUND: nobody asks that.
int pons__chat_host_answer(pons__chat_host *d, const char *session, const char *question,
                           const pons_value *answer, pons_error *err);
int pons__chat_host_halt(pons__chat_host *d, const char *session, pons_error *err); // ends the turn
// The same without waiting: l hears what comes of it, and a refusal is its end. For threads that carry
// runs, which do not wait for sessions: one for which there is no room begins when another has left.
typedef struct pons__turn {
    const char *text;     // NULL: l hears the turn that is there
    bool again;           // the words may have been said before: they were when the session is
    int64_t after;        // at work, or has events after this one
    const char *question; // is answered first (NULL: none); one that nobody asks any more is passed
    const pons_value *answer; // over
} pons__turn;
void pons__chat_host_turn(pons__chat_host *d, const char *session, const pons__turn *t,
                          pons__listener *l);
void pons__chat_host_turn_halt(pons__chat_host *d, const char *session);
// What listens for this thread's run hears nothing more when this returns; the turn goes on.
void pons__chat_host_turn_leave(pons__chat_host *d, const char *session, const char *thread);
// Sessions without a turn are opened anew before their next one: the configuration is another.
void pons__chat_host_renew(pons__chat_host *d);

// Whether a text can be a session's name, and is not the robot's thread or another one's.
int pons__chat_host_name(const pons__chat_host *d, const char *session, pons_error *err);

// chat.c.
// Whether words to the agent are a person's stop of the robot: it is told, or, where no body answers, the brain
// keeps it for the one that comes. *ret is what came of it, *ret_says what a person is told of that.
bool pons__chat_stops(const pons_serve *s, const char *text, int *ret, const char **ret_says,
                      pons_error *err);
