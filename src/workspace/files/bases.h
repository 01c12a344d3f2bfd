// bases.h - the last texts of a file: what an edit is held against.
#ifndef WORKSPACE_FILES_BASES_H
#define WORKSPACE_FILES_BASES_H

#include "workspace/files/disk.h"

#define PONS__WS_HASH 17 // of a text: 16 hex digits and a zero

void pons__ws_hash(const char *text, size_t len, char ret[PONS__WS_HASH]);
int pons__ws_bases_open(const char *dir, pons_error *err); // makes the folders
// Keeps a text as a generation, and drops what is older than the last 64.
int pons__ws_base_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, pons_error *err);
// Keeps an edit of a generation (0: of none that is known) as it was taken in.
int pons__ws_seen_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, pons_error *err);
// The newest edits of it; how many. The caller's to fini.
#define PONS__WS_SEEN_MAX 16
size_t pons__ws_seen_load(const char *dir, const char *name, uint64_t generation,
                          pons_buf texts[PONS__WS_SEEN_MAX]);
// generation 0: the newest. PONS_ENOTFOUND: none that is whole.
int pons__ws_base_load(const char *dir, const char *name, uint64_t generation, pons_buf *text,
                       uint64_t *ret_generation, pons_error *err);
// Whether one of them is this text.
bool pons__ws_base_known(const char *dir, const char *name, const char *text, size_t len);

#endif
