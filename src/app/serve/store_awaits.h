// store_awaits.h - awaits of served graphs whose answer comes to be in the store: one thread looks for all.
#pragma once

#include "pons/serve.h"

typedef struct app_follower app_follower;

enum { APP_WORDS_MAX = 4096 }; // bytes, with their end

typedef struct app_followed { // an await that is open
    struct app_followed *next;
    char thread[PONS_NAME_MAX], await[64]; // the client's
    // The answer, when it is there; else NULL. On the follower's thread, under its lock.
    pons_value *(*look)(void *user, struct app_followed *f);
    char task[64];            // whose tokens it wants to show, when that is known; else ""
    char text[APP_WORDS_MAX]; // what was said
    int64_t after;            // and where the log stood then; moved on by look
    void *user;
} app_followed;

int app_follower_open(app_follower **ret, pons_error *err);
void app_follower_close(app_follower *w); // after the server; NULL-safe
// Where answers go; NULL: the server goes, and nobody is answered any more.
void app_follower_serve(app_follower *w, pons_serve *s);
// An await of {thread, text, task?, after}. look and user are the await's.
void app_follower_start(app_follower *w, const char *await_id, const pons_value *request,
                        pons_value *(*look)(void *user, app_followed *f), void *user);
// A token of a model that thinks about a task (the brain's live event): shown to who follows the task, as of the brain's
// R2. From the brain's thread: it waits for nothing but another token. Borrowed.
void app_follower_token(app_follower *w, const pons_value *token);
void app_follower_forget(app_follower *w, const char *thread);

// ---- served_words.c: what a run of such a graph begins with -------------------------------------

// The words of the last message, which has to be a person's: else PONS_EINVAL of `where`. *ret: the caller's.
int app_served_words(pons_cx *cx, const char *where, pons_value **ret, pons_error *err);
// Where the log of a thread stands: a number, the caller's.
int app_log_mark(pons_store store, const char *thread, pons_value **ret, pons_error *err);
// Whether these words wait in the inbox of a thread. kind NULL: any.
int app_inbox_has(pons_store store, const char *thread, const char *ns, const char *kind,
                  const char *text, bool *ret, pons_error *err);
