// operation_fields.c - the tables of operations. Any thread.
#include "brain/records/operation_fields.h"

#include "brain/records/record_table.h"

const char *const pons__op_words[] = {"", "dispatch", "cancel", "speak", "approval", NULL};

// clang-format off
static const pons__field asked_fields[] = {
    {"op",         WORD, NEVER, offsetof(pons__asked, op), .words = pons__op_words, .means = "`dispatch`, `cancel`, `speak`, `approval`"},
    {"skill",      TEXT, KEY,   offsetof(pons__asked, skill), .means = "of dispatch"},
    {"args",       JSON, KEY,   offsetof(pons__asked, args), .means = "of dispatch, by the skill's schema"},
    {"goal_index", INT,  KEY,   offsetof(pons__asked, goal_index), .preset = PONS__GOAL_AT_HAND, .means = "of dispatch: the goal of the task that it serves, -1: none; without, or where there is no such one: the one at hand"},
    {"step_id",    JSON, KEY,   offsetof(pons__asked, step_id), .means = "of dispatch: of a plan's step"},
    {"fallback",   JSON, KEY,   offsetof(pons__asked, fallback), .means = "of dispatch: of a plan's step"},
    {"goal_id",    TEXT, KEY,   offsetof(pons__asked, goal_id), .means = "of cancel: what runs, or `all`"},
    {"text",       TEXT, KEY,   offsetof(pons__asked, text), .means = "of speak"},
    {"question",   NAME, KEY,   offsetof(pons__asked, question), .means = "of approval; without: the decision's reason"},
    {"options",    JSON, KEY,   offsetof(pons__asked, options), .means = "of approval: what a person may choose"},
};
TABLE(asked, "one of `ops` in a decision, as it is said");

static const pons__field op_fields[] = {
    {"skill",      TEXT,   NEVER, offsetof(pons__op, skill), .means = "of the registry"},
    {"args",       JSON,   NEVER, offsetof(pons__op, args), .means = "by its schema"},
    {"goal_index", INT,    NEVER, offsetof(pons__op, goal_index), .preset = -1, .means = "the goal of the task that it serves; -1: none"},
    {"step_id",    JSON,   KEY,   offsetof(pons__op, step_id), .means = "of a plan's step"},
    {"fallback",   JSON,   KEY,   offsetof(pons__op, fallback), .means = "of a plan's step"},
    {"goal_id",    TEXT,   KEY,   offsetof(pons__op, goal_id), .means = "its effect, once it is intended"},
};
TABLE(op, "an operation");
// clang-format on

void pons__ops_add(pons_value *ops, const pons__asked *op)
{
    json_array_append_new(ops, pons__record_write(&pons__asked_record, op));
}
