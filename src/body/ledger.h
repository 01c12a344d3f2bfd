// ledger.h - the body's durable memory of goals: what was started never starts again. The file's
// bytes are described in ledger.c.
#ifndef PONS_BODY_LEDGER_H
#define PONS_BODY_LEDGER_H

#include "pons/value.h"

typedef struct pons__ledger pons__ledger; // loop thread only

// Opens or creates; path NULL keeps it in memory only. A torn last line is cut away. PONS_ECORRUPT
// names the line when one before the last is bad; PONS_EIO.
int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err);
void pons__ledger_close(pons__ledger *l); // NULL-safe

// Appends n lines (objects with goal_id and state) with one write and one fdatasync; on success
// they are durable and known. Does not take the lines. On failure nothing of them remains known:
// PONS_EEXIST when a line would start a goal a second time, PONS_EIO when the disk fails, after
// which every append fails, as what the file holds is not known any more.
int pons__ledger_append(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err);

// The newest line of a goal, borrowed until the next append; NULL: never heard of.
const pons_value *pons__ledger_find(const pons__ledger *l, const char *goal_id);
bool pons__ledger_started(const pons__ledger *l, const char *goal_id); // ever
bool pons__ledger_terminal(const char *state);                         // done, failed, canceled
size_t pons__ledger_torn(const pons__ledger *l);   // bytes that were cut away at open
int64_t pons__ledger_epoch(const pons__ledger *l); // highest control epoch of any line
// The first goal that some process of this boot id started and did not finish; NULL boot id: any.
const char *pons__ledger_unfinished(const pons__ledger *l, const char *boot_id);

// Small facts that outlive the process: {epoch, boot_id, latched, reason}. Written to a new file
// that replaces the old one whole.
typedef struct pons__durable {
    int64_t epoch;    // control epoch issued last
    char boot_id[40]; // of the process that wrote this
    bool latched;     // a protective stop is in force
    char reason[96];  // why
} pons__durable;
// PONS_ENOTFOUND when there is none, PONS_ECORRUPT when it cannot be read.
int pons__durable_load(const char *path, pons__durable *ret, pons_error *err);
int pons__durable_save(const char *path, const pons__durable *d, pons_error *err);

// Replaces a file by n bytes of text: a new file, renamed over the old one; synced if asked.
int pons__replace_file(const char *path, const char *text, size_t n, bool sync, pons_error *err);

#endif
