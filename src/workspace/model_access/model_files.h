// model_files.h - what the files of the desk share.
//
//   model_files.c     essay; the provider of tools, and what becomes of proposals in ACTION.md
//   request_check.c    what is asked for held against the files and the body
//   record_lines.c  records of a file for a model
//   desk_common.c    what they share: events, the open folder, who is there
#pragma once

#include "pons/workspace_desk.h"
#include "workspace/hal/action_skills.h"

#define PONS__DESK "workspace"

typedef enum proposal_state { WANTED, PENDING, RUNNING } proposal_state;

typedef struct proposal {
    struct proposal *next;
    uint64_t call;
    char id[32];
    pons_value *args;
    proposal_state state;
    int64_t since_ms,
        unserved_ms; // since it is wanted; since nobody does actions, 0: somebody does
} proposal;

typedef struct event {
    struct event *next;
    pons_tool_event e;
} event;

typedef struct desk {
    pons_ws_desk_options o;
    char *dir, *robot_id, *who;
    pons_value *list;
    pons_ws_place *place; // while something is asked for; else NULL
    int timer;
    proposal *proposals;
    event *first;
} desk;

// ---- desk_common.c ------------------------------------------------------------------------------

void pons__desk_push(desk *d, pons_tool_event e);
int pons__desk_open_place(desk *d, pons_error *err);
void pons__desk_pace(desk *d); // the folder is open, and looked at, while something is asked for
pons_value *pons__desk_status(const desk *d); // what the body says of itself; the caller's
bool pons__desk_served(const desk *d);        // somebody does this folder's actions

// ---- request_check.c ----------------------------------------------------------------------------

// The body's skill that it comes to. The caller frees ret->args.
void pons__desk_call(desk *d, const pons_value *args, const pons_value *status, pons__ws_call *ret);
int pons__desk_judge_proposal(desk *d, const pons_value *args, pons_verdict *v, pons_error *err);

// ---- record_lines.c -----------------------------------------------------------------------------

int pons__desk_read(desk *d, uint64_t call, const pons_value *args, pons_error *err);
