// merge_bases.h - the last texts of a file: what an edit is held against.
#pragma once

#include "workspace/shared_files/whole_file.h"

#define PONS__WS_HASH 17 // of a text: 16 hex digits and a zero
#define PONS__WS_KEPT 64
#define PONS__WS_KEPT_S                                                                            \
    60 // and what is younger: an editor may be as slow, however often pons writes

void pons__ws_hash(const char *text, size_t len, char ret[PONS__WS_HASH]);
int pons__ws_bases_open(const char *dir, pons_error *err); // makes the folders
// Keeps a text as a generation, and drops what is older than the last 64 and was made a minute before `since`
// (Unix seconds): when the oldest edit was written that is not part of a generation yet.
int pons__ws_base_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, int64_t since, pons_error *err);
// Writes a text beside them.
int pons__ws_base_text(const char *path, const char *text, size_t len, pons_error *err);
// Of an entry "NAME.41.…" of the folder: the number, and what is behind it; 0: another file's.
uint64_t pons__ws_kept_of(const char *entry, const char *name, const char **ret_rest);
// It did not come about.
void pons__ws_base_drop(const char *dir, const char *name, uint64_t generation, const char *text,
                        size_t len);
// generation 0: the newest. PONS_ENOTFOUND: none that is whole.
int pons__ws_base_load(const char *dir, const char *name, uint64_t generation, pons_buf *text,
                       uint64_t *ret_generation, pons_error *err);
// Whether there is a text of this generation that has this hash: who died may have left half of one.
bool pons__ws_base_whole(const char *dir, const char *name, uint64_t generation, const char *hash);
// Whether one of them is this text.
bool pons__ws_base_known(const char *dir, const char *name, const char *text, size_t len);
