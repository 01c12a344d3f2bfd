// parse_state.h - one sentence that is being understood, and what is known of it so far.
#pragma once

#include "intents/intent_file.h"

#define TEXT_MAX       1024 // bytes of one utterance
#define LOOSE_MAX      240  // bytes of a wish that is tried loosely: the search is cubic
#define LIST_MAX       16   // names in one list
#define STARTS_MAX     8    // fillers before a wish
#define ARTICLES_MAX   3
#define JUXTAPOSED_MAX 4   // wishes without a separator
#define KNOWN_LIST_MAX 320 // bytes of a message that lists what is known
#define QUOTE_MAX      80  // bytes of a message that quote the person

typedef struct pons__name {
    char *s;                   // folded
    const char *id, *other_id; // other_id: another thing has the same name
    uint32_t sum;              // of s
    bool object;
} pons__name;

typedef struct pons__span {
    size_t lo, hi; // of the folded text
} pons__span;

// What the slots of one match hold.
typedef struct pons__capture {
    const pons__name *zone[LIST_MAX];
    size_t zones_n;
    bool everywhere; // all zones but those
    const pons__name *object, *place;
    int64_t nth;   // from 1; -1: the last
    bool numbered; // "task 3", which may be its name
    bool has_seconds;
    double seconds;
    double number;
    size_t coords_n; // 2: x, y; 3: and the yaw
    double coords[3];
    pons__span text;
    size_t unknown_n; // slots that were filled loosely
    pons__slot unknown_slot;
    pons__span unknown;
} pons__capture;

typedef enum pons__match_mode { STRICT = 0, LOOSE = 1, PREFIX = 2 } pons__match_mode; // flags

typedef struct pons__parse_state {
    const pons__intents *r;
    const pons__patterns *phrases; // of skills; NULL: none
    const char *text;
    const pons_value *world;
    pons__fold f;
    pons__name *names; // (names_n), longest first
    size_t names_n;
    pons_value *goals;
    pons_value *undone; // goals that are not wanted
    int64_t nth;        // the task that is not wanted, from 1; -1: the last; 0: none
    bool numbered;
    pons__control control;
    bool urgent;
    bool asks;     // a question: a bare name in it is no wish
    bool confirms; // it is asked whether it is so
    bool polite;   // but a request
    bool took_back, guessed;
    bool cancels;    // what is cancelled was said so ("cancel the kitchen"), and not only denied
    bool answerable; // what was not understood may be a question
    bool stays;      // it was said of something that it is not cancelled
    const pons__name *last; // the thing that was said last
    bool zh;                // in which language it is answered
    size_t *unknown;
    pons_error *err;
} pons__parse_state;

void pons__parse_state_fini(pons__parse_state *s);
int pons__parse_state_init(pons__parse_state *s, const pons__intents *r, const char *text,
                           const pons_value *world, pons_error *err);
