// event_queue.c - events of calls between a provider's threads and its host.
//
// A list under one lock, and the live calls as sorted numbers. The descriptor is written when the
// list stops being empty and read when it becomes so, both under the lock: it is readable exactly
// while there is something to take, but for wake. The lock is a leaf: nothing is called under it
// but `clear`, which only frees.
#include "pons/event_queue.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct pons__queued {
    struct pons__queued *next;
    uint64_t call;
    _Alignas(max_align_t) unsigned char event[];
} queued;

// ---- helpers ------------------------------------------------------------------------------------

// [mtx] Where the call is among the live ones, or would be.
static size_t find(const pons_event_queue *q, uint64_t call, bool *ret_is)
{
    size_t from = 0, to = q->n_live;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (q->live[mid] < call) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    *ret_is = from < q->n_live && q->live[from] == call;
    return from;
}

// [mtx]
static void forget(pons_event_queue *q, size_t at)
{
    memmove(q->live + at, q->live + at + 1, (q->n_live - at - 1) * sizeof *q->live);
    q->n_live--;
}

// [mtx] The call's events out of the list; call NULL: all.
static void drop(pons_event_queue *q, const uint64_t *call)
{
    queued **at = &q->head;
    q->tail = NULL;
    while (*at) {
        queued *one = *at;
        if (call && one->call != *call) {
            q->tail = one;
            at = &one->next;
            continue;
        }
        *at = one->next;
        q->clear(one->event);
        free(one);
    }
}

int pons_event_queue_init(pons_event_queue *q, size_t size, void (*clear)(void *event),
                          pons_error *err)
{
    *q = (pons_event_queue){.size = size, .clear = clear};
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->fd < 0) {
        *q = (pons_event_queue){0};
        return pons_error_set(err, PONS_EENV, "events", "no descriptor: %s", strerror(errno));
    }
    pthread_mutex_init(&q->mtx, NULL);
    return PONS_OK;
}

void pons_event_queue_fini(pons_event_queue *q)
{
    if (!q->clear) {
        return;
    }
    drop(q, NULL);
    free(q->live);
    close(q->fd);
    pthread_mutex_destroy(&q->mtx);
    *q = (pons_event_queue){0};
}

int pons_event_queue_begin(pons_event_queue *q, uint64_t call)
{
    int rc = PONS_OK;
    bool is;
    pthread_mutex_lock(&q->mtx);
    const size_t at = find(q, call, &is);
    if (is) {
        rc = PONS_EEXIST;
    } else if (!pons_list_reserve(&q->live, &q->cap_live, q->n_live + 1, sizeof *q->live)) {
        rc = PONS_ENOMEM;
    }
    if (rc == PONS_OK) {
        memmove(q->live + at + 1, q->live + at, (q->n_live - at) * sizeof *q->live);
        q->live[at] = call;
        q->n_live++;
    }
    pthread_mutex_unlock(&q->mtx);
    return rc;
}

bool pons_event_queue_end(pons_event_queue *q, uint64_t call)
{
    bool is;
    pthread_mutex_lock(&q->mtx);
    const size_t at = find(q, call, &is);
    if (is) {
        forget(q, at);
    }
    drop(q, &call);
    pthread_mutex_unlock(&q->mtx);
    return is;
}

void pons_event_queue_end_all(pons_event_queue *q)
{
    pthread_mutex_lock(&q->mtx);
    q->n_live = 0;
    drop(q, NULL);
    pthread_mutex_unlock(&q->mtx);
}

void pons_event_queue_push(pons_event_queue *q, uint64_t call, const void *event, bool last)
{
    queued *one = malloc(sizeof *one + q->size);
    if (!one) {
        pons_end_no_memory("an event of a call");
    }
    *one = (queued){.call = call};
    memcpy(one->event, event, q->size);
    bool is;
    pthread_mutex_lock(&q->mtx);
    const size_t at = find(q, call, &is);
    if (is && last) {
        forget(q, at);
    }
    if (is && q->tail) {
        q->tail->next = one;
        q->tail = one;
    } else if (is) {
        q->head = q->tail = one;
        eventfd_write(q->fd, 1);
    }
    pthread_mutex_unlock(&q->mtx);
    if (!is) {
        q->clear(one->event);
        free(one);
    }
}

void pons_event_queue_wake(pons_event_queue *q)
{
    eventfd_write(q->fd, 1);
}

bool pons_event_queue_next(pons_event_queue *q, void *ret_event)
{
    pthread_mutex_lock(&q->mtx);
    queued *one = q->head;
    if (one) {
        q->head = one->next;
        q->tail = q->head ? q->tail : NULL;
    }
    if (!q->head) {
        eventfd_t ignored;
        eventfd_read(q->fd, &ignored);
    }
    pthread_mutex_unlock(&q->mtx);
    if (one) {
        memcpy(ret_event, one->event, q->size);
        free(one);
    }
    return one != NULL;
}
