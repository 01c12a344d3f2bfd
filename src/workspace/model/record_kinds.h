// record_kinds.h - what the files are made of: the one table of files, kinds of records, and their fields.
//
// A field has the seed's name, and one for each of the other dialects; "retry.max_attempts" is a
// member of a member. Everything that reads, checks, writes, converts, merges or documents a record
// does it by these tables: nowhere else does a key of a file stand.
#pragma once

#include "pons/workspace.h"

typedef enum ws_kind {
    WS_ACTION,
    WS_SESSION,
    WS_TARGET,
    WS_SKILL,
    WS_SCENE, // what ENVIRONMENT says beside its lists
    WS_NODE,
    WS_EDGE,
    WS_ROBOT_STATE,
    WS_OBJECT,
    WS_IDENTITY, // the four of EMBODIED
    WS_SENSOR,
    WS_ACTION_TYPE,
    WS_LIMIT,
    WS_TASK,
    WS_SUBTASK,
    WS_ASSIGNMENT, // the three of ORCHESTRATOR
    WS_POOL,
    WS_WAITING,
    WS_LESSON,
    WS_ROBOT,
    WS_KINDS
} ws_kind;

typedef enum ws_type {
    WS_ANY,
    WS_STRING,
    WS_NUMBER,
    WS_COUNT, // a whole number, not negative
    WS_BOOL,
    WS_MAP,
    WS_LIST,
    WS_WORDS,   // a list: strings that are one of `words`, and others
    WS_NUMBERS, // a list of numbers; of a position {x, y, z} says the same
    WS_POSE,    // anything: a list of numbers, {x, y, z, yaw}
    WS_WORD,    // one of `words`
    WS_REF,     // an id; `words` is the scheme that paos2 writes before it
    WS_CLIENT   // a policy client: paos1 has it as one string
} ws_type;

typedef struct ws_field {
    const char *name;
    const char *names[PONS_WS_DIALECTS]; // NULL: as `name`. "x-": a number that is one less there
    // More names that are read, with blanks between them; "?x": where none of the others is there.
    const char *also;
    ws_type type;
    bool required;
    // Of a word: "pending running", "sim=simulation": paos2's word behind "=", "canceled>cancelled":
    // read as that.
    const char *words;
    const char *preset; // what an absent one means
    const char *unless; // a member with which a required one may be missing
    // Of a table's column or a bullet: its heading in the seed's files, in the others', more that are
    // read, with "|" between them.
    const char *seed_label, *paos_label, *labels;
    const char *means;
} ws_field;

typedef struct ws_kind_info {
    const char *name; // "action"
    const ws_field *fields;
    size_t n_fields;
    const char *id; // the field that is the id; NULL: made from others
} ws_kind_info;

// Where a file has its records: the paths of the dialects, then more that are read.
#define WS_PATHS_MAX 8
typedef struct ws_place {
    ws_kind kind;
    const char *paths[WS_PATHS_MAX];
    bool map[PONS_WS_DIALECTS]; // written as a map keyed by id
} ws_place;

typedef struct ws_file_info {
    const char *name; // "ACTION.md"
    bool page;        // a page of headings, tables and bullets; else a fence of data
    bool json;        // the fence a new file has
    const ws_place *places;
    size_t n_places;
    // The member that says which format it is, and its text in each dialect; NULL: none.
    const char *format_key[PONS_WS_DIALECTS], *format[PONS_WS_DIALECTS];
    const char *title[PONS_WS_DIALECTS], *text[PONS_WS_DIALECTS]; // of a new file
    const char *
        allowed; // what paos2 permits beside the fields; "*" at an end: what is below too. NULL: all
} ws_file_info;

const ws_kind_info *pons__ws_kind_of(ws_kind kind);
bool pons__ws_kind_by_name(const char *name, ws_kind *ret);
const ws_file_info *pons__ws_file_of(pons_ws_file file);
// A field's name in a dialect.
const char *pons__ws_field_name(const ws_field *f, pons_ws_dialect d);
