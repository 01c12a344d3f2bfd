// postgres.c - the store in a PostgreSQL database, shared by several hosts.
//
// What differs from the store in a file is who may write and for how long, and what a round trip
// costs.
//
// A lease is a row's epoch and a time until which it holds. A thread of the store, the keeper,
// renews the leases of this process three times in that time; who dies or stops loses its threads
// when the time is over, and whoever comes then gets the next epoch. Each commit carries its epoch
// into its own transaction (`fence`), so a holder that wakes up late writes nothing.
//
// A commit is one round trip: its statements are prepared, sent in one pipeline and run as one
// transaction by the server. Under contention commits gather, and the next writer sends up to 64 of
// them in one pipeline, a transaction each; when one is refused, the server skips those behind it,
// and they are sent again unless they stand on it. Numbers of rows come from the end of each table
// inside the transaction: nothing is remembered that a lost connection could make wrong. Synced
// commits of a pipeline share one wait for the disk: the log is in order, so one synced transaction
// at its end covers all.
//
// The keeper also listens. Commits with events and messages notify the channel `pons`; what comes
// from others makes a descriptor readable, which the host polls.
//
// A connection that breaks is an error of the call that it breaks under, and the next one opens a
// new one. What became of a commit then is not known; the caller reads the head to know. A server
// that fails also takes with it what was not synced yet, in silence: so when the writer's connection
// breaks, the threads that have such commits are lost to this store until they are taken again.
//
// docs/internals/store.md has the tables. Locks: `writing` (a right, commit.c) before mtx or
// idle_mtx, never both of these. No callback runs under any.
#include "store/postgres/postgres.h"

#include "pons/module.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LEASE_MS_DEFAULT  10000
#define LEASE_MS_MIN      300
#define ANSWER_MS_DEFAULT 60000
#define ANSWER_MS_MIN     100

// ---- helpers ------------------------------------------------------------------------------------

// Behind a '#', which is never sent anywhere, stands what is ours: lease_ms=N&answer_ms=N.
static int parse_own(pg *s, const char *text, pons_error *err)
{
    const struct {
        const char *name;
        int64_t *into;
        long long least;
    } own[] = {{"lease_ms=", &s->lease_ms, LEASE_MS_MIN},
               {"answer_ms=", &s->answer_ms, ANSWER_MS_MIN}};
    for (const char *at = text; *at;) {
        size_t k = 0;
        while (k < sizeof own / sizeof own[0] &&
               strncmp(at, own[k].name, strlen(own[k].name)) != 0) {
            k++;
        }
        char *end = NULL;
        const bool known = k < sizeof own / sizeof own[0];
        const long long ms = known ? strtoll(at + strlen(own[k].name), &end, 10) : 0;
        if (!known || (*end && *end != '&') || ms < own[k].least || ms > INT_MAX) {
            return pons_error_set(
                err, PONS_EINVAL, "store",
                "'%s' is not lease_ms=N with at least %d, answer_ms=N with at least %d, or both "
                "with & between",
                text, LEASE_MS_MIN, ANSWER_MS_MIN);
        }
        *own[k].into = ms;
        at = *end ? end + 1 : end;
    }
    return PONS_OK;
}

static int parse_url(pg *s, const char *url, pons_error *err)
{
    s->lease_ms = LEASE_MS_DEFAULT;
    s->answer_ms = ANSWER_MS_DEFAULT;
    const char *hash = strchr(url, '#');
    s->url = strndup(url, hash ? (size_t)(hash - url) : strlen(url));
    if (!s->url) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    const int rc = hash ? parse_own(s, hash + 1, err) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    snprintf(s->name, sizeof s->name, "postgres");
    // The name without its words of entry.
    PQconninfoOption *all = PQconninfoParse(s->url, NULL);
    const char *host = "", *db = "";
    for (PQconninfoOption *o = all; o && o->keyword; o++) {
        if (o->val && strcmp(o->keyword, "host") == 0) {
            host = o->val;
        }
        if (o->val && strcmp(o->keyword, "dbname") == 0) {
            db = o->val;
        }
    }
    if (all) {
        snprintf(s->name, sizeof s->name, "postgres %s %s", host, db);
    }
    PQconninfoFree(all);
    return PONS_OK;
}

// ---- operations ---------------------------------------------------------------------------------

_Static_assert(offsetof(pg, q) == 0, "the ops of its queue take the store");

static void pg_store_close(void *self)
{
    pg *s = self;
    if (!s) {
        return;
    }
    pons__commitq_stop(&s->q);
    pons__pg_keeper_stop(s);
    while (s->q.lines) {
        pg_holding *h = (pg_holding *)s->q.lines;
        s->q.lines = h->line.next;
        pons__pg_let_go(s, h);
    }
    pons__pg_idle_close(s);
    while (s->untold) {
        pg_untold *next = s->untold->next;
        free(s->untold);
        s->untold = next;
    }
    pons__pg_close(&s->w);
    if (s->stop_fd >= 0) {
        close(s->stop_fd);
    }
    if (s->notify_fd >= 0) {
        close(s->notify_fd);
    }
    if (s->lanes_fd >= 0) {
        close(s->lanes_fd);
    }
    pthread_mutex_destroy(&s->idle_mtx);
    pthread_mutex_destroy(&s->keeper_mtx);
    pons__commitq_fini(&s->q);
    free(s->url);
    free(s);
}
static const pons_store_ops postgres_ops = {
    .abi = PONS_STORE_ABI,
    .name = "postgres",
    .close = pg_store_close,
    .lease_acquire = pons__pg_lease_acquire,
    .lease_release = pons__pg_lease_release,
    .lease_peek = pons__pg_lease_peek,
    .commit = pons__commitq_commit,
    .commit_async = pons__commitq_commit_async,
    .drain = pons__commitq_drain,
    .flush = pons__commitq_flush,
    .head = pons__pg_head,
    .checkpoint = pons__pg_checkpoint,
    .history = pons__read_history,
    .records = pons__read_records,
    .namespaces = pons__read_namespaces,
    .inbox_post = pons__pg_inbox_post,
    .inbox_read = pons__read_inbox,
    .effect_get = pons__read_effect,
    .effects = pons__read_effects,
    .events = pons__read_events,
    .event_last = pons__read_event_last,
    .threads = pons__pg_threads,
    .thread_delete = pons__pg_thread_delete,
    .thread_copy = pons__pg_thread_copy,
    .prune = pons__pg_prune,
    .trim = pons__pg_trim,
    .notify_fd = pons__pg_notify_fd,
    .away = pons__pg_away,
    .items_write = pons__pg_items_write,
    .item_get = pons__read_item,
    .items = pons__read_items,
    .item_spaces = pons__read_item_spaces,
    .items_sweep = pons__pg_items_sweep,
    .thread_note = pons__pg_thread_note,
    .thread_list = pons__pg_thread_list,
    .lanes = pons__pg_lanes,
};

static int pg_store_open(const char *url, pons_store *ret, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    pg *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    pons__commitq_init(&s->q, &pons__pg_queue_ops, s);
    pthread_mutex_init(&s->keeper_mtx, NULL);
    pthread_mutex_init(&s->idle_mtx, NULL);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->lanes_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pons__store_host(s->host);
    pons__pg_life(s->life, (int64_t)getpid());
    int rc = parse_url(s, url, err);
    if (!rc && (s->stop_fd < 0 || s->notify_fd < 0 || s->lanes_fd < 0)) {
        rc = pons_error_set(err, PONS_EENV, "store", "no more descriptors");
    }
    rc = rc ? rc : pons__pg_open(s, &s->w, err);
    if (!rc) {
        s->writer_pid = PQbackendPID(s->w.c);
        rc = pons__pg_schema(&s->w, err);
    }
    if (rc) {
        pg_store_close(s);
        return rc;
    }
    *ret = (pons_store){.ops = &postgres_ops, .self = s};
    return PONS_OK;
}

static const pons_store_driver postgres_driver = {
    .abi = PONS_STORE_DRIVER_ABI,
    .name = "postgres",
    .open = pg_store_open,
};
PONS_MODULE_EXPORT("store", "postgres", &postgres_driver);
