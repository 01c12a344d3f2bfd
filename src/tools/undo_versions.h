// undo_versions.h - what files were before they were written, and putting it back.
#pragma once

#include "tools/core/core.h"

#include <sys/stat.h>

#define PONS__VERSION_MAX (16 * 1024 * 1024) // bytes of a file that can be written over

typedef struct pons__version { // a write that is about to happen
    const char *path, *tool;
    const char *before, *after; // SHA-256; before NULL: there is no file
    const char *old;            // (n_old)
    size_t n_old;
    mode_t mode;
} pons__version;

// Durable when it returns.
int pons__versions_keep(const pons__core *c, const pons__version *v, pons_error *err);
// As pons_core_tools_writes and pons_core_tools_undo.
int pons__versions_list(const pons__core *c, pons_value **ret, pons_error *err);
int pons__versions_undo(const pons__core *c, size_t steps, bool force, pons_value **ret,
                        pons_error *err);
