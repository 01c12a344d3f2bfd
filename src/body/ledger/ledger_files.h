// ledger_files.h - the files of the ledger: their names, their lines one by one, and what is left of a
// part once its lines are removed. ledger.c says what they mean together.
#pragma once

#include "body/ledger/ledger_index.h"
#include "pons/error.h"

#include <sys/types.h>

// The lines of an open file, one after the other.
typedef struct pons__lines {
    int fd;
    off_t at;   // of the next line
    off_t size; // of the file: what is behind it is not read
    char *text;
    size_t cap, n, from; // bytes in text, and where the next line begins there
} pons__lines;
void pons__lines_init(pons__lines *r, int fd, off_t at);
void pons__lines_fini(pons__lines *r);
// 1: a line, without its newline, borrowed until the next call; *ret_whole: it had one. 0: no more.
// PONS_ECORRUPT: it is longer than any of ours; PONS_EIO, with errno; PONS_ENOMEM.
int pons__lines_next(pons__lines *r, const char **ret, size_t *ret_n, off_t *ret_at,
                     bool *ret_whole);

typedef struct pons__part {
    uint32_t number;
    bool lines; // path.NUMBER is there
    bool ids;   // path.NUMBER.ids is there
    int64_t size;
    int64_t changed_ms; // since 1970: when its last line was written
} pons__part;
// The sealed parts beside a ledger, by number; the caller frees.
int pons__parts_list(const char *path, pons__part **ret, size_t *ret_n, pons_error *err);
// path.NUMBER, with ids path.NUMBER.ids; the caller frees. NULL: no memory.
char *pons__part_path(const char *path, uint32_t number, bool ids);

// The goals of a part, into the index. PONS_ENOTFOUND, PONS_ECORRUPT, PONS_EIO, PONS_ENOMEM.
int pons__ids_load(const char *path, uint32_t number, pons__index *ix);
int pons__ids_save(const char *path, uint32_t number, const pons__index *ix, pons_error *err);
