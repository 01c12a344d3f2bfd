// conn.c - connections, statements, PostgreSQL's errors.
//
// Numbers and bytes travel in binary, both ways. An id is 16 or 17 bytes (id_bytes.c), or a byte 0xff and
// its text. A session commits without waiting for the disk unless a transaction asks for it, and
// plans by indexes, whatever the statistics say: a store that was filled a second ago has none. A
// statement is planned once for all values, as planning anew cost a third of a claim: each has to be
// one whose plan is good whatever it is given.
//
// A server that is gone without a word (its host is off, a network swallows what is sent, its
// processes stand still) is an error in bounded time: connecting has a time limit, TCP looks after a
// silent peer, and whoever waits for a result ends the connection when no byte came for answer_ms.
// All of these are defaults: what the URL says counts.
#include "store/postgres/postgres.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IDLE_MAX 4    // connections kept
#define TEXT_ID  0xff // before an id that has no bytes; in no UTF-8 text

#define PACKED_BYTES 16 // of most ids

static const char *const sql_text[PG_COUNT] = {
#define X(name, text) [PG_##name] = (text),
#include "store/postgres/statements.sql.h"
#undef X
};

static const char *const sql_name[PG_COUNT] = {
#define X(name, text) [PG_##name] = #name,
#include "store/postgres/statements.sql.h"
#undef X
};

static const char session[] =
    "SET synchronous_commit=off; SET lock_timeout='10s'; SET enable_seqscan=off; SET jit=off;"
    "SET plan_cache_mode=force_generic_plan;"
    "SET idle_in_transaction_session_timeout='10s'; SET client_min_messages=error;"
    "SET client_encoding='UTF8'; SET bytea_output='hex'";

typedef struct cause { // beginnings of SQLSTATEs
    const char *state;
    int status;
    const char *text;
} cause;

static const cause causes[] = {
    {"PN001", PONS_ESTALE, "the thread has another writer"},
    {"PN002", PONS_ESTALE, "the session has another runner"},
    {"PN003", PONS_ESTALE, "the runner is alive"},
    {"23505", PONS_EEXIST, "already there"},
    {"22", PONS_EINVAL, "a value does not fit"},
    {"54", PONS_EINVAL, "a value is too big"},
    {"53100", PONS_EIO, "disk full"},
    {"53200", PONS_ENOMEM, "the server is out of memory"},
    {"53300", PONS_EENV, "too many connections"},
    {"55P03", PONS_EBUSY, "somebody keeps it locked"},
    {"57014", PONS_EBUSY, "it took too long"},
    {"28", PONS_EENV, "not allowed in"},
    {"3D", PONS_EENV, "no such database"},
    {"42501", PONS_EENV, "no permission"},
    {"25006", PONS_EENV, "the server is read-only"},
    {"XX001", PONS_ECORRUPT, "the data are damaged"},
    {"XX002", PONS_ECORRUPT, "an index is damaged"},
};

// ---- helpers ------------------------------------------------------------------------------------

// A library does not print; what matters is an error, too.
static void quiet(void *user, const char *message)
{
}

static void first_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
}

// ---- connections --------------------------------------------------------------------------------

// What stands before the URL is overruled by it; the limits of TCP mean nothing on a Unix socket.
static PGconn *connect_to(const char *url)
{
    static const char *const names[] = {
        "connect_timeout",  "keepalives",       "keepalives_idle", "keepalives_interval",
        "keepalives_count", "tcp_user_timeout", "dbname",          NULL};
    const char *own = getenv("PGCONNECT_TIMEOUT"); // libpq's own way to say it
    const char *const values[] = {
        own && *own ? own : "10", "1", "10", "5", "4", "30000", url, NULL};
    return PQconnectdbParams(names, values, 1);
}

int pons__pg_open(pg *s, pg_conn *c, pons_error *err)
{
    *c = (pg_conn){.c = connect_to(s->url), .answer_ms = s->answer_ms, .away = &s->away};
    if (PQstatus(c->c) == CONNECTION_OK && PQsetnonblocking(c->c, 1) == 0) {
        atomic_store(&s->away, false);
        PQsetNoticeProcessor(c->c, quiet, NULL);
        return pons__pg_exec(c, session, err);
    }
    atomic_store(&s->away, true);
    char why[PONS_ERROR_CAUSE_MAX];
    strncpy(why, c->c ? PQerrorMessage(c->c) : "out of memory", sizeof why - 1);
    why[sizeof why - 1] = '\0';
    first_line(why);
    pons_error_set(err, PONS_EENV, "store", "cannot reach the store");
    pons_error_source(err, "%s", s->name);
    pons_error_cause(err, "%s", why);
    pons__pg_close(c);
    return PONS_EENV;
}

void pons__pg_close(pg_conn *c)
{
    PQfinish(c->c);
    *c = (pg_conn){0};
}

bool pons__pg_alive(const pg_conn *c)
{
    if (!c->c || PQstatus(c->c) != CONNECTION_OK) {
        return false;
    }
    struct pollfd look = {.fd = PQsocket(c->c), .events = POLLIN};
    return poll(&look, 1, 0) == 0;
}

pg_conn *pons__pg_take(pg *s, pons_error *err)
{
    for (;;) {
        pthread_mutex_lock(&s->idle_mtx);
        pg_conn *c = s->idle;
        if (c) {
            s->idle = c->next;
            s->n_idle--;
        }
        pthread_mutex_unlock(&s->idle_mtx);
        if (!c) {
            break;
        }
        if (pons__pg_alive(c)) {
            return c;
        }
        pons__pg_close(c);
        free(c);
    }
    pg_conn *c = malloc(sizeof *c);
    if (!c) {
        pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        return NULL;
    }
    if (pons__pg_open(s, c, err)) {
        pons__pg_close(c);
        free(c);
        return NULL;
    }
    return c;
}

void pons__pg_give(pg *s, pg_conn *c)
{
    if (!c) {
        return;
    }
    pthread_mutex_lock(&s->idle_mtx);
    bool keep = s->n_idle < IDLE_MAX && PQstatus(c->c) == CONNECTION_OK &&
                PQtransactionStatus(c->c) == PQTRANS_IDLE;
    if (keep) {
        c->next = s->idle;
        s->idle = c;
        s->n_idle++;
    }
    pthread_mutex_unlock(&s->idle_mtx);
    if (keep) {
        return;
    }
    pons__pg_close(c);
    free(c);
}

void pons__pg_idle_close(pg *s)
{
    while (s->idle) {
        pg_conn *c = s->idle;
        s->idle = c->next;
        pons__pg_close(c);
        free(c);
    }
    s->n_idle = 0;
}

// ---- parameters ---------------------------------------------------------------------------------

// Parameters of one statement as libpq takes them.
typedef struct params {
    const char *values[PG_ARGS_MAX];
    int lengths[PG_ARGS_MAX], formats[PG_ARGS_MAX];
    uint8_t room[PG_ARGS_MAX][1 + 40]; // of numbers and ids
} params;

// A number's bytes, the greatest first.
static pons_bytes packed_number(uint8_t room[sizeof(int64_t)], int64_t v)
{
    for (size_t i = sizeof v; i-- > 0; v = (int64_t)((uint64_t)v >> 8)) {
        room[i] = (uint8_t)v;
    }
    return (pons_bytes){.data = room, .len = sizeof v};
}

static pons_bytes packed_id(uint8_t room[1 + 40], const char *id)
{
    size_t n = pons__id_pack(id, room);
    if (!n) {
        const size_t len = strnlen(id, 39);
        const size_t head =
            1 + len == PACKED_BYTES ? 2 : 1; // no text has the length of packed ones
        room[0] = room[1] = TEXT_ID;
        memcpy(room + head, id, len);
        n = head + len;
    }
    return (pons_bytes){.data = room, .len = n};
}

static void set_param(params *p, size_t i, const sql_arg *a)
{
    pons_bytes b = a->bytes;
    p->formats[i] = a->type != ARG_TEXT;
    if (a->type == ARG_INT) {
        b = packed_number(p->room[i], a->number);
    } else if (a->type != ARG_BYTES && (!a->text || (a->type == ARG_ID && !a->text[0]))) {
        p->values[i] = NULL;
        return;
    } else if (a->type == ARG_ID) {
        b = packed_id(p->room[i], a->text);
    } else if (a->type == ARG_TEXT) {
        b = (pons_bytes){.data = a->text, .len = 1};
    }
    p->values[i] = b.len ? b.data : "";
    p->lengths[i] = (int)b.len;
}

// ---- statements ---------------------------------------------------------------------------------

// Until PQgetResult would not block. Any byte is a sign of life.
static void await_result(pg_conn *c)
{
    for (;;) {
        const int more = PQflush(c->c);
        if (more < 0 || (more == 0 && !PQisBusy(c->c)) || PQstatus(c->c) != CONNECTION_OK) {
            return;
        }
        struct pollfd look = {.fd = PQsocket(c->c),
                              .events = (short)(POLLIN | (more ? POLLOUT : 0))};
        const int n = poll(&look, 1, c->answer_ms > 0 ? (int)c->answer_ms : -1);
        if (n < 0 && errno != EINTR) {
            return;
        }
        if (n == 0) { // libpq finds the end of the connection, and makes an error of it
            c->late = true;
            shutdown(look.fd, SHUT_RDWR);
            PQconsumeInput(c->c);
            return;
        }
        if (n > 0 && (look.revents & ~POLLOUT) && !PQconsumeInput(c->c)) {
            return;
        }
    }
}

PGresult *pons__pg_result(pg_conn *c)
{
    await_result(c);
    return PQgetResult(c->c);
}

// The last one, or the first that failed.
static PGresult *all_results(pg_conn *c)
{
    PGresult *kept = NULL;
    for (PGresult *r; (r = pons__pg_result(c));) {
        const ExecStatusType was = PQresultStatus(kept);
        if (kept && was != PGRES_COMMAND_OK && was != PGRES_TUPLES_OK) {
            PQclear(r);
        } else {
            PQclear(kept);
            kept = r;
        }
    }
    return kept;
}

PGresult *pons__pg_query(pg_conn *c, const char *sql)
{
    return PQsendQuery(c->c, sql) == 1 ? all_results(c) : NULL;
}

int pons__pg_prepare(pg_conn *c, pg_sql id, pons_error *err)
{
    if (c->prepared[id]) {
        return PONS_OK;
    }
    PGresult *r =
        PQsendPrepare(c->c, sql_name[id], sql_text[id], 0, NULL) == 1 ? all_results(c) : NULL;
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? PONS_OK : pons__pg_fail(c, r, err);
    PQclear(r);
    c->prepared[id] = !rc;
    return rc;
}

bool pons__pg_send(pg_conn *c, pg_sql id, sql_args args)
{
    params p;
    for (size_t i = 0; i < args.n; i++) {
        set_param(&p, i, &args.at[i]);
    }
    return PQsendQueryPrepared(c->c, sql_name[id], (int)args.n, p.values, p.lengths, p.formats,
                               1) == 1;
}

int pons__pg_run(pg_conn *c, pg_sql id, sql_args args, PGresult **ret, pons_error *err)
{
    if (ret) {
        *ret = NULL;
    }
    int rc = pons__pg_prepare(c, id, err);
    if (rc) {
        return rc;
    }
    PGresult *r = pons__pg_send(c, id, args) ? all_results(c) : NULL;
    ExecStatusType status = PQresultStatus(r);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        rc = pons__pg_fail(c, r, err);
    }
    if (!rc && ret) {
        *ret = r;
    } else {
        PQclear(r);
    }
    return rc;
}

int pons__pg_once(pg *s, pg_sql id, sql_args args, PGresult **ret, pons_error *err)
{
    if (ret) {
        *ret = NULL;
    }
    pg_conn *c = pons__pg_take(s, err);
    if (!c) {
        return err->status;
    }
    int rc = pons__pg_run(c, id, args, ret, err);
    pons__pg_give(s, c);
    return rc;
}

int pons__pg_number(pg *s, pg_sql id, sql_args args, int64_t *ret, pons_error *err)
{
    PGresult *r;
    const int rc = pons__pg_once(s, id, args, &r, err);
    *ret = !rc && PQntuples(r) > 0 ? pons__pg_col_int(r, 0, 0) : 0;
    PQclear(r);
    return rc;
}

int pons__pg_exec(pg_conn *c, const char *sql, pons_error *err)
{
    PGresult *r = pons__pg_query(c, sql);
    ExecStatusType status = PQresultStatus(r);
    int rc = PONS_OK;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        rc = pons__pg_fail(c, r, err);
    }
    PQclear(r);
    return rc;
}

int pons__pg_fail(const pg_conn *c, const PGresult *r, pons_error *err)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    const char *said = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (!c->c || PQstatus(c->c) != CONNECTION_OK || !state || strncmp(state, "57P", 3) == 0 ||
        strncmp(state, "08", 2) == 0) {
        char why[PONS_ERROR_CAUSE_MAX];
        strncpy(why, said ? said : c->c ? PQerrorMessage(c->c) : "not connected", sizeof why - 1);
        why[sizeof why - 1] = '\0';
        first_line(why);
        if (c->away) { // whoever is told of this asks whether it is for now
            atomic_store(c->away, true);
        }
        if (c->late) {
            snprintf(why, sizeof why, "it did not answer for %lld ms", (long long)c->answer_ms);
        }
        pons_error_set(err, PONS_EIO, "store", "the connection to the store was lost");
        return pons_error_cause(err, "%s", why);
    }
    const cause *found = NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes && !found; i++) {
        if (strncmp(causes[i].state, state, strlen(causes[i].state)) == 0) {
            found = &causes[i];
        }
    }
    pons_error_set(err, found ? found->status : PONS_EIO, "store", "the store refused: %s",
                   found ? found->text : "an error of the server");
    return pons_error_cause(err, "%s (SQLSTATE %s)", said ? said : "", state);
}

// ---- columns ------------------------------------------------------------------------------------

int64_t pons__pg_col_int(const PGresult *r, int row, int col)
{
    const uint8_t *bytes = (const uint8_t *)PQgetvalue(r, row, col);
    int n = PQgetlength(r, row, col);
    if (n <= 0) {
        return 0;
    }
    int64_t v = bytes[0] & 0x80 && n > 1 ? -1 : 0; // a bool has one byte
    for (int i = 0; i < n; i++) {
        v = (int64_t)((uint64_t)v << 8 | bytes[i]);
    }
    return v;
}

pons_bytes pons__pg_col_bytes(const PGresult *r, int row, int col)
{
    return (pons_bytes){.data = PQgetvalue(r, row, col), .len = (size_t)PQgetlength(r, row, col)};
}

const char *pons__pg_col_text(const PGresult *r, int row, int col)
{
    return PQgetvalue(r, row, col);
}

void pons__pg_col_id(const PGresult *r, int row, int col, char *ret, size_t cap)
{
    pons_bytes b = pons__pg_col_bytes(r, row, col);
    const uint8_t *bytes = b.data;
    if (!b.len || b.len == PACKED_BYTES || bytes[0] != TEXT_ID) {
        pons__id_unpack(bytes, b.len, ret, cap);
        return;
    }
    size_t head = b.len > 1 && bytes[1] == TEXT_ID ? 2 : 1;
    size_t n = b.len - head < cap - 1 ? b.len - head : cap - 1;
    memcpy(ret, bytes + head, n);
    ret[n] = '\0';
}
