// workspace_model_access.h - a workspace's files for a model: it reads them, and proposes actions to whoever does them there.
//
// A provider of two tools (pons/ext/tool.h):
//
//   read_workspace {file, kind?, id?}        the records of a protocol file that the Planner may read, a line of JSON each
//   propose_action {action_type, params?}    judged, then a pending action of ACTION.md, as a person's edit makes one; the
//                                            call ends when the action does, with what came of it
//
// A call is one action: its id comes of the call's key. What the files or the body's critic refuse is not written, the
// refusal is a lesson, and the caller gets the figures. Nothing else can be written: neither a status, nor whose it is.
#pragma once

#include "pons/clock.h"
#include "pons/critic.h"
#include "pons/ext/tool.h"
#include "pons/linkage.h"
#include "pons/workspace.h"

PONS_C_BEGIN

#define PONS_WS_PROPOSE "propose_action"

typedef struct pons_ws_model_access_options {
    const char *dir; // copied, as the other texts
    pons_ws_dialect dialect;
    const char *robot_id; // whose actions they are; NULL: "robot_001"
    const char *who;      // who proposes, in proposed_by
    pons_clock clock;
    // The body's skills, which say what a person must be asked about; must outlive it. ops NULL: none.
    pons_tools robot;
    // Whether somebody does the workspace's actions now.
    bool (*served)(void *user);
    // {connected, robot, world} as query_world has it, a new reference.
    pons_value *(*status)(void *user);
    // The body's own critic, after the files'; a pons_agent_judge_fn for a skill. PONS_ENOTFOUND: there is no such skill.
    int (*judge)(void *user, const char *skill, const pons_value *args, pons_verdict **ret,
                 pons_error *err);
    // As of pons_ws_place_options. NULL: no memory.
    bool (*seen)(void *user, const char *what, char *ret_line, size_t cap);
    void *user;
} pons_ws_model_access_options;

int pons_ws_model_access_open(const pons_ws_model_access_options *o, pons_tools *ret,
                              pons_error *err);

// Holds a call of propose_action against the files and the body, or a call of a skill of the body against the files; adds
// what is broken to the verdict. self: the pons_tools'. A refusal is written down as a lesson.
int pons_ws_model_access_judge(void *self, const char *tool, const pons_value *args,
                               pons_verdict *v, pons_error *err);

PONS_C_END
