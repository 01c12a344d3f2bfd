// action_skills.h - what an action of ACTION.md asks of a body.
#pragma once

#include "pons/workspace.h"

typedef struct pons__ws_call { // a skill and its arguments, or why there is none
    const char *skill;         // static, or the action's type
    pons_value *args;          // the caller's
    bool at_once;              // nothing is to be done: it is completed
    bool errand;               // not one skill, but whatever comes of a task or a tree
    bool tree;                 // an errand that is a tree
    const char *code;          // NULL: it can be done
    char what[200];
} pons__ws_call;

// action: a record of ACTION.md. tools: the body's, as a provider lists them; NULL: not known. world: its zones and
// objects, or NULL. environment: ENVIRONMENT.md, or NULL.
void pons__ws_call_of(const pons_value *action, const pons_value *tools, const pons_value *world,
                      const pons_ws_doc *environment, pons__ws_call *ret);
// The other way round: an action that stands for a skill. *ret_type is static or the skill's name; *ret_params
// the caller's.
void pons__ws_action_of(const char *skill, const pons_value *args, const char **ret_type,
                        pons_value **ret_params);
// How far a robot that has arrived looks past what it went to, and how far it may, in degrees. false: nobody asked,
// or it cannot be known.
bool pons__ws_heading(const pons_value *action, const pons_value *robot, const pons_value *world,
                      const pons_ws_doc *environment, double *ret_off_deg, double *ret_most_deg);
// The same action always has the same key, in every life of a watchdog.
void pons__ws_call_key(const pons_value *action, char ret[64]);
