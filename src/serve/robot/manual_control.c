// manual_control.c - a person's hand on the robot: steering, and telling it where it is.
//
//     POST /v1/drive {pilot, n, tick, v, w, let_go?}    ten times a second, while a finger is down
//     POST /v1/pose  {x, y, yaw}                        "you are here", as `pons body pose`
//
//     page --v, w--> seat --> the body's thread --steer--> drive_by_hand --> safety gate
//           <--tick--
//
// Driving is a goal that the brain has sent (`drive_by_hand`); here is only the way of the velocity,
// and three guards of it. The seat: one page at a time, by a name that it made up; another one gets it
// when the first has been silent for SEAT_MS. The number: a request that comes after a later one is
// dropped, since a browser's connections overtake each other. The tick: each reply has the server's
// clock, and a velocity counts only with one that is at most TICK_MS old; so what a network held back
// for a while and lets go at once moves nothing. Whatever does not come stops the robot: the skill
// takes what is older than 300 ms as zero.
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEAT_MS     1000
#define TICK_MS     600
#define PILOT_BYTES 64

struct pons__steering {
    pthread_mutex_t mtx;
    char pilot[PILOT_BYTES]; // [mtx] who has the seat; "": nobody yet
    int64_t received_ms;     // [mtx]
    int64_t n;               // [mtx] its newest number
};

int pons__steering_open(pons_serve *s, pons__steering **ret, pons_error *err)
{
    *ret = calloc(1, sizeof **ret);
    if (!*ret) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for the hand");
    }
    pthread_mutex_init(&(*ret)->mtx, NULL);
    return PONS_OK;
}

void pons__steering_close(pons__steering *h)
{
    if (h) {
        pthread_mutex_destroy(&h->mtx);
        free(h);
    }
}

typedef enum seat { TAKEN, LATE, MINE } seat;

static seat sit(pons__steering *h, const char *pilot, int64_t n, int64_t now)
{
    seat got = TAKEN;
    pthread_mutex_lock(&h->mtx);
    const bool same = strcmp(h->pilot, pilot) == 0;
    if (same || !h->pilot[0] || now - h->received_ms > SEAT_MS) {
        got = same && n <= h->n ? LATE : MINE;
    }
    if (got == MINE) {
        snprintf(h->pilot, sizeof h->pilot, "%s", pilot);
        h->received_ms = now;
        h->n = n;
    }
    pthread_mutex_unlock(&h->mtx);
    return got;
}

static int drive(pons__request *r)
{
    const char *pilot = pons_get_str(r->body, "pilot", "");
    const bool let_go = pons_get_bool(r->body, "let_go", false);
    const int64_t now = pons_now_ms(&r->s->o.clock);
    const int64_t tick = pons_get_int(r->body, "tick", 0);
    const bool fresh = tick > 0 && tick <= now && now - tick <= TICK_MS;
    const double v = fresh ? pons_get_num(r->body, "v", 0.0) : 0.0;
    const double w = fresh ? pons_get_num(r->body, "w", 0.0) : 0.0;
    switch (sit(r->s->steering, pilot, pons_get_int(r->body, "n", 0), now)) {
    case TAKEN:
        return pons__reply_error(r, 409, "another person steers");
    case LATE:
        return pons__reply_error(r, 409, "a later one was here already");
    case MINE:
        break;
    }
    if (!pons__live_steer(r->s->live, v, w, let_go)) {
        return pons__reply_error(r, 409, "nobody drives by hand now: say \"drive by hand\" first");
    }
    return pons__reply_json(
        r, 202, pons_object("tick", json_integer(now), "fresh", json_boolean(fresh), NULL));
}

static int pose(pons__request *r)
{
    const double x = pons_get_num(r->body, "x", 0.0), y = pons_get_num(r->body, "y", 0.0);
    const double yaw = pons_get_num(r->body, "yaw", 0.0);
    const int rc = r->s->o.host.place(r->s->o.host.user, x, y, yaw, &r->err);
    return pons__reply_result(
        r, rc, pons_object("x", json_real(x), "y", json_real(y), "yaw", json_real(yaw), NULL));
}

const pons__route pons__manual_control_routes[] = {
    {"POST", "/v1/drive", PONS__OPERATOR, drive},
    {"POST", "/v1/pose", PONS__OPERATOR, pose},
    {NULL, NULL, PONS__NOBODY, NULL},
};
