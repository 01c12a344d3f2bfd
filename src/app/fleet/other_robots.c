// other_robots.c - robots of a fleet in each other's simulated worlds.
//
// Each body of a simulated robot has a world of its own, so its lidar would go through its neighbours.
// An observer of each body puts the nearest of the others into that world as obstacles (`world.spawn`),
// one in each of SLOTS places, and moves them there as they move: at their last known pose also while
// their own body is away, as a robot that has died stands where it is. One that was carried away
// (`clear`) is in nobody's world. A real robot is told nothing: it sees the others itself.
//
// The ids of the obstacles are those of the places, so whatever the world has kept of an earlier life is
// moved, or taken away, by the first words of this one.
#include "app/fleet/other_robots.h"

#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS      10 // of a simulated world's 16: people and boxes have room
#define SEEN_M     10.0
#define MOVED_M    0.05
#define CONNECT_MS 2000
#define SIDE       1.77 // of a square as large as a circle of radius 1

typedef enum slot_state {
    SLOT_UNKNOWN, // there may be something of an earlier life
    SLOT_EMPTY,
    SLOT_TAKEN
} slot_state;

typedef struct slot {
    slot_state state;
    size_t who;
    double x, y;
} slot;

typedef struct world {
    pons_link *link;
    int64_t tried_ms;
    bool received, simulated; // its hello
    double radius_m;
    slot slots[SLOTS];
} world;

typedef struct neighbour {
    size_t who;
    double m;
} neighbour;

struct app_others {
    world *worlds;
    double *x, *y; // as known last; NAN: never seen, or carried away
    neighbour *near;
    size_t n;
};

app_others *app_others_create(size_t n)
{
    app_others *o = pons_need_zeroed(1, sizeof *o);
    o->n = n;
    o->worlds = pons_need_zeroed(n + 1, sizeof *o->worlds);
    o->x = pons_need((n + 1) * sizeof *o->x);
    o->y = pons_need((n + 1) * sizeof *o->y);
    o->near = pons_need((n + 1) * sizeof *o->near);
    for (size_t i = 0; i < n; i++) {
        o->x[i] = o->y[i] = NAN;
        o->worlds[i].tried_ms = INT64_MIN / 2;
    }
    return o;
}

void app_others_destroy(app_others *o)
{
    if (o) {
        for (size_t i = 0; i < o->n; i++) {
            pons_link_close(o->worlds[i].link);
        }
        free(o->worlds);
        free(o->x);
        free(o->y);
        free(o->near);
        free(o);
    }
}

static int nearer(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;
    return x->m < y->m ? -1 : x->m > y->m ? 1 : (x->who > y->who) - (x->who < y->who);
}

// Puts a robot into a place of the world; who is o->n: nobody.
static void tell(world *w, size_t at, const app_others *o, size_t who)
{
    slot *s = &w->slots[at];
    char id[16];
    snprintf(id, sizeof id, "fleet-%zu", at);
    pons_message m = {.type = PONS_MESSAGE_SPAWN, .as.spawn = {.id = id, .remove = who == o->n}};
    if (who == o->n && s->state == SLOT_EMPTY) {
        return;
    }
    if (who < o->n) {
        if (s->state == SLOT_TAKEN && s->who == who &&
            hypot(o->x[who] - s->x, o->y[who] - s->y) < MOVED_M) {
            return;
        }
        const double radius = o->worlds[who].received ? o->worlds[who].radius_m : w->radius_m;
        m.as.spawn = (pons_message_spawn){.id = id,
                                          .x = o->x[who],
                                          .y = o->y[who],
                                          .yaw = NAN,
                                          .sx = SIDE * radius,
                                          .sy = SIDE * radius,
                                          .height = NAN};
        *s = (slot){SLOT_TAKEN, who, o->x[who], o->y[who]};
    } else {
        m.as.spawn.x = m.as.spawn.y = m.as.spawn.yaw = NAN;
        m.as.spawn.sx = m.as.spawn.sy = m.as.spawn.height = NAN;
        s->state = SLOT_EMPTY;
    }
    pons_error none = PONS_ERROR_INIT;
    if (pons_message_send(w->link, &m, &none) < 0) {
        pons_link_close(w->link);
        w->link = NULL;
        w->received = false;
    }
}

// The nearest ones; who is in a place keeps it while it is among them.
static void show_in(app_others *o, size_t i)
{
    world *w = &o->worlds[i];
    size_t n = 0;
    for (size_t k = 0; k < o->n && isfinite(o->x[i]); k++) {
        const double m = k == i ? INFINITY : hypot(o->x[k] - o->x[i], o->y[k] - o->y[i]);
        if (m <= SEEN_M) { // not for NAN
            o->near[n++] = (neighbour){k, m};
        }
    }
    if (n > 1) {
        qsort(o->near, n, sizeof *o->near, nearer);
    }
    n = n < SLOTS ? n : SLOTS;
    bool placed[SLOTS] = {false};
    for (size_t s = 0; s < SLOTS; s++) {
        size_t k = 0;
        while (k < n && o->near[k].who != w->slots[s].who) {
            k++;
        }
        if (w->slots[s].state == SLOT_TAKEN && k < n) {
            placed[k] = true;
        } else if (w->slots[s].state == SLOT_TAKEN) {
            w->slots[s].state = SLOT_UNKNOWN;
        }
    }
    size_t k = 0;
    for (size_t s = 0; s < SLOTS && w->link; s++) {
        if (w->slots[s].state == SLOT_TAKEN) {
            tell(w, s, o, w->slots[s].who);
            continue;
        }
        while (k < n && placed[k]) {
            k++;
        }
        tell(w, s, o, k < n ? o->near[k++].who : o->n);
    }
}

// Whether somebody is there who has said what it is. What else a body says is not for us.
static bool listens(world *w, const app_unit *u, int64_t now_ms)
{
    pons_error none = PONS_ERROR_INIT;
    if (!w->link && u->connected && now_ms - w->tried_ms >= CONNECT_MS) {
        const pons_message hello = {
            .type = PONS_MESSAGE_HELLO,
            .as.hello = {.protocol = PONS_LINK_PROTOCOL, .role = "observer", .name = "pons fleet"}};
        w->tried_ms = now_ms;
        w->received = w->simulated = false;
        memset(w->slots, 0, sizeof w->slots); // SLOT_UNKNOWN
        if (app_body_link(&u->own, &w->link, &none) < 0 ||
            pons_message_send(w->link, &hello, &none) < 0) {
            pons_link_close(w->link);
            w->link = NULL;
        }
    }
    int rc = w->link ? 1 : 0;
    while (rc > 0) {
        pons_value *message = NULL;
        rc = pons_link_recv(w->link, &message, &none);
        if (rc > 0 && !w->received && strcmp(pons_get_str(message, "type", ""), "hello") == 0) {
            pons_report r;
            w->received = pons_report_decode(message, &r, NULL) == PONS_OK;
            w->simulated = w->received && r.as.hello.simulated;
            w->radius_m = w->received ? r.as.hello.limits.radius_m : 0.0;
            pons_report_clear(&r);
        }
        pons_value_unref(message);
    }
    if (rc == PONS_ECLOSED || (w->link && pons_link_flush(w->link, &none) < 0)) {
        pons_link_close(w->link);
        w->link = NULL;
    }
    return w->link && w->received;
}

void app_others_show(app_others *o, const pons_fleet *fleet, const app_unit *units, size_t n,
                     int64_t now_ms)
{
    for (size_t i = 0; i < n; i++) {
        pons_fleet_view v;
        pons_fleet_look(fleet, (int32_t)i, &v);
        if (v.state == PONS_FLEET_UNSEEN) {
            o->x[i] = o->y[i] = NAN;
        } else if (units[i].connected && isfinite(units[i].x) && isfinite(units[i].y)) {
            o->x[i] = units[i].x;
            o->y[i] = units[i].y;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (listens(&o->worlds[i], &units[i], now_ms) && o->worlds[i].simulated) {
            show_in(o, i);
        }
    }
}
