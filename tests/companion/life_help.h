// life_help.h - a simulated life for the tests: the world view and tree that pons ships, a store in
// memory, a scripted model on a clock of its own, and everything that happened, line by line.
#ifndef LIFE_HELP_H
#define LIFE_HELP_H

// cmocka needs these before it
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "unit.h"
// clang-format on
#include "pons/buf.h"
#include "pons/companion.h"

#include <stdlib.h>
#include <string.h>

typedef struct edit { // of the shipped world view's text; ends with a NULL `from`
    const char *from, *to;
} edit;

typedef struct life {
    pons_world_view *view;
    pons_bt *tree;
    pons_store store;
    pons_companion *c;
    pons_clock_manual clock;
    pons_clock model_clock;
    pons_llm llm;
    bool real;          // not simulated
    bool by_clock;      // no tick waits for the model, as in real time
    pons_value *events; // all but ticks
    pons_error err;
} life;

// Everything but the companion itself. tree NULL: the one that pons ships.
void life_init(life *l, const edit *edits, const char *tree);
void life_model(life *l, const char *replies); // JSON: the list of scripted replies
void life_open(life *l, const char *from, uint64_t seed);
int life_try_open(life *l, const char *from, uint64_t seed);
void life_run(life *l, const char *until); // asks the model
void life_close(life *l);                  // the companion alone: as a clean stop
void life_fini(life *l);

int64_t life_minute(const life *l, const char *text);
// The n-th (from 0) event of a type whose action is `action` (NULL: any), or NULL.
const pons_value *life_find(const life *l, const char *type, const char *action, size_t n);
size_t life_count(const life *l, const char *type, const char *action);
// "Monday-like" times: "2026-03-02T07:20" of an event, without the offset. Static storage.
const char *life_time(const pons_value *event);
// Only what was done: started and ended actions, one a line. The caller frees.
char *life_deeds(const life *l);
char *life_text(const life *l); // every event

#endif
