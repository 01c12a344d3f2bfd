// runtime.h - the Runtime watchdog: sessions of SESSIONS.md, done on the targets of TARGETS.md by the
// skills of SKILLS.md, one at a time a target, any number of watchdogs beside each other.
//
// What is pending in the file goes into the lanes of a store (pons/ext/store.h), which is the truth from then
// on; the file shows it. A session that is claimed is held against what its skill requires, then its
// runtime gives it steps, each a goal of the target's body under a key that is the step's own, noted in the
// store before it is asked for. Killed anywhere, the next life, or another watchdog, asks the body what
// became of the noted step: nothing is done twice, and what cannot be known is OUTCOME_UNKNOWN.
#pragma once

#include "pons/clock.h"
#include "pons/ext/store.h"
#include "pons/ext/tool.h"
#include "pons/linkage.h"
#include "pons/workspace.h"

PONS_C_BEGIN

typedef struct pons_runtime pons_runtime; // one thread

typedef struct pons_runtime_options {
    pons_ws_place *place; // opened as PONS_WS_BY_RUNTIME; outlives it
    const char *dir;      // the workspace: artifacts/ is below it
    pons_lanes lanes;     // outlive it
    pons_clock clock;
    const char *runner;        // this watchdog's name, nobody else's ever
    const char *only;          // this target alone; NULL: all
    uint64_t seed;             // of the scatter of pauses
    int64_t beat_ms, lease_ms; // 0: 3000, 10000
    // Sessions that have ended stay in the lanes while they are among so many of the last that came, and those
    // that failed; 0: all stay. Fewer than 200 count as 200: those are in the file.
    int64_t keep, keep_failed;
    // A body for a target, for as long as this lives: its skills, and query_world. Never waits; the list
    // has skills once it is there. PONS_ENOTFOUND: there is no such driver here, and why.
    int (*body)(void *user, const char *target, const pons_value *record, pons_tools *ret,
                pons_error *err);
    // Whether EMBODIED.md and ENVIRONMENT.md of this folder are about this target's body: what it is asked
    // for is held against them. NULL: it is so for all.
    bool (*described)(void *user, const char *target);
    // The body's critic, before anything moves; PONS_EREFUSED and why. NULL: nobody.
    int (*judge)(void *user, const pons_tools *robot, const char *skill, const pons_value *args,
                 char *why, size_t cap);
    // Pictures of a target's cameras, the caller's to close: "picture" {cameras, depth}, answered with {dir, pictures:
    // [{name, rgb, depth?} | {name, error}]}, files below dir. NULL: nobody takes any.
    int (*pictures)(void *user, const char *target, pons_tools *ret, pons_error *err);
    // The program pons, which speaks with servers of policies that have a protocol of their own; NULL: there is none, and
    // such a session fails with POLICY_NOT_AVAILABLE.
    const char *pons;
    bool (*dead)(void *user, const char *runner); // is it certain? NULL: only time tells
    // A session's state changed: its record as SESSIONS.md has it. NULL: nobody asks.
    void (*reported)(void *user, const char *session, const pons_value *record);
    // So many that had ended are gone from the lanes, and of those that failed; also in LOG.md. NULL: nobody asks.
    void (*pruned)(void *user, int64_t sessions, int64_t failed);
    void *user;
} pons_runtime_options;

// Strings are copied, the rest is borrowed.
int pons_runtime_open(const pons_runtime_options *options, pons_runtime **ret, pons_error *err);
void pons_runtime_close(pons_runtime *r); // NULL-safe; what runs goes on in the bodies
// Does what can be done without waiting. Returns in how many ms to call it again at the latest.
int pons_runtime_step(pons_runtime *r);
int pons_runtime_fd(const pons_runtime *r);        // readable when a step has something to do
bool pons_runtime_idle(const pons_runtime *r);     // nothing runs, nothing waits that it could do
size_t pons_runtime_failed(const pons_runtime *r); // sessions that failed for good in this life

PONS_C_END
