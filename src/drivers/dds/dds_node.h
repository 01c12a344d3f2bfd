// dds_node.h - the participant and its endpoints, named and typed as ROS 2 does it; and why an endpoint
// that should have a peer has none. The essay is in dds_node.c.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/fastdds_services.h"

#include <dds/dds.h>

enum { ROS2_ENDPOINTS_MAX = 192 };

typedef struct ros2_node {
    bool hashed; // endpoints say their types' hashes, as Jazzy's do; set before they are made
    dds_entity_t participant, waitset;
    dds_entity_t others[2]; // builtin readers: publications, subscriptions
    char id[64];            // 16 random bytes, as services and their clients say them
    int n_endpoints;        // that ROS's tools should know of
    dds_entity_t info_w;    // discovery_info.c
    int n_shown;            // how many of them they know of
    uint32_t domain;
    // Fast DDS's participant for services (rpc.c), made when it is needed; fast_came wakes the waitset, `came` another loop.
    ros2_fast *fast;
    const ros2_fast_ops *fast_ops;
    dds_entity_t fast_came;
    char fast_why[128];       // why there is none; "": not tried
    void (*came)(void *user); // NULL: only the waitset
    void *came_user;
    struct {
        uint8_t guid[16];
        bool writes;
    } endpoints[ROS2_ENDPOINTS_MAX];
    struct
    { // what ros2_node_why said lately; who asks all the time has a domain of a thousand endpoints looked through
        dds_entity_t of;
        dds_time_t at;
        bool other;
        char line[192];
    } why[8];
} ros2_node;

int ros2_node_open(ros2_node *n, uint32_t domain, pons_error *err);
void ros2_node_close(ros2_node *n);
// Tells ROS's tools the node's name and endpoints, as many as there are now.
int ros2_node_tell(ros2_node *n, const ros2_config *c, pons_error *err);
void ros2_node_wait(ros2_node *n, int64_t ns); // so long at most, until something has come
// A reader or a writer of prefix + name ("rt", "/odom"; "": name is all of it) with that type's ROS name; type NULL: the
// descriptor's own. A reader wakes the waitset. 0 and err: it cannot be made.
dds_entity_t ros2_node_reader(ros2_node *n, const char *prefix, const char *name, const char *type,
                              const dds_topic_descriptor_t *desc, ros2_qos qos, pons_error *err);
dds_entity_t ros2_node_writer(ros2_node *n, const char *prefix, const char *name, const char *type,
                              const dds_topic_descriptor_t *desc, ros2_qos qos, pons_error *err);
// What the user data of an endpoint say: its part in a service ("serviceid", "clientid"; "": none), its type's hash.
void ros2_node_says(const ros2_node *n, const char *role, const char *type, char *ret, size_t cap);
bool ros2_node_matched(dds_entity_t endpoint); // with at least one peer
void ros2_node_own(ros2_node *n, const uint8_t guid[16],
                   bool writes); // an endpoint that ROS's tools should know of
// How many others, outside this participant, publish the topic of that writer.
int ros2_node_rivals(const ros2_node *n, dds_entity_t writer);
// Calls `look` with every publication (or subscription) that is known of, also the own ones, until it says false.
typedef bool ros2_look(const dds_builtintopic_endpoint_t *e, void *user);
void ros2_node_each(const ros2_node *n, bool publications, ros2_look *look, void *user);
// ROS's name of a DDS type: sensor_msgs::msg::dds_::LaserScan_ is sensor_msgs/msg/LaserScan.
void ros2_node_type(const char *type, char *ret, size_t cap);
// How a client of services names itself in its requests, by the writer of them.
uint64_t ros2_node_guid(dds_entity_t writer);
// Why it is not: "/scan: nobody publishes it", "/scan is published as sensor_msgs/msg/PointCloud2, …",
// "/scan: reliability: …". True: somebody is there, and does not fit. What it said holds for a quarter of a second.
bool ros2_node_why(ros2_node *n, dds_entity_t endpoint, char *ret, size_t cap);

// Each sample that has come, as `const type *var`, borrowed for the body of the loop; of a flood so many as make
// a turn, and the rest in the next: who writes faster than is read starves no other reader of the loop.
enum { ROS2_TURN = 128 };
#define ROS2_TAKE(reader, type, var)                                                               \
    void *sample_[1] = {NULL};                                                                     \
    dds_sample_info_t info_[1];                                                                    \
    int left_ = ROS2_TURN;                                                                         \
    for (const type *var;                                                                          \
         left_-- > 0 && dds_take(reader, sample_, info_, 1, 1) > 0 && (var = sample_[0], true);    \
         dds_return_loan(reader, sample_, 1), sample_[0] = NULL)                                   \
        if (info_[0].valid_data)
