// store.c - what every store shares.
//
// Two stores live here behind the contract of pons/ext/store.h: sqlite/ keeps everything in one file, or in
// the process's memory for tests, simulations and runs that need not survive; postgres/ on a server.
// One conformance suite, tests/store/conformance.c, holds for all: where they could differ, the suite
// decides, not the backend.
#include "store/store.h"

#include "pons/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- helpers ------------------------------------------------------------------------------------

static bool terminated(const char *text, size_t cap)
{
    return memchr(text, '\0', cap) != NULL;
}

static int check_checkpoint(const pons_checkpoint_row *row, pons_error *err)
{
    if (!row->id[0] || !terminated(row->id, sizeof row->id) ||
        !terminated(row->parent, sizeof row->parent)) {
        return pons_error_set(err, PONS_EINVAL, "store", "a checkpoint needs an id");
    }
    return row->ns ? pons__store_check_ns(row->ns, err) : PONS_OK;
}

static int check_record(const pons_record_row *row, pons_error *err)
{
    if (!row->checkpoint[0] || !terminated(row->checkpoint, sizeof row->checkpoint) ||
        !terminated(row->task, sizeof row->task)) {
        return pons_error_set(err, PONS_EINVAL, "store", "a record needs a checkpoint");
    }
    return PONS_OK;
}

void pons_store_close(pons_store *s)
{
    if (!s || !s->ops) {
        return;
    }
    s->ops->close(s->self);
    *s = (pons_store){0};
}

int pons__store_check_thread(const char *thread, pons_error *err)
{
    if (!thread || !thread[0]) {
        return pons_error_set(err, PONS_EINVAL, "store", "a thread needs a name");
    }
    if (strlen(thread) >= PONS_NAME_MAX) {
        return pons_error_set(err, PONS_EINVAL, "store",
                              "thread name of %zu bytes is too long (at most %d): %.40s…",
                              strlen(thread), PONS_NAME_MAX - 1, thread);
    }
    return PONS_OK;
}

int pons__store_check_ns(const char *ns, pons_error *err)
{
    if (!ns) {
        return pons_error_set(err, PONS_EINVAL, "store", "a namespace is missing");
    }
    if (strlen(ns) >= PONS_NAME_MAX) {
        return pons_error_set(err, PONS_EINVAL, "store",
                              "namespace of %zu bytes is too long (at most %d): %.40s…", strlen(ns),
                              PONS_NAME_MAX - 1, ns);
    }
    return PONS_OK;
}

static int check_mail(const pons_inbox_row *row, pons_error *err)
{
    const int rc = pons__store_check_ns(row->ns, err);
    return !rc && !row->kind
               ? pons_error_set(err, PONS_EINVAL, "store", "an inbox message needs a kind")
               : rc;
}

int pons__store_check_post(const char *thread, const pons_inbox_row *row, pons_error *err)
{
    const int rc = pons__store_check_thread(thread, err);
    return rc ? rc : check_mail(row, err);
}

int pons__store_check_commit(const pons_commit *c, pons_error *err)
{
    if (!c || !c->lease) {
        return pons_error_set(err, PONS_EINVAL, "store", "a commit needs a lease");
    }
    int rc = PONS_OK;
    if (c->n_checkpoints || c->n_records) {
        rc = pons__store_check_ns(c->ns, err);
    }
    for (size_t i = 0; !rc && i < c->n_checkpoints; i++) {
        rc = check_checkpoint(&c->checkpoints[i], err);
    }
    for (size_t i = 0; !rc && i < c->n_records; i++) {
        rc = check_record(&c->records[i], err);
    }
    for (size_t i = 0; !rc && i < c->n_posts; i++) {
        rc = check_mail(&c->posts[i], err);
    }
    for (size_t i = 0; !rc && i < c->n_effects; i++) {
        rc = pons__store_check_ns(c->effects[i].ns, err);
        if (!rc &&
            (!c->effects[i].id[0] || !terminated(c->effects[i].id, sizeof c->effects[i].id))) {
            rc = pons_error_set(err, PONS_EINVAL, "store", "an effect needs an id");
        }
        if (!rc && (c->effects[i].state < 0 || c->effects[i].state > 31)) {
            rc = pons_error_set(err, PONS_EINVAL, "store", "effect state %d is out of range",
                                (int)c->effects[i].state);
        }
    }
    for (size_t i = 0; !rc && i < c->n_events; i++) {
        rc = pons__store_check_ns(c->events[i].ns, err);
        if (!rc && !c->events[i].type) {
            rc = pons_error_set(err, PONS_EINVAL, "store", "an event needs a type");
        }
    }
    return rc ? rc : pons__store_check_items(c->items, c->n_items, err);
}

uint32_t pons__store_hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 16777619u;
    }
    return h;
}

int64_t pons__store_wall_ms(void)
{
    pons_clock clock = pons_clock_real();
    return pons_wall_ms(&clock);
}

void pons__store_host(char ret[PONS__HOST_MAX])
{
    if (gethostname(ret, PONS__HOST_MAX) != 0) {
        strcpy(ret, "localhost");
    }
    ret[PONS__HOST_MAX - 1] = '\0';
}

int pons__store_stale(pons_error *err, const char *thread, uint64_t have, uint64_t now)
{
    return pons_error_set(
        err, PONS_ESTALE, "store",
        "thread %s has another writer: this lease's epoch is %llu, the store's %llu", thread,
        (unsigned long long)have, (unsigned long long)now);
}

int pons__store_held(pons_error *err, const char *thread, int64_t pid, const char *host)
{
    if (pid <= 0) {
        return pons_error_set(err, PONS_EBUSY, "store", "thread %s is held by another process",
                              thread);
    }
    return pons_error_set(err, PONS_EBUSY, "store", "thread %s is held by pid %lld on %s", thread,
                          (long long)pid, host);
}

int pons__store_other_schema(pons_error *err, int version, int known)
{
    return version > known
               ? pons_error_set(err, PONS_EUNSUPPORTED, "store",
                                "the store has schema %d, this program knows up to %d", version,
                                known)
               : pons_error_set(err, PONS_EUNSUPPORTED, "store",
                                "the store has schema %d, from before the first release", version);
}

int pons__store_exists(pons_error *err, const char *thread)
{
    return pons_error_set(err, PONS_EEXIST, "store", "there is a thread %s already", thread);
}

int pons__store_no_checkpoint(pons_error *err, const char *thread, const char *ns, const char *id)
{
    if (id) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint %s",
                              thread, id);
    }
    return pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint in '%s'",
                          thread, ns);
}
