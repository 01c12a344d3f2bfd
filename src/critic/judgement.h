// judgement.h - what the critic's files share.
//
// A `judgement` is one run of the rules over one action: what is asked for, what is true at that
// point (the situation, or what the steps of a plan before it will have changed), and the verdict
// that it fills.
#pragma once

#include "pons/critic.h"
#include "pons/schema.h"

// ---- verdict.c ----------------------------------------------------------------------------------

struct pons_verdict {
    pons_value *rules, *approvals, *unjudged;
    bool failed; // out of memory: something could not be added
};

// The newest rule of a list gets {rule, skill, step_id?, message}; `message` from fmt.
pons_value *pons__verdict_note(pons_verdict *v, pons_value *list, const char *rule,
                               const char *skill, int64_t step_id, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void pons__verdict_unjudged(pons_verdict *v, const char *rule);

// ---- the critic ---------------------------------------------------------------------------------

typedef enum critic_risk {
    RISK_LOW,
    RISK_MEDIUM,
    RISK_HIGH,
    RISK_BLOCKED,
    RISK_LEVELS
} critic_risk;

typedef struct critic_skill { // an item of the registry
    const char *name;
    pons_schema *args;     // NULL: anything goes, or `fault` says why not
    char *fault;           // its args_schema is malformed; owned
    const char *holds_arg; // the argument that names what is held afterwards; NULL: none
    bool releases;         // nothing is held afterwards
    bool stops, charges;   // the base; the battery
    bool moves, drives;    // it uses a moving resource; the base
    bool requires_approval;
    critic_risk risk;
    const pons_value *resources;     // names
    const pons_value *counted;       // {name: how much}
    const pons_value *preconditions; // of its own
} critic_skill;

typedef struct critic_point { // [x, y, z?, …] or {x, y, z?, yaw?}
    bool known, has_z;
    double at[3], yaw; // in map; 0: not given
} critic_point;

typedef struct critic_zone { // of the world, or an area
    const char *id, *reason; // "": not given
    const pons_value *names, *polygon;
    critic_point target;
    bool keep_out;
} critic_zone;

typedef struct critic_object { // of the world
    const char *id, *class_name;
    const pons_value *names;
    critic_point position;
    double mass_kg; // NAN: not given
} critic_object;

typedef struct critic_world {
    bool has_zones, has_objects, has_bounds; // somebody says which there are
    double bounds[4];
    critic_zone *zones; // (n_zones)
    critic_object *objects;
    size_t n_zones, n_objects;
    // Where nothing may be sent: the world's areas, zones that say so, and what the policy adds.
    critic_zone *areas;
    size_t n_areas;
    bool has_areas;
    const char *lacks; // a zone that the policy names and this world has not; NULL: none
} critic_world;

typedef struct critic_joint {
    const char *name;
    double min, max, speed_max; // infinite: not given
} critic_joint;

typedef struct critic_body { // the embodiment; a number that is NAN is not given
    const char *name;
    bool has_actions, has_joints;
    const char **actions; // (n_actions) that it can do
    critic_joint *joints; // (n_joints)
    size_t n_actions, n_joints;
    double reach_m, payload_kg, radius_m;
    critic_point reach_from; // in base
    critic_point base;       // of a robot that does not drive
    bool has_workspace, workspace_in_base;
    double low[3], high[3];
    double speed_mps, reverse_mps, yaw_rate_radps, accel_mps2, force_n;
    bool drives; // it has a speed of its own: where it stands is the telemetry's to say
} critic_body;

typedef struct critic_policy {
    double telemetry_age_max_ms, battery_min_pct;
    critic_risk risk_max, risk_ask;
    const pons_value *moving, *safe, *charge, *approval; // names; NULL: not given
} critic_policy;

struct pons_critic {
    pons_value *skills_value, *embodiment_value, *world_value, *policy_value, *resources;
    critic_skill *skills; // (n_skills)
    size_t n_skills;
    critic_body body;
    critic_world world;
    critic_policy policy;
};

// What the rules know of the robot at the moment of an action.
typedef enum critic_grip { GRIP_UNKNOWN, GRIP_EMPTY, GRIP_FULL } critic_grip;
typedef struct critic_state {
    bool foreseen; // steps before it will have changed the world
    bool pose_known;
    double pose[4];   // x, y, z, yaw in map
    const char *zone; // where a step before it goes; NULL: not known
    critic_grip grip;
    const char *held;   // id, or NULL
    int64_t held_since; // the step that takes it; -1: held already
} critic_state;

typedef struct critic_telemetry { // of the moment
    bool given;
    critic_point pose;
    const char *zone; // NULL: not told
    critic_grip grip;
    const char *held; // id, or NULL
    bool latched;
    const char *latched_for;
    double battery_pct; // NAN: not told
} critic_telemetry;

typedef struct judgement {
    const pons_critic *critic;
    const pons_critic_situation *now;
    critic_telemetry robot; // of `now`
    critic_state *state;
    const char *action;
    const critic_skill *skill; // NULL: not in the registry, or there is none
    const pons_value *args;    // object
    int64_t step_id;           // -1: no plan
    pons_verdict *verdict;
} judgement;

// Adds to the verdict: the rule by name, what was found, what is allowed (NAN: neither is told).
void pons__violated(judgement *j, const char *rule, double found, double limit, const char *unit,
                    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void pons__unjudged(judgement *j, const char *rule);

// ---- the rules ----------------------------------------------------------------------------------

void pons__critic_space(
    judgement *j); // space_rules.c: zone, object, map_bounds, keep_out, workspace, reach
void pons__critic_load(judgement *j);   // predict.c: payload, holding
void pons__critic_motion(judgement *j); // motion_rules.c: joint_limit, speed_limit
void pons__critic_conditions(judgement *j,
                             const pons_value *conditions); // moment_rules.c: precondition
void pons__critic_resources(judgement *j);                  // resource
void pons__critic_robot(judgement *j);                      // telemetry_age, stop_latched, battery

// ---- predict.c ----------------------------------------------------------------------------------

// Where the robot will stand, and what it will hold, when the action has succeeded.
void pons__critic_foresee(judgement *j);
critic_telemetry pons__critic_telemetry_read(const pons_value *robot); // NULL: none
critic_state pons__critic_state_of(const pons_critic *c, const critic_telemetry *robot);
