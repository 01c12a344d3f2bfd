// transport.h - Ignition Transport, as far as a robot in Gazebo needs it, for C. transport.cc behind it is the only
// C++ of the project: the library has no other face that keeps a message's length, or that has services.
//
// Threads: what is heard comes on a thread of the transport, one message at a time; a request must not be
// made there. The other functions may be called from any thread but the safety thread: they lock and
// allocate.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gazebo_odom {
    int64_t stamp_ns; // simulated time, as everywhere here; -1: one that cannot be
    double x, y, yaw; // in odom
    double v, w;      // in base
} gazebo_odom;

typedef struct gazebo_scan {
    int64_t stamp_ns;
    double angle_min, angle_step, range_min, range_max;
    size_t n;             // of a lidar with several rows those of the most level one
    const double *ranges; // lives only for the call; infinite: nothing was met
} gazebo_scan;

typedef struct gazebo_ears {
    void *user;
    void (*odom)(void *user, const gazebo_odom *o);
    void (*scan)(void *user, const gazebo_scan *s);
    void (*battery)(void *user, double share, int status); // share as it was sent; status as pons's
    void (*clock)(void *user, int64_t sim_ns);
    void (*stats)(void *user, bool paused, int64_t step_ns); // 0: it does not say
    void (*pose)(void *user, const char *name, double x, double y, double yaw); // of a model
    void (*contact)(void *user, double x, double y);                            // in the world
} gazebo_ears;

typedef enum gazebo_topic {
    GAZEBO_ODOM,
    GAZEBO_SCAN,
    GAZEBO_BATTERY,
    GAZEBO_CLOCK,
    GAZEBO_STATS,
    GAZEBO_POSES,
    GAZEBO_CONTACTS
} gazebo_topic;

typedef struct gazebo_wire gazebo_wire;

// partition "": the environment's. NULL, with a line in `why`, when there is no transport.
gazebo_wire *gazebo_wire_open(const char *partition, const gazebo_ears *ears, char *why,
                              size_t why_size);
void gazebo_wire_close(gazebo_wire *w); // NULL-safe; nothing is heard any more when it returns
bool gazebo_wire_hear(gazebo_wire *w, gazebo_topic what, const char *topic);
// Somebody publishes another type there, which never comes, and nobody the right one: which.
bool gazebo_wire_other(gazebo_wire *w, gazebo_topic what, const char *topic, char *ret, size_t cap);
bool gazebo_wire_drive(gazebo_wire *w, const char *topic); // where velocities go
void gazebo_wire_twist(gazebo_wire *w, double v, double w_radps);
bool gazebo_wire_listened(gazebo_wire *w); // somebody hears the velocities

// Services of the world; false: nobody answered in time, or it was refused.
bool gazebo_wire_control(gazebo_wire *w, const char *service, bool pause, uint32_t steps,
                         unsigned timeout_ms);
bool gazebo_wire_create(gazebo_wire *w, const char *service, const char *sdf, unsigned timeout_ms);
bool gazebo_wire_remove(gazebo_wire *w, const char *service, const char *name, unsigned timeout_ms);
bool gazebo_wire_tell(gazebo_wire *w, const char *service, bool on); // one that never answers

#ifdef __cplusplus
}
#endif
