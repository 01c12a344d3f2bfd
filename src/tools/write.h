// write.h - write_file and edit_file, what they would do, and putting a file in another's place.
#ifndef PONS_TOOLS_WRITE_H
#define PONS_TOOLS_WRITE_H

#include "tools/core/core.h"

#include <sys/stat.h>

int pons__write_file(pons__work *w, pons_error *err);
int pons__edit_file(pons__work *w, pons_error *err);
// The diff that a call would make; nothing where it would fail.
void pons__write_preview(pons__core *c, bool edit, const pons_value *args, pons_buf *ret);

// What became of a write that was begun: PONS_OK, it is in its file; PONS_ENOTFOUND, the file is as
// it was before; PONS_ECLOSED, it is neither.
int pons__write_fate(const pons__core *c, const pons_value *what);

// The folder of a path below the workspace, no link followed; make: missing ones are made. A
// descriptor, PONS_ENOTFOUND (only without make), or an error.
int pons__write_folder(const pons__core *c, const char *path, bool make, pons_error *err);
// Bytes as the file `path` of that folder, whole and durable; old: what is replaced must still be that
// (PONS_EBUSY), NULL: there must be nothing (PONS_EEXIST). mode 0: old's, or a new file's.
int pons__write_place(int dir, const char *path, const void *bytes, size_t n,
                      const struct stat *old, mode_t mode, const pons__work *w, pons_error *err);
// A regular file, all of it, and its state. PONS_ENOTFOUND: there is none; PONS_EREFUSED: it is
// something else, or larger than most.
int pons__write_read(int dir, const char *path, size_t most, pons_buf *ret, struct stat *ret_st,
                     pons_error *err);
void pons__write_hash(const void *bytes, size_t n, char ret[65]);

#endif
