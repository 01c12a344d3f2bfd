// remote_cancel.c - requests to cancel that come from other processes.
//
// They lie in the thread's inbox, in a namespace that no graph reads, until the holder has ended its
// run. A listener is a thread that looks there: a node may be at work on the holder's loop thread, and
// nobody but it could be told then. What lay there before it began was meant for another run.
//
//   pons_cancel_post --> inbox "__cancel__" --> listener --> pons_cancel_request --> the run ends
//                                   ^                                                   |
//                                   +------------------------- taken <------------------+
#include "graph/core/remote_cancel.h"

#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/util/cancel.h"
#include "pons/growing_list.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CANCEL_SPACE "__cancel__"
enum { LOOK_MS = 100 };
static const char *const how_words[] = {"none", "interrupt", "rollback"};

typedef struct listener {
    pons_cancel *c;   // whose it is
    pons_store store; // const
    char thread[PONS_NAME_MAX];
    int64_t after; // the thread's own
    int stop_fd;
    pthread_t id;
} listener;

int pons_cancel_post(pons_store store, const char *thread, pons_cancel_how how, pons_error *err)
{
    pons_lease holder = {0};
    if (how != PONS_CANCEL_INTERRUPT && how != PONS_CANCEL_ROLLBACK) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a cancel interrupts or rolls back");
    }
    const int st = store.ops->lease_peek(store.self, thread, &holder, err);
    if (st != PONS_OK) {
        return st == PONS_ENOTFOUND ? pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                                                     "nobody runs thread %s", thread)
                                    : st;
    }
    const pons_inbox_row row = {
        .ns = CANCEL_SPACE, .kind = how_words[how], .value = {"null", strlen("null")}};
    int64_t seq;
    return store.ops->inbox_post(store.self, thread, &row, &seq, err);
}

// ---- the listener -------------------------------------------------------------------------------

static int last_seq(void *user, const pons_inbox_row *row)
{
    *(int64_t *)user = row->seq;
    return 0;
}

static int heed(void *user, const pons_inbox_row *row)
{
    listener *l = user;
    l->after = row->seq;
    for (int how = PONS_CANCEL_INTERRUPT; how <= PONS_CANCEL_ROLLBACK; how++) {
        if (strcmp(row->kind, how_words[how]) == 0) {
            pons_cancel_request(l->c, (pons_cancel_how)how);
            return 1;
        }
    }
    return 0;
}

static void *listen_on(void *arg)
{
    listener *l = arg;
    struct pollfd stop = {.fd = l->stop_fd, .events = POLLIN};
    while (poll(&stop, 1, LOOK_MS) <= 0 && pons_cancel_requested(l->c) == PONS_CANCEL_NONE) {
        pons_error ignored = PONS_ERROR_INIT; // a store that is away is looked at again
        l->store.ops->inbox_read(l->store.self, l->thread, CANCEL_SPACE, l->after, heed, l,
                                 &ignored);
    }
    return NULL;
}

static void end(void *arg)
{
    listener *l = arg;
    const uint64_t one = 1;
    while (write(l->stop_fd, &one, sizeof one) < 0) {
    }
    pthread_join(l->id, NULL);
    close(l->stop_fd);
    free(l);
}

int pons_cancel_listen(pons_cancel *c, pons_store store, const char *thread, pons_error *err)
{
    listener *l = calloc(1, sizeof *l);
    if (!l || strlen(thread) >= sizeof l->thread) {
        free(l);
        return pons_error_set(err, l ? PONS_EINVAL : PONS_ENOMEM, PONS__MODULE,
                              "cannot listen on thread %.80s", thread);
    }
    *l = (listener){.c = c, .store = store, .stop_fd = eventfd(0, EFD_CLOEXEC)};
    memcpy(l->thread, thread, strlen(thread) + 1);
    int st = l->stop_fd < 0 ? pons_error_set(err, PONS_EIO, PONS__MODULE, "no descriptor to listen")
                            : store.ops->inbox_read(store.self, thread, CANCEL_SPACE, 0, last_seq,
                                                    &l->after, err);
    st = st == PONS_ENOTFOUND ? PONS_OK : st; // a thread that is still to be made
    if (st == PONS_OK && !pons__cancel_attach(c, end, l)) {
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a cancel listens once");
    }
    if (st == PONS_OK && pthread_create(&l->id, NULL, listen_on, l) != 0) {
        pons__cancel_detach(c);
        st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "cannot start a listener");
    }
    if (st != PONS_OK) {
        if (l->stop_fd >= 0) {
            close(l->stop_fd);
        }
        free(l);
    }
    return st;
}

// ---- afterwards ---------------------------------------------------------------------------------

typedef struct seqs {
    int64_t *v;
    size_t n, cap;
    bool failed;
} seqs;

static int add_seq(void *user, const pons_inbox_row *row)
{
    seqs *s = user;
    s->failed = !pons_list_reserve(&s->v, &s->cap, s->n + 1, sizeof *s->v);
    if (!s->failed) {
        s->v[s->n++] = row->seq;
    }
    return s->failed;
}

int pons__cancel_heeded(pons_thread *t, pons_error *err)
{
    seqs s = {0};
    int st = t->store.ops->inbox_read(t->store.self, t->id, CANCEL_SPACE, 0, add_seq, &s, err);
    if (st == PONS_OK && s.n > 0) {
        const pons_commit c = {
            .lease = &t->lease, .ns = "", .inbox_taken = s.v, .n_inbox_taken = s.n};
        st = pons__thread_commit(t, NULL, &c, false, err);
    }
    free(s.v);
    return st;
}
