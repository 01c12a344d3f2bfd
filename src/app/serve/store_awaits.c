// store_awaits.c - awaits of served graphs whose answer comes to be in the store: one thread looks for all.
#include "app/serve/store_awaits.h"

#include "pons/out_of_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 50, TOKENS_MAX = 4096, TOKEN_KEPT_MS = 1000 };

struct app_follower {
    pthread_mutex_t mtx;
    pthread_cond_t some;
    pthread_t thread;
    bool has_thread;
    bool closing;               // [mtx]
    app_followed *first;        // [mtx]
    pons_serve *s;              // [mtx]
    pthread_mutex_t tokens_mtx; // after mtx
    pons_value *tokens;         // [tokens_mtx] that came since the last look
};

static void wait_a_little(app_follower *w) // under its lock
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * PONS_NS_PER_MS;
    until.tv_sec += until.tv_nsec / PONS_NS_PER_S;
    until.tv_nsec %= PONS_NS_PER_S;
    pthread_cond_timedwait(&w->some, &w->mtx, &until);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (PONS_NS_PER_S / PONS_NS_PER_MS) + now.tv_nsec / PONS_NS_PER_MS;
}

// To all who follow its task; false: nobody does.
static bool show_token(const app_follower *w, const pons_value *token)
{
    bool shown = false;
    for (const app_followed *f = w->first; f; f = f->next) {
        if (*f->task && strcmp(f->task, pons_get_str(token, "task_id", "")) == 0) {
            shown = true;
            pons_serve_message(w->s, f->thread, f->await, "react_decide",
                               pons_object("type", json_string("AIMessageChunk"), "id",
                                           pons_value_ref(pons_get(token, "call_id")), "content",
                                           pons_value_ref(pons_get(token, "content")), NULL));
        }
    }
    return shown;
}

// Under its lock, and before what the log says is told: a decision comes behind its tokens. A model may be faster than
// whoever asked is told which task it is: what nobody has heard is kept for a moment.
static void show_tokens(app_follower *w)
{
    pthread_mutex_lock(&w->tokens_mtx);
    pons_autovalue all = w->tokens;
    w->tokens = NULL;
    pthread_mutex_unlock(&w->tokens_mtx);
    pons_value *left = json_array();
    const int64_t now = now_ms();
    pons_each(one, all) {
        if (now - pons_get_int(one, "at_ms", 0) < TOKEN_KEPT_MS &&
            !show_token(w, pons_get(one, "token"))) {
            json_array_append(left, one);
        }
    }
    pthread_mutex_lock(&w->tokens_mtx);
    json_array_extend(left, w->tokens); // that have come meanwhile
    pons_value_unref(w->tokens);
    w->tokens = left;
    pthread_mutex_unlock(&w->tokens_mtx);
}

static void *follow_all(void *user)
{
    app_follower *w = user;
    pthread_mutex_lock(&w->mtx);
    while (!w->closing) {
        if (!w->first || !w->s) {
            pthread_cond_wait(&w->some, &w->mtx);
            continue;
        }
        show_tokens(w);
        for (app_followed **at = &w->first; *at;) {
            app_followed *f = *at;
            pons_value *answer = f->look(f->user, f);
            if (answer) {
                show_tokens(w); // that came before it; the look may have found out whose they are

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

int app_follower_open(app_follower **ret, pons_error *err)
{
    app_follower *w = pons_need_zeroed(1, sizeof *w);
    pthread_mutex_init(&w->mtx, NULL);
    pthread_mutex_init(&w->tokens_mtx, NULL);
    pthread_cond_init(&w->some, NULL);
    w->has_thread = pthread_create(&w->thread, NULL, follow_all, w) == 0;
    if (!w->has_thread) {
        app_follower_close(w);
        return pons_error_set(err, PONS_EENV, "serve", "no thread to follow the store with");
    }
    *ret = w;
    return PONS_OK;
}

void app_follower_close(app_follower *w)
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
        app_followed *next = w->first->next;
        free(w->first);
        w->first = next;
    }
    pthread_cond_destroy(&w->some);
    pthread_mutex_destroy(&w->mtx);
    pthread_mutex_destroy(&w->tokens_mtx);
    pons_value_unref(w->tokens);
    free(w);
}

void app_follower_serve(app_follower *w, pons_serve *s)
{
    pthread_mutex_lock(&w->mtx);
    w->s = s;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->mtx);
}

void app_follower_start(app_follower *w, const char *await_id, const pons_value *request,
                        pons_value *(*look)(void *user, app_followed *f), void *user)
{
    app_followed *f = pons_need_zeroed(1, sizeof *f);
    snprintf(f->thread, sizeof f->thread, "%s", pons_get_str(request, "thread", ""));
    snprintf(f->await, sizeof f->await, "%s", await_id);
    snprintf(f->text, sizeof f->text, "%s", pons_get_str(request, "text", ""));
    snprintf(f->task, sizeof f->task, "%s", pons_get_str(request, "task", ""));
    f->after = pons_get_int(request, "after", 0);
    f->look = look;
    f->user = user;
    pthread_mutex_lock(&w->mtx);
    f->next = w->first;
    w->first = f;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->mtx);
}

void app_follower_token(app_follower *w, const pons_value *token)
{
    pthread_mutex_lock(&w->tokens_mtx);
    w->tokens = w->tokens ? w->tokens : json_array();
    if (json_array_size(w->tokens) >= TOKENS_MAX) { // nobody follows
        json_array_remove(w->tokens, 0);
    }
    json_array_append_new(w->tokens, pons_object("at_ms", json_integer(now_ms()), "token",
                                                 pons_value_ref(token), NULL));
    pthread_mutex_unlock(&w->tokens_mtx);
}

void app_follower_forget(app_follower *w, const char *thread)
{
    pthread_mutex_lock(&w->mtx);
    for (app_followed **at = &w->first; *at;) {
        app_followed *f = *at;
        if (strcmp(f->thread, thread) == 0) {
            *at = f->next;
            free(f);
        } else {
            at = &f->next;
        }
    }
    pthread_mutex_unlock(&w->mtx);
}
