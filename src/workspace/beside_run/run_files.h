// run_files.h - what the files of a workspace beside a run are to those who write them (run_files.c) and to those who hear what
// people ask for in them (file_requests.c).
#pragma once

#include "pons/workspace_live.h"

typedef struct row { // of ACTION or TASK that this run writes
    pons_ws_file file;
    char id[64];
    char of[64];              // the goal's id, or the task's and which of its goals: "task-1/0"
    pons_value *value;        // as it is to be
    bool dirty, ended, there; // there: it was written into the file, by whomever
} row;

typedef struct wish { // what a person has written, until the run takes it up
    pons_ws_file file;
    char id[64];
    char *words, *skill; // as it was said; of an action, the skill that comes of it
    pons_value *args;
    char task[64];   // the task that it became; "": none yet
    bool said, over; // over: it is to be cancelled as soon as it is a task
} wish;

struct pons_ws_live {
    pons_ws_live_options o;
    char robot_id[64], who[64];
    pons_value *world, *robot; // robot: the newest telemetry
    pons_value *known;         // objects, as the brain's world model has them; NULL: not yet
    pons_ws_place *place;
    row *rows;
    size_t n_rows;
    wish *wishes;
    size_t n_wishes;
    pons_value *cancels; // ids of tasks
    pons_value *seen[2]; // of ACTION and TASK, ids that were there at the last look
    int64_t observed_ms;
    bool moved; // there is telemetry that ENVIRONMENT.md has not
    bool opened;
};

// ACTION's records are actions, TASK's subtasks.
const char *pons__live_kind(pons_ws_file file);

// ---- file_requests.c ----------------------------------------------------------------------------

// What is new in a file, and what is gone.
void pons__wishes_look(pons_ws_live *l, pons_ws_file file);
void pons__wishes_say(
    pons_ws_live *l); // to the run, what people have asked for since the last time
wish *pons__wish_of_skill(pons_ws_live *l, const char *skill, const pons_value *args);
wish *pons__wish_of_words(pons_ws_live *l, const char *words); // that is no task yet
void pons__wish_drop(pons_ws_live *l, wish *w);
void pons__wish_cancel(pons_ws_live *l, const char *task,
                       size_t len); // the task, with the next saying
