// path.h - paths that stay inside the workspace.
#pragma once

#include "tools/core/core.h"

#include <sys/stat.h>

// The path as components under the workspace: "docs/a.md", or "." for the workspace
// itself. PONS_EREFUSED when it leads out.
int pons__path_normal(const pons__core *c, const char *path, char ret[PATH_MAX], pons_error *err);
// Opens beneath the workspace whatever other processes do meanwhile: links that lead out are
// refused, and all links when follow is false. Returns a descriptor or a status.
int pons__path_open(const pons__core *c, const char *normal, int flags, bool follow,
                    pons_error *err);
// A regular file for reading, not hidden. Fills *ret_st.
int pons__path_read(const pons__core *c, const char *normal, struct stat *ret_st, pons_error *err);
// A regular file or a folder for reading, not hidden, without a link in its path.
int pons__path_look(const pons__core *c, const char *normal, pons_error *err);
bool pons__path_hidden(const pons__core *c, const char *normal, const struct stat *st);
bool pons__path_protected(const pons__core *c, const char *normal);
const char *pons__mode_name(mode_t mode); // "a FIFO"
