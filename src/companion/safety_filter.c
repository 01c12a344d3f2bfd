// safety_filter.c - the safety filter: every proposal, the routine's and the model's alike, passes all of
// these rules or is refused with the name of the first that it breaks.
//
//   reality           it would cross into the real world
//   unknown_action    nobody in this world knows how to do that
//   not_lasting       what it ends is not on
//   too_early         sleep is not over, and no message may end it
//   asleep            asleep, one can only wake
//   unknown_place     there is no such place
//   wrong_place       it is done somewhere else
//   already_there     it leads to where the companion is
//   place_closed      not open then
//   unknown_device    there is no such device
//   device_incapable  it cannot do that
//   window            it is done at other times
//   energy            too tired for it
//   not_preemptive    it says it is, but this activity never may be
//   same              it is what goes on already
//   uninterruptible   what goes on cannot be ended early
//   conflict          something lasts, and the proposal is not preemptive
//
// Place and device are those of the *target*: where the action leads and what it is done with, at
// the minute when it gets there.
#include "companion/safety_filter.h"

#include "companion/world_moment.h"
#include "companion/world_view_queries.h"

#include <stdarg.h>
#include <string.h>

typedef bool (*pons__co_rule)(const pons_companion *c, const pons__co_proposal *p,
                              const pons__co_activity *a, pons__co_refusal *ret);

// As a person calls it; an id that nobody has named stays one.
static const char *called(const pons_companion *c, const char *id)
{
    return pons_world_view_name(c->view, id, "en");
}

__attribute__((format(printf, 3, 4))) static bool refuse(pons__co_refusal *r, const char *rule,
                                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->reason, sizeof r->reason, fmt, ap);
    va_end(ap);
    r->rule = rule;
    return false;
}

static bool rule_known(const pons_companion *c, const pons__co_proposal *p,
                       const pons__co_activity *a, pons__co_refusal *r)
{
    const char *why = pons__co_forbidden(c->view, p->type);
    if (why) {
        return refuse(r, "reality", "%s", why);
    }
    return a || refuse(r, "unknown_action", "there is no activity '%s'", p->type);
}

// The target: where the action leads, else where it is done, else what the proposal says.
static bool rule_place(const pons_companion *c, const pons__co_proposal *p,
                       const pons__co_activity *a, pons__co_refusal *r)
{
    const char *target = *a->to ? a->to : *a->place ? a->place : c->world.place;
    if (*p->place) {
        if (!pons__co_place_of(c->view, p->place)) {
            return refuse(r, "unknown_place", "there is no place '%s'", p->place);
        }
        if (strcmp(p->place, target) != 0) {
            return refuse(r, "wrong_place", "%s is done at %s, not at %s", called(c, a->id),
                          called(c, target), called(c, p->place));
        }
    }
    if (*a->place && strcmp(a->place, c->world.place) != 0) {
        return refuse(r, "wrong_place", "%s is done at %s, and the companion is at %s",
                      called(c, a->id), called(c, a->place), called(c, c->world.place));
    }
    if (*a->to && strcmp(a->to, c->world.place) == 0) {
        return refuse(r, "already_there", "the companion is at %s already", called(c, a->to));
    }
    const pons__co_place *place = pons__co_place_of(c->view, target);
    const int64_t then = *a->to ? pons__co_ends_at(c, a) : c->minute;
    int64_t closes;
    // What is done anywhere is also done where it is closed: one may read a message on the way out.
    if ((*a->place || *a->to) && !pons__co_place_open(c->view, place, then, &closes)) {
        char time[32];
        return refuse(r, "place_closed", "%s is closed at %s", called(c, target),
                      pons_world_view_time(c->view, then, time, sizeof time));
    }
    return true;
}

static bool rule_device(const pons_companion *c, const pons__co_proposal *p,
                        const pons__co_activity *a, pons__co_refusal *r)
{
    const char *id = *p->device ? p->device : a->device;
    if (!*id) {
        return true;
    }
    const pons__co_device *d = pons__co_device_of(c->view, id);
    if (!d) {
        return refuse(r, "unknown_device", "there is no device '%s'", id);
    }
    for (size_t i = 0; a->needs && i < json_array_size(d->can); i++) {
        if (strcmp(json_string_value(json_array_get(d->can, i)), a->needs) == 0) {
            return true;
        }
    }
    if (!a->needs && strcmp(id, a->device) == 0) {
        return true;
    }
    return a->needs ? refuse(r, "device_incapable", "the %s cannot %s", called(c, id), a->needs)
                    : refuse(r, "device_incapable", "the %s is of no use for %s", called(c, id),
                             called(c, a->id));
}

static bool rule_sleep(const pons_companion *c, const pons__co_proposal *p,
                       const pons__co_activity *a, pons__co_refusal *r)
{
    char why[sizeof r->reason];
    if (*a->ends) {
        if (!c->world.current.what || strcmp(c->world.current.what->id, a->ends) != 0) {
            return refuse(r, "not_lasting", "there is no %s to end", called(c, a->ends));
        }
        if (strcmp(a->ends, "sleep") == 0 && !pons__co_is_morning(c) &&
            !pons__co_message_that_may(c, why, sizeof why)) {
            return refuse(r, "too_early", "sleep is not over");
        }
        return true;
    }
    return !pons__co_sleeping(c) || refuse(r, "asleep", "asleep, one can only wake");
}

static bool rule_window(const pons_companion *c, const pons__co_proposal *p,
                        const pons__co_activity *a, pons__co_refusal *r)
{
    const size_t n = json_array_size(a->windows);
    for (size_t i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(a->windows, i));
        if (pons__co_in_window(c->view, id, c->seed, c->minute, NULL)) {
            return true;
        }
    }
    return n == 0 || refuse(r, "window", "%s is done only in the window %s", called(c, a->id),
                            json_string_value(json_array_get(a->windows, 0)));
}

static bool rule_energy(const pons_companion *c, const pons__co_proposal *p,
                        const pons__co_activity *a, pons__co_refusal *r)
{
    return c->world.energy >= a->energy_min ||
           refuse(r, "energy", "%s needs an energy of %g, and there is %.0f", called(c, a->id),
                  a->energy_min, c->world.energy);
}

static bool rule_conflict(const pons_companion *c, const pons__co_proposal *p,
                          const pons__co_activity *a, pons__co_refusal *r)
{
    const pons__co_activity *now = c->world.current.what;
    if (!now || *a->ends) { // a mark that nothing needs harms nobody
        return true;
    }
    if (now == a) {
        return refuse(r, "same", "%s goes on already", called(c, a->id));
    }
    if (p->preemptive && !a->preemptive) {
        return refuse(r, "not_preemptive", "%s may not interrupt anything", called(c, a->id));
    }
    if (!now->interruptible) {
        return refuse(r, "uninterruptible", "%s cannot be ended early", called(c, now->id));
    }
    return p->preemptive || refuse(r, "conflict", "%s lasts, and %s is not preemptive",
                                   called(c, now->id), called(c, a->id));
}

pons__co_refusal pons__co_filter(const pons_companion *c, const pons__co_proposal *p)
{
    static const pons__co_rule rules[] = {rule_known,  rule_sleep,  rule_place,   rule_device,
                                          rule_window, rule_energy, rule_conflict};
    const pons__co_activity *a = pons__co_activity_of(c->view, p->type);
    pons__co_refusal r = {0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i](c, p, a, &r)) {
            return r;
        }
    }
    return r;
}
