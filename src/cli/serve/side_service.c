// side_service.c - something else that lives in one process with a brain, its page and its API.
//
// The brain and the server are the loop's thread's, what lives beside them has a thread of its own.
// Who leaves the loop ends the life; a life that ends, ends the loop.
#include "cli/served.h"
#include "pons/rule_policy.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREAD "main" // the robot's

typedef struct beside {
    const cli_beside *o;
    bool running;
    pthread_t thread;
    atomic_bool over;
    int rc;
    pons_error err;
} beside;

static void *live(void *user)
{
    beside *b = user;
    b->rc = b->o->live(b->o->user, &b->err);
    atomic_store(&b->over, true);
    return NULL;
}

static int begin(void *user, pons_error *err)
{
    beside *b = user;
    b->running = pthread_create(&b->thread, NULL, live, b) == 0;
    return b->running ? PONS_OK : pons_error_set(err, PONS_EENV, "serve", "no thread for a life");
}

static bool over(void *user)
{
    beside *b = user;
    return atomic_load(&b->over);
}

static void closed(void *user)
{
    beside *b = user;
    if (b->running) {
        b->o->leave(b->o->user);
        pthread_join(b->thread, NULL);
    }
}

int cli_server_beside(cli *c, cli_server *server, const cli_beside *o, pons_error *err)
{
    pons_policy policy = {0};
    beside b = {.o = o, .err = PONS_ERROR_INIT};
    const cli_session_options session = {
        .run = {.thread = THREAD,
                .policy = &policy,
                .llm = o->llm,
                .speed = 1.0,
                .guests = {cli_server_guest(server, &(app_server_session){.thread = THREAD,
                                                                          .llm = o->llm,
                                                                          .policy = &policy}),
                           {.ready = begin, .close = closed, .over = over, .user = &b}},
                .n_guests = 2},
        .serve = true,
        .quiet = true};
    int rc = app_policy(&c->app, &policy, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : cli_server_claim(server, err);
    rc = rc < 0 ? rc : cli_session_run(c, &session, err);
    if (rc >= 0 && b.rc < 0) {
        *err = b.err;
        rc = b.rc;
    }
    pons_rules_close(&policy);
    return rc;
}
