// fleet_sim.c - a fleet on the virtual clock: the orchestrator's core, bodies, kills, and a judge.
//
// Events in the order of time; of one time, in the order in which they were made. The core runs as it
// does in earnest: it hears reports, ticks each half second, and what it wants kept is kept here as a
// store would: the state of each task, and the zones of each robot's leg. When the core is killed it
// is destroyed at once; two to five seconds later another one begins with what was kept, and with
// what the bodies say.
#include "fleet/sim/fleet_sim.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS       500
#define BEAT_MS       1000
#define LOOK_MS       60000
#define SAFE_ROBOTS   200 // whose states are judged at every tick, not each minute
#define BACKLOG       0.5 // waiting tasks for each robot, where there is always more to do
#define HOUR_MS       3600000.0
#define PERSON_MIN_MS 20000
#define PERSON_MAX_MS 300000
#define DEADLOCK_S    1200.0 // nobody waits that long for anything else, but for a dead robot

// ---- the core and what it wants kept ------------------------------------------------------------

static void on_command(void *user, const pons_fleet_command *c)
{
    pons__sim *s = user;
    if (c->what == PONS_FLEET_MOVE) {
        pons_fleet_view v;
        pons_fleet_look(s->core, c->robot, &v);
        const double wait_s = (double)(s->now_ms - v.waits_since_ms) / 1000.0;
        const size_t slots = sizeof s->waits / sizeof *s->waits;
        s->waits[wait_s < (double)slots ? (size_t)wait_s : slots - 1]++;
        s->n_waits++;
        s->wait_s += wait_s;
        if (wait_s > s->longest_s) {
            s->longest_s = wait_s;
            snprintf(s->longest_why, sizeof s->longest_why, "%s into %s, at %.2f h",
                     s->robots[c->robot].id, s->map->zones[c->zone].id,
                     (double)s->now_ms / HOUR_MS);
        }
    }
    pons__sim_obey(s, c);
}

static void on_task(void *user, const pons_fleet_task *t)
{
    pons__sim *s = user;
    size_t i = 0;
    while (i < s->n_live && strcmp(s->live[i].id, t->id) != 0) {
        i++;
    }
    if (i == s->n_live) {
        pons_need_room(&s->live, &s->cap_live, s->n_live + 1, sizeof *s->live);
        s->live[s->n_live++] = *t;
    }
    if (t->state == PONS_FLEET_ASSIGNED) {
        const pons__sim_body *b = &s->bodies[t->robot];
        const double m = pons_fleet_map_way(s->map, (size_t)b->zone, (size_t)t->stops[0]) +
                         pons_fleet_map_way(s->map, (size_t)t->stops[0], (size_t)t->stops[1]);
        s->ideal_s += m / b->speed_mps;
    } else if (t->state == PONS_FLEET_WAITING && s->live[i].robot >= 0 &&
               s->lost_ms[s->live[i].robot]) {
        const double took_s = (double)(s->now_ms - s->lost_ms[s->live[i].robot]) / 1000.0;
        s->lost_ms[s->live[i].robot] = 0;
        s->reassigned++;
        s->reassigned_s = fmax(s->reassigned_s, took_s);
    }
    s->live[i] = *t;
    if (t->state >= PONS_FLEET_DONE) {
        s->tasks_done += t->state == PONS_FLEET_DONE;
        s->tasks_failed += t->state == PONS_FLEET_FAILED;
        s->live[i] = s->live[--s->n_live];
    }
}

static void on_leg(void *user, int32_t robot, const int32_t *zones, size_t n)
{
    pons__sim_saved *l = &((pons__sim *)user)->legs[robot];
    if (n > l->cap) {
        l->cap = n + 16;
        l->zones = pons_need_more(l->zones, l->cap * sizeof *l->zones);
    }
    memcpy(l->zones, zones, n * sizeof *zones);
    l->n = n;
}

static int start_core(pons__sim *s, pons_error *err)
{
    const pons_fleet_play *p = s->play;
    pons_fleet_options o = PONS_FLEET_OPTIONS_INIT;
    o.map = s->map;
    o.greedy = p->greedy;
    o.lanes_alone = p->lanes_alone;
    o.command = on_command;
    o.task = on_task;
    o.leg = on_leg;
    o.user = s;
    int rc = pons_fleet_create(&o, s->robots, p->robots, &s->core, err);
    for (size_t i = 0; i < p->robots && rc >= 0; i++) {
        rc = pons_fleet_restore_leg(s->core, (int32_t)i, s->legs[i].zones, s->legs[i].n, err);
    }
    for (size_t i = 0; i < s->n_live && rc >= 0; i++) {
        rc = pons_fleet_restore_task(s->core, &s->live[i], err);
    }
    for (size_t z = 0; z < s->map->n && rc >= 0; z++) {
        if (s->people[z]) {
            pons_fleet_block(s->core, (int32_t)z, true, s->now_ms);
        }
    }
    if (rc >= 0) {
        pons__sim_beat(s); // they say where they are
    }
    return rc;
}

static void kill_core(pons__sim *s)
{
    pons_fleet_destroy(s->core);
    s->core = NULL;
}

// On a lane where no robot is, and that none has been given.
static void person(pons__sim *s)
{
    const int32_t zone = (int32_t)pons_rand_below(&s->rand, s->map->lanes);
    const int64_t stays_ms =
        PERSON_MIN_MS + (int64_t)pons_rand_below(&s->rand, PERSON_MAX_MS - PERSON_MIN_MS);
    if (s->standing[zone] > 0 || s->people[zone]) {
        return;
    }
    s->people[zone] = 1;
    s->persons++;
    if (s->core) {
        pons_fleet_block(s->core, zone, true, s->now_ms);
    }
    pons__sim_push_zone(s, s->now_ms + stays_ms, PONS__SIM_PERSON_GONE, zone);
}

// ---- the judge ----------------------------------------------------------------------------------

static void look(pons__sim *s)
{
    if (s->play->progress) {
        s->play->progress(s->play->user, (double)s->now_ms / HOUR_MS);
    }
    if (!s->core) {
        return;
    }
    if (s->play->robots > SAFE_ROBOTS) {
        s->unsafe += !pons_fleet_safe(s->core);
    }
    for (size_t z = 0; z < s->map->n && s->play->people_per_hour > 0.0; z++) {
        s->dead_ms = s->people[z] ? s->now_ms : s->dead_ms;
    }
    for (size_t i = 0; i < s->play->robots; i++) {
        s->dead_ms = s->bodies[i].alive ? s->dead_ms : s->now_ms;
    }
    for (size_t i = 0; i < s->play->robots; i++) {
        pons_fleet_view v;
        pons_fleet_look(s->core, (int32_t)i, &v);
        const double wait_s = (double)(s->now_ms - v.waits_since_ms) / 1000.0;
        if (v.waits_for >= 0 && s->bodies[i].alive && wait_s > s->longest_s) {
            s->longest_s = wait_s;
            pons_fleet_why(s->core, (int32_t)i, s->longest_why, sizeof s->longest_why);
        }
        s->deadlocks +=
            v.waits_for >= 0 && wait_s > DEADLOCK_S && s->now_ms - s->dead_ms > DEADLOCK_S * 1000.0;
    }
    const bool all_live = s->now_ms - s->dead_ms > 2 * LOOK_MS; // else a way may be shut
    s->deadlocks += s->moves == s->moves_before && s->n_live > 0 && all_live;
    s->moves_before = s->moves;
}

// ---- what happens -------------------------------------------------------------------------------

// Until the next of what comes so often an hour, at random.
static int64_t some_time(pons__sim *s, double per_hour)
{
    return 1 + (int64_t)(-log(1.0 - pons_rand_unit(&s->rand)) * HOUR_MS / per_hour);
}

static void make_task(pons__sim *s)
{
    pons_error err = PONS_ERROR_INIT;
    const uint64_t kind = pons_rand_below(&s->rand, 100);
    const size_t from = pons_rand_below(&s->rand, s->n_stations);
    const size_t to = (from + 1 + pons_rand_below(&s->rand, s->n_stations - 1)) % s->n_stations;
    pons_fleet_task t = {.stops = {s->stations[from], s->stations[to]},
                         .n_stops = 2,
                         .capabilities = kind < 10 ? 2 : 1,
                         .payload_kg = kind >= 75 && s->play->robots > 1 ? 80.0 : 20.0,
                         .priority = kind % 10 == 0   ? PONS_FLEET_HIGH
                                     : kind % 10 == 9 ? PONS_FLEET_LOW
                                                      : PONS_FLEET_NORMAL,
                         .deadline_ms = kind % 10 == 1 ? s->now_ms + 1800000 : 0,
                         .created_ms = s->now_ms};
    snprintf(t.id, sizeof t.id, "t%u", s->n_tasks);
    if (s->n_tasks + 1 >= s->cap_tasks) {
        s->cap_tasks = s->cap_tasks ? s->cap_tasks * 2 : 1024;
        s->done = pons_need_more(s->done, s->cap_tasks);
    }
    s->done[s->n_tasks] = 0;
    if (pons_fleet_add(s->core, &t, &err) >= 0) {
        s->n_tasks++;
    }
}

static void fill_backlog(pons__sim *s)
{
    size_t waiting = 0;
    for (size_t i = 0; i < s->n_live; i++) {
        waiting += s->live[i].state == PONS_FLEET_WAITING;
    }
    for (const size_t wanted = (size_t)(BACKLOG * (double)s->play->robots) + 4; waiting < wanted;
         waiting++) {
        make_task(s);
    }
}

static void push_in(pons__sim *s, int64_t ms, pons__sim_kind kind)
{
    pons__sim_push(s, s->now_ms + ms, kind, -1);
}

static void tick(pons__sim *s)
{
    if (!s->core) {
        return;
    }
    if (s->play->tasks_per_robot_hour <= 0.0) {
        fill_backlog(s);
    }
    pons_fleet_tick(s->core, s->now_ms);
    // Often where it costs little: a state that is not safe may last for a second.
    if (s->play->robots <= SAFE_ROBOTS) {
        s->unsafe += !pons_fleet_safe(s->core);
    }
}

static void person_gone(pons__sim *s, int32_t zone)
{
    s->people[zone] = 0;
    if (s->core) {
        pons_fleet_block(s->core, zone, false, s->now_ms);
    }
}

static int step(pons__sim *s, const pons__sim_event *e, pons_error *err)
{
    const pons_fleet_play *play = s->play;
    int rc = PONS_OK;
    if ((e->kind == PONS__SIM_ENTER || e->kind == PONS__SIM_WORKED) && e->robot >= 0 &&
        e->life != s->bodies[e->robot].life) {
        return PONS_OK; // of a life that has ended
    }
    switch (e->kind) {
    case PONS__SIM_ENTER:
        pons__sim_enter(s, e->robot);
        break;
    case PONS__SIM_WORKED:
        pons__sim_worked(s, e->robot);
        break;
    case PONS__SIM_REVIVE:
        pons__sim_revive(s, e->robot);
        break;
    case PONS__SIM_BEAT:
        pons__sim_beat(s);
        push_in(s, BEAT_MS, PONS__SIM_BEAT);
        break;
    case PONS__SIM_TICK:
        tick(s);
        push_in(s, TICK_MS, PONS__SIM_TICK);
        break;
    case PONS__SIM_KILL:
        pons__sim_kill(s);
        push_in(s, some_time(s, play->robot_kills_per_hour), PONS__SIM_KILL);
        break;
    case PONS__SIM_KILL_CORE:
        kill_core(s);
        s->core_kills++;
        push_in(s, 2000 + (int64_t)pons_rand_below(&s->rand, 3000), PONS__SIM_START_CORE);
        break;
    case PONS__SIM_START_CORE:
        rc = start_core(s, err);
        push_in(s, some_time(s, play->kills_of_orchestrator_per_hour), PONS__SIM_KILL_CORE);
        break;
    case PONS__SIM_PERSON:
        person(s);
        push_in(s, some_time(s, play->people_per_hour), PONS__SIM_PERSON);
        break;
    case PONS__SIM_PERSON_GONE:
        person_gone(s, e->zone);
        break;
    case PONS__SIM_TASK:
        if (s->core) {
            make_task(s);
        }
        push_in(s, some_time(s, play->tasks_per_robot_hour * (double)play->robots), PONS__SIM_TASK);
        break;
    case PONS__SIM_LOOK:
        look(s);
        push_in(s, LOOK_MS, PONS__SIM_LOOK);
        break;
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

static int start(pons__sim *s, pons_error *err)
{
    const size_t robots = s->play->robots;
    if (!s->map) {
        const int rc = pons_fleet_map_hall(robots, &s->map, err);
        if (rc < 0) {
            return rc;
        }
    }
    const pons_fleet_map *map = s->map;
    if (map->counts[PONS_FLEET_STATION] < 2 || map->counts[PONS_FLEET_PARK] < robots) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "map %s has %zu parks and %zu stations: it takes a park for each of "
                              "%zu robots, and two stations",
                              map->name, map->counts[PONS_FLEET_PARK],
                              map->counts[PONS_FLEET_STATION], robots);
    }
    pons_rand_seed(&s->rand, s->play->seed);
    s->standing = pons_need_zeroed(map->n, sizeof *s->standing);
    s->people = pons_need_zeroed(map->n, sizeof *s->people);
    s->flow = pons_need_zeroed(map->n, sizeof *s->flow);
    s->stations = pons_need(map->n * sizeof *s->stations);
    s->legs = pons_need_zeroed(robots, sizeof *s->legs);
    s->lost_ms = pons_need_zeroed(robots, sizeof *s->lost_ms);
    for (size_t z = 0; z < map->n; z++) {
        if (map->zones[z].kind == PONS_FLEET_STATION) {
            s->stations[s->n_stations++] = (int32_t)z;
        }
    }
    pons__sim_bodies_init(s);
    return start_core(s, err);
}

static int play_out(pons__sim *s, pons_error *err)
{
    const pons_fleet_play *play = s->play;
    push_in(s, BEAT_MS, PONS__SIM_BEAT);
    push_in(s, 0, PONS__SIM_TICK);
    push_in(s, LOOK_MS, PONS__SIM_LOOK);
    if (play->tasks_per_robot_hour > 0.0) {
        push_in(s, 0, PONS__SIM_TASK);
    }
    if (play->robot_kills_per_hour > 0.0) {
        push_in(s, some_time(s, play->robot_kills_per_hour), PONS__SIM_KILL);
    }
    if (play->people_per_hour > 0.0) {
        push_in(s, some_time(s, play->people_per_hour), PONS__SIM_PERSON);
    }
    if (play->kills_of_orchestrator_per_hour > 0.0) {
        push_in(s, some_time(s, play->kills_of_orchestrator_per_hour), PONS__SIM_KILL_CORE);
    }
    pons__sim_event e;
    const int64_t end_ms = (int64_t)(play->hours * HOUR_MS);
    int rc = PONS_OK;
    while (rc >= 0 && pons__sim_pop(s, &e) && e.at_ms <= end_ms) {
        s->now_ms = e.at_ms;
        rc = step(s, &e, err);
    }
    return rc;
}

int pons_fleet_simulate(const pons_fleet_play *play, pons_value **ret, pons_buf *ret_svg,
                        pons_error *err)
{
    pons__sim s = {.play = play, .map = play->map, .dead_ms = INT64_MIN / 2};
    if (play->robots < 1 || !(play->hours > 0.0)) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "a fleet is played with robots, for hours");
    }
    int rc = start(&s, err);
    rc = rc < 0 ? rc : play_out(&s, err);
    if (rc >= 0) {
        *ret = pons__sim_report(&s);
        if (ret_svg) {
            pons__sim_picture(&s, ret_svg);
        }
    }
    kill_core(&s);
    for (size_t i = 0; s.legs && i < play->robots; i++) {
        free(s.legs[i].zones);
    }
    if (!play->map) {
        pons_fleet_map_destroy(s.map);
    }
    free(s.standing);
    free(s.people);
    free(s.flow);
    free(s.stations);
    free(s.legs);
    free(s.lost_ms);
    free(s.robots);
    free(s.bodies);
    free(s.live);
    free(s.heap);
    free(s.done);
    return rc;
}
