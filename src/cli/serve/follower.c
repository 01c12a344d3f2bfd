// follower.c - awaits of served graphs whose answer comes to be in the store: one thread looks for all.
#include "cli/serve/follower.h"

#include "pons/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 50 };

struct cli_follower {
    pthread_mutex_t mtx;
    pthread_cond_t some;
    pthread_t thread;
    bool has_thread;
    bool closing;        // [mtx]
    cli_followed *first; // [mtx]
    pons_serve *s;       // [mtx]
};

static void wait_a_little(cli_follower *w) // under its lock
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * PONS_NS_PER_MS;
    until.tv_sec += until.tv_nsec / PONS_NS_PER_S;
    until.tv_nsec %= PONS_NS_PER_S;
    pthread_cond_timedwait(&w->some, &w->mtx, &until);
}

static void *follow_all(void *user)
{
    cli_follower *w = user;
    pthread_mutex_lock(&w->mtx);
    while (!w->closing) {
        if (!w->first || !w->s) {
            pthread_cond_wait(&w->some, &w->mtx);
            continue;
        }
        for (cli_followed **at = &w->first; *at;) {
            cli_followed *f = *at;
            pons_value *answer = f->look(f->user, f);
            if (answer) {
                pons_serve_answer(w->s, f->thread, f->await, answer);
                *at = f->next;
                free(f);
            } else {
                at = &f->next;
            }
        }
        wait_a_little(w);
    }
    pthread_mutex_unlock(&w->mtx);
    return NULL;
}

int cli_follower_open(cli_follower **ret, pons_error *err)
{
    cli_follower *w = pons_need_zeroed(1, sizeof *w);
    pthread_mutex_init(&w->mtx, NULL);
    pthread_cond_init(&w->some, NULL);
    w->has_thread = pthread_create(&w->thread, NULL, follow_all, w) == 0;
    if (!w->has_thread) {
        cli_follower_close(w);
        return pons_error_set(err, PONS_EENV, "serve", "no thread to follow the store with");
    }
    *ret = w;
    return PONS_OK;
}

void cli_follower_close(cli_follower *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->mtx);
    w->closing = true;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->mtx);
    if (w->has_thread) {
        pthread_join(w->thread, NULL);
    }
    while (w->first) {
        cli_followed *next = w->first->next;
        free(w->first);
        w->first = next;
    }
    pthread_cond_destroy(&w->some);
    pthread_mutex_destroy(&w->mtx);
    free(w);
}

void cli_follower_serve(cli_follower *w, pons_serve *s)
{
    pthread_mutex_lock(&w->mtx);
    w->s = s;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->mtx);
}

void cli_follower_add(cli_follower *w, cli_followed *f)
{
    pthread_mutex_lock(&w->mtx);
    f->next = w->first;
    w->first = f;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->mtx);
}

void cli_follower_forget(cli_follower *w, const char *thread)
{
    pthread_mutex_lock(&w->mtx);
    for (cli_followed **at = &w->first; *at;) {
        cli_followed *f = *at;
        if (strcmp(f->thread, thread) == 0) {
            *at = f->next;
            free(f);
        } else {
            at = &f->next;
        }
    }
    pthread_mutex_unlock(&w->mtx);
}
