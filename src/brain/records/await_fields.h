// await_fields.h - what the inner loop waits for at the body, at a model and at documents, and what it is told then; and
// its waits, as the engine shows them (await_fields.c).
#pragma once

#include "brain/records/field_records.h"

typedef enum pons__wait_kind {
    PONS_WAIT_NOTHING,
    PONS_WAIT_LINK,   // a body that takes commands is there
    PONS_WAIT_ACCEPT, // its word on a goal
    PONS_WAIT_END,    // the end of a goal
    PONS_WAIT_REST,   // host time
    PONS_WAIT_SKILL,  // something worth another look at what runs
} pons__wait_kind;
extern const char *const pons__wait_words[];

// The request of an await of kind "body".
typedef struct pons__wait {
    int wait;                // pons__wait_kind
    const char *goal_id;     // of accept, end
    const char *for_id;      // of link: the operation, so that each waits for itself
    const pons_value *goals; // of skill: ids
    double look_s; // of skill: robot time; 0: woken by news alone; NAN: as the config says
    int64_t ms;    // of rest
} pons__wait;
PONS__RECORD_OF(wait);

typedef struct pons__linked { // the answer to link
    bool ready;
    int64_t epoch;
    const char *boot_id, *robot_id;
    bool detached;
} pons__linked;
PONS__RECORD_OF(linked);

// The answer to accept: {state} | {rejected, code, message} | how it has ended already.
typedef struct pons__word {
    const char *state, *status, *code, *message; // NULL: it does not say
    bool rejected;
} pons__word;
PONS__RECORD_OF(word);

// The answer to end, and one of the results of news. Without a status the wait was taken back, or was in vain.
typedef struct pons__ended {
    const char *goal_id, *status; // NULL: it does not say
    const char *error_msg;
    int64_t error_code;
    const pons_value *metrics;
} pons__ended;
PONS__RECORD_OF(ended);

typedef struct pons__await_answer { // the answer to skill, rest
    const char *event; // result, no_progress, check_in, rested; NULL: the kernel took the wait back
    const char *goal_id; // of no_progress
    double distance_remaining_m, for_s;
    const pons_value *results, *feedback; // lists: of pons__ended; as the body sent it
} pons__await_answer;
PONS__RECORD_OF(await_answer);

typedef struct pons__model_asked { // the request of an await of kind "llm"
    int64_t iter, attempt;
    const char *complaint, *previous; // of the answer before; NULL: there was none
} pons__model_asked;
PONS__RECORD_OF(model_asked);

typedef struct pons__model_usage { // as a server counts; -1: it does not
    int64_t prompt_tokens, completion_tokens, total_tokens;
} pons__model_usage;
PONS__RECORD_OF(model_usage);

typedef struct pons__model_answer { // also as the provider gives it (ext/llm.h): content and usage
    const char *content, *error;    // error NULL: it answered
    pons__model_usage *usage;       // NULL: not told
    int64_t tokens, too_long;       // what the call has cost; its bytes, of one that is not kept
    bool cut, detached;             // the brain ended meanwhile; the kernel took the wait back
} pons__model_answer;
PONS__RECORD_OF(model_answer);

typedef struct pons__sought { // the request of an await of kind "knowledge"
    const char *query;
} pons__sought;
PONS__RECORD_OF(sought);

typedef struct pons__sought_in_vain { // its answer, where it is no finding
    bool timeout;
    const char *error; // NULL: it found something
} pons__sought_in_vain;
PONS__RECORD_OF(sought_in_vain);

typedef struct pons__waits { // a wait of a run (pons_run_pending)
    const char *id, *kind;
    const pons_value *request;
} pons__waits;
PONS__RECORD_OF(waits);

typedef struct pons__confirming { // what the engine asks before an effect of a fork goes out
    const char *skill;
    const pons_value *args;
} pons__confirming;
PONS__RECORD_OF(confirming);

// Whether the kernel took a wait back; that is its recorded answer then.
bool pons__await_detached(const pons_value *answer);
pons_value *pons__word_rejected(const char *code, const char *message); // new
