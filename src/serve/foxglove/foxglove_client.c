// foxglove_client.c - what a client of the room says: subscriptions, and poses that it publishes.
//
// A pose on /goal_pose or /move_base_simple/goal (what Foxglove's and RViz's tools for a goal publish)
// is the words "go to X Y", said by a person: it goes the way of every goal. One on /initialpose, or
// with a covariance, tells the robot where it is. Both are an operator's, in the frame `map`.
#include "pons/log.h"
#include "serve/foxglove/foxglove_protocol.h"
#include "serve/foxglove/room.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE  "foxglove"
#define FAR_M  1e6
#define TOPICS 64 // bytes of a topic that means something here

static void tell(const pons__fox_client *c, pons_http_socket *s, int level, const char *text)
{
    char *line = pons__wire_status(level, text);
    if (line) {
        c->f->s->http->socket_send(s, false, line, strlen(line));
    }
    free(line);
}

// ---- subscriptions ------------------------------------------------------------------------------

static int subscribe(pons__fox_client *c, const pons_value *one, pons_error *err)
{
    uint32_t id = 0, channel = 0;
    int rc = pons__wire_id(pons_get(one, "id"), &id, err);
    rc = rc < 0 ? rc : pons__wire_id(pons_get(one, "channelId"), &channel, err);
    if (rc < 0) {
        return rc;
    }
    pons__foxglove *f = c->f;
    pthread_mutex_lock(&f->mtx);
    const bool there = channel < f->n_channels && pons__fox_may_see(c, f->channels[channel].topic);
    bool taken = false;
    for (size_t i = 0; i < c->n; i++) {
        taken = taken || c->subs[i].id == id;
    }
    const bool room = c->n < PONS__FOXGLOVE_CHANNELS;
    if (there && !taken && room) {
        c->subs[c->n++] = (pons__fox_subscription){.id = id, .channel = channel, .fresh = true};
    }
    pthread_mutex_unlock(&f->mtx);
    if (!there) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there is no channel %u", channel);
    }
    return taken  ? pons_error_set(err, PONS_EINVAL, WHERE, "subscription %u is there already", id)
           : room ? PONS_OK
                  : pons_error_set(err, PONS_EINVAL, WHERE, "at most %d subscriptions",
                                   PONS__FOXGLOVE_CHANNELS);
}

static int unsubscribe(pons__fox_client *c, const pons_value *one, pons_error *err)
{
    uint32_t id = 0;
    bool found = false;
    const int rc = pons__wire_id(one, &id, err);
    if (rc < 0) {
        return rc;
    }
    pthread_mutex_lock(&c->f->mtx);
    for (size_t i = 0; i < c->n && !found; i++) {
        if (c->subs[i].id == id) {
            found = true;
            c->subs[i] = c->subs[--c->n];
        }
    }
    pthread_mutex_unlock(&c->f->mtx);
    return found ? PONS_OK
                 : pons_error_set(err, PONS_EINVAL, WHERE, "there is no subscription %u", id);
}

// ---- what it publishes --------------------------------------------------------------------------

static int offer(pons__fox_client *c, const pons_value *one, pons_error *err)
{
    uint32_t id = 0;
    const char *topic = pons_get_str(one, "topic", "");
    const int rc = pons__wire_id(pons_get(one, "id"), &id, err);
    if (rc < 0) {
        return rc;
    }
    if (c->role < PONS__OPERATOR) {
        return pons_error_set(err, PONS_EREFUSED, WHERE, "a viewer publishes nothing");
    }
    if (strcmp(pons_get_str(one, "encoding", ""), "json") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "%.60s: messages are taken as json", topic);
    }
    const pons__fox_offer o = {.id = id,
                               .goal = strcmp(topic, "/goal_pose") == 0 ||
                                       strcmp(topic, "/move_base_simple/goal") == 0,
                               .place = strcmp(topic, "/initialpose") == 0};
    size_t at = 0;
    while (at < c->n_offers && c->offers[at].id != id) {
        at++;
    }
    if (at == PONS__FOXGLOVE_CHANNELS) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "at most %d channels",
                              PONS__FOXGLOVE_CHANNELS);
    }
    c->offers[at] = o;
    c->n_offers += at == c->n_offers;
    return PONS_OK;
}

static int withdraw(pons__fox_client *c, const pons_value *one, pons_error *err)
{
    uint32_t id = 0;
    const int rc = pons__wire_id(one, &id, err);
    for (size_t i = 0; rc >= 0 && i < c->n_offers; i++) {
        if (c->offers[i].id == id) {
            c->offers[i] = c->offers[--c->n_offers];
        }
    }
    return rc;
}

static double number(const pons_value *of, const char *key)
{
    const pons_value *v = pons_get(of, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

// A PoseStamped, or a PoseWithCovarianceStamped.
static int pose_of(const pons_value *m, double ret[3], pons_error *err)
{
    const pons_value *pose = pons_get(m, "pose");
    pose = pons_get(pose, "pose") ? pons_get(pose, "pose") : pose;
    const pons_value *at = pons_get(pose, "position"), *q = pons_get(pose, "orientation");
    const char *frame = pons_get_str(pons_get(m, "header"), "frame_id", "");
    const double z = number(q, "z"), w = number(q, "w");
    if (strcmp(frame, "map") != 0 && strcmp(frame, "/map") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "a pose is in the frame map, not in '%.60s'",
                              frame);
    }
    ret[0] = number(at, "x");
    ret[1] = number(at, "y");
    ret[2] = 2.0 * atan2(z, w);
    if (!(fabs(ret[0]) <= FAR_M) || !(fabs(ret[1]) <= FAR_M) || !isfinite(ret[2]) ||
        hypot(z, w) < 1e-3) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "a pose has a position and an orientation, in numbers");
    }
    return PONS_OK;
}

static int publish(pons__fox_client *c, const char *data, size_t n, char ret_done[128],
                   pons_error *err)
{
    uint32_t id = 0;
    const char *json = NULL;
    size_t json_n = 0;
    double pose[3] = {0};
    pons_autovalue message = NULL;
    pons_autovalue said = NULL;
    const pons_serve_host *host = &c->f->s->o.host;
    int rc = pons__wire_published(data, n, &id, &json, &json_n, err);
    const pons__fox_offer *o = NULL;
    for (size_t i = 0; rc >= 0 && i < c->n_offers; i++) {
        o = c->offers[i].id == id ? &c->offers[i] : o;
    }
    if (rc >= 0 && !o) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "channel %u was not advertised", id);
    }
    if (rc >= 0 && !o->goal && !o->place) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "only poses are taken: on /goal_pose, /move_base_simple/goal and "
                              "/initialpose");
    }
    rc = rc < 0 ? rc : pons_value_parse(json, json_n, &message, err);
    rc = rc < 0 ? rc : pose_of(message, pose, err);
    if (rc < 0) {
        return rc;
    }
    if (o->place) {
        snprintf(ret_done, 128, "the robot is told that it is at %.2f, %.2f", pose[0], pose[1]);
        return host->place(host->user, pose[0], pose[1], pose[2], err);
    }
    char words[TOPICS];
    snprintf(words, sizeof words, "go to %.3f %.3f", pose[0], pose[1]);
    snprintf(ret_done, 128, "a goal: %s", words);
    return host->say(host->user, c->f->s->o.thread, words, &said, err);
}

// ---- the socket's thread ------------------------------------------------------------------------

static int command(pons__fox_client *c, const pons_value *v, pons_error *err)
{
    pons__wire_op op;
    const pons_value *list = NULL;
    int (*const each[])(pons__fox_client *, const pons_value *, pons_error *) = {
        [PONS__WIRE_SUBSCRIBE] = subscribe,
        [PONS__WIRE_UNSUBSCRIBE] = unsubscribe,
        [PONS__WIRE_ADVERTISE] = offer,
        [PONS__WIRE_UNADVERTISE] = withdraw,
    };
    int rc = pons__wire_read(v, &op, &list, err);
    if (rc >= 0 && op == PONS__WIRE_OTHER) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "%.60s is not offered here",
                              pons_get_str(v, "op", ""));
    }
    for (size_t i = 0; i < json_array_size(list); i++) { // one that is wrong spoils no other
        pons_error one = PONS_ERROR_INIT;
        if (each[op](c, json_array_get(list, i), &one) < 0) {
            *err = one;
            rc = one.status;
        }
    }
    return rc;
}

void pons__fox_message(void *client, pons_http_socket *s, bool binary, const char *data, size_t n)
{
    pons__fox_client *c = client;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = NULL;
    char done[128] = "", line[512];
    int rc = PONS_OK;
    if (binary) {
        rc = publish(c, data, n, done, &err);
    } else {
        rc = pons_value_parse(data, n, &v, &err);
        rc = rc < 0 ? rc : command(c, v, &err);
    }
    if (rc < 0) {
        tell(c, s, 2, pons_error_line(&err, line, sizeof line));
    } else if (*done) {
        pons_log(PONS_LOG_INFO, PONS__SERVE, "foxglove: %s", done);
        tell(c, s, 0, done);
    }
    pons__fox_wake(c->f);
}

void pons__fox_over(void *client, pons_http_socket *s)
{
    pons__fox_client *c = client;
    pons__foxglove *f = c->f;
    pthread_mutex_lock(&f->mtx);
    c->over = true;
    pthread_mutex_unlock(&f->mtx);
    pons__fox_wake(f);
}
