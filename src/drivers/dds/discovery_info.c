// discovery_info.c - which endpoints are a node's, for ROS's tools (ros_discovery_info).
//
// DDS knows participants and endpoints; a node is a name that a participant says of itself, with the ids
// of the endpoints that are the node's.
#include "drivers/dds/dds_node.h"
#include "ros2.h"

#include <stdio.h>
#include <string.h>

// The structs of both releases differ by the length of an id only.
#define TELL(prefix)                                                                               \
    do {                                                                                           \
        prefix##_Gid_ r[ROS2_ENDPOINTS_MAX] = {0}, w[ROS2_ENDPOINTS_MAX] = {0};                    \
        uint32_t k[2] = {0, 0};                                                                    \
        for (int i = 0; i < n->n_endpoints; i++) {                                                 \
            const bool writes = n->endpoints[i].writes;                                            \
            memcpy((writes ? w : r)[k[writes]++].data, n->endpoints[i].guid, 16);                  \
        }                                                                                          \
        prefix##_NodeEntitiesInfo_ node = {.reader_gid_seq = {k[0], k[0], r, false},               \
                                           .writer_gid_seq = {k[1], k[1], w, false}};              \
        snprintf(node.node_namespace, sizeof node.node_namespace, "%s",                            \
                 *c->shown.ns ? c->shown.ns : "/");                                                \
        snprintf(node.node_name, sizeof node.node_name, "%s", c->shown.node);                      \
        prefix##_ParticipantEntitiesInfo_ m = {.node_entities_info_seq = {1, 1, &node, false}};    \
        memcpy(m.gid.data, mine.v, sizeof mine.v);                                                 \
        dds_write(n->info_w, &m);                                                                  \
    } while (0)

int ros2_node_tell(ros2_node *n, const ros2_config *c, pons_error *err)
{
    const ros2_qos kept = {.reliable = true, .transient = true, .depth = 1};
    dds_guid_t mine;
    n->n_shown = n->n_endpoints;
    if (n->info_w <= 0) {
        n->info_w = ros2_node_writer(
            n, "", "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
            c->jazzy ? &rmw_dds_common_msg_dds__ParticipantEntitiesInfo__desc
                     : &humble_ParticipantEntitiesInfo__desc,
            kept, err);
        n->n_endpoints -= n->info_w > 0; // it is the participant's, not the node's
    }
    if (n->info_w <= 0) {
        return PONS_EENV;
    }
    dds_get_guid(n->participant, &mine);
    if (c->jazzy) {
        TELL(rmw_dds_common_msg_dds_);
    } else {
        TELL(humble);
    }
    return PONS_OK;
}
