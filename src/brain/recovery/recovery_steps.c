// recovery_steps.c - what recovery does next, by what recovery_count.c has counted: another approach, a pause, a
// question, the end.
#include "brain/recovery/recovery_steps.h"

#include "brain/goals/goal_skills.h"
#include "brain/records/observation_fields.h"
#include "brain/tasks/tasks.h"
#include "pons/language.h"

#include <stdlib.h>
#include <string.h>

#define REASON_MAX (WHY_MAX + 120)

// ---- the budget ---------------------------------------------------------------------------------

// What asking a model costs a task (config/kernel.yaml, `model`). Nothing resets it; when it is used up a person is
// asked, who grants as much again. Where the rules decide for the task it is no matter, as long as they can.
void pons__budget_spend(pons_brain *b, pons__react *r, int64_t tokens)
{
    if (!r->task) {
        return;
    }
    if (!r->task->spent) {
        r->task->spent = pons__record_new(&pons__spent_record);
        r->task->spent->calls_max = b->rules.model_calls_max;
        r->task->spent->tokens_max = b->rules.model_tokens_max;
    }
    r->task->spent->calls++;
    r->task->spent->tokens += tokens;
}

bool pons__budget_over(const pons__react *r)
{
    const pons__spent *s = r->task ? r->task->spent : NULL;
    const bool rules = r->task && r->task->recovery && r->task->recovery->rules_decide;
    return r->model_tries > 0 && s && !(rules && pons__rules_understand(r->task)) &&
           ((s->calls_max > 0 && s->calls >= s->calls_max) ||
            (s->tokens_max > 0 && s->tokens >= s->tokens_max));
}

// ---- what it does next --------------------------------------------------------------------------

pons__recovery_state *pons__recovery_of(const pons__react *r)
{
    return r->task ? r->task->recovery : NULL;
}

static const char *const event_words[] = {"a motion failed",
                                          "a motion failed, a pause is due",
                                          "a motion failed, a person is due",
                                          "another approach is left",
                                          "the next try begins",
                                          "the pause begins",
                                          "a person is due",
                                          "a person says yes",
                                          "a person says no",
                                          "the yes is taken back",
                                          NULL};

// With each the step that people are shown; NULL: as it was.
// clang-format off
#define ROW(from, event, to, step) {PONS_NEXT_##from, PONS_RECOVERY_##event, PONS_NEXT_##to, step}
#define CLIMBS(from) \
    ROW(from, FAILED, NOTHING, "another_way"), ROW(from, FAILED_AND_WAITS, WAIT, "wait"), \
    ROW(from, FAILED_AND_ASKS, ASK, "ask"), ROW(from, TAKEN_BACK, ABORT, NULL)
#define STAYS(from) \
    ROW(from, FAILED, from, "another_way"), ROW(from, FAILED_AND_WAITS, from, "wait"), \
    ROW(from, FAILED_AND_ASKS, from, "ask"), ROW(from, TAKEN_BACK, ABORT, NULL)
static const pons__transition rows[] = {
    CLIMBS(NOTHING), CLIMBS(OTHER), CLIMBS(WAIT), CLIMBS(PAUSE),
    STAYS(ASK), STAYS(ABORT), // once wanted, a person is asked; and a no is a no
    ROW(NOTHING, HAS_OTHER, OTHER, "another_way"),
    ROW(NOTHING, ASKS, ASK, "ask"),
    ROW(OTHER, TRIES, NOTHING, NULL),
    ROW(WAIT, PAUSES, PAUSE, NULL),
    ROW(WAIT, TRIES, NOTHING, NULL),
    ROW(PAUSE, TRIES, NOTHING, NULL),
    ROW(ASK, YES, NOTHING, "another_way"),
    ROW(ASK, NO, ABORT, NULL),
};
// clang-format on

PONS__MACHINE(recovery, "what it does next, when a task gets nowhere", pons__recovery_next_words);

void pons__recovery_move(pons__recovery_state *s, pons__recovery_event event)
{
    const char *step = NULL;
    pons__machine_move(&pons__recovery_machine, &s->next, (int)event, &step, NULL);
    if (step) {
        pons__set_text(&s->step, step);
    }
}

bool pons__recovery_base(const pons__running *running)
{
    return pons__has(running->resources, "base");
}

const pons__goal *pons__recovery_goal(const pons__task *task)
{
    const int at = pons__goal_open(task);
    return at >= 0 ? task->goals.at[at] : NULL;
}

static pons__decision *decision(pons__decision_type type, const char *reason, pons_value *ops)
{
    pons__decision *d = pons__record_new(&pons__decision_record);
    d->type = type;
    pons__set_text(&d->reason, reason);
    pons__json(&d->ops, ops);
    return d;
}

// The one operation of a decision.
static pons_value *start(const char *skill, const pons_value *args, int64_t goal_index)
{
    pons_value *ops = json_array();
    pons__ops_add(
        ops, &(pons__asked){
                 .op = PONS_OP_DISPATCH, .skill = skill, .args = args, .goal_index = goal_index});
    return ops;
}

static pons__decision *ask(const pons__recovery_state *l, bool zh)
{
    char reason[REASON_MAX];
    const long long tries = l->failures;
    if (tries > 0) {
        snprintf(
            reason, sizeof reason,
            pons_translate(zh, "%lld tries without progress, the last: %s; shall I try once more?"),
            tries, l->why);
    } else {
        snprintf(reason, sizeof reason, pons_translate(zh, "%s; shall I go on?"), l->why);
    }
    return decision(PONS_ASK_HUMAN, reason, NULL);
}

static const pons__running *find_skill(const pons__skills *skills, const char *name)
{
    for (size_t i = 0; i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        if (name ? strcmp(r->skill, name) == 0 : pons__recovery_base(r)) {
            return r;
        }
    }
    return NULL;
}

static pons__decision *other_decision(pons__recovery_state *l)
{
    char reason[REASON_MAX];
    pons__others *o = l->others;
    const pons_value *args = json_array_get(o->args, (size_t)o->next);
    char *line = NULL;
    pons_value_line(args, &line);
    snprintf(reason, sizeof reason, "%.*s; approach %lld of %zu: %.80s", WHY_MAX, l->why,
             (long long)o->next + 1, json_array_size(o->args), line ? line : "");
    free(line);
    o->next++;
    pons__recovery_move(l, PONS_RECOVERY_TRIES);
    return decision(PONS_REPLAN, reason, start(o->skill, args, o->goal_index));
}

// A pause before the next try, once; NULL: it is over, or there is no skill for it.
static pons__decision *pause_decision(pons_brain *b, pons__react *r, const pons__skills *skills)
{
    pons__recovery_state *l = pons__recovery_of(r);
    char reason[REASON_MAX];
    const bool paused = l->next == PONS_NEXT_PAUSE;
    PONS__AUTO(means)
    wait = pons__means_for(b, "wait", "seconds", json_real(b->rules.recovery_wait_s));
    pons__decision *d = NULL;
    // A goal that is a wait itself must not be met by this one.
    const pons__goal *goal = pons__recovery_goal(r->task);
    if (paused && wait && find_skill(skills, wait->skill)) {
        snprintf(reason, sizeof reason, "%.*s: waiting before the next try", WHY_MAX, l->why);
        d = decision(PONS_CONTINUE, reason, NULL);
    } else if (!paused && wait && !(goal && strcmp(goal->intent, wait->intent) == 0)) {
        pons__recovery_move(l, PONS_RECOVERY_PAUSES);
        snprintf(reason, sizeof reason, "%.*s; waiting %g s before the next try", WHY_MAX, l->why,
                 b->rules.recovery_wait_s);
        d = decision(PONS_REPLAN, reason, start(wait->skill, wait->args, PONS__GOAL_AT_HAND));
    } else {
        pons__recovery_move(l, PONS_RECOVERY_TRIES);
    }
    return d;
}

pons__decision *pons__recovery_decide(pons_brain *b, pons__react *r, const pons__skills *skills)
{
    pons__recovery_state *l = pons__recovery_of(r);
    char reason[REASON_MAX];
    if (l && l->next == PONS_NEXT_NOTHING && pons__budget_over(r)) {
        const pons__spent *s = r->task->spent;
        pons__recovery_move(l, PONS_RECOVERY_ASKS);
        pons__set_textf(&l->why,
                        "the task's budget of the model is used up: %lld calls, %lld tokens",
                        (long long)s->calls, (long long)s->tokens);
    }
    if (!l || l->next == PONS_NEXT_NOTHING) {
        return NULL;
    }
    const pons__running *moves = find_skill(skills, NULL);
    if (moves) { // it ends by itself, and may yet make progress
        snprintf(reason, sizeof reason, "%.*s: %s may end first", WHY_MAX, l->why, moves->skill);
        return decision(PONS_CONTINUE, reason, NULL);
    }
    switch ((pons__recovery_next)l->next) {
    case PONS_NEXT_ABORT:
        snprintf(reason, sizeof reason, "%.*s, and a person said no", WHY_MAX, l->why);
        return decision(PONS_ABORT, reason, NULL);
    case PONS_NEXT_ASK:
        return ask(l, r->task && pons_language_chinese(r->task->text));
    case PONS_NEXT_OTHER:
        return l->others ? other_decision(l) : NULL;
    default:
        return pause_decision(b, r, skills);
    }
}

void pons__recovery_answered(pons_brain *b, pons__react *r, const pons__reply *answer)
{
    pons__recovery_state *l = pons__recovery_of(r);
    if (!l || l->next != PONS_NEXT_ASK || r->source != PONS_SOURCE_RECOVERY ||
        answer->detached) { // another's question; or it was taken back
        return;
    }
    if (strcmp(answer->action, "approve") != 0 && strcmp(answer->action, "edit") != 0) {
        pons__recovery_move(l, PONS_RECOVERY_NO);
        return;
    }
    const int64_t over = l->failures + 1 - l->tries;
    l->granted = over > 0 ? over : 0;
    l->decisions_max = l->decisions + b->rules.iterations_max;
    pons__recovery_move(l, PONS_RECOVERY_YES);
    l->swings = 0;
    if (pons__budget_over(r)) { // as much again; what has no limit gets none
        pons__spent *s = r->task->spent;
        s->calls_max = b->rules.model_calls_max > 0 ? s->calls + b->rules.model_calls_max : 0;
        s->tokens_max = b->rules.model_tokens_max > 0 ? s->tokens + b->rules.model_tokens_max : 0;
    }
}

void pons__recovery_taken_back(pons__react *r)
{
    pons__recovery_state *l = pons__recovery_of(r);
    if (l && r->source == PONS_SOURCE_RECOVERY && pons__decided(r) == PONS_ASK_HUMAN) {
        pons__recovery_move(l, PONS_RECOVERY_TAKEN_BACK);
    }
}

// ---- what people and models see -----------------------------------------------------------------

static int64_t none_below(int64_t n)
{
    return n > 0 ? n : 0;
}

pons__recovery_brief *pons__recovery_tell(const pons__task *task)
{
    const pons__recovery_state *l = task ? task->recovery : NULL;
    const pons__spent *s = task ? task->spent : NULL;
    if (!l) {
        return NULL;
    }
    pons__recovery_brief *r = pons__record_new(&pons__recovery_brief_record);
    pons__set_text(&r->step, l->step);
    pons__set_text(&r->why, l->why);
    r->failures = l->failures;
    r->tries_left = none_below(l->tries + l->granted - l->failures);
    r->decisions_left = none_below(l->decisions_max - l->decisions);
    r->best_m = l->best_m;
    if (s && s->calls_max > 0) {
        r->calls_left = none_below(s->calls_max - s->calls);
    }
    return r;
}
