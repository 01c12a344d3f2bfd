// fleet_run.c - the orchestrator of a fleet, and a brain for each robot, in one process.
//
// The store's thread "fleet" is whose lease it has: one orchestrator leads, others wait (--standby) or are
// refused. What the core wants kept is committed under that lease before the command that follows from
// it: tasks, legs, what each robot was given. Words of other processes (assign, cancel, settle, clear)
// come by the thread's inbox, and are taken in the commit that makes them true.
#include "app/fleet/running.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS       500
#define WAIT_MS       50
#define STANDBY_MS    1000
#define FDS_MAX       256
#define OFF_M         1.0 // from the zone where it is said to be
#define KEEP_MORE_PCT 5.0
#define LOW_MORE_PCT  20.0

// ---- begun --------------------------------------------------------------------------------------

static int open_parts(app_fleet_running *r, pons_error *err)
{
    r->robots = pons_need_zeroed(r->file.n + 1, sizeof *r->robots);
    r->units = pons_need_zeroed(r->file.n + 1, sizeof *r->units);
    r->others = app_others_create(r->file.n);
    for (size_t i = 0; i < r->file.n; i++) {
        if (r->file.robots[i].enabled) {
            r->robots[r->n++] = r->file.robots[i].is;
        }
    }
    int rc = app_config(r->c, &r->config, err);
    pons_fleet_options o = PONS_FLEET_OPTIONS_INIT;
    o.map = r->map;
    o.moving_max = 1.0;
    // A brain whose battery is at charge_pct goes to a charger by itself, whoever has the zones on the way.
    const double charge_pct = pons_get_num(pons_get(r->config, "battery"), "charge_pct", 20.0);
    o.keep_pct = charge_pct + KEEP_MORE_PCT;
    o.low_pct = charge_pct + LOW_MORE_PCT;
    o.command = app_fleet_on_command;
    o.task = app_fleet_on_task;
    o.leg = app_fleet_on_leg;
    o.user = r;
    rc = rc < 0 ? rc : pons_fleet_create(&o, r->robots, r->n, &r->fleet, err);
    rc = rc < 0 ? rc : app_policy(r->c, &r->policy, err);
    return rc < 0 ? rc : app_fleet_files_open(&r->file, &r->files, err);
}

static void close_parts(app_fleet_running *r, bool lost)
{
    for (size_t i = 0; i < r->opened; i++) {
        app_unit_close(&r->units[i], lost);
    }
    app_others_destroy(r->others);
    app_fleet_files_close(r->files);
    pons_fleet_destroy(r->fleet);
    pons_fleet_map_destroy(r->map);
    pons_rules_close(&r->policy);
    pons_value_unref(r->config);
    pons_value_unref(r->works);
    if (r->leads) {
        r->store.ops->lease_release(r->store.self, &r->lease);
    }
    pons_store_close(&r->store);
    app_fleet_free(&r->file);
    free(r->robots);
    free(r->units);
    free(r->now_text);
}

// The store is away or full, which passes; the lead, for one who waits for it.
static bool comes_back(int rc, const app_fleet_run_options *h)
{
    return rc == PONS_EIO || rc == PONS_EENV || (rc == PONS_ESTALE && h->standby);
}

static int lead(app_fleet_running *r, pons_error *err)
{
    for (bool said = false; !*r->how->ended; said = true) {
        const int rc = r->store.ops->lease_acquire(r->store.self, APP_FLEET_THREAD, &r->lease, err);
        if (rc >= 0) {
            r->leads = true;
            return rc;
        }
        if (rc != PONS_EBUSY || !r->how->standby) {
            return rc == PONS_EBUSY ? app_unreached(err) : rc;
        }
        if (!said) {
            app_tell(r->c, "another orchestrator leads: %s; this one waits", err->message);
        }
        poll(NULL, 0, STANDBY_MS);
    }
    return PONS_OK;
}

// ---- at work ------------------------------------------------------------------------------------

static void hinder(app_fleet_running *r, size_t i)
{
    const app_unit *u = &r->units[i];
    pons_fleet_hinder(r->fleet, (int32_t)i, u->hindered || *u->barred, pons_wall_ms(&r->clock));
}

// Where it is by its own word, unless its pose is somewhere else.
static void hear(app_fleet_running *r, size_t i)
{
    const app_unit *u = &r->units[i];
    const pons_fleet_zone *at = pons_fleet_map_zone(r->map, (size_t)u->at);
    const bool moves = u->open && u->kind == PONS_FLEET_MOVE;
    pons_fleet_report report = {.robot = (int32_t)i,
                                .now_ms = pons_wall_ms(&r->clock),
                                .zone = u->at,
                                .next = moves ? u->to : -1,
                                .battery_pct = u->battery_pct};
    double m = 0.0;
    if (!moves && hypot(u->x - at->x, u->y - at->y) > OFF_M) {
        report.zone = pons_fleet_map_near(r->map, u->x, u->y, &m);
    }
    pons_fleet_hear(r->fleet, &report);
    hinder(r, i); // before anything is given to one who was just met
}

static int step_units(app_fleet_running *r, pons_error *err)
{
    for (size_t i = 0; i < r->n && r->failed >= 0; i++) { // what was not kept is said to nobody
        app_unit *u = &r->units[i];
        const int rc = app_unit_poll(u, r->map, err);
        if (rc < 0) {
            return rc;
        }
        hinder(r, i);
        if (u->stays) {
            pons_autovalue kept = app_unit_value(u, r->map);
            u->stays = false;
            app_fleet_must(r, APP_FLEET_ROBOTS, u->robot->is.id, kept, -1, true);
            pons_fleet_stay(r->fleet, (int32_t)i, pons_wall_ms(&r->clock));
        }
        if (!u->reported) {
            continue;
        }
        u->reported = false;
        pons_autovalue v = app_unit_value(u, r->map);
        app_fleet_must(r, APP_FLEET_ROBOTS, u->robot->is.id, v, -1, true);
        if (u->kind == PONS_FLEET_MOVE) {
            hear(r, i);
        } else if (u->kind == PONS_FLEET_WORK) {
            pons_fleet_worked(r->fleet, (int32_t)i, u->task, u->stop, u->ok,
                              pons_wall_ms(&r->clock));
        }
    }
    return PONS_OK;
}

static bool at_rest(const app_fleet_running *r)
{
    for (size_t i = 0; i < r->n; i++) {
        pons_fleet_view v;
        pons_fleet_look(r->fleet, (int32_t)i, &v);
        if (v.state != PONS_FLEET_IDLE || v.next >= 0 ||
            pons_fleet_map_zone(r->map, (size_t)v.zone)->kind != PONS_FLEET_PARK) {
            return false;
        }
    }
    return r->live == 0;
}

static int loop(app_fleet_running *r, pons_error *err)
{
    int rc = PONS_OK;
    while (!*r->how->ended && rc >= 0) {
        const int64_t now = pons_wall_ms(&r->clock);
        rc = step_units(r, err);
        app_others_show(r->others, r->fleet, r->units, r->n, now);
        if (rc >= 0 && (now - r->ticked_ms >= TICK_MS || now < r->ticked_ms)) {
            r->ticked_ms = now;
            rc = app_fleet_take_words(r, err);
            for (size_t i = 0; i < r->n && rc >= 0; i++) {
                if (r->units[i].connected) {
                    hear(r, i);
                }
            }
            pons_fleet_tick(r->fleet, now);
            rc = rc < 0 ? rc : app_fleet_files_show(r->files, r->fleet, r->map, now, err);
            rc = rc < 0 ? rc : app_fleet_put_now(r, err);
            if (r->how->once && rc >= 0 && at_rest(r)) {
                break;
            }
        }
        if (r->failed < 0) {
            *err = r->why;
            return r->failed;
        }
        struct pollfd fds[FDS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < r->n && n + 8 < FDS_MAX; i++) {
            n += pons_brain_fds(r->units[i].brain, fds + n, 8);
        }
        poll(fds, n, WAIT_MS);
    }
    return rc;
}

// From what the store has to an end; reached: the store was there. What was not kept is not gone on with: the
// next life begins with what was.
static int live(const app_context *c, const app_fleet_run_options *o, bool *ret_reached,
                pons_error *err)
{
    app_fleet_running r = {.c = c, .how = o, .clock = pons_clock_real()};
    int rc = app_fleet_load(c, &r.file, err);
    rc = rc < 0 ? rc : pons_fleet_map_load(r.file.map, &r.map, err);
    rc = rc < 0 ? rc : app_store(c, &r.store, err);
    const bool waits = rc >= 0 && o->standby; // an outage passes for one who waits, too
    rc = rc < 0 ? rc : lead(&r, err);
    *ret_reached = *ret_reached || r.leads || waits;
    if (rc >= 0 && !*o->ended) {
        rc = open_parts(&r, err);
        rc = rc < 0 ? rc : app_fleet_restore(&r, err);
        rc = rc < 0 ? rc : app_fleet_put_map(&r, err);
        rc = rc < 0 ? rc : loop(&r, err);
    }
    close_parts(&r, comes_back(rc, o) || rc == PONS_ESTALE);
    return rc;
}

int app_fleet_run(const app_context *c, const app_fleet_run_options *o, pons_error *err)
{
    bool reached = false, away = false;
    int rc = app_workspace(c, false, err);
    while (rc >= 0) {
        rc = live(c, o, &reached, err);
        if (*o->ended || !reached || !comes_back(rc, o)) {
            break;
        }
        if (!away || rc == PONS_ESTALE) {
            app_tell(c, "%s; the robots hold, and this one tries again", err->message);
        }
        away = rc != PONS_ESTALE;
        rc = PONS_OK;
        poll(NULL, 0, STANDBY_MS);
    }
    return *o->ended && rc < 0 && comes_back(rc, o) ? PONS_OK : rc;
}
