// direct_control.h - a controller without a brain, or an observer (direct_control.c).
#pragma once

#include "pons/body.h"
#include "pons/link.h"

// One end of a link to the body: its controller, when there is no brain, or an observer.
typedef struct pons__hand {
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
    bool told;                // telemetry came in the last poll; the newest says:
    double distance_m;        // < 0: none
    bool latched, risk, charging;
    char boot_id[64];      // of the body,
    int64_t stop_number;   // and its stop's
    bool by_stop, durable; // of the latch: somebody asked for it; it is on the disk
    double battery_pct;
    int64_t pace_pct;
} pons__hand;
int pons__hand_open(pons__hand *h, pons_body *body, bool controls, bool watches, pons_error *err);
void pons__hand_drop(pons__hand *h);  // the body is dead; another may be opened
void pons__hand_close(pons__hand *h); // also one that was never opened
int pons__hand_poll(pons__hand *h, int64_t host_ns, pons_error *err);
int pons__hand_goal(pons__hand *h, const pons_value *goal, const pons_clock *clock,
                    pons_error *err);
int pons__hand_cancel(pons__hand *h, const char *goal_id, pons_error *err);
