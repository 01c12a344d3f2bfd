// operator.h - what a person says to a robot's brain: stops, answers to its questions.
#pragma once

#include "app/workspace/context.h"

// ---- stop_words.c -------------------------------------------------------------------------------

// A text that says stop goes to the wheels first, past everything; what its thread makes of
// it comes after. policy NULL: opened here. Without a body the brain sends the stop when there is one.
// true: they were one, and the latch is on the disk.
bool app_stop_words(const app_context *c, const pons_policy *policy, const char *text);
#define APP_STOPPED "stopped; the latch holds until `pons reset`"
// Whether words stop or pause the robot: what is said so is no answer, whatever is asked. And saying them: a stop
// reaches the wheels first.
bool app_words_stop_or_pause(const pons_policy *policy, const char *text);
// Whether a person talks to the robot and means it to stop: no other words, or a mark behind the first of them
// ("stop! the cat"). In a talk about other things a word that stops may stand anywhere.
bool app_words_stop(const pons_policy *policy, const char *text);
// The same, or a word that cancels: what a plan or a turn is ended with, whatever it asks.
bool app_words_end(const pons_policy *policy, const char *text);
// Of the rules' refusal: they do not know what is meant; else they do, and it is wrong.
bool app_not_understood(const char *why);
pons_value *app_stopped_value(const char *reason); // what --json says of a stop that latched; new
int app_say_stop(const app_context *c, pons_store store, const char *thread, const char *text,
                 pons_error *err);

// ---- body_stop_state.c --------------------------------------------------------------------------

// What the body says of its stop when somebody says a word, put into the message that carries it: looked
// at now, because what the brain has is some milliseconds old. thread: whose body it is, in the workspace of a fleet;
// may be NULL. The telemetry, the caller's; NULL: no body answers.
pons_value *app_stop_state_note(const app_context *c, const char *thread, int timeout_ms,
                                pons_value *word);
#define APP_UNSEEN_RESET                                                                           \
    "no body answers, so nobody can tell which stop is meant: `pons reset`, or say it again"
// A stop is in force, and nobody can tell whether it is lifted: why a continue is refused, or PONS_OK. looked: what
// app_stop_state_note has returned.
int app_may_continue(pons_store store, const char *thread, const pons_value *looked,
                     pons_error *err);

// ---- approval_question.c ------------------------------------------------------------------------

// A question for a person, line by line: its reason, each operation with its number and the rule that
// asks.
void app_question_show(const pons_value *question, void (*show)(void *user, const char *text),
                       void *user);
// What `pons approve THREAD` takes for it.
const char *app_question_takes(const pons_value *question);
// Of a list of open questions: that with this id, or NULL; bad input that names each of them; and bad input that
// none has this id.
const pons_value *app_question_named(const pons_value *open, const char *id);
int app_question_which(const char *thread, const pons_value *open, pons_error *err);
int app_question_unknown(const char *thread, const char *id, const pons_value *open,
                         pons_error *err);
// Why this can be no answer to it: an edit of no operation, a number of no option, one behind its deadline.
int app_question_fits(const pons_value *question, const pons_value *answer, pons_error *err);

// ---- approval_answer.c --------------------------------------------------------------------------

// An answer from its words: "approve", "edit" with "[N] JSON", "reject" with why, "answer" with words.
int app_answer(const char *action, const char *rest, pons_value **ret, pons_error *err);
// Adds who answers, when, and a nonce, before the answer is posted.
void app_answer_sign(pons_value *answer, const char *where);
// By which whoever posts a letter finds what became of it: put into the letter, and borrowed from it.
const char *app_nonce(pons_value *letter);
