// fleet.h - many robots, one orchestrator: where they may drive, who does which task, and a fleet that
// is played on a virtual clock.
//
//     map      zones, each for one robot at a time: lanes, and bays beside them where a robot stands
//              in nobody's way (parks, stations, docks)
//     assign   the cheapest matching of tasks and robots
//     fleet    the orchestrator's core: tasks, robots and traffic in, commands out. No I/O, no clock, no
//              randomness of its own: the same calls give the same commands
//     simulate the core with a thousand bodies on the virtual clock, and a judge
//
// A program that uses this has pons_memory_of_a_process: without memory it ends. One thread at a time
// for each object. docs/reference/fleet.md is the page for people.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

#define PONS_FLEET_NAME_MAX  32 // of a zone, a robot, a task, a capability: bytes with the zero
#define PONS_FLEET_STOPS_MAX 4  // of a task

// ---- the cheapest matching ----------------------------------------------------------------------

// Jonker and Volgenant's shortest augmenting paths on a matrix of costs, row by row; rows and columns
// may differ in number. INFINITY (or NAN): that pair may not be. As many pairs as possible are made,
// and of all such matchings one of the least cost. ret_column: (rows), -1 for a row without a
// partner. Returns the cost.
double pons_fleet_match(const double *cost, size_t rows, size_t columns, int32_t *ret_column);

// ---- the map ------------------------------------------------------------------------------------

typedef enum pons_fleet_kind {
    PONS_FLEET_LANE,
    PONS_FLEET_PARK,    // where who has nothing to do, or has to give way, stands
    PONS_FLEET_STATION, // where tasks are done
    PONS_FLEET_DOCK,    // where robots charge
    PONS_FLEET_KINDS
} pons_fleet_kind;
extern const char *const pons_fleet_kinds[]; // "lane", …; ends with NULL

typedef struct pons_fleet_zone {
    char id[PONS_FLEET_NAME_MAX];
    pons_fleet_kind kind;
    double x, y; // [m]
} pons_fleet_zone;

typedef struct pons_fleet_map pons_fleet_map; // immutable but for its cache of ways; one thread

// Zones as people write them (docs/reference/fleet.md, "The map"), in YAML. PONS_EINVAL with name:line:col: what
// is wrong with a zone, lanes that are not strongly connected, a bay that leads nowhere.
int pons_fleet_map_read(const char *text, size_t len, const char *name, pons_fleet_map **ret,
                        pons_error *err);
int pons_fleet_map_load(const char *path, pons_fleet_map **ret, pons_error *err);
// A floor, to make a map of.
typedef struct pons_fleet_bay {
    char id[PONS_FLEET_NAME_MAX];
    pons_fleet_kind kind; // not a lane
    double x, y;          // [m] where a robot stands; the map may have it a little beside
    double pad_x, pad_y;  // of a dock: the charger, which nobody else may come near; else x and y
    bool made;            // filled: the map has it; false: there is no room, or no way goes past it
} pons_fleet_bay;
typedef struct pons_fleet_floor {
    double xmin, ymin, xmax, ymax; // [m]
    double radius_m;               // of a robot
    double step_m;                 // between two zones; 0: by the room that there is
    size_t robots;
    pons_fleet_bay *bays; // stations and docks that it is to have; none of a kind: some are found
    size_t n_bays;
    double (*room)(void *user, double x, double y); // [m] to what may not be touched
    void *user;
} pons_fleet_floor;
// Lanes over all of a floor, one way where there is another way back, and bays beside them: those that are asked
// for, and a park for each robot. Robots that keep to their zones and drive straight from middle to middle do not
// touch. PONS_EINVAL: there is no room for so many.
int pons_fleet_map_compile(const char *name, const pons_fleet_floor *floor, pons_fleet_map **ret,
                           pons_error *err);
// A hall of one-way streets with bays along them, for so many robots (1 … 5,000).
int pons_fleet_map_hall(size_t robots, pons_fleet_map **ret, pons_error *err);
void pons_fleet_map_destroy(pons_fleet_map *map); // NULL-safe
// The text that pons_fleet_map_read reads.
int pons_fleet_map_write(const pons_fleet_map *map, pons_buf *out);

const char *pons_fleet_map_name(const pons_fleet_map *map);
size_t pons_fleet_map_size(const pons_fleet_map *map); // lanes first, then bays
const pons_fleet_zone *pons_fleet_map_zone(const pons_fleet_map *map, size_t zone);
int32_t pons_fleet_map_find(const pons_fleet_map *map, const char *id); // -1: there is none
size_t pons_fleet_map_count(const pons_fleet_map *map, pons_fleet_kind kind);
// Where a zone leads.
const int32_t *pons_fleet_map_exits(const pons_fleet_map *map, size_t zone, size_t *ret_n);
// The zone whose middle is nearest to a place; *ret_m: how far.
int32_t pons_fleet_map_near(const pons_fleet_map *map, double x, double y, double *ret_m);
// The shortest way along lanes [m]; INFINITY: none. Kept for later calls with the same `to`.
double pons_fleet_map_way(pons_fleet_map *map, size_t from, size_t to);
size_t pons_fleet_map_bytes(const pons_fleet_map *map); // in memory, with its ways

// ---- the orchestrator's core --------------------------------------------------------------------

typedef enum pons_fleet_priority {
    PONS_FLEET_LOW,
    PONS_FLEET_NORMAL,
    PONS_FLEET_HIGH
} pons_fleet_priority;
extern const char *const pons_fleet_priorities[]; // "low", …; ends with NULL

typedef enum pons_fleet_task_state {
    PONS_FLEET_WAITING,
    PONS_FLEET_ASSIGNED, // a robot is on its way to the first stop: nothing was done yet
    PONS_FLEET_STARTED,  // its first stop has begun
    PONS_FLEET_UNKNOWN,  // outcome_unknown: its robot was lost after it had started
    PONS_FLEET_DONE,
    PONS_FLEET_FAILED,
    PONS_FLEET_CANCELLED,
    PONS_FLEET_TASK_STATES
} pons_fleet_task_state;
extern const char
    *const pons_fleet_task_states[]; // "waiting", … "outcome_unknown", …; ends with NULL

typedef struct pons_fleet_task {
    char id[PONS_FLEET_NAME_MAX];
    char name[96];                       // for people; "": the id
    int32_t stops[PONS_FLEET_STOPS_MAX]; // zones: stations, one after the other
    size_t n_stops;
    uint32_t capabilities; // bits that its robot must have
    double payload_kg;     // that its robot must carry
    pons_fleet_priority priority;
    int64_t deadline_ms; // 0: none
    int64_t created_ms;
    // Filled by the core; of a task that is given back after a restart, by the caller.
    pons_fleet_task_state state;
    int32_t robot;   // -1: none
    size_t stop;     // the one that is next, or at work
    bool working;    // at that stop
    bool cancelling; // a person has said so while it was at work
} pons_fleet_task;

typedef struct pons_fleet_robot {
    char id[PONS_FLEET_NAME_MAX];
    uint32_t capabilities;
    double payload_kg;
    double speed_mps;
    double pct_per_m; // of the battery
    double charge_pct_per_s;
} pons_fleet_robot;

typedef enum pons_fleet_robot_state {
    PONS_FLEET_UNSEEN, // never heard of
    PONS_FLEET_IDLE,
    PONS_FLEET_BUSY,    // with a task
    PONS_FLEET_TO_DOCK, // on its way to a dock, or waits for one
    PONS_FLEET_CHARGING,
    PONS_FLEET_LOST,   // not heard of for too long
    PONS_FLEET_ASTRAY, // says that it is where it cannot be; stands until a person has cleared it
    PONS_FLEET_ROBOT_STATES
} pons_fleet_robot_state;
extern const char *const pons_fleet_robot_states[]; // "unseen", …; ends with NULL

typedef enum pons_fleet_do {
    PONS_FLEET_MOVE,   // into the zone, which is this robot's now
    PONS_FLEET_WORK,   // at the stop of its task; once, by the key (task, stop)
    PONS_FLEET_CHARGE, // at the dock, until it is told to move
    PONS_FLEET_CANCEL  // what it works at
} pons_fleet_do;

typedef struct pons_fleet_command {
    pons_fleet_do what;
    int32_t robot;
    int32_t zone;                // MOVE
    const pons_fleet_task *task; // WORK, CANCEL
    size_t stop;                 // WORK
} pons_fleet_command;

// What a robot says. Everything that it says is a heartbeat.
typedef struct pons_fleet_report {
    int32_t robot;
    int64_t now_ms;
    int32_t zone;       // where it is: the one that it has entered last
    int32_t next;       // the one that it has been given and has not yet entered; -1: none
    double battery_pct; // NAN: not told
} pons_fleet_report;

typedef struct pons_fleet pons_fleet;

typedef struct pons_fleet_options {
    pons_fleet_map *map;   // outlives it
    int64_t lost_after_ms; // default 10,000
    double moving_max;     // robots on lanes at once, as a part of the lanes; default 0.20
    double keep_pct;       // of the battery, that a robot has left back at a dock; default 15
    double low_pct;        // a robot with less goes to a dock when it has nothing to do; default 35
    bool greedy;           // nearest robot first instead of the cheapest matching, to compare with
    bool lanes_alone; // a robot goes when its whole way is free, and has all of it; to compare with
    // A command for a robot. By then all that it follows from has been told (durable).
    void (*command)(void *user, const pons_fleet_command *c);
    // A task has changed: to be made durable before this returns.
    void (*task)(void *user, const pons_fleet_task *t);
    // A robot's way has changed: it is on these zones or will enter them. To be made durable before
    // this returns. n 0: it stands in a bay.
    void (*leg)(void *user, int32_t robot, const int32_t *zones, size_t n);
    void *user;
} pons_fleet_options;
#define PONS_FLEET_OPTIONS_INIT                                                                    \
    {                                                                                              \
        .lost_after_ms = 10000, .moving_max = 0.20, .keep_pct = 15.0, .low_pct = 35.0              \
    }

// PONS_EINVAL: fewer bays than robots, an id that is there twice.
int pons_fleet_create(const pons_fleet_options *options, const pons_fleet_robot *robots, size_t n,
                      pons_fleet **ret, pons_error *err);
void pons_fleet_destroy(pons_fleet *f); // NULL-safe

// After a restart, before the first report. A task as it was told last; the zones of a leg as told last,
// which nobody else may enter until the robot is seen or cleared.
int pons_fleet_restore_task(pons_fleet *f, const pons_fleet_task *task, pons_error *err);
int pons_fleet_restore_leg(pons_fleet *f, int32_t robot, const int32_t *zones, size_t n,
                           pons_error *err);

// PONS_EINVAL: no robot could ever do it (said which requirement); PONS_EEXIST: the id.
int pons_fleet_add(pons_fleet *f, const pons_fleet_task *task, pons_error *err);
// PONS_ENOTFOUND. What has started is cancelled when its robot says so.
int pons_fleet_cancel(pons_fleet *f, const char *id, int64_t now_ms, pons_error *err);
// A person's word on a task that is outcome_unknown: it is done, or it failed.
int pons_fleet_settle(pons_fleet *f, const char *id, bool done, pons_error *err);

void pons_fleet_hear(pons_fleet *f,
                     const pons_fleet_report *report); // it is there, or has entered it
// Only a heartbeat.
void pons_fleet_beat(pons_fleet *f, int32_t robot, int64_t now_ms);
// A stop of its task has ended; a key that is not at work is ignored.
void pons_fleet_worked(pons_fleet *f, int32_t robot, const char *task, size_t stop, bool ok,
                       int64_t now_ms);
// It is there and does not get on (something stands before it, a wheel turns in vain): others go round it, and
// what it has not started is somebody else's, until it gets on.
void pons_fleet_hinder(pons_fleet *f, int32_t robot, bool hindered, int64_t now_ms);
// Of one that is hindered: it has not begun the MOVE that it was given, and will not. It stands where it stood, and the
// zone that it was to enter is free.
void pons_fleet_stay(pons_fleet *f, int32_t robot, int64_t now_ms);
// A zone that nobody may enter: a person, an obstacle; and free again.
void pons_fleet_block(pons_fleet *f, int32_t zone, bool blocked, int64_t now_ms);
// A person has carried a lost robot away: its zones are free. It may come again in a bay.
void pons_fleet_clear(pons_fleet *f, int32_t robot, int64_t now_ms);
// A dock that is out of order takes nobody more; and one that is in order again.
void pons_fleet_close_zone(pons_fleet *f, int32_t zone, bool closed, int64_t now_ms);
// Who is lost, who charges, who does what, and who may go. Each 500 ms.
void pons_fleet_tick(pons_fleet *f, int64_t now_ms);

// ---- what is so ---------------------------------------------------------------------------------

typedef struct pons_fleet_view { // of a robot
    pons_fleet_robot_state state;
    int32_t zone, next; // next: the one that it has been given; -1: none
    int32_t to;         // where it wants to be; -1: nowhere
    int32_t waits_for;  // a zone; -1: it does not wait
    int32_t held_by;    // the robot that has that zone, or that stands in its way; -1: none
    int64_t waits_since_ms;
    bool stuck;    // no safe way to a bay: it stands until there is one
    bool hindered; // by its own word it does not get on
    double battery_pct;
    int64_t seen_ms;
    const pons_fleet_task *task; // NULL: none; until the next call
} pons_fleet_view;

size_t pons_fleet_robots(const pons_fleet *f);
const pons_fleet_robot *pons_fleet_robot_at(const pons_fleet *f, size_t robot);
void pons_fleet_look(const pons_fleet *f, int32_t robot, pons_fleet_view *ret);
// Who has a zone; -1: nobody; -2: it is blocked.
int32_t pons_fleet_holder(const pons_fleet *f, int32_t zone);
const pons_fleet_task *pons_fleet_find(const pons_fleet *f,
                                       const char *id); // NULL; until the next call
// All tasks that have not ended, in the order in which they came; until fn is not 0.
void pons_fleet_tasks(const pons_fleet *f, int (*fn)(void *user, const pons_fleet_task *t),
                      void *user);
// "r3 waits for corridor-2, held by r7"; "" when it does not wait. Returns buf.
char *pons_fleet_why(const pons_fleet *f, int32_t robot, char *buf, size_t cap);
// Whether each robot that may move can still reach its bay, looked at from nothing: a judge's question.
bool pons_fleet_safe(const pons_fleet *f);
size_t pons_fleet_bytes(const pons_fleet *f); // in memory, about

// ---- a fleet that is played ---------------------------------------------------------------------

typedef struct pons_fleet_play {
    size_t robots;
    double hours;
    uint64_t seed;
    pons_fleet_map *map;         // NULL: a hall for so many robots
    double tasks_per_robot_hour; // 0: there is always more to do
    double robot_kills_per_hour; // of the whole fleet; they come back after 1 to 10 minutes
    double kills_of_orchestrator_per_hour;
    double people_per_hour;   // who step onto a lane where no robot is, for 20 s to 5 minutes
    bool greedy, lanes_alone; // the simple baseline
    void (*progress)(void *user, double hours); // NULL: nobody asks
    void *user;
} pons_fleet_play;

// Returns PONS_OK also when the judge found something: the report says so, {robots, hours, seed, map{},
// tasks{done, failed, unknown, lost, twice, per_robot_hour, bound_per_robot_hour}, waits{longest_s,
// mean_s, p99_s, reason}, distance_m, energy_pct, charges, moves, shared_zones (a
// robot sent where another one, or a person, is), deadlocks, unsafe_states, kills{},
// reassigned_s, memory_bytes, flow: [per zone]}. ret_svg (NULL: none): the flow as a picture.
int pons_fleet_simulate(const pons_fleet_play *play, pons_value **ret, pons_buf *ret_svg,
                        pons_error *err);

PONS_C_END
