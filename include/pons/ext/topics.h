// ext/topics.h - the contract of what hears the topics of other software, each message as it is on the wire: for
// recordings (docs/reference/recording.md). It says nothing, and nobody waits for it.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_TOPICS_ABI 2u

typedef struct pons_topic {      // borrowed for the call
    const char *name, *type;     // "/scan", "sensor_msgs/msg/LaserScan"
    const char *encoding;        // of its messages: "cdr"
    const char *schema_encoding; // "ros2msg"
    const char *schema;          // the type's text, with those that it needs
} pons_topic;

typedef struct pons_topics_options { // strings are borrowed for the call of open
    const char *workspace;           // whose config/ comes before the installed one
    // The listener's thread, which is one: a topic that is heard from now on, whose number is returned (< 0: it is
    // not wanted), and a message of it, borrowed for the call.
    int (*topic)(void *user, const pons_topic *t);
    void (*message)(void *user, int topic, const void *data, size_t n);
    void (*tell)(void *user, const char *line); // for people: what is not heard, and why; once each
    void *user;
} pons_topics_options;

typedef struct pons_topics_network {  // who else is there, as far as it was found
    uint32_t domain;                  // of DDS
    int rmw_cyclonedds, rmw_fastrtps; // participants with endpoints of ROS
    int rmw_other;
    bool nav2;       // somebody serves the action that drives to a pose
    char wants[200]; // the topic on which Nav2 should publish its velocities; "": Nav2 is not used
    int publishers;  // of that topic
} pons_topics_network;

typedef struct pons_topics_ops {
    uint32_t abi; // PONS_TOPICS_ABI
    const char *name;
    // PONS_EINVAL for a bad configuration, PONS_EENV when others cannot be reached.
    int (*open)(const pons_topics_options *o, void **ret, pons_error *err);
    void (*close)(void *self); // nothing is called any more when it returns; NULL-safe
    // Looks who is there for so long at most, and says nothing itself. Any thread; it blocks. Errors as of open.
    int (*look)(const char *workspace, int wait_ms, pons_topics_network *ret, pons_error *err);
} pons_topics_ops;

PONS_C_END
