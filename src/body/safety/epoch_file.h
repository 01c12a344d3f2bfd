// epoch_file.h - what the body keeps on disk besides goals, and how a line says that it is damaged.
#pragma once

#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PONS__EPOCH_MAX      ((INT64_C(1) << 53) - 1) // exact in every reader of JSON
#define PONS__PACE_LEAST_PCT 10 // of every speed limit is left, whatever a person takes
// Of body.ledger and body.epoch, where a line's `format` says so; without one it is 1. What has a later one is refused.
#define PONS__FORMAT    1
#define PONS__EPOCH_GAP (INT64_C(1) << 20) // more than were ever given without a goal

// Who latched. Only `boot`, the body's own doubt about a process that ended badly, may be lifted by
// the policy auto_reset: sim. `unknown`: nobody can tell any more, so it might have been a person.
#define PONS__ORIGIN_TABLE(X)                                                                      \
    X(PONS__ORIGIN_NONE, "")                                                                       \
    X(PONS__ORIGIN_BOOT, "boot")       /* an unclean end with a goal active */                     \
    X(PONS__ORIGIN_UNKNOWN, "unknown") /* what was in force cannot be read */                      \
    X(PONS__ORIGIN_FAULT, "fault")     /* the driver, or the simulation */                         \
    X(PONS__ORIGIN_STOP, "stop")       /* a person, a brain, anybody who asked */
typedef enum pons__origin {
#define PONS__ORIGIN_ENUM(sym, word) sym,
    PONS__ORIGIN_TABLE(PONS__ORIGIN_ENUM)
#undef PONS__ORIGIN_ENUM
} pons__origin;
const char *pons__origin_word(pons__origin o);
pons__origin pons__origin_of(const char *word); // PONS__ORIGIN_UNKNOWN for any other

// The state that outlives the process: RUN_DIR/body.epoch, one line with a checksum, replaced whole.
typedef struct pons__durable {
    int64_t epoch;       // control epoch issued last
    char boot_id[40];    // of the process that wrote this
    bool latched;        // a protective stop is in force
    pons__origin origin; // who latched
    char reason[96];     // why
    int taken_pct;       // of the speed limits, by a person; 0: nothing
} pons__durable;
// PONS_ENOTFOUND when there is none; PONS_ECORRUPT when any byte of it is not as it was written;
// PONS_EUNSUPPORTED when a newer version wrote it; PONS_EIO.
int pons__durable_load(const char *path, pons__durable *ret, pons_error *err);
int pons__durable_parse(const char *text, size_t n, pons__durable *ret, pons_error *err);
// On success it is on the disk, and so is its name.
int pons__durable_save(const char *path, const pons__durable *d, pons_error *err);

// PONS_EUNSUPPORTED: the line is of a later format than PONS__FORMAT; what: the file, for people.
int pons__format_check(const pons_value *line, const char *what, pons_error *err);

// A line of v with its checksum and newline; the caller frees. Its length, or -1: no memory. The
// checksum is the last member, "sum": the first 16 hex digits of the SHA-256 of all bytes before
// its comma.
long pons__sum_line(const pons_value *v, char **ret);
typedef enum pons__sum {
    PONS__SUM_GOOD,
    PONS__SUM_NONE, // of a version that wrote none
    PONS__SUM_BAD
} pons__sum;
pons__sum pons__sum_check(const char *line, size_t n); // without its newline

// Replaces a file by n bytes of text: a new file, renamed over the old one. With sync the bytes and
// the name are on the disk on success.
int pons__replace_file(const char *path, const char *text, size_t n, bool sync, pons_error *err);
int pons__write_all(int fd, const char *text, size_t n, int64_t at);     // 0, or -1 with errno
int pons__io_error(const char *what, const char *path, pons_error *err); // by errno: PONS_EIO
// The bytes of a file; the caller frees. PONS_ENOTFOUND; PONS_ECORRUPT: it has more than `most`; PONS_EIO, PONS_ENOMEM.
int pons__read_run_file(const char *path, size_t most, char **ret, size_t *ret_n, pons_error *err);
