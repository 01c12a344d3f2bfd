// job_store.h - what the store keeps of jobs, and of everything else that the API knows by name.
//
// Items under the first label PONS__OWN, which no client sees or writes:
//
//     OWN.open       run id -> the run, until it has ended
//     OWN.runs.T     run id -> the run, once it has
//     OWN.hooks      run id -> the run, while somebody is to be told that it has ended
//     OWN.ttl        thread -> {minutes, strategy}
//     OWN.assistants, OWN.crons       id -> …
#pragma once

#include "pons/items.h"
#include "serve/runs/run_job.h"

#define PONS__OWN   "pons-serve"
#define PONS__HOOKS PONS__OWN ".hooks"

// One of them: put, got (*ret: its value), and all values of a space.
int pons__own_put(const pons_items *it, const char *space, const char *key, const pons_value *value,
                  pons_error *err);
int pons__own_get(const pons_items *it, const char *space, const char *key, pons_value **ret,
                  pons_error *err);
int pons__own_list(const pons_items *it, const char *space, pons_value **ret, pons_error *err);

// A thread's name as a label of a namespace, which has no dots.
void pons__kept_label(const char *thread, char ret[2 * PONS_NAME_MAX]);
// Durable when it returns.
int pons__kept_open(const pons_items *it, const pons_value *kept, const char *run, pons_error *err);
// From the open ones to those of its thread; forget: to nowhere.
int pons__kept_end(const pons_items *it, const pons__job *j, bool forget, pons_error *err);
// Kept runs as lists of what pons__job_keep gave, newest first; thread NULL: the open ones.
int pons__kept_list(const pons_items *it, const char *thread, pons_value **ret, pons_error *err);
// PONS_ENOTFOUND: it never was, or has not ended.
int pons__kept_get(const pons_items *it, const char *thread, const char *run, pons_value **ret,
                   pons_error *err);
int pons__kept_delete(const pons_items *it, const char *thread, const char *run, pons_error *err);
// All that is kept of a thread's runs.
int pons__kept_forget(const pons_items *it, const char *thread, pons_error *err);
