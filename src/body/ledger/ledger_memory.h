// ledger_memory.h - what the files of the ledger share: ledger.c what is asked and written, ledger_read.c how
// a file is read, ledger_rotate.c how it becomes parts, ledger_memory.c what each line means to it.
#pragma once

#include "body/ledger/ledger.h"
#include "body/ledger/ledger_files.h"
#include "pons/link_message.h"

#define PONS__LEDGER_MODE 0600

struct pons__ledger {
    int fd;             // of the part that is written, or of memory
    char *path;         // NULL: in memory
    bool looks;         // nothing is changed on the disk
    uint32_t part;      // number of the part that is written
    pons__index goals;  // of all parts
    off_t size;         // bytes that are known to be good
    bool dead;          // a sync failed
    bool summed;        // a line with a checksum was seen: from here on all have one
    size_t torn;        // bytes cut away at open
    int64_t epoch;      // highest seen
    int64_t ts_ms;      // of the newest line
    int64_t lines;      // good ones of the part that is written
    int64_t plain;      // of these, without a checksum
    int64_t parts;      // sealed ones that have their lines
    pons__witness last; // what was said last about the latch
    int pace;           // and about the pace [%]; 0: nothing
    pons__ledger_bounds bounds;
    off_t seal_at;    // 0: bounds.part_bytes
    pons_value *lent; // what the last line that was found lies in
    char unfinished[PONS_GOAL_ID_MAX + 1];
};

pons__ledger *pons__ledger_create(const char *path, pons_error *err); // nothing is read
int pons__ledger_load(pons__ledger *l, pons_error *err);
int pons__ledger_keep_line(pons_buf *out, const pons_value *line); // with its checksum; PONS_ENOMEM
void pons__ledger_see_note(pons__ledger *l, const pons_ledger_note *note);
// Room for it was reserved.
void pons__ledger_see_line(pons__ledger *l, const pons_ledger_line *line, uint32_t part, off_t at);
// The file of a part to come, as body.ledger; what was there under that name has another one, or is
// empty. With PONS_OK and with l->dead it has taken the name.
int pons__ledger_begin_part(pons__ledger *l, int64_t after, int *ret_fd, off_t *ret_size,
                            pons_error *err);
void pons__ledger_seal_when_full(pons__ledger *l);
void pons__ledger_forget_parts(pons__ledger *l); // their lines, where they are too old and too many
int pons__ledger_no_memory(pons_error *err);
