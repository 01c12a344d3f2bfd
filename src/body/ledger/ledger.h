// ledger.h - the body's durable memory of goals: what was started never starts again. The file's
// bytes are described in ledger.c.
#pragma once

#include "body/safety/epoch_file.h"
#include "pons/buf.h"
#include "pons/clock.h"
#include "pons/ledger_format.h"

typedef struct pons__ledger pons__ledger; // loop thread only

// What the ledger says last about a protective stop.
typedef struct pons__witness {
    bool latched;
    pons__origin origin;
    char reason[96];
} pons__witness;

// What the ledger knows of a goal.
typedef struct pons__ledger_entry {
    bool started; // ever
    bool kept; // line is its newest one; else only goal_id, state and whether it is over are known,
    bool removed; // as it was too old, or else as it cannot be read
    pons_ledger_line line;
} pons__ledger_entry;

typedef struct pons__ledger_bounds {
    int64_t part_bytes; // a part that has grown to this is sealed; 0: never
    int64_t size_bytes; // of all lines together; above it the oldest parts are removed,
    int64_t audit_ms;   // but none whose last line is younger; 0: none
    pons_clock clock;
} pons__ledger_bounds;

// Opens or creates; path NULL keeps it in memory only. A torn last line is cut away. PONS_ECORRUPT
// names file and line of any other damage, and the command that repairs it; PONS_EIO.
int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err);
void pons__ledger_close(pons__ledger *l); // NULL-safe
// The same of a ledger that is only looked at, every line of every part: nothing is made, nothing is
// changed. What is not there is empty.
int pons__ledger_look(const char *path, pons__ledger **ret, pons_error *err);
// From now on; without it the ledger is one part that grows.
void pons__ledger_bound(pons__ledger *l, const pons__ledger_bounds *bounds);

// Appends n lines with one write and one fdatasync; on success they are durable and known. On
// failure nothing of them remains known: PONS_EINVAL for a line that could not be read again,
// PONS_EEXIST when one would start a goal a second time, PONS_EIO when the disk fails, after which
// every append fails, as what the file holds is not known any more; PONS_ENOMEM.
int pons__ledger_append(pons__ledger *l, const pons_ledger_line *lines, size_t n, pons_error *err);
// One that starts and ends nothing, without a sync: a crash of the process leaves it, and the next append syncs it too.
// PONS_EINVAL, PONS_EIO, PONS_ENOMEM, as above.
int pons__ledger_remark(pons__ledger *l, const pons_ledger_line *line, pons_error *err);
// The same as an append, for a line about the body itself.
int pons__ledger_note(pons__ledger *l, const pons_ledger_note *note, pons_error *err);

// False: never heard of. The line is borrowed until the next one is looked for, or appended.
bool pons__ledger_find(pons__ledger *l, const char *goal_id, pons__ledger_entry *ret);
bool pons__ledger_started(const pons__ledger *l, const char *goal_id); // ever
bool pons__ledger_dead(const pons__ledger *l);   // it takes no more lines: a sync has failed
size_t pons__ledger_torn(const pons__ledger *l); // bytes that were cut away at open
// Good ones of the part that is written; 0: no body ever ran with it.
int64_t pons__ledger_lines(const pons__ledger *l);
int64_t pons__ledger_plain(const pons__ledger *l); // of these, without a checksum
int64_t pons__ledger_parts(const pons__ledger *l); // sealed ones that have their lines
size_t pons__ledger_goals(const pons__ledger *l);  // of all parts
const pons__witness *pons__ledger_witness(const pons__ledger *l);
int pons__ledger_pace(const pons__ledger *l);      // the last that a person said [%]; 0: none
int64_t pons__ledger_epoch(const pons__ledger *l); // highest control epoch of any line
// A goal that some process of this boot id started and did not finish; NULL boot id: any. Borrowed
// until the next call.
const char *pons__ledger_unfinished(pons__ledger *l, const char *boot_id);

// A ledger of these bytes, in memory: to look at a file without touching it.
int pons__ledger_parse(const char *text, size_t n, pons__ledger **ret, pons_error *err);
// The good lines of a damaged ledger, each with its checksum; and how many were bad. PONS_ENOMEM.
int pons__ledger_salvage(const char *text, size_t n, pons_buf *out, int64_t *ret_lost,
                         pons_error *err);
// The sealed parts beside a ledger that cannot be opened: of each damaged one a copy is kept and its good
// lines stay; one that is missing is taken for empty. What was known of their goals stays known. *ret_lost:
// lines and parts. keep: makes a copy of a file's bytes and says where.
typedef int (*pons__ledger_keep)(const char *path, const char *text, size_t n, char *ret,
                                 size_t cap, pons_error *err);
int pons__ledger_mend_parts(const char *path, pons__ledger_keep keep, char *ret_copy, size_t cap,
                            int64_t *ret_lost, pons_error *err);

// A note as a line of the file, with its checksum. PONS_ENOMEM.
int pons__ledger_note_text(const pons_ledger_note *note, pons_buf *out);

// Does a body that finds this ledger, and this state of the latch, start latched? Whenever it cannot
// prove the opposite. state_rc: of pons__durable_load(). *ret: who latched, and why.
bool pons__boot_latched(pons__ledger *l, int state_rc, const pons__durable *d, pons__witness *ret);
// What it takes of every speed limit [%]: the more of what the state and the ledger say, else nothing.
int pons__boot_taken(const pons__ledger *l, int state_rc, const pons__durable *d);
