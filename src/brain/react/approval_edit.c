// approval_edit.c - a person's edit of what a question would send.
//
// An edit is an approval of what it says, if R4 lets it pass. If not it is no answer: the inner loop
// is put back to where it asked, and asks anew with the reason. Where an edit changes the place that
// a goal of the task is about, that is the goal from then on; and where it changes the call whose end
// meets a goal (a wait of another length, other words), the goal is that call.
#include "brain/critic/critic_check.h"
#include "brain/goals/argument_slots.h"
#include "brain/goals/goal_skills.h"
#include "brain/react/approval.h"
#include "brain/records/event_fields.h"
#include "pons/buf.h"
#include "pons/goal_match.h"
#include "pons/language.h"

#include <math.h>
#include <string.h>

#define SAME_PLACE_M 0.05

// The operations as the answer wants them; or why it names none. Static text.
const char *pons__edit_ops(const pons__reply *reply, const pons__list *old, pons__list *ret)
{
    const pons_value *edited = reply->ops, *args = reply->args;
    const int64_t at = reply->op ? reply->op : old->n == 1 ? 1 : 0;
    if (json_is_array(edited) && json_array_size(edited) == 0) {
        return "the edit names no operation";
    }
    if (json_is_array(edited)) {
        pons_each(op, edited) {
            // What a person says instead of an operation stands in its place: for its goal, as its
            // plan's step.
            pons__op *next = op_at < old->n ? pons__record_copy(&pons__op_record, old->at[op_at])
                                            : pons__record_new(&pons__op_record);
            PONS__AUTO(op) said = pons__record_read(&pons__op_record, op);
            pons__set_text(&next->skill, said->skill);
            pons__json(&next->args, said->args ? pons_value_ref(said->args) : json_object());
            pons__list_add(ret, next);
        }
        return NULL;
    }
    if (old->n == 0) {
        return "there is no operation to edit";
    }
    if (!json_is_object(args) || at < 1 || at > (int64_t)old->n) {
        return at == 0 ? "there are several operations: the edit names none"
                       : "the edit names an operation that there is not";
    }
    pons__list_copy(&pons__op_record, ret, old);
    pons__op *changed = ret->at[at - 1];
    pons__json(&changed->args, pons_value_ref(args));
    return NULL;
}

// ---- R4's side of an edit -----------------------------------------------------------------------

// The inner loop as it was when it asked, with the reason why the edit was none.
void pons__edit_undo(pons__turn *t, const pons_value *rules)
{
    pons__react *edited = t->react;
    const pons__answered *was = &edited->answered;
    pons__react *next = pons__record_read(&pons__react_record, was->edit_before);
    pons_autovalue says = pons__guard_says(rules);
    pons__set_text(&next->answered.again, json_string_value(says));
    pons_value *ids = was->also ? json_copy((json_t *)was->also) : json_array();
    json_array_append_new(ids, json_string(was->question));
    pons__json(&next->answered.also, ids);
    // What was answered beside stays an answer; the question itself has none yet.
    const pons__human *said = edited->human;
    if (said && said->also) {
        pons__human_say(next, said->question ? said->question : "", "", "");
        pons__json(&next->human->also, pons_value_ref(said->also));
    }
    next->stage = edited->stage;
    t->react = next;
    pons__decision_move(t, PONS_ON_EDIT_BREAKS);
    pons__record_free(&pons__react_record, edited);
}

// A part of a relative move that is as long as it was, slower perhaps: there is as much more to do behind it.
static bool same_part(pons_brain *b, const pons__goal *goal, const pons__op *was,
                      const pons__op *is)
{
    const pons__registered *item = pons__skill(b, was->skill);
    const char *name = item ? item->remains : NULL;
    return name && strcmp(was->skill, is->skill) == 0 &&
           pons__means_part(b, goal, was->skill, was->args) &&
           pons_value_near(pons_get(is->args, name), pons_get(was->args, name));
}

// Whether a motion with these arguments is the goal itself, and not a step towards it.
static bool about(pons_brain *b, const pons__goal *goal, const char *skill, const pons_value *args)
{
    const char *to = pons__about_zone(b, skill, args);
    const pons__zone *zone = to ? pons__zone_find(b, to) : NULL;
    const pons_value *pose = pons__about_in(b, skill, args, PONS_ABOUT_POSE);
    const pons__pose at = pons__pose_of(pose);
    if (goal->zones) { // each of them is
        pons_each(name, goal->zones) {
            if (zone && pons__zone_find(b, json_string_value(name)) == zone) {
                return true;
            }
        }
        return false;
    }
    if (!pons__means_of_place(b, goal)) {
        return false;
    }
    if (goal->pose) {
        const pons__pose own = pons__pose_of(goal->pose);
        return pose && hypot(at.x - own.x, at.y - own.y) < SAME_PLACE_M;
    }
    const pons__zone *target = pons__zone_find(b, goal->zone);
    return zone ? zone == target : target && pose && pons__zone_contains(target, &at);
}

// What the goal says from now on: what is done, and not what was asked for first.
static void say_edited(pons__goal *goal, const char *en, const char *zh, const char *what)
{
    const bool chinese = pons_language_chinese(goal->text);
    if (chinese) {
        pons__set_textf(&goal->text, "%s%s（人改过）", zh, what);
    } else {
        pons__set_textf(&goal->text, "%s%s (as a person edited it)", en, what);
    }
}

static void replace_call(pons__goal *goal, const pons__op *op)
{
    char *args = NULL;
    goal->done = false;
    goal->left = 0.0; // all of the new one
    pons_value_line(op->args, &args);
    pons_autobuf call = PONS_BUF_INIT;
    pons_buf_printf(&call, "%s %s", op->skill, args ? args : "");
    say_edited(goal, "", "", call.data ? call.data : op->skill);
    free(args);
    pons__set_text(&goal->intent, "do");
    pons__set_text(&goal->skill, op->skill);
    pons__json(&goal->args, pons_value_ref(op->args));
}

static void replace_goal(pons_brain *b, pons__goal *goal, const char *skill, const pons_value *old,
                         const pons_value *args)
{
    const char *to = pons__about_zone(b, skill, args);
    const pons_value *pose = pons__about_in(b, skill, args, PONS_ABOUT_POSE);
    const pons__pose at = pons__pose_of(pose);
    const pons__zone *there = to ? pons__zone_find(b, to) : pons__zone_at(&b->port.zones, &at);
    const char *zone = there ? there->id : to;
    goal->done = goal->reached = false;
    const char *language = pons_language_chinese(goal->text) ? "zh" : "en";
    const pons_value *called = json_array_get(pons_get(there ? there->names : NULL, language), 0);
    char point[64];
    snprintf(point, sizeof point, "%.2f %.2f", at.x, at.y);
    const char *what = called ? json_string_value(called) : zone;
    what = what ? what : point;
    if (goal->zones) {
        say_edited(goal, "patrol by way of the ", "巡逻，经过", what);
    } else {
        say_edited(goal, zone ? "go to the " : "go to ", "去", what);
    }
    if (goal->zones) {
        pons_value *zones = json_array();
        const char *from = pons__about_zone(b, skill, old);
        const pons__zone *left = pons__zone_find(b, from ? from : "");
        pons_each(name, goal->zones) {
            const bool same = pons__zone_find(b, json_string_value(name)) == left;
            json_array_append_new(zones,
                                  same ? json_string(zone ? zone : "") : pons_value_ref(name));
        }
        pons__json(&goal->zones, zones);
        return;
    }
    pons__set_text(&goal->zone, zone);
    pons__json(&goal->pose, pons_value_ref(pose));
}

// The edit has passed: goals whose place it changed are about the new one.
void pons__edit_keep(pons_brain *b, pons_cx *cx, pons__react *react)
{
    if (!react->answered.edit_before) {
        return;
    }
    PONS__AUTO(react) before = pons__record_read(&pons__react_record, react->answered.edit_before);
    const pons__list *old = before->proposed_ops ? &before->proposed_ops->to_dispatch : NULL;
    const pons__list *ops = &react->proposed_ops->to_dispatch;
    for (size_t i = 0; old && react->task && i < ops->n && i < old->n; i++) {
        const pons__op *op = ops->at[i], *was = old->at[i];
        const int64_t at = op->goal_index;
        pons__goal *goal =
            at >= 0 && (size_t)at < react->task->goals.n ? react->task->goals.at[at] : NULL;
        if (!goal || (json_equal(was->args, op->args) && strcmp(was->skill, op->skill) == 0)) {
            continue;
        }
        const bool place =
            pons__means_leads(b, goal, op->skill) && about(b, goal, was->skill, was->args);
        if (!place && !pons__means_by_end(b, goal, was->skill, was->args) &&
            !pons__means_own(b, goal, was->skill, was->args)) { // nor a part of it
            continue;
        }
        if (same_part(b, goal, was, op)) {
            continue;
        }
        pons__goal *from = pons__record_copy(&pons__goal_record, goal);
        if (place) {
            replace_goal(b, goal, op->skill, was->args, op->args);
        } else {
            replace_call(goal, op);
        }
        PONS__EMIT(b, cx, goal_replaced, .goal_index = at, .from = from, .to = goal);
        pons__record_free(&pons__goal_record, from);
    }
    pons__json(&react->answered.edit_before, NULL);
}
