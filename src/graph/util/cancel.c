// cancel.c - a request to end runs. A program makes one, gives it to the runs that it is for
// (pons_run_options.cancel), and asks on whatever thread it likes, or in a signal handler: the word
// is set before the descriptor gets readable, so whoever was woken sees it. Runs and the workers of
// blocking nodes keep a reference each, so nobody has to wait for anybody to give it up.
#include "graph/util/cancel.h"

#include "graph/engine.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct pons_cancel {
    atomic_uint refs;
    atomic_int how;          // the first request stays
    int fd;                  // const
    void (*end)(void *user); // set by who made it, before others have it
    void *user;
};

int pons_cancel_create(pons_cancel **ret, pons_error *err)
{
    pons_cancel *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a cancel");
    }
    c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->fd < 0) {
        free(c);
        return pons_error_set(err, PONS_EIO, PONS__MODULE, "no descriptor for a cancel");
    }
    atomic_init(&c->refs, 1);
    atomic_init(&c->how, PONS_CANCEL_NONE);
    *ret = c;
    return PONS_OK;
}

pons_cancel *pons__cancel_ref(pons_cancel *c)
{
    if (c) {
        atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    }
    return c;
}

void pons_cancel_destroy(pons_cancel *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) > 1) {
        return;
    }
    if (c->end) {
        c->end(c->user);
    }
    close(c->fd);
    free(c);
}

bool pons__cancel_attach(pons_cancel *c, void (*end)(void *user), void *user)
{
    if (c->end) {
        return false;
    }
    c->end = end;
    c->user = user;
    return true;
}

void pons__cancel_detach(pons_cancel *c)
{
    c->end = NULL;
}

void pons_cancel_request(pons_cancel *c, pons_cancel_how how)
{
    const int was = errno; // of whatever a signal has interrupted
    int none = PONS_CANCEL_NONE;
    if (how != PONS_CANCEL_NONE) {
        atomic_compare_exchange_strong(&c->how, &none, (int)how);
        const uint64_t one = 1;
        while (write(c->fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }
    errno = was;
}

pons_cancel_how pons_cancel_requested(const pons_cancel *c)
{
    return (pons_cancel_how)atomic_load_explicit(&c->how, memory_order_acquire);
}

int pons_cancel_fd(const pons_cancel *c)
{
    return c->fd;
}
