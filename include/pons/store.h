// store.h - the care of a store: reading where nothing may be written, looking for damage, saving
// what can be saved, copies. The contract of a store is ext/store.h.
#pragma once

#include "pons/clock.h"
#include "pons/ext/store.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// As pons_store_open, for reading only: of a file nothing changes but the log's index (-shm), and a file that may not be written, in a
// directory or on a file system that may not, is read all the same. Then a log (-wal) beside it
// whose index (-shm) is not there is read from a private copy under TMPDIR. Writing ops fail with
// PONS_EENV. What cannot be opened so (a server) is opened as usual.
int pons_store_open_read(const char *url, pons_store *ret, pons_error *err);

// One line about the file, for people. damage: something is lost or altered; else a note.
typedef void (*pons_store_say_fn)(void *user, bool damage, const char *line);

// Looks at every page and row of an SQLite store: what SQLite says of the file (integrity and
// foreign keys), the log beside it, each row's checksum, and what the store promises: owners that
// exist, numbers without gaps, parents that are there. Changes nothing, and may run beside a brain.
// *ret: how many lines of damage were said. PONS_EENV: there is no file, or it may not be read;
// PONS_EUNSUPPORTED: its schema is newer.
int pons_store_check(const char *path, pons_store_say_fn say, void *user, int64_t *ret,
                     pons_error *err);

// Makes a sound store of a damaged one: a copy of all its files stays beside it under the name
// kept; then the rows that can be read and fit their checksums go into a new file, checkpoints that
// cannot be read without a lost one are left out, and the new file takes the place of the old. Each
// step is said. PONS_EBUSY while somebody holds a thread; PONS_ECORRUPT when nothing can be read.
// On failure the store's files are as they were.
int pons_store_repair(const char *path, char *kept, size_t cap, pons_store_say_fn say, void *user,
                      pons_error *err);

// Writes the store as it is at one moment into a new file, while others read and write it: made
// under another name, mode 0600, looked at as pons_store_check does, synced, and only then named
// `file`, which is never overwritten. PONS_EEXIST: there is such a file. PONS_ECORRUPT: the store
// is damaged. PONS_EUNSUPPORTED: not a file (a server has its own means).
int pons_store_backup(const char *url, const char *file, pons_error *err);

// Puts a store before *store that hands everything on and tells of each commit how it ended and how
// long it took (of an async one: until it was taken). On the thread that commits; must not call the
// store. Closing it closes the other one. On failure *store is as it was.
typedef void (*pons_store_commit_fn)(void *user, int rc, int64_t ns);
int pons_store_watch(pons_store *store, const pons_clock *clock, pons_store_commit_fn reported,
                     void *user, pons_error *err);

PONS_C_END
