// lease.c - leases and their keeper; copies, pruning, the end of a thread.
//
// The keeper is one thread of the store, started with the first lease or listener. It renews all
// leases in one statement, three times in the time of a lease, and waits in between for notices of
// others on the same connection. Without a connection it tries again, until the leases are over and
// longer: a server that comes back in time finds them as they were.
#include "store/postgres/postgres.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RENEWALS    3   // in the time of a lease
#define RETRY_MS    200 // between two tries to reach the server
#define PRUNE_CHUNK 500 // rows of a transaction
#define VACUUM_ROWS 1000

// over: an epoch whose holder is known to be dead; 0: none is.
static int take(pg *s, const char *thread, int64_t over, PGresult **ret, pons_error *err)
{
    return pons__pg_once(s, PG_TAKE,
                         ARGS(arg_text(thread), arg_int((int64_t)getpid()), arg_text(s->host),
                              arg_int(s->lease_ms), arg_int(pons__store_wall_ms()),
                              arg_text(s->life), arg_int(over)),
                         ret, err);
}

static void release(pg *s, int64_t tid, int64_t epoch)
{
    pons_error ignored;
    const sql_args args = ARGS(arg_int(tid), arg_int(epoch));
    pg_untold *u = pons__pg_once(s, PG_RELEASE, args, NULL, &ignored) ? malloc(sizeof *u) : NULL;
    if (u) { // the server can't be told: later, or the lease ends in its time
        pthread_mutex_lock(&s->idle_mtx);
        *u = (pg_untold){.next = s->untold, .tid = tid, .epoch = epoch};
        s->untold = u;
        pthread_mutex_unlock(&s->idle_mtx);
    }
}

// Its own leases that were let go of while the server was away hold nobody up, this store least.
static void tell_untold(pg *s)
{
    pthread_mutex_lock(&s->idle_mtx);
    pg_untold *list = s->untold;
    s->untold = NULL;
    pthread_mutex_unlock(&s->idle_mtx);
    while (list) {
        pg_untold *u = list;
        list = u->next;
        release(s, u->tid, u->epoch);
        free(u);
    }
}

int pons__pg_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    pg_holding *h = calloc(1, sizeof *h);
    if (!h) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    strcpy(h->line.thread, thread);
    tell_untold(s);
    PGresult *r;
    rc = take(s, thread, 0, &r, err);
    if (!rc && !pons__pg_col_int(r, 0, 0) && strcmp(pons__pg_col_text(r, 0, 4), s->host) == 0 &&
        pons__pg_dead(s->life, pons__pg_col_int(r, 0, 3), pons__pg_col_text(r, 0, 5))) {
        const int64_t over = pons__pg_col_int(r, 0, 2);
        PQclear(r);
        rc = take(s, thread, over, &r, err);
    }
    if (!rc && !pons__pg_col_int(r, 0, 0)) {
        rc = pons__store_held(err, thread, pons__pg_col_int(r, 0, 3), pons__pg_col_text(r, 0, 4));
    }
    if (rc) {
        PQclear(r);
        free(h);
        return rc;
    }
    h->tid = pons__pg_col_int(r, 0, 1);
    h->line.epoch = (uint64_t)pons__pg_col_int(r, 0, 2);
    PQclear(r);
    *ret = (pons_lease){.epoch = h->line.epoch, .pid = (int64_t)getpid(), .impl = h};
    strcpy(ret->thread, thread);
    memcpy(ret->host, s->host, sizeof ret->host);
    pons__commitq_add(&s->q, &h->line);
    pons__pg_keeper_start(s); // without one the lease ends in its time: slower, not wrong
    return PONS_OK;
}

bool pons__pg_away(void *self)
{
    pg *s = self;
    return atomic_load(&s->away);
}

void pons__pg_lease_release(void *self, pons_lease *lease)
{
    pg *s = self;
    pons__pg_let_go(s, (pg_holding *)pons__commitq_remove(&s->q, lease));
    *lease = (pons_lease){0};
}

void pons__pg_let_go(pg *s, pg_holding *h)
{
    if (!h) {
        return;
    }
    release(s, h->tid, (int64_t)h->line.epoch);
    free(h);
}

int pons__pg_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    PGresult *r;
    rc = pons__pg_once(s, PG_PEEK, ARGS(arg_text(thread)), &r, err);
    if (!rc && PQntuples(r) == 0) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "nobody holds thread %s", thread);
    } else if (!rc) {
        *ret = (pons_lease){.epoch = (uint64_t)pons__pg_col_int(r, 0, 0),
                            .pid = pons__pg_col_int(r, 0, 1)};
        strcpy(ret->thread, thread);
        snprintf(ret->host, sizeof ret->host, "%s", pons__pg_col_text(r, 0, 2));
    }
    PQclear(r);
    return rc;
}

int pons__pg_notify_fd(void *self)
{
    pg *s = self;
    return pons__pg_keeper_start(s) ? s->notify_fd : PONS_EENV;
}

// ---- the keeper ---------------------------------------------------------------------------------

static bool keeper_connect(pg *s, pg_conn *c)
{
    pons_error ignored;
    pons__pg_close(c);
    if (pons__pg_open(s, c, &ignored) ||
        pons__pg_exec(c, "LISTEN pons; LISTEN pons_lane", &ignored)) {
        pons__pg_close(c);
        return false;
    }
    eventfd_write(s->notify_fd, 1); // what came before is not told
    eventfd_write(s->lanes_fd, 1);
    return true;
}

static void renew(pg *s, pg_conn *c)
{
    char *tids = NULL, *epochs = NULL;
    size_t n1 = 0, n2 = 0, held = 0;
    FILE *a = open_memstream(&tids, &n1), *b = open_memstream(&epochs, &n2);
    if (a && b) {
        pthread_mutex_lock(&s->q.mtx);
        for (const commit_line *line = s->q.lines; line; line = line->next, held++) {
            fprintf(a, "%c%lld", held ? ',' : '{', (long long)((const pg_holding *)line)->tid);
            fprintf(b, "%c%llu", held ? ',' : '{', (unsigned long long)line->epoch);
        }
        pthread_mutex_unlock(&s->q.mtx);
        fputc('}', a);
        fputc('}', b);
    }
    bool whole = a && b;
    if (a) {
        whole = fclose(a) == 0 && whole;
    }
    if (b) {
        whole = fclose(b) == 0 && whole;
    }
    if (whole && held) {
        pons_error ignored; // a lease that is lost shows at the next commit
        pons__pg_run(c, PG_RENEW, ARGS(arg_text(tids), arg_text(epochs), arg_int(s->lease_ms)),
                     NULL, &ignored);
    }
    free(tids);
    free(epochs);
}

static void hear(pg *s, pg_conn *c)
{
    bool news = false, lane = false;
    if (!PQconsumeInput(c->c)) {
        pons__pg_close(c);
        return;
    }
    pthread_mutex_lock(&s->keeper_mtx);
    const int own = s->writer_pid;
    pthread_mutex_unlock(&s->keeper_mtx);
    for (PGnotify *n; (n = PQnotifies(c->c)); PQfreemem(n)) {
        const bool of_lane = strcmp(n->relname, "pons_lane") == 0;
        lane = lane || of_lane;
        news = news || (!of_lane && n->be_pid != own); // its own commits are no news
    }
    if (news) {
        eventfd_write(s->notify_fd, 1);
    }
    if (lane) {
        eventfd_write(s->lanes_fd, 1);
    }
}

static void *keeper_main(void *arg)
{
    pg *s = arg;
    pg_conn c = {0};
    for (bool stop = false; !stop;) {
        bool there = c.c && PQstatus(c.c) == CONNECTION_OK;
        if (!there) {
            there = keeper_connect(s, &c);
        }
        if (there) {
            renew(s, &c);
        }
        struct pollfd look[2] = {{.fd = s->stop_fd, .events = POLLIN},
                                 {.fd = there ? PQsocket(c.c) : -1, .events = POLLIN}};
        int64_t wait_ms = s->lease_ms / RENEWALS;
        if (!there && wait_ms > RETRY_MS) {
            wait_ms = RETRY_MS;
        }
        int n = poll(look, 2, (int)wait_ms);
        stop = n > 0 && look[0].revents;
        if (n > 0 && look[1].revents) {
            hear(s, &c);
        }
    }
    pons__pg_close(&c);
    return NULL;
}

bool pons__pg_keeper_start(pg *s)
{
    pthread_mutex_lock(&s->keeper_mtx);
    if (!s->keeper_on) {
        s->keeper_on = pthread_create(&s->keeper, NULL, keeper_main, s) == 0;
    }
    bool on = s->keeper_on;
    pthread_mutex_unlock(&s->keeper_mtx);
    return on;
}

void pons__pg_keeper_stop(pg *s)
{
    pthread_mutex_lock(&s->keeper_mtx);
    bool joins = s->keeper_on;
    pthread_mutex_unlock(&s->keeper_mtx);
    if (joins && eventfd_write(s->stop_fd, 1) == 0) {
        pthread_join(s->keeper, NULL);
    }
}

// ---- threads ------------------------------------------------------------------------------------

int pons__pg_thread_delete(void *self, const char *thread, pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    PGresult *r;
    rc = pons__pg_once(s, PG_DROP, ARGS(arg_text(thread)), &r, err);
    int64_t reported = rc ? 0 : pons__pg_col_int(r, 0, 0);
    if (reported == 1) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    } else if (reported == 2) {
        rc = pons__store_held(err, thread, pons__pg_col_int(r, 0, 1), pons__pg_col_text(r, 0, 2));
    }
    PQclear(r);
    return rc;
}

int pons__pg_thread_copy(void *self, const char *from, const char *to, pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(from, err);
    rc = rc ? rc : pons__store_check_thread(to, err);
    if (rc) {
        return rc;
    }
    pons__commitq_settle_thread(&s->q, from);
    int64_t reported;
    rc = pons__pg_number(s, PG_COPY,
                         ARGS(arg_text(from), arg_text(to), arg_int(pons__store_wall_ms())),
                         &reported, err);
    if (reported == 1) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", from);
    }
    return reported == 2 ? pons__store_exists(err, to) : rc;
}

// ---- pruning ------------------------------------------------------------------------------------

// The rows of a plan that go, from *at down, as an array of PostgreSQL; NULL: out of memory.
static char *chunk(const prune_rows *plan, size_t *at)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputc('{', out);
    for (int n = 0; *at > 0 && n < PRUNE_CHUNK;) {
        const prune_row *row = &plan->at[--*at];
        if (!row->keep) {
            fprintf(out, "%s%lld", n++ ? "," : "", (long long)row->key);
        }
    }
    fputc('}', out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int prune_space(pg *s, const pg_holding *h, int64_t nid, const pons_prune *what,
                       pons_prune_result *done, pons_error *err)
{
    PGresult *r;
    prune_rows plan = {0};
    int rc = pons__pg_once(s, PG_PRUNE_LIST, ARGS(arg_int(nid)), &r, err);
    for (int i = 0; !rc && i < PQntuples(r); i++) {
        char id[32];
        pons__pg_col_id(r, i, 1, id, sizeof id);
        prune_row row = {.key = pons__pg_col_int(r, i, 0),
                         .parent = pons__pg_col_int(r, i, 3),
                         .wall_ms = pons__id_wall_ms(id),
                         .snapshot = pons__pg_col_int(r, i, 2)};
        if (!pons__prune_push(&plan, &row)) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        }
    }
    PQclear(r);
    size_t gone = rc ? 0 : pons__prune_plan(&plan, what);
    for (size_t at = gone ? plan.n : 0; !rc && at > 0;) {
        char *keys = chunk(&plan, &at);
        if (!keys) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
            break;
        }
        rc = pons__pg_once(
            s, PG_PRUNE,
            ARGS(arg_int(h->tid), arg_int((int64_t)h->line.epoch), arg_int(nid), arg_text(keys)),
            NULL, err);
        free(keys);
    }
    free(plan.at);
    if (!rc) {
        done->checkpoints += (int64_t)gone;
    }
    return rc;
}

static int prune_all(pg *s, const pg_holding *h, const pons_prune *what, pons_prune_result *done,
                     pons_error *err)
{
    PGresult *r;
    int rc = pons__pg_once(s, PG_PRUNE_SPACES, ARGS(arg_int(h->tid), arg_text(what->ns)), &r, err);
    for (int i = 0; !rc && i < PQntuples(r); i++) {
        rc = prune_space(s, h, pons__pg_col_int(r, i, 0), what, done, err);
    }
    PQclear(r);
    if (!rc && what->events_since_ms) {
        rc = pons__pg_number(
            s, PG_PRUNE_EVENTS,
            ARGS(arg_int(h->tid), arg_int((int64_t)h->line.epoch), arg_int(what->events_since_ms)),
            &done->events, err);
    }
    pg_conn *c = NULL;
    if (!rc && done->checkpoints + done->events >= VACUUM_ROWS) {
        c = pons__pg_take(s, err);
    }
    if (c) { // the server does so in its own time, too
        pons_error ignored;
        const int64_t answer_ms = c->answer_ms;
        c->answer_ms = 0; // it takes as long as it takes
        pons__pg_exec(c, "VACUUM pons.checkpoint, pons.record, pons.event", &ignored);
        c->answer_ms = answer_ms;
        pons__pg_give(s, c);
    }
    return rc;
}

static int64_t all_bytes(pg *s)
{
    pons_error ignored;
    int64_t bytes;
    pons__pg_number(s, PG_BYTES, NO_ARGS, &bytes, &ignored);
    return bytes;
}

int pons__pg_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                   pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__prune_check(thread, what, err);
    if (rc) {
        return rc;
    }
    pons_lease mine = {0};
    const pons_lease *lease = what->lease;
    if (!lease) {
        int64_t there;
        rc = pons__pg_number(s, PG_EXISTS, ARGS(arg_text(thread)), &there, err);
        if (!rc && !there) { // taking a lease would make it
            rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
        }
        rc = rc ? rc : pons__pg_lease_acquire(s, thread, &mine, err);
        lease = &mine;
    }
    if (rc) {
        return rc;
    }
    pg_holding *h = (pg_holding *)pons__commitq_find(&s->q, lease);
    if (!h) {
        return pons__store_stale(err, thread, lease->epoch, 0);
    }
    pons_prune_result done = {.bytes_before = all_bytes(s)};
    rc = prune_all(s, h, what, &done, err);
    done.bytes_after = all_bytes(s);
    if (mine.impl) {
        pons__pg_lease_release(s, &mine);
    }
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
