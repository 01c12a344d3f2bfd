// fastdds_services.h - services by Fast DDS: what the module dds-fast does for rpc.c.
//
// rmw_fastrtps says which request a reply is for in the inline QoS of the sample (the related sample identity of DDS-RPC),
// which Cyclone's C interface cannot access. So a participant of Fast DDS has these services. rmw_cyclonedds puts the
// identity in front of the message instead; a server here reads both forms, and answers in the form of the request.
//
// Bytes are CDR with its 4 bytes of encapsulation.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define ROS2_FAST_ABI 1u

typedef struct ros2_fast ros2_fast;
typedef struct ros2_fast_end ros2_fast_end; // a client or a server of one service

typedef struct ros2_fast_service {
    const char *topics[2], *types[2]; // as DDS names them: of requests, of replies
    const char
        *says[2]; // user data of the endpoints, as dds_node.c writes it: of requests, of replies
    bool serves;  // a server; else a client
} ros2_fast_service;

typedef struct ros2_fast_id { // which request
    uint8_t guid[16];         // of its client
    int64_t seq;
    bool
        in_front; // a server's: the client says it in front of the message, and is answered so; guid, seq: none
} ros2_fast_id;

typedef struct ros2_fast_ops {
    uint32_t abi; // ROS2_FAST_ABI
    // A participant. `came` is called on Fast DDS's threads whenever something has come. 0, or -1 and a line.
    int (*open)(uint32_t domain, void (*came)(void *user), void *user, ros2_fast **ret, char *why,
                size_t cap);
    void (*close)(ros2_fast *f);                                     // with all its ends; NULL-safe
    ros2_fast_end *(*end)(ros2_fast *f, const ros2_fast_service *s); // NULL: it cannot be made
    // How many peers each way: whom it writes to, whom it reads from; of a client only servers that are not Cyclone's. Any thread.
    void (*peers)(ros2_fast_end *e, int ret[2]);
    // A client's request, or a server's reply to `to`. The request's number; < 0: not written.
    int64_t (*write)(ros2_fast_end *e, const void *bytes, size_t n, const ros2_fast_id *to);
    // The next request, or the next reply to a request of this client; *ret is to be freed. False: there is none.
    bool (*take)(ros2_fast_end *e, void **ret, size_t *ret_n, ros2_fast_id *ret_id);
    void (*flush)(ros2_fast_end *e,
                  int ms); // waits so long at most until all peers have what was written
    void (*guids)(ros2_fast_end *e, uint8_t ret[2][16]); // of its writer, its reader
} ros2_fast_ops;

PONS_C_END
