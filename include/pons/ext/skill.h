// ext/skill.h - the contract of a skill: one thing that a body can do with its robot.
//
// A skill is a step function. It sees a view of the robot that was filled just now and answers with
// the velocity it would like and whether it is done. The velocity passes the safety gate, which may
// let through less of it or nothing; a skill never writes to the wheels, and never learns who asked.
//
//     check -> start -> step … step -> done | failed -> stop
//                         | ^
//              hold (brain| |resume (adopted again)      stop comes at any end: done, failed,
//                   lost) v |                            canceled, time-out, a protective stop
//                        held ------------------------> stop
//
// Threads: the body's loop thread, one call at a time. Nothing here blocks, sleeps or does I/O: the
// body answers nobody meanwhile, and its robot comes to a halt when a step takes too long. Times are
// robot time. SI units and radians; frames map → odom → base (REP 105).
//
// State: state_size bytes for each goal, the body's storage, zero at `start`, aligned as malloc
// does, at the same place until `stop` has returned. Several goals of one skill may run at once
// unless it needs the base. What `start` allocates `stop` frees. A skill keeps nothing durable:
// whether a goal was started, and how it ended, is the body's ledger.
#pragma once

#include "pons/ext/robot.h"
#include "pons/linkage.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

PONS_C_BEGIN

#define PONS_SKILL_ABI       2u // 1, which has no `told`, is understood
#define PONS_SKILL_ABI_FIRST 1u
#define PONS_SKILL_STATE_MAX 1024 // bytes
#define PONS_SKILL_TEXT_MAX  200  // bytes of a message, with its zero

typedef struct pons_skill_view { // all of it borrowed, until the call returns
    int64_t robot_ns;            // robot time
    int64_t run_ns; // robot time since the start, without what was spent on hold; 0 in check
    const pons_value *args; // they fit args_schema
    pons_pose2 pose;        // of base in map, by the localiser; it may jump
    pons_pose2 odom;        // of base in odom: smooth, and drifts
    pons_twist2 twist;      // measured, in base
    pons_twist2 out;        // what the gate let through last
    bool stopped;           // a protective stop is in force
    const pons_scan *scan;  // the newest; NULL before the first. Its beams begin at scan->from
    uint64_t scans;         // seen since the body began
    double battery_pct;     // 0–100
    pons_battery_state battery;
    bool on_charger;
    const pons_value *world; // the world file (docs/reference/worlds.md); not to be changed
    const pons_robot_caps *caps;
} pons_skill_view;

typedef enum pons_skill_status {
    PONS_SKILL_RUNNING,
    PONS_SKILL_DONE,
    PONS_SKILL_FAILED
} pons_skill_status;

// Before each step: RUNNING, no error, a zero wish, distance_m and eta_s NAN.
typedef struct pons_skill_answer {
    pons_skill_status status;
    int error_code; // FAILED: see below
    char error_msg[PONS_SKILL_TEXT_MAX];
    pons_twist2 want;  // in base, until the next step; counts while RUNNING and with `moves`
    double distance_m; // remaining; NAN: there is no such thing
    double eta_s;      // NAN: not known
} pons_skill_answer;

// Error codes of a skill: those of docs/reference/link.md where one fits (703: something ahead of a turn),
// else its own from 10000. 9900–9999 are the body's: a skill that gives one, none, a velocity that
// is no number or a status that is none fails with 9906.
#define PONS_SKILL_OWN_ERRORS 10000

typedef struct pons_skill {
    uint32_t abi;            // PONS_SKILL_ABI
    const char *name;        // [A-Za-z][A-Za-z0-9_]*, at most 63; the module is skill-NAME.so
    const char *description; // one sentence, for whoever has to choose
    // JSON Schema of an object with "additionalProperties": false. No goal starts with arguments
    // that do not fit.
    const char *args_schema;
    size_t state_size; // ≤ PONS_SKILL_STATE_MAX
    bool needs_base;   // holds the resource "base" while it runs: one such goal at a time
    bool moves;        // wants velocities (then it needs the base); refused and ended by a stop
    bool preemptible, cancel_supported, requires_approval, ask_on_unknown; // told to the deciders
    double timeout_s;             // robot time, > 0; after it the goal fails with 9903
    const char *success_criteria; // one sentence
    // JSON object: what to try after an error code: "retry", "replan", "ask_human" or "abort";
    // "default" is for all that it does not name. {"703": "replan", "default": "retry"}
    const char *error_map;
    // JSON list: how people call it, in patterns as of config/intents.yaml, and with which arguments;
    // {"number": f} is the pattern's {number} times f. NULL: by its name alone (`do NAME {…}`).
    // [{"say": ["wave [your hand]", "挥手"], "args": {"times": 3}}]
    const char *phrases;

    // What the schema cannot say. False: *ret_why gets one line, and the goal is refused. NULL: true.
    bool (*check)(const pons_skill_view *now, char *ret_why, size_t cap);
    void (*start)(void *state, const pons_skill_view *now); // NULL: the zero state is it
    void (*step)(void *state, const pons_skill_view *now, pons_skill_answer *ret); // every 50 ms
    void (*hold)(void *state, const pons_skill_view *now);   // no step until resume; NULL: nothing
    void (*resume)(void *state, const pons_skill_view *now); // after a hold; NULL: nothing
    void (*stop)(void *state, const pons_skill_view *now);   // once, at any end; NULL: nothing

    // JSON object: what else the deciders are told of it, members of schemas/skill.json that stand
    // nowhere above: resources_counted, …. {"resources_counted": {"gpu": 1}}. NULL: nothing.
    const char *reported;
} pons_skill;

// Small things every skill needs: inline, so that the contract has no library.
static inline void pons_skill_fail(pons_skill_answer *ret, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static inline void pons_skill_fail(pons_skill_answer *ret, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ret->error_msg, sizeof ret->error_msg, fmt, ap);
    va_end(ap);
    ret->status = PONS_SKILL_FAILED;
    ret->error_code = code;
}

PONS_C_END
