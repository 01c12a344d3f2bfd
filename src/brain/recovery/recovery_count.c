// recovery_count.c - what becomes of a task that gets nowhere: a bounded series that ends at a person.
//
// The navigator has recoveries of its own and they come first. What reaches the brain is a motion that has ended
// without its goal: failed, outcome_unknown, or canceled by the policy, as who starts and cancels for ever gets nowhere
// either. A protective stop, the kernel's preemption and a cancel that ends the task are nobody's failure. The first
// ones go another way (the body's planner avoids for some minutes the place where the motion failed), then comes a
// pause, then a person (recovery_steps.c has the machine, docs/reference/safety.md the numbers). Other approaches to a place to
// which there was no way are tried before that, each once (goals/alternate_places.c).
//
// Decisions are counted beside the motions, but for a look at a motion under way that says "go on"; and so are motions
// that end well where one has ended before: there and back, and there again.
//
// Progress begins all of it anew, and is what cannot be repeated for ever:
//
//   - one of the goals that a person gave is met (not one that a model has added);
//   - the rest of the way to the goal at hand is shorter than it ever was, by progress_m. Swaying
//     to and fro has no new minimum. It is read off motions towards that goal only;
//   - a step of a plan that a person gave has ended;
//   - the battery fills, by a percent, where charging is the goal.
//
// The state is the task's (`ladder`): committed with every step of the inner loop, handed back to the kernel when the
// task is let go of, and given out again. No restart, change of mode or new activation begins it anew, and no answer of
// a model changes it.
#include "brain/body_link/body_port.h"
#include "brain/goals/alternate_places.h"
#include "brain/goals/argument_slots.h"
#include "brain/goals/goal_skills.h"
#include "brain/recovery/recovery_steps.h"

#include <math.h>
#include <string.h>

#define PROGRESS_PCT 1.0 // a charge gained that counts
#define SAME_PLACE_M 0.5 // two motions that end so near to each other have led to one place
#define REFUSED_MAX  200 // bytes of what R4 said that a person is told
#define LOST_MAX     200 // and of why the model is lost
#define BEEN_MAX     32  // places that are remembered; who goes to more has been everywhere

// Real progress: everything but what a model has cost begins anew.
static void begin_anew(const pons_brain *b, pons__react *r, double best_m, int64_t met,
                       double battery_pct)
{
    int tries = b->rules.recovery_other_ways + b->rules.recovery_waits + 1;
    if (pons__task_plan_drives(r->plan) && tries <= b->rules.failures_max) {
        tries = b->rules.failures_max + 1; // a plan ends by its own rules first
    }
    const bool rules = r->task->recovery && r->task->recovery->rules_decide; // for the whole task
    pons__recovery_state *old = r->task->recovery,
                         *l = pons__record_new(&pons__recovery_state_record);
    if (old &&
        old->met == met) { // on the way there it is still the other approach to the same place
        l->others = old->others;
        old->others = NULL;
    }
    pons__record_free(&pons__recovery_state_record, old);
    l->rules_decide = rules;
    pons__set_text(&l->step, "go");
    l->tries = tries;
    l->decisions_max = b->rules.iterations_max;
    l->best_m = best_m;
    l->met = met;
    l->battery_pct = battery_pct;
    r->task->recovery = l;
}

// Of the goals that a person gave: what a model adds it could add and meet for ever.
static int64_t goals_met(const pons__task *task)
{
    int64_t met = 0;
    for (size_t i = 0; i < task->goals.n; i++) {
        const pons__goal *goal = task->goals.at[i];
        if (!goal->added) {
            met += goal->done;
            met += (int64_t)json_array_size(goal->visited);
        }
    }
    return met;
}

// A model may drive anywhere in the name of a goal; only the way to the goal's own zone counts.
static bool towards(const pons_brain *b, const pons__goal *goal, const pons__running *running)
{
    const char *zone = pons__about_zone(b, running->skill, running->args);
    return !goal || !*goal->zone || strcmp(goal->zone, zone ? zone : "") == 0;
}

// What is left of the way to the goal at hand [m], by the motion that leads there; INFINITY: none
// does now.
static double way_left(pons_brain *b, const pons__task *task, const pons__skills *skills)
{
    const pons__goal *goal = pons__recovery_goal(task);
    double left_m = INFINITY;
    for (size_t i = 0; i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        const pons__body_goal *g = pons__port_goal(&b->port, r->goal_id);
        const double d = g ? g->left_m : NAN;
        if (pons__recovery_base(r) && !isnan(d) && towards(b, goal, r)) {
            left_m = fmin(left_m, d);
        }
    }
    return left_m;
}

// ---- progress -----------------------------------------------------------------------------------

void pons__recovery_observe(pons_brain *b, pons__react *r, const pons__skills *skills)
{
    pons__recovery_state *old = pons__recovery_of(r);
    if (!r->task) {
        return;
    }
    const int64_t met = goals_met(r->task);
    const double pct = b->seen && isfinite(b->seen->battery_pct) ? b->seen->battery_pct : 0.0;
    const double left_m = way_left(b, r->task, skills);
    if (!old || met > old->met) { // the next goal has a way of its own
        begin_anew(b, r, left_m, met, pct);
        return;
    }
    const bool nearer =
        isfinite(old->best_m) && left_m <= old->best_m - b->rules.recovery_progress_m;
    const pons__goal *goal = pons__recovery_goal(r->task);
    const bool charges =
        goal && pons__means_of_charge(b, goal) && pct >= old->battery_pct + PROGRESS_PCT;
    if (nearer || charges) {
        begin_anew(b, r, fmin(left_m, old->best_m), met, pct);
        r->failures = 0; // in a row, of one skill
    } else if (!isfinite(old->best_m) && isfinite(left_m)) {
        old->best_m = left_m; // measured for the first time: nothing gained yet
    }
}

void pons__recovery_progress(pons_brain *b, pons__react *r)
{
    const pons__recovery_state *old = pons__recovery_of(r);
    if (old) {
        begin_anew(b, r, old->best_m, old->met, old->battery_pct);
    }
}

// ---- climbing -----------------------------------------------------------------------------------

// Counts one more failure without progress. In a keep-out area it asks at once, for waiting does not help there.
static void climb(const pons_brain *b, pons__recovery_state *l, int64_t error_code, const char *why)
{
    const int64_t ways = b->rules.recovery_other_ways, waits = b->rules.recovery_waits;
    const int64_t n = ++l->failures;
    const bool asks = n >= l->tries + l->granted || error_code == PONS__KEPT_OUT;
    pons__set_text(&l->why, why);
    const bool pauses = n > ways && n <= ways + waits;
    const pons__recovery_event next =
        pauses ? PONS_RECOVERY_FAILED_AND_WAITS : PONS_RECOVERY_FAILED;
    pons__recovery_move(l, asks ? PONS_RECOVERY_FAILED_AND_ASKS : next);
}

static bool other_is_next(pons__recovery_state *l)
{
    const bool more = l->others->next < (int64_t)json_array_size(l->others->args);
    if (more) {
        pons__recovery_move(l, PONS_RECOVERY_HAS_OTHER);
    }
    return more;
}

// Whether another approach is to be tried now, since this one failed: the first, where there was no way
// to the place itself, or the one after it.
static bool tries_other(const pons_brain *b, pons__react *r, const pons__running *running,
                        const pons__result *result)
{
    pons__recovery_state *l = pons__recovery_of(r);
    if (pons__task_plan_drives(r->plan) || result->status != PONS_END_FAILED ||
        l->next != PONS_NEXT_NOTHING) {
        return false;
    }
    if (!l->others && pons__no_way(b, running->skill, result->error_code)) {
        l->others = pons__record_new(&pons__others_record);
        l->others->goal_index = running->goal_index;
        pons__set_text(&l->others->skill, running->skill);
        pons__json(&l->others->from, pons_value_ref(running->args));
        pons__json(&l->others->args, pons__alternates_of(b, running->skill, running->args));
    } else if (!l->others || l->others->next == 0 ||
               !json_equal((json_t *)running->args,
                           json_array_get(l->others->args, (size_t)l->others->next - 1))) {
        return false; // it is none of them
    }
    return other_is_next(l);
}

// Whether a motion has ended here before; if not, it has now.
static bool been_here(pons__recovery_state *l, const pons_report_pose *at)
{
    pons_value *been = l->been ? json_copy((json_t *)l->been) : json_array();
    bool known = json_array_size(been) >= BEEN_MAX;
    pons_each(place, been) {
        const pons__pose was = pons__pose_of(place);
        known = known || hypot(at->x - was.x, at->y - was.y) < SAME_PLACE_M;
    }
    if (!known) {
        json_array_append_new(been,
                              pons_object("x", json_real(at->x), "y", json_real(at->y), NULL));
    }
    pons__json(&l->been, been);
    return known;
}

// A motion has ended well. If the goal is met, the next look at it begins all of this anew.
static void swing(const pons_brain *b, pons__react *r)
{
    pons__recovery_state *l = pons__recovery_of(r);
    if (!been_here(l, &b->port.newest.as.telemetry.pose) ||
        ++l->swings < b->rules.recovery_swings) {
        return;
    }
    const int64_t swings = l->swings;
    l->swings = 0;
    if (r->model_tries > 0 && r->task->goals.n > 0 && !l->rules_decide) {
        l->rules_decide = true;
        l->decisions = 0;
    } else if (l->next == PONS_NEXT_NOTHING) {
        pons__recovery_move(l, PONS_RECOVERY_ASKS);
        pons__set_textf(&l->why,
                        "%lld motions ended where one had ended before, and nothing is "
                        "gained by them",
                        (long long)swings);
    }
}

void pons__recovery_ended(pons_brain *b, pons__react *r, const pons__running *running,
                          const pons__result *result)
{
    const pons__decision_type type = pons__decided(r);
    const bool canceled = result->status == PONS_END_CANCELED;
    const bool ends_task = type == PONS_FINISH || type == PONS_ABORT || type == PONS_SWITCH_TASK;
    const bool stands =
        strcmp(running->skill, pons__means_stop(b)) == 0; // nobody goes anywhere by it
    if (result->status == PONS_END_DONE && pons__recovery_base(running) && !stands &&
        pons__recovery_of(r)) {
        swing(b, r);
    }
    if (result->status == PONS_END_DONE || !pons__recovery_base(running) || !pons__recovery_of(r) ||
        result->error_code == PONS__STOPPED || // no failure of the way
        (stands && r->preempt) || (canceled && (ends_task || r->preempt))) {
        return;
    }
    char why[WHY_MAX];
    snprintf(why, sizeof why, "%.40s %s%s%.200s", running->skill,
             canceled ? "was canceled" : pons__end_words[result->status],
             *result->error_msg ? ": " : "", result->error_msg);
    if (tries_other(b, r, running, result)) {
        pons__set_text(&pons__recovery_of(r)->why, why);
        r->failures = 0; // of the same skill, elsewhere
    } else {
        climb(b, pons__recovery_of(r), result->error_code, why);
    }
    pons__record_free(&pons__human_record, r->human); // a person's word was for one try
    r->human = NULL;
}

void pons__recovery_decided(pons_brain *b, pons__react *r, const pons__decision *d, int source)
{
    pons__recovery_state *l = pons__recovery_of(r);
    const bool goes_on = r->wake == PONS_WAKE_LOOK && d->type == PONS_CONTINUE &&
                         json_array_size(d->ops) == 0 && !d->plan_patch;
    if (!l || goes_on) {
        return;
    }
    l->decisions++;
    const bool model = source == PONS_SOURCE_LLM && r->task->goals.n > 0;
    if (model && !l->rules_decide && l->decisions >= b->rules.model_decisions_max) {
        l->rules_decide = true; // they understand the goal; and they have a budget of their own
        l->decisions = l->swings = 0;
        return;
    }
    if (l->decisions >= l->decisions_max && l->next == PONS_NEXT_NOTHING) {
        pons__recovery_move(l, PONS_RECOVERY_ASKS);
        pons__set_textf(&l->why, "%lld decisions without progress%s%s", (long long)l->decisions,
                        *l->why ? ", the last obstacle: " : "", l->why);
    }
}

bool pons__recovery_takes_over(const pons__react *r)
{
    const pons__recovery_state *l = pons__recovery_of(r);
    return l && l->rules_decide;
}

void pons__recovery_lost(pons__react *r, const char *why)
{
    pons__recovery_state *l = pons__recovery_of(r);
    pons__recovery_move(l, PONS_RECOVERY_ASKS);
    pons__set_textf(&l->why, "%.*s", LOST_MAX, why);
}

const pons_value *pons__recovery_meant(const pons__react *r, const pons__running *running)
{
    const pons__recovery_state *l = pons__recovery_of(r);
    const pons__others *o = l ? l->others : NULL;
    for (size_t i = 0; o && i < json_array_size(o->args); i++) {
        if (running->goal_index == o->goal_index && strcmp(running->skill, o->skill) == 0 &&
            json_equal((json_t *)running->args, json_array_get(o->args, i))) {
            return o->from;
        }
    }
    return running->args;
}

void pons__recovery_refused(pons__react *r, const char *why)
{
    pons__recovery_state *l = pons__recovery_of(r);
    if (l && l->next == PONS_NEXT_NOTHING) {
        pons__set_textf(&l->why, "%.*s", REFUSED_MAX, why);
    }
    if (l && l->others && l->others->next > 0 && r->source == PONS_SOURCE_RECOVERY &&
        l->next == PONS_NEXT_NOTHING) {
        other_is_next(l);
    }
}
