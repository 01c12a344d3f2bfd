// vda5050.c - a brain between a master control and its robot: the core's words to the brain, and back.
//
//     broker <--> mqtt-mosquitto <--> pons/vda5050.h <--want, ended--> tasks of the brain <--> body
//
// What the core wants is a task of the brain (app/session/keyed_task.h), at the priority `background`: a person's task
// goes before it. Its key is the core's. What the core wants kept is
// an item of the store ("vda5050", the thread), synced before anything follows from it.
//
// All of it is the session's loop thread's. A timer and the client's descriptor are behind one epoll.
#include "app/vda5050/vda5050.h"

#include "app/session/keyed_task.h"
#include "pons/ext/mqtt.h"
#include "pons/items.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "pons/vda5050.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ITEMS      "vda5050"
#define TICK_MS    100
#define HEARD_MAX  16   // messages between two looks at what is to be done
#define AGAIN_MS   3000 // after a plan, or a cancel, that was not heard
#define PLACE_MS   4000 // the body gives the disk two seconds
#define OLD_MS     2000 // telemetry that says nothing of now
#define TOPIC_MAX  512
#define PLAIN_PORT 1883
#define TLS_PORT   8883

struct app_vda5050 {
    const app_context *c;
    const pons_value *config;
    char thread[PONS_NAME_MAX];
    pons_clock clock;
    pons_brain *brain;
    pons_store store;
    pons_vda5050 *core;
    pons_schema *order, *actions;
    char topics[PONS_VDA5050_TOPICS][TOPIC_MAX];
    char host[256], password[512], paths[3][PATH_MAX];
    const pons_mqtt_ops *ops;
    void *client;
    int epoll, timer;
    bool refused; // the broker's reason was told
    int failed;
    pons_error why;
    // What is at work.
    char key[PONS_VDA5050_KEY_MAX];
    int64_t posted_ms, canceled_ms;
    // initPosition
    pons_link *place;
    int64_t place_ms;
};

// ---- for the core -------------------------------------------------------------------------------

static int keep(void *user, const pons_value *state, pons_error *err)
{
    app_vda5050 *v = user;
    const pons_items_options opts = {0};
    const pons_item_put how = {.ttl_ms = -1, .unsearched = true};
    pons_item_write *w = NULL;
    int rc = pons_items_write_put(&opts, pons_wall_ms(&v->clock), ITEMS, v->thread, state, &how, &w,
                                  err);
    rc = rc < 0 ? rc : v->store.ops->items_write(v->store.self, w, 1, PONS_SYNC_FULL, err);
    free(w);
    return rc;
}

static void publish(void *user, pons_vda5050_topic topic, const pons_value *message)
{
    app_vda5050 *v = user;
    const bool kept = topic == PONS_VDA5050_CONNECTION || topic == PONS_VDA5050_FACTSHEET;
    char *text = NULL;
    const long n = pons_value_line(message, &text);
    pons_error none = PONS_ERROR_INIT; // a connection that broke is told as an event
    if (n > 0) {
        v->ops->publish(v->client, v->topics[topic], text, (size_t)n,
                        topic == PONS_VDA5050_CONNECTION, kept, &none);
    }
    free(text);
}

static void place(void *user, double x, double y, double yaw)
{
    app_vda5050 *v = user;
    pons_error err = PONS_ERROR_INIT;
    pons_link_close(v->place);
    v->place = NULL;
    v->place_ms = pons_now_ms(&v->clock);
    const pons_message say = {.type = PONS_MESSAGE_SET_POSE,
                              .as.set_pose = {.x = x, .y = y, .yaw = yaw}};
    if (app_body_link(v->c, &v->place, &err) < 0 || pons_message_send(v->place, &say, &err) < 0) {
        pons_link_close(v->place);
        v->place = NULL; // poll_place says so
    }
}

// The body's own yes, or why there is none.
static void poll_place(app_vda5050 *v)
{
    pons_autovalue msg = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (v->place_ms == 0) {
        return;
    }
    bool ok = false, ended = !v->place || pons_now_ms(&v->clock) - v->place_ms > PLACE_MS;
    char why[200] = "the body did not answer";
    while (!ended && pons_link_recv(v->place, &msg, &err) > 0) {
        pons_report r = {.type = PONS_REPORT_NONE};
        if (pons_report_decode(msg, &r, NULL) == PONS_OK) {
            ok = r.type == PONS_REPORT_OK && strcmp(r.as.ok.re, "set_pose") == 0;
            ended = ok || r.type == PONS_REPORT_ERROR;
            if (r.type == PONS_REPORT_ERROR) {
                snprintf(why, sizeof why, "%s", r.as.error.message);
            }
        }
        pons_report_clear(&r);
        pons_value_unref(msg);
        msg = NULL;
    }
    if (ended) {
        pons_link_close(v->place);
        v->place = NULL;
        v->place_ms = 0;
        if (pons_vda5050_placed(v->core, ok, why, &v->why) < 0) {
            v->failed = v->why.status;
        }
    }
}

// ---- begun and over -----------------------------------------------------------------------------

// PONS_VDA5050_TOPICS: none that a master speaks on.
static pons_vda5050_topic topic_of(const app_vda5050 *v, const char *topic)
{
    for (int t = PONS_VDA5050_ORDER; topic && t <= PONS_VDA5050_INSTANT_ACTIONS; t++) {
        if (strcmp(topic, v->topics[t]) == 0) {
            return (pons_vda5050_topic)t;
        }
    }
    return PONS_VDA5050_TOPICS;
}

// The client's thread.
static bool stops(void *user, const char *topic, const char *data, size_t n)
{
    return pons_vda5050_stops(topic_of(user, topic), data, n);
}

// "mqtt://HOST[:PORT]"; an IPv6 address is in brackets.
static int read_broker(app_vda5050 *v, const char *url, pons_mqtt_options *o, pons_error *err)
{
    o->tls = strncmp(url, "mqtts://", 8) == 0;
    if (!o->tls && strncmp(url, "mqtt://", 7) != 0) {
        return app_bad(err, "--broker: '%s' is no mqtt://HOST[:PORT] or mqtts://HOST[:PORT]", url);
    }
    const char *at = url + (o->tls ? 8 : 7);
    const bool brackets = *at == '[';
    at += brackets;
    const size_t n = strcspn(at, brackets ? "]/@?#" : ":/@?#");
    const char *rest = at + n + (brackets && at[n] == ']');
    const size_t digits = *rest ? strspn(rest + 1, "0123456789") : 0;
    const long port = *rest ? strtol(rest + 1, NULL, 10) : o->tls ? TLS_PORT : PLAIN_PORT;
    if (n == 0 || n >= sizeof v->host || (*rest && *rest != ':')) {
        return app_bad(err, "--broker: '%s' is no mqtt://HOST[:PORT] or mqtts://HOST[:PORT]", url);
    }
    if ((*rest && (digits == 0 || rest[1 + digits])) || port < 1 || port > UINT16_MAX) {
        return app_bad(err, "--broker takes a port from 1 to %d, not '%s'", UINT16_MAX, rest + 1);
    }
    snprintf(v->host, sizeof v->host, "%.*s", (int)n, at);
    o->host = v->host;
    o->port = (uint16_t)port;
    return PONS_OK;
}

static const char *own_path(app_vda5050 *v, size_t i, const char *path)
{
    if (!path) {
        return NULL;
    }
    const int n = *path == '/' ? snprintf(v->paths[i], PATH_MAX, "%s", path)
                               : snprintf(v->paths[i], PATH_MAX, "%s/%s", v->c->workspace, path);
    return n < PATH_MAX ? v->paths[i] : path;
}

static int open_client(app_vda5050 *v, pons_error *err)
{
    char client[160];
    pons_mqtt_options o = {0};
    int rc = read_broker(v, pons_get_str(v->config, "broker", ""), &o, err);
    const pons_value *tls = pons_get(v->config, "tls");
    char hash[33];
    pons_autovalue named = json_string(v->topics[PONS_VDA5050_STATE]);
    pons_value_hash(named, hash);
    snprintf(client, sizeof client, "pons-%.16s",
             hash); // a second robot of the name throws the first out
    const char *const topics[] = {v->topics[PONS_VDA5050_ORDER],
                                  v->topics[PONS_VDA5050_INSTANT_ACTIONS], NULL};
    pons_autovalue will =
        pons_vda5050_connection(v->core, "CONNECTIONBROKEN", pons_wall_ms(&v->clock));
    char *text = NULL;
    pons_value_line(will, &text);
    o.client = client;
    o.user = pons_get_str(v->config, "user", NULL);
    o.password = *v->password ? v->password : NULL;
    o.ca_file = own_path(v, 0, pons_get_str(tls, "ca", NULL));
    o.cert_file = own_path(v, 1, pons_get_str(tls, "cert", NULL));
    o.key_file = own_path(v, 2, pons_get_str(tls, "key", NULL));
    o.topics = topics;
    o.will_topic = v->topics[PONS_VDA5050_CONNECTION];
    o.will = text;
    o.message_max = PONS_VDA5050_BYTES_MAX; // what is longer is refused, by its length
    o.stops = stops;
    o.stops_user = v;
    rc = rc < 0 ? rc : v->ops->open(&o, &v->client, err);
    free(text);
    return rc;
}

static int open_guest(void *user, pons_store store, pons_error *err)
{
    app_vda5050 *v = user;
    v->store = store;
    pons_autovalue before = NULL;
    pons_error none = PONS_ERROR_INIT;
    const pons_items items = {.store = store, .clock = v->clock};
    int rc = pons_items_get(&items, ITEMS, v->thread, &before, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    const pons_vda5050_options o = {.config = v->config,
                                    .kept = pons_get(before, "value"),
                                    .order = v->order,
                                    .actions = v->actions,
                                    .keep = keep,
                                    .publish = publish,
                                    .place = place,
                                    .user = v};
    rc = pons_vda5050_create(&o, &v->core, err);
    rc = rc < 0 ? rc : open_client(v, err);
    v->epoll = epoll_create1(EPOLL_CLOEXEC);
    v->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const struct itimerspec every = {.it_value.tv_nsec = TICK_MS * 1000000L,
                                     .it_interval.tv_nsec = TICK_MS * 1000000L};
    struct epoll_event in = {.events = EPOLLIN};
    if (rc >= 0 &&
        (v->epoll < 0 || v->timer < 0 || timerfd_settime(v->timer, 0, &every, NULL) < 0 ||
         epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->timer, &in) < 0 ||
         epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->ops->event_fd(v->client), &in) < 0)) {
        rc = pons_error_set(err, PONS_EENV, "vda5050", "no descriptor for a timer");
    }
    return rc;
}

static void close_guest(void *user)
{
    app_vda5050 *v = user;
    if (v->client) {
        pons_autovalue bye = pons_vda5050_connection(v->core, "OFFLINE", pons_wall_ms(&v->clock));
        publish(v, PONS_VDA5050_CONNECTION, bye);
        v->ops->close(v->client);
        v->client = NULL;
    }
    pons_link_close(v->place);
    v->place = NULL;
    if (v->epoll >= 0) {
        close(v->epoll);
    }
    if (v->timer >= 0) {
        close(v->timer);
    }
    v->epoll = v->timer = -1;
}

// ---- the brain's tasks --------------------------------------------------------------------------

static int post(app_vda5050 *v, const pons_vda5050_work *w, pons_error *err)
{
    char id[64], *args = NULL;
    const char *mark = strstr(w->key, "(vda5050 ");
    snprintf(id, sizeof id, "plan_vda_%.*s", (int)strcspn(mark ? mark + 9 : w->key, ")"),
             mark ? mark + 9 : w->key);
    for (char *p = id; *p; p++) {
        *p = *p == '.' ? '_' : *p;
    }
    if (pons_value_dump(w->args, &args) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "vda5050", "no memory for a plan");
    }
    const app_keyed_task task = {.id = id, .key = w->key, .skill = w->skill, .args = args};
    pons_plan *plan = NULL;
    pons_error no = PONS_ERROR_INIT;
    int rc = app_keyed_task_plan(&task, &v->clock, &plan, &no);
    free(args);
    if (rc < 0) { // what a master said makes no plan: that is its end
        return pons_vda5050_ended(v->core, v->key, false, no.message, err);
    }
    rc = pons_brain_add_plan(v->brain, plan, err);
    pons_plan_destroy(plan);
    return rc == PONS_EAGAIN ? PONS_OK : rc; // the store is away: it is tried again
}

static int cancel(app_vda5050 *v, const char *task, pons_error *err)
{
    const int64_t now = pons_now_ms(&v->clock);
    if (now - v->canceled_ms < AGAIN_MS) {
        return PONS_OK;
    }
    v->canceled_ms = now;
    const int rc = app_task_cancel(v->store, v->thread, task, "the master control", err);
    pons_brain_wake(v->brain);
    return rc;
}

static bool over(void *user)
{
    return ((app_vda5050 *)user)->failed < 0;
}

// Whether what is wanted is posted, at work, or over.
static int look(app_vda5050 *v, const pons_value *status, pons_error *err)
{
    pons_vda5050_work w;
    if (!pons_vda5050_want(v->core, &w)) {
        return PONS_OK;
    }
    if (strcmp(v->key, w.key) != 0) {
        snprintf(v->key, sizeof v->key, "%s", w.key);
        v->posted_ms = v->canceled_ms = 0;
    }
    bool over = false;
    const pons_value *mine = app_task_called(status, w.key, &over);
    if (mine && !over) {
        return w.cancel ? cancel(v, pons_get_str(mine, "id", ""), err) : PONS_OK;
    }
    if (mine) {
        return pons_vda5050_ended(v->core, v->key,
                                  strcmp(pons_get_str(mine, "status", ""), "succeeded") == 0,
                                  pons_get_str(mine, "reason", ""), err);
    }
    bool all_read = false;
    int rc = app_inbox_is_read(v->store, v->thread, &all_read, err);
    const int64_t now = pons_now_ms(&v->clock);
    const bool posted = v->posted_ms > 0 && now - v->posted_ms < AGAIN_MS;
    if (rc < 0 || !all_read || posted || !json_is_object(pons_get(status, "body"))) {
        return rc;
    }
    v->posted_ms = w.cancel ? v->posted_ms : now;
    return w.cancel ? pons_vda5050_ended(v->core, v->key, false, "cancelled", err)
                    : post(v, &w, err);
}

// ---- at work ------------------------------------------------------------------------------------

static int hear(app_vda5050 *v, const pons_mqtt_event *e, pons_error *err)
{
    const int64_t now = pons_now_ms(&v->clock), wall = pons_wall_ms(&v->clock);
    const pons_vda5050_topic topic = topic_of(v, e->topic);
    switch (e->kind) {
    case PONS_MQTT_CONNECTED:
        app_tell(v->c, "pons: connected with %s as %s", pons_get_str(v->config, "broker", ""),
                 v->topics[PONS_VDA5050_STATE]);
        v->refused = false;
        return pons_vda5050_online(v->core, true, now, wall, err);
    case PONS_MQTT_LOST:
        if (!v->refused) {
            app_tell(v->c, "pons: no connection with %s: %s; it is tried again",
                     pons_get_str(v->config, "broker", ""), e->text);
        }
        v->refused = true;
        return pons_vda5050_online(v->core, false, now, wall, err);
    case PONS_MQTT_MESSAGE:
        return topic == PONS_VDA5050_TOPICS
                   ? PONS_OK
                   : pons_vda5050_received(v->core, topic, e->data, e->n, e->retained, err);
    case PONS_MQTT_TOO_MUCH:
        app_tell(v->c, "pons: %zu messages of %s came faster than they are read", e->n,
                 e->topic ? e->topic : "");
        return topic == PONS_VDA5050_TOPICS ? PONS_OK
                                            : pons_vda5050_missed(v->core, topic, e->n, err);
    }
    return PONS_OK;
}

static bool is_ours(const char *text)
{
    return strstr(text, "(vda5050 ") != NULL;
}

// Somebody else's task, or the kernel's own: the master's wait.
static const char *away(const pons_value *status)
{
    const char *text = pons_get_str(pons_get(status, "active_task"), "text", NULL);
    if (strcmp(pons_get_str(status, "mode", ""), "CHARGE") == 0) {
        return "the battery is low: the robot charges first";
    }
    return text && !is_ours(text) ? "a person has given the robot something to do" : NULL;
}

static void see(app_vda5050 *v, const pons_value *status, pons_vda5050_seen *ret)
{
    const pons_value *hello = NULL, *telemetry = NULL;
    const int64_t age = pons_brain_body(v->brain, &hello, &telemetry);
    pons_report h = {0}, t = {0};
    *ret = (pons_vda5050_seen){.x = NAN, .y = NAN, .yaw = NAN, .battery_pct = NAN};
    if (hello && pons_report_decode(hello, &h, NULL) == PONS_OK) {
        ret->speed_max_mps = h.as.hello.limits.speed_max_mps;
        ret->brake_max_mps2 = h.as.hello.limits.brake_max_mps2;
        ret->radius_m = h.as.hello.limits.radius_m;
        ret->skills = pons_get(hello, "skills");
    }
    if (age >= 0 && age < OLD_MS && pons_report_decode(telemetry, &t, NULL) == PONS_OK) {
        const pons_report_telemetry *is = &t.as.telemetry;
        const char *place = is->localization.state;
        ret->connected = true;
        ret->x = is->pose.x;
        ret->y = is->pose.y;
        ret->yaw = is->pose.yaw;
        ret->placed = strcmp(place, "sure") == 0 || strcmp(place, "doubtful") == 0;
        ret->v = isfinite(is->twist.v) ? is->twist.v : 0.0;
        ret->w = isfinite(is->twist.w) ? is->twist.w : 0.0;
        ret->battery_pct = is->battery_pct;
        ret->charging = strcmp(is->battery_state, "charging") == 0;
        ret->latched = is->stop.latched;
        ret->near = is->collision_risk;
    }
    const pons_value *stop = pons_get(status, "stop"), *asks = pons_get(status, "approvals");
    ret->paused = pons_get_bool(status, "paused", false);
    ret->waits = json_is_object(pons_get(status, "stopped"));
    ret->why = away(status);
    ret->away = ret->why != NULL;
    ret->why = ret->latched  ? pons_get_str(stop, "reason", "a stop is latched")
               : ret->waits  ? "a stop was lifted: `pons continue` lets the tasks go on"
               : ret->paused ? "a person has paused the robot"
                             : ret->why;
    ret->question = pons_get_str(json_array_get(asks, 0), "question", NULL);
    const pons_value *holding = pons_get(telemetry, "holding");
    ret->has_load_device = holding != NULL && ret->connected;
    ret->holding = ret->has_load_device ? json_string_value(holding) : NULL;
    pons_report_clear(&h);
    pons_report_clear(&t);
}

static int turn(app_vda5050 *v, pons_error *err)
{
    uint64_t ticks = 0;
    pons_mqtt_event e;
    int rc = PONS_OK;
    for (int i = 0; rc >= 0 && i < HEARD_MAX && v->ops->next(v->client, &e); i++) {
        rc = hear(v, &e, err);
        free(e.topic);
        free(e.data);
    }
    const bool tick = read(v->timer, &ticks, sizeof ticks) == (ssize_t)sizeof ticks;
    if (rc < 0 || !tick) {
        return rc;
    }
    poll_place(v);
    pons_autovalue status = pons_brain_status(v->brain);
    pons_vda5050_seen seen;
    see(v, status, &seen);
    rc = look(v, status, err);
    return rc < 0 ? rc
                  : pons_vda5050_tick(v->core, &seen, pons_now_ms(&v->clock),
                                      pons_wall_ms(&v->clock), err);
}

static void work(void *user)
{
    app_vda5050 *v = user;
    if (v->failed >= 0) {
        v->failed = turn(v, &v->why);
    }
}

// ---- made and unmade ----------------------------------------------------------------------------

static int read_password(app_vda5050 *v, const char *file, pons_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", own_path(v, 0, file));
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return app_lacks(err, "cannot read the password in %s", path);
    }
    const ssize_t n = read(fd, v->password, sizeof v->password - 1);
    close(fd);
    if (st.st_mode & 077) {
        return app_lacks(err, "%s: others may read the password: `chmod 600` comes first", path);
    }
    v->password[n > 0 ? n : 0] = '\0';
    v->password[strcspn(v->password, "\r\n")] = '\0';
    return PONS_OK;
}

int app_vda5050_create(const app_context *c, const pons_value *config, const char *thread,
                       app_vda5050 **ret, pons_error *err)
{
    app_vda5050 *v = pons_need_zeroed(1, sizeof *v);
    v->c = c;
    v->config = config;
    v->clock = pons_clock_real();
    v->epoll = v->timer = -1;
    snprintf(v->thread, sizeof v->thread, "%s", thread);
    for (size_t i = 0; i < PONS_VDA5050_TOPICS; i++) {
        snprintf(v->topics[i], TOPIC_MAX, "%s/v2/%s/%s/%s", pons_get_str(config, "interface", ""),
                 pons_get_str(config, "manufacturer", ""), pons_get_str(config, "serial", ""),
                 pons_vda5050_topics[i]);
    }
    const void *ops = NULL;
    pons_mqtt_options o = {0};
    int rc = read_broker(v, pons_get_str(config, "broker", ""), &o, err);
    const char *file = pons_get_str(config, "password_file", NULL);
    rc = rc < 0 || !file ? rc : read_password(v, file, err);
    rc = rc < 0 ? rc : pons_schema_shipped("schemas/vda5050-order.json", &v->order, err);
    rc = rc < 0 ? rc : pons_schema_shipped("schemas/vda5050-actions.json", &v->actions, err);
    rc = rc < 0 ? rc : pons_module_load_of("mqtt", "mosquitto", PONS_MQTT_ABI, &ops, err);
    v->ops = ops;
    if (rc < 0) {
        app_vda5050_destroy(v, rc, err);
        return rc;
    }
    *ret = v;
    return PONS_OK;
}

int app_vda5050_destroy(app_vda5050 *v, int rc, pons_error *err)
{
    if (!v) {
        return rc;
    }
    if (v->failed < 0) {
        *err = v->why;
        rc = v->failed;
    }
    pons_schema_destroy(v->order);
    pons_schema_destroy(v->actions);
    pons_vda5050_destroy(v->core);
    free(v);
    return rc;
}

static void note_brain(void *user, pons_brain *brain)
{
    ((app_vda5050 *)user)->brain = brain;
}

static int fd_of(void *user)
{
    return ((app_vda5050 *)user)->epoll;
}

app_session_guest app_vda5050_guest(app_vda5050 *v)
{
    return (app_session_guest){.open = open_guest,
                               .brain = note_brain,
                               .close = close_guest,
                               .user = v,
                               .fd = fd_of,
                               .work = work,
                               .over = over};
}
