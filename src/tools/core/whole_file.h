// whole_file.h - whole files of the workspace: read, and put in another's place.
#pragma once

#include "tools/core/core.h"

#include <sys/stat.h>

// The folder of a path below the workspace, no link followed; make: missing ones are made. A
// descriptor, PONS_ENOTFOUND (only without make), or an error.
int pons__place_folder(const pons__core *c, const char *path, bool make, pons_error *err);
// Bytes as the file `path` of that folder, whole and durable; old: what is replaced must still be that
// (PONS_EBUSY), NULL: there must be nothing (PONS_EEXIST). mode 0: old's, or a new file's.
int pons__place_put(int dir, const char *path, const void *bytes, size_t n, const struct stat *old,
                    mode_t mode, const pons__work *w, pons_error *err);
// A regular file, all of it, and its state. PONS_ENOTFOUND: there is none; PONS_EREFUSED: it is
// something else, or larger than most.
int pons__place_read(int dir, const char *path, size_t most, pons_buf *ret, struct stat *ret_st,
                     pons_error *err);
void pons__place_hash(const void *bytes, size_t n, char ret[65]);
