// critic.h - the critic: the one deterministic judge of what a robot is asked to do, whoever asked.
//
// The brain's R4, the planning agent's executor and a workspace's Planner–Critic loop hold every
// action against the same rules. A verdict lists every rule that is violated, each with what was
// found and what is allowed:
//
//     reach: target [1.8, 0.75, 0.8] is 2.11 m away; max reach 0.855 m
//
// A rule whose facts were not given is not judged, and the verdict says so (pons_verdict_unjudged):
// nothing passes in silence. Nothing lifts a rule: a model, or a person, may only add refusals.
//
// Rules, in the order of a verdict:
//   known_skill       the action is in the registry
//   args_schema       its arguments validate against the registry's args_schema; each fault
//   supported_action  the embodiment lists the action
//   risk              the action's or the plan's risk is one that the policy allows
//   mode              in mode SAFE only what stops may use what moves: the registry's `stops`, the policy's
//                     safe_actions
//   zone              a zone that is named exists
//   object            an object that is named exists
//   map_bounds        a pose lies in the map
//   keep_out          a target lies in no keep-out area, and not closer to one than the robot's
//                     radius
//   workspace         a target lies in the embodiment's workspace box
//   reach             a target of an action that does not drive is in reach of the arm
//   payload           what is to be lifted is not too heavy
//   joint_limit       joint positions and speeds are in their ranges
//   speed_limit       speeds, turn rates, accelerations and forces that are asked for are allowed
//   holding           a full gripper picks nothing; an empty one places nothing
//   precondition      of the step, or of the skill (registry: "preconditions")
//   resource          an exclusive resource has one user; of one that is counted no more is taken
//                     than there is
//   telemetry_age     what moves needs telemetry that is young enough
//   stop_latched      nothing moves while a protective stop is latched
//   battery           motion needs charge, but for what charges (a goal that it meets has the test
//                     `charged`) and the policy's charge_actions
//   parameters        a step of a plan says what its executor needs (speak: a text)
// and every rule that somebody else's refusal names.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/plan.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

typedef struct pons_critic pons_critic;   // immutable: any thread may judge with it
typedef struct pons_verdict pons_verdict; // one thread at a time

// What stays the same from one judgement to the next; referenced. NULL: its rules are not judged.
typedef struct pons_critic_options {
    // [{name, args_schema, resources_required[], …}], schemas/skill.json; also read: risk
    // (low|medium|high, or safe|warn|dangerous|blocked), preconditions{}, holds (the argument that
    // names what the robot holds afterwards), releases (true: it holds nothing afterwards). Names of
    // skills mean nothing to it.
    const pons_value *skills;
    const pons_value *embodiment; // schemas/embodiment.json: what this robot's body can do
    // {bounds, zones[], objects[], keep_out[]} as schemas/world.json has them, frame map.
    const pons_value *world;
    const pons_value *policy; // schemas/critic-policy.json; NULL: its defaults
    // {name: how much there is} of the resources that skills take so much of (resources_counted).
    const pons_value *resources;
} pons_critic_options;

// Compiles. PONS_EINVAL names what is malformed: "embodiment: /max_reach_m: expected …".
int pons_critic_create(const pons_critic_options *o, pons_critic **ret, pons_error *err);
void pons_critic_destroy(pons_critic *c); // NULL-safe

// What is true at this moment; zero-initialise. All borrowed for the call.
typedef struct pons_critic_situation {
    // A robot is at stake now: without telemetry nothing may move. false: a plan on paper, and
    // telemetry_age, stop_latched, battery and mode are judged only as far as robot and mode are
    // given.
    bool live;
    const char *mode; // "SAFE", …; NULL: not judged
    // Telemetry: {pose{x,y,yaw}, battery_pct, stop{latched,reason}, holding (object id) | null,
    // arm_in_map[x,y,z]?}. NULL: none.
    const pons_value *robot;
    double telemetry_age_ms;
    const pons_value *running;  // [{goal_id, skill}]: what uses resources already
    const pons_value *released; // [goal_id]: of those, what ends before anything new begins
    const pons_value *batch;    // [{skill}]: everything that begins at once, this one included
    // What preconditions look at; as in pons_plan_ops. NULL: what robot and world say.
    int (*look)(void *user, const char *name, pons_value **ret, pons_error *err);
    void *user;
} pons_critic_situation;

// One action. args may be NULL: {}. A verdict is the caller's to destroy; a negative status is for
// want of memory only.
int pons_critic_judge(const pons_critic *c, const char *action, const pons_value *args,
                      const pons_critic_situation *s, pons_verdict **ret, pons_error *err);
// A step of a plan as its executor would see it: preconditions too, and what its tool_call_type
// needs. Only execute steps name skills.
int pons_critic_judge_step(const pons_critic *c, const pons_plan_step *step,
                           const pons_critic_situation *s, pons_verdict **ret, pons_error *err);
// Every step that is not settled, each against the world that the ones before it leave: where the
// robot then stands, what it then holds. Fallbacks too, with the arguments of
// pons_critic_fallback_args, and the plan's risk. A step's rules carry its step_id.
int pons_critic_judge_plan(const pons_critic *c, const pons_plan *p, const pons_critic_situation *s,
                           pons_verdict **ret, pons_error *err);

// What a fallback runs with: the step's arguments where its schema takes them, else NULL ({}).
// Borrowed from args.
const pons_value *pons_critic_fallback_args(const pons_critic *c, const char *fallback,
                                            const pons_value *args);

// Whether an action moves something: its resources are of the policy's moving_resources.
bool pons_critic_moves(const pons_critic *c, const char *action);

// ---- verdicts -----------------------------------------------------------------------------------

pons_verdict *pons_verdict_create(void); // nothing violated; NULL: no memory
void pons_verdict_destroy(pons_verdict *v);

bool pons_verdict_ok(const pons_verdict *v); // nothing is violated
// [{rule, skill, message, step_id?, found?, limit?, unit?, by?, …}], by: who refused, absent for
// the critic. Borrowed until the verdict changes.
const pons_value *pons_verdict_rules(const pons_verdict *v);
// Why a person must say yes first, though nothing is violated: [{rule: "approval"|"risk", skill,
// message, step_id?}]. Borrowed.
const pons_value *pons_verdict_approvals(const pons_verdict *v);
// Names of rules that were not judged for want of facts, each once: ["reach", …]. Borrowed.
const pons_value *pons_verdict_unjudged(const pons_verdict *v);

// A refusal by somebody else (by: "llm", "person", …), never less. rule and message may be NULL:
// "refused". Text that is not UTF-8 is replaced.
int pons_verdict_refuse(pons_verdict *v, const char *by, const char *rule, const char *message);
// The same from what a model wrote: {refusals: [{rule?, message} | "message"]}, or the list, or a
// message. Whatever else it says ("ok": true) is passed over. Returns how many were added.
int pons_verdict_refuse_value(pons_verdict *v, const char *by, const pons_value *refusals);
int pons_verdict_add(pons_verdict *v, const pons_verdict *other); // the rules of both

// {ok, rules[], approvals[], unjudged[]}; new reference. NULL: no memory, also while it was made.
pons_value *pons_verdict_to_value(const pons_verdict *v);
// "ok", or all rules on one line: "step 2 move_to: reach: …; payload: …". Returns its length or
// PONS_ENOMEM; the caller frees *ret.
long pons_verdict_line(const pons_verdict *v, char **ret);
// PONS_OK, or PONS_EREFUSED with the line (cut where it is too long) as the message.
int pons_verdict_error(const pons_verdict *v, pons_error *err);

// The world's objects where they are seen now, by a telemetry's scene ([{id, position, relation?, at?, near}]):
// `seen: true`, `position`, and in or on what (`on`, `relation`). Those that are not seen stay as the world's
// file has them. New reference.
pons_value *pons_critic_seen(const pons_value *objects, const pons_value *scene);

static inline void pons_verdict_cleanup(pons_verdict **v)
{
    pons_verdict_destroy(*v);
}
#define pons_autoverdict __attribute__((cleanup(pons_verdict_cleanup))) pons_verdict *

PONS_C_END
