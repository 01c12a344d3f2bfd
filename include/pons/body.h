// body.h - the body: owns the robot, runs skills, stays safe alone.
//
// A pure core in a thin shell. The core is a set of step functions of (state, inputs, now): under
// the virtual clock one thread calls pons_body_step() and everything happens inside it, in an order
// that depends on nothing else; pons_body_run() is the process around it, with the simulation
// thread, the safety thread and the sockets.
#pragma once

#include "pons/clock.h"
#include "pons/ext/robot.h"
#include "pons/ext/skill.h"
#include "pons/link.h"
#include "pons/linkage.h"
#include "pons/yaml.h"

#include <signal.h>

PONS_C_BEGIN

// Loads and validates a world file (docs/reference/worlds.md, schemas/world.json): PONS_EINVAL with
// file:line:col. *ret is the world as a value, "dir" and "path" added; the caller's.
int pons_world_load(const char *path, pons_value **ret, pons_error *err);

// The robot of a loaded world, for another world's file: its robot, battery, lidar, odometry and sight, without what
// pons_world_load worked out. The caller's; NULL: no memory.
pons_value *pons_world_robot(const pons_value *world);

// Tells two worlds apart by all that their files say, wherever these lie: the first 12 hexadecimal digits of the
// SHA-256 of the world's sorted JSON, and a zero. PONS_ENOMEM.
#define PONS_WORLD_ID_MAX 13
int pons_world_id(const pons_value *world, char ret[PONS_WORLD_ID_MAX], pons_error *err);

#define PONS_BODY_SKILLS_MAX 8 // of modules

// What a body with these skills of modules tells in `hello.skills`; *ret is the caller's. PONS_EINVAL
// says what is wrong with one, PONS_EEXIST that its name is taken, PONS_EUNSUPPORTED that its
// contract has another version.
int pons_body_skills(const pons_skill *const *skills, size_t n, pons_value **ret, pons_error *err);
// The i-th name of all skills that pons has, for whatever robot; NULL: there are not so many.
const char *pons_body_skill_name(size_t i);

typedef struct pons_body pons_body;

typedef struct pons_body_options {
    const pons_robot_ops *robot;
    const pons_value *world; // from pons_world_load; referenced
    const char *ledger_path; // NULL: kept in memory only, for simulations without a process
    // Of the ledger (docs/reference/link.md, "What the body writes"): a file of so many MB is sealed, 0: never; of
    // all sealed ones, above so many MB, the oldest go, but none that was written to in so many days, 0:
    // none.
    double ledger_part_mb, ledger_size_mb, ledger_audit_days;
    const char *workspace; // where a goal's behavior_tree is looked for, besides what is installed:
                           // this folder and its trees/; NULL: nowhere
    const char *sim_state_path; // where a simulated world's state is saved a few times a second;
                                // NULL: nowhere
    pons_clock clock;           // host
    uint64_t seed;
    double speed;        // robot clock over host clock, for display; default 1
    double battery_pct;  // at start; < 0: the world's
    bool auto_reset_sim; // policy auto_reset: sim - the boot latch lifts itself in simulation
    // pons_body_run leaves after this long without a client, within a second when body.sock was removed as well, and
    // after a minute when the run that had started it vanished without a bye and its hand is empty; at once when that
    // run has ended and nobody was ever in control.
    double alone_timeout_s;
    const pons_skill *const *skills; // of modules, beside the body's own; they outlive it
    size_t n_skills;
    const struct pons_slam_ops
        *slam; // makes the map of a world whose `map.grows`; NULL: nobody does
    const pons_value
        *config; // shown in body.json: which of its driver's robots it is; NULL: nothing
    void (*on_round)(
        void *user); // after each round of the loop, on its thread; must not block; or NULL
    void *on_round_user;
    bool for_run; // started by a run: a bye with stop_body ends the process. A body that a
                  // person started ignores that and goes on serving.
} pons_body_options;
#define PONS_BODY_ALONE_S 600.0
#define PONS_BODY_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .ledger_part_mb = 16.0, .ledger_size_mb = 256.0, .ledger_audit_days = 365.0, .speed = 1.0, \
        .battery_pct = -1.0, .alone_timeout_s = PONS_BODY_ALONE_S                                  \
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
// RUN_DIR/body.json {pid, driver, robot, world, world_file, world_id,
// boot_id, started_ms, for_run, config, skills}, and runs until *quit is set, a bye
// with stop_body, or alone_timeout_s. PONS_EBUSY when another body serves RUN_DIR, with its pid.
int pons_body_run(const pons_body_options *opts, const char *run_dir, volatile sig_atomic_t *quit,
                  pons_error *err);

// For a process that is about to be a body and nothing else, before it has threads: wipes all of the
// environment but what a body needs, so that it holds no key; makes the memory undumpable; keeps of
// its capabilities CAP_SYS_NICE and CAP_IPC_LOCK only. PONS_EENV.
int pons_body_confine(pons_error *err);

// What a run directory's body.ledger and body.epoch say, read without a body and without changing
// them, also while one runs.
typedef struct pons_body_files {
    int64_t lines;       // of body.ledger; 0: there is none, or no body ever ran with it
    int64_t plain_lines; // of these, without a checksum: of an older version
    int64_t goals;       // of all its parts
    int64_t parts;       // sealed ones that have their lines
    int64_t torn_bytes;  // of a last line without its end: the next body cuts it away
    int state;           // body.epoch: PONS_OK, PONS_ENOTFOUND, PONS_ECORRUPT, PONS_EIO
    int64_t epoch;       // issued last; with state PONS_OK
    bool boots_latched;  // the next body starts latched,
    char origin[16];     // because of this: "boot", "unknown", "fault", "stop"
    char reason[96];
} pons_body_files;
// PONS_ECORRUPT when a line of the ledger is damaged: the error names file, line and the command that
// repairs, and *ret is untouched. PONS_EUNSUPPORTED: a newer version wrote the ledger or body.epoch. A
// damaged body.epoch is no failure but a latch: see state.
int pons_body_verify(const char *run_dir, pons_body_files *ret, pons_error *err);
// Repairs a ledger that pons_body_verify() calls damaged, when no body runs there: keeps the old one
// as body.ledger.damaged-N, writes the good lines anew, and the next body starts latched. *ret_lost:
// how many lines were left out; 0: nothing was damaged and nothing was done. ret_copy: the kept
// file's path. PONS_EBUSY when a body runs.
int pons_body_repair(const char *run_dir, int64_t *ret_lost, char *ret_copy, size_t cap,
                     pons_error *err);

// Sends a protective stop to the body of RUN_DIR through stop.sock. PONS_OK when it has stopped (it
// says so within timeout_ms) and the latch is on the disk (within PONS_STOP_LATCH_MS after that).
// PONS_ETIMEOUT when it does not say that it has stopped; PONS_EIO, with the cause, when it has, but
// the latch is not on the disk: the robot stays stopped and the body goes on trying.
#define PONS_STOP_LATCH_MS 500
int pons_stop_send(const char *run_dir, const char *reason, int timeout_ms, pons_error *err);

PONS_C_END
