// core.h - the provider of the core tools as its workers see it, and a call at work.
#pragma once

#include "pons/buf.h"
#include "pons/clock.h"
#include "pons/value.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#define PONS__TOOLS    "tools" // of errors
#define PONS__LINE_MAX 512     // bytes of a reason or a progress line
#define PONS__CHUNK    (64 * 1024)
#define PONS__KIB      1024

typedef struct pons__call_ledger pons__call_ledger;
typedef struct pons__knowledge pons__knowledge;
typedef struct pons__wall pons__wall;
typedef struct pons__pattern pons__pattern; // read_write_guards.h
typedef struct pons__id pons__id;

// Constant after open, but for those that lock for themselves.
typedef struct pons__core {
    // Where paths are rooted: the workspace, or the working folder that was given in its place. As the
    // operating system names it, without a trailing slash.
    char workspace[PATH_MAX];
    int root_fd;          // O_PATH
    char state[PATH_MAX]; // the workspace itself: what the tools keep is in its run/
    int state_fd;         // O_PATH
    char tag[24]; // "", or what tells a working folder's files in run/ from others': "-1a2b3c4d"
    pons_value *config; // checked
    pons_clock clock;
    pons__call_ledger *ledger;
    pons__knowledge *knowledge;
    pons__wall *wall;
    pons__pattern *patterns;
    size_t n_patterns;
    // [links_mtx] the files with another name or a link that is hidden or protected
    pthread_mutex_t links_mtx;
    pons__id *links;
    size_t n_links;
    int64_t links_until_ns;
    int64_t links_sure_until_ns; // the same for a file with several names
    bool links_known;            // else the workspace is too large to look through
} pons__core;

// One call, on its worker.
typedef struct pons__work {
    pons__core *core;
    const pons_value *args;
    const char *key;       // "" when the host gave none
    atomic_bool *canceled; // by another thread
    int cancel_fd;         // readable once canceled
    // results
    pons_buf out; // text
    pons_value *data;
    bool truncated;
} pons__work;

typedef int (*pons__tool_fn)(pons__work *w, pons_error *err);

static inline bool pons__stopped(const pons__work *w)
{
    return atomic_load_explicit(w->canceled, memory_order_acquire);
}
static inline int pons__stopped_error(pons_error *err)
{
    return pons_error_set(err, PONS_ECANCELED, PONS__TOOLS, "cancelled");
}
