// mosquitto.c - the module mqtt-mosquitto: ext/mqtt.h by libmosquitto, MQTT 3.1.1.
//
// One thread a client is in mosquitto_loop or waits before it tries again. What it hears goes into an
// event queue (pons/event_queue.h), so a user has one descriptor and no callback of another thread.
// publish is libmosquitto's own, which is made for other threads once it is told that there are some.
// Subscriptions are made at each connection, before CONNECTED is told. A message is acknowledged to the broker before
// anybody has read it; so what finds no room is counted by its topic, and told.
#include "pons/event_queue.h"
#include "pons/ext/mqtt.h"
#include "pons/module.h"

#include <errno.h>
#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALL          1u // the queue's events are all of one call
#define LOOP_MS       250
#define AGAIN_S       1
#define AGAIN_MAX_S   30
#define GOODBYE_MS    2000
#define KEEPALIVE_S   15
#define SUBSCRIBE_QOS 1

typedef struct client {
    struct mosquitto *mqtt;                                                   // const
    char *host;                                                               // const
    uint16_t port;                                                            // const
    unsigned keepalive_s;                                                     // const
    char **topics;                                                            // const
    size_t n_topics;                                                          // const
    size_t message_max;                                                       // const
    bool (*stops)(void *user, const char *topic, const char *data, size_t n); // const
    void *stops_user;                                                         // const
    pthread_t thread;
    pons_event_queue events;
    pthread_mutex_t mtx;
    pthread_cond_t news; // [mtx] closing
    bool closing;        // [mtx]
    atomic_bool connected;
    atomic_size_t unread[2]; // of what does not stop, and does
    atomic_size_t *dropped;  // (n_topics)
    atomic_int in_flight;    // published and not yet written, or answered
} client;

static void clear(void *event)
{
    pons_mqtt_event *e = event;
    free(e->topic);
    free(e->data);
}

static void push(client *c, const pons_mqtt_event *e)
{
    pons_event_queue_push(&c->events, CALL, e, false);
}

static void say_lost(client *c, const char *why)
{
    pons_mqtt_event e = {.kind = PONS_MQTT_LOST};
    snprintf(e.text, sizeof e.text, "%s", why);
    push(c, &e);
}

// ---- what libmosquitto says, on the client's thread ---------------------------------------------

static void on_connect(struct mosquitto *mqtt, void *user, int rc)
{
    client *c = user;
    if (rc != 0) {
        say_lost(c, mosquitto_connack_string(rc));
        return;
    }
    for (size_t i = 0; i < c->n_topics; i++) {
        mosquitto_subscribe(mqtt, NULL, c->topics[i], SUBSCRIBE_QOS);
    }
    atomic_store(&c->in_flight, 0);
    atomic_store(&c->connected, true);
    push(c, &(pons_mqtt_event){.kind = PONS_MQTT_CONNECTED});
}

static void on_disconnect(struct mosquitto *mqtt, void *user, int rc)
{
    client *c = user;
    if (atomic_exchange(&c->connected, false)) {
        say_lost(c, rc == 0 ? "disconnected" : "the connection broke");
    }
}

static void on_publish(struct mosquitto *mqtt, void *user, int mid)
{
    client *c = user;
    atomic_fetch_sub(&c->in_flight, 1);
}

static void drop(client *c, const char *topic)
{
    for (size_t i = 0; i < c->n_topics; i++) {
        if (strcmp(c->topics[i], topic) == 0 && atomic_fetch_add(&c->dropped[i], 1) == 0) {
            pons_event_queue_wake(&c->events);
        }
    }
}

static void on_message(struct mosquitto *mqtt, void *user, const struct mosquitto_message *m)
{
    client *c = user;
    const size_t n = m->payloadlen > 0 ? (size_t)m->payloadlen : 0;
    const bool fits = n <= c->message_max,
               full = atomic_load(&c->unread[0]) >= PONS_MQTT_UNREAD_MAX;
    pons_mqtt_event e = {.kind = PONS_MQTT_MESSAGE, .n = n, .retained = m->retain};
    e.stops = full && fits && !m->retain && c->stops && n > 0 &&
              c->stops(c->stops_user, m->topic, m->payload, n);
    if (full && (!e.stops || atomic_load(&c->unread[1]) >= PONS_MQTT_UNREAD_MAX)) {
        drop(c, m->topic);
        return;
    }
    e.topic = strdup(m->topic);
    e.data = fits ? malloc(n + 1) : NULL;
    if (!e.topic || (fits && !e.data)) {
        clear(&e);
        drop(c, m->topic);
        return;
    }
    if (fits) {
        memcpy(e.data, n > 0 ? m->payload : "", n);
        e.data[n] = '\0';
    }
    atomic_fetch_add(&c->unread[e.stops], 1);
    push(c, &e);
}

// ---- the thread ---------------------------------------------------------------------------------

static bool closing(client *c, unsigned wait_s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_s;
    pthread_mutex_lock(&c->mtx);
    int rc = 0;
    while (!c->closing && wait_s > 0 && rc == 0) {
        rc = pthread_cond_timedwait(&c->news, &c->mtx, &until);
    }
    const bool is = c->closing;
    pthread_mutex_unlock(&c->mtx);
    return is;
}

static const char *why(int rc)
{
    return rc == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(rc);
}

static void goodbye(client *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t until_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + GOODBYE_MS;
    for (int64_t ms = 0; atomic_load(&c->connected) && ms < until_ms;) {
        const bool said = atomic_load(&c->in_flight) <= 0;
        if (said) {
            mosquitto_disconnect(c->mqtt);
        }
        if (mosquitto_loop(c->mqtt, 50, 1) != MOSQ_ERR_SUCCESS || said) {
            break;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    }
}

static void *work(void *user)
{
    client *c = user;
    unsigned again_s = AGAIN_S;
    while (!closing(c, 0)) {
        int rc = mosquitto_connect(c->mqtt, c->host, c->port, (int)c->keepalive_s);
        if (rc != MOSQ_ERR_SUCCESS) {
            say_lost(c, why(rc));
        }
        while (rc == MOSQ_ERR_SUCCESS && !closing(c, 0)) {
            rc = mosquitto_loop(c->mqtt, LOOP_MS, 1);
            again_s = atomic_load(&c->connected) ? AGAIN_S : again_s;
        }
        if (closing(c, 0)) {
            goodbye(c);
            break;
        }
        on_disconnect(c->mqtt, c, rc);
        closing(c, again_s);
        again_s = again_s * 2 > AGAIN_MAX_S ? AGAIN_MAX_S : again_s * 2;
    }
    return NULL;
}

// ---- for the user -------------------------------------------------------------------------------

static void free_client(client *c)
{
    if (c->mqtt) {
        mosquitto_destroy(c->mqtt);
    }
    pons_event_queue_fini(&c->events);
    pthread_cond_destroy(&c->news);
    pthread_mutex_destroy(&c->mtx);
    for (size_t i = 0; i < c->n_topics; i++) {
        free(c->topics[i]);
    }
    free(c->topics);
    free(c->dropped);
    free(c->host);
    free(c);
    mosquitto_lib_cleanup();
}

static int set_up(client *c, const pons_mqtt_options *o, pons_error *err)
{
    int rc = MOSQ_ERR_SUCCESS;
    mosquitto_threaded_set(c->mqtt, true);
    mosquitto_int_option(c->mqtt, MOSQ_OPT_TCP_NODELAY, 1);
    if (o->user) {
        rc = mosquitto_username_pw_set(c->mqtt, o->user, o->password);
    }
    if (rc == MOSQ_ERR_SUCCESS && o->will_topic) {
        rc = mosquitto_will_set(c->mqtt, o->will_topic, (int)strlen(o->will), o->will, 1, true);
    }
    if (rc == MOSQ_ERR_SUCCESS && o->tls) {
        if (!o->ca_file) {
            mosquitto_int_option(c->mqtt, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
        }
        errno = 0;
        rc = mosquitto_tls_set(c->mqtt, o->ca_file, o->ca_file ? NULL : "/etc/ssl/certs",
                               o->cert_file, o->key_file, NULL);
        if (rc != MOSQ_ERR_SUCCESS) {
            return pons_error_set(err, PONS_EENV, "mqtt", "cannot use the certificates: %s",
                                  errno ? strerror(errno) : mosquitto_strerror(rc));
        }
    }
    mosquitto_connect_callback_set(c->mqtt, on_connect);
    mosquitto_disconnect_callback_set(c->mqtt, on_disconnect);
    mosquitto_publish_callback_set(c->mqtt, on_publish);
    mosquitto_message_callback_set(c->mqtt, on_message);
    return rc == MOSQ_ERR_SUCCESS ? PONS_OK
                                  : pons_error_set(err, PONS_EINVAL, "mqtt", "%s", why(rc));
}

static int copy(client *c, const pons_mqtt_options *o)
{
    size_t n = 0;
    while (o->topics && o->topics[n]) {
        n++;
    }
    c->host = strdup(o->host);
    c->topics = calloc(n + 1, sizeof *c->topics);
    c->dropped = calloc(n + 1, sizeof *c->dropped);
    for (; c->topics && c->dropped && c->n_topics < n; c->n_topics++) {
        c->topics[c->n_topics] = strdup(o->topics[c->n_topics]);
        if (!c->topics[c->n_topics]) {
            return PONS_ENOMEM;
        }
    }
    c->port = o->port;
    c->keepalive_s = o->keepalive_s ? o->keepalive_s : KEEPALIVE_S;
    c->message_max = o->message_max;
    c->stops = o->stops;
    c->stops_user = o->stops_user;
    return c->host && c->topics && c->dropped ? PONS_OK : PONS_ENOMEM;
}

static int open_client(const pons_mqtt_options *o, void **ret_self, pons_error *err)
{
    client *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, "mqtt", "no memory for a client");
    }
    pthread_condattr_t how;
    mosquitto_lib_init();
    pthread_mutex_init(&c->mtx, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&c->news, &how);
    pthread_condattr_destroy(&how);
    int rc = pons_event_queue_init(&c->events, sizeof(pons_mqtt_event), clear, err);
    if (rc >= 0 && (copy(c, o) < 0 || pons_event_queue_begin(&c->events, CALL) < 0 ||
                    !(c->mqtt = mosquitto_new(o->client, true, c)))) {
        rc = pons_error_set(err, PONS_ENOMEM, "mqtt", "no memory for a client");
    }
    rc = rc < 0 ? rc : set_up(c, o, err);
    if (rc >= 0 && pthread_create(&c->thread, NULL, work, c) != 0) {
        rc = pons_error_set(err, PONS_EENV, "mqtt", "cannot start a thread");
    }
    if (rc < 0) {
        free_client(c);
        return rc;
    }
    *ret_self = c;
    return PONS_OK;
}

static void close_client(void *self)
{
    client *c = self;
    if (!c) {
        return;
    }
    pthread_mutex_lock(&c->mtx);
    c->closing = true;
    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->mtx);
    pthread_join(c->thread, NULL);
    free_client(c);
}

static int event_fd(void *self)
{
    return ((client *)self)->events.fd;
}

static bool next(void *self, pons_mqtt_event *ret)
{
    client *c = self;
    if (pons_event_queue_next(&c->events, ret)) {
        if (ret->kind == PONS_MQTT_MESSAGE) {
            atomic_fetch_sub(&c->unread[ret->stops], 1);
        }
        return true;
    }
    for (size_t i = 0; i < c->n_topics; i++) {
        const size_t dropped = atomic_exchange(&c->dropped[i], 0);
        if (dropped > 0) {
            *ret = (pons_mqtt_event){
                .kind = PONS_MQTT_TOO_MUCH, .topic = strdup(c->topics[i]), .n = dropped};
            return true;
        }
    }
    return false;
}

static int publish(void *self, const char *topic, const char *data, size_t n, int quality,
                   bool retain, pons_error *err)
{
    client *c = self;
    if (!atomic_load(&c->connected)) {
        return pons_error_set(err, PONS_ECLOSED, "mqtt", "no connection");
    }
    atomic_fetch_add(&c->in_flight, 1);
    const int rc = mosquitto_publish(c->mqtt, NULL, topic, (int)n, data, quality, retain);
    if (rc != MOSQ_ERR_SUCCESS) {
        atomic_fetch_sub(&c->in_flight, 1);
        return pons_error_set(err, PONS_ECLOSED, "mqtt", "%s", why(rc));
    }
    return PONS_OK;
}

static const pons_mqtt_ops ops = {.abi = PONS_MQTT_ABI,
                                  .open = open_client,
                                  .close = close_client,
                                  .event_fd = event_fd,
                                  .next = next,
                                  .publish = publish};

PONS_MODULE_EXPORT("mqtt", "mosquitto", &ops);
