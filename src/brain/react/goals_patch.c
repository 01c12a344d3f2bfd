// goals_patch.c - a decision's patch of the goals.
//
// It may add sub-goals and say between which goals they come; it can neither take away a goal that a
// person gave, nor say that one is met, nor change the order in which they were said: a task ends
// where its last words send the robot. What runs, and the last result, serve a goal by its place: they
// follow it to its new one.
//
// A decision counts as a whole: R4 judges it by the goals as they would be, and puts them back where it
// refuses, or asks a person first. So neither a refusal nor a person's no leaves goals behind.
#include "brain/react/goals_patch.h"

#include "pons/goal_match.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

// Of what runs, then of the last result; NULL: there is none.
static int64_t *place_of(pons__skills *skills, size_t i)
{
    if (i < skills->running.n) {
        return &((pons__running *)skills->running.at[i])->goal_index;
    }
    return skills->last_result ? &skills->last_result->goal_index : NULL;
}

// The same arguments: a model writes 3 for 3.0.
static bool same_args(const pons_value *a, const pons_value *b)
{
    return a && b ? json_object_size(a) == json_object_size(b) && pons_value_near(a, b) : a == b;
}

// The same wish, however far it is met. Of `say` the text counts; of the others it is how it was said.
static bool same_goal(const pons__goal *a, const pons__goal *b)
{
    const bool say = strcmp(a->intent, "say") == 0; // of the intents, not of the skills
    return strcmp(a->intent, b->intent) == 0 && strcmp(a->zone, b->zone) == 0 &&
           strcmp(a->object, b->object) == 0 && strcmp(a->place, b->place) == 0 &&
           strcmp(a->skill, b->skill) == 0 && !(a->seconds < b->seconds) &&
           !(a->seconds > b->seconds) &&
           (a->zones ? b->zones && json_equal(a->zones, b->zones) : !b->zones) &&
           same_args(a->args, b->args) &&
           (a->pose ? b->pose && json_equal(a->pose, b->pose) : !b->pose) &&
           (!say || strcmp(a->text, b->text) == 0);
}

// Of the goals the first that is this wish, is met or not, and is none of those taken; NULL: there is none.
static pons__goal *take_like(const pons__list *goals, const pons__goal *as, bool met, bool *taken)
{
    for (size_t k = 0; k < goals->n; k++) {
        pons__goal *goal = goals->at[k];
        if (goal->done == met && !taken[k] && same_goal(goal, as)) {
            taken[k] = true;
            return goal;
        }
    }
    return NULL;
}

static pons__goal *copy_of(const pons__goal *goal)
{
    return pons__record_copy(&pons__goal_record, goal);
}

// The next goal of a person's, from *at on, that is not met; NULL: there is none.
static const pons__goal *next_own(const pons__list *goals, size_t *at)
{
    while (*at < goals->n) {
        const pons__goal *goal = goals->at[(*at)++];
        if (!goal->done && !goal->added) {
            return goal;
        }
    }
    return NULL;
}

// The goals met so far, then the patch's, then what it left out of a person's. The places that it gives to a
// person's goals are taken by these in the order in which they were said. Sub-goals of an earlier patch
// that are not in this one are gone, so that patches without end leave no more than one does.
static pons__list patched(const pons__list *goals, const pons_value *patch)
{
    pons__list list = {0};
    bool *taken = pons_need_zeroed(goals->n + 1, sizeof *taken); // said twice is wished twice
    for (size_t i = 0; i < goals->n; i++) {
        const pons__goal *goal = goals->at[i];
        if (goal->done && !goal->added) {
            pons__list_add(&list, copy_of(goal));
        }
    }
    size_t at = 0;
    pons_each(asked, patch) {
        pons__goal *fresh = pons__record_read(&pons__goal_record, asked);
        fresh->done = fresh->reached = false;
        fresh->left = 0.0;
        fresh->added = true; // by a model: its end is no progress
        pons__json(&fresh->visited, NULL);
        const pons__goal *same = take_like(goals, fresh, false, taken); // keeps what it has reached
        if (same) {
            pons__record_free(&pons__goal_record, fresh);
            fresh = copy_of(same->added ? same : next_own(goals, &at));
        }
        pons__list_add(&list, fresh);
    }
    for (const pons__goal *own = next_own(goals, &at); own; own = next_own(goals, &at)) {
        pons__list_add(&list, copy_of(own));
    }
    free(taken);
    return list;
}

static bool alike(const pons__goal *a, const pons__goal *b)
{
    return a->done == b->done && a->added == b->added && same_goal(a, b);
}

static int64_t new_place(int64_t old, const pons__list *from, const pons__list *to)
{
    const pons__goal *goal = old >= 0 && (size_t)old < from->n ? from->at[old] : NULL;
    int64_t before = 0; // how many like it there are before it: they keep their order
    for (int64_t i = 0; goal && i < old; i++) {
        before += alike(goal, from->at[i]);
    }
    for (size_t i = 0; goal && i < to->n; i++) {
        if (alike(goal, to->at[i]) && before-- == 0) {
            return (int64_t)i;
        }
    }
    return -1;
}

pons__patched pons__goals_patch(pons__turn *t)
{
    pons__task *task = t->react->task;
    const pons__decision *d = t->react->decision;
    PONS__AUTO(patch) patch = pons__record_read(&pons__patch_record, d ? d->plan_patch : NULL);
    pons__patched was = {.any = task && json_is_array(patch->goals)};
    if (was.any) {
        was.goals = task->goals;
        was.places = pons_need_zeroed(t->skills->running.n + 1, sizeof *was.places);
        task->goals = patched(&was.goals, patch->goals);
        for (size_t i = 0; i <= t->skills->running.n; i++) {
            int64_t *place = place_of(t->skills, i);
            was.places[i] = place ? *place : -1;
            if (place) {
                *place = new_place(*place, &was.goals, &task->goals);
            }
        }
    }
    return was;
}

void pons__goals_put_back(pons__turn *t, pons__patched *was)
{
    if (!was->any) {
        return;
    }
    pons__list after = t->react->task->goals;
    t->react->task->goals = was->goals;
    was->goals = after;
    for (size_t i = 0; i <= t->skills->running.n; i++) {
        int64_t *place = place_of(t->skills, i);
        if (place) {
            *place = was->places[i];
        }
    }
}

int64_t pons__goals_place_before(const pons__turn *t, const pons__patched *was, int64_t place)
{
    return was->any ? new_place(place, &was->goals, &t->react->task->goals) : place;
}

void pons__unsent_keep(pons__react *r, const pons__patched *was)
{
    pons_value *before = json_object();
    if (was->any) {
        json_object_set_new(before, "goals", pons__list_write(&pons__goal_record, &was->goals));
    } else if (r->task && r->answered.edit_before) { // it may change one, each in its place
        json_object_set_new(before, "edited",
                            pons__list_write(&pons__goal_record, &r->task->goals));
    }
    if (r->proposed_ops->plan) {
        json_object_set_new(before, "plan", pons__record_write(&pons__task_plan_record, r->plan));
    }
    pons__json(&r->answered.unsent, before);
}

// The goal of the list that this one was, or is: as far met, or else not met yet. NULL: there is none.
static pons__goal *take_twin(const pons__list *goals, const pons__goal *of, bool *taken)
{
    pons__goal *twin = take_like(goals, of, of->done, taken);
    return twin || !of->done ? twin : take_like(goals, of, false, taken);
}

// What was met meanwhile stays met, and what is left of a call is left; what was met before is so in both lists, and
// meets no other like it.
static void keep_met(const pons__list *after, pons__list *goals)
{
    bool *taken = pons_need_zeroed(goals->n + 1, sizeof *taken);
    for (size_t i = 0; i < after->n; i++) {
        const pons__goal *now = after->at[i];
        pons__goal *was = take_twin(goals, now, taken);
        if (was) {
            was->done = now->done;
            was->left = now->left;
        }
    }
    free(taken);
}

// The goals that an edit has changed, as they were.
static void unedit(pons__react *r, const pons_value *edited)
{
    PONS__AUTO_LIST(goal) was = {0};
    pons__list_read(&pons__goal_record, edited, &was);
    for (size_t i = 0; r->task && i < was.n && was.n == r->task->goals.n; i++) {
        if (!same_goal(was.at[i], r->task->goals.at[i])) {
            void *now = r->task->goals.at[i];
            r->task->goals.at[i] = was.at[i];
            was.at[i] = now;
        }
    }
}

void pons__unsent_put_back(pons__turn *t)
{
    pons__react *r = t->react;
    const pons_value *goals = pons_get(r->answered.unsent, "goals"),
                     *plan = pons_get(r->answered.unsent, "plan");
    if (r->task && goals) {
        PONS__AUTO_LIST(goal) after = r->task->goals;
        r->task->goals = (pons__list){0};
        pons__list_read(&pons__goal_record, goals, &r->task->goals);
        keep_met(&after, &r->task->goals);
        for (size_t i = 0; i <= t->skills->running.n; i++) {
            int64_t *place = place_of(t->skills, i);
            if (place) {
                *place = new_place(*place, &after, &r->task->goals);
            }
        }
    }
    unedit(r, pons_get(r->answered.unsent, "edited"));
    if (plan) {
        pons__record_free(&pons__task_plan_record, r->plan);
        r->plan = json_is_object(plan) ? pons__record_read(&pons__task_plan_record, plan) : NULL;
    }
}

void pons__patched_free(pons__patched *was)
{
    pons__list_clear(&pons__goal_record, &was->goals);
    free(was->places);
    *was = (pons__patched){0};
}
