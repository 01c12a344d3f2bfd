// foxglove_protocol.h - Foxglove's WebSocket protocol, as messages.
#pragma once

#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PONS__FOXGLOVE_SUBPROTOCOL "foxglove.websocket.v1"

// What a server says: one line of JSON each (malloc); NULL without memory.
char *pons__wire_server_info(const char *name, const char *session, bool takes_goals);
char *pons__wire_advertise(uint32_t id, const char *topic, const char *schema_name,
                           const char *schema);
// level: 0 information, 1 warning, 2 error.
char *pons__wire_status(int level, const char *text);
// A message of a channel, as a subscription has it (malloc): *ret_n bytes.
char *pons__wire_message(uint32_t subscription, int64_t ns, const char *json, size_t n,
                         size_t *ret_n);

typedef enum pons__wire_op {
    PONS__WIRE_OTHER, // what this server has not offered
    PONS__WIRE_SUBSCRIBE,
    PONS__WIRE_UNSUBSCRIBE,
    PONS__WIRE_ADVERTISE,
    PONS__WIRE_UNADVERTISE,
} pons__wire_op;

// What a client says. *ret: the list that belongs to it, borrowed from v. PONS_EINVAL.
int pons__wire_read(const pons_value *v, pons__wire_op *ret_op, const pons_value **ret,
                    pons_error *err);
// A number that names something: PONS_EINVAL when it is none.
int pons__wire_id(const pons_value *v, uint32_t *ret, pons_error *err);
// A client's binary message: the channel that it advertised, and its text, borrowed.
int pons__wire_published(const char *data, size_t n, uint32_t *ret_channel, const char **ret_json,
                         size_t *ret_n, pons_error *err);
