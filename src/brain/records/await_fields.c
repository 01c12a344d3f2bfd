// await_fields.c - the tables of what goes between the inner loop and whoever serves its waits. Any thread.
//
// Requests and answers of awaits are in the store: what is asked again by the next life must be what was asked,
// and an answer may be of an earlier program.
#include "brain/records/await_fields.h"

#include "brain/records/record_table.h"

#include <math.h>

const char *const pons__wait_words[] = {"", "link", "accept", "end", "rest", "skill", NULL};

// clang-format off
static const pons__field wait_fields[] = {
    {"wait",    WORD, NEVER, offsetof(pons__wait, wait), .words = pons__wait_words, .means = "`link`, `accept`, `end`, `rest`, `skill`"},
    {"goal_id", NAME, KEY,   offsetof(pons__wait, goal_id), .means = "of accept, end"},
    {"for",     NAME, KEY,   offsetof(pons__wait, for_id), .means = "of link: the operation that waits"},
    {"goals",   JSON, KEY,   offsetof(pons__wait, goals), .means = "of skill: ids"},
    {"look_s",  NUM,  KEY,   offsetof(pons__wait, look_s), .preset = NAN, .means = "of skill: after so long of robot time without news; 0: never"},
    {"ms",      INT,  KEY,   offsetof(pons__wait, ms), .means = "of rest: host time"},
};
TABLE(wait, "the inner loop waits for the body");

static const pons__field linked_fields[] = {
    {"ready",    BOOL, KEY,   offsetof(pons__linked, ready), .means = "a body takes commands"},
    {"epoch",    INT,  KEY,   offsetof(pons__linked, epoch), .means = "of control"},
    {"boot_id",  TEXT, KEY,   offsetof(pons__linked, boot_id), .means = "of the body"},
    {"robot_id", TEXT, KEY,   offsetof(pons__linked, robot_id), .means = "of the body"},
    {"detached", BOOL, KEY,   offsetof(pons__linked, detached), .means = "the kernel took the wait back"},
};
TABLE(linked, "the answer to `link`");

static const pons__field word_fields[] = {
    {"rejected", BOOL, KEY, offsetof(pons__word, rejected), .means = "by the body, or before it was sent"},
    {"code",     NAME, KEY, offsetof(pons__word, code), .means = "of a rejection"},
    {"message",  NAME, KEY, offsetof(pons__word, message), .means = "of a rejection"},
    {"state",    NAME, KEY, offsetof(pons__word, state), .means = "of an accepted goal (docs/reference/link.md)"},
    {"status",   NAME, KEY, offsetof(pons__word, status), .means = "of one that has ended already: then it is an `ended`"},
};
TABLE(word, "the answer to `accept`: what the body says of a goal");

static const pons__field ended_fields[] = {
    {"goal_id",    NAME, KEY,   offsetof(pons__ended, goal_id), .means = "of the ledger"},
    {"status",     NAME, KEY,   offsetof(pons__ended, status), .means = "`done`, `failed`, `canceled`, `outcome_unknown`; lacking: nothing was told"},
    {"error_code", INT,  NEVER, offsetof(pons__ended, error_code), .means = "Nav2's numbers; 0: none"},
    {"error_msg",  TEXT, NEVER, offsetof(pons__ended, error_msg), .means = "for people"},
    {"metrics",    JSON, NEVER, offsetof(pons__ended, metrics), .means = "the skill's own"},
};
TABLE(ended, "the answer to `end`, and what `news` has of each: how a goal has ended");

static const pons__field await_answer_fields[] = {
    {"event",   NAME, KEY, offsetof(pons__await_answer, event), .means = "`result`, `no_progress`, `check_in`, `rested`; lacking: the kernel took the wait back"},
    {"results", JSON, KEY, offsetof(pons__await_answer, results), .means = "of result: a list of `ended`"},
    {"goal_id", NAME, KEY, offsetof(pons__await_answer, goal_id), .means = "of no_progress"},
    {"distance_remaining_m", NUM, KEY, offsetof(pons__await_answer, distance_remaining_m), .preset = NAN, .means = "of no_progress"},
    {"for_s",   NUM,  KEY, offsetof(pons__await_answer, for_s), .preset = NAN, .means = "of no_progress: robot time"},
    {"feedback", JSON, KEY, offsetof(pons__await_answer, feedback), .means = "of check_in: as the body sent it"},
};
TABLE(await_answer, "the answer to `skill` and `rest`");

static const pons__field model_asked_fields[] = {
    {"iter",      INT,  NEVER, offsetof(pons__model_asked, iter), .means = "the round"},
    {"attempt",   INT,  NEVER, offsetof(pons__model_asked, attempt), .means = "in it, from 1"},
    {"complaint", NAME, KEY,   offsetof(pons__model_asked, complaint), .means = "what was wrong with the answer before"},
    {"previous",  NAME, KEY,   offsetof(pons__model_asked, previous), .means = "that answer"},
};
TABLE(model_asked, "the inner loop asks a model");

static const pons__field model_usage_fields[] = {
    {"prompt_tokens",     INT, KEY, offsetof(pons__model_usage, prompt_tokens), .preset = -1, .means = "read"},
    {"completion_tokens", INT, KEY, offsetof(pons__model_usage, completion_tokens), .preset = -1, .means = "written"},
    {"total_tokens",      INT, KEY, offsetof(pons__model_usage, total_tokens), .preset = -1, .means = "both"},
};
TABLE(model_usage, "what a call was, as the server counts");

static const pons__field model_answer_fields[] = {
    {"content",  TEXT,   NEVER, offsetof(pons__model_answer, content), .means = "what it says"},
    {"usage",    RECORD, KEY,   offsetof(pons__model_answer, usage), .of = &pons__model_usage_record, .means = "by the server"},
    {"error",    NAME,   KEY,   offsetof(pons__model_answer, error), .means = "it is lost, and why"},
    {"too_long", INT,    KEY,   offsetof(pons__model_answer, too_long), .means = "bytes of an answer that is not kept"},
    {"cut",      BOOL,   KEY,   offsetof(pons__model_answer, cut), .means = "the brain ended before it had answered"},
    {"detached", BOOL,   KEY,   offsetof(pons__model_answer, detached), .means = "the kernel took the wait back"},
    {"tokens",   INT,    KEY,   offsetof(pons__model_answer, tokens), .means = "that the call has cost"},
};
TABLE(model_answer, "the answer of a model");

static const pons__field sought_fields[] = {
    {"query", TEXT, NEVER, offsetof(pons__sought, query), .means = "words"},
};
TABLE(sought, "a plan's step asks documents");

static const pons__field sought_in_vain_fields[] = {
    {"timeout", BOOL, KEY, offsetof(pons__sought_in_vain, timeout), .means = "it took too long"},
    {"error",   NAME, KEY, offsetof(pons__sought_in_vain, error), .means = "why nothing could be searched"},
};
TABLE(sought_in_vain, "the answer, where it is no finding of the search (docs/reference/tools.md)");

static const pons__field waits_fields[] = {
    {"id",      TEXT, NEVER, offsetof(pons__waits, id), .means = "of the wait"},
    {"kind",    TEXT, NEVER, offsetof(pons__waits, kind), .means = "`body`, `llm`, `knowledge`, `human`"},
    {"request", JSON, NUL,   offsetof(pons__waits, request), .means = "what is asked for"},
};
TABLE(waits, "a wait of the inner loop, as the engine shows it");

static const pons__field confirming_fields[] = {
    {"skill", TEXT, NEVER, offsetof(pons__confirming, skill), .means = "of the effect"},
    {"args",  JSON, NUL,   offsetof(pons__confirming, args), .means = "its arguments"},
};
TABLE(confirming, "`request`, where the engine asks a person before an effect of a fork");
// clang-format on

bool pons__await_detached(const pons_value *answer)
{
    PONS__AUTO(linked) linked = pons__record_read(&pons__linked_record, answer);
    return linked->detached;
}

pons_value *pons__word_rejected(const char *code, const char *message)
{
    const pons__word word = {.rejected = true, .code = code, .message = message};
    return pons__record_write(&pons__word_record, &word);
}
