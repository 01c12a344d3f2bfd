// ledger_format.c - the lines of the goal ledger: tables by which they are read, checked, written and
// documented. What the lines mean together, ledger.c says.
//
// A field that is gone, or a state that is added, would make files of another version unreadable:
// members are only ever added, and never required. Any thread.
#include "pons/ledger_format.h"

#include "body/safety/epoch_file.h"

#include <string.h>

#define GOAL(member) offsetof(pons_ledger_line, member)
#define NOTE(member) offsetof(pons_ledger_note, member)
#define REQUIRED     PONS_FIELD_REQUIRED
#define USUAL        PONS_FIELD_USUAL
#define STRING       PONS_FIELD_STRING
#define WORD         PONS_FIELD_WORD
#define INTEGER      PONS_FIELD_INTEGER
#define BOOLEAN      PONS_FIELD_BOOLEAN
#define OBJECT       PONS_FIELD_OBJECT
#define GROUP        PONS_FIELD_GROUP
#define FIELDS(list) list, sizeof(list) / sizeof((list)[0])
#define WITH(list)   .fields = list, .n_fields = sizeof(list) / sizeof((list)[0])

// ---- the tables ---------------------------------------------------------------------------------

// clang-format off
static const pons_field end_fields[] = {
    {"error_code", INTEGER, USUAL, GOAL(end.error_code), .means = "of an end: 0, or the number of what went wrong"},
    {"error_msg",  STRING,  USUAL, GOAL(end.error_msg), .any_bytes = true, .means = "of an end: for people"},
    {"metrics",    OBJECT,  USUAL, GOAL(end.metrics), .means = "of an end: as of `result`"},
};

static const pons_field goal_fields[] = {
    {"goal_id",   STRING,  REQUIRED, GOAL(goal_id), .means = "the goal"},
    {"args_hash", STRING,  USUAL,    GOAL(args_hash), .means = "as it came"},
    {"skill",     STRING,  USUAL,    GOAL(skill), .means = "as it came"},
    {"state",     WORD,    REQUIRED, GOAL(state), .choices = pons_goal_states, .means = "that it has from now on"},
    {"ts_ms",     INTEGER, USUAL,    GOAL(ts_ms), .means = "since 1970"},
    {"boot_id",   STRING,  USUAL,    GOAL(boot_id), .means = "of this process of the body"},
    {"robot_id",  STRING,  USUAL,    GOAL(robot_id), .means = "of this robot"},
    {"epoch",     INTEGER, USUAL,    GOAL(epoch), .min = 0, .max = PONS__EPOCH_MAX, .means = "of the controller that started or adopted it"},
    {"thread",    STRING,  USUAL,    GOAL(thread), .means = "as it came"},
    {"task_id",   STRING,  USUAL,    GOAL(task_id), .means = "as it came"},
    {"attempt",   INTEGER, USUAL,    GOAL(attempt), .means = "as it came"},
    {"",          GROUP,   USUAL,    GOAL(ended), WITH(end_fields)},
};

static const pons_field boot_fields[] = {
    {"boot_id", STRING,  USUAL, NOTE(boot_id), .means = "of this process of the body"},
    {"ts_ms",   INTEGER, USUAL, NOTE(ts_ms), .means = "since 1970"},
    {"latched", BOOLEAN, USUAL, NOTE(latched), .means = "it starts latched"},
};

static const pons_field latch_fields[] = { // and reset
    {"origin",  STRING,  USUAL, NOTE(origin), .words = "?", .means = "who latched"},
    {"reason",  STRING,  USUAL, NOTE(reason), .any_bytes = true, .means = "for people"},
    {"boot_id", STRING,  USUAL, NOTE(boot_id), .means = "of this process of the body"},
    {"ts_ms",   INTEGER, USUAL, NOTE(ts_ms), .means = "since 1970"},
};

static const pons_field repair_fields[] = {
    {"lost",  INTEGER, USUAL, NOTE(lost), .means = "lines that were left out"},
    {"ts_ms", INTEGER, USUAL, NOTE(ts_ms), .means = "since 1970"},
};

static const pons_field pace_fields[] = {
    {"percent", INTEGER, USUAL, NOTE(percent), .min = 0, .max = 100, .means = "of every speed limit, that a person leaves"},
    {"boot_id", STRING,  USUAL, NOTE(boot_id), .means = "of this process of the body"},
    {"ts_ms",   INTEGER, USUAL, NOTE(ts_ms), .means = "since 1970"},
};

static const pons_field part_fields[] = {
    {"after",   INTEGER, REQUIRED, NOTE(after), .min = 0, .max = (1 << 20) - 1, .means = "parts before this file: `body.ledger.1` and so on"},
    {"epoch",   INTEGER, USUAL,    NOTE(epoch), .min = 0, .max = PONS__EPOCH_MAX, .means = "the highest of their lines"},
    {"latched", BOOLEAN, USUAL,    NOTE(latched), .means = "their last word of a protective stop: it is in force"},
    {"origin",  STRING,  USUAL,    NOTE(origin), .words = "?", .means = "who latched"},
    {"reason",  STRING,  USUAL,    NOTE(reason), .any_bytes = true, .means = "for people"},
    {"percent", INTEGER, USUAL,    NOTE(percent), .min = 0, .max = 100, .means = "of every speed limit, as their last `pace` says; 0: there is none"},
    {"ts_ms",   INTEGER, USUAL,    NOTE(ts_ms), .means = "since 1970, of their last line"},
};

static const struct {
    const char *word;
    const pons_field *fields;
    size_t n;
} kinds[PONS_LEDGER_KINDS] = {
    [PONS_LEDGER_OTHER]  = {"", NULL, 0},
    [PONS_LEDGER_BOOT]   = {"boot", FIELDS(boot_fields)},
    [PONS_LEDGER_LATCH]  = {"latch", FIELDS(latch_fields)},
    [PONS_LEDGER_RESET]  = {"reset", FIELDS(latch_fields)},
    [PONS_LEDGER_REPAIR] = {"repair", FIELDS(repair_fields)},
    [PONS_LEDGER_PART]   = {"part", FIELDS(part_fields)},
    [PONS_LEDGER_PACE]   = {"pace", FIELDS(pace_fields)},
};
// clang-format on

// ---- lines --------------------------------------------------------------------------------------

bool pons_ledger_about_goal(const pons_value *json)
{
    return pons_get(json, "state") != NULL;
}

static int judged(const pons_field_fault *fault, pons_error *err)
{
    return fault->text[0] ? pons_error_set(err, PONS_EINVAL, "ledger", "a line's %s", fault->text)
                          : PONS_OK;
}

int pons_ledger_line_decode(const pons_value *json, pons_ledger_line *ret, pons_error *err)
{
    pons_field_fault fault = {.text = ""};
    pons_fields_decode(FIELDS(goal_fields), json, ret, &fault);
    return judged(&fault, err);
}

// Whatever is wrong with a note, its kind counts: a latch is a latch.
int pons_ledger_note_decode(const pons_value *json, pons_ledger_note *ret, pons_error *err)
{
    pons_field_fault fault = {.text = ""};
    const char *word = pons_get_str(json, "kind", "");
    *ret = (pons_ledger_note){.origin = "", .reason = "", .boot_id = ""};
    for (int k = PONS_LEDGER_OTHER + 1; k < PONS_LEDGER_KINDS; k++) {
        if (strcmp(kinds[k].word, word) == 0) {
            ret->kind = (pons_ledger_kind)k;
        }
    }
    pons_fields_decode(kinds[ret->kind].fields, kinds[ret->kind].n, json, ret, &fault);
    return judged(&fault, err);
}

pons_value *pons_ledger_line_encode(const pons_ledger_line *line)
{
    return pons_fields_object(FIELDS(goal_fields), line);
}

pons_value *pons_ledger_note_encode(const pons_ledger_note *note)
{
    pons_value *json = pons_object_whole("kind", json_string(kinds[note->kind].word), NULL);
    if (json && pons_fields_encode(kinds[note->kind].fields, kinds[note->kind].n, note, json) < 0) {
        pons_value_unref(json);
        return NULL;
    }
    return json;
}

int pons_ledger_describe(pons_buf *out)
{
    int rc = pons_buf_str(out, "| line | field | kind | required | meaning |\n"
                               "|---|---|---|---|---|\n");
    rc = rc < 0 ? rc : pons_fields_describe(FIELDS(goal_fields), "state", out);
    for (int k = PONS_LEDGER_OTHER + 1; rc >= 0 && k < PONS_LEDGER_KINDS; k++) {
        rc = pons_fields_describe(kinds[k].fields, kinds[k].n, kinds[k].word, out);
    }
    return rc;
}
