// scenario_internal.h - what scenario.c (files and running), fault.c (a store that dies on time),
// wheels.c (a robot whose wheels stick), hand.c (a controller without a brain) and judge.c (what
// must be true) share.
#ifndef PONS_SCENARIO_INTERNAL_H
#define PONS_SCENARIO_INTERNAL_H

#include "pons/body.h"
#include "pons/link.h"
#include "pons/scenario.h"

struct pons_scenario {
    pons_value *value;
    const pons_value *world, *driver;
};

// A store that passes everything on until the n-th commit; then the process it serves is as good as
// dead: every later call fails until it is revived. `before`: that commit itself is lost.
typedef struct pons__fault_store {
    pons_store inner;
    int64_t commits; // so far
    int64_t kill_at; // 0: never
    bool before;
    bool dead;
    pons_store_ops ops;
} pons__fault_store;
pons_store pons__fault_store_wrap(pons__fault_store *f, pons_store inner);
void pons__fault_store_revive(pons__fault_store *f);

// A driver that passes everything on but what a stuck wheel does not do. One is opened at a time.
typedef struct pons__wheels {
    const pons_robot_ops *inner;
    void *self; // inner's
    double track_m;
    bool left_stuck, right_stuck;
    pons_twist2 told; // the newest velocity
    pons_robot_ops ops;
} pons__wheels;
const pons_robot_ops *pons__wheels_wrap(pons__wheels *w, const pons_robot_ops *inner);
// Carries the robot elsewhere: its odometry does not notice. PONS_EUNSUPPORTED where a driver
// cannot save and restore.
int pons__wheels_teleport(pons__wheels *w, pons_pose2 to, pons_error *err);

// One end of a link to the body: its controller, when there is no brain, or an observer.
typedef struct pons__hand {
    pons_link *link; // NULL: closed
    bool controls, watches;
    bool ready; // the body has answered
    int64_t epoch, beat_ns;
    char robot_id[64];
    int open;              // goals without an end
    pons_value *results;   // {goal, status, error_code, error_msg}, in order
    pons_value *nodes;     // actions of the navigator's tree that began, in order,
    pons_value *now_nodes; // and of these, those of the last poll
    int64_t tree;          // the newest,
    int64_t trees;         // and how many there were
    bool told;             // telemetry came in the last poll; the newest says:
    double distance_m;     // < 0: none
    bool latched, risk, charging;
    double battery_pct;
} pons__hand;
int pons__hand_open(pons__hand *h, pons_body *body, bool controls, bool watches, pons_error *err);
void pons__hand_drop(pons__hand *h);  // the body is dead; another may be opened
void pons__hand_close(pons__hand *h); // also one that was never opened
int pons__hand_poll(pons__hand *h, int64_t host_ns, pons_error *err);
int pons__hand_goal(pons__hand *h, const pons_value *goal, const pons_clock *clock,
                    pons_error *err);
int pons__hand_cancel(pons__hand *h, const char *goal_id, pons_error *err);
bool pons__hand_saw(const pons__hand *h, const char *node); // in the last poll

// What happened, for the judge.
typedef struct pons__story {
    pons_value *decisions; // types, in order
    pons_value *modes;
    pons_value *types;   // event types seen, {type: count}
    pons_value *effects; // "skill state" words, {…: count}
    pons_value *said;    // texts
    pons_value *results; // {skill or goal, status, error_code}, in order
    pons_value *nodes;   // actions of the navigator's tree
    int64_t trees;       // that it had
    const char *status;  // of run.done; NULL: none
    char status_buf[16];
    int64_t kills;
    int64_t body_kills;
    int64_t kills_told; // of them by the story, not by a sweep or a seed
    double robot_s;     // how long it took, by the robot's clock
} pons__story;
void pons__story_init(pons__story *s);
void pons__story_fini(pons__story *s);
void pons__story_event(pons__story *s, const pons_event *ev);

// Appends what was missed, as text, to misses. ledger_path: the body's; truth: where the robot is.
void pons__judge_expect(const pons_scenario *s, const pons__story *story, const pons_value *world,
                        pons_pose2 truth, pons_value *misses);
// Always: one `started` line a goal id; no start without the end of the task's previous goal or
// another boot; no start after the task is done.
// results (may be NULL) gets {skill, status, error_code} of every goal's end.
int64_t pons__judge_ledger(const char *ledger_path, pons_value *results, pons_value *misses);
bool pons__judge_in_zone(const pons_value *world, const char *zone, pons_pose2 p);
bool pons__judge_moves(const char *skill); // it needs the base

#endif
