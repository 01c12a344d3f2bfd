// activity_executor.c - starts what was decided and ends what lasts: the only place that changes the world
// state because of an action.
#include "companion/activity_executor.h"

#include "companion/events.h"
#include "companion/world_moment.h"
#include "pons/printable.h"

#include <string.h>

#define MINUTES_AN_HOUR 60.0

void pons__co_execute(pons_companion *c, const pons__co_activity *a, const pons__co_proposal *p)
{
    c->board.action = a;
    c->board.proposal = *p;
    c->board.has_proposal = true;
    // What it interrupts is ended when the decision has been recorded: see pons__co_apply.
}

static void remember(pons_companion *c, const pons__co_activity *a, const pons__co_proposal *p)
{
    pons__co_world *w = &c->world;
    if (w->n_done == PONS__CO_DONE_MAX) { // the oldest is forgotten
        memmove(w->done, w->done + 1, (PONS__CO_DONE_MAX - 1) * sizeof *w->done);
        w->n_done--;
    }
    pons__co_done *d = &w->done[w->n_done++];
    *d = (pons__co_done){.at = c->minute};
    snprintf(d->type, sizeof d->type, "%s", a->id);
    snprintf(d->branch, sizeof d->branch, "%s", c->board.branch ? c->board.branch : "");
    snprintf(d->rationale, sizeof d->rationale, "%.*s",
             (int)pons_text_whole(p->rationale, sizeof d->rationale - 1), p->rationale);
}

static void arrive(pons_companion *c, const char *place)
{
    pons__co_event(c, "state.changed", "what", json_string("place"), "from",
                   json_string(c->world.place), "to", json_string(place), NULL);
    snprintf(c->world.place, sizeof c->world.place, "%s", place);
    if (strcmp(place, "school") == 0) {
        c->world.last_school = c->minute;
    }
}

static void read_messages(pons_companion *c)
{
    pons_value *list = json_array();
    const size_t n = c->n_read + c->world.n_messages;
    pons__co_message *read = realloc(c->read, (n + 1) * sizeof *read);
    c->read = read ? read : c->read;
    c->nomem = c->nomem || !read;
    for (size_t i = 0; i < c->world.n_messages; i++) {
        json_array_append_new(list, json_string(c->world.messages[i].text));
        if (read) {
            read[c->n_read++] = c->world.messages[i];
        } else {
            pons__co_message_fini(&c->world.messages[i]);
        }
    }
    c->world.n_messages = 0;
    pons__co_event(c, "state.changed", "what", json_string("messages"), "read", list, NULL);
}

static void begin(pons_companion *c, const pons__co_activity *a, const pons__co_proposal *p)
{
    remember(c, a, p);
    const int64_t end = pons__co_ends_at(c, a);
    const bool lasts = end > c->minute;
    char until[32];
    pons_value *action = pons__co_action_json(a);
    if (action && p->preemptive) {
        json_object_set_new(action, "preemptive", json_true());
    }
    pons__co_event(c, "action.started", "action", action, "place", json_string(c->world.place),
                   "branch", json_string(c->board.branch), "until",
                   lasts ? json_string(pons_world_view_time(c->view, end, until, sizeof until))
                         : NULL,
                   "rationale", *p->rationale ? json_string(p->rationale) : NULL, NULL);
    if (lasts) {
        c->world.current = (pons__co_current){.what = a, .since = c->minute, .until = end};
        snprintf(c->world.current.branch, sizeof c->world.current.branch, "%s", c->board.branch);
    } else {
        pons__co_event(c, "action.ended", "action", pons__co_action_json(a), "status",
                       json_string("done"), "minutes", json_integer(0), "branch",
                       json_string(c->board.branch), NULL);
        if (*a->to) {
            arrive(c, a->to);
        }
        if (a->reads_messages) {
            read_messages(c);
        }
    }
    if (strcmp(a->id, "sleep") == 0) {
        c->world.last_sleep = c->minute;
    }
}

void pons__co_apply(pons_companion *c)
{
    const pons__co_activity *a = c->board.action;
    if (!a) {
        return;
    }
    if (c->world.current.what) {
        const bool meant = strcmp(a->ends, c->world.current.what->id) == 0;
        pons__co_end(c, meant && pons__co_is_morning(c) ? "done" : "interrupted", a->id);
    }
    begin(c, a, &c->board.proposal);
}

void pons__co_end_what_is_over(pons_companion *c)
{
    const pons__co_current *now = &c->world.current;
    // Sleep is ended by waking; whoever sleeps does so until the tree wakes them.
    if (now->what && now->until <= c->minute && !pons__co_sleeping(c)) {
        pons__co_end(c, "done", NULL);
    }
}

void pons__co_end(pons_companion *c, const char *status, const char *why)
{
    const pons__co_current was = c->world.current;
    char since[32];
    c->world.current = (pons__co_current){0};
    if (strcmp(was.what->id, "sleep") == 0) {
        c->world.last_wake = c->minute;
    }
    pons_value *ev = pons__co_event(
        c, "action.ended", "action", pons__co_action_json(was.what), "status", json_string(status),
        "since", json_string(pons_world_view_time(c->view, was.since, since, sizeof since)),
        "minutes", json_integer(c->minute - was.since), "branch", json_string(was.branch), "by",
        why ? json_string(why) : NULL, NULL);
    (void)ev;
    if (*was.what->to && strcmp(status, "done") == 0) {
        arrive(c, was.what->to);
    }
    if (was.what->reads_messages && strcmp(status, "done") == 0) {
        read_messages(c);
    }
}

static const char *energy_word(double energy)
{
    static const char *const words[] = {"exhausted", "tired", "fit", "fresh"};
    static const double below[] = {20, 50, 80};
    size_t i = 0;
    while (i < sizeof below / sizeof *below && energy >= below[i]) {
        i++;
    }
    return words[i];
}

void pons__co_live_a_minute(pons_companion *c)
{
    const pons__co_activity *a = c->world.current.what;
    const double before = c->world.energy;
    double e = before + (a ? a->energy_per_h : c->view->idle_energy_per_h) / MINUTES_AN_HOUR;
    c->world.energy = e = e < 0 ? 0 : e > 100 ? 100 : e;
    const char *was = energy_word(before), *is = energy_word(e);
    if (was != is) {
        pons__co_event(c, "state.changed", "what", json_string("energy"), "from", json_string(was),
                       "to", json_string(is), NULL);
    }
}
