// body.h - the body's one object, and what its files offer each other. Everything here
// belongs to the loop thread, but for the guard's safety half (gate.h) and the driver's own
// thread-safe functions.
//
//   body.c       create, sense, control, step: the core
//   gate_command.c    what the loop asks of the gate
//   link_messages.c   what clients say, and who is in control; link_clients.c: who is connected
//   goals.c      the goal protocol and the life of a goal; goal_reports.c: what others see of it
//   stop_reset.c   stop, reset, set_pose and steer over a link: when they are answered
//   telemetry.c  what is told to everybody; path_and_scan.c, sensor_streams.c, sight_reports.c: the way, the scan,
//   odometry, what is seen, to who asked
//   restart.c       what the last body left
//   latch_thread.c      the latch thread, which writes what outlives the process
//   body_process.c, stop_socket.c   threads and sockets around the core
#pragma once

#include "body/arm/arm_state.h"
#include "body/ledger/ledger.h"
#include "body/localization/localizer.h"
#include "body/mapping/mapper.h"
#include "body/safety/gate.h"
#include "body/safety/latch_thread.h"
#include "body/sensing/battery_filter.h"
#include "body/skills/skills.h"
#include "pons/body.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/schema.h"

#define PONS__CLIENTS_MAX   32
#define PONS__OBSERVERS_MAX 24 // that have said hello: places are left for a controller
#define PONS__GOALS_MAX     8  // active at once; one of them at most has the base
#define PONS__ODOM_RING     64
#define PONS__BLOBS_MAX     24

#define PONS__CONTROL_NS    (50 * PONS_NS_PER_MS)  // robot time between control steps
#define PONS__TELEMETRY_NS  (50 * PONS_NS_PER_MS)  // between telemetry messages
#define PONS__VIEW_NS       (100 * PONS_NS_PER_MS) // between views
#define PONS__FEEDBACK_NS   (100 * PONS_NS_PER_MS) // between feedback messages of a goal
#define PONS__HEARTBEAT_NS  (300 * PONS_NS_PER_MS) // host time without one: the brain is lost
#define PONS__BRAIN_LOST_NS (30 * PONS_NS_PER_S)   // host time for which a goal is held
#define PONS__SAVE_NS       (250 * PONS_NS_PER_MS) // between saves of a simulated world
#define PONS__GAP_NS        (500 * PONS_NS_PER_MS) // host or robot time between polls: a gap
#define PONS__HELLO_NS      (2 * PONS_NS_PER_S)    // host time in which a client says hello
#define PONS__ENDED_NS      (3 * PONS_NS_PER_S) // host time for which who says no more is answered
#define PONS__RESET_NS      (2 * PONS_NS_PER_S) // host time in which a reset must be on the disk

typedef struct pons__client {
    pons_link *link;  // NULL: a free place
    bool greeted;     // has said hello
    bool gone;        // to be closed at the end of this poll
    int64_t ended_ns; // host time since when it says no more, but is owed answers; 0: it may speak
    bool reported_no_control; // that its heartbeats are in vain
    bool tree;                // wants to see the navigator's tree at work,
    uint64_t tree_id;         // and has been told the outline of this one
    bool view;                // wants to see the way and the scan
    bool laser;               // and the scan as it was measured
    bool senses;              // wants what the robot senses,
    uint64_t scans_reported;  // and has been told so many scans
    bool sees;                // wants what the simulated detector finds
    int64_t pid;
    char name[64];
    int64_t since_host_ns; // of the connection
    // stop and reset, as far as they are not answered (stop_reset.c)
    unsigned stops;         // that are owed a `stopped`
    uint64_t stop_seq;      // of the newest of these
    uint64_t seen_latch;    // the latch's number when nothing more of it was to be read,
    uint64_t own_stops;     // and so many stops that it has said since
    unsigned latches;       // that are owed a `latched`,
    uint64_t latch_gen;     // once this is on the disk
    bool reported_unsaved;  // that it is not
    bool resets;            // a reset waits
    bool reset_sent;        // to the gate
    uint64_t reset_seq;     // its number there
    uint64_t reset_latch;   // the latch_count that it means to lift
    int64_t reset_until_ns; // host time
    bool paces;             // a pace waits for the gate and the disk,
    uint64_t pace_seq;      // its number there,
    int pace_taken;         // which takes so much of every limit [%]
    int64_t pace_until_ns;  // host time
} pons__client;

typedef struct pons__goal {
    pons_message msg;         // the goal message; of no type: a free place
    const pons__skill *skill; /* const */
    uint64_t seq;             // rises from goal to goal
    pons_goal_state state;    // accepted (it waits for another's end), started, held or adopted
    int64_t epoch;            // of the controller that started or adopted it
    int64_t started_wall_ms;
    int64_t started_ns;   // robot time
    int64_t held_host_ns; // host time of the hold
    int64_t feedback_due_ns;
    double odometer_m; // at the start
    pons__skill_run run;
    pons__skill_output out; // of the last step
    bool handed_over;       // another goal goes on with what it had
    bool ending;         // the robot's own software has been asked to end it, and has not answered:
    pons_goal_state end; // then it ends so, with what `out` says,
    int64_t ending_host_ns; // host time since which it is asked
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
    pons_clock clock;
    double speed;
    bool auto_reset; // in force: asked for, and simulated
    bool threaded;   // pons_body_run: telemetry goes by host time
    bool for_run;    // it ends with its controller: a bye may say so
    bool left;       // the last controller said bye; else it is lost
    char boot_id[33];
    int64_t started_ms;                 // wall clock
    char *ledger_path, *sim_state_path; // NULL: none
    void (*kick)(void *user);           // wakes the safety thread; NULL: single thread
    void (*world_changed)(void *user);  // world_id has changed; may be NULL
    void *kick_user;                    // `user` of both
    const pons_value *opened;           // the world at the start; the arm keeps using it

    // world.places may replace its zones and charger (link_messages.c)
    const pons_value *world;
    char world_id[PONS_WORLD_ID_MAX];
    pons_value *registry;
    pons__skills skills;

    // durable
    pons__ledger *ledger;
    pons__keeper keeper;
    pons__saver saver;
    uint64_t noted_latch;  // latch_count up to which the ledger has a witness
    int64_t note_retry_ns; // host time before which that is not tried again

    // safety
    pons__gate guard;
    pons__command cmd;     // newest; pons__body_publish sends it
    int64_t pace_until_ns; // host time: what is faster, and not saved by then, is taken back
    int64_t pace_retry_ns; // host time before which the ledger is not told of that again
    int64_t spared_ns;     // robot time that no time-out counts, as a person wants it slower
    pons__safety_status safety;
    uint64_t latch_seen;
    char note[PONS__REASON_MAX + 64]; // stop.reason while nothing is latched

    // senses
    int64_t robot_ns, host_ns; // of this poll
    int64_t blind_until_ns;    // robot time: a scan from before then is from before a gap
    pons_robot_state state;    // its charge is the accepted one (battery_filter.c)
    pons__battery_filter battery_filter;
    pons_scan scan;
    pons_pose2 scan_pose; // in map: where the robot was when it looked
    uint64_t scans;
    pons__self_filter self_filter;
    pons__near_returns near_returns;
    pons__costmap *grid;
    pons__limb hand;
    pons__nav *nav;
    pons__localizer *localizer;
    pons__mapper *mapper; // NULL: its world does not grow
    uint32_t jumps_seen;  // of the localiser
    bool planning;        // a plan is under way between control steps
    bool thinking;        // there is more to search or plan: the next poll comes at once
    pons_pose2 pose;
    char lacks[PONS_OUTSIDE_TEXT_MAX];  // what the robot should not move without; "": nothing
    char lacked[PONS_OUTSIDE_TEXT_MAX]; // and what the controller was told
    pons__odom_sample odom[PONS__ODOM_RING];
    int odom_n, odom_head;
    pons_pose2 last_odom;
    double odometer_m;
    pons__blob blobs[PONS__BLOBS_MAX];
    int n_blobs;
    int64_t blobs_due_ns;

    // goals and clients
    pons__goal goals[PONS__GOALS_MAX];
    struct { // robot time at which the last chunk of a policy's actions ended; 0: none
        int64_t base_ns, arm_ns;
    } chunk_end;
    uint64_t goal_seq;
    pons__client clients[PONS__CLIENTS_MAX];
    pons__client *controller; // NULL: nobody
    int64_t epoch;            // the controller's; 0: nobody
    int64_t last_epoch;       // issued last
    int64_t beat_host_ns;     // the controller's last sign of life
    pons__steer steer;        // what a person's hand wants
    int64_t steer_host_ns;    // and since when

    // rhythm
    int64_t control_due_ns;   // robot time
    int64_t telemetry_due_ns; // robot time, or host time when threaded
    int64_t view_due_ns;      // the same
    int64_t senses_due_ns;    // host time
    int64_t sight_ns;         // stamp of the last that observers were told
    int64_t save_due_ns;      // robot time
    int64_t rate_host_ns, rate_robot_ns;
    double realtime;
    bool reported_latched, reported_held; // as the newest telemetry to all had it
    bool unread;                          // a client has said more than one poll takes
    uint64_t pump_latch;                  // the latch's number before the clients were heard last
    bool quit;                            // a bye asked for the process's end
    bool sim_failed;                      // the simulation cannot go on
};

int pons__body_open(const pons_body_options *opts, bool threaded, pons_body **ret, pons_error *err);
void pons__body_poll(pons_body *b); // everything that is due on the loop thread
int pons__body_save_sim(pons_body *b, pons_value *state, pons_error *err); // takes state
