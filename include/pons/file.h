// file.h - opening a file that a person has named, so that none of them holds the program.
#pragma once

#include "pons/linkage.h"

#include <stdio.h>
#include <sys/types.h>

PONS_C_BEGIN

// Opens for reading: a file, or what a shell hands over (a pipe without a name, as of `<(…)`; a terminal; /dev/null).
// A pipe that has a name would wait for a writer, and a device may never end: -EMEDIUMTYPE. A folder: -EISDIR. The
// descriptor, or -errno.
int pons_file_open(const char *path);
FILE *pons_file_read(const char *path); // the same; NULL and errno
// A whole file, with a zero behind it: the caller's (free()). One that has more than `most` bytes gives one more
// than that. NULL and errno.
char *pons_file_text(const char *path, size_t most, size_t *ret_n);
// Writes a file whole or not at all: writes and syncs a draft beside it, renames the draft, and syncs the folder. 0, or
// -errno: the old file stays, unless only the folder could not be synced.
int pons_file_replace(const char *path, const void *data, size_t n, mode_t mode);
// Syncs the folder of this file, which makes a rename or a new file durable. 0, or -1 with errno.
int pons_file_sync_folder(const char *path);
// Takes the exclusive lock (flock) of an open file or folder, and waits at most this long for another holder. 0, or -errno:
// -EWOULDBLOCK: it is still held.
int pons_file_lock(int fd, int wait_ms);
// What to say of such an error; borrowed, as strerror's.
const char *pons_file_why(int error);

PONS_C_END
