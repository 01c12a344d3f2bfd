// read_write_guards.h - what of the workspace may not be read or written, by name and by identity.
#pragma once

#include "pons/protected_files.h"
#include "tools/core/core.h"

#include <sys/stat.h>

struct pons__pattern { // of the table and of the configuration, folded
    char *text;
    pons_guard guard;
};

struct pons__id {
    dev_t dev;
    ino_t ino;
    bool hidden; // else protected only
};

int pons__guards_init(pons__core *c); // from the table and the configuration
void pons__guards_fini(pons__core *c);
pons_guard pons__guard_of(const pons__core *c, const char *normal);
// The same by identity: of a file with several names, of an open file's own path, of a folder that
// is written into.
bool pons__guard_linked(const pons__core *c, const struct stat *st);
// Of a file that is written: a guarded name leads to it. NULL: it is made, and one may.
bool pons__guard_target(const pons__core *c, const struct stat *st);
bool pons__guard_real(const pons__core *c, int fd, char ret[PATH_MAX]);
bool pons__guard_folder(const pons__core *c, int dir);

// Every place of the workspace that a command may not see: what is hidden, protected or
// configuration, every other name of it, and what is no file or folder. The outermost only.
typedef struct pons__mask {
    char *path; // from the workspace
    bool dir;
} pons__mask;
typedef struct pons__masks {
    pons__mask *at;
    size_t n, room;
    pons__id *ids; // of hidden files that have several names
    size_t n_ids;
    bool dangling; // a guarded name is a link to what is not there
} pons__masks;
int pons__guards_walk(const pons__core *c, pons__masks *ret, pons_error *err);
void pons__masks_fini(pons__masks *m);
