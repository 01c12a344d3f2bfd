// sql_read.h - what the stores of SQL share: parameters of statements, and everything that only reads
// rows.
//
// Each store has the texts of its statements, and a table of functions that run one and read its columns.
// What is asked for, what a row means, and what is said where there is none stands once: the parameters and
// the columns of a query have the same order in all of them (sql_read.c).
#pragma once

#include "store/store.h"

// ---- parameters ---------------------------------------------------------------------------------

typedef struct sql_arg {
    enum { ARG_INT, ARG_TEXT, ARG_ID, ARG_BYTES } type;
    int64_t number;
    const char *text; // NULL: null
    pons_bytes bytes;
} sql_arg;

typedef struct sql_args { // what they point to is the caller's
    const sql_arg *at;
    size_t n;
} sql_args;

#define ARGS(...)                                                                                  \
    ((sql_args){(const sql_arg[]){__VA_ARGS__}, sizeof((sql_arg[]){__VA_ARGS__}) / sizeof(sql_arg)})
#define NO_ARGS ((sql_args){NULL, 0})

static inline sql_arg arg_int(int64_t v)
{
    return (sql_arg){.type = ARG_INT, .number = v};
}
static inline sql_arg arg_text(const char *v)
{
    return (sql_arg){.type = ARG_TEXT, .text = v};
}
static inline sql_arg arg_id(const char *v)
{
    return (sql_arg){.type = ARG_ID, .text = v};
}
static inline sql_arg arg_bytes(pons_bytes v)
{
    return (sql_arg){.type = ARG_BYTES, .bytes = v};
}

// ---- rows ---------------------------------------------------------------------------------------

// The queries of sql_read.c, with their parameters and columns.
typedef enum sql_query {
    QUERY_HISTORY,       // thread ns below limit: id parent step snapshot data
    QUERY_RECORDS,       // thread ns checkpoint: task idx data
    QUERY_NAMESPACES,    // thread: name
    QUERY_INBOX,         // thread after ns|null: seq ns kind value
    QUERY_EFFECT,        // thread id: id ns state created updated data
    QUERY_EFFECTS,       // thread states: the same
    QUERY_EVENTS,        // thread after limit: seq ns ts_ms type payload
    QUERY_EVENT_LAST,    // thread: seq
    QUERY_ITEM,          // ns key now: ns key value words vectors created updated ttl expires
    QUERY_ITEMS,         // prefix now words|null: the same
    QUERY_ITEMS_UNDER,   // the same, of a prefix that is not ""
    QUERY_ITEM_SPACES,   // now: ns
    QUERY_SESSION,       // id: seq id lane priority order state attempt epoch owner due data note
    QUERY_SESSIONS,      // after states lane|null limit: the same
    QUERY_SESSIONS_LIVE, // the same, of those that have not ended
    QUERY_RUNNERS,       // name beats
    QUERY_COUNT
} sql_query;

typedef struct sql_cursor { // a statement under way
    const struct sql_reads *reads;
    void *store, *conn, *row; // conn, row: the store's own
    void *rest;               // of copied rows: those that follow
    int at;                   // of a row that is a list of rows: the one
    pons_error *err, own;     // own: for a caller who gave none
    int status;               // of a failure that err tells
} sql_cursor;

// How a store reads. All of a cursor on one thread; a callback may use the store meanwhile.
typedef struct sql_reads {
    void (*open)(sql_cursor *c, sql_query q, sql_args args);
    bool (*next)(sql_cursor *c);  // false: there is no other row, or status
    void (*close)(sql_cursor *c); // at any time; what is left is not read
    int64_t (*number)(const sql_cursor *c, int col);
    const char *(*text)(const sql_cursor *c, int col); // "" for null; until the next row
    pons_bytes (*bytes)(const sql_cursor *c, int col); // the same
    void (*id)(const sql_cursor *c, int col, char *ret, size_t cap);
    bool (*whole)(sql_cursor *c); // false: a column was lost for want of memory; status
    // Where in its namespace's order a checkpoint is; PONS_ENOTFOUND.
    int (*place)(void *store, const char *thread, const char *ns, const char *id, int64_t *ret,
                 pons_error *err);
    char quote;                // around a word that is asked for
    const char *joint, *never; // between two; bytes that no such word has
} sql_reads;

void pons__cursor_init(sql_cursor *c, void *store, pons_error *err);         // without a statement
void pons__cursor_checkpoint(const sql_cursor *c, pons_checkpoint_row *ret); // of QUERY_HISTORY
void pons__cursor_session(const sql_cursor *c, pons_session_row *ret);       // of QUERY_SESSION

// ---- operations of a store ----------------------------------------------------------------------

int pons__read_history(void *self, const char *thread, const char *ns, const char *before,
                       int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err);
int pons__read_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                       pons_record_fn fn, void *user, pons_error *err);
int pons__read_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                          void *user, pons_error *err);
int pons__read_inbox(void *self, const char *thread, const char *ns, int64_t after,
                     pons_inbox_fn fn, void *user, pons_error *err);
int pons__read_effect(void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
                      pons_error *err);
int pons__read_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                       void *user, pons_error *err);
int pons__read_events(void *self, const char *thread, int64_t after, int64_t limit,
                      pons_event_fn fn, void *user, pons_error *err);
int pons__read_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err);
int pons__read_item(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                    void *user, pons_error *err);
int pons__read_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                     pons_error *err);
int pons__read_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                           void *user, pons_error *err);
int pons__read_session(void *self, const char *id, pons_session_fn fn, void *user, pons_error *err);
int pons__read_sessions(void *self, const pons_session_find *find, pons_session_fn fn, void *user,
                        pons_error *err);
int pons__read_runners(void *self, pons_runner_fn fn, void *user, pons_error *err);
