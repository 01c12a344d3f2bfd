// blocking_run.c - a run driven to its end by one thread, which sleeps while nothing but time and workers
// can go on. A program with descriptors of its own polls instead: pons_run_deadlines,
// pons_thread_fd.
#include "graph/core/run.h"
#include "graph/engine.h"

#include <errno.h>
#include <poll.h>

int pons_run_wait(pons_run *r, pons_error *err)
{
    for (;;) {
        int st = pons_run_advance(r, err);
        if (st == PONS_OK && r->state == PONS_RUN_PARKED) {
            st = pons_run_sleep(r, err);
        }
        if (st != PONS_OK || r->state != PONS_RUN_READY) {
            return st;
        }
    }
}

int pons_run_sleep(pons_run *r, pons_error *err)
{
    pons_thread *t = r->t;
    while (r->state == PONS_RUN_PARKED) {
        int64_t due_ns = pons_run_deadlines(r, err);
        if (r->state != PONS_RUN_PARKED) {
            break;
        }
        bool working = t->pool && pons__pool_busy(t->pool);
        if (due_ns == INT64_MAX && !working) {
            break; // for something that the caller serves
        }
        int timeout_ms = -1;
        if (due_ns != INT64_MAX) {
            int64_t ms = (due_ns - pons_now_ns(&t->clock) + PONS_NS_PER_MS - 1) / PONS_NS_PER_MS;
            timeout_ms = ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
        }
        struct pollfd p[] = {
            {.fd = t->pool ? pons__pool_fd(t->pool) : -1, .events = POLLIN},
            {.fd = r->opts.cancel ? pons_cancel_fd(r->opts.cancel) : -1, .events = POLLIN},
        };
        if (poll(p, sizeof p / sizeof *p, timeout_ms) < 0 && errno != EINTR) {
            return pons_error_set(err, PONS_EIO, PONS__MODULE, "cannot wait for a run");
        }
        pons_thread_deliver(t);
    }
    return PONS_OK;
}
