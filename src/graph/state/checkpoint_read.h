// checkpoint_read.h - a checkpoint unpacked, knowing no graph, as the store's rows give it.
#pragma once

#include "pons/error.h"
#include "pons/ext/store.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pons__image { // a checkpoint unpacked, knowing no graph
    pons_value *state;       // {channel: value}
    pons_value *next;        // [names]
    pons_value *joins;       // {label: [names]}
    pons_value *sends;       // [[name, arg]...]
    pons_value *waiting;     // [names]
    pons_value *fired;       // [names] of next that a join has triggered
    pons_value *wrote;       // [names] of an update
    uint64_t run_id;
    bool forked;
    char owner[40];
    pons_value *parents;
    pons_value *metadata; // of the run, or NULL
    pons_value *began;    // marks of a subgraph's run
    char id[32], parent[32];
    int64_t step;
    char source;
    size_t snapshot_bytes, tail_bytes, tail_rows;
    bool found;
} pons__image;

void pons__image_fini(pons__image *im);
// *ret is empty on failure. NOTFOUND: the namespace has no checkpoint, or none of that id.
int pons__image_head(pons_store store, const char *thread, const char *ns, pons__image *ret,
                     pons_error *err);
int pons__image_at(pons_store store, const char *thread, const char *ns, const char *id,
                   pons__image *ret, pons_error *err);
const char *pons__source_word(char source);
int64_t pons__id_ms(const char *id); // the wall ms in a time-sortable id
