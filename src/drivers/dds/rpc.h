// rpc.h - one end of a ROS 2 service: requests go one way, replies the other, whichever RMW the peer has.
//
// In memory every request and every reply begins with `guid_, seq_`: which client, which of its requests. That is what
// rmw_cyclonedds writes. What other RMWs write goes through the module dds-fast (fastdds_services.h), where it is installed:
//
//     a client    is Cyclone's; once it meets a server that is not, and no other, Fast DDS carries its requests
//     a server    is Fast DDS's from the start, else Cyclone's: a client must never meet both
#pragma once

#include "drivers/dds/dds_node.h"
#include "drivers/dds/fastdds_services.h"

#include <stdatomic.h>

enum {
    RPC_CLIENTS = 64
}; // of a server, that are not Cyclone's: the last ones are known; and requests of a client

typedef struct ros2_rpc {
    ros2_node *n;
    char name[ROS2_NAME_MAX + 64]; // of the service
    const dds_topic_descriptor_t *asks, *answers;
    const char *answers_type; // its ROS name where it is not the descriptor's
    dds_entity_t w;           // Cyclone's; 0: a server of Fast DDS
    _Atomic dds_entity_t r;   // the same; 0 too: a client, while Fast DDS hears its answers
    bool serves;
    _Atomic(ros2_fast_end *) fast; // NULL: none
    _Atomic uint64_t
        known; // who hears it, as a number: asked about again when it is another one; 0: not asked
    _Atomic int kinds; // of these: 1 Cyclone's, 2 others
    bool misheard;     // a server: somebody asked who cannot be understood
    // Reader thread.
    int left;         // of this turn
    void *loan, *mem; // the sample that ros2_rpc_next gave: Cyclone's, or one of Fast DDS
    uint8_t clients[RPC_CLIENTS][16];
    int n_clients;
    int64_t asked_as[RPC_CLIENTS]; // a client: Fast DDS's number of a request
    int64_t asked
        [RPC_CLIENTS]; // a client: its own number of the request that Fast DDS numbers otherwise
} ros2_rpc;

// Opens a client or a server of the service. asks or answers NULL: PONS_ENOMEM, and err is set already. answers_type NULL: the
// descriptor's. The node owns and closes all of them.
int ros2_rpc_open(ros2_rpc *s, ros2_node *n, bool serves, const char *name,
                  const dds_topic_descriptor_t *asks, const dds_topic_descriptor_t *answers,
                  const char *answers_type, pons_error *err);
void ros2_rpc_close(ros2_rpc *s); // what was taken last; zeroed is fine
// Whether a server is there that receives this client's requests. Any thread. The reader thread discovers servers of another
// RMW.
bool ros2_rpc_there(ros2_rpc *s);
bool ros2_rpc_comes(ros2_rpc *s); // a server was discovered, and can be asked now or soon
void ros2_rpc_meet(ros2_rpc *s);  // matches a server of another RMW; reader thread, periodically
bool ros2_rpc_foreign(
    ros2_rpc *s); // all servers have an RMW that is not understood: nothing is sent
// Why no server matches: dds_node.h's reasons, or an RMW that is not understood. True: a server is there, but does not match.
bool ros2_rpc_why(ros2_rpc *s, char *ret, size_t cap);
// ret: how many peers receive its messages, and from how many it receives.
void ros2_rpc_peers(const ros2_rpc *s, int ret[2]);
uint64_t ros2_rpc_guid(const ros2_rpc *s); // how a client names itself in its requests
bool ros2_rpc_write(ros2_rpc *s, const void *message);
void ros2_rpc_flush(ros2_rpc *s); // waits up to 300 ms until its readers have what was written
// The next message, valid until the next call; NULL: there are no more for now. Reader thread.
const void *ros2_rpc_next(ros2_rpc *s);
#define ROS2_RPC_TAKE(rpc, type, var) for (const type *var; (var = ros2_rpc_next(rpc)) != NULL;)
