// worker_thread.c - a thread of the server: begun, woken, told to end.
#include "serve/access/worker_thread.h"

#include "serve/access/server.h"

#include <sys/eventfd.h>
#include <unistd.h>

int pons__thread_begin(pons__thread *t, void *(*run)(void *user), void *user, const char *what,
                       pons_error *err)
{
    pthread_mutex_init(&t->mtx, NULL);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->runs = t->wake >= 0 && pthread_create(&t->id, NULL, run, user) == 0;
    return t->runs ? PONS_OK : pons_error_set(err, PONS_EENV, PONS__SERVE, "no thread %s", what);
}

void pons__thread_wake(const pons__thread *t)
{
    eventfd_write(t->wake, 1);
}

void pons__thread_awake(const pons__thread *t)
{
    eventfd_t ignored;
    (void)eventfd_read(t->wake, &ignored); // it fails when nothing has woken it
}

bool pons__thread_closing(pons__thread *t)
{
    pthread_mutex_lock(&t->mtx);
    const bool yes = t->closing;
    pthread_mutex_unlock(&t->mtx);
    return yes;
}

void pons__thread_stop(pons__thread *t)
{
    if (t->runs) {
        pthread_mutex_lock(&t->mtx);
        t->closing = true;
        pthread_mutex_unlock(&t->mtx);
        pons__thread_wake(t);
        pthread_join(t->id, NULL);
        t->runs = false;
    }
}

void pons__thread_fini(pons__thread *t)
{
    pons__thread_stop(t);
    if (t->wake >= 0) {
        close(t->wake);
    }
    pthread_mutex_destroy(&t->mtx);
}
