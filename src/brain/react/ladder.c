// ladder.c - what becomes of a task that gets nowhere: a bounded ladder that ends at a person.
//
// The navigator has recoveries of its own and they come first. What reaches the brain is a motion
// that has ended without its goal, and each such end is a rung:
//
//     go --failed--> another_way --failed--> wait, then again --failed--> ask a person
//      ^   `other_ways` of them     `waits` of them, wait_s each                 |
//      |                                                                         | yes: one more
//      `-------------------- real progress, from any rung ---------.             | no:  ABORT
//
// (another way: the body's planner avoids for some minutes the place where the motion failed.)
//
// A motion has failed when it ended as failed or outcome_unknown, and when the policy canceled it:
// who starts and cancels for ever climbs too. A protective stop, the kernel's preemption and a
// cancel that ends the task are nobody's failure. Decisions are counted beside the motions: after
// `decisions` of them without progress a person is asked at once, whatever else was tried. Only a
// look at a motion under way that says "go on" is not counted, because motions end by themselves.
//
// Progress is what cannot be repeated for ever:
//
//   - one of the goals that a person gave is met (not one that a model has added);
//   - the rest of the way to the goal at hand is shorter than it ever was, by progress_m. Swaying
//     to and fro has no new minimum. It is read off motions towards that goal only;
//   - a step of a plan that a person gave has ended;
//   - the battery fills, by a percent, where charging is the goal.
//
// The state is `ladder` in the task: committed with every step of the inner loop, handed back to
// the kernel with the goals when the task is let go of, and given out again with the next
// activation. No restart, change of mode or new activation begins it anew, and no answer of a model
// changes it. The ladder decides in R2, before a plan, a model or the rules are asked, with the
// source "ladder":
//
//   {step, failures, tries, granted, decisions, decisions_max, best_m, met, battery_pct, want, why}
//
//   tries: failures at which a person is asked; granted: more of them, by people; want: what the
//   ladder does next, "", "wait", "pause" (it waits), "ask" or "abort"; met: the goals that were.
#include "brain/brain_internal.h"

#include <math.h>
#include <string.h>

#define PROGRESS_PCT 1.0  // a charge gained that counts
#define STOPPED      9902 // a protective stop ended the goal: no failure of the way
#define WHY_MAX      300

static const pons_value *open_goal(const pons_value *task);
static pons_value *kept(pons_value *react, pons_value *ladder);
static pons_value *fresh(const pons_brain *b, const pons_value *react, double best_m, int64_t met,
                         double battery_pct);
static const pons_value *ladder_of(const pons_value *react);
static void put(pons_value **ladder, const char *key, pons_value *value);
static void climb(const pons_brain *b, pons_value **ladder, const char *why);
static bool uses_base(const pons_value *running);
static int64_t goals_met(const pons_value *task);
static double way_left(pons_brain *b, const pons_value *task, const pons_value *running);
static bool towards(const pons_value *goal, const pons_value *running);

// ---- progress -----------------------------------------------------------------------------------

pons_value *pons__ladder_observe(pons_brain *b, pons_value *react, const pons_value *skills)
{
    const pons_value *task = pons_get(react, "task"), *old = ladder_of(react);
    if (!json_is_object(task)) {
        return react;
    }
    const int64_t met = goals_met(task);
    const double pct = pons_get_num(b->robot, "battery_pct", 0.0);
    const double left_m = way_left(b, task, pons_get(skills, "running"));
    if (!old) {
        return kept(react, fresh(b, react, left_m, met, pct));
    }
    const double best_m = pons_get_num(old, "best_m", INFINITY);
    if (met > pons_get_int(old, "met", 0)) { // the next goal has a way of its own
        return kept(react, fresh(b, react, left_m, met, pct));
    }
    const bool nearer = isfinite(best_m) && left_m <= best_m - b->rules.ladder_progress_m;
    const bool charges = strcmp(pons_get_str(open_goal(task), "intent", ""), "charge") == 0 &&
                         pct >= pons_get_num(old, "battery_pct", 0.0) + PROGRESS_PCT;
    if (nearer || charges) {
        react = kept(react, fresh(b, react, fmin(left_m, best_m), met, pct));
        json_object_set_new(react, "failures", json_integer(0)); // in a row, of one skill
        return react;
    }
    if (!isfinite(best_m) && isfinite(left_m)) { // measured for the first time: nothing gained yet
        pons_value *next = json_copy((json_t *)old);
        put(&next, "best_m", json_real(left_m));
        return kept(react, next);
    }
    return react;
}

pons_value *pons__ladder_progress(pons_brain *b, pons_value *react)
{
    const pons_value *old = ladder_of(react);
    return old ? kept(react,
                      fresh(b, react, pons_get_num(old, "best_m", INFINITY),
                            pons_get_int(old, "met", 0), pons_get_num(old, "battery_pct", 0.0)))
               : react;
}

// ---- climbing -----------------------------------------------------------------------------------

pons_value *pons__ladder_ended(pons_brain *b, pons_value *react, const pons_value *running,
                               const pons_value *result)
{
    const char *status = pons_get_str(result, "status", "");
    const char *type = pons_get_str(pons_get(react, "decision"), "type", "");
    const bool canceled = strcmp(status, "canceled") == 0;
    const bool ends_task = strcmp(type, "FINISH") == 0 || strcmp(type, "ABORT") == 0;
    if (strcmp(status, "done") == 0 || !uses_base(running) || !ladder_of(react) ||
        pons_get_int(result, "error_code", 0) == STOPPED ||
        (canceled && (ends_task || json_is_object(pons_get(react, "preempt"))))) {
        return react;
    }
    char why[WHY_MAX];
    const char *msg = pons_get_str(result, "error_msg", "");
    snprintf(why, sizeof why, "%.40s %s%s%.200s", pons_get_str(running, "skill", ""),
             canceled ? "was canceled" : status, *msg ? ": " : "", msg);
    pons_value *next = json_copy((json_t *)ladder_of(react));
    climb(b, &next, why);
    pons_value *climbed = kept(react, next);
    json_object_set_new(climbed, "human", json_null()); // a person's word was for one try
    return climbed;
}

pons_value *pons__ladder_decided(pons_brain *b, pons_value *react, const pons_value *decision)
{
    const pons_value *old = ladder_of(react);
    const bool goes_on = pons_get_bool(react, "checked_in", false) &&
                         strcmp(pons_get_str(decision, "type", ""), "CONTINUE") == 0 &&
                         json_array_size(pons_get(decision, "ops")) == 0 &&
                         !pons_get(decision, "plan_patch");
    (void)b;
    if (!old || goes_on) {
        return react;
    }
    const int64_t n = pons_get_int(old, "decisions", 0) + 1;
    pons_value *next = json_copy((json_t *)old);
    put(&next, "decisions", json_integer(n));
    if (n >= pons_get_int(old, "decisions_max", 0) && !*pons_get_str(old, "want", "")) {
        put(&next, "want", json_string("ask"));
        put(&next, "step", json_string("ask"));
        put(&next, "why", json_sprintf("%lld decisions without progress", (long long)n));
    }
    return kept(react, next);
}

// One more end without progress.
static void climb(const pons_brain *b, pons_value **ladder, const char *why)
{
    const int64_t n = pons_get_int(*ladder, "failures", 0) + 1;
    const int64_t ways = b->rules.ladder_other_ways, waits = b->rules.ladder_waits;
    const bool asks = n >= pons_get_int(*ladder, "tries", 1) + pons_get_int(*ladder, "granted", 0);
    const char *step = asks ? "ask" : n > ways && n <= ways + waits ? "wait" : "another_way";
    put(ladder, "failures", json_integer(n));
    put(ladder, "why", json_string(why));
    put(ladder, "step", json_string(step));
    if (strcmp(pons_get_str(*ladder, "want", ""), "ask") != 0) { // once wanted, a person is asked
        put(ladder, "want", json_string(strcmp(step, "another_way") == 0 ? "" : step));
    }
}

// ---- deciding -----------------------------------------------------------------------------------

pons_value *pons__ladder_decide(pons_brain *b, pons_value **react, const pons_value *skills)
{
    const pons_value *ladder = ladder_of(*react);
    const char *want = pons_get_str(ladder, "want", "");
    if (!*want) {
        return NULL;
    }
    char why[WHY_MAX];
    snprintf(why, sizeof why, "%s", pons_get_str(ladder, "why", ""));
    size_t i;
    json_t *running;
    json_array_foreach(pons_get(skills, "running"), i, running)
    {
        if (uses_base(running)) { // it ends by itself, and may yet make progress
            return pons_object("type", json_string("CONTINUE"), "reason",
                               json_sprintf("%s: %s may end first", why,
                                            pons_get_str(running, "skill", "what runs")),
                               NULL);
        }
    }
    const long long n = pons_get_int(ladder, "failures", 0);
    if (strcmp(want, "abort") == 0) {
        return pons_object("type", json_string("ABORT"), "reason",
                           json_sprintf("%s, and a person said no", why), NULL);
    }
    if (strcmp(want, "ask") == 0) {
        return pons_object("type", json_string("ASK_HUMAN"), "reason",
                           n > 0 ? json_sprintf("%lld tries without progress, the last: %s; shall "
                                                "I try once more?",
                                                n, why)
                                 : json_sprintf("%s; shall I go on?", why),
                           NULL);
    }
    const bool paused = strcmp(want, "pause") == 0;
    if (paused && pons__find(pons_get(skills, "running"), "skill", "wait")) {
        return pons_object("type", json_string("CONTINUE"), "reason",
                           json_sprintf("%s: waiting before the next try", why), NULL);
    }
    // A goal that is a wait itself must not be met by this one.
    const pons_value *goal = open_goal(pons_get(*react, "task"));
    const bool waits =
        !paused && pons__skill(b, "wait") && strcmp(pons_get_str(goal, "intent", ""), "wait") != 0;
    pons_value *next = json_copy((json_t *)ladder);
    put(&next, "want", json_string(waits ? "pause" : ""));
    *react = kept(*react, next);
    if (!waits) {
        return NULL;
    }
    return pons_object(
        "type", json_string("REPLAN"), "reason",
        json_sprintf("%s; waiting %g s before the next try", why, b->rules.ladder_wait_s), "ops",
        json_pack("[{s:s, s:s, s:{s:f}}]", "op", "dispatch", "skill", "wait", "args", "s",
                  b->rules.ladder_wait_s),
        NULL);
}

pons_value *pons__ladder_answered(pons_brain *b, pons_value *react, const pons_value *answer)
{
    const pons_value *old = ladder_of(react);
    const char *action = pons_get_str(answer, "action", "reject");
    if (strcmp(pons_get_str(old, "want", ""), "ask") != 0 ||
        strcmp(pons_get_str(react, "source", ""), "ladder") != 0 ||
        pons_get_bool(answer, "detached", false)) { // another's question; or it was taken back
        return react;
    }
    pons_value *next = json_copy((json_t *)old);
    if (strcmp(action, "approve") != 0 && strcmp(action, "edit") != 0) {
        put(&next, "want", json_string("abort"));
        return kept(react, next);
    }
    const int64_t over = pons_get_int(old, "failures", 0) + 1 - pons_get_int(old, "tries", 1);
    put(&next, "granted", json_integer(over > 0 ? over : 0));
    put(&next, "decisions_max",
        json_integer(pons_get_int(old, "decisions", 0) + b->rules.iterations_max));
    put(&next, "want", json_string(""));
    put(&next, "step", json_string("another_way"));
    return kept(react, next);
}

// ---- what people and models see -----------------------------------------------------------------

pons_value *pons__ladder_brief(const pons_value *task)
{
    const pons_value *l = pons_get(task, "ladder");
    if (!json_is_object(l)) {
        return json_null();
    }
    const int64_t failures = pons_get_int(l, "failures", 0);
    const int64_t tries = pons_get_int(l, "tries", 0) + pons_get_int(l, "granted", 0) - failures;
    const int64_t more = pons_get_int(l, "decisions_max", 0) - pons_get_int(l, "decisions", 0);
    const pons_value *best = pons_get(l, "best_m");
    return pons_object("step", json_string(pons_get_str(l, "step", "go")), "failures",
                       json_integer(failures), "tries_left", json_integer(tries > 0 ? tries : 0),
                       "decisions_left", json_integer(more > 0 ? more : 0), "best_m",
                       best ? pons_value_ref(best) : json_null(), "why",
                       json_string(pons_get_str(l, "why", "")), NULL);
}

// ---- small things -------------------------------------------------------------------------------

static pons_value *fresh(const pons_brain *b, const pons_value *react, double best_m, int64_t met,
                         double battery_pct)
{
    int tries = b->rules.ladder_other_ways + b->rules.ladder_waits + 1;
    if (pons__task_plan_drives(pons_get(react, "plan")) && tries <= b->rules.failures_max) {
        tries = b->rules.failures_max + 1; // a plan ends by its own rules first
    }
    return pons_object("step", json_string("go"), "failures", json_integer(0), "tries",
                       json_integer(tries), "granted", json_integer(0), "decisions",
                       json_integer(0), "decisions_max", json_integer(b->rules.iterations_max),
                       "best_m", isfinite(best_m) ? json_real(best_m) : json_null(), "met",
                       json_integer(met), "battery_pct", json_real(battery_pct), "want",
                       json_string(""), "why", json_string(""), NULL);
}

static const pons_value *ladder_of(const pons_value *react)
{
    const pons_value *l = pons_get(pons_get(react, "task"), "ladder");
    return json_is_object(l) ? l : NULL;
}

// The react with that ladder in its task; takes both.
static pons_value *kept(pons_value *react, pons_value *ladder)
{
    pons_value *task = pons__with(pons_get(react, "task"), "ladder", ladder);
    pons_value *next = pons__with(react, "task", task);
    pons_value_unref(react);
    return next;
}

// For a copy that nobody else has yet.
static void put(pons_value **ladder, const char *key, pons_value *value)
{
    json_object_set_new(*ladder, key, value);
}

static bool uses_base(const pons_value *running)
{
    size_t i;
    json_t *name;
    json_array_foreach(pons_get(running, "resources"), i, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), "base") == 0) {
            return true;
        }
    }
    return false;
}

static const pons_value *open_goal(const pons_value *task)
{
    size_t i;
    json_t *goal;
    json_array_foreach(pons_get(task, "goals"), i, goal)
    {
        if (!pons_get_bool(goal, "done", false)) {
            return goal;
        }
    }
    return NULL;
}

// Of the goals that a person gave: what a model adds it could add and meet for ever.
static int64_t goals_met(const pons_value *task)
{
    int64_t met = 0;
    size_t i;
    json_t *goal;
    json_array_foreach(pons_get(task, "goals"), i, goal)
    {
        if (!pons_get_bool(goal, "added", false)) {
            met += pons_get_bool(goal, "done", false);
            met += (int64_t)json_array_size(pons_get(goal, "visited"));
        }
    }
    return met;
}

// What is left of the way to the goal at hand [m], by the motion that leads there; INFINITY: none
// does now.
static double way_left(pons_brain *b, const pons_value *task, const pons_value *running)
{
    const pons_value *goal = open_goal(task);
    double left_m = INFINITY;
    size_t i;
    json_t *r;
    json_array_foreach(running, i, r)
    {
        const pons__body_goal *g = pons__port_goal(&b->port, pons_get_str(r, "goal_id", ""));
        const pons_value *d = pons_get(g ? g->feedback : NULL, "distance_remaining_m");
        if (uses_base(r) && json_is_number(d) && towards(goal, r)) {
            left_m = fmin(left_m, json_number_value(d));
        }
    }
    return left_m;
}

// A model may drive anywhere in the name of a goal; only the way to the goal's own zone counts.
static bool towards(const pons_value *goal, const pons_value *running)
{
    const char *zone = pons_get_str(goal, "zone", NULL);
    return !zone || strcmp(zone, pons_get_str(pons_get(running, "args"), "zone", "")) == 0;
}
