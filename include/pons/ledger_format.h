// ledger_format.h - the lines of run/body.ledger, as structs.
//
// The file is written by the body alone (docs/reference/link.md, "What the body writes"); whoever looks at it
// (doctor, a scenario's judge, a person's program) reads its lines by the same tables (fields.h). A
// line with a `state` is a transition of a goal, one with a `kind` is about the body itself; lines
// of other kinds pass. The checksum, "sum", is no part of the tables.
#pragma once

#include "pons/link_report.h"
#include "pons/linkage.h"

PONS_C_BEGIN

typedef struct pons_ledger_line { // strings and metrics borrow from what was read
    const char *goal_id, *args_hash, *skill;
    int state;     // pons_goal_state
    int64_t ts_ms; // since 1970
    const char *boot_id, *robot_id;
    int64_t epoch; // of the controller
    const char *thread, *task_id;
    int64_t attempt;
    bool ended; // it is over: the end is told
    pons_report_end end;
} pons_ledger_line;

typedef enum pons_ledger_kind {
    PONS_LEDGER_OTHER,  // of a later version: it passes
    PONS_LEDGER_BOOT,   // a body has started
    PONS_LEDGER_LATCH,  // a protective stop has latched
    PONS_LEDGER_RESET,  // it is about to be lifted
    PONS_LEDGER_REPAIR, // damaged lines were left out
    PONS_LEDGER_PART,   // a new file begins: what the parts before it say
    PONS_LEDGER_PACE,   // a person's share of every speed limit
    PONS_LEDGER_KINDS
} pons_ledger_kind;

typedef struct pons_ledger_note {
    pons_ledger_kind kind;
    const char *origin, *reason; // latch, reset, part: of the latch
    const char *boot_id;         // not of a repair, nor of a part
    int64_t ts_ms;               // since 1970
    bool latched;                // boot: it starts latched; part: a stop is in force
    int64_t lost;                // repair: lines that were left out
    int64_t after;               // part: parts before it
    int64_t epoch;               // part: the highest control epoch of these
    int64_t percent; // pace: of every speed limit, that is left; part: the last; 0: none
} pons_ledger_note;

// Is it about a goal? Else it is a note, of whatever kind.
bool pons_ledger_about_goal(const pons_value *json);
// PONS_EINVAL: a field is missing, of another kind or outside its limits; *ret is filled all the same.
int pons_ledger_line_decode(const pons_value *json, pons_ledger_line *ret, pons_error *err);
int pons_ledger_note_decode(const pons_value *json, pons_ledger_note *ret, pons_error *err);
// New objects, members in the order of the file; NULL: no memory.
pons_value *pons_ledger_line_encode(const pons_ledger_line *line);
pons_value *pons_ledger_note_encode(const pons_ledger_note *note); // of a kind that is known
// Appends the tables as they stand in docs/reference/link-messages.md. PONS_ENOMEM.
int pons_ledger_describe(pons_buf *out);

PONS_C_END
