// store_awaits.h - awaits of served graphs whose answer comes to be in the store: one thread looks for all.
#ifndef PONS_CLI_SERVE_STORE_AWAITS_H
#define PONS_CLI_SERVE_STORE_AWAITS_H

#include "pons/serve.h"

typedef struct cli_follower cli_follower;

typedef struct cli_followed { // the graph's, which puts its own behind it
    struct cli_followed *next;
    char thread[PONS_NAME_MAX], await[64]; // the client's
    // The answer, when it is there; else NULL. On the follower's thread, under its lock.
    pons_value *(*look)(void *user, struct cli_followed *f);
    char task[64]; // whose tokens it wants to show, when that is known; else ""
    void *user;
} cli_followed;

int cli_follower_open(cli_follower **ret, pons_error *err);
void cli_follower_close(cli_follower *w); // after the server; NULL-safe
// Where answers go; NULL: the server goes, and nobody is answered any more.
void cli_follower_serve(cli_follower *w, pons_serve *s);
void cli_follower_add(cli_follower *w, cli_followed *f); // takes f: of malloc
// A token of a model that thinks about a task (the brain's live event): shown to who follows the task, as of the brain's
// R2. From the brain's thread: it waits for nothing but another token. Borrowed.
void cli_follower_token(cli_follower *w, const pons_value *token);
void cli_follower_forget(cli_follower *w, const char *thread);

#endif
