// decide_rules.c - from an observation to a decision.
//
// A table with reasons: the first line that fits decides.
//
//   no task, or all goals done ............ CONTINUE without operations, FINISH
//   the stop is latched ................... ASK_HUMAN (ABORT when the person gave up)
//   a skill of another goal runs .......... REPLAN, cancel it
//   a skill of this goal runs ............. CONTINUE; REPLAN, cancel it, when it gets nowhere
//   the robot lacks the skill ............. ABORT
//   the last result of this goal:
//     none, canceled ...................... CONTINUE, dispatch
//     done ................................ the next step, or RETRY after a recovery step, or
//                                           REPLAN (a moment, then RETRY) when the world does not
//                                           show what was wished
//     outcome_unknown ..................... REPLAN: look (or wait), then RETRY
//     failures_max in a row ............... ASK_HUMAN; ABORT when the person said no
//     failed, by its recovery ............. RETRY, REPLAN (a pause or a look, then RETRY),
//                                           ASK_HUMAN, ABORT
//     refused, rejected ................... REPLAN, and after failures_max ASK_HUMAN; a person's no to
//                                           this call: ABORT, to another one: CONTINUE, dispatch
//
// What skill meets a goal, and how it is called, is not known here: the observation has it (`means`),
// from the skills' registry, and so which skill pauses and which looks.
//
// A recovery step (a pause, a look) is dispatched for the goal like any other; that the last result is
// one of it is how the next round knows to try the goal's own skill again. So the policy needs no
// memory of its own, and the same observation gives the same decision for ever.
#include "intents/intent_file.h"
#include "pons/buf.h"
#include "pons/goal_match.h"
#include "pons/language.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REASON_MAX            400
#define RECOVERY_WAIT_S       3.0
#define SETTLE_WAIT_S         3.0 // for telemetry to show what a skill did, at any --speed
#define FAILURES_MAX_FALLBACK 3
#define CHARGED_PCT_FALLBACK  80.0 // of an observation without the kernel's
#define CHARGE_LOOK_S         10.0 // and looks at its battery this often

// The step that a goal needs now.
typedef struct step {
    const char *skill;
    pons_value *args; // owned
    bool satisfied;   // nothing is left to do for the goal, as far as its results tell
    bool each;        // the goal may need it again, for another one of its list
    const char *test; // that says when the goal is met: "ended", "at", "charged", "facts"
    char what[160];   // "go to kitchen"
} step;

typedef struct view {
    const pons__intents *rules;
    const pons_value *obs, *task, *goals, *goal, *last, *skills, *human, *means;
    size_t index; // of goal
    int64_t failures, failures_max;
    double charged_pct;
    bool zh; // the task was said in Chinese: so are questions
} view;

// ---- reading the observation --------------------------------------------------------------------

static bool is_done(const pons_value *goal)
{
    return pons_get_bool(goal, "done", false);
}

static const pons_value *object_or_null(const pons_value *obj, const char *key)
{
    const pons_value *v = pons_get(obj, key);
    return json_is_object(v) ? v : NULL;
}

static int look_at(view *v, const pons_value *obs, pons_error *err)
{
    if (!json_is_object(obs)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "the observation is not an object");
    }
    v->obs = obs;
    v->task = object_or_null(obs, "task");
    v->zh = pons_language_chinese(pons_get_str(v->task, "text", ""));
    v->goals = pons_get(v->task, "goals");
    v->skills = pons_get(obs, "skills");
    v->means = pons_get(obs, "means");
    v->human = object_or_null(obs, "human");
    v->failures = pons_get_int(obs, "failures", 0);
    v->failures_max = pons_get_int(pons_get(obs, "limits"), "failures_max", FAILURES_MAX_FALLBACK);
    v->charged_pct = pons_get_num(pons_get(obs, "limits"), "charged_pct", CHARGED_PCT_FALLBACK);
    while (v->index < json_array_size(v->goals) && is_done(json_array_get(v->goals, v->index))) {
        v->index++;
    }
    v->goal = json_array_get(v->goals, v->index);
    // A result of another goal says nothing about this one.
    const pons_value *last = object_or_null(obs, "last_result");
    v->last = last && pons_get_int(last, "goal_index", -1) == (int64_t)v->index ? last : NULL;
    return PONS_OK;
}

static bool has_skill(const view *v, const char *skill)
{
    for (size_t i = 0; i < json_array_size(v->skills); i++) {
        const char *s = json_string_value(json_array_get(v->skills, i));
        if (s && strcmp(s, skill) == 0) {
            return true;
        }
    }
    return !json_is_array(v->skills); // not told: leave it to the critic
}

static bool last_is(const view *v, const char *status, const char *skill)
{
    return v->last && strcmp(pons_get_str(v->last, "status", ""), status) == 0 &&
           (!skill || strcmp(pons_get_str(v->last, "skill", ""), skill) == 0);
}

// The first running skill that is (or is not) of the current goal, but for what runs beside
// anything.
static const pons_value *running_of(const view *v, bool ours)
{
    const pons_value *running = pons_get(v->obs, "running");
    pons_each(r, running) {
        bool is_ours = pons_get_int(r, "goal_index", (int64_t)v->index) == (int64_t)v->index;
        bool beside = pons_get_bool(r, "beside", false);
        if (is_ours == ours && (ours || !beside)) {
            return r;
        }
    }
    return NULL;
}

// ---- building decisions -------------------------------------------------------------------------

// Takes out what a cut by a precision or a buffer left of a character.
static void drop_cut_chars(char *s)
{
    char *to = s;
    while (*s) {
        unsigned char c = (unsigned char)*s;
        size_t want = c < 0x80 ? 1 : c < 0xC0 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4, n = 1;
        while (n < want && ((unsigned char)s[n] & 0xC0u) == 0x80u) {
            n++;
        }
        if (n == want) {
            memmove(to, s, n);
            to += n;
        }
        s += n;
    }
    *to = '\0';
}

__attribute__((format(printf, 3, 4))) static pons_value *decision(const char *type, pons_value *ops,
                                                                  const char *fmt, ...)
{
    char reason[REASON_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    drop_cut_chars(reason);
    return pons_object("type", json_string(type), "reason", json_string(reason), "ops", ops, NULL);
}

static pons_value *one_op(pons_value *op)
{
    pons_value *ops = json_array();
    if (json_array_append_new(ops, op) != 0) {
        json_decref(ops);
        return NULL;
    }
    return ops;
}

static pons_value *dispatch(const view *v, const char *skill, pons_value *args)
{
    return one_op(pons_object("op", json_string("dispatch"), "skill", json_string(skill), "args",
                              args, "goal_index", json_integer((json_int_t)v->index), NULL));
}

static pons_value *dispatch_step(const view *v, const step *st)
{
    return dispatch(v, st->skill, json_incref(st->args));
}

static pons_value *cancel(const pons_value *running)
{
    return one_op(pons_object("op", json_string("cancel"), "goal_id",
                              json_string(pons_get_str(running, "goal_id", "")), NULL));
}

// ---- what a goal needs --------------------------------------------------------------------------

// Whether a call did what this one is to do: a wait that was a recovery step of another length is not
// the wish, and neither is a turn by another angle. Words may differ by what the robot has seen since.
static bool same_amounts(const pons_value *means, const pons_value *args)
{
    const char *amount = pons_get_str(means, "amount", "");
    bool same = true;
    pons_each_member(key, wanted, pons_get(means, "args")) {
        const pons_value *had = pons_get(args, key);
        if (json_is_number(wanted) && json_is_number(had)) {
            same = same && (strcmp(key, amount) == 0 ? pons_value_enough(had, wanted)
                                                     : pons_value_near(had, wanted));
        }
    }
    return same;
}

// The robot's part of an observation has members that the goal's test names: equal, or as much.
static bool facts_hold(const view *v, const pons_value *facts)
{
    bool hold = json_object_size(facts) > 0;
    pons_each_member(name, wanted, facts) {
        const pons_value *is = pons_get(pons_get(v->obs, "robot"), name);
        hold = hold && pons_value_shows(is, wanted);
    }
    return hold;
}

// The goal's last step has ended, or the world shows what it was for.
static bool is_satisfied(const view *v, const step *st, const pons_value *test, bool ended)
{
    const pons_value *robot = pons_get(v->obs, "robot");
    if (strcmp(st->test, "charged") == 0) {
        return pons_get_bool(robot, "docked", false);
    }
    if (strcmp(st->test, "facts") == 0) {
        return facts_hold(v, test);
    }
    if (strcmp(st->test, "at") == 0) {
        return last_is(v, "done", NULL) && !pons_get(v->goal, "pose") &&
               strcmp(pons_get_str(robot, "zone", ""), pons_get_str(v->goal, "zone", "?")) == 0;
    }
    return ended && !st->each;
}

// Its steps depend on what was seen: the means are the next one alone.
static bool is_search(const view *v)
{
    const char *intent = pons_get_str(v->goal, "intent", "");
    return strcmp(intent, "find") == 0 || strcmp(intent, "see") == 0 ||
           strcmp(intent, "look_at") == 0;
}

// Is there no later step of the goal?
static bool last_step(const view *v, const pons_value *m)
{
    pons_each(other, v->means) {
        if (pons_get_int(other, "goal_index", -1) == (int64_t)v->index &&
            pons_get_int(other, "step", 0) > pons_get_int(m, "step", 0)) {
            return false;
        }
    }
    return true;
}

// A call of it was a part, and there is more to do.
static bool has_rest(const view *v)
{
    return pons_get_num(v->goal, "left", 0.0) > 0.0 && !is_done(v->goal);
}

// One after the other: the step after the one that has ended last, and the last when all have.
static void goal_step(const view *v, step *ret)
{
    const pons_value *pick = NULL, *test = NULL;
    bool ended = false; // the last one has
    pons_each(m, v->means) {
        if (pons_get_int(m, "goal_index", -1) != (int64_t)v->index) {
            continue;
        }
        if (!pick || ended) {
            pick = m;
            ended = last_is(v, "done", pons_get_str(m, "skill", "?")) &&
                    same_amounts(m, pons_get(v->last, "args")) && !has_rest(v);
        } else if (last_is(v, "done", pons_get_str(m, "skill", "?"))) {
            pick = m;
            ended = !has_rest(v);
        }
        if (pick == m && !ended && !last_step(v, m) && facts_hold(v, pons_get(m, "test"))) {
            ended = true; // the world shows it already: a thing that is in hand needs no grasp
        }
        test = pons_get(m, "test");
    }
    if (!pick && is_search(v)) {
        return; // it was looked for everywhere
    }
    if (!pick) {
        const char *intent = pons_get_str(v->goal, "intent", "");
        snprintf(ret->what, sizeof ret->what, "\"%.60s\"%s", intent,
                 strcmp(intent, "charge") ? ""
                                          : ", which takes a charger in its world (say \"this is "
                                            "your place\" on it), and wheels");
        return;
    }
    const pons_value *args = pons_get(pick, "args");
    ret->skill = pons_get_str(pick, "skill", "?");
    ret->args = args ? json_incref((pons_value *)args) : json_object();
    ret->each = pons_get_bool(pick, "each", false);
    ret->test = json_is_object(test)   ? "facts"
                : json_is_string(test) ? json_string_value(test)
                                       : "ended";
    ret->satisfied = is_satisfied(v, ret, test, ended);
    snprintf(ret->what, sizeof ret->what, "%s", pons_get_str(pick, "says", ret->skill));
    if (strcmp(ret->test, "charged") == 0) {
        snprintf(ret->what, sizeof ret->what, "%.90s (battery %.0f %%)",
                 pons_get_str(pick, "says", ret->skill),
                 pons_get_num(pons_get(v->obs, "robot"), "battery_pct", 0));
    }
}

// ---- deciding -----------------------------------------------------------------------------------

// The way to pause ("wait") or to look ("look"), when the robot has it; NULL: none.
static const pons_value *recovery_of(const view *v, const char *intent)
{
    pons_each(m, v->means) {
        if (pons_get_int(m, "goal_index", -1) < 0 && has_skill(v, pons_get_str(m, "skill", "?")) &&
            strcmp(pons_get_str(m, "intent", ""), intent) == 0) {
            return m;
        }
    }
    return NULL;
}

static pons_value *dispatch_recovery(const view *v, const pons_value *m, double s)
{
    const char *amount = pons_get_str(m, "amount", "");
    pons_value *args = json_copy((pons_value *)pons_get(m, "args"));
    if (*amount) {
        json_object_set_new(args, amount, json_real(s));
    }
    return dispatch(v, pons_get_str(m, "skill", "?"), args);
}

// Something else before the skill is tried again: a pause for what stands in the way to go, a look
// for what is not known. Without either, the skill at once.
static pons_value *replan(const view *v, const step *st, bool look_first, double wait_s,
                          const char *why)
{
    const pons_value *pause = recovery_of(v, "wait"), *look = recovery_of(v, "look");
    if (pause && !(look_first && look)) {
        return decision("REPLAN", dispatch_recovery(v, pause, wait_s),
                        "%s; waiting %g s before trying to %s again.", why, wait_s, st->what);
    }
    if (look) {
        return decision("REPLAN", dispatch_recovery(v, look, 0.0),
                        "%s; looking before trying to %s again.", why, st->what);
    }
    return decision("REPLAN", dispatch_step(v, st), "%s; trying to %s another way.", why, st->what);
}

// Why a person is asked, in Chinese.
static const char *why_zh(const view *v, char *buf, size_t cap)
{
    const char *status = pons_get_str(v->last, "status", ""),
               *msg = pons_get_str(v->last, "error_msg", ""),
               *skill = pons_get_str(v->last, "skill", "");
    const bool failed = strcmp(status, "failed") == 0;
    skill = *skill ? skill : "这个决定";
    if (strcmp(status, "done") == 0) {
        snprintf(buf, cap, "%.64s 结束了，但看不到结果", skill);
    } else if (strcmp(status, "outcome_unknown") == 0) {
        snprintf(buf, cap, "不知道 %.64s 的结果", skill);
    } else {
        const int n = snprintf(buf, cap, "%.64s %s", skill, failed ? "失败" : "没有被允许");
        snprintf(buf + n, cap - (size_t)n, "%s%.160s%s", *msg ? "（" : "", msg, *msg ? "）" : "");
    }
    return buf;
}

// Asks, until a person has said yes or no, which decides what follows.
static pons_value *ask(const view *v, const step *st, const char *why)
{
    const char *answer = pons_get_str(v->human, "answer", "");
    pons__control said = pons__policy_control(v->rules, answer);
    if (said == CONTROL_NO || said == CONTROL_STOP || said == CONTROL_CANCEL) {
        const bool reported = strcmp(pons_get_str(v->last, "status", ""), "refused") == 0;
        return decision("ABORT", NULL, "%s%s.", why, reported ? "" : ", and a person said no");
    }
    char zh[320];
    if (said != CONTROL_YES) {
        return decision("ASK_HUMAN", NULL, pons_translate(v->zh, "%s; shall I try again?"),
                        v->zh ? why_zh(v, zh, sizeof zh) : why);
    }
    return decision("RETRY", dispatch_step(v, st), "A person said \"%.60s\": trying to %s again.",
                    answer, st->what);
}

// "navigate_to_pose failed with 106 (obstacle), 2 of 3 in a row".
static void describe(const view *v, const char *verb, char *buf, size_t cap)
{
    const char *msg = pons_get_str(v->last, "error_msg", "");
    const char *skill = pons_get_str(v->last, "skill", "");
    const long long code = (long long)pons_get_int(v->last, "error_code", 0);
    char with[32] = "", count[64] = "";
    if (code) { // what was refused before it was sent has none
        snprintf(with, sizeof with, " with %lld", code);
    }
    if (v->failures > 0) {
        snprintf(count, sizeof count, ", failure %lld of %lld", (long long)v->failures,
                 (long long)v->failures_max);
    }
    snprintf(buf, cap, "%s %s%s%s%.160s%s%s", *skill ? skill : "the decision", verb, with,
             *msg ? " (" : "", msg, *msg ? ")" : "", count);
}

static pons_value *after_failure(const view *v, const step *st)
{
    char why[320];
    describe(v, "failed", why, sizeof why);
    const char *recovery = pons_get_str(v->last, "recovery", "none");
    if (strcmp(recovery, "abort") == 0) {
        return decision("ABORT", NULL, "%s; it cannot be recovered.", why);
    }
    if (strcmp(recovery, "ask_human") == 0 || v->failures >= v->failures_max) {
        return ask(v, st, why);
    }
    if (strcmp(recovery, "replan") == 0) {
        return replan(v, st, v->failures % 2 == 0, RECOVERY_WAIT_S, why);
    }
    return decision("RETRY", dispatch_step(v, st), "%s; trying to %s again.", why, st->what);
}

// Whether a skill is one of those that meet the goal.
static bool is_means(const view *v, const char *skill)
{
    pons_each(m, v->means) {
        if (pons_get_int(m, "goal_index", -1) == (int64_t)v->index &&
            strcmp(pons_get_str(m, "skill", ""), skill) == 0) {
            return true;
        }
    }
    return false;
}

// Whether the last call was the step's own: not one of a model's, of another skill or to another place.
static bool own_call(const view *v, const step *st)
{
    static const char *const places[] = {"zone", "pose"};
    const char *skill = pons_get_str(v->last, "skill", "");
    bool own = !*skill || is_means(v, skill);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const pons_value *had = pons_get(pons_get(v->last, "args"), places[i]);
        const pons_value *wanted = pons_get(st->args, places[i]);
        const bool texts = json_is_string(had) && json_is_string(wanted);
        const bool same =
            !had || !wanted ||
            (texts ? strcasecmp(json_string_value(had), json_string_value(wanted)) == 0
                   : pons_value_near(had, wanted));
        own = own && same;
    }
    return own;
}

// The critic, the body or a person did not let it start.
static pons_value *after_refusal(const view *v, const step *st, const char *verb)
{
    char why[320];
    char was[24];
    snprintf(was, sizeof was, "was %s", verb);
    describe(v, was, why, sizeof why);
    const char *recovery = pons_get_str(v->last, "recovery", "none");
    if (strcmp(recovery, "abort") == 0) {
        return decision("ABORT", NULL, "%s.", why);
    }
    const bool said = strcmp(recovery, "ask_human") == 0;
    if (said && !own_call(v, st)) { // the no was to that
        return decision("CONTINUE", dispatch_step(v, st), "%s; now %s.", why, st->what);
    }
    bool person = said || v->failures >= v->failures_max;
    return person ? ask(v, st, why) : replan(v, st, false, RECOVERY_WAIT_S, why);
}

static pons_value *after_done(const view *v, const step *st)
{
    const char *skill = pons_get_str(v->last, "skill", "");
    if (strcmp(skill, st->skill) != 0) {
        const bool on = is_means(v, skill) || is_search(v);
        return decision(on ? "CONTINUE" : "RETRY", dispatch_step(v, st), "%s is done: now %s.",
                        skill, st->what);
    }
    if (st->each) {
        return decision("CONTINUE", dispatch_step(v, st), "The next stop: %s.", st->what);
    }
    if (has_rest(v)) {
        return decision("CONTINUE", dispatch_step(v, st), "There is more to do: %s.", st->what);
    }
    if (v->failures >= v->failures_max) {
        return ask(v, st, "The skill ends well, but the world does not show it");
    }
    if (strcmp(st->test, "ended") == 0) { // a recovery step, shorter than the wait that was wished
        return decision("RETRY", dispatch_step(v, st), "The pause is over: now %s.", st->what);
    }
    // Telemetry may lag behind the result: it gets a moment before the skill is started again.
    char why[160];
    const pons_value *robot = pons_get(v->obs, "robot");
    const bool place = strcmp(st->test, "at") == 0;
    snprintf(why, sizeof why, "%s ended, but %s%s", skill,
             place                              ? "the robot is in "
             : strcmp(st->test, "charged") == 0 ? "the robot is not on the charger"
                                                : "the robot does not show it",
             place ? pons_get_str(robot, "zone", "no zone") : "");
    return replan(v, st, false, SETTLE_WAIT_S, why);
}

static pons_value *after_result(const view *v, const step *st)
{
    const char *status = pons_get_str(v->last, "status", "");
    if (strcmp(status, "done") == 0) {
        return after_done(v, st);
    }
    if (strcmp(status, "failed") == 0) {
        return after_failure(v, st);
    }
    if (strcmp(status, "refused") == 0 || strcmp(status, "rejected") == 0) {
        return after_refusal(v, st, status);
    }
    if (strcmp(status, "outcome_unknown") == 0) {
        char why[160];
        snprintf(why, sizeof why, "What became of %s is not known",
                 pons_get_str(v->last, "skill", "the skill"));
        bool person = strcmp(pons_get_str(v->last, "recovery", ""), "ask_human") == 0;
        return person ? ask(v, st, why) : replan(v, st, true, RECOVERY_WAIT_S, why);
    }
    return decision("CONTINUE", dispatch_step(v, st), "It was canceled before; again: %s.",
                    st->what);
}

static pons_value *decide_step(const view *v, step *st);

// The goal's results say that it is done, although it is not marked yet.
static pons_value *satisfied(const view *v, const step *st)
{
    double pct = pons_get_num(pons_get(v->obs, "robot"), "battery_pct", 100);
    if (strcmp(st->test, "charged") == 0 && pct < v->charged_pct) {
        const pons_value *pause = recovery_of(v, "wait");
        pons_value *op = pause ? dispatch_recovery(v, pause, CHARGE_LOOK_S) : NULL;
        return decision("CONTINUE", op, "On the charger: %.0f %% of %.0f %%.", pct, v->charged_pct);
    }
    if (v->index + 1 >= json_array_size(v->goals)) {
        return decision("FINISH", NULL, "The last goal is done: %s.", st->what);
    }
    view next = *v;
    next.index++;
    while (next.index < json_array_size(v->goals) &&
           is_done(json_array_get(v->goals, next.index))) {
        next.index++;
    }
    next.goal = json_array_get(v->goals, next.index);
    if (!next.goal) {
        return decision("FINISH", NULL, "The last goal is done: %s.", st->what);
    }
    next.last = NULL;
    step then = {0};
    goal_step(&next, &then);
    pons_value *d = decide_step(&next, &then);
    json_decref(then.args);
    return d;
}

static pons_value *while_running(const view *v, const step *st, const pons_value *running)
{
    const char *skill = pons_get_str(running, "skill", "the skill");
    double elapsed = pons_get_num(running, "elapsed_s", 0);
    const pons_value *left = pons_get(running, "distance_remaining_m");
    char distance[48] = "";
    if (json_is_number(left)) {
        snprintf(distance, sizeof distance, ", %.2f m to go", json_number_value(left));
    }
    if (pons_get_bool(v->obs, "no_progress", false)) {
        return decision("REPLAN", cancel(running),
                        "%s makes no progress after %.1f s%s: stopping it to try to %s anew.",
                        skill, elapsed, distance, st->what);
    }
    if (is_search(v) && !st->each && st->skill && strcmp(st->skill, skill) != 0) {
        return decision("REPLAN", cancel(running), "there is an answer: stopping %s to say it.",
                        skill);
    }
    return decision("CONTINUE", NULL, "%s is under way, %.1f s%s.", skill, elapsed, distance);
}

// A search that has looked everywhere, or as long as it may.
static pons_value *not_found(const view *v)
{
    const char *what = pons_get_str(v->goal, "object", pons_get_str(v->goal, "zone", "?"));
    pons_autobuf where = PONS_BUF_INIT;
    pons_each(zone, pons_get(v->goal, "visited")) {
        const char *id = json_string_value(zone);
        pons_buf_str(&where, where.len ? ", " : "");
        pons_buf_str(&where, id ? id : "?");
    }
    const char *places = where.len > 0 ? where.data : "-";
    return decision("ABORT", NULL, pons_translate(v->zh, "did not find %.60s; looked in: %.240s"),
                    what, places);
}

static pons_value *decide_step(const view *v, step *st)
{
    const pons_value *running;
    if ((running = running_of(v, true))) {
        return while_running(v, st, running);
    }
    if ((running = running_of(v, false))) {
        return decision("REPLAN", cancel(running), "%s belongs to another goal: stopping it to %s.",
                        pons_get_str(running, "skill", "a skill"), st->what);
    }
    if (!st->skill && is_search(v)) {
        return not_found(v);
    }
    if (!st->skill) {
        return decision("ABORT", NULL, "no skill on this robot meets %s.", st->what);
    }
    if (st->satisfied) {
        return satisfied(v, st);
    }
    if (!has_skill(v, st->skill)) {
        return decision("ABORT", NULL, "no skill %s on this robot", st->skill);
    }
    if (v->last) {
        return after_result(v, st);
    }
    return decision("CONTINUE", dispatch_step(v, st), "Goal %zu of %zu: %s.", v->index + 1,
                    json_array_size(v->goals), st->what);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__policy_decide(void *self, const pons_value *observation, pons_value **ret,
                        pons_error *err)
{
    view v = {.rules = ((const pons__rules *)self)->base};
    int rc = look_at(&v, observation, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_value *d = NULL;
    const pons_value *stop = pons_get(pons_get(observation, "robot"), "stop");
    if (!v.task) {
        d = decision("CONTINUE", NULL, "There is no task.");
    } else if (!v.goal) {
        size_t n = json_array_size(v.goals);
        d = n == 1 ? decision("FINISH", NULL, "The goal is done.")
                   : decision("FINISH", NULL, "All %zu goals are done.", n);
    } else if (pons_get_bool(stop, "latched", false)) {
        const char *why = pons_get_str(stop, "reason", "");
        bool gave_up =
            pons__policy_control(v.rules, pons_get_str(v.human, "answer", "")) == CONTROL_NO;
        d = gave_up ? decision("ABORT", NULL, "The stop is latched (%s) and a person gave up.", why)
                    : decision("ASK_HUMAN", NULL,
                               pons_translate(v.zh, "stop is latched (%s); reset to go on"), why);
    } else {
        step st = {0};
        goal_step(&v, &st);
        d = decide_step(&v, &st);
        json_decref(st.args);
    }
    if (!d) {
        return pons_error_set(err, PONS_ENOMEM, "rules", "cannot decide");
    }
    *ret = d;
    return PONS_OK;
}
