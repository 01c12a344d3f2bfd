// ext/mqtt.h - the contract of an MQTT client: messages go out, events come back.
//
// One implementation, the module mqtt-mosquitto (src/vda5050/mosquitto): a thread of its own, which
// connects, and connects again after a second and then ever longer, up to half a minute. A client has
// a descriptor to wait on:
//
//     user: publish --> its thread <--> broker
//     user: event_fd, next <-- CONNECTED, MESSAGE…, LOST
//
// All functions but open and close are for any thread and wait for nobody. Events come in their order. Of messages that
// nobody takes, those beyond PONS_MQTT_UNREAD_MAX are dropped, and an event TOO_MUCH for each topic says how many; but
// what `stops` has as much room of its own, which nothing else can fill. Nothing is dropped for its length: of what is
// longer than message_max there is the event, without its data.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_MQTT_ABI        2u
#define PONS_MQTT_UNREAD_MAX 64 // messages

typedef enum pons_mqtt_event_kind {
    PONS_MQTT_CONNECTED, // and subscribed; before any message
    PONS_MQTT_LOST,      // there is no connection; text says why. Another try follows by itself
    PONS_MQTT_MESSAGE,   // topic, data, n, retained, stops
    PONS_MQTT_TOO_MUCH   // topic; n messages of it were dropped
} pons_mqtt_event_kind;

typedef struct pons_mqtt_event { // the receiver clears
    pons_mqtt_event_kind kind;
    char *topic;
    char *data; // ends with a zero that n does not count; NULL: n is more than message_max
    size_t n;
    bool stops;    // it was let in as one that does
    bool retained; // the broker had kept it from before
    char text[160];
} pons_mqtt_event;

typedef struct pons_mqtt_options { // copied by open
    const char *host;
    uint16_t port;
    const char *client;          // its id at the broker
    const char *user, *password; // NULL: none
    bool tls;
    const char *ca_file, *cert_file, *key_file; // NULL: the system's list, none, none
    unsigned keepalive_s;
    const char *const *topics; // subscribed at every connection, NULL at the end
    // What the broker publishes when the connection breaks; quality 1, retained.
    const char *will_topic, *will;
    size_t message_max; // bytes
    // Whether a message stops something. Asked on the client's thread of messages for which there is no room. NULL: none.
    bool (*stops)(void *user, const char *topic, const char *data, size_t n);
    void *stops_user;
} pons_mqtt_options;

typedef struct pons_mqtt_ops {
    uint32_t abi; // PONS_MQTT_ABI
    // PONS_EINVAL: an option that cannot be; PONS_EENV: no thread, no descriptor, no such certificate.
    int (*open)(const pons_mqtt_options *o, void **ret_self, pons_error *err);
    // Says goodbye, so that there is no will; what was published before goes out first, for at most two
    // seconds. NULL-safe.
    void (*close)(void *self);
    int (*event_fd)(void *self); // readable while events wait
    bool (*next)(void *self, pons_mqtt_event *ret);
    // PONS_ECLOSED while there is no connection: nothing is kept for later.
    int (*publish)(void *self, const char *topic, const char *data, size_t n, int quality,
                   bool retain, pons_error *err);
} pons_mqtt_ops;

PONS_C_END
