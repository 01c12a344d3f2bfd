// intent_fields.c - the tables of what the policy makes of words. Any thread.
#include "brain/records/intent_fields.h"

#include "brain/records/record_table.h"

// clang-format off
static const pons__field understood_fields[] = {
    {"control", NAME, KEY, offsetof(pons__understood, control), .means = "as `word` of said"},
    {"cancel",  JSON, KEY, offsetof(pons__understood, cancel), .means = "of `cancel`: which tasks, {nth?, number?, goals?}; absent: all"},
    {"goals",   LIST, KEY, offsetof(pons__understood, goals), .of = &pons__goal_record, .means = "in order"},
    {"guessed", BOOL, KEY, offsetof(pons__understood, guessed), .means = "a question, by its words: a model may know better"},
    {"urgent",  BOOL, KEY, offsetof(pons__understood, urgent), .means = "before what waits"},
};
TABLE(understood, "what the policy makes of words");

static const pons__field timed_fields[] = {
    {"schedule", TEXT, NEVER, offsetof(pons__timed, schedule), .means = "as pons/schedule.h reads it"},
    {"text",     TEXT, NEVER, offsetof(pons__timed, text), .means = "the wish without it"},
};
TABLE(timed, "words that say when");

static const pons__field naming_fields[] = {
    {"word", TEXT, NEVER, offsetof(pons__naming, word), .means = "`remember`, `room`, `forget`, `charger`"},
    {"name", TEXT, NEVER, offsetof(pons__naming, name), .means = "of the place; of `charger`: none"},
};
TABLE(naming, "words that name a place");

static const pons__field hurry_fields[] = {
    {"word",    TEXT, NEVER, offsetof(pons__hurry, word), .means = "`slower`, `faster`, `normal`, `percent`, `mps`"},
    {"number",  NUM,  KEY,   offsetof(pons__hurry, number), .means = "of percent, mps"},
    {"at_most", BOOL, KEY,   offsetof(pons__hurry, at_most), .means = "the number raises nothing"},
    {"before",  NAME, KEY,   offsetof(pons__hurry, before), .means = "a control word that was said before it"},
    {"rest",    NAME, KEY,   offsetof(pons__hurry, rest), .means = "a wish that was said with it"},
};
TABLE(hurry, "words that say how fast");
// clang-format on
