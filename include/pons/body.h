// body.h - the body: owns the robot, runs skills, stays safe alone.
//
// A pure core in a thin shell. The core is a set of step functions of (state, inputs, now): under
// the virtual clock one thread calls pons_body_step() and everything happens inside it, in an order
// that depends on nothing else; pons_body_run() is the process around it, with the simulation
// thread, the safety thread and the sockets.
#ifndef PONS_BODY_H
#define PONS_BODY_H

#include <signal.h>

#include "pons/clock.h"
#include "pons/ext/robot.h"
#include "pons/link.h"
#include "pons/yaml.h"

// Loads and validates a world file (docs/worlds.md, schemas/world.json): PONS_EINVAL with
// file:line:col. *ret is the world as a value, "dir" and "path" added; the caller's.
int pons_world_load(const char *path, pons_value **ret, pons_error *err);

typedef struct pons_body pons_body;

typedef struct pons_body_options {
    const pons_robot_ops *robot;
    const pons_value *world; // from pons_world_load; referenced
    const char *ledger_path; // NULL: kept in memory only, for simulations without a process
    const char *workspace; // where a goal's behavior_tree is looked for, besides what is installed:
                           // this folder and its trees/; NULL: nowhere
    const char *sim_state_path; // where a simulated world's state is saved a few times a second;
                                // NULL: nowhere
    pons_clock clock;           // host
    uint64_t seed;
    double speed;           // robot clock over host clock, for display; default 1
    double battery_pct;     // at start; < 0: the world's
    bool auto_reset_sim;    // policy auto_reset: sim - the boot latch lifts itself in simulation
    double alone_timeout_s; // pons_body_run leaves after this long without a client; default 600
    bool for_run; // started by a run: a bye with stop_body ends the process. A body that a
                  // person started ignores that and goes on serving.
} pons_body_options;
#define PONS_BODY_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .speed = 1.0, .battery_pct = -1.0, .alone_timeout_s = 600.0                                \
    }

int pons_body_create(const pons_body_options *opts, pons_body **ret, pons_error *err);
void pons_body_destroy(pons_body *b); // NULL-safe; an active goal makes the next boot latched
// Adds a client; the body owns the link from now on, also on failure.
int pons_body_attach(pons_body *b, pons_link *link, pons_error *err);
// Virtual clock: advances simulation, safety, skills and messages by dt_ns of robot time; the host
// clock is moved by the caller. Typical dt: 10 ms.
int pons_body_step(pons_body *b, int64_t dt_ns, pons_error *err);
int64_t pons_body_robot_ns(const pons_body *b);
void pons_body_stop(pons_body *b, const char *reason); // what a datagram on stop.sock does
// For judges: the simulated truth, and every velocity that went to the driver.
int pons_body_truth(pons_body *b, pons_pose2 *ret, pons_error *err);

// The process: listens at RUN_DIR/body.sock and RUN_DIR/stop.sock, writes RUN_DIR/body.ledger and
// RUN_DIR/body.json {pid, driver, world, boot_id, started_ms}, and runs until *quit is set, a bye
// with stop_body, or alone_timeout_s. PONS_EBUSY when another body serves RUN_DIR, with its pid.
int pons_body_run(const pons_body_options *opts, const char *run_dir, volatile sig_atomic_t *quit,
                  pons_error *err);

// Sends a protective stop to the body of RUN_DIR through stop.sock and waits for its
// acknowledgement (at most timeout_ms). The datagram: "stop REASON"; the answer: "stopped".
int pons_stop_send(const char *run_dir, const char *reason, int timeout_ms, pons_error *err);

#endif
