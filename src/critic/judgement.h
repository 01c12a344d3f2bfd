// judgement.h - what the critic's files share.
//
// A `judgement` is one run of the rules over one action: what is asked for, what is true at that
// point (the situation, or what the steps of a plan before it will have changed), and the verdict
// that it fills.
#ifndef PONS_CRITIC_JUDGEMENT_H
#define PONS_CRITIC_JUDGEMENT_H

#include "pons/critic.h"
#include "pons/schema.h"

enum { CRITIC_TARGETS_MAX = 8, CRITIC_WHAT_MAX = 96 };

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
    const pons_value *item;
    pons_schema *args;     // NULL: anything goes, or `fault` says why not
    char *fault;           // its args_schema is malformed; owned
    const char *holds_arg; // the argument that names what is held afterwards; NULL: none
    bool releases;         // nothing is held afterwards
    bool stops, charges;   // the base; the battery
    bool moves, drives;    // it uses a moving resource; the base
    critic_risk risk;
} critic_skill;

typedef struct critic_limits { // of the embodiment; NAN: not given
    double reach_m, payload_kg, radius_m;
    double reach_from[3]; // in base
    double base[3];       // in map, of a robot that does not drive
    bool has_workspace, workspace_in_base;
    double low[3], high[3];
    double speed_mps, reverse_mps, yaw_rate_radps, accel_mps2, force_n;
    bool drives; // it has a speed of its own: where it stands is the telemetry's to say
} critic_limits;

struct pons_critic {
    pons_value *skills_value, *embodiment, *world, *policy, *resources;
    critic_skill *skills;
    size_t n_skills;
    critic_limits limits;
    // policy
    double telemetry_age_max_ms, battery_min_pct;
    critic_risk risk_max, risk_ask;
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

typedef struct judgement {
    const pons_critic *critic;
    const pons_critic_situation *now;
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
bool pons__lists(const pons_value *list, const char *word);

// ---- space.c: where and how fast ----------------------------------------------------------------

void pons__critic_space(judgement *j);  // zone, object, map_bounds, keep_out, workspace, reach
void pons__critic_load(judgement *j);   // payload, holding
void pons__critic_motion(judgement *j); // joint_limit, speed_limit
// Where the robot will stand, and what it will hold, when the action has succeeded.
void pons__critic_foresee(judgement *j);
const pons_value *pons__critic_zone(const pons_critic *c, const char *name);   // or NULL
const pons_value *pons__critic_object(const pons_critic *c, const char *name); // or NULL
int pons__critic_limits_read(const pons_value *embodiment, critic_limits *ret, pons_error *err);
void pons__critic_state_read(const pons_critic *c, const pons_value *robot, critic_state *ret);

#endif
