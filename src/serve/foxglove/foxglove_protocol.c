// foxglove_protocol.c - Foxglove's WebSocket protocol (foxglove.websocket.v1), as messages.
//
//     server, text     serverInfo, advertise {channels}, status
//     server, binary   1, u32 subscription, u64 nanoseconds since 1970, the message     little-endian
//     client, text     subscribe {subscriptions}, unsubscribe {subscriptionIds},
//                      advertise {channels}, unadvertise {channelIds}
//     client, binary   1, u32 channel, the message
//
// The protocol is Foxglove's, written down in its ws-protocol repository.
#include "serve/foxglove/foxglove_protocol.h"

#include <stdlib.h>
#include <string.h>

#define WHERE        "foxglove"
#define MESSAGE_DATA 1
#define HEAD         13 // bytes before a message
#define PUBLISHED    5

static char *line_of(pons_value *v)
{
    char *text = NULL;
    const long n = v ? pons_value_line(v, &text) : -1;
    pons_value_unref(v);
    return n < 0 ? NULL : text;
}

char *pons__wire_server_info(const char *name, const char *session, bool takes_goals)
{
    pons_value *can = json_array(), *encodings = json_array();
    if (takes_goals) {
        json_array_append_new(can, json_string("clientPublish"));
        json_array_append_new(encodings, json_string("json"));
    }
    return line_of(pons_object("op", json_string("serverInfo"), "name", pons_string(name),
                               "capabilities", can, "supportedEncodings", encodings, "metadata",
                               pons_object("pons", json_string(PONS_VERSION), NULL), "sessionId",
                               json_string(session), NULL));
}

char *pons__wire_advertise(uint32_t id, const char *topic, const char *schema_name,
                           const char *schema)
{
    pons_value *channel =
        pons_object("id", json_integer(id), "topic", pons_string(topic), "encoding",
                    json_string("json"), "schemaName", json_string(schema_name), "schemaEncoding",
                    json_string("jsonschema"), "schema", json_string(schema), NULL);
    return line_of(
        pons_object("op", json_string("advertise"), "channels", json_pack("[o]", channel), NULL));
}

char *pons__wire_status(int level, const char *text)
{
    return line_of(pons_object("op", json_string("status"), "level", json_integer(level), "message",
                               pons_string(text), NULL));
}

char *pons__wire_message(uint32_t subscription, int64_t ns, const char *json, size_t n,
                         size_t *ret_n)
{
    uint8_t *m = malloc(HEAD + n);
    if (!m) {
        return NULL;
    }
    m[0] = MESSAGE_DATA;
    for (size_t i = 0; i < 4; i++) {
        m[1 + i] = (uint8_t)(subscription >> 8 * i);
    }
    for (size_t i = 0; i < 8; i++) {
        m[5 + i] = (uint8_t)((uint64_t)ns >> 8 * i);
    }
    memcpy(m + HEAD, json, n);
    *ret_n = HEAD + n;
    return (char *)m;
}

int pons__wire_read(const pons_value *v, pons__wire_op *ret_op, const pons_value **ret,
                    pons_error *err)
{
    static const struct {
        const char *op, *list;
        pons__wire_op is;
    } known[] = {
        {"subscribe", "subscriptions", PONS__WIRE_SUBSCRIBE},
        {"unsubscribe", "subscriptionIds", PONS__WIRE_UNSUBSCRIBE},
        {"advertise", "channels", PONS__WIRE_ADVERTISE},
        {"unadvertise", "channelIds", PONS__WIRE_UNADVERTISE},
    };
    const char *op = pons_get_str(v, "op", "");
    *ret_op = PONS__WIRE_OTHER;
    *ret = NULL;
    if (!*op) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "a message has an `op`");
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(op, known[i].op) == 0) {
            *ret_op = known[i].is;
            *ret = pons_get(v, known[i].list);
            return json_is_array(*ret) ? PONS_OK
                                       : pons_error_set(err, PONS_EINVAL, WHERE,
                                                        "%s has a list, `%s`", op, known[i].list);
        }
    }
    return PONS_OK;
}

int pons__wire_id(const pons_value *v, uint32_t *ret, pons_error *err)
{
    const json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;
    if (n < 0 || n > (json_int_t)UINT32_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "an id is a number from 0 to %u",
                              UINT32_MAX);
    }
    *ret = (uint32_t)n;
    return PONS_OK;
}

int pons__wire_published(const char *data, size_t n, uint32_t *ret_channel, const char **ret_json,
                         size_t *ret_n, pons_error *err)
{
    const uint8_t *m = (const uint8_t *)data;
    if (n < PUBLISHED || m[0] != MESSAGE_DATA) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "a binary message that is none of a channel");
    }
    *ret_channel =
        (uint32_t)m[1] | (uint32_t)m[2] << 8 | (uint32_t)m[3] << 16 | (uint32_t)m[4] << 24;
    *ret_json = data + PUBLISHED;
    *ret_n = n - PUBLISHED;
    return PONS_OK;
}
