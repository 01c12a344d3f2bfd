// body_bench.h - a body with the kinematic robot under the virtual clock, and a controller to talk
// to it: what the body's tests share.
#ifndef BODY_BENCH_H
#define BODY_BENCH_H

#include "pons/body.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench {
    char dir[64]; // mkdtemp: ledger, epoch, saved world
    pons_clock_manual time;
    pons_value *world;
    pons_body_options opts;
    pons_body *body;
    pons_link *link; // the controller's end; NULL when there is none
    bool beats;      // heartbeats go out at every step
    int64_t epoch;
    int next_id;
    pons_value *telemetry; // the last
    pons_value *feedback;  // the last; NULL: none
    char result[256];      // status and number of the last result: "done 0"
    pons_value *results;   // all, by goal id
    pons_value *inbox;     // every message but telemetry and feedback, in order
    int telemetries, feedbacks;
    int risks; // telemetries with collision_risk
} bench;

const char *bench_disk(void); // a folder in memory, where a sync waits for nobody; else /tmp
void bench_open(bench *t, const char *world_path); // makes dir; the body is created
// With another driver and seed.
void bench_open_with(bench *t, const char *world_path, const pons_robot_ops *robot, uint64_t seed);
void bench_reboot(bench *t); // destroys the body and creates it anew
void bench_close(bench *t);  // removes dir

pons_link *bench_join(bench *t); // a further client's end, before its hello
void bench_hello(bench *t);      // connects the controller and says hello
void bench_drop(bench *t);       // closes the controller's link, without a word

void bench_send(bench *t, pons_value *msg); // by the controller; takes msg
// Sends a goal made of these; id NULL: a new one. Returns the id (static storage).
const char *bench_goal(bench *t, const char *id, const char *skill, const char *args);
void bench_step(bench *t, double seconds); // robot and host together, 10 ms at a time
// Steps until the goal has a result, at most so long; "" when it has none.
const char *bench_until_result(bench *t, const char *goal_id, double seconds);
// The last message of a type in the inbox; fails the test when there is none.
const pons_value *bench_last(bench *t, const char *type);
void bench_forget(bench *t);                                        // empties the inbox
int bench_ledger(bench *t, const char *goal_id, const char *state); // how many such lines
const pons_value *bench_status(bench *t, const char *goal_id);      // asks, and reads the answer
double bench_truth_to(bench *t, double x, double y); // distance of the true robot from there [m]
double bench_speed(bench *t);                        // measured, by telemetry [m/s]

#endif
