// traffic.c - zones, each for one robot at a time, given so that nobody ever stands in a knot.
//
// A robot that moves has a leg: the zones that it will enter, the last one a bay that it has booked and
// where it stands in nobody's way. A state is safe when the robots can be taken away one after the other,
// each because its whole leg is free of those that are left. As each leg is fixed, that is so when "r's
// leg goes through a zone that s has" makes no circle; and as the state was safe before, a grant or a new
// leg keeps it safe when no circle goes through the robot that gets it. So one search from that robot
// decides, over the few who stand on its leg, on theirs, and so on (`safe_for`). In a safe state there is
// always somebody whose leg is free: a knot cannot be.
//
// What does not move (a dead robot, a person, an obstacle) is nobody whom one could wait for: who has it
// on his leg looks for another one, and while there is none he is stuck, which is the same to others.
// When something changes, all stuck ones try again, until none finds a way.
//
// Who waits is in the list of the zone that he wants, the longest wait first. Whoever has waited for
// LATE_MS marks his leg, and nobody leaves a bay across it who has waited for less. The bay that he wants is
// kept for him, and who has booked it from FAR away goes to another one first.
#include "fleet/traffic/traffic.h"

#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

#define LATE_MS     60000
#define FAR         6   // zones of a leg; who has more before him has booked his bay early
#define NEAR        12  // zones; a bay is not kept for one who has more before him
#define QUEUE_MPS   1.2 // a second of waiting is that much way
#define QUEUE_GAIN  0.15
#define QUEUE_FADE  0.99F // each time that all are looked at
#define EXTEND_LEFT 9     // zones of a leg that are left when a longer one is looked for

typedef enum leg_sort {
    LEG_ANY,
    LEG_LONGER // than the one that it has
} leg_sort;

void pons__traffic_init(pons__traffic *t, pons_fleet_map *map, size_t n, double moving_max)
{
    t->map = map;
    t->n = n;
    t->moving_max = (size_t)(moving_max * (double)map->lanes);
    t->moving_max = t->moving_max < 2 ? 2 : t->moving_max;
    t->at = pons_need_zeroed(n + 1, sizeof *t->at);
    t->holder = pons_need(map->n * sizeof(int32_t));
    t->booked = pons_need(map->n * sizeof(int32_t));
    t->waiters = pons_need(map->n * sizeof(int32_t));
    t->path = pons_need((map->n + 2) * sizeof(int32_t));
    memset(t->holder, 0xff, map->n * sizeof(int32_t)); // PONS__NOBODY
    memset(t->booked, 0xff, map->n * sizeof(int32_t));
    memset(t->waiters, 0xff, map->n * sizeof(int32_t));
    t->claimed = pons_need(map->n * sizeof(int32_t));
    memset(t->claimed, 0xff, map->n * sizeof(int32_t));
    t->kept = pons_need_zeroed(map->n, sizeof *t->kept);
    t->blocked = pons_need_zeroed(map->n, sizeof *t->blocked);
    t->shut = pons_need_zeroed(map->n, 1);
    t->shut_before = pons_need_zeroed(map->n, 1);
    t->shut_bay = pons_need_zeroed(map->n, 1);
    t->late = pons_need_zeroed(map->n, 1);
    t->ways = pons_need_zeroed(map->n, sizeof *t->ways);
    t->queue = pons_need_zeroed(map->n, sizeof *t->queue);
    t->stack = pons_need((n + 1) * sizeof(int32_t));
    t->back = pons_need(map->n * sizeof(int32_t));
    t->reached = pons_need_zeroed(map->n, sizeof(uint32_t));
    for (size_t i = 0; i < n; i++) {
        t->at[i] =
            (pons__mover){.at = -1, .next = -1, .to = -1, .waits = -1, .by = -1, .next_waiter = -1};
    }
}

void pons__traffic_fini(pons__traffic *t)
{
    for (size_t i = 0; t->at && i < t->n; i++) {
        free(t->at[i].leg);
    }
    free(t->at);
    free(t->holder);
    free(t->booked);
    free(t->waiters);
    free(t->path);
    free(t->kept);
    free(t->blocked);
    free(t->shut);
    free(t->shut_before);
    free(t->shut_bay);
    for (size_t z = 0; t->ways && z < t->map->n; z++) {
        free(t->ways[z].far);
    }
    free(t->ways);
    free(t->queue);
    free(t->claimed);
    free(t->late);
    free(t->stack);
    free(t->back);
    free(t->reached);
}

size_t pons__traffic_bytes(const pons__traffic *t)
{
    size_t bytes = t->n * (sizeof *t->at + sizeof(int32_t)) + t->map->n * (6 * sizeof(int32_t) + 3);
    for (size_t i = 0; i < t->n; i++) {
        bytes += t->at[i].cap * sizeof(int32_t);
    }
    for (size_t z = 0; z < t->map->n; z++) {
        bytes += t->ways[z].far ? t->map->lanes * (sizeof(float) + 1) : 0;
    }
    return bytes;
}

static bool on_lane(const pons__traffic *t, const pons__mover *m)
{
    return m->at >= 0 && (!pons__map_bay(t->map, m->at) || m->next >= 0);
}

// ---- a step -------------------------------------------------------------------------------------

// Whether no circle of "his leg goes through a zone that he has" goes through the robot, had it this
// leg. *ret_zone: where on its leg the trouble is, if there is any.
static bool safe_for(pons__traffic *t, int32_t robot, const int32_t *leg, size_t n,
                     int32_t *ret_zone)
{
    const uint32_t stamp = ++t->stamp;
    size_t depth = 0;
    for (size_t first = 0; first < n; first++) {
        const int32_t on = t->holder[leg[first]];
        if (on == PONS__NOBODY || on == robot || (on >= 0 && t->at[on].stamp == stamp)) {
            continue;
        }
        *ret_zone = leg[first];
        if (on < 0 || t->at[on].stuck || t->at[on].n + (t->at[on].next >= 0) == 0) {
            return false;
        }
        t->at[on].stamp = stamp;
        t->stack[depth++] = on;
        while (depth > 0) {
            const pons__mover *m = &t->at[t->stack[--depth]];
            for (size_t k = 0; k < m->n; k++) {
                const int32_t h = t->holder[m->leg[k]];
                if (h == PONS__NOBODY || (h >= 0 && &t->at[h] == m)) {
                    continue;
                }
                if (h == robot || h < 0 || t->at[h].stuck ||
                    t->at[h].n + (t->at[h].next >= 0) == 0) {
                    return false;
                }
                if (t->at[h].stamp != stamp) {
                    t->at[h].stamp = stamp;
                    t->stack[depth++] = h;
                }
            }
        }
    }
    return true;
}

// As safe_for, had it entered the first zone already, when that is free and it has not been given
// another one.
static bool safe_ahead(pons__traffic *t, int32_t robot, const int32_t *leg, size_t n,
                       int32_t *ret_zone)
{
    if (t->at[robot].next >= 0 || t->holder[leg[0]] != PONS__NOBODY) {
        return safe_for(t, robot, leg, n, ret_zone);
    }
    t->holder[leg[0]] = robot;
    const bool safe = safe_for(t, robot, leg + 1, n - 1, ret_zone);
    t->holder[leg[0]] = PONS__NOBODY;
    return safe;
}

static bool whole_leg_free(const pons__traffic *t, int32_t robot, const int32_t *leg, size_t n,
                           int32_t *ret_zone)
{
    for (size_t k = 0; k < n; k++) {
        *ret_zone = leg[k];
        if (t->holder[leg[k]] != PONS__NOBODY && t->holder[leg[k]] != robot) {
            return false;
        }
    }
    return true;
}

// Whether it may enter the first zone of its leg. *ret_zone: what it waits for, if not.
static bool may_go(pons__traffic *t, int32_t robot, bool in_bay, int64_t now_ms, int32_t *ret_zone)
{
    const pons__mover *m = &t->at[robot];
    *ret_zone = m->leg[0];
    for (size_t k = 0; k < m->n && in_bay; k++) {
        if (t->late[m->leg[k]] && now_ms - m->since < LATE_MS) {
            *ret_zone = m->leg[k];
            return false;
        }
    }
    if (t->whole_streets) {
        return whole_leg_free(t, robot, m->leg, m->n, ret_zone);
    }
    return t->holder[m->leg[0]] == PONS__NOBODY && safe_ahead(t, robot, m->leg, m->n, ret_zone);
}

static void set_leg(pons__traffic *t, int32_t robot, const int32_t *leg, size_t n)
{
    pons__mover *m = &t->at[robot];
    const int32_t old = m->n > 0 ? m->leg[m->n - 1] : -1;
    if (old >= 0 && t->booked[old] == robot) {
        t->booked[old] = PONS__NOBODY;
    }
    if (n > m->cap) {
        m->cap = n + 8;
        m->leg = pons_need_more(m->leg, m->cap * sizeof *m->leg);
    }
    if (n > 0) {
        memcpy(m->leg, leg, n * sizeof *leg);
        t->booked[leg[n - 1]] = robot;
    }
    m->n = n;
    if (t->leg && (m->next >= 0 || !pons__map_bay(t->map, m->at) || n == 0)) {
        t->leg(t->user, robot);
    }
}

// Another leg that is safe. False: there is none of that sort.
static bool find_leg(pons__traffic *t, int32_t robot, leg_sort sort, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    const int32_t from = m->next >= 0 ? m->next : m->at;
    int32_t zone = -1;
    bool more = true;
    for (size_t i = 0; more; i++) {
        const size_t n = pons__leg_ahead(t, robot, from, i, now_ms, &more);
        if (n == 0 || (sort == LEG_LONGER && n <= m->n && t->path[n - 1] != m->to)) {
            break; // nothing better
        }
        if (safe_ahead(t, robot, t->path, n, &zone)) {
            set_leg(t, robot, t->path, n);
            return true;
        }
    }
    // Out of a station or a dock it goes wherever it can; in a park it stands well.
    if (sort == LEG_LONGER || t->map->zones[from].kind == PONS_FLEET_PARK) {
        return false;
    }
    more = true;
    for (size_t i = 0; more; i++) {
        const size_t n = pons__leg_aside(t, robot, from, i, &more);
        if (n == 0) {
            break;
        }
        if (safe_ahead(t, robot, t->path, n, &zone)) {
            set_leg(t, robot, t->path, n);
            return true;
        }
    }
    return false;
}

static void stop_waiting(pons__traffic *t, int32_t robot)
{
    pons__mover *m = &t->at[robot];
    if (m->waits < 0) {
        return;
    }
    int32_t *link = &t->waiters[m->waits];
    while (*link != robot) {
        link = &t->at[*link].next_waiter;
    }
    *link = m->next_waiter;
    m->waits = m->next_waiter = -1;
}

static void wait_for(pons__traffic *t, int32_t robot, int32_t zone, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    const int32_t on = t->holder[zone];
    m->by = on == PONS__NOBODY || on == robot ? t->booked[zone] : on;
    if (m->waits == zone) {
        return;
    }
    if (m->waits < 0 && m->since == 0) {
        m->since = now_ms;
    }
    stop_waiting(t, robot);
    m->waits = zone;
    int32_t *link = &t->waiters[zone];
    while (*link >= 0 && t->at[*link].since <= m->since) {
        link = &t->at[*link].next_waiter;
    }
    m->next_waiter = *link;
    *link = robot;
}

// Whether it has a leg that it may begin now; else *zone is what it waits for.
static bool has_way(pons__traffic *t, int32_t robot, bool in_bay, int64_t now_ms, int32_t *zone)
{
    const pons__mover *m = &t->at[robot];
    const bool final = m->n > 0 && m->leg[m->n - 1] == m->to;
    if (m->n <= EXTEND_LEFT && !final && !(t->whole_streets && !in_bay)) {
        find_leg(t, robot, in_bay ? LEG_ANY : LEG_LONGER, now_ms);
    }
    *zone = m->to >= 0 ? m->to : m->at;
    if (m->n > 0 && may_go(t, robot, in_bay, now_ms, zone)) {
        return true;
    }
    // Where it is going is not safe; perhaps a nearer bay is, and the way there may begin elsewhere.
    return !in_bay && !t->whole_streets && t->holder[m->leg[0]] == PONS__NOBODY &&
           find_leg(t, robot, LEG_ANY, now_ms) && t->holder[m->leg[0]] == PONS__NOBODY;
}

// It wants to move: it goes, or waits for a zone.
static void try_move(pons__traffic *t, int32_t robot, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    const bool in_bay = pons__map_bay(t->map, m->at);
    if (m->next >= 0 || m->dead || m->stuck || (in_bay && !m->wants)) {
        return;
    }
    // The last places are for those who have waited for long.
    const bool late = now_ms - m->since > LATE_MS;
    if (in_bay && t->moving >= (late ? t->moving_max : t->moving_max - t->moving_max / 10)) {
        wait_for(t, robot, m->at, now_ms); // its own zone: it waits for its turn
        return;
    }
    int32_t zone;
    if (!has_way(t, robot, in_bay, now_ms, &zone)) {
        if (in_bay) {
            set_leg(t, robot, NULL, 0); // it stands well: others may have the bay
        }
        wait_for(t, robot, zone, now_ms);
        return;
    }
    const int32_t next = m->leg[0];
    stop_waiting(t, robot);
    if (in_bay) {
        t->moving++;
    } else {
        const double queue = QUEUE_MPS * (double)(now_ms - m->since) / 1000.0;
        t->queue[next] += (float)(QUEUE_GAIN * (queue - (double)t->queue[next]));
    }
    if (in_bay) {
        if (t->leg) {
            t->leg(t->user, robot); // told before it leaves
        }
    }
    for (size_t k = 0; k + 1 < m->n && t->whole_streets; k++) {
        t->holder[m->leg[k]] = robot;
    }
    m->next = next;
    memmove(m->leg, m->leg + 1, --m->n * sizeof *m->leg);
    t->holder[next] = robot;
    t->grant(t->user, robot);
}

// ---- waiting ------------------------------------------------------------------------------------

// Nobody has it any more: the longest wait first.
static void free_zone(pons__traffic *t, int32_t zone, int64_t now_ms)
{
    t->holder[zone] = t->kept[zone] ? PONS__KEPT : t->blocked[zone] ? PONS__BLOCKED : PONS__NOBODY;
    t->shut[zone] = t->shut[zone] || t->holder[zone] != PONS__NOBODY;
    for (int32_t r = t->waiters[zone]; r >= 0;) {
        const int32_t after = t->at[r].next_waiter;
        try_move(t, r, now_ms);
        if (t->at[r].waits != zone && after >= 0 && t->at[after].waits != zone) {
            break; // the list has changed under us; the tick sees to the rest
        }
        r = after;
    }
}

static int by_since(const void *a, const void *b, void *user)
{
    const pons__traffic *t = user;
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    const int64_t d = t->at[x].since - t->at[y].since;
    return d ? (d > 0) - (d < 0) : (x > y) - (x < y);
}

// A number for which lanes are shut; 0: none.
static void new_version(pons__traffic *t)
{
    if (memcmp(t->shut, t->shut_before, t->map->n) == 0) {
        return;
    }
    memcpy(t->shut_before, t->shut, t->map->n);
    t->version = memchr(t->shut, true, t->map->lanes) ? ++t->versions : 0;
}

static void set_shut(pons__traffic *t, const pons__mover *m, bool shut)
{
    t->shut[m->at] = shut;
    if (m->next >= 0) {
        t->shut[m->next] = shut;
    }
}

// Whether a stuck one has found another leg.
static bool unstick(pons__traffic *t, int32_t robot, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    if (!m->stuck || m->dead || m->at < 0) {
        return false;
    }
    set_shut(t, m, false); // it does not stand in its own way
    const bool in = m->next >= 0 && pons__map_bay(t->map, m->next);
    m->stuck = !in && !find_leg(t, robot, LEG_ANY, now_ms);
    if (m->stuck) {
        set_shut(t, m, true);
    } else {
        m->since = now_ms;
    }
    return !m->stuck;
}

// Somebody stands where nobody can be counted on to leave, or does so no more. Who has such a zone on his
// leg, or somebody who has, is stuck; then each stuck one looks for another leg.
static void shut_changed(pons__traffic *t, int64_t now_ms)
{
    new_version(t);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < t->n; i++) {
            pons__mover *m = &t->at[i];
            for (size_t k = 0; k < m->n && !m->stuck && m->at >= 0; k++) {
                if (t->shut[m->leg[k]]) {
                    m->stuck = more = true;
                    set_leg(t, (int32_t)i, NULL, 0);
                    set_shut(t, m, true);
                }
            }
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < t->n; i++) {
            more = unstick(t, (int32_t)i, now_ms) || more;
        }
    }
    new_version(t);
    for (size_t i = 0; i < t->n; i++) {
        pons__mover *m = &t->at[i];
        if (m->at >= 0 && m->next < 0 && !m->dead && !m->stuck && on_lane(t, m) && m->waits < 0) {
            try_move(t, (int32_t)i, now_ms);
        }
    }
}

// A late one waits for a bay that is kept for one far away: that one takes a bay on its way.
static void give_up_booked(pons__traffic *t, int64_t now_ms)
{
    for (size_t z = 0; z < t->map->n; z++) {
        const int32_t late = t->claimed[z], other = t->booked[z];
        if (late >= 0 && other >= 0 && other != late && t->holder[z] == PONS__NOBODY &&
            t->at[other].n > FAR && !t->at[other].stuck && !t->whole_streets) {
            find_leg(t, other, LEG_ANY, now_ms);
        }
    }
}

void pons__traffic_again(pons__traffic *t, int64_t now_ms)
{
    int32_t *list = pons_need((t->n + 1) * sizeof *list);
    size_t n = 0;
    for (size_t z = 0; z < t->map->lanes; z++) {
        t->queue[z] *= QUEUE_FADE;
    }
    memset(t->late, 0, t->map->n);
    memset(t->claimed, 0xff, t->map->n * sizeof(int32_t)); // PONS__NOBODY
    bool stuck = false;
    for (size_t i = 0; i < t->n; i++) {
        const pons__mover *m = &t->at[i];
        stuck = stuck || (m->stuck && !m->dead);
        if (m->waits >= 0) {
            list[n++] = (int32_t)i;
            const bool late = now_ms - m->since > LATE_MS;
            for (size_t k = 0; k < m->n && late; k++) {
                t->late[m->leg[k]] = true;
            }
            int32_t *claim = late && m->to >= 0 ? &t->claimed[m->to] : NULL;
            if (claim && (*claim < 0 || t->at[*claim].since > m->since) &&
                pons__leg_near(t, (int32_t)i, NEAR, now_ms)) {
                *claim = (int32_t)i;
            }
        }
    }
    if (stuck) {
        shut_changed(t, now_ms);
    }
    // A late one waits for a bay that is kept for one far away.
    give_up_booked(t, now_ms);
    qsort_r(list, n, sizeof *list, by_since, t);
    for (size_t i = 0; i < n; i++) {
        try_move(t, list[i], now_ms);
    }
    free(list);
}

// ---- what changes -------------------------------------------------------------------------------

void pons__traffic_send(pons__traffic *t, int32_t robot, int32_t to, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    m->to = to;
    m->wants = m->at >= 0 && (to >= 0 ? m->at != to : t->map->zones[m->at].kind != PONS_FLEET_PARK);
    if (m->at < 0) {
        return;
    }
    stop_waiting(t, robot);
    m->since = now_ms;
    if (m->next < 0 && m->wants) {
        try_move(t, robot, now_ms);
    }
}

void pons__traffic_entered(pons__traffic *t, int32_t robot, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    if (m->next < 0) {
        return;
    }
    const int32_t left = m->at;
    m->at = m->next;
    m->next = -1;
    m->since = now_ms;
    if (t->booked[m->at] == robot) {
        t->booked[m->at] = PONS__NOBODY; // it has it
    }
    const bool stands = pons__map_bay(t->map, m->at);
    if (stands) {
        t->moving--;
        m->stuck = false;
        if (m->n > 0) {
            set_leg(t, robot, NULL, 0);
        } else if (t->leg) {
            t->leg(t->user, robot);
        }
    }
    m->wants = m->to >= 0 ? m->at != m->to : t->map->zones[m->at].kind != PONS_FLEET_PARK;
    const bool shut = t->shut[left];
    if (m->stuck && !stands) { // it was shut out while it moved
        t->shut[left] = false;
        t->shut[m->at] = true;
    } else if (shut) {
        t->shut[left] = false;
        t->shut[m->at] = false;
    }
    free_zone(t, left, now_ms);
    if (shut ||
        t->shut[left]) { // or it is kept for one who was there before the restart, or blocked
        shut_changed(t, now_ms);
    }
    if (m->wants && m->next < 0 && m->waits < 0) {
        try_move(t, robot, now_ms);
    }
}

void pons__traffic_dead(pons__traffic *t, int32_t robot, bool dead, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    if (m->dead == dead) {
        return;
    }
    m->dead = dead;
    if (m->at < 0) {
        return;
    }
    if (dead) {
        stop_waiting(t, robot);
        if (!on_lane(t, m)) {
            return; // in a bay, in nobody's way
        }
        // Its leg stays with whoever has to know where it may be; here it counts as standing.
        m->stuck = true;
        m->n = 0;
        for (size_t z = t->map->lanes; z < t->map->n; z++) {
            if (t->booked[z] == robot && (int32_t)z != m->next) {
                t->booked[z] = PONS__NOBODY;
                free_zone(t, (int32_t)z, now_ms);
            }
        }
        t->shut[m->at] = true;
        if (m->next >= 0) {
            t->shut[m->next] = true;
        }
    }
    m->since = now_ms;
    shut_changed(t, now_ms);
    if (!dead && !m->stuck && m->wants && m->next < 0 && m->waits < 0) {
        try_move(t, robot, now_ms);
    }
}

void pons__traffic_revoke(pons__traffic *t, int32_t robot, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    const int32_t next = m->next;
    if (next < 0) {
        return;
    }
    m->next = -1;
    m->since = now_ms;
    set_leg(t, robot, NULL, 0); // it begins somewhere else now
    if (pons__map_bay(t->map, m->at)) {
        t->moving--;
        m->stuck = false;
        t->shut[m->at] = false;
    } else {
        m->stuck = true;
        t->shut[m->at] = true;
    }
    t->shut[next] = false;
    free_zone(t, next, now_ms);
    shut_changed(t, now_ms);
}

void pons__traffic_block(pons__traffic *t, int32_t zone, bool blocked, int64_t now_ms)
{
    if (!blocked && t->blocked[zone] == 0) {
        return;
    }
    t->blocked[zone] = (uint16_t)(t->blocked[zone] + (blocked ? 1 : -1));
    if (t->blocked[zone] == 1 && t->holder[zone] == PONS__NOBODY) {
        t->holder[zone] = PONS__BLOCKED; // where a robot is, or may be, it is when that has left
        t->shut[zone] = true;
    } else if (t->blocked[zone] == 0 && t->holder[zone] == PONS__BLOCKED) {
        t->shut[zone] = false;
        free_zone(t, zone, now_ms);
    }
    shut_changed(t, now_ms);
}

// ---- on and off the map -------------------------------------------------------------------------

static bool may_put(const pons__traffic *t, int32_t robot, int32_t zone)
{
    const int32_t on = t->holder[zone];
    return on == PONS__NOBODY || on == PONS__KEPT || on == robot;
}

// What was kept for it is kept no more. Returns whether anything was.
static bool stop_keeping(pons__traffic *t, int32_t robot)
{
    pons__mover *m = &t->at[robot];
    if (m->at >= 0 || m->n == 0) {
        return false;
    }
    for (size_t i = 0; i < m->n; i++) {
        const int32_t z = m->leg[i];
        if (--t->kept[z] == 0 && t->holder[z] == PONS__KEPT) {
            t->shut[z] = t->blocked[z] > 0;
            t->holder[z] = t->shut[z] ? PONS__BLOCKED : PONS__NOBODY;
        }
    }
    m->n = 0;
    return true;
}

bool pons__traffic_put(pons__traffic *t, int32_t robot, int32_t zone, int32_t next)
{
    pons__mover *m = &t->at[robot];
    if (!may_put(t, robot, zone) || (next >= 0 && !may_put(t, robot, next))) {
        return false;
    }
    stop_keeping(t, robot);
    t->shut[zone] = t->shut[next >= 0 ? next : zone] = false;
    m->at = zone;
    m->next = next;
    m->n = 0;
    m->dead = false;
    t->holder[zone] = robot;
    if (next >= 0) {
        t->holder[next] = robot;
    }
    if (on_lane(t, m)) {
        m->stuck = true;
        t->shut[zone] = true;
        t->shut[next >= 0 ? next : zone] = true;
        t->moving++;
    }
    return true;
}

void pons__traffic_keep(pons__traffic *t, int32_t robot, const int32_t *zones, size_t n)
{
    pons__mover *m = &t->at[robot];
    if (m->at >= 0 || n == 0) {
        return;
    }
    stop_keeping(t, robot);
    m->cap = n + 8;
    m->leg = pons_need_more(m->leg, m->cap * sizeof *m->leg);
    memcpy(m->leg, zones, n * sizeof *zones);
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        t->kept[zones[i]]++;
        if (t->holder[zones[i]] == PONS__NOBODY) {
            t->holder[zones[i]] = PONS__KEPT;
            t->shut[zones[i]] = true;
        }
    }
}

void pons__traffic_take(pons__traffic *t, int32_t robot, int64_t now_ms)
{
    pons__mover *m = &t->at[robot];
    if (m->at < 0) {
        if (stop_keeping(t, robot)) {
            shut_changed(t, now_ms);
        }
        return;
    }
    stop_waiting(t, robot);
    set_leg(t, robot, NULL, 0);
    t->moving -= on_lane(t, m);
    m->at = m->next = -1;
    m->stuck = false;
    for (size_t z = 0; z < t->map->n; z++) {
        if (t->holder[z] == robot) {
            t->shut[z] = false;
            free_zone(t, (int32_t)z, now_ms);
        }
    }
    shut_changed(t, now_ms);
}

// ---- a judge ------------------------------------------------------------------------------------

// Takes robots away whose leg is free of those that are left, until nobody more can be taken away.
bool pons__traffic_safe(const pons__traffic *t)
{
    bool *gone = pons_need_zeroed(t->n + 1, 1);
    size_t left = 0;
    for (size_t i = 0; i < t->n; i++) {
        gone[i] = !on_lane(t, &t->at[i]) || t->at[i].stuck; // stuck ones are not asked for
        left += !gone[i];
    }
    for (bool more = true; more && left > 0;) {
        more = false;
        for (size_t i = 0; i < t->n; i++) {
            const pons__mover *m = &t->at[i];
            bool open = !gone[i];
            for (size_t k = 0; k < m->n && open; k++) {
                const int32_t h = t->holder[m->leg[k]];
                open =
                    h == PONS__NOBODY || h == (int32_t)i || (h >= 0 && gone[h] && !t->at[h].stuck);
            }
            const int32_t end = m->n > 0 ? m->leg[m->n - 1] : m->next;
            if (open && end >= 0 && pons__map_bay(t->map, end)) {
                gone[i] = true;
                more = true;
                left--;
            }
        }
    }
    free(gone);
    return left == 0;
}
