// workspace.h - the files of a workspace: what they say, in three dialects, and how they are written.
//
// A workspace is a folder of Markdown files that people, editors, scripts and pons read and write:
// ENVIRONMENT.md, ACTION.md, SESSIONS.md and their like (docs/reference/workspace.md). A file is a list of
// records, each with an id; the rest of its text is people's. There is one model: a record's value has the
// seed's names whatever dialect the file has, then the keys that nobody here knows, as they are.
//
//     text --read--> records and faults        a record that is wrong is told with its line and column
//     text + changes --render--> text          and kept as it is; so is all that no change names
//     text --convert--> the same in another dialect
//
// A program that uses this has pons_memory_of_a_process: without memory it ends. One thread at a time
// per doc.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

#define PONS_WS_SIZE_MAX ((size_t)1 << 20) // bytes of a file

typedef enum pons_ws_file {
    PONS_WS_ENVIRONMENT,
    PONS_WS_EMBODIED,
    PONS_WS_ACTION,
    PONS_WS_SESSIONS,
    PONS_WS_TARGETS,
    PONS_WS_SKILLS,
    PONS_WS_TASK,
    PONS_WS_ORCHESTRATOR,
    PONS_WS_LESSONS,
    PONS_WS_ROBOTS,
    PONS_WS_SKILLRUNTIME, // skills too, where SKILLS.md is prose
    PONS_WS_FILES
} pons_ws_file;

typedef enum pons_ws_dialect {
    PONS_WS_SEED,
    PONS_WS_PAOS1,
    PONS_WS_PAOS2,
    PONS_WS_DIALECTS
} pons_ws_dialect;

const char *pons_ws_file_name(pons_ws_file file); // "ACTION.md"
// By "ACTION.md", "action", or a path that ends so; PONS_ENOTFOUND.
int pons_ws_file_of(const char *name, pons_ws_file *ret);
const char *pons_ws_dialect_name(pons_ws_dialect dialect);
int pons_ws_dialect_of(const char *name, pons_ws_dialect *ret); // PONS_ENOTFOUND

// ---- a file that was read -----------------------------------------------------------------------

// What the id of an action begins with that its file gives none.
#define PONS_WS_UNNAMED "unnamed-"

typedef struct pons_ws_record {
    const char *kind;      // "action", "session", "node", "edge", "robot", "object", "lesson", …
    const char *id;        // unique among its kind in the file
    pons_value *value;     // the seed's names first, in their order; immutable
    uint32_t line, column; // from 1
} pons_ws_record;

typedef struct pons_ws_fault {
    uint32_t line, column;
    const char *kind, *id; // of the record; id "": it has none that could be read
    char what[200];
} pons_ws_fault;

typedef struct pons_ws_doc pons_ws_doc;

// Reads a text. PONS_EINVAL: nothing of it can be read; the error's source is name:line:col. Records
// that are wrong are faults of the doc. name: what messages call it. The text is copied. Bounded, as loops that hold
// a robot read pages: 1 MiB, 65,536 lines, 10,000 of a page of tables and sections, 32,768 values of data.
int pons_ws_read(pons_ws_file file, const char *text, size_t len, const char *name,
                 pons_ws_doc **ret, pons_error *err);
void pons_ws_destroy(pons_ws_doc *doc); // NULL-safe

const pons_ws_record *pons_ws_records(const pons_ws_doc *doc, size_t *ret_n); // in the file's order
const pons_ws_record *pons_ws_find(const pons_ws_doc *doc, const char *kind, const char *id);
const pons_ws_fault *pons_ws_faults(const pons_ws_doc *doc, size_t *ret_n);
pons_ws_dialect pons_ws_doc_dialect(const pons_ws_doc *doc);
// The generation that its stamp has; 0: none.
uint64_t pons_ws_generation(const pons_ws_doc *doc);
const char *pons_ws_text(const pons_ws_doc *doc, size_t *ret_len);

// ---- writing ------------------------------------------------------------------------------------

typedef struct pons_ws_change {
    const char *kind, *id;
    const pons_value *value; // the record as it is to be; NULL: it goes
} pons_ws_change;

// The doc's text with these changes and the generation in its stamp (0: its stamp stays as it is).
// What no change names stays byte for byte. A record that is not there is added at its list's end.
// PONS_EINVAL: a kind that the file has not, or a place that cannot be written.
int pons_ws_render(const pons_ws_doc *doc, const pons_ws_change *changes, size_t n,
                   uint64_t generation, pons_buf *out, pons_error *err);
// The doc in another dialect: records, unknown keys and human text stay. PONS_EINVAL when the doc has
// faults: what cannot be understood cannot be said in other words.
int pons_ws_convert(const pons_ws_doc *doc, pons_ws_dialect dialect, pons_buf *out,
                    pons_error *err);
// An empty file of a dialect.
int pons_ws_template(pons_ws_file file, pons_ws_dialect dialect, pons_buf *out);

// ---- who may read and write ---------------------------------------------------------------------

typedef enum pons_ws_role {
    PONS_WS_BY_PLANNER, // also a person's editor
    PONS_WS_BY_CRITIC,
    PONS_WS_BY_HAL, // the watchdog of actions
    PONS_WS_BY_ORCHESTRATOR,
    PONS_WS_BY_RUNTIME, // the watchdog of sessions
    PONS_WS_BY_FLEET,
    PONS_WS_BY_PERSON, // at the command line: onboard, convert; the owner of TARGETS, SKILLS, SKILLRUNTIME
    PONS_WS_ROLES
} pons_ws_role;

const char *pons_ws_role_name(pons_ws_role role);
bool pons_ws_may_read(pons_ws_role role, pons_ws_file file);
bool pons_ws_may_write(pons_ws_role role, pons_ws_file file);
// Whether a role that may write the file may make this change of a record: the Orchestrator
// only TASK's status, the Planner nothing that runs, has ended or is claimed.
// before or after NULL: it comes or goes. PONS_EREFUSED says why not.
int pons_ws_may_change(pons_ws_role role, pons_ws_file file, const char *kind,
                       const pons_value *before, const pons_value *after, pons_error *err);

// ---- three texts made one -----------------------------------------------------------------------

typedef struct pons_ws_command { // a change that somebody's edit asks for
    const char *kind, *id;
    const pons_value *before, *after; // as it is, as it is to be; NULL: not there
    bool refused;                     // by the matrix: it is put back
    char why[200];                    // why
} pons_ws_command;

typedef struct pons_ws_merge {
    pons_ws_role role;   // whose edit it is
    uint64_t generation; // of the result's stamp
    // What edits since base have been taken in already, the oldest first: [{kind, id, value}, …], without a
    // value for a record that was taken out. Theirs may say it again. NULL: nothing.
    const pons_value *taken;
    bool no_deletions; // theirs may be a part of a text only: what it lacks was not taken out
    // Each command, before the result is written; NULL: nobody asks.
    void (*command)(void *user, const pons_ws_command *c);
    void *user;
    size_t clashes;   // filled: places and fields that both changed
    pons_value *took; // filled: what this edit's commands make of theirs, as taken; the caller's
} pons_ws_merge;

// theirs is somebody's edit of base, while base became ours. The result: theirs' text with what ours
// changed since; where both changed a field ours has the word, where both changed words both stand.
// Commands that the role may not give are left out. PONS_EINVAL: it cannot be rendered.
int pons_ws_merge_docs(const pons_ws_doc *base, const pons_ws_doc *ours, const pons_ws_doc *theirs,
                       pons_ws_merge *m, pons_buf *out, pons_error *err);

// ---- files on disk ------------------------------------------------------------------------------

// Reads DIR/FILE.md. PONS_ENOTFOUND: there is none; PONS_EREFUSED: the role may not; else as
// pons_ws_read, PONS_EIO.
int pons_ws_load(pons_ws_role role, const char *dir, pons_ws_file file, pons_ws_doc **ret,
                 pons_error *err);
// What a file of this name in a workspace is, when it is a copy that a program left beside a protocol file, or an
// editor's: such are told and never read. NULL: it is none.
const char *pons_ws_stranger(const char *name);
// The only call that writes a file. Its text becomes `text` when it is still `expect` (NULL: when it is
// not there); else PONS_ESTALE, and it is as somebody else has just written it. Durable when it
// returns. PONS_EREFUSED: the role may not write that file.
int pons_ws_write(pons_ws_role role, const char *dir, pons_ws_file file, const char *text,
                  size_t len, const char *expect, size_t expect_len, pons_error *err);

// ---- a folder that others write in too ----------------------------------------------------------

// Keeps the last texts of each file (.pons/base/), so that an edit of an old one is understood; looks at
// what others write, and makes commands of it; writes changes of its own so that no edit is lost.
// Several processes may have the same folder open. One thread at a time.
typedef struct pons_ws_place pons_ws_place;

#define PONS_WS_WRITES_PER_S 5 // of a file that people look at

typedef struct pons_ws_place_options {
    pons_ws_role role;       // whose changes pons_ws_place_change makes
    pons_ws_dialect dialect; // of files that are made
    int writes_per_s;        // of changes, a file; more are PONS_EAGAIN. 0: as many as there are
    const char *robot_id;    // of a HAL: it changes no other robot's entry; NULL: there is one only
    // A file that somebody is just writing is PONS_EAGAIN at once, and looked at again by the poll; without
    // it is waited for, up to half a second.
    bool no_wait;
    // Somebody's edit, command by command, refused ones too; and what a person should know (it is in
    // LOG.md as well). May be NULL. Neither may call the place.
    void (*command)(void *user, pons_ws_file file, const pons_ws_command *c);
    void (*notice)(void *user, const char *file, const char *text);
    // What the memory of what was seen knows of a thing (an id, or its category): whether it is believed to be somewhere, and
    // "cup in kitchen, seen 40 min ago, 82 %", or "" where it was never seen. The critic judges by it. NULL: no memory.
    bool (*seen)(void *user, const char *what, char *ret_line, size_t cap);
    void *user;
} pons_ws_place_options;

int pons_ws_place_open(const char *dir, const pons_ws_place_options *options, pons_ws_place **ret,
                       pons_error *err);
void pons_ws_place_close(pons_ws_place *p); // NULL-safe

// What the options' `seen` says of a thing; without it true and "".
bool pons_ws_place_seen(const pons_ws_place *p, const char *what, char *ret_line, size_t cap);

// A line of LOG.md, of what happened to a file's records.
void pons_ws_place_log(pons_ws_place *p, pons_ws_file file, const char *text);

// Readable when something happened in the folder; -1: there is no inotify, the poll does.
int pons_ws_place_fd(const pons_ws_place *p);
// Looks at what has changed: 50 ms after an edit, at most 500 ms while they keep coming; each second at
// all files. now_ms: any clock that only goes on. Returns when it wants to be called next, in ms.
int pons_ws_place_poll(pons_ws_place *p, int64_t now_ms);
// Looks at one file at once.
int pons_ws_place_look(pons_ws_place *p, pons_ws_file file, pons_error *err);
// The newest good state; NULL: the file is not there. Until the next call of the place.
const pons_ws_doc *pons_ws_place_doc(const pons_ws_place *p, pons_ws_file file);
// Whether the file as it stands cannot be read: its state is the last good one, and nothing is written.
bool pons_ws_place_suspended(const pons_ws_place *p, pons_ws_file file);

// Changes records, after what somebody has written meanwhile was taken in. Durable when it returns. Waits
// up to half a second for an editor that is just writing. PONS_EREFUSED: the matrix; PONS_EBUSY: the
// file cannot be read as it stands, and is not overwritten; PONS_EAGAIN: too many writes this second.
int pons_ws_place_change(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes,
                         size_t n, pons_error *err);
// Whether a change would not be one too many for this second; and, before an end, that none is.
bool pons_ws_place_may_write(const pons_ws_place *p, pons_ws_file file);
void pons_ws_place_unlimit(pons_ws_place *p);
// The same in another role: a program may be several (the one that runs actions is also the critic).
int pons_ws_place_change_as(pons_ws_place *p, pons_ws_role role, pons_ws_file file,
                            const pons_ws_change *changes, size_t n, pons_error *err);

PONS_C_END
