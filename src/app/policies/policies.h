// policies.h - servers of policies that have a protocol of their own, each spoken with by a process of its own.
#pragma once

#include "pons/ext/policy_server.h"

#include <stdbool.h>
#include <stdio.h>

// policy_process.c: `pons watchdog policy`. client: policy_client of the skill, as JSON. Questions and answers are lines, as
// those of a policy_client of type local; a fault is an answer too. Returns at the end of `in`.
int app_policy_process(const char *client, FILE *in, FILE *out, pons_error *err);

// ---- policy_inputs.c: what the server is told ---------------------------------------------------

typedef struct policy_gripper { // the server's number for it
    bool known;
    double open, closed, width_m;
} policy_gripper;

typedef struct policy_meaning { // what policy_client says of keys and numbers; borrowed from it
    const pons_value *inputs;   // {key: source}
    int picture_px;             // longest edge; 0: as the camera has it
    policy_gripper gripper;
    double scale;                    // of numbers of joints
    int chunk;                       // actions of an answer that are done, from the first
    bool delta, in_tool;             // actions are deltas of the tool, along its own axes
    double position_m, rotation_rad; // one of the server's units
} policy_meaning;

typedef struct policy_inputs {
    pons_policy_input at[PONS_POLICY_INPUTS_MAX];
    size_t n;
    void *owned[PONS_POLICY_INPUTS_MAX]; // pictures and numbers
} policy_inputs;

// PONS_EINVAL: the value in client, named, or the one that is missing.
int app_policy_meaning(const pons_value *client, policy_meaning *ret, pons_error *err);
// Of a question (workspace/runtime/policy_observation.c). PONS_EINVAL: it has not what a source names.
int app_policy_inputs(const policy_meaning *m, const pons_value *question, policy_inputs *ret,
                      pons_error *err);
void app_policy_inputs_clear(policy_inputs *in);

// ---- policy_actions.c: what it says -------------------------------------------------------------

// The answer {actions, frame?} in our units: rad, m, and the gripper's opening in m. PONS_EPROTOCOL: a number is none.
int app_policy_actions(const policy_meaning *m, const pons_policy_rows *rows, pons_value **ret,
                       pons_error *err);

// ---- protocols ----------------------------------------------------------------------------------

// openvla.c, lerobot.c; others are modules.
extern const pons_policy_server_ops app_policy_openvla, app_policy_lerobot;
