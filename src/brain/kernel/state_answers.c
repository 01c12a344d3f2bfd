// state_answers.c - what a person asks of the brain is answered at once, from its state and in the language of the
// question: it waits behind no task, and a stop does not keep it back.
//
//     help, did, next, doing, why     always; so is state ("is the stove off"), which nobody can see
//     where, look_for of a thing      always, where the robot remembers what it has seen
//     where, battery, look_for        where nothing else was wished for, and a task could not say it now: another one is
//                                     active, the robot is stopped or paused, or no skill speaks
//
// The answer is told as the robot's words, and is the reason of the task's end, so that who waits for that has it.
#include "brain/kernel/state_answers.h"

#include "brain/goals/goal_skills.h"
#include "brain/goals/named_places.h"
#include "brain/goals/seen_objects.h"
#include "brain/records/event_fields.h"
#include "brain/tasks/questions.h"
#include "pons/language.h"

#include <string.h>

enum { DID_TOLD = 3, NAMES_TOLD = 12, NEXT_TOLD = 6 };

static bool is_user(const char *source)
{
    return strcmp(source, "user") == 0 || strcmp(source, "schedule") == 0 ||
           strcmp(source, "background") == 0;
}

// ---- what it can do -----------------------------------------------------------------------------

// What is called so first in a language; the id where there is none.
static const char *first_name(const pons_value *thing, const char *language)
{
    const pons_value *names = pons_get(thing, "names"), *own = pons_get(names, language);
    const pons_value *list = own ? own : names;
    const char *name =
        json_is_string(list) ? json_string_value(list) : json_string_value(json_array_get(list, 0));
    return name ? name : pons_get_str(thing, "id", "?");
}

// "kitchen (厨房), bedroom (卧室)"
static void names_of(pons_buf *out, const pons_value *things, bool zh)
{
    for (size_t i = 0; i < json_array_size(things) && i < NAMES_TOLD; i++) {
        const pons_value *thing = json_array_get(things, i);
        const char *one = first_name(thing, zh ? "zh" : "en"),
                   *other = first_name(thing, zh ? "en" : "zh");
        pons_buf_printf(out, "%s%s", i == 0 ? "" : pons_translate(zh, ", "), one);
        if (strcmp(one, other) != 0) {
            pons_buf_printf(out, pons_translate(zh, " (%s)"), other);
        }
    }
    if (json_array_size(things) > NAMES_TOLD) {
        pons_buf_str(out, pons_translate(zh, ", …"));
    }
}

static bool met_by_some_skill(const pons_brain *b, const char *intent)
{
    for (size_t i = 0; i < b->port.skills.n; i++) {
        const pons__registered *skill = b->port.skills.at[i];
        for (size_t k = 0; k < skill->meets.n; k++) {
            if (strcmp(((const pons__meets *)skill->meets.at[k])->intent, intent) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void say_deeds(pons__saying *s, bool zh, pons_buf *out)
{
    static const char *const deeds[][2] = {{"go_to", "go to a place"},
                                           {"patrol", "patrol"},
                                           {"bring", "bring a thing"},
                                           {"put", "put a thing somewhere"},
                                           {"look_for", "say whether a thing is there"},
                                           {"look_round", "find a thing"},
                                           {"look", "look and say what I see"},
                                           {"wait", "wait"},
                                           {"say", "say something"},
                                           {"charge", "charge"}};
    size_t n = 0;
    pons_buf_str(out, pons_translate(zh, "Here I can "));
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (met_by_some_skill(s->b, deeds[i][0])) {
            pons_buf_printf(out, "%s%s", n++ ? pons_translate(zh, ", ") : "",
                            pons_translate(zh, deeds[i][1]));
        }
    }
    pons_buf_str(out, pons_translate(zh, "; skills: "));
    for (size_t i = 0; i < s->b->port.skills.n; i++) {
        const char *name = ((const pons__registered *)s->b->port.skills.at[i])->name;
        pons_buf_printf(out, "%s%s", i ? pons_translate(zh, ", ") : "", name);
    }
}

static void say_help(pons__saying *s, bool zh, pons_buf *out)
{
    pons_autovalue world = pons__places_world(s->b);
    const pons_value *zones = pons_get(world, "zones"), *objects = pons_get(world, "objects");
    say_deeds(s, zh, out);
    if (json_array_size(zones) > 0) {
        pons_buf_str(out, pons_translate(zh, ". Places: "));
        names_of(out, zones, zh);
    }
    if (met_by_some_skill(s->b, "bring") && json_array_size(objects) > 0) {
        pons_buf_str(out, pons_translate(zh, ". Things: "));
        names_of(out, objects, zh);
    }
    const pons_value *zone = json_array_get(zones, json_array_size(zones) > 1);
    pons_buf_str(out, pons_translate(zh, ". Try: "));
    if (zone) {
        pons_buf_printf(out, pons_translate(zh, "\"go to the %s\", \"patrol\", "),
                        first_name(zone, zh ? "zh" : "en"));
    } else {
        pons_buf_str(out, pons_translate(zh, "\"wait 5 seconds\", \"what are you doing?\", "));
    }
    pons_buf_str(out, pons_translate(zh, "\"how much battery is left?\"."));
}

// ---- what it did, does, will do -----------------------------------------------------------------

static const char *ended(const char *status, bool zh)
{
    return pons_translate(zh, strcmp(status, "succeeded") == 0 ? "done" : status);
}

static void say_did(const pons__tasks *t, bool zh, pons_buf *out)
{
    size_t n = 0;
    for (size_t i = t->finished.n; i-- > 0 && n < DID_TOLD;) { // the newest first
        const pons__finished *f = t->finished.at[i];
        if (!is_user(f->source)) {
            continue;
        }
        const bool well = strcmp(f->status, "succeeded") == 0;
        pons_buf_str(out,
                     n > 0 ? pons_translate(zh, "; before that: ") : pons_translate(zh, "Last: "));
        pons_buf_printf(out, pons_translate(zh, "\"%s\", %s"), f->text, ended(f->status, zh));
        if (!well && *f->reason) {
            pons_buf_printf(out, pons_translate(zh, " (%s)"), f->reason);
        }
        n++;
    }
    pons_buf_str(out,
                 n > 0 ? pons_translate(zh, ".") : pons_translate(zh, "I have done nothing yet."));
}

static const pons__task *active_of(const pons__tasks *t)
{
    return pons__list_find(&t->queue, offsetof(pons__task, id), t->active_task_id);
}

// What holds all up; false: nothing does.
static bool say_held(pons__saying *s, bool zh, pons_buf *out)
{
    const pons__tasks *t = s->t;
    PONS__AUTO_OPEN open = pons__questions_open(s->b);
    const bool holds = open.unanswered > 0 && !open.at[0].own;
    const pons__question *q = holds ? open.at[0].about : NULL;
    if (t->stopped) {
        pons_buf_printf(
            out,
            pons_translate(zh, "I am stopped: %s. To go on, say \"reset\" and then \"continue\"."),
            pons_translate(zh, t->stopped->reason ? t->stopped->reason : ""));
    } else if (t->paused) {
        pons_buf_str(out, pons_translate(
                              zh, "I am paused, as a person said so: say \"continue\" to go on."));
    } else if (q) {
        pons_buf_printf(out, pons_translate(zh, "I wait for an answer: %s"), q->question);
    } else if (t->mode == PONS_MODE_SAFE) {
        pons_buf_printf(out, pons_translate(zh, "I stand still to be safe: %s."), t->mode_reason);
    } else {
        return false;
    }
    return true;
}

static void say_doing(pons__saying *s, bool zh, pons_buf *out)
{
    const pons__task *active = active_of(s->t);
    if (say_held(s, zh, out)) {
        return;
    }
    if (s->t->mode == PONS_MODE_CHARGE && !active) {
        pons_buf_str(out, pons_translate(zh, "I am charging."));
    } else if (active) {
        pons_buf_printf(out, pons_translate(zh, "I am at work on \"%s\"."), active->text);
    } else {
        pons_buf_str(out, pons_translate(zh, "I have no task now."));
    }
}

static void say_next(const pons__tasks *t, bool zh, pons_buf *out)
{
    size_t n = 0, place = 0;
    for (size_t i = 0; i < t->queue.n; i++) {
        const pons__task *task = t->queue.at[i];
        if (!is_user(task->source)) {
            continue;
        }
        place++;
        const bool now = strcmp(task->id, t->active_task_id) == 0;
        if (n++ < NEXT_TOLD) {
            pons_buf_str(out, n > 1 ? "; " : "");
            pons_buf_printf(out, "%zu. %s%s", place, task->text,
                            now ? pons_translate(zh, " (now)") : "");
        }
    }
    if (n == 0) {
        pons_buf_str(out, pons_translate(zh, "Nothing is left to do."));
    }
}

static void say_why(pons__saying *s, bool zh, pons_buf *out)
{
    const pons__tasks *t = s->t;
    const pons__finished *last = t->finished.n ? t->finished.at[t->finished.n - 1] : NULL;
    for (size_t i = t->finished.n; i-- > 0 && !is_user(last->source);) {
        last = t->finished.at[i];
    }
    if (say_held(s, zh, out)) {
        return;
    }
    if (active_of(t)) {
        say_doing(s, zh, out);
    } else if (last && is_user(last->source) && strcmp(last->status, "succeeded") != 0) {
        pons_buf_printf(out, pons_translate(zh, "\"%s\" %s: %s."), last->text,
                        ended(last->status, zh), last->reason);
    } else {
        pons_buf_str(out, pons_translate(zh, "I have no task left, so I stand here."));
    }
}

// ---- who is asked -------------------------------------------------------------------------------

// Whether a task of it could not say so now.
static bool held_back(const pons__saying *s, const pons__goal *goal)
{
    PONS__AUTO_MEANS ways = pons__means_of(s->b, goal, 0);
    return s->t->queue.n > 0 || s->t->paused || s->t->stopped || ways.n == 0;
}

// Whether it asks where a thing is, and there is a memory that knows: nobody has to go or wait for that.
static bool of_memory(const pons__saying *s, const pons__goal *goal)
{
    return s->b->opts.objects && *goal->object &&
           (strcmp(goal->intent, "where") == 0 || strcmp(goal->intent, "look_for") == 0);
}

static bool say_one(pons__saying *s, const pons__goal *goal, bool alone, bool zh, pons_buf *out)
{
    const char *asks = goal->intent;
    if (strcmp(asks, "help") == 0) {
        say_help(s, zh, out);
    } else if (strcmp(asks, "did") == 0) {
        say_did(s->t, zh, out);
    } else if (strcmp(asks, "next") == 0) {
        say_next(s->t, zh, out);
    } else if (strcmp(asks, "doing") == 0) {
        say_doing(s, zh, out);
    } else if (strcmp(asks, "why") == 0) {
        say_why(s, zh, out);
    } else if (strcmp(asks, "state") == 0) {
        pons__seen_state(s->b, goal->object, zh, out);
    } else if ((alone && held_back(s, goal)) || of_memory(s, goal)) {
        return pons__goal_says(s->b, goal, out);
    } else {
        return false;
    }
    return true;
}

bool pons__state_answered(pons__saying *s, const char *text, pons__list *goals)
{
    const bool zh = pons_language_chinese(text);
    pons_autobuf out = PONS_BUF_INIT;
    bool alone = true, any = false;
    for (size_t i = 0; i < goals->n; i++) {
        static const char *const asking[] = {"help",  "did",     "next",     "doing", "why",
                                             "where", "battery", "look_for", "state", NULL};
        alone = alone && pons__word_find(asking, ((pons__goal *)goals->at[i])->intent, -1) >= 0;
    }
    for (size_t i = 0; i < goals->n;) {
        pons_autobuf one = PONS_BUF_INIT;
        if (!say_one(s, goals->at[i], alone, zh, &one)) {
            i++;
            continue;
        }
        pons_buf_str(&out, any && !zh ? " " : "");
        pons_buf_str(&out, one.data ? one.data : "");
        pons__record_free(&pons__goal_record, pons__list_take(goals, i));
        any = true;
    }
    if (!any || out.failed) {
        return false;
    }
    char id[32];
    snprintf(id, sizeof id, "task-%lld", (long long)s->t->next);
    PONS__EMIT(s->b, s->cx, spoken, .text = out.data);
    pons__task_push(s, text, NULL, NULL, "system", s->b->rules.priority_user);
    pons__task_end(s, id, "succeeded", out.data, NULL);
    return goals->n == 0;
}
