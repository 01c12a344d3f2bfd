// sim.h - what the simulated robots share: parameters of a world, battery, odometry's
// errors, the charger's contact, obstacles, and the state that other threads read.
//
// A driver's object begins with a pons__sim, so that the operations which need nothing else
// (caps, read, scan, write_velocity, charge, fault, set_battery, truth, time_ns) are written once,
// here, and take the driver's `self`. The files behind this header are linked into the program for
// the kinematic driver and a second time into the MuJoCo module, which carries its own.
//
//     thread            may touch
//     stepping          everything, under `step_lock`
//     any               cmd, charge_request, time, fault, the two sequence locks
#pragma once

#include "drivers/sim/seqlock.h"
#include "pons/ext/robot.h"
#include "pons/random.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PONS__SIM_OBSTACLES_MAX = 16, PONS__SIM_ID_MAX = 64, PONS__SIM_OBJECTS_MAX = 256 };
#define PONS__SIM_LIDAR_Z_M          0.18 // an obstacle lower than this blocks the way but is not seen
#define PONS__SIM_OBSTACLE_HEIGHT_M  0.5  // unless `spawn` says otherwise
#define PONS__SIM_FURNITURE_HEIGHT_M 0.75 // as high as it is where the world does not say
#define PONS__SIM_CONTACT_YAW_RAD    0.35 // the charger's contacts touch only when about aligned

typedef struct pons__sim_params { // a world and a config, checked; constant after open
    char world[PONS__SIM_ID_MAX]; // its name
    pons_robot_caps caps;
    double wheel_radius_m, track_m;
    struct {
        double initial_pct, idle_pct_per_s, motion_pct_per_m, charge_pct_per_s;
    } battery;
    struct {
        int beams;
        pons_pose2 pose;                   // in base
        double angle_min, angle_increment; // [rad]
        double range_min, range_max, noise_m;
        int64_t period_ns;
    } lidar;
    struct {
        double scale_std, yaw_scale_std; // of the run's constant errors, relative
        double noise_m, noise_rad;       // 1 sigma after 1 m, after 1 rad; grows with the root
    } odometry;
    struct { // of the simulated detector; period_ns 0: there is none
        int64_t period_ns;
        double height_m, fov_rad, near_m, far_m, miss, false_alarm, noise_m;
    } sight;
    struct pons__sim_object { // of the world
        char id[PONS__SIM_ID_MAX], label[PONS__SIM_ID_MAX], identity[PONS__SIM_ID_MAX];
        double at[3]; // where the world has it, in map
    } *objects;       // (n_objects)
    int n_objects;
    pons_pose2 start, charger; // in map
    double contact_m;
    uint64_t seed;
    pons_box2 *boxes; // (n_boxes) the static map
    double *heights;  // (n_boxes) up to which they hide what is behind them; walls: INFINITY
    int n_boxes;
} pons__sim_params;

// PONS_EINVAL names the key. `module` is who complains.
int pons__sim_params_init(pons__sim_params *p, const char *module, const pons_value *world,
                          const pons_value *config, pons_error *err);
void pons__sim_params_fini(pons__sim_params *p);

typedef struct pons__obstacle { // spawned while the simulation runs
    char id[PONS__SIM_ID_MAX];  // empty: a free place
    pons_box2 box;
    double height_m;
} pons__obstacle;

typedef struct pons__published { // what one sequence lock carries
    pons_robot_state state;
    pons_pose2 truth;
} pons__published;

typedef struct pons__sim_vars { // the shared state that a saved world carries
    int64_t time_ns, next_scan_ns, next_sight_ns;
    double battery_pct;
    bool charge_wanted; // a copy of the atomic of that name, for saving
    bool on_charger;
    int64_t bumps;         // times that a contact with a wall or an obstacle began
    int64_t contact_until; // a touch before this robot time [ns] is still the same contact
    pons_pose2 odom;       // odom_from_base
    double odom_scale, odom_yaw_scale;
    double cov[9];
    pons_twist2 twist;
    pons_rand rand, sight_rand; // the second: what is seen changes nothing else
    pons__obstacle obstacles[PONS__SIM_OBSTACLES_MAX];
    double objects_at[PONS__SIM_OBJECTS_MAX][3]; // (n_objects) in map
} pons__sim_vars;

typedef struct pons__sim {
    pons__sim_params p;               /* const */
    const char *module;               /* const */
    pthread_mutex_t step_lock;        // step, spawn, set_battery, save, restore
    pons__seqlock state, scan, sight; // written under step_lock, read by anyone
    _Atomic uint64_t cmd;             // two floats: v [m/s], w [rad/s]
    _Atomic bool charge_wanted;       // charge(); falls when the charger's contacts part
    _Atomic int64_t time_ns;          // robot clock, as published
    _Atomic(const char *) fault;
    char fault_text[256]; // written once, before `fault` points here
    pons__sim_vars v;     /* [step_lock] */
} pons__sim;

// From a zeroed *s. The robot's clock is 0, odom is at the start, nothing is seen yet.
int pons__sim_init(pons__sim *s, const char *module, const pons_value *world,
                   const pons_value *config, pons_error *err);
void pons__sim_fini(pons__sim *s); // half-built-safe, after a zeroing

// What is asked of the wheels now: the last write within the limits; zero with an empty battery.
pons_twist2 pons__sim_command(pons__sim *s);
// One step of a speed towards its target: `brake` while its magnitude falls, else `accel`.
double pons__sim_ramp(double now, double target, double accel, double brake, double dt_s);
// Odometry by what the wheels turned: along the arc [m] and around [rad]; errors added if noisy.
void pons__sim_odometry(pons__sim *s, double arc_m, double turn_rad, bool noisy);
void pons__sim_battery(pons__sim *s, double arc_m, double dt_s);
pons_battery_state pons__sim_battery_state(const pons__sim *s);
void pons__sim_touch(pons__sim *s);                     // something is touched now; counts bumps
void pons__sim_charger(pons__sim *s, pons_pose2 truth); // do the contacts touch?
bool pons__sim_scan_due(pons__sim *s);                  // and sets when the next one is
void pons__sim_scan_begin(const pons__sim *s, pons_scan *ret); // header; all ranges INFINITY
// With noise and limits; after the state of the same moment, so that whoever has a scan finds the
// clock and the odometry at least as new.
void pons__sim_scan_publish(pons__sim *s, pons_scan *scan, pons_pose2 truth);
void pons__sim_publish(pons__sim *s, pons_pose2 truth);
void pons__sim_publish_again(pons__sim *s); // with the truth as it was
// Latches the first; the text is kept. Any later one is dropped.
void pons__sim_fault(pons__sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Parses {id, x, y, sx, sy, yaw?, height?, remove?}; PONS_EINVAL.
int pons__sim_spawn_parse(const pons__sim *s, const pons_value *what, pons__obstacle *ret,
                          bool *ret_remove, pons_error *err);
// Puts the obstacle in its place (its own when it is there already, else a vacant one below cap),
// or takes it away. Returns the place; PONS_EBUSY when all are taken, PONS_ENOTFOUND when there is
// nothing to take away.
int pons__sim_spawn_place(pons__sim *s, const pons__obstacle *o, bool removed, int cap,
                          pons_error *err);

// What the simulated detector finds from there, when it is due; after the state of the same moment.
void pons__sim_look(pons__sim *s, pons_pose2 truth);
// {id, x, y, height?} whose id is an object's: it is there now, `height` its middle's. Its index; PONS_ENOTFOUND: no object is meant, and
// err is as it was; PONS_EINVAL.
int pons__sim_move_object(pons__sim *s, const pons_value *what, pons_error *err);

// The shared part of a saved world, and back. load leaves *s as it was on failure.
pons_value *pons__sim_save(const pons__sim *s, const char *driver); // NULL: no memory
int pons__sim_load(pons__sim *s, const pons_value *saved, const char *driver, pons_error *err);
// pons_object leaves out what there was no memory for: this takes an object, and gives it back only
// when it has all its members.
pons_value *pons__sim_whole(pons_value *object, size_t members);
pons_value *pons__sim_save_pose(pons_pose2 pose);
bool pons__sim_load_pose(const pons_value *v, pons_pose2 *ret);
pons_value *pons__sim_save_reals(const double *v, size_t n);
bool pons__sim_load_reals(const pons_value *v, double *ret, size_t n);

// Operations of pons_robot_ops that are the same for every simulated robot; self is a pons__sim.
void pons__sim_caps(void *self, pons_robot_caps *ret);
int64_t pons__sim_time_ns(void *self);
void pons__sim_read(void *self, pons_robot_state *ret);
bool pons__sim_scan(void *self, pons_scan *ret);
bool pons__sim_see(void *self, pons_robot_sight *ret);
void pons__sim_write_velocity(void *self, pons_twist2 cmd_in_base);
int pons__sim_charge(void *self, bool on, pons_error *err);
const char *pons__sim_get_fault(void *self);
void pons__sim_set_battery(void *self, double pct);
void pons__sim_truth(void *self, pons_pose2 *ret_pose_in_map);
