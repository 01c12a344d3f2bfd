// queue.c - K5: what people, other processes and the inner loop have said becomes the queue.
//
//     say, run     words --policy--> control words and goals --> a task, or more of one that waits
//     wish         the same of a model's words, or of a goal whose time has come: no answers, and no word that sets
//                  something free
//     control      stop, pause, continue, cancel, raise, reset, yes, no
//     answer       to the open question (react/approve.c)
//     task_result  the inner loop is done with a task, or was made to let go of it
//
// Then, at every tick: deadlines, what a stop leaves, charging, and who is active. A task's life:
//
//     queued --> active --> succeeded, failed, aborted, cancelled
//                 |  ^
//                 v  |
//                paused        another one goes first; it keeps its place and what it has reached
//
// One task is active at a time. Who it is follows from the mode, the priorities, and a switch that the
// decision maker asked for and the priorities allow (tasks.c).
#include "brain/queue.h"

#include "brain/event.h"
#include "brain/letter.h"
#include "brain/places.h"
#include "brain/questions.h"
#include "brain/schedule.h"
#include "brain/self.h"
#include "brain/stopped.h"
#include "brain/task_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FINISHED_KEPT   50
#define CHARGE_AGAIN_MS 60000 // from a charging that was in vain to the next
#define CLOCK_SLACK_MS  2000  // that a wall clock may go back and nothing has happened

typedef struct saying { // what a message says of the tasks that it makes
    pons_brain *b;
    pons_cx *cx;
    pons__tasks *t;
    const pons__said *said; // NULL: nobody says it
} saying;

static void hear(saying *s, const pons_value *pending, bool results);
static void handle_letter(saying *s, const pons__letter *l);
static bool answers_question(saying *s, const char *text, const char *control);
static bool still_at(saying *s);
static int come_back(saying *s, pons_value **parsed, pons_error *err);
static void refuse_late(saying *s);
static void take_back(saying *s);
static void handle_words(saying *s, const char *text, bool person);
static void handle_control(saying *s, const char *word);
static void handle_run(saying *s);
static void handle_result(saying *s, const pons_value *value);
static void cancel_tasks(saying *s, const char *only);
static void raise_task(saying *s, const char *id);
static int64_t priority_of(const saying *s, int64_t usual);
static void ignored(saying *s, const char *word, const char *reason);
static void push_task(saying *s, const char *text, const pons_value *goals, const pons_value *plan,
                      const char *source, int64_t priority);
static void finish_task(pons_brain *b, pons_cx *cx, pons__tasks *t, const char *id,
                        const char *status, const char *reason, const pons_value *verified);
static void keep_deadlines(saying *s);
static void charge(saying *s);
static void choose_active(saying *s);

int pons__task_queue_update(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    pons__hci *h = pons__hci_of(b, pons_cx_get(cx, "hci"));
    saying s = {.b = b, .cx = cx, .t = pons__tasks_of(b, pons_cx_get(cx, "tasks"))};
    if (json_array_size(h->pending) > 0) {
        pons_autovalue pending = pons_value_ref(h->pending);
        pons__json(&h->pending, json_array());
        h->changed = true;
        // The inner loop's word first: what it has put aside can then be answered.
        hear(&s, pending, true);
        hear(&s, pending, false);
    }
    refuse_late(&s);
    take_back(&s);
    snprintf(s.t->asking, sizeof s.t->asking, "%s", pons__question_asking(b));
    pons__stopped_look(b, cx, s.t,
                       pons__charge_wanted(&b->rules, b->seen, s.t->mode == PONS_MODE_CHARGE));
    keep_deadlines(&s);
    charge(&s);
    choose_active(&s);
    const int rc = pons__hci_put(b, cx);
    return rc < 0 ? rc : pons__tasks_put(b, cx);
}

static void hear(saying *s, const pons_value *pending, bool results)
{
    size_t i;
    json_t *msg;
    json_array_foreach(pending, i, msg)
    {
        pons__letter *l = pons__record_read(&pons__letter_record, msg);
        if ((l->kind == PONS_LETTER_RESULT) == results) {
            handle_letter(s, l);
        }
        pons__record_free(&pons__letter_record, l);
    }
}

static void handle_letter(saying *s, const pons__letter *l)
{
    pons__said *said = pons__said_read(l->value);
    s->said = said;
    switch ((pons__letter_kind)l->kind) {
    case PONS_LETTER_SAY:
    case PONS_LETTER_GOAL:
    case PONS_LETTER_WISH:
        handle_words(s, said->text, l->kind != PONS_LETTER_WISH);
        break;
    case PONS_LETTER_CONTROL:
        handle_control(s, said->word);
        break;
    case PONS_LETTER_STOPPED: {
        pons__stopping *stop = pons__stopping_read(l->value);
        pons__stopped_hear(s->t, stop->activation, stop->reason);
        pons__record_free(&pons__stopping_record, stop);
        break;
    }
    case PONS_LETTER_RUN:
        handle_run(s);
        break;
    case PONS_LETTER_ANSWER:
        pons__answer_hear(s->b, s->cx, l->value);
        break;
    case PONS_LETTER_RESULT:
        handle_result(s, l->value);
        break;
    case PONS_LETTER_OTHER:
        break;
    }
    pons__record_free(&pons__said_record, said);
    s->said = NULL;
}

// ---- words --------------------------------------------------------------------------------------

// What may be said by who is no person: words after which less moves than before.
static bool may_say(const char *word)
{
    return strcmp(word, "stop") == 0 || strcmp(word, "pause") == 0 || strcmp(word, "cancel") == 0;
}

// A wish may hold both, "cancel, go to the bedroom": the control word first, then its goals. What a model has
// written, or might have (person false), answers no question and sets nothing free.
static void handle_words(saying *s, const char *text, bool person)
{
    pons_brain *b = s->b;
    pons_autovalue parsed = NULL;
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue world = pons__places_world(b);
    int rc = b->opts.policy.ops->parse(b->opts.policy.self, text, world, &parsed, &why);
    rc = rc < 0 ? rc : come_back(s, &parsed, &why);
    rc = rc < 0 ? rc : pons__places_resolve(world, &parsed, &why);
    const char *word = pons_get_str(parsed, "control", "");
    const bool wanted = json_array_size(pons_get(parsed, "goals")) > 0;
    const bool presumes = !person && *word && !may_say(word);
    if (person && answers_question(s, text, word)) {
        return;
    }
    if (person && strcmp(word, "stop") != 0 &&
        (pons__schedules_hear(b, s->cx, text, s->said->by) ||
         pons__places_hear(b, s->cx, text, s->said->by))) {
        return;
    }
    if (still_at(s)) {
        return;
    }
    if (presumes && wanted) {
        ignored(s, word, "only a person may say so");
    } else if (*word && !presumes) {
        handle_control(s, word);
        if (!wanted) {
            return;
        }
    }
    const bool urgent = pons_get_bool(parsed, "urgent", false);
    push_task(s, text, pons_get(parsed, "goals"), NULL,
              pons__schedule_of(s->said->by) ? "schedule" : "user",
              urgent ? b->rules.priority_urgent : b->rules.priority_user);
    const bool vain = presumes && !wanted;
    if (vain || (rc < 0 && !b->opts.llm)) {
        // Nobody here understands it: the task was queued and is ended at once, so that it is never
        // lost.
        char id[32];
        snprintf(id, sizeof id, "task-%lld", (long long)s->t->next - 1);
        finish_task(b, s->cx, s->t, id, "failed", vain ? "only a person may say so" : why.message,
                    NULL);
    }
}

// A goal of a time whose last one is not over yet: one is enough.
static bool still_at(saying *s)
{
    const char *schedule = pons__schedule_of(s->said->by);
    for (size_t i = 0; schedule && i < s->t->queue.n; i++) {
        const pons__task *task = s->t->queue.at[i];
        if (task->schedule && strcmp(task->schedule, schedule) == 0) {
            pons_cx_emit(s->cx, "schedule.skipped",
                         pons__event(s->b, pons_object("schedule_id", json_string(schedule), "text",
                                                       json_string(s->said->text), "task_id",
                                                       json_string(task->id), NULL)));
            return true;
        }
    }
    return false;
}

// "Come back" means the place where the robot stood when its last task began; behind other goals of
// the same wish it is where it stands now.
static int come_back(saying *s, pons_value **parsed, pons_error *err)
{
    pons_autovalue goals = json_array();
    size_t i;
    json_t *goal;
    json_array_foreach(pons_get(*parsed, "goals"), i, goal)
    {
        pons_value *next = pons_value_ref(goal);
        if (strcmp(pons_get_str(goal, "intent", ""), "come_back") == 0) {
            const pons_value *to = i > 0 ? (s->b->seen ? s->b->seen->pose : NULL) : s->t->left_at;
            if (!to) {
                pons_value_unref(next);
                return pons_error_set(err, PONS_EINVAL, "brain",
                                      "there is nowhere to come back to: no task has begun yet");
            }
            pons__set(&next, "intent", json_string("go_to"));
            pons__set(&next, "pose", pons_value_ref(to));
        }
        json_array_append_new(goals, next);
    }
    pons__set(parsed, "goals", pons_value_ref(goals));
    return PONS_OK;
}

// The option that a text names, by its words or its number; NULL: none.
static const char *option_of(const pons_value *options, const char *text)
{
    size_t i;
    json_t *option;
    char number[24];
    json_array_foreach(options, i, option)
    {
        snprintf(number, sizeof number, "%zu", i + 1);
        const char *words = json_is_string(option) ? json_string_value(option) : "";
        if (strcasecmp(words, text) == 0 || strcmp(number, text) == 0) {
            return words;
        }
    }
    return NULL;
}

// Words that are said while questions are open answer the first of them that asks for words, or has that
// option; what controls the robot does so all the same.
static bool answers_question(saying *s, const char *text, const char *control)
{
    PONS__AUTO_OPEN list = pons__questions_open(s->b);
    const char *option = NULL;
    const pons__question *q = NULL;
    for (size_t i = 0; !q && i < list.n; i++) {
        const pons__question *about = list.at[i].answered ? NULL : list.at[i].about;
        option = about ? option_of(about->options, text) : NULL;
        q = about && (option || (about->words && !*control)) ? about : NULL;
    }
    if (!q) {
        return false;
    }
    pons_autovalue said = pons_object("id", json_string(q->id), "action", json_string("approve"),
                                      "answer", json_string(option ? option : text), "reason",
                                      json_string(""), "by", json_string(s->said->by), NULL);
    pons__answer_hear(s->b, s->cx, said);
    return true;
}

// A question whose deadline has passed is answered with no; so is one from the future, as it would stay
// open for as long as the clock went back.
static void refuse_late(saying *s)
{
    PONS__AUTO_OPEN list = pons__questions_open(s->b);
    const int64_t now_ms = pons_cx_wall_ms(s->cx);
    for (size_t i = 0; i < list.n; i++) {
        const pons__question *q = list.at[i].about;
        if (!q || !q->deadline_ms || list.at[i].answered ||
            (now_ms < q->deadline_ms && now_ms >= q->asked_ms - CLOCK_SLACK_MS)) {
            continue;
        }
        const char *why = now_ms < q->deadline_ms ? "the clock went back while it was open"
                                                  : "nobody answered before the deadline";
        pons_autovalue said =
            pons_object("id", json_string(q->id), "action", json_string("reject"), "reason",
                        json_string(why), "by", json_string("the deadline"), NULL);
        pons__answer_hear(s->b, s->cx, said);
    }
}

// A stop wins over whatever was approved before it and has not started: it is asked anew.
static void take_back(saying *s)
{
    for (size_t i = 0; s->t->stopped && i < s->t->queue.n; i++) {
        pons__questions_close(s->b, s->cx, s->t->queue.at[i], "a stop");
    }
}

// control: {word, task? (cancel, raise), priority? (raise), seen_free? (continue: the body was not
// latched when it was said)}
static void handle_control(saying *s, const char *word)
{
    pons__tasks *t = s->t;
    if (strcmp(word, "pause") == 0 || strcmp(word, "continue") == 0) {
        t->paused = strcmp(word, "pause") == 0;
        t->changed = true;
    }
    if (strcmp(word, "continue") == 0 || strcmp(word, "resume") == 0) {
        const char *why = pons__stopped_release(s->b, s->cx, t, s->said->seen_free);
        if (why) {
            ignored(s, word, why);
        }
    } else if (strcmp(word, "stop") == 0) {
        pons__stopped_say(s->b, t, "a person said stop");
    } else if (strcmp(word, "cancel") == 0) {
        cancel_tasks(s, s->said->task);
    } else if (strcmp(word, "raise") == 0) {
        raise_task(s, s->said->task ? s->said->task : "");
    } else if (strcmp(word, "reset") == 0) {
        pons__stopped_reset(s->b, t);
    } else if (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0) {
        const bool yes = strcmp(word, "yes") == 0;
        pons_autovalue said =
            pons_object("action", json_string(yes ? "approve" : "reject"), "reason",
                        json_string(word), "by", json_string(s->said->by), NULL);
        pons__answer_hear(s->b, s->cx, said);
    }
}

// Ends the task of this id, or (NULL) all that people have asked for so far; what is still moving is
// let go of by K6's preempt. Charging is the kernel's own and goes on.
static void cancel_tasks(saying *s, const char *only)
{
    bool any = false;
    for (size_t i = 0; i < s->t->queue.n;) {
        const pons__task *task = s->t->queue.at[i];
        const bool theirs = strcmp(task->source, "battery") != 0;
        if (theirs && (!only || strcmp(task->id, only) == 0)) {
            finish_task(s->b, s->cx, s->t, task->id, "cancelled", "the user said cancel", NULL);
            any = true;
        } else {
            i++;
        }
    }
    if (!any) {
        ignored(s, "cancel", only ? "there is no such task" : "there is no task");
    }
}

// A person gives one task another priority; without a number it goes before all that wait.
static void raise_task(saying *s, const char *id)
{
    pons__task *task = pons__queue_find(s->t, id);
    if (!task || strcmp(task->source, "battery") == 0) {
        ignored(s, "raise", "there is no such task");
        return;
    }
    int64_t top = task->priority;
    for (size_t i = 0; i < s->t->queue.n; i++) {
        const pons__task *other = s->t->queue.at[i];
        const bool theirs = strcmp(other->source, "battery") != 0;
        top = theirs && other != task && other->priority >= top ? other->priority + 1 : top;
    }
    const int64_t most = s->b->rules.priority_charge - 1; // charging stays above all of them
    top = priority_of(s, top);
    task->priority = top > most ? most : top < 0 ? 0 : top;
    s->t->changed = true;
    pons__event_emit(s->b, s->cx, &pons__task_raised_record,
                     &(pons__task_raised){.task_id = task->id, .priority = task->priority});
}

static void ignored(saying *s, const char *word, const char *reason)
{
    pons__event_emit(s->b, s->cx, &pons__control_told_record,
                     &(pons__control_told){.word = word, .ignored = reason});
}

// A run begins: what it will be judged by starts here.
static void handle_run(saying *s)
{
    pons__tasks *t = s->t;
    t->run_first = t->next;
    pons__record_free(&pons__totals_record, t->totals);
    t->totals = pons__record_new(&pons__totals_record);
    t->changed = true;
    size_t i;
    json_t *goal;
    json_array_foreach(s->said->goals, i, goal)
    {
        handle_words(s, json_is_string(goal) ? json_string_value(goal) : "", true);
    }
    const pons_value *plan = s->said->plan;
    if (plan) { // a task of its own: its goal is what the task says
        push_task(s, pons_get_str(plan, "goal", ""), NULL, plan, "user", s->b->rules.priority_user);
        const pons__task *task =
            pons__queue_find(t, t->queue.n ? ((pons__task *)t->queue.at[t->queue.n - 1])->id : "");
        if (task && task->plan) {
            pons__task_plan_created(s->b, s->cx, task->plan);
        }
    }
}

// ---- results of the inner loop ------------------------------------------------------------------

// It keeps its place, what it has reached, how often it got nowhere, and what it has cost.
static void keep_reached(const saying *s, pons__task *task, pons__outcome *o)
{
    pons__list_clear(&pons__goal_record, &task->goals);
    task->goals = o->goals;
    o->goals = (pons__list){0};
    pons__record_free(&pons__task_plan_record, task->plan);
    pons__record_free(&pons__ladder_record, task->ladder);
    pons__record_free(&pons__spent_record, task->spent);
    pons__list_clear(&pons__question_record, &task->asks);
    task->asks = o->asks;
    o->asks = (pons__list){0};
    for (size_t i = 0; i < task->asks.n; i++) { // what was heard while it was put aside
        pons__question *q = task->asks.at[i];
        if (!q->answer) {
            pons__json(&q->answer, pons_value_ref(pons__question_answer(s->b->hci, q->id)));
        }
    }
    task->plan = o->plan;
    task->ladder = o->ladder;
    task->spent = o->spent;
    o->plan = NULL;
    o->ladder = NULL;
    o->spent = NULL;
}

// The inner loop has let go of its task for another one; the priorities are asked again.
static void switch_task(saying *s, const pons__outcome *o)
{
    pons__tasks *t = s->t;
    const pons__task *to = NULL;
    char why[160];
    const char *refused = pons__tasks_switch(t, o->switch_to, &to, why, sizeof why);
    if (refused) {
        ignored(s, "switch", refused);
        return;
    }
    pons__event_emit(
        s->b, s->cx, &pons__task_switched_record,
        &(pons__task_switched){.from = t->active_task_id, .to = to->id, .reason = o->reason});
    pons__set_text(&t->switch_to, to->id);
    pons__task *from = pons__queue_active(t);
    from->status = PONS_TASK_PAUSED;
    pons__set_text(&t->active_task_id, ""); // the choice is made anew, and the switch decides it
}

static void handle_result(saying *s, const pons_value *value)
{
    pons__tasks *t = s->t;
    pons__outcome *o = pons__record_read(&pons__outcome_record, value);
    if (o->activation != t->react->activation) { // of an activation that was given up
        pons__record_free(&pons__outcome_record, o);
        return;
    }
    t->changed = true;
    t->react->state = PONS_INNER_IDLE;
    t->safe_handled =
        t->safe_handled || t->react->mode == PONS_MODE_SAFE || o->mode == PONS_MODE_SAFE;
    t->totals->iterations += o->iterations;
    t->totals->replans += o->replans;
    t->totals->distance_m += o->distance_m;
    pons__task *task = pons__queue_find(t, o->task_id);
    const bool switched = strcmp(o->status, "switched") == 0;
    if (task && (switched || strcmp(o->status, "preempted") == 0)) {
        if (pons__outcome_tells(value)) {
            keep_reached(s, task, o);
        }
        if (switched && strcmp(t->active_task_id, task->id) == 0) {
            switch_task(s, o);
        }
    } else if (task) {
        finish_task(s->b, s->cx, t, o->task_id, o->status, o->reason, o->verified);
    }
    pons__record_free(&pons__outcome_record, o);
}

// ---- the queue ----------------------------------------------------------------------------------

// Said twice in a row, and it is the same wherever the robot is: that is one task.
static bool said_again(saying *s, const pons__task *task)
{
    pons__tasks *t = s->t;
    pons__task *last = t->queue.n ? t->queue.at[t->queue.n - 1] : NULL;
    if (!last || strcmp(last->source, task->source) != 0 || last->plan || task->plan ||
        task->goals.n == 0 || last->unverified != task->unverified ||
        last->priority != task->priority || last->deadline_ms != task->deadline_ms ||
        !pons__list_equal(&pons__goal_record, &last->goals, &task->goals)) {
        return false;
    }
    for (size_t i = 0; i < task->goals.n; i++) {
        if (!pons__means_once(s->b, task->goals.at[i])) {
            return false;
        }
    }
    last->said++;
    t->changed = true;
    pons__event_emit(s->b, s->cx, &pons__task_merged_record,
                     &(pons__task_merged){.task_id = last->id, .said = last->said});
    return true;
}

// A message may give one, as a number or in the words of the config.
static int64_t priority_of(const saying *s, int64_t usual)
{
    const pons__rules_kernel *rules = &s->b->rules;
    const pons_value *said = s->said ? s->said->priority : NULL;
    const char *word = json_is_string(said) ? json_string_value(said) : "";
    char *end = NULL;
    const long long number = strtoll(word, &end, 10);
    return json_is_integer(said)             ? json_integer_value(said)
           : strcmp(word, "background") == 0 ? rules->priority_background
           : strcmp(word, "user") == 0       ? rules->priority_user
           : strcmp(word, "urgent") == 0     ? rules->priority_urgent
           : end && end != word && *end == 0 ? (int64_t)number
                                             : usual;
}

static void push_task(saying *s, const char *text, const pons_value *goals, const pons_value *plan,
                      const char *source, int64_t priority)
{
    pons__tasks *t = s->t;
    pons__task *task = pons__record_new(&pons__task_record);
    pons__set_textf(&task->id, "task-%lld", (long long)t->next);
    pons__set_text(&task->text, text);
    pons__set_text(&task->source, source);
    if (strcmp(source, "schedule") == 0) {
        pons__set_text(&task->schedule, pons__schedule_of(s->said->by));
    }
    pons__list_read(&pons__goal_record, goals, &task->goals);
    task->priority = priority_of(s, priority);
    if (task->priority <= s->b->rules.priority_background && strcmp(source, "user") == 0) {
        pons__set_text(&task->source, "background");
    }
    task->deadline_ms = s->said ? s->said->deadline_ms : 0;
    pons__json(&task->resources, json_pack("[s]", "base"));
    task->preemptible = true;
    task->created_ms = pons_cx_wall_ms(s->cx);
    task->plan = plan ? pons__task_plan_new("given", plan) : NULL;
    task->unverified = !plan && task->goals.n == 0;
    const int64_t most = s->b->rules.priority_charge - 1;
    if (strcmp(source, "battery") != 0 && task->priority > most) {
        task->priority = most; // nobody's wish goes before charging
    }
    if (said_again(s, task)) {
        pons__record_free(&pons__task_record, task);
        return;
    }
    pons__list_add(&t->queue, task);
    t->next++;
    t->changed = true;
    pons_autovalue v = pons__record_write(&pons__task_record, task);
    pons__event_emit(s->b, s->cx, &pons__task_queued_record, &(pons__task_queued){.task = task});
    // What a person said may be more than a task can be: it is never lost, and ends at once.
    pons_error why = PONS_ERROR_INIT;
    if (pons__door_check(s->b, PONS_DOOR_TASK, v, &why) < 0) {
        finish_task(s->b, s->cx, t, task->id, "failed", why.message, NULL);
    }
}

static void finish_task(pons_brain *b, pons_cx *cx, pons__tasks *t, const char *id,
                        const char *status, const char *reason, const pons_value *verified)
{
    const size_t place = pons__tasks_place(t, id);
    if (place == t->queue.n) {
        return;
    }
    pons__task *task = pons__list_take(&t->queue, place);
    pons__questions_close(b, cx, task, "the task is over");
    pons__finished *f = pons__record_new(&pons__finished_record);
    pons__set_text(&f->id, task->id);
    pons__set_text(&f->text, task->text);
    pons__set_text(&f->status, status);
    pons__set_text(&f->reason, reason);
    pons__set_text(&f->source, task->source);
    pons__json(&f->verified, pons_value_ref(verified));
    while (t->finished.n >= FINISHED_KEPT) {
        pons__record_free(&pons__finished_record, pons__list_take(&t->finished, 0));
    }
    pons__list_add(&t->finished, f);
    if (strcmp(t->active_task_id, task->id) == 0) {
        pons__set_text(&t->active_task_id, "");
    }
    if (strcmp(t->switch_to, task->id) == 0) {
        pons__set_text(&t->switch_to, "");
    }
    if (strcmp(task->source, "battery") == 0) {
        const bool vain = strcmp(status, "succeeded") != 0;
        t->charge_again_ms = vain ? pons_cx_wall_ms(cx) + CHARGE_AGAIN_MS : 0;
    }
    t->changed = true;
    pons__event_emit(b, cx, &pons__task_done_record,
                     &(pons__task_done){.task_id = f->id,
                                        .status = f->status,
                                        .reason = f->reason,
                                        .text = f->text,
                                        .verified = verified});
    pons__record_free(&pons__task_record, task);
}

// ---- every tick ---------------------------------------------------------------------------------

// A task whose deadline has passed is over: what was wished for then is not wished for now.
static void keep_deadlines(saying *s)
{
    const int64_t now_ms = pons_cx_wall_ms(s->cx);
    for (size_t i = 0; i < s->t->queue.n;) {
        pons__task *task = s->t->queue.at[i];
        if (!task->deadline_ms || now_ms < task->deadline_ms || task->overdue) {
            i++;
            continue;
        }
        pons__event_emit(
            s->b, s->cx, &pons__task_overdue_record,
            &(pons__task_overdue){.task_id = task->id, .deadline_ms = task->deadline_ms});
        if (s->b->rules.overdue_goes_on) {
            task->overdue = true;
            s->t->changed = true;
            i++;
        } else {
            finish_task(s->b, s->cx, s->t, task->id, "failed",
                        task->status == PONS_TASK_QUEUED
                            ? "its deadline passed before it could begin"
                            : "its deadline has passed",
                        NULL);
        }
    }
}

// One that ended in vain is not begun anew at once: what refuses it now would refuse it ten times a second.
static bool charge_rests(const saying *s)
{
    const int64_t left_ms = s->t->charge_again_ms - pons_cx_wall_ms(s->cx);
    return left_ms > 0 && left_ms <= CHARGE_AGAIN_MS; // further away: the clock went back
}

// The kernel makes the charge task, and the kernel ends it when the battery is charged.
static void charge(saying *s)
{
    pons__tasks *t = s->t;
    const bool charges = pons__means_charges(s->b);
    const bool charging = pons__charges_now(s->b->seen);
    if (t->mode == PONS_MODE_CHARGE && !charging && charges && !charge_rests(s) &&
        !pons__tasks_pick(t, t->mode)) {
        pons__goal *goal = pons__means_charging(s->b);
        pons__set_text(&goal->text, "battery low: charge");
        pons_autovalue goals = json_array();
        json_array_append_new(goals, pons__record_write(&pons__goal_record, goal));
        pons__record_free(&pons__goal_record, goal);
        push_task(s, "battery low: charge", goals, NULL, "battery", s->b->rules.priority_charge);
    }
    for (size_t i = 0; (t->mode == PONS_MODE_EXEC || t->mode == PONS_MODE_IDLE) && i < t->queue.n;
         i++) {
        const pons__task *task = t->queue.at[i];
        if (strcmp(task->source, "battery") == 0) {
            char reason[64];
            snprintf(reason, sizeof reason, "charged to %.0f %%",
                     s->b->seen ? s->b->seen->battery_pct : NAN);
            finish_task(s->b, s->cx, t, task->id, charges ? "succeeded" : "aborted",
                        charges ? reason : "no skill of this body charges it", NULL);
            break;
        }
    }
}

// Outside EXEC and CHARGE the active one keeps its place.
static void choose_active(saying *s)
{
    pons__tasks *t = s->t;
    pons__task *active = pons__queue_active(t), *pick = pons__tasks_pick(t, t->mode);
    if (active && !active->preemptible && t->mode == PONS_MODE_EXEC &&
        strcmp(active->source, "battery") != 0) {
        return;
    }
    if (!pick || pick == active) {
        return;
    }
    if (active) {
        active->status = PONS_TASK_PAUSED;
    }
    const pons_value *pose = s->b->seen ? s->b->seen->pose : NULL;
    if (pick->status == PONS_TASK_QUEUED && pose) {
        pons__json(&t->left_at, pons_value_ref(pose));
    }
    pick->status = PONS_TASK_ACTIVE;
    pons__set_text(&t->active_task_id, pick->id);
    t->changed = true;
    pons__event_emit(s->b, s->cx, &pons__task_active_record, &(pons__task_active){.task = pick});
}
