// fleet_view.c - what the orchestrator's core knows, for people, pages and judges.
#include "fleet/core/core.h"

#include <stdio.h>
#include <stdlib.h>

size_t pons_fleet_robots(const pons_fleet *f)
{
    return f->n;
}

const pons_fleet_robot *pons_fleet_robot_at(const pons_fleet *f, size_t robot)
{
    return robot < f->n ? &f->robots[robot].is : NULL;
}

void pons_fleet_look(const pons_fleet *f, int32_t robot, pons_fleet_view *ret)
{
    const pons__robot *r = &f->robots[robot];
    const pons__mover *m = &f->traffic.at[robot];
    *ret = (pons_fleet_view){.state = r->state,
                             .zone = m->at,
                             .next = m->next,
                             .to = m->to,
                             .waits_for = m->dead ? -1 : m->waits,
                             .held_by = m->by >= 0 && m->by != robot ? m->by : -1,
                             .waits_since_ms = m->since,
                             .stuck = m->stuck && !m->dead,
                             .hindered = r->hindered,
                             .battery_pct = r->battery_pct,
                             .seen_ms = r->seen_ms,
                             .task = r->task >= 0 ? &f->tasks[r->task].is : NULL};
}

int32_t pons_fleet_holder(const pons_fleet *f, int32_t zone)
{
    const int32_t on =
        zone >= 0 && (size_t)zone < f->map->n ? f->traffic.holder[zone] : PONS__NOBODY;
    return on == PONS__KEPT ? PONS__BLOCKED : on;
}

const pons_fleet_task *pons_fleet_find(const pons_fleet *f, const char *id)
{
    const int32_t at = pons__task_find(f, id);
    return at >= 0 ? &f->tasks[at].is : NULL;
}

static int by_order(const void *a, const void *b)
{
    const pons__task *const *x = a, *const *y = b;
    return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

void pons_fleet_tasks(const pons_fleet *f, int (*fn)(void *user, const pons_fleet_task *t),
                      void *user)
{
    const pons__task **all = malloc((f->n_tasks + 1) * sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all && i < f->n_tasks; i++) {
        if (f->tasks[i].used) {
            all[n++] = &f->tasks[i];
        }
    }
    if (n > 0) {
        qsort(all, n, sizeof *all, by_order);
    }
    for (size_t i = 0; i < n && fn(user, &all[i]->is) == 0; i++) {
    }
    free(all);
}

char *pons_fleet_why(const pons_fleet *f, int32_t robot, char *buf, size_t cap)
{
    const pons__robot *r = &f->robots[robot];
    const pons__mover *m = &f->traffic.at[robot];
    const char *id = r->is.id;
    const pons_fleet_zone *zones = f->map->zones;
    buf[0] = '\0';
    if (r->state == PONS_FLEET_UNSEEN) {
        snprintf(buf, cap, "%s has not been seen yet", id);
    } else if (r->state == PONS_FLEET_ASTRAY) {
        snprintf(buf, cap, "%s is not where it can be; its zones wait for `clear`", id);
    } else if (r->state == PONS_FLEET_LOST) {
        snprintf(buf, cap, "%s is lost; its zones stay blocked until it is seen or cleared", id);
    } else if (r->hindered) {
        snprintf(buf, cap, "%s does not get on from %s%s%s; others go round it", id,
                 zones[m->at].id, m->next >= 0 ? " into " : "",
                 m->next >= 0 ? zones[m->next].id : "");
    } else if (m->stuck) {
        snprintf(buf, cap, "%s waits in %s for a way past what is shut", id, zones[m->at].id);
    } else if (r->state == PONS_FLEET_IDLE && pons__fleet_low(f, r)) {
        snprintf(buf, cap, "%s waits for a dock", id);
    } else if (m->waits >= 0 && m->waits == m->at) {
        snprintf(buf, cap, "%s waits in %s for its turn: %zu robots are on the lanes", id,
                 zones[m->at].id, f->traffic.moving);
    } else if (m->waits >= 0 && m->by >= 0 && m->by != robot) {
        snprintf(buf, cap, "%s waits for %s, held by %s", id, zones[m->waits].id,
                 f->robots[m->by].is.id);
    } else if (m->waits >= 0) {
        snprintf(buf, cap,
                 m->by == PONS__BLOCKED ? "%s waits for %s, which is blocked"
                                        : "%s waits for %s, for a safe way there",
                 id, zones[m->waits].id);
    }
    return buf;
}

bool pons_fleet_safe(const pons_fleet *f)
{
    return pons__traffic_safe(&f->traffic);
}

size_t pons_fleet_bytes(const pons_fleet *f)
{
    return sizeof *f + f->n * sizeof *f->robots + f->cap_tasks * sizeof *f->tasks +
           f->map->n * (sizeof *f->dock_of + sizeof *f->dock_m + 3) +
           pons__traffic_bytes(&f->traffic);
}
