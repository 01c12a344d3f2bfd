// shared_folder.h - what the files of a place share.
//
//   shared_folder.c   essay; one file settled; opening, closing, the poll
//   late_writes.c    what came out of a file instead of what was expected, or was written into it late
//   merge_notices.c    commands and notices: what its user is told
#pragma once

#include "workspace/shared_files/folder_watch.h"
#include "workspace/shared_files/merge_bases.h"

typedef struct ws_late { // what came out instead of what was expected, or was written late
    pons_buf text;
    char path[PATH_MAX]; // where it is until it is part of a generation
    int64_t at;          // when it was written, Unix seconds
} ws_late;

#define PONS__WS_WRITES 16 // a second

typedef struct ws_state {               // of a file
    int64_t writes_ms[PONS__WS_WRITES]; // when the last changes were written, in a ring; 0: never
    size_t next_write;
    pons_ws_doc *newest;
    uint64_t generation;
    char suspended[PONS__WS_HASH]; // hash of the text that cannot be read; "": it can
    ws_late *pending;              // edits that wait
    size_t n_pending;
    pons_value *takes;   // edits that were taken in already
    bool leftover;       // .pons/NAME.new is to be looked at before it is written again
    int64_t restless_ms; // since when somebody writes it all the time; 0: nobody does
} ws_state;

typedef struct ws_old { // a file that was replaced
    char path[PATH_MAX];
    char
        taken[PONS__WS_HASH]; // what it said when that was taken in, or is pending; "": nothing was
    pons_ws_file file;
    int64_t due_ms, until_ms;
    int64_t at; // when it was written last, as far as is known, Unix seconds
} ws_old;

typedef struct ws_reported { // as pons_ws_command, owned
    char *kind, *id;
    pons_value *before, *after;
    bool refused;
    char why[200];
} ws_reported;

struct pons_ws_place {
    char dir[PONS__WS_DIR_MAX];
    pons_ws_place_options o;
    ws_state files[PONS_WS_FILES];
    pons__ws_watch *watch;
    ws_old **olds;
    size_t n_olds;
    int64_t now_ms;
    pons_ws_role as;       // whose changes are being made
    ws_reported *commands; // of a merge, told when it is there
    size_t n_commands;
};

// late_writes.c
void pons__ws_pending_add(ws_state *s, const pons_buf *text, const char *path);
void pons__ws_pending_drop(ws_state *s); // the first
// When the oldest text was written that may have an edit which is not part of a generation yet; now: none.
int64_t pons__ws_oldest(const pons_ws_place *p, pons_ws_file file);
void pons__ws_old_watch(pons_ws_place *p, pons_ws_file file, const char *path, const char *taken);
void pons__ws_old_forget(pons_ws_place *p, const char *path); // what it said cannot be read
void pons__ws_olds_look(pons_ws_place *p, void (*settle)(pons_ws_place *p, pons_ws_file file));
void pons__ws_olds_find(pons_ws_place *p); // of earlier lives
void pons__ws_leftover(pons_ws_place *p, pons_ws_file file);

// merge_notices.c
// A line of LOG.md, and the caller's.
void pons__ws_notice(pons_ws_place *p, const char *file, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void pons__ws_on_command(void *user, const pons_ws_command *c); // of a merge; user is the place
// What the merge has said; not when nothing came of it: then it is merged again.
void pons__ws_tell(pons_ws_place *p, pons_ws_file file, bool really);
