// namespace_head.h - a namespace's head: the state of one graph in a thread, kept between runs.
//
// Only the loop thread that holds the thread touches it.
#pragma once

#include "graph/definition/internal.h"
#include "graph/state/checkpoint_read.h"
#include "graph/state/messages.h"

typedef struct pons__sent { // a Send
    uint32_t node;
    pons_value *arg;
} pons__sent;

typedef struct pons__slot { // a channel's value in a namespace
    pons_value *v;          // owned; NULL: empty
    size_t keep;            // leading items of a list that the store has as they are
    pons_value *merged;     // keys changed since the last store, of a merging channel; or NULL
    pons_value *base;       // what the store has instead of v, when it was written anew; or NULL
    pons_value *patch;      // scratch of one pack: what makes v of base; or NULL
    bool stored;            // the store has v, or had it when v got dirty
    pons__ids ids;          // of a messages channel
    bool dirty;             // changed since the last store
    bool live;              // transient and set
    uint32_t mark;          // scratch of one apply: when it was last written,
    uint32_t first, last;   // and its writes in the flat list
} pons__slot;

typedef struct pons__ns { // a namespace's head, kept between runs
    struct pons__ns *next_ns;
    char name[PONS_NAME_MAX];
    const pons_graph *g; // the shape of slots; a reference
    pons__slot *slots;
    uint32_t *dirty; // indices of dirty slots
    size_t n_dirty;
    uint32_t *live; // indices of live transient slots
    size_t n_live;
    uint64_t *next;    // (n_words) nodes to run
    uint64_t *arrived; // (n_joins) legs that have arrived
    uint64_t *fired;   // (n_words) which of next a join has triggered; NULL without joins
    uint64_t *waiting; // (n_words) deferred nodes that were triggered; NULL without any
    pons__sent *sends; // to run after them
    size_t n_sends, cap_sends;
    pons_value *extra; // stored channels that the graph doesn't have, or NULL
    bool loaded;
    bool exists;          // has a stored checkpoint
    bool head_unfinished; // the stored head has nodes to run
    char head[32];        // id of the newest stored checkpoint,
    char head_parent[32]; // and of the one before it, or empty
    int64_t step;         // of the state in slots; PONS__STEP_NONE before the first
    uint64_t run_id;
    bool run_id_stored;
    char owner[40];       // the parent's task that runs a subgraph
    pons_value *parents;  // {ns: checkpoint} of the graphs around it; NULL: none
    pons_value *metadata; // of its newest run; NULL: none
    pons_value *began;    // of an own subgraph: pons__subgraph's marks of its run's begin; or NULL
    char source;          // of the stored head; 0: none
    bool queued;          // commits of it may still be on their way
    bool ahead;           // some of those were lost: memory is not to be trusted
    char base[32];        // of an own subgraph: the head before the root run
    uint64_t base_serial; // of this number
    char unstored[32];    // id of a state that is stored when the outermost run ends, or empty
    bool forked;          // its newest run goes on from an older checkpoint
    pons_value *wrote;    // as which nodes the update being stored was made; or NULL
    pons_run *queue;      // runs that wait for the namespace
    char lost[PONS_NAME_MAX]; // a node to run that the graph does not have, or empty
    size_t snapshot_bytes;    // of the newest snapshot
    size_t tail_bytes;        // of the rows after it
    size_t tail_rows;
    uint32_t mark;       // of the newest apply, see pons__slot
    int64_t inbox_after; // the newest message this thread has consumed
    pons_run *active;
} pons__ns;

#define PONS__STEP_NONE (-2)

pons__ns *pons__ns_create(const char *name); // NULL: no memory. name is shorter than PONS_NAME_MAX
void pons__ns_destroy(pons__ns *ns);
// Lays an image out for g, as the stored head (found or not), or the same state for another graph.
int pons__ns_adopt(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err);
int pons__ns_reshape(pons__ns *ns, const pons_graph *g, pons_error *err);
// Takes an older image's state; the next checkpoint is a whole one, with that image as its parent.
int pons__ns_restore(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err);
void pons__ns_forget(pons__ns *ns); // the next use loads it again
// Sets a slot's value from outside a step: takes v. keep: leading items that are as they were.
void pons__ns_set(pons__ns *ns, uint32_t ch, pons_value *v, size_t keep);
// Puts v in the place of a slot's value, which is then dirty: takes v. keep: as above.
void pons__ns_swap(pons__ns *ns, uint32_t ch, pons_value *v, size_t keep);
// Folds [[channel,value]...] in; names that the graph does not have are passed over.
int pons__ns_patch(pons__ns *ns, const pons_value *writes, pons_error *err);
void pons__ns_mark_dirty(pons__ns *ns, uint32_t ch);
bool pons__ns_more(const pons__ns *ns); // something is to run
void pons__ns_sends_clear(pons__ns *ns);
bool pons__ns_send(pons__ns *ns, uint32_t node, pons_value *arg); // takes arg; false: no memory
