// error.h - statuses and the error that explains one.
//
// Every function that can fail returns an int status: PONS_OK (or a documented positive value), or
// a negative one from the table below, and fills a pons_error that the caller owns. On failure the
// outputs are untouched and the error is filled once; a caller adds context only when it knows
// something new.  A good message says who, what, where and why:
//
//     store: cannot commit step 41 of thread t1 [pons.db]: disk full (SQLITE_FULL)
#pragma once

#include "pons/linkage.h"

#include <stdarg.h>
#include <stddef.h>

PONS_C_BEGIN

// X(symbol, number, word): the one table of statuses.
#define PONS_STATUS_TABLE(X)                                                                       \
    X(PONS_OK, 0, "ok")                                                                            \
    X(PONS_ENOMEM, -1, "out of memory")                                                            \
    X(PONS_EINVAL, -2, "invalid input")                                                            \
    X(PONS_ENOTFOUND, -3, "not found")                                                             \
    X(PONS_EEXIST, -4, "already exists")                                                           \
    X(PONS_EBUSY, -5, "busy")                                                                      \
    X(PONS_EIO, -6, "input/output error")                                                          \
    X(PONS_ECORRUPT, -7, "corrupt data")                                                           \
    X(PONS_ETIMEOUT, -8, "timed out")                                                              \
    X(PONS_ECANCELED, -9, "canceled")                                                              \
    X(PONS_EUNSUPPORTED, -10, "unsupported")                                                       \
    X(PONS_ESTALE, -11, "stale writer")                                                            \
    X(PONS_EAGAIN, -12, "try again")                                                               \
    X(PONS_EPROTOCOL, -13, "protocol violation")                                                   \
    X(PONS_ECLOSED, -14, "closed")                                                                 \
    X(PONS_EPARKED, -15, "parked")                                                                 \
    X(PONS_ECONCURRENT, -16, "INVALID_CONCURRENT_GRAPH_UPDATE")                                    \
    X(PONS_ERECURSION, -17, "GRAPH_RECURSION_LIMIT")                                               \
    X(PONS_ENONDETERMINISM, -18, "NONDETERMINISM")                                                 \
    X(PONS_EAMBIGUOUS, -19, "ambiguous")                                                           \
    X(PONS_ENOTPENDING, -20, "not_pending")                                                        \
    X(PONS_EENV, -21, "environment")                                                               \
    X(PONS_EREFUSED, -22, "refused")

typedef enum pons_status {
#define PONS_STATUS_ENUM(sym, num, word) sym = (num),
    PONS_STATUS_TABLE(PONS_STATUS_ENUM)
#undef PONS_STATUS_ENUM
} pons_status;

// The word of a status; "unknown status" for a number outside the table. Static storage, any
// thread.
const char *pons_status_word(int status);

#define PONS_ERROR_MODULE_MAX  16
#define PONS_ERROR_MESSAGE_MAX 512
#define PONS_ERROR_SOURCE_MAX  256
#define PONS_ERROR_CAUSE_MAX   256

// The caller's storage; no heap inside, so it needs no cleanup. Text that does not fit is cut at a
// UTF-8 boundary.
typedef struct pons_error {
    int status;                           // PONS_OK when empty
    char module[PONS_ERROR_MODULE_MAX];   // "store", "yaml", …
    char message[PONS_ERROR_MESSAGE_MAX]; // one line, no full stop
    char source[PONS_ERROR_SOURCE_MAX];   // "house.yaml:14:9", "thread t1 step 41", or empty
    char cause[PONS_ERROR_CAUSE_MAX];     // what lies below: "disk full (SQLITE_FULL)", or empty
} pons_error;

#define PONS_ERROR_INIT                                                                            \
    {                                                                                              \
        .status = PONS_OK                                                                          \
    }

// Fills *err (may be NULL) and returns status, so that `return pons_error_set(…)` reads well.
// fmt makes the message. Any thread.
int pons_error_set(pons_error *err, int status, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

// Add a source or a cause to a filled error; replaces an earlier one. NULL-safe. Returns
// err->status; PONS_EINVAL for NULL, so that `return pons_error_source(…)` never makes a failure a
// success (but where err may be NULL and the status matters, return the status itself).
int pons_error_source(pons_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int pons_error_cause(pons_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Puts "prefix: " before the message; for a caller that knows something new. Returns as above.
int pons_error_context(pons_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// One line, "module: message [source]: cause", into buf (cap ≥ 1 bytes, always terminated).
// Returns buf.
char *pons_error_line(const pons_error *err, char *buf, size_t cap);

PONS_C_END
