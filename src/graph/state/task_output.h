// task_output.h - what a task brings out besides channel writes: posts, events, effects, taken messages,
// items.
#pragma once

#include "pons/graph.h"

typedef struct pons__post {
    char *ns, *kind;
    pons_value *value;
} pons__post;
typedef struct pons__emit {
    char *type;
    pons_value *payload;
    int64_t ts_ms;
} pons__emit;
typedef struct pons__change { // an effect as it is or will be
    char id[40];
    char ns[PONS_NAME_MAX];
    pons_effect_state state;
    int64_t created, updated;
    pons_value *data; // {skill, args, attempt, args_hash, details, result, tag}
    bool fresh;       // intended here: not in the store yet
} pons__change;

typedef struct pons__out { // everything but channel writes
    pons__post *posts;
    size_t n_posts, cap_posts;
    pons__emit *emits;
    size_t n_emits, cap_emits;
    pons__change *changes;
    size_t n_changes, cap_changes;
    int64_t *taken;
    size_t n_taken, cap_taken;
    pons_item_write **items; // owned, free()
    size_t n_items, cap_items;
} pons__out;

bool pons__out_empty(const pons__out *o);
void pons__out_clear(pons__out *o);     // empty, keeps its room
void pons__out_committed(pons__out *o); // leaves the events, which are to be shown
void pons__out_fini(pons__out *o);
int pons__out_post(pons__out *o, const char *ns, const char *kind, pons_value *value); // takes
int pons__out_emit(pons__out *o, const char *type, pons_value *payload, int64_t ts_ms);
int pons__out_take(pons__out *o, int64_t seq);
int pons__out_item(pons__out *o, pons_item_write *w);         // takes
pons__change *pons__out_change(pons__out *o, const char *id); // borrowed, or NULL
// Takes c's data; replaces one of the same id.
int pons__out_change_put(pons__out *o, const pons__change *c);
void pons__out_change_drop(pons__out *o, const char *id);
// Moves everything of src behind what dst has.
int pons__out_move(pons__out *dst, pons__out *src);
