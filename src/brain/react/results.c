// results.c - R7: news of what runs, and what a goal's end does to the state.
//
// R7 parks until there is news: a skill has ended, or gets nowhere. The rules, a plan and recovery
// also look in every check_in_s; a model is woken by news alone, or at the time that its last decision
// set (wake_s). A goal's end settles its effect, in the same commit as what it changes: what runs, the
// last result, the goals of the task, the counters, recovery, the plan.
#include "brain/react/results.h"

#include "brain/body_link/body_port.h"
#include "brain/goals/alternate_places.h"
#include "brain/goals/argument_slots.h"
#include "brain/goals/goal_skills.h"
#include "brain/goals/object_search.h"
#include "brain/goals/seen_objects.h"
#include "brain/plan/task_plan.h"
#include "brain/react/outcome_unknown.h"
#include "brain/records/await_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/state/effect_history.h"

#include <math.h>
#include <string.h>

#define REST_MS    500 // host time between two tries that were refused at once
#define WAKE_MIN_S 1.0 // the soonest that a decision can ask to be woken
#define PART_LEAST 0.1 // of a relative move, in its unit: so much is progress

// ---- R7 observe_execution_result ----------------------------------------------------------------

// Whether the decision is over with what it says, and that is still being said: its end is of the task.
static bool is_saying(const pons__turn *t)
{
    const pons__react *r = t->react;
    bool words = pons__releases_all(pons__decided(r)) && !r->preempt && t->skills->running.n > 0;
    for (size_t i = 0; words && i < t->skills->running.n; i++) {
        const pons__running *running = t->skills->running.at[i];
        const bool mine = r->task && running->task_id && strcmp(running->task_id, r->task->id) == 0;
        words = mine && pons__means_beside(t->b, running->skill);
    }
    return words;
}

// Whether of what was decided something was not sent: it is asked again, soon.
static bool unsent(const pons__react *r)
{
    const bool had_ops = r->proposed_ops && r->proposed_ops->to_dispatch.n > 0;
    return r->stage == PONS_STAGE_HELD_BACK || (r->stage == PONS_STAGE_TAKEN_BACK && had_ops);
}

// After how long of robot time R7 wakes without news; 0: never.
static double look_again_s(const pons__turn *t)
{
    const pons__react *r = t->react;
    if (r->model_tries == 0 || r->source != PONS_SOURCE_LLM) {
        return r->check_in_s;
    }
    if (unsent(r)) {
        return REST_MS / 1e3;
    }
    const double wake_s = r->decision ? r->decision->wake_s : 0.0;
    return wake_s > 0.0 ? fmax(wake_s, WAKE_MIN_S) : 0.0;
}

static pons_value *await_of(const pons__turn *t)
{
    if (t->skills->running.n == 0) { // refused at once: rest, so that trying again is no busy loop
        return PONS__WRITE(wait, .wait = PONS_WAIT_REST, .ms = REST_MS, .look_s = NAN);
    }
    pons_autovalue ids = json_array();
    for (size_t i = 0; i < t->skills->running.n; i++) {
        json_array_append_new(
            ids, json_string(((const pons__running *)t->skills->running.at[i])->goal_id));
    }
    return PONS__WRITE(wait, .wait = PONS_WAIT_SKILL, .goals = ids, .look_s = look_again_s(t));
}

// One piece of news.
static int take_answers(pons__turn *t, pons__await_answer **ret, pons_error *err)
{
    const pons_value *await_answer = NULL;
    int rc = pons_await(t->cx, "body", await_of(t), 0, &await_answer, err);
    pons__await_answer *reported = pons__record_read(&pons__await_answer_record, await_answer);
    const size_t n = json_array_size(reported->results);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        rc = pons__settle_result(t, json_array_get(reported->results, i), err);
    }
    *ret = reported;
    return rc;
}

int pons__observe_execution_result(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R7, err);
    pons__react *r = t.react;
    pons__await_answer *reported = NULL;
    const size_t before = t.skills->results.n;
    const bool refused = unsent(r);
    if (t.skills->running.n == 0 && (!refused || pons__releases_all(pons__decided(r)))) {
        pons__decision_move(&t, PONS_ON_SETTLES);
        return pons__turn_end(&t, PONS_OK);
    }
    int rc = take_answers(&t, &reported, err);
    while (rc >= 0 && reported->event && is_saying(&t)) {
        pons__record_free(&pons__await_answer_record, reported);
        rc = take_answers(&t, &reported, err);
    }
    const char *event = reported->event ? reported->event : "detached";
    const bool look = strcmp(event, "check_in") == 0;
    const bool own =
        look && r->decision && r->decision->wake_s > 0.0 && r->source == PONS_SOURCE_LLM;
    r->wake = look && !refused ? PONS_WAKE_LOOK : PONS_WAKE_NONE;
    r->wake = strcmp(event, "no_progress") == 0 ? PONS_WAKE_NO_PROGRESS : r->wake;
    pons__set_text(&r->woke, refused && look ? "refused" : own ? "time_out" : event);
    for (size_t i = before; rc >= 0 && i < t.skills->results.n; i++) {
        pons_autovalue one = pons__record_write(&pons__result_record, t.skills->results.at[i]);
        pons__say_message(cx, "user", one);
    }
    pons__record_free(&pons__await_answer_record, reported);
    if (rc >= 0) {
        pons__decision_move(&t, PONS_ON_SETTLES);
    }
    return pons__turn_end(&t, rc);
}

// ---- a goal's end -------------------------------------------------------------------------------

int pons__settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                 pons_error *err)
{
    pons_effect e;
    pons_error none = PONS_ERROR_INIT;
    if (pons_effect_get(cx, id, &e, &none) >= 0 && e.state >= PONS_EFFECT_DONE) {
        pons_value_unref(result);
        return PONS_OK;
    }
    return pons_effect_settle(cx, id, to, result, err);
}

// What is said beside the work (a skill that is `beside`) hides nothing of it, and what went well hides no failure.
static int weight(const pons_brain *b, const pons__result *r)
{
    return (pons__means_beside(b, r->skill) ? 0 : 2) + (r->status == PONS_END_DONE ? 0 : 1);
}

void pons__result_note(pons__turn *t, pons__result *last)
{
    pons__skills *s = t->skills;
    const bool newest =
        s->results.n == 0 || !s->last_result || weight(t->b, last) >= weight(t->b, s->last_result);
    pons__list_add(&s->results, last);
    if (newest) {
        pons__record_free(&pons__result_record, s->last_result);
        s->last_result = pons__record_copy(&pons__result_record, last);
    }
    t->skills_changed = true;
}

static pons__result *result_of(const pons__running *running, const pons__ended *reported,
                               int status)
{
    pons__result *last = pons__record_new(&pons__result_record);
    pons__set_text(&last->skill, running->skill);
    pons__set_text(&last->goal_id, running->goal_id);
    pons__set_text(&last->error_msg, reported->error_msg);
    pons__json(&last->args, pons_value_ref(running->args));
    pons__json(&last->metrics,
               reported->metrics ? pons_value_ref(reported->metrics) : json_object());
    last->goal_index = running->goal_index;
    last->error_code = reported->error_code;
    last->status = status;
    return last;
}

// How far it drove: as the skill says, or, where a body died with it, as it had said last.
static double driven_m(const pons__turn *t, const pons__result *last)
{
    const pons__body_goal *g = pons__port_goal(&t->b->port, last->goal_id);
    const double reported = pons_get_num(last->metrics, "distance_m", NAN);
    return isfinite(reported) ? reported : g && isfinite(g->driven_m) ? g->driven_m : 0.0;
}

// What a way to a zone says of the zone, for the world's summary (K3).
static void note_reach(pons_brain *b, pons__react *r, const pons__result *last)
{
    const char *zone = pons__about_zone(b, last->skill, last->args);
    const bool no_path =
        last->status == PONS_END_FAILED && pons__no_way(b, last->skill, last->error_code);
    const int64_t index = last->goal_index;
    if (no_path && !zone && r->task && index >= 0 && (size_t)index < r->task->goals.n &&
        pons__is_object_search(r->task->goals.at[index])) {
        pons__object_search_no_way(b, r->task->goals.at[index]);
    }
    if (zone && no_path) {
        pons__set(&b->unreachable, zone,
                  json_sprintf("%s (%lld)", last->error_msg, (long long)last->error_code));
    } else if (zone && last->status == PONS_END_DONE && pons_get(b->unreachable, zone)) {
        pons_value *left = json_copy(b->unreachable);
        json_object_del(left, zone);
        pons_value_unref(b->unreachable);
        b->unreachable = left;
    }
}

// The body ended it by a stop, which may be lifted again before any telemetry shows it: the kernel
// hears of it from here as well. What ended in an earlier life is over when a person typed resume.
// Whether the kernel was told.
static bool note_stop(pons__turn *t, const pons__running *running, const char *why)
{
    const pons__body_goal *g = pons__port_goal(&t->b->port, running->goal_id);
    if (g && g->old && t->b->opts.resumed) {
        return false;
    }
    t->b->tick_now = true;
    const pons__stopping mail = {.activation = t->react->activation, .reason = why};
    pons_cx_post(t->cx, PONS_NS_KERNEL, pons__inbox_message_words[PONS_LETTER_STOPPED],
                 pons__record_write(&pons__stopping_record, &mail));
    return true;
}

// Consecutive failures of one skill. A pause or a look between two tries ends well, and says
// nothing of what failed: only the skill itself clears its count.
static void count_failure(pons__react *r, const char *skill, bool done, bool counts)
{
    const bool same = strcmp(r->failed_skill, skill) == 0;
    if (counts) {
        r->failures = same ? r->failures + 1 : 1;
        pons__set_text(&r->failed_skill, skill);
    } else if (done && same) {
        r->failures = 0;
        pons__set_text(&r->failed_skill, "");
    }
}

// What was seen while the robot looked joins the result: `seen` in words, `objects` as the memory has them; and the goal that
// it is for knows since when that counts. NULL: it was no look, or nobody remembers what is seen. The words, for the log.
static const char *note_look(pons__turn *t, const pons__running *running, pons__result *last)
{
    pons_brain *b = t->b;
    PONS__AUTO(means) look = b->opts.objects ? pons__means_for(b, "look", NULL, NULL) : NULL;
    const int64_t took_ms = pons__port_robot_ms(&b->port) - running->started_robot_ms;
    const double rate = b->port.newest.as.telemetry.realtime;
    if (!look || strcmp(look->skill, running->skill) != 0 || took_ms < 0) {
        return NULL;
    }
    const int64_t since_ms =
        pons__wall_ms(b) - (int64_t)((double)took_ms / (rate > 0.1 ? rate : 1.0));
    const pons__react *r = t->react;
    const int64_t index = running->goal_index;
    pons__goal *goal =
        r->task && index >= 0 && (size_t)index < r->task->goals.n ? r->task->goals.at[index] : NULL;
    if (goal && pons__is_object_search(goal) && strcmp(goal->intent, "find") != 0) {
        goal->since_ms = since_ms;
        goal->seconds = (double)took_ms / 1e3;
    }
    pons_autovalue things = pons__seen_find(b, NULL, since_ms);
    pons_autobuf words = PONS_BUF_INIT;
    pons__seen_list(b, things, (double)took_ms / 1e3, false, &words);
    pons_value *metrics = pons__with(last->metrics, "seen", pons_string(words.data));
    json_object_set_new(metrics, "objects", pons__or_null(things));
    pons__json(&last->metrics, metrics);
    return pons_get_str(metrics, "seen", NULL);
}

// Goals that the world cannot show are met by their own skill's success.
static void mark_goal(pons_brain *b, pons__react *r, const pons__running *running)
{
    const int64_t index = running->goal_index;
    if (!r->task || index < 0 || (size_t)index >= r->task->goals.n) {
        return;
    }
    pons__goal *goal = r->task->goals.at[index];
    const double was = goal->left;
    const size_t visited = json_array_size(goal->visited);
    pons__means_ended(b, goal, running->skill, pons__recovery_meant(r, running));
    // Of a person's goal there is an end to the parts, if each is more than nothing.
    const bool part = !goal->added && !goal->done && goal->left > 0.0;
    const bool searched = pons__is_object_search(goal) && json_array_size(goal->visited) > visited;
    if (searched || (part && (was <= 0.0 || was - goal->left >= PART_LEAST))) {
        pons__recovery_progress(b, r);
    }
}

// A motion that was cut short goes on with its rest, as the body has said: of a goal that its end would have met, or of
// a plan's step. False: it is such a motion, and what is left of it nobody knows; or how it ended is unknown, and it is
// for nothing that keeps a rest.
static bool keep_rest(pons__turn *t, const pons__running *running, const pons__result *last)
{
    const pons__registered *skill = pons__skill(t->b, running->skill);
    const pons__react *r = t->react;
    const int64_t index = running->goal_index;
    const pons__body_goal *g = pons__port_goal(&t->b->port, running->goal_id);
    const double seen = g ? g->remaining : NAN; // where the body has died with it, before that
    const double left = pons_get_num(last->metrics, "remaining", seen);
    if (!skill || !skill->remains) {
        return true;
    }
    const bool mine = r->task && (!running->task_id || strcmp(running->task_id, r->task->id) == 0);
    const bool step = mine && r->plan && json_is_integer(running->step_id);
    pons__goal *goal =
        mine && index >= 0 && (size_t)index < r->task->goals.n ? r->task->goals.at[index] : NULL;
    const pons_value *args = pons__recovery_meant(r, running);
    const bool own = step || (goal && pons__means_own(t->b, goal, running->skill, args));
    if (step && isfinite(left)) {
        pons__task_plan_note_rest(t->react, running, skill->remains, fmax(left, PONS__REST_LEAST));
    }
    if (goal) {
        pons__means_left(t->b, goal, running->skill, args, left);
    }
    return !pons__means_moves(t->b, running->skill) || isfinite(left) ||
           (!own && last->status != PONS_END_UNKNOWN);
}

static pons__recovery recovery_for(pons_brain *b, const pons__result *last)
{
    if (last->status == PONS_END_DONE) {
        return PONS_RECOVER_NONE;
    }
    const pons__registered *skill = pons__skill(b, last->skill);
    if (last->status == PONS_END_UNKNOWN) {
        return pons__unsettled_asked(b, last->skill) ? PONS_RECOVER_ASK : PONS_RECOVER_REPLAN;
    }
    const pons_value *map = skill ? skill->error_map : NULL; // by numbers that are the skill's own
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)last->error_code);
    const char *word = pons_get_str(map, key, pons_get_str(map, "default", "retry"));
    return (pons__recovery)pons__word_find(pons__recovery_words, word, PONS_RECOVER_RETRY);
}

static int settle_word(pons__turn *t, const pons_value *reported, const pons__ended *word,
                       pons_error *err)
{
    static const pons_effect_state states[] = {[PONS_END_DONE] = PONS_EFFECT_DONE,
                                               [PONS_END_FAILED] = PONS_EFFECT_FAILED,
                                               [PONS_END_CANCELED] = PONS_EFFECT_CANCELED,
                                               [PONS_END_UNKNOWN] = PONS_EFFECT_OUTCOME_UNKNOWN};
    const char *id = word->goal_id ? word->goal_id : "";
    int status = pons__word_find(pons__end_words, word->status, 0);
    pons__list *all = &t->skills->running;
    const size_t place = pons__list_place(all, offsetof(pons__running, goal_id), id);
    if (place == all->n) {
        return PONS_OK;
    }
    if (status < PONS_END_DONE || status > PONS_END_UNKNOWN) {
        status = PONS_END_UNKNOWN;
    }
    const bool unknown = pons__unsettled_end(status, word->error_code);
    if (unknown) {
        t->lost = t->lost ? t->lost : json_array();
        json_array_append_new(t->lost, json_string(((pons__running *)all->at[place])->skill));
    }
    const int rc = pons__settle(t->cx, id, states[unknown ? PONS_END_UNKNOWN : status],
                                pons_value_ref(reported), err);
    if (rc < 0) {
        return rc;
    }
    pons__react *r = t->react;
    PONS__AUTO(running) running = pons__list_take(all, place);
    pons__result *last = result_of(running, word, status);
    const bool done = status == PONS_END_DONE;
    const char *saw = done ? note_look(t, running, last) : NULL;
    pons__effect_event(t->b, t->cx, id, running->skill, running->args,
                       pons__end_words[unknown ? PONS_END_UNKNOWN : status],
                       saw ? saw : last->error_msg);
    // A person has typed resume after that stop: the answer to "shall I try again?" is given.
    const bool go_on = last->error_code == PONS__STOPPED && !note_stop(t, running, last->error_msg);
    if (done) {
        mark_goal(t->b, r, running);
    }
    const bool rest = done || keep_rest(t, running, last);
    count_failure(r, running->skill, done, !done && status != PONS_END_CANCELED);
    pons__recovery_ended(t->b, r, running, last);
    note_reach(t->b, r, last);
    r->distance_m += driven_m(t, last);
    last->recovery = go_on ? PONS_RECOVER_RETRY : recovery_for(t->b, last);
    // To do all of a motion again could be too much.
    const bool asks = unknown && !go_on && pons__unsettled_asked(t->b, running->skill);
    if (asks || !rest) {
        if (status == PONS_END_UNKNOWN || !pons__task_plan_drives(r->plan)) {
            last->recovery = PONS_RECOVER_ASK; // a plan goes by its step's own error
        }
        pons__unsettled_note(t, running, last);
    }
    pons__task_plan_note_result(r, running->step_id, running->fallback, last, NULL);
    pons__result_note(t, last);
    const int64_t now_ms = pons__port_robot_ms(&t->b->port);
    const bool same_clock =
        now_ms >= running->started_robot_ms; // a body that began anew has its own
    pons__trace_put(t->b, t->cx,
                    (pons__entry){.skill = last->skill,
                                  .status = pons__end_words[unknown ? PONS_END_UNKNOWN : status],
                                  .error_code = last->error_code,
                                  .took_ms = same_clock ? now_ms - running->started_robot_ms : 0});
    return PONS_OK;
}

int pons__settle_result(pons__turn *t, const pons_value *reported, pons_error *err)
{
    PONS__AUTO(ended) word = pons__record_read(&pons__ended_record, reported);
    return settle_word(t, reported, word, err);
}
