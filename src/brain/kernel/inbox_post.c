// inbox_post.c - what the program that holds the brain says to it: goals, a plan, words, an answer.
//
// Each is a letter (inbox_fields.h), committed to the kernel's inbox before the call returns; K1 takes it at the next
// tick, K5 hears it. Other processes post the same letters to the thread's inbox by themselves. The loop thread.
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/state/self.h"
#include "brain/tasks/questions.h"

#include <string.h>

// One commit: a thread with goals always says how they were started, for a resume.
static int begin_run(pons_brain *b, const pons__said *said, const pons__run_started *event,
                     pons_error *err)
{
    pons_autovalue value = pons__record_write(&pons__said_record, said);
    const int rc =
        pons_thread_post(b->thread, PONS_NS_KERNEL, pons__inbox_message_words[PONS_LETTER_RUN],
                         value, pons__run_started_record.name,
                         pons__event(b, pons__record_write(&pons__run_started_record, event)), err);
    if (rc >= 0) {
        b->done_emitted = false;
        b->outcome = PONS_BRAIN_RUNNING;
    }
    return rc;
}

int pons_brain_add_goals(pons_brain *b, const char *const *goals, size_t n, pons_error *err)
{
    if (!b->thread) {
        return pons_error_set(err, PONS_EAGAIN, "brain", "the store is away: say it again later");
    }
    pons_autovalue list = json_array();
    for (size_t i = 0; i < n; i++) {
        if (goals[i][strspn(goals[i], " \t\r\n")] == '\0') {
            return pons_error_set(err, PONS_EINVAL, "brain", "goal %zu is empty", i + 1);
        }
        if (json_array_append_new(list, json_string(goals[i])) < 0) {
            return pons_error_set(err, PONS_EINVAL, "brain", "goal %zu is not valid UTF-8", i + 1);
        }
    }
    pons_autovalue priority = b->opts.priority ? json_string(b->opts.priority) : NULL;
    const pons__said said = {.text = "",
                             .word = "",
                             .by = "",
                             .stop_boot = "",
                             .goals = list,
                             .priority = priority,
                             .deadline_ms = b->opts.deadline_ms > 0 ? b->opts.deadline_ms : 0};
    return begin_run(b, &said, &(pons__run_started){.goal = list, .options = b->opts.about}, err);
}

int pons_brain_add_plan(pons_brain *b, const pons_plan *plan, pons_error *err)
{
    if (!b->thread) {
        return pons_error_set(err, PONS_EAGAIN, "brain", "the store is away: say it again later");
    }
    pons_autovalue value = NULL;
    int rc = pons_plan_to_value(plan, &value, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue none = json_array();
    pons_autovalue priority = b->opts.priority ? json_string(b->opts.priority) : NULL;
    const pons__said said = {.text = "",
                             .word = "",
                             .by = "",
                             .goals = none,
                             .plan = value,
                             .priority = priority,
                             .deadline_ms = b->opts.deadline_ms > 0 ? b->opts.deadline_ms : 0};
    pons_autovalue goal = json_pack("[s]", plan->goal);
    return begin_run(
        b, &said,
        &(pons__run_started){.goal = goal, .plan_id = plan->plan_id, .options = b->opts.about},
        err);
}

static int post_words(pons_brain *b, pons__inbox_message_kind kind, const char *text,
                      pons_error *err)
{
    const double age_ms =
        (double)(pons_now_ns(&b->opts.clock) - b->port.telemetry_ns) / PONS_NS_PER_MS;
    const bool looks =
        b->port.telemetry && b->port.ready && age_ms <= b->rules.telemetry_age_max_ms;
    const pons_report_telemetry *now = looks ? &b->port.newest.as.telemetry : NULL;
    const pons__said said = {.text = text,
                             .word = "",
                             .by = "",
                             .stop_boot = now ? now->boot_id : "",
                             .stop_number = now ? now->stop.number : 0,
                             .stop_latched = now && now->stop.latched,
                             .at_ms = pons_wall_ms(&b->opts.clock)};
    pons_autovalue words = json_string(text);
    if (!words) {
        return pons_error_set(err, PONS_EINVAL, "brain", "these words are not valid UTF-8");
    }
    pons_autovalue value = pons__record_write(&pons__said_record, &said);
    b->tick_now = true;
    return pons_inbox_post(b->opts.store, b->opts.thread, PONS_NS_KERNEL,
                           pons__inbox_message_words[kind], value, err);
}

int pons_brain_say(pons_brain *b, const char *text, pons_error *err)
{
    return post_words(b, PONS_LETTER_SAY, text, err);
}

int pons_brain_wish(pons_brain *b, const char *text, pons_error *err)
{
    return post_words(b, PONS_LETTER_WISH, text, err);
}

int pons_brain_answer(pons_brain *b, const pons_value *answer, pons_error *err)
{
    PONS__AUTO_OPEN open = pons__questions_open(b);
    const char *id = pons_get_str(answer, "id", open.next);
    if (!id && strcmp(pons_get_str(answer, "action", ""), "reject") == 0) { // it takes a yes back
        id = pons__question_acted_on(b);
        id = *id ? id : open.n > 0 && !open.at[0].own ? open.at[0].id : NULL;
    }
    if (!id) {
        return pons_error_set(err, PONS_ENOTPENDING, "brain", "nothing waits for an answer");
    }
    // Bound to the question that is open now: it can never settle a later one.
    pons_autovalue bound = pons__with(answer, "id", json_string(id));
    b->tick_now = true;
    return pons_inbox_post(b->opts.store, b->opts.thread, PONS_NS_KERNEL, "answer", bound, err);
}
