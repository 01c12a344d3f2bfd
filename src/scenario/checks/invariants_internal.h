// invariants_internal.h - what the files of the watch share: invariants.c looks at the ledger, the mode and the
// file's own rules, motion_invariants.c at the wheels, event_invariants.c at what was committed; each tells by violation_report.c.
#pragma once

#include "scenario/checks/invariants.h"

// violation_report.c. A rule was broken: told once a kind, with the moment.
void pons__watch_broken(pons__watch *w, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// motion_invariants.c
void pons__watch_motion(pons__watch *w, const pons__watch_step *step);

// event_invariants.c
int pons__watch_event(void *user, const pons_event_row *row); // a pons_event_fn; user: the watch
void pons__watch_tasks(pons__watch *w, const pons__watch_step *step);
bool pons__watch_busy(const pons__watch *w); // there is a task that a person asked for
