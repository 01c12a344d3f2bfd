// plan_enums.c - the protocol's enumerations as words, and where a status may go.
//
//   a step    pending ------------> running ----------> success, failed, skipped
//                |                   |   ^                 ^
//                |                   v   | confirmed       |
//                +-----------> wait_confirmation ----------+
//                +--> skipped, failed: a precondition
//
//   a plan    created --> approved --> executing --> completed, failed
//                |            ^         |   ^
//                |   approved |         v   | confirmed
//                +-----------> wait_confirmation
//             and from each of these four: cancelled; created may also begin to execute at once
//
// success, failed and skipped end a step; completed, failed and cancelled end a plan. A running
// step that must ask goes to wait_confirmation and comes back.
#include "plan/plan_enums.h"

#include "pons/plan.h"

#include <string.h>

#define WORD(symbol, word) [symbol] = (word),
static const char *const risk_words[] = {PONS_RISK_LEVEL_TABLE(WORD)};
static const char *const step_words[] = {PONS_STEP_STATUS_TABLE(WORD)};
static const char *const plan_words[] = {PONS_PLAN_STATUS_TABLE(WORD)};
static const char *const tool_words[] = {PONS_TOOL_CALL_TABLE(WORD)};
static const char *const repair_words[] = {PONS_PLAN_REPAIR_TABLE(WORD)};

const pons_machine pons_step_machine = {
    .name = "plan step",
    .n = PONS_STEP_STATUSES,
    .states = step_words,
    .may = (const uint64_t[]){
        [PONS_STEP_PENDING] = PONS_TO(PONS_STEP_RUNNING) | PONS_TO(PONS_STEP_WAIT_CONFIRMATION) |
                              PONS_TO(PONS_STEP_SKIPPED) | PONS_TO(PONS_STEP_FAILED),
        [PONS_STEP_RUNNING] = PONS_TO(PONS_STEP_SUCCESS) | PONS_TO(PONS_STEP_FAILED) |
                              PONS_TO(PONS_STEP_SKIPPED) | PONS_TO(PONS_STEP_WAIT_CONFIRMATION),
        [PONS_STEP_WAIT_CONFIRMATION] = PONS_TO(PONS_STEP_RUNNING) | PONS_TO(PONS_STEP_SUCCESS) |
                                        PONS_TO(PONS_STEP_SKIPPED) | PONS_TO(PONS_STEP_FAILED),
        [PONS_STEP_SUCCESS] = 0,
        [PONS_STEP_FAILED] = 0,
        [PONS_STEP_SKIPPED] = 0,
    }};

const pons_machine pons_plan_machine = {
    .name = "plan",
    .n = PONS_PLAN_STATUSES,
    .states = plan_words,
    .may = (const uint64_t[]){
        [PONS_PLAN_CREATED] = PONS_TO(PONS_PLAN_APPROVED) | PONS_TO(PONS_PLAN_EXECUTING) |
                              PONS_TO(PONS_PLAN_WAIT_CONFIRMATION) | PONS_TO(PONS_PLAN_CANCELLED),
        [PONS_PLAN_APPROVED] = PONS_TO(PONS_PLAN_EXECUTING) | PONS_TO(PONS_PLAN_CANCELLED),
        [PONS_PLAN_EXECUTING] = PONS_TO(PONS_PLAN_COMPLETED) | PONS_TO(PONS_PLAN_FAILED) |
                                PONS_TO(PONS_PLAN_CANCELLED) | PONS_TO(PONS_PLAN_WAIT_CONFIRMATION),
        [PONS_PLAN_WAIT_CONFIRMATION] = PONS_TO(PONS_PLAN_APPROVED) | PONS_TO(PONS_PLAN_EXECUTING) |
                                        PONS_TO(PONS_PLAN_CANCELLED),
        [PONS_PLAN_COMPLETED] = 0,
        [PONS_PLAN_FAILED] = 0,
        [PONS_PLAN_CANCELLED] = 0,
    }};

static const char *word_of(const char *const *words, int n, int i)
{
    return i >= 0 && i < n ? words[i] : "?";
}

int pons__words_find(const pons__words *w, const char *word, size_t len)
{
    for (int i = 0; i < w->n; i++) {
        if (strncmp(w->words[i], word, len) == 0 && w->words[i][len] == '\0') {
            return i;
        }
    }
    return -1;
}

// Of an enumeration: its words, the word of a number, and the number of a word.
#define ENUMERATION(noun, set, n)                                                                  \
    const pons__words pons__##set = {set, n};                                                      \
    const char *pons_##noun##_word(int i)                                                          \
    {                                                                                              \
        return word_of(set, n, i);                                                                 \
    }                                                                                              \
    int pons_##noun##_find(const char *word)                                                       \
    {                                                                                              \
        return pons__words_find(&pons__##set, word, strlen(word));                                 \
    }

ENUMERATION(risk_level, risk_words, PONS_RISK_LEVELS)
ENUMERATION(step_status, step_words, PONS_STEP_STATUSES)
ENUMERATION(plan_status, plan_words, PONS_PLAN_STATUSES)
ENUMERATION(tool_call, tool_words, PONS_TOOL_CALL_TYPES)

const char *pons_repair_word(int kind)
{
    return word_of(repair_words, PONS_REPAIR_KINDS, kind);
}
