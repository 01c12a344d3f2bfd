// direct_control.h - a controller without a brain, or an observer (direct_control.c).
#pragma once

#include "pons/body.h"
#include "pons/link.h"

// One end of a link to the body: its controller, when there is no brain, or an observer.
typedef struct pons__control {
    pons_link *link; // NULL: closed
    bool controls, watches;
    // Gets every message, and the way and the scan as well; NULL: nobody.
    void (*on_report)(void *user, const pons_value *report);
    void *user;
    bool ready; // the body has answered
    int64_t epoch, beat_ns;
    char robot_id[64];
    const pons_value *skills; // the body's registry
    int open;                 // goals without an end
    pons_value *results;      // {goal, status, error_code, error_msg}, in order
    pons_value *nodes;        // actions of the navigator's tree that began, in order,
    pons_value *now_nodes;    // and of these, those of the last poll
    int64_t tree;             // the newest,
    int64_t trees;            // and how many there were
    bool reported;            // telemetry came in the last poll; the newest says:
    double distance_m;        // < 0: none
    bool latched, risk, charging;
    char boot_id[64];      // of the body,
    int64_t stop_number;   // and its stop's
    bool by_stop, durable; // of the latch: somebody asked for it; it is on the disk
    double battery_pct;
    int64_t pace_pct;
} pons__control;
int pons__control_open(pons__control *h, pons_body *body, bool controls, bool watches,
                       pons_error *err);
void pons__control_drop(pons__control *h);  // the body is dead; another may be opened
void pons__control_close(pons__control *h); // also one that was never opened
int pons__control_poll(pons__control *h, int64_t host_ns, pons_error *err);
int pons__control_goal(pons__control *h, const pons_value *goal, const pons_clock *clock,
                       pons_error *err);
int pons__control_cancel(pons__control *h, const char *goal_id, pons_error *err);
