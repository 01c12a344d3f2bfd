// model_files.h - what the files of the desk share.
//
//   model_files.c     essay; the provider of tools, and what becomes of proposals in ACTION.md
//   request_check.c    what is asked for held against the files and the body
//   record_lines.c  records of a file for a model
//   access_common.c    what they share: events, the open folder, who is there
#pragma once

#include "pons/workspace_model_access.h"
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

typedef struct model_access {
    pons_ws_model_access_options o;
    char *dir, *robot_id, *who;
    pons_value *list;
    pons_ws_place *place; // while something is asked for; else NULL
    int timer;
    proposal *proposals;
    event *first;
} model_access;

// ---- access_common.c ----------------------------------------------------------------------------

void pons__model_access_push(model_access *d, pons_tool_event e);
int pons__model_access_open_place(model_access *d, pons_error *err);
void pons__model_access_pace(
    model_access *d); // the folder is open, and looked at, while something is asked for
pons_value *
pons__model_access_status(const model_access *d);      // what the body says of itself; the caller's
bool pons__model_access_served(const model_access *d); // somebody does this folder's actions

// ---- request_check.c ----------------------------------------------------------------------------

// The body's skill that it comes to. The caller frees ret->args.
void pons__model_access_call(model_access *d, const pons_value *args, const pons_value *status,
                             pons__ws_call *ret);
int pons__model_access_judge_proposal(model_access *d, const pons_value *args, pons_verdict *v,
                                      pons_error *err);

// ---- record_lines.c -----------------------------------------------------------------------------

int pons__model_access_read(model_access *d, uint64_t call, const pons_value *args,
                            pons_error *err);
