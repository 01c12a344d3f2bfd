// whole_file.h - a file read whole, and replaced whole.
#pragma once

#include "pons/workspace.h"

#include <limits.h>

#define PONS__WS_FOLDER  ".pons"
#define PONS__WS_DIR_MAX (PATH_MAX - 512) // of a folder's path: its files' fit PATH_MAX

int pons__ws_failed(pons_error *err, const char *what, const char *path); // PONS_EIO, with errno
int pons__ws_read_file(const char *path, pons_buf *out, pons_error *err);
// The lock of a file's writers, for as long as the descriptor is open. PONS_EAGAIN: somebody has it, and has
// had it for all of this time.
#define PONS__WS_LOCK_MS 5000
int pons__ws_lock(const char *dir, const char *name, int patience_ms, int *ret, pons_error *err);
// Under its lock: the new text takes the name (fresh_name: which is not there yet; PONS_ESTALE: it is).
// What came out is in `came` and, with `keep`, under that name; without, where the new text was. An error:
// nothing has changed. *ret_kept false: what came out could not be read or kept; it is where the new text was.
int pons__ws_swap(const char *dir, const char *name, const char *text, size_t len, bool fresh_name,
                  const char *keep, pons_buf *came, bool *ret_kept, pons_error *err);
