// inbox_fields.c - the letters to the kernel: their tables of fields, and what it means that a member is lacking.
//
//     kind                      value
//     say, goal                 said: text, by, at_ms, priority, deadline_ms
//     wish                      the same of a model's words
//     run                       said: goals, plan, priority, deadline_ms
//     control                   said: word, task, priority, stop_boot, stop_number, stop_latched, stop_sent, by
//     answer                    reply, and what an edit changes
//     stopped                   stopping: the inner loop saw a goal end by a stop
//     task_result               outcome (kernel_fields.h)
//
// A letter stays in the store as it was posted, until K5 has heard it; whoever posts one may be an older or a
// later program. What this one does not know is left alone. Any thread.
#include "brain/records/inbox_fields.h"

#include "brain/records/record_table.h"

#include <string.h>

const char *const pons__inbox_message_words[] = {
    "", "say", "goal", "wish", "run", "control", "answer", "stopped", "task_result", NULL};

// clang-format off
static const pons__field inbox_message_fields[] = {
    {"kind",  WORD, NEVER, offsetof(pons__inbox_message, kind), .words = pons__inbox_message_words, .means = "`say`, `goal`, `wish`, `run`, `control`, `answer`, `stopped`, `task_result`"},
    {"value", JSON, NUL,   offsetof(pons__inbox_message, value), .means = "said, reply, stopping, or outcome"},
};
TABLE(inbox_message, "what the kernel's inbox brings");

static const pons__field said_fields[] = {
    {"text",        TEXT, KEY, offsetof(pons__said, text), .means = "of say, goal, wish"},
    {"word",        TEXT, KEY, offsetof(pons__said, word), .means = "of control: `stop`, `pause`, `continue`, `resume`, `cancel`, `raise`, `reset`, `yes`, `no`"},
    {"task",        NAME, KEY, offsetof(pons__said, task), .means = "of cancel (without: all), and raise"},
    {"goals",       JSON, KEY, offsetof(pons__said, goals), .means = "of run: texts"},
    {"plan",        JSON, KEY, offsetof(pons__said, plan), .means = "of run (schemas/plan.json)"},
    {"priority",    JSON, KEY, offsetof(pons__said, priority), .means = "a number, or `background`, `user`, `urgent`"},
    {"deadline_ms", INT,  KEY, offsetof(pons__said, deadline_ms), .means = "Unix time"},
    {"stop_boot",   TEXT, KEY, offsetof(pons__said, stop_boot), .means = "of reset, continue, resume: the body's boot when it was said, and"},
    {"stop_number", INT,  KEY, offsetof(pons__said, stop_number), .means = "its `stop.number` then: no later stop is meant"},
    {"stop_latched", BOOL, KEY, offsetof(pons__said, stop_latched), .means = "and whether it was in force"},
    {"at_ms",       INT,  KEY, offsetof(pons__said, at_ms), .means = "wall: when it was said; words that answer a question count from then"},
    {"stop_sent",   BOOL, KEY, offsetof(pons__said, stop_sent), .means = "of stop: whoever posted it has stopped the body first"},
    {"by",          TEXT, KEY, offsetof(pons__said, by), .means = "who"},
    {"nonce",       NAME, KEY, offsetof(pons__said, nonce), .means = "by which whoever sent it finds what became of it: the event `said.taken` has it"},
};
TABLE(said, "a letter: words, goals, control");

static const pons__field reply_fields[] = {
    {"id",     NAME, KEY, offsetof(pons__reply, id), .means = "of the question; without: the first that is open"},
    {"action", TEXT, KEY, offsetof(pons__reply, action), .means = "`approve`, `answer` (the same, with words), `edit`, `reject`; without: `reject`"},
    {"answer", NAME, KEY, offsetof(pons__reply, answer), .means = "in words"},
    {"reason", TEXT, KEY, offsetof(pons__reply, reason), .means = "with it"},
    {"by",     TEXT, KEY, offsetof(pons__reply, by), .means = "who"},
    {"at_ms",  INT,  KEY, offsetof(pons__reply, at_ms), .means = "wall: when it was given"},
    {"nonce",  TEXT, KEY, offsetof(pons__reply, nonce), .means = "by which whoever sent it finds what became of it"},
    {"op",     INT,  KEY, offsetof(pons__reply, op), .means = "of an edit: which operation, from 1"},
    {"args",   JSON, KEY, offsetof(pons__reply, args), .means = "of an edit: its arguments"},
    {"ops",    JSON, KEY, offsetof(pons__reply, ops), .means = "of an edit: all of them anew, [{skill, args}]"},
    {"detached", BOOL, KEY, offsetof(pons__reply, detached), .means = "the kernel's: it took the question back"},
    {"aside",  BOOL, KEY, offsetof(pons__reply, aside), .means = "the kernel's: the question stays open"},
};
TABLE(reply, "a letter: the answer to a question");

static const pons__field stopping_fields[] = {
    {"activation", INT,  NEVER, offsetof(pons__stopping, activation), .means = "of the inner loop"},
    {"reason",     TEXT, NEVER, offsetof(pons__stopping, reason), .means = "for people"},
};
TABLE(stopping, "a letter: a goal was ended by a stop");
// clang-format on

static void without(const char **member, const char *meaning)
{
    if (!**member) {
        pons__set_text(member, meaning);
    }
}

pons__said *pons__said_read(const pons_value *value)
{
    pons__said *s = pons__record_read(&pons__said_record, value);
    without(&s->by, "a person");
    return s;
}

pons__reply *pons__reply_read(const pons_value *value)
{
    pons__reply *r = pons__record_read(&pons__reply_record, value);
    without(&r->action, "reject");
    if (r->answer && strcmp(r->action, "answer") == 0) {
        pons__set_text(&r->action, "approve");
    }
    without(&r->by, "a person");
    return r;
}

pons__stopping *pons__stopping_read(const pons_value *value)
{
    pons__stopping *s = pons__record_read(&pons__stopping_record, value);
    without(&s->reason, "stop");
    return s;
}

const char *pons__inbox_message_says(const pons__inbox_message *l)
{
    const pons_value *goals = pons_get(l->value, "goals");
    const size_t n = json_array_size(goals);
    switch (l->kind) {
    case PONS_LETTER_RUN:
        return n > 0 ? json_string_value(json_array_get(goals, n - 1)) : NULL;
    case PONS_LETTER_SAY:
    case PONS_LETTER_GOAL:
    case PONS_LETTER_WISH:
        return pons_get_str(l->value, "text", "");
    default:
        return NULL;
    }
}
