// news.c - the tables of what goes between the inner loop and the port. Any thread.
//
// Requests and answers of awaits are in the store: what is asked again by the next life must be what was asked,
// and an answer may be of an earlier program.
#include "brain/news.h"

#include "brain/record_table.h"

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
    {"state",    NAME, KEY, offsetof(pons__word, state), .means = "of an accepted goal (docs/link.md)"},
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

static const pons__field news_fields[] = {
    {"event",   NAME, KEY, offsetof(pons__news, event), .means = "`result`, `no_progress`, `check_in`, `rested`; lacking: the kernel took the wait back"},
    {"results", JSON, KEY, offsetof(pons__news, results), .means = "of result: a list of `ended`"},
    {"goal_id", NAME, KEY, offsetof(pons__news, goal_id), .means = "of no_progress"},
    {"distance_remaining_m", NUM, KEY, offsetof(pons__news, distance_remaining_m), .preset = NAN, .means = "of no_progress"},
    {"for_s",   NUM,  KEY, offsetof(pons__news, for_s), .preset = NAN, .means = "of no_progress: robot time"},
    {"feedback", JSON, KEY, offsetof(pons__news, feedback), .means = "of check_in: as the body sent it"},
};
TABLE(news, "the answer to `skill` and `rest`");
// clang-format on

bool pons__await_detached(const pons_value *answer)
{
    return pons_get_bool(answer, "detached", false);
}

pons_value *pons__word_rejected(const char *code, const char *message)
{
    const pons__word word = {.rejected = true, .code = code, .message = message};
    return pons__record_write(&pons__word_record, &word);
}
