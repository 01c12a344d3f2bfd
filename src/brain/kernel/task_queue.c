// task_queue.c - K5: what was said (inbox_read.c) becomes the queue, and who is active.
//
// At every tick: answers that come too late, deadlines, what a stop leaves, charging, and who is active. One task is active at a time. Who it is follows from the mode, the priorities, and a switch that the
// decision maker asked for and the priorities allow (tasks.c).
#include "brain/kernel/task_queue.h"

#include "brain/body_link/speed_request.h"
#include "brain/kernel/inbox_read.h"
#include "brain/kernel/stop_state.h"
#include "brain/records/event_fields.h"
#include "brain/tasks/picture_consent.h"
#include "brain/tasks/questions.h"

#include <math.h>
#include <string.h>

#define CLOCK_SLACK_MS 2000 // that a wall clock may go back and nothing has happened

// ---- every tick ---------------------------------------------------------------------------------

// A question whose deadline has passed is answered with no; so is one from the future, as it would stay
// open for as long as the clock went back.
static void refuse_late(pons__saying *s)
{
    PONS__AUTO_OPEN list = pons__questions_open(s->b);
    const int64_t now_ms = pons_cx_wall_ms(s->cx);
    for (size_t i = 0; i < list.n; i++) {
        const pons__question *q = list.at[i].about;
        pons_autovalue waits = q ? pons__speed_request_answer(s->t, q->id) : NULL;
        if (!q || !q->deadline_ms || list.at[i].answered || waits ||
            (now_ms < q->deadline_ms && now_ms >= q->asked_ms - CLOCK_SLACK_MS)) {
            continue;
        }
        const char *why =
            now_ms < q->deadline_ms ? "the clock went back while it was open" : PONS__NO_ANSWER;
        pons__reply_hear(
            s,
            &(pons__reply){.id = q->id, .action = "reject", .reason = why, .by = PONS__DEADLINE});
    }
}

// A stop wins over whatever was approved before it and has not started: it is asked anew.
static void take_back(pons__saying *s)
{
    for (size_t i = 0; s->t->stopped && i < s->t->queue.n; i++) {
        pons__questions_close(s->b, s->cx, &((pons__task *)s->t->queue.at[i])->asks, "a stop");
    }
}

// Why a task's deadline ends it; NULL: it does not. One that was wished for in the future would wait for as long
// as the clock went back.
static const char *too_late(const pons__task *task, int64_t now_ms)
{
    if (!task->deadline_ms || task->overdue) {
        return NULL;
    }
    if (now_ms < task->created_ms - CLOCK_SLACK_MS) {
        return "it has a deadline, and the clock went back";
    }
    return now_ms < task->deadline_ms         ? NULL
           : task->status == PONS_TASK_QUEUED ? "its deadline passed before it could begin"
                                              : "its deadline has passed";
}

// A task whose deadline has passed is over: what was wished for then is not wished for now.
static void keep_deadlines(pons__saying *s)
{
    const int64_t now_ms = pons_cx_wall_ms(s->cx);
    for (size_t i = 0; i < s->t->queue.n;) {
        pons__task *task = s->t->queue.at[i];
        const char *why = too_late(task, now_ms);
        if (!why) {
            i++;
            continue;
        }
        PONS__EMIT(s->b, s->cx, task_overdue, .task_id = task->id,
                   .deadline_ms = task->deadline_ms);
        if (s->b->rules.overdue_goes_on) {
            task->overdue = true;
            s->t->changed = true;
            i++;
        } else {
            pons__task_end(s, task->id, "failed", why, NULL);
        }
    }
}

// One that ended in vain is not begun anew at once: what refuses it now would refuse it ten times a second.
static bool charge_rests(const pons__saying *s)
{
    const int64_t left_ms = s->t->charge_again_ms - pons_cx_wall_ms(s->cx);
    return left_ms > 0 && left_ms <= PONS__CHARGE_AGAIN_MS; // further away: the clock went back
}

// The mode is another one: it is charged, or a stop cut that short and it is not low any more.
static void end_charge(pons__saying *s, const char *task, bool charges)
{
    char reason[80];
    const bool short_of = pons__charge_wanted(&s->b->rules, s->b->seen, true);
    snprintf(reason, sizeof reason, "%s %.0f %%", short_of ? "cut short at" : "charged to",
             s->b->seen ? s->b->seen->battery_pct : NAN);
    pons__task_end(s, task, charges && !short_of ? "succeeded" : "aborted",
                   charges ? reason : "no skill of this body charges it", NULL);
    if (charges) { // it was not in vain
        s->t->charge_again_ms = 0;
    }
}

// The kernel makes the charge task, and the kernel ends it when the battery is charged.
static void charge(pons__saying *s)
{
    pons__tasks *t = s->t;
    const bool charges = pons__means_charges(s->b);
    const bool charging = pons__charges_now(s->b->seen);
    if (t->mode == PONS_MODE_CHARGE && !charging && charges && !charge_rests(s) &&
        !pons__tasks_pick(t, t->mode)) {
        pons__goal *goal = pons__means_charging(s->b);
        pons__set_text(&goal->text, "battery low: charge");
        pons__list goals = {0};
        pons__list_add(&goals, goal);
        pons__task_push(s, "battery low: charge", &goals, NULL, "battery",
                        s->b->rules.priority_charge);
    }
    const bool works = t->mode == PONS_MODE_EXEC || t->mode == PONS_MODE_IDLE;
    const bool low = pons__charge_wanted(&s->b->rules, s->b->seen, false);
    const pons__task *task = pons__list_find(&t->queue, offsetof(pons__task, source), "battery");
    if (task && works && !t->stopped && !(low && charges)) {
        end_charge(s, task->id, charges);
    }
}

// Outside EXEC and CHARGE the active one keeps its place.
static void choose_active(pons__saying *s)
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
        pons__task_move(active, PONS_TASK_LET_GO);
    }
    if (pick->status == PONS_TASK_QUEUED) {
        pons__json(&t->left_at, pons_value_ref(pons__place_now(s->b)));
    }
    pons__task_move(pick, PONS_TASK_CHOSEN);
    pons__set_text(&t->active_task_id, pick->id);
    t->changed = true;
    PONS__EMIT(s->b, s->cx, task_active, .task = pick);
}

int pons__task_queue_update(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    pons__hci *h = pons__hci_of(b, pons_cx_get(cx, "hci"));
    pons__saying s = {.b = b, .cx = cx, .t = pons__tasks_of(b, pons_cx_get(cx, "tasks"))};
    const bool had = s.t->queue.n > 0;
    if (json_array_size(h->pending) > 0) {
        pons_autovalue pending = pons_value_ref(h->pending);
        pons__json(&h->pending, json_array());
        h->changed = true;
        // The inner loop's word first: what it has put aside can then be answered.
        pons__hear(&s, pending, true);
        pons__hear(&s, pending, false);
    }
    if (s.t->react->asks.n > 0 && !pons__questions_handed(b)) {
        pons__list_clear(&pons__question_record, &s.t->react->asks);
        s.t->changed = true;
    }
    pons__hear_speed_request(&s);
    pons__picture_consent_ask(b, cx, s.t);
    refuse_late(&s);
    take_back(&s);
    snprintf(s.t->asking, sizeof s.t->asking, "%s", pons__question_asking(b));
    pons__stopped_look(b, cx, s.t,
                       pons__charge_wanted(&b->rules, b->seen, s.t->mode == PONS_MODE_CHARGE),
                       had || s.early);
    keep_deadlines(&s);
    charge(&s);
    choose_active(&s);
    const int rc = pons__hci_put(b, cx);
    return rc < 0 ? rc : pons__tasks_put(b, cx);
}
