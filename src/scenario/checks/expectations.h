// expectations.h - what happened, and what must be true of it (expectations.c).
#pragma once

#include "pons/brain.h"
#include "pons/geometry.h"
#include "pons/scenario.h"
#include "pons/yaml.h"

struct pons_scenario {
    pons_value *value;
    pons_yaml *yaml; // the file's, for its positions; NULL: drawn, or cut down
    const pons_value *world, *driver;
};

// PONS_EINVAL with what is wrong at a JSON pointer of the file, and the file's position where it has one.
int pons__scenario_fault(const pons_scenario *s, const char *pointer, pons_error *err,
                         const char *fmt, ...) __attribute__((format(printf, 4, 5)));

// What happened, for the judge.
typedef struct pons__story {
    pons_value *decisions; // types, in order
    pons_value *sources;   // who made them, in order
    pons_value *modes;
    pons_value *types;   // event types seen, {type: count}
    pons_value *effects; // "skill state" words, {…: count}
    pons_value *said;    // texts
    pons_value *results; // {skill or goal, status, error_code}, in order
    pons_value *nodes;   // actions of the navigator's tree
    int64_t trees;       // that it had
    const char *status;  // of run.done; NULL: none
    char status_buf[16];
    int64_t kills;
    int64_t body_kills;
    int64_t kills_reported; // of them by the story, not by a sweep or a seed
    double robot_s;         // how long it took, by the robot's clock
    double stood_s;         // the longest that it stood in the midst of a goal that has the base
} pons__story;
void pons__story_init(pons__story *s);
void pons__story_fini(pons__story *s);
void pons__story_event(pons__story *s, const pons_event *ev);

// Appends what was missed, as text, to misses. ledger_path: the body's; truth: where the robot is.
void pons__judge_expect(const pons_scenario *s, const pons__story *story, const pons_value *world,
                        pons_pose2 truth, pons_value *misses);
// Always: one `started` line a goal id; no start without the end of the task's previous goal or
// another boot; no start after the task is done.
// results (may be NULL) gets {skill, status, error_code} of every goal's end.
int64_t pons__judge_ledger(const char *ledger_path, pons_value *results, pons_value *misses);
bool pons__judge_in_zone(const pons_value *world, const char *zone, pons_pose2 p);
bool pons__judge_moves(const char *skill); // it needs the base
