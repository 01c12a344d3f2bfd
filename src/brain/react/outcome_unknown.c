// outcome_unknown.c - what a person must settle: an end of which nobody knows what came of it, of a skill that
// `approval.ask_on_unknown` or the registry names (a cup is on the shelf, or on the floor).
//
//     R7 notes it --> R4 asks a person before anything of that task is sent, and ends it as done only where the world
//     shows that it is --> a yes settles it: to a question, which shows it, in R6; to operations when one begins
//
// It stands in the channel `skills`, not in the activation: the body that died latches, the kernel takes over, and the
// task comes back in an activation that knows no result. Words and a stop go past it, and so does every other task.
#include "brain/react/outcome_unknown.h"

#include "brain/body_link/body_port.h"
#include "brain/critic/critic_check.h"
#include "brain/goals/goal_skills.h"
#include "brain/records/await_fields.h"
#include "brain/state/self.h"

#include <string.h>

#define ERROR_LOST    9907 // docs/reference/link.md: the robot does not know where it has been
#define ERROR_UNKNOWN 9909 // the robot's own software has lost the goal

static void settle(pons__turn *t)
{
    pons__list *all = &t->skills->unsettled;
    const pons__task *task = t->react->task;
    const size_t i =
        task ? pons__list_place(all, offsetof(pons__unsettled, task_id), task->id) : all->n;
    if (i < all->n) { // there is one a task
        pons__record_free(&pons__unsettled_record, pons__list_take(all, i));
        t->skills_changed = true;
    }
}

void pons__unsettled_note(pons__turn *t, const pons__running *running, const pons__result *last)
{
    pons__skills *skills = t->skills;
    const char *task_id = running->task_id;
    pons__unsettled *u = pons__record_new(&pons__unsettled_record);
    pons__set_text(&u->task_id, task_id);
    pons__set_text(&u->goal_id, running->goal_id);
    pons__set_text(&u->skill, last->skill);
    pons__set_text(&u->why, last->error_msg);
    for (size_t i = skills->unsettled.n; i-- > 0;) { // one a task; of tasks that have ended none
        const pons__unsettled *old = skills->unsettled.at[i];
        const bool same = strcmp(old->task_id, task_id) == 0;
        if (same) { // nobody has settled that: a person sees both
            pons__set_textf(&u->skill, "%s, then %s", old->skill, last->skill);
            pons__set_textf(&u->why, "%s; %s", old->why, last->error_msg);
        }
        if (same || !pons__queue_find(t->b->tasks, old->task_id)) {
            pons__record_free(&pons__unsettled_record, pons__list_take(&skills->unsettled, i));
        }
    }
    pons__list_add(&skills->unsettled, u);
    t->unsettled = true;
}

const pons__unsettled *pons__unsettled_of(const pons__react *react, const pons__skills *skills)
{
    return react->task ? pons__list_find(&skills->unsettled, offsetof(pons__unsettled, task_id),
                                         react->task->id)
                       : NULL;
}

const pons__unsettled *pons__unsettled_bars(const pons__react *react, const pons__skills *skills)
{
    const bool blind = pons__decided(react) == PONS_FINISH && !react->preempt && react->task &&
                       react->task->unverified && !react->answered.settles;
    return blind ? pons__unsettled_of(react, skills) : NULL;
}

bool pons__unsettled_asked(const pons_brain *b, const char *skill)
{
    const pons__registered *known = pons__skill(b, skill);
    return pons__has(b->rules.unknown_ask, skill) || (known && known->ask_on_unknown);
}

// What goes past it.
static bool passes(const pons_brain *b, const pons__react *react, const char *skill)
{
    return react->preempt || pons__means_beside(b, skill) ||
           strcmp(skill, pons__means_stop(b)) == 0;
}

static const pons__unsettled *waits(const pons_brain *b, const pons__react *react,
                                    const pons__skills *skills, const char *skill)
{
    return passes(b, react, skill) ? NULL : pons__unsettled_of(react, skills);
}

void pons__unsettled_asks(const pons_brain *b, const pons__react *react, const pons__skills *skills,
                          const char *skill, pons_value *asks)
{
    const pons__unsettled *u = waits(b, react, skills, skill);
    if (u) {
        pons_autovalue says =
            json_sprintf("nobody knows what came of %s (%s): a person must say whether to go on",
                         u->skill, u->why);
        pons__broken_add(asks,
                         &(pons__broken){.rule = "unsettled", .message = json_string_value(says)});
    }
}

bool pons__unsettled_lost(pons_brain *b, const pons_value *lost, const char *skill)
{
    const pons__react *react = pons__inner_of(b);
    bool any = false;
    pons_each(one, lost) {
        any = any || pons__unsettled_asked(b, json_string_value(one));
    }
    return any && react && !passes(b, react, skill);
}

bool pons__unsettled_end(int status, int64_t error_code)
{
    return status == PONS_END_UNKNOWN || error_code == ERROR_LOST || error_code == ERROR_UNKNOWN;
}

// Looked up by what is stored and what the body says: the arguments of a recorded task are of the state alone.
pons_value *pons__unsettled_ended(pons_brain *b, const char *skill)
{
    const pons__react *react = pons__inner_of(b);
    const char *task_id = react && react->task ? react->task->id : "";
    PONS__AUTO(skills)
    now = pons__record_read(&pons__skills_record, pons_run_get(b->react_run, "skills"));
    pons_value *found = NULL;
    for (size_t i = 0; react && !passes(b, react, skill) && i < now->running.n; i++) {
        const pons__running *r = now->running.at[i];
        const bool mine = !r->task_id || strcmp(r->task_id, task_id) == 0;
        const bool left = pons__has(now->to_cancel, r->goal_id); // R6 has looked at its end itself
        const pons__body_goal *g = pons__port_goal(&b->port, r->goal_id);
        pons__ended *end =
            g && g->result ? pons__record_read(&pons__ended_record, g->result) : NULL;
        const int status =
            end ? pons__word_find(pons__end_words, end->status, PONS_END_UNKNOWN) : 0;
        const bool unknown =
            !g || g->recovering || (end && pons__unsettled_end(status, end->error_code));
        if (!found && mine && !left && unknown && pons__unsettled_asked(b, r->skill)) {
            found = json_string(r->goal_id);
        }
        pons__record_free(&pons__ended_record, end);
    }
    return found;
}

const char *pons__unsettled_mark(const pons__unsettled *u)
{
    return u->goal_id ? u->goal_id : u->task_id;
}

bool pons__unsettled_shown(const pons__question *q, const pons__unsettled *u)
{
    return q && u && q->unsettled && strcmp(q->unsettled, pons__unsettled_mark(u)) == 0;
}

// A task that is left for another one has not been allowed to go on.
void pons__unsettled_allowed(pons__turn *t)
{
    const pons__react *r = t->react;
    t->react->answered.settles =
        r->proposed_ops->to_dispatch.n == 0 && pons__decided(r) != PONS_SWITCH_TASK &&
        pons__unsettled_shown(r->asking.question, pons__unsettled_of(r, t->skills));
}

void pons__unsettled_agreed(pons__turn *t, bool taken_back)
{
    if (t->react->answered.settles && !taken_back) {
        settle(t);
    }
    t->react->answered.settles = false;
}

void pons__unsettled_begun(pons__turn *t, const pons__op *op)
{
    const pons__unsettled *u = waits(t->b, t->react, t->skills, op->skill);
    const pons__task *task = t->react->task;
    const int64_t at = op->goal_index;
    if (!u) {
        return;
    }
    if (task && at >= 0 && (size_t)at < task->goals.n && strstr(u->skill, op->skill)) {
        pons__means_agreed(t->b, task->goals.at[at], op->skill, op->args); // so much is left, then
    }
    settle(t); // R4 let it pass by a person's word alone
}
