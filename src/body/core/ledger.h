// ledger.h - the body's durable memory of goals: what was started never starts again. The file's
// bytes are described in ledger.c.
#ifndef PONS_BODY_CORE_LEDGER_H
#define PONS_BODY_CORE_LEDGER_H

#include "body/safety/durable.h"
#include "pons/buf.h"
#include "pons/ledger_line.h"

typedef struct pons__ledger pons__ledger; // loop thread only

// What the ledger says last about a protective stop.
typedef struct pons__witness {
    bool latched;
    pons__origin origin;
    char reason[96];
} pons__witness;

// Opens or creates; path NULL keeps it in memory only. A torn last line is cut away. PONS_ECORRUPT
// names file and line of any other damage, and the command that repairs it; PONS_EIO.
int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err);
void pons__ledger_close(pons__ledger *l); // NULL-safe

// Appends n lines with one write and one fdatasync; on success they are durable and known. On
// failure nothing of them remains known: PONS_EINVAL for a line that could not be read again,
// PONS_EEXIST when one would start a goal a second time, PONS_EIO when the disk fails, after which
// every append fails, as what the file holds is not known any more; PONS_ENOMEM.
int pons__ledger_append(pons__ledger *l, const pons_ledger_line *lines, size_t n, pons_error *err);
// The same for a line about the body itself.
int pons__ledger_note(pons__ledger *l, const pons_ledger_note *note, pons_error *err);

// The newest line of a goal, borrowed until the next append; NULL: never heard of.
const pons_ledger_line *pons__ledger_find(const pons__ledger *l, const char *goal_id);
bool pons__ledger_started(const pons__ledger *l, const char *goal_id); // ever
size_t pons__ledger_torn(const pons__ledger *l);   // bytes that were cut away at open
int64_t pons__ledger_lines(const pons__ledger *l); // good ones; 0: no body ever ran with it
int64_t pons__ledger_plain(const pons__ledger *l); // of these, without a checksum
size_t pons__ledger_goals(const pons__ledger *l);
const pons__witness *pons__ledger_witness(const pons__ledger *l);
int64_t pons__ledger_epoch(const pons__ledger *l); // highest control epoch of any line
// The first goal that some process of this boot id started and did not finish; NULL boot id: any.
const char *pons__ledger_unfinished(const pons__ledger *l, const char *boot_id);

// A ledger of these bytes, in memory: to look at a file without touching it.
int pons__ledger_parse(const char *text, size_t n, pons__ledger **ret, pons_error *err);
// The good lines of a damaged ledger, each with its checksum; and how many were bad. PONS_ENOMEM.
int pons__ledger_salvage(const char *text, size_t n, pons_buf *out, int64_t *ret_lost,
                         pons_error *err);

// A note as a line of the file, with its checksum. PONS_ENOMEM.
int pons__ledger_note_text(const pons_ledger_note *note, pons_buf *out);

// Does a body that finds this ledger, and this state of the latch, start latched? Whenever it cannot
// prove the opposite. state_rc: of pons__durable_load(). *ret: who latched, and why.
bool pons__boot_latched(const pons__ledger *l, int state_rc, const pons__durable *d,
                        pons__witness *ret);

#endif
