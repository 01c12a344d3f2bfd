// disk.h - a file read whole, and replaced whole.
#ifndef WORKSPACE_FILES_DISK_H
#define WORKSPACE_FILES_DISK_H

#include "pons/workspace.h"

#define PONS__WS_FOLDER   ".pons"
#define PONS__WS_SIZE_MAX ((size_t)16 << 20)

int pons__ws_failed(pons_error *err, const char *what, const char *path); // PONS_EIO, with errno
int pons__ws_read_fd(int fd, pons_buf *out);                              // 0 or -1 with errno
int pons__ws_read_file(const char *path, pons_buf *out, pons_error *err);
int pons__ws_sync_dir(const char *dir); // 0 or -1 with errno
// The lock of a file's writers, for as long as the descriptor is open.
int pons__ws_lock(const char *dir, const char *name, int *ret, pons_error *err);
int pons__ws_exchange(const char *path, const char *other, bool fresh);
// Under its lock. What came out goes to `keep`, or away when that is NULL.
int pons__ws_replace(const char *dir, const char *name, const char *text, size_t len,
                     const char *expect, size_t expect_len, const char *keep, pons_error *err);

#endif
