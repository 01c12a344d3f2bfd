// store_awaits.h - awaits of served graphs whose answer comes to be in the store: one thread looks for all.
#ifndef PONS_APP_STORE_AWAITS_H
#define PONS_APP_STORE_AWAITS_H

#include "pons/serve.h"

typedef struct app_follower app_follower;

typedef struct app_followed { // the graph's, which puts its own behind it
    struct app_followed *next;
    char thread[PONS_NAME_MAX], await[64]; // the client's
    // The answer, when it is there; else NULL. On the follower's thread, under its lock.
    pons_value *(*look)(void *user, struct app_followed *f);
    char task[64]; // whose tokens it wants to show, when that is known; else ""
    void *user;
} app_followed;

int app_follower_open(app_follower **ret, pons_error *err);
void app_follower_close(app_follower *w); // after the server; NULL-safe
// Where answers go; NULL: the server goes, and nobody is answered any more.
void app_follower_serve(app_follower *w, pons_serve *s);
void app_follower_add(app_follower *w, app_followed *f); // takes f: of malloc
// A token of a model that thinks about a task (the brain's live event): shown to who follows the task, as of the brain's
// R2. From the brain's thread: it waits for nothing but another token. Borrowed.
void app_follower_token(app_follower *w, const pons_value *token);
void app_follower_forget(app_follower *w, const char *thread);

#endif
