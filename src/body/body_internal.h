// body_internal.h - the body's one object, and what its files offer each other. Everything here
// belongs to the loop thread, but for the guard's safety half (guard.h) and the driver's own
// thread-safe functions.
//
//   body.c       create, sense, control, step: the core
//   goals.c      the goal protocol and the life of a goal
//   clients.c    links, messages, who is in control
//   telemetry.c  what is told to everybody
//   body_process.c, stop.c   threads and sockets around the core
#ifndef PONS_BODY_INTERNAL_H
#define PONS_BODY_INTERNAL_H

#include "body/guard.h"
#include "body/ledger.h"
#include "body/skills.h"
#include "pons/body.h"
#include "pons/schema.h"

#define PONS__CLIENTS_MAX 32
#define PONS__GOALS_MAX   8 // active at once; one of them at most has the base
#define PONS__ODOM_RING   64
#define PONS__BLOBS_MAX   24
#define PONS__SKILLS_MAX  16

#define PONS__CONTROL_NS    (50 * PONS_NS_PER_MS)  // robot time between control steps
#define PONS__TELEMETRY_NS  (50 * PONS_NS_PER_MS)  // between telemetry messages
#define PONS__FEEDBACK_NS   (100 * PONS_NS_PER_MS) // between feedback messages of a goal
#define PONS__HEARTBEAT_NS  (300 * PONS_NS_PER_MS) // host time without one: the brain is lost
#define PONS__BRAIN_LOST_NS (30 * PONS_NS_PER_S)   // host time for which a goal is held
#define PONS__SAVE_NS       (250 * PONS_NS_PER_MS) // between saves of a simulated world

typedef struct pons__client {
    pons_link *link;  // NULL: a free place
    bool greeted;     // has said hello
    bool gone;        // to be closed at the end of this poll
    bool tree;        // wants to see the navigator's tree at work,
    uint64_t tree_id; // and has been told the outline of this one
    int64_t pid;
    char name[64];
} pons__client;

typedef struct pons__goal {
    pons_value *msg;          // the goal message; NULL: a free place
    const char *goal_id;      // in msg
    const pons__skill *skill; /* const */
    uint64_t seq;             // rises from goal to goal
    const char *state;        // "started", "held", "adopted"
    int64_t epoch;            // of the controller that started or adopted it
    int64_t started_wall_ms;
    int64_t started_ns;   // robot time
    int64_t held_host_ns; // host time of the hold
    int64_t feedback_due_ns;
    double odometer_m; // at the start
    pons__skill_run run;
    pons__skill_output out; // of the last step
    bool handed_over;       // another goal goes on with what it had
} pons__goal;

typedef struct pons__odom_sample {
    int64_t stamp_ns;
    pons_pose2 pose;
} pons__odom_sample;

struct pons_body {
    // constant after create
    const pons_robot_ops *robot;
    void *self;
    pons_robot_caps caps;
    const pons_value *world;
    pons_clock clock;
    double speed;
    bool auto_reset; // in force: asked for, and simulated
    bool threaded;   // pons_body_run: telemetry goes by host time
    bool for_run;    // a bye may end the process
    char boot_id[33];
    char *ledger_path, *durable_path, *sim_state_path; // NULL: none
    pons_value *registry;
    pons_schema *schemas[PONS__SKILLS_MAX]; // of the registry's items, in its order
    void (*kick)(void *user);               // wakes the safety thread; NULL: single thread
    void *kick_user;

    // durable
    pons__ledger *ledger;
    pons__durable durable;

    // safety
    pons__guard guard;
    pons__command cmd; // newest; pons__body_publish sends it
    pons__safety_status safety;
    uint64_t latch_seen;
    bool boot_latched;                // and not reset since
    char note[PONS__REASON_MAX + 64]; // stop.reason while nothing is latched

    // senses
    int64_t robot_ns, host_ns; // of this poll
    pons_robot_state state;
    pons_scan scan;
    uint64_t scans;
    pons_grid *grid;
    pons_nav *nav;
    pons_localizer *localizer;
    pons_pose2 pose;
    pons__odom_sample odom[PONS__ODOM_RING];
    int odom_n, odom_head;
    pons_pose2 last_odom;
    double odometer_m;
    pons_blob blobs[PONS__BLOBS_MAX];
    int n_blobs;
    int64_t blobs_due_ns;

    // goals and clients
    pons__goal goals[PONS__GOALS_MAX];
    uint64_t goal_seq;
    pons__client clients[PONS__CLIENTS_MAX];
    pons__client *controller; // NULL: nobody
    int64_t epoch;            // the controller's; 0: nobody
    int64_t beat_host_ns;     // the controller's last sign of life

    // rhythm
    int64_t control_due_ns;   // robot time
    int64_t telemetry_due_ns; // robot time, or host time when threaded
    int64_t save_due_ns;      // robot time
    int64_t rate_host_ns, rate_robot_ns;
    double realtime;
    bool quit;       // a bye asked for the process's end
    bool sim_failed; // the simulation cannot go on
};

// body.c
int pons__body_open(const pons_body_options *opts, bool threaded, pons_body **ret, pons_error *err);
void pons__body_poll(pons_body *b);    // everything that is due on the loop thread
void pons__body_publish(pons_body *b); // the command, to the safety thread
void pons__body_env(pons_body *b, pons__skill_env *ret);
void pons__body_stop_request(pons_body *b, const char *reason); // from a link
void pons__body_reset_request(pons_body *b);
bool pons__body_latched(const pons_body *b);                               // or about to be
int pons__body_save_sim(pons_body *b, pons_value *state, pons_error *err); // takes state
double pons__body_rate(const pons_body *b); // robot seconds in a host second, lately

// goals.c
void pons__goal_request(pons_body *b, pons__client *c, const pons_value *msg);
void pons__goal_cancel(pons_body *b, pons__client *c, const pons_value *msg);
void pons__goal_adopt(pons_body *b, pons__client *c, const pons_value *msg);
void pons__goal_status(pons_body *b, pons__client *c, const pons_value *msg);
void pons__goals_step(pons_body *b);       // each control step
void pons__goals_hold(pons_body *b);       // brain lost
void pons__goals_watch_hold(pons_body *b); // BRAIN_LOST
// A latch: goals up to that number fail.
void pons__goals_stopped(pons_body *b, const char *reason, uint64_t up_to_seq);
void pons__goals_end(pons_body *b, const char *why); // a good end: canceled
bool pons__goals_held(const pons_body *b);
const pons__goal *pons__goal_base(const pons_body *b);  // the goal that has the base, or NULL
const pons__goal *pons__goal_shown(const pons_body *b); // the one that telemetry shows, or NULL

// clients.c
void pons__clients_pump(pons_body *b);                    // messages in
void pons__clients_watch(pons_body *b);                   // is the controller alive?
void pons__clients_flush(pons_body *b);                   // bytes out; closes those that are gone
void pons__client_send(pons__client *c, pons_value *msg); // takes msg; NULL-safe client
void pons__clients_send(pons_body *b, pons_value *msg);   // to all that said hello; takes msg
void pons__client_error(pons__client *c, const char *re, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
size_t pons__clients_count(const pons_body *b);

// telemetry.c
pons_value *pons__body_hello(const pons_body *b, int64_t epoch);
pons_value *pons__body_telemetry(pons_body *b);
void pons__body_tell_tree(pons_body *b); // each control step: to those who watch it
pons_value *pons__pose_value(pons_pose2 p);
pons_value *pons__real(double x);         // null when not finite
pons_value *pons__text(const char *text); // always valid UTF-8

// stop.c: the stop socket, as the safety thread uses it
// Serves what waits: latches, then answers "stopped NS". True when a stop came.
bool pons__stop_serve(int fd, pons__guard *g);

#endif
