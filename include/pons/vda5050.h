// vda5050.h - the vehicle's side of VDA 5050, version 2.1: a master control's orders become one thing at
// a time for a robot to do, and what becomes of them is told.
//
// No I/O, no thread, no clock: messages come in as bytes, messages go out as values, what must outlive
// the process is given to `keep` before anything follows from it.
//
//     heard(order) --> judged --> kept --> want: a pose to drive to, a skill to do --> the robot
//                         |                                                              |
//                         +--> an error of the state                 ended: ok, or why --+--> kept --> state
//
// Each thing to do has a key that follows from the order alone: which accepted order it is of, and the
// sequenceId, or which action. Whoever does it keeps the key beside the doing, so that neither a message
// that comes twice nor a life that was cut short does anything twice.
#pragma once

#include "pons/linkage.h"
#include "pons/schema.h"

PONS_C_BEGIN

#define PONS_VDA5050_VERSION   "2.1.0"
#define PONS_VDA5050_BYTES_MAX (256 * 1024) // of a message
#define PONS_VDA5050_KEY_MAX   256

typedef enum pons_vda5050_topic {
    PONS_VDA5050_ORDER,
    PONS_VDA5050_INSTANT_ACTIONS,
    PONS_VDA5050_STATE,
    PONS_VDA5050_VISUALIZATION,
    PONS_VDA5050_CONNECTION, // quality 1 and retained
    PONS_VDA5050_FACTSHEET,  // retained
    PONS_VDA5050_TOPICS
} pons_vda5050_topic;
extern const char *const pons_vda5050_topics[]; // by topic: "order", …

typedef struct pons_vda5050_seen { // what the robot is and says, now
    bool connected;                // a body answers
    bool placed;                   // x, y and yaw can be trusted
    double x, y, yaw;              // in the map [m, rad]
    double v, w;                   // [m/s, rad/s]
    double battery_pct;
    bool charging;
    bool latched;         // a protective stop is in force
    bool waits;           // it was lifted, and nobody has said that the tasks go on
    bool paused;          // by a person
    bool near;            // what stands near holds it
    bool away;            // somebody else has the robot: a person's task, its own battery
    const char *why;      // of latched, waits, paused, away: for people; or NULL
    const char *question; // that a person is asked; NULL: none
    bool has_load_device;
    const char *holding;      // id; NULL: nothing
    const pons_value *skills; // [{name, …}] that the body has; NULL: not known; referenced
    double speed_max_mps;     // 0: not known
    double brake_max_mps2, radius_m;
} pons_vda5050_seen;

typedef struct pons_vda5050_options {
    const pons_value *config; // schemas/vda5050.json, already checked; referenced
    const pons_value *kept;   // as keep was given it last; NULL: never
    // Of the messages that a master sends, borrowed: schemas/vda5050-order.json, -actions.json.
    const pons_schema *order, *actions;
    // Makes it durable before it returns. Its failure is that of the call in which it came.
    int (*keep)(void *user, const pons_value *state, pons_error *err);
    void (*publish)(void *user, pons_vda5050_topic topic, const pons_value *message);
    // The robot is there: answered by pons_vda5050_placed, at any time. NULL: it can't be told.
    void (*place)(void *user, double x, double y, double yaw);
    void *user;
} pons_vda5050_options;

typedef struct pons_vda5050_work { // one thing to do
    const char *key;               // borrowed, like the others until the next call
    const char *skill;             // "navigate_to_pose", or what the config's table says
    const pons_value *args;        // of the skill
    bool cancel;                   // it is to end; when it never began, it has
} pons_vda5050_work;

typedef struct pons_vda5050 pons_vda5050;

int pons_vda5050_create(const pons_vda5050_options *o, pons_vda5050 **ret, pons_error *err);
void pons_vda5050_destroy(pons_vda5050 *v); // NULL-safe

// now_ms: a clock that never goes back; wall_ms: Unix time.
// A message came. Bad ones are an error of the state, never of the call.
int pons_vda5050_received(pons_vda5050 *v, pons_vda5050_topic topic, const char *data, size_t n,
                          bool retained, pons_error *err);
// `data` may be NULL where n is more than PONS_VDA5050_BYTES_MAX.
// So many messages came faster than they are read, and were dropped: an error of the state.
int pons_vda5050_missed(pons_vda5050 *v, pons_vda5050_topic topic, size_t n, pons_error *err);
// Whether a message makes the robot stop (cancelOrder, startPause): it is to be heard whatever else comes. Any thread.
bool pons_vda5050_stops(pons_vda5050_topic topic, const char *data, size_t n);
// There is a broker (again), or none. Online, factsheet and state are published.
int pons_vda5050_online(pons_vda5050 *v, bool online, int64_t now_ms, int64_t wall_ms,
                        pons_error *err);
// Looks at the robot, publishes what is due. Strings of seen are copied.
int pons_vda5050_tick(pons_vda5050 *v, const pons_vda5050_seen *seen, int64_t now_ms,
                      int64_t wall_ms, pons_error *err);
// What is to be done now; false: nothing.
bool pons_vda5050_want(const pons_vda5050 *v, pons_vda5050_work *ret);
// How it ended. PONS_OK also for a key that is not wanted any more.
int pons_vda5050_ended(pons_vda5050 *v, const char *key, bool ok, const char *why, pons_error *err);
int pons_vda5050_placed(pons_vda5050 *v, bool ok, const char *why, pons_error *err);

// The message of the topic `connection`: ONLINE, OFFLINE, CONNECTIONBROKEN (the last will). The caller's.
pons_value *pons_vda5050_connection(pons_vda5050 *v, const char *word, int64_t wall_ms);

PONS_C_END
