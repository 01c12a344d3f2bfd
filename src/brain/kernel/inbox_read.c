// inbox_read.c - what people, other processes and the inner loop have said: letters become tasks, control and answers.
//
//     say, run     words --policy--> control words and goals --> a task, or more of one that waits
//     wish         the same of a model's words, or of a goal whose time has come: no answers, and no word that sets
//                  something free
//     control      stop, pause, continue, cancel, raise, reset, yes, no
//     answer       to the open question (react/approval.c)
//     task_result  the inner loop is done with a task, or was made to let go of it
#include "brain/kernel/inbox_read.h"

#include "brain/body_link/body_port.h"
#include "brain/body_link/speed_request.h"
#include "brain/goals/named_places.h"
#include "brain/goals/object_search.h"
#include "brain/goals/scheduled_goals.h"
#include "brain/goals/seen_objects.h"
#include "brain/kernel/state_answers.h"
#include "brain/kernel/stop_state.h"
#include "brain/plan/task_plan.h"
#include "brain/records/event_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"
#include "pons/buf.h"
#include "pons/language.h"

#include <string.h>

// ---- words --------------------------------------------------------------------------------------

// What may be said by who is no person: words after which less moves than before.
static bool may_say(const char *word)
{
    return strcmp(word, "stop") == 0 || strcmp(word, "pause") == 0 || strcmp(word, "cancel") == 0;
}

static bool comes_back(const pons__goal *goal)
{
    return strcmp(goal->intent, "come_back") == 0;
}

// "Come back" means the place where the robot stood when its last task began; behind other goals of
// the same wish it is where it stands now. A place that it was not sure of is none.
static int come_back(const pons__saying *s, pons__list *goals, pons_error *err)
{
    const pons_value *here = pons__place_now(s->b);
    const pons__goal *first = goals->n ? goals->at[0] : NULL;
    for (size_t i = 0; i < goals->n; i++) {
        if (comes_back(goals->at[i]) && !(i > 0 ? here : s->t->left_at)) {
            return pons_error_set(
                err, PONS_EINVAL, "brain",
                "there is nowhere to come back to: no task has begun yet where the "
                "robot was sure of its place");
        }
    }
    for (size_t i = 0; i < goals->n; i++) {
        pons__goal *goal = goals->at[i];
        if (comes_back(goal)) {
            pons__set_text(&goal->intent, "go_to");
            pons__json(&goal->pose, pons_value_ref(goal == first ? s->t->left_at : here));
        }
    }
    return PONS_OK;
}

// What a wish to do it again means; understood anew, as the world is now.
static int repeat(pons__saying *s, pons__list *goals, const pons_value *world, const char *text,
                  pons_error *err)
{
    size_t at = 0;
    while (at < goals->n && strcmp(((pons__goal *)goals->at[at])->intent, "repeat") != 0) {
        at++;
    }
    if (at == goals->n) {
        return PONS_OK;
    }
    const pons_policy *p = &s->b->opts.policy;
    for (size_t i = s->t->finished.n; i-- > 0;) {
        const pons__finished *f = s->t->finished.at[i];
        pons_autovalue parsed = NULL;
        if (strcmp(f->source, "user") != 0 ||
            p->ops->parse(p->self, f->text, world, &parsed, &(pons_error)PONS_ERROR_INIT) < 0) {
            continue;
        }
        PONS__AUTO(understood) u = pons__record_read(&pons__understood_record, parsed);
        if (u->goals.n == 0 || strcmp(((pons__goal *)u->goals.at[0])->intent, "repeat") == 0) {
            continue;
        }
        pons__record_free(&pons__goal_record, pons__list_take(goals, at));
        while (u->goals.n > 0) {
            pons__list_add(goals, pons__list_take(&u->goals, 0));
        }
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, "brain",
                          pons_translate(pons_language_chinese(text),
                                         "nothing was done yet that could be done "
                                         "again"));
}

// What the policy makes of words. Where that fails *ret is as far as it was understood, with what is wrong.
static int understand(pons__saying *s, const char *text, pons__understood **ret, pons_error *err)
{
    pons_brain *b = s->b;
    pons_autovalue parsed = NULL;
    pons_autovalue places = pons__places_world(b);
    const pons_seen_words of = pons__seen_words_of(b);
    pons_autovalue world = pons__with(places, "remembers", json_boolean(b->opts.objects != NULL));
    int rc = pons_seen_parse(&of, &b->opts.policy, text, world, &parsed, err);
    pons__understood *u = pons__record_read(&pons__understood_record, parsed);
    if (u->guessed && b->opts.llm) {
        pons__list_clear(&pons__goal_record, &u->goals);
        rc = pons_error_set(err, PONS_EINVAL, "brain", "the rules only guess what is asked");
    }
    rc = rc < 0 ? rc : repeat(s, &u->goals, world, text, err);
    rc = rc < 0 ? rc : come_back(s, &u->goals, err);
    rc = rc < 0 ? rc : pons__places_resolve(world, &u->goals, err);
    for (size_t i = 0; rc >= 0 && i < u->goals.n; i++) {
        if (pons__is_object_search(u->goals.at[i])) {
            rc = pons__object_search_begin(b, u->goals.at[i], err);
        }
    }
    *ret = u;
    return rc;
}

static void handle_understood(pons__saying *s, const char *text, pons__understood *u, bool person,
                              const pons_error *why);

// A wish may hold both, "cancel, go to the bedroom": the control word first, then its goals. What a model has
// written, or might have (person false), answers no question and sets nothing free.
static void handle_words(pons__saying *s, const char *text, bool person)
{
    pons_error why = PONS_ERROR_INIT;
    pons__understood *u = NULL;
    const int rc = understand(s, text, &u, &why);
    handle_understood(s, text, u, person, rc < 0 ? &why : NULL);
    pons__record_free(&pons__understood_record, u);
}

// Words that say how fast; NULL: they do not.
static pons__hurry *how_fast(const pons_brain *b, const char *text)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue said = NULL;
    pons_error none = PONS_ERROR_INIT;
    return ops->pace && ops->pace(b->opts.policy.self, text, &said, &none) >= 0
               ? pons__record_read(&pons__hurry_record, said)
               : NULL;
}

// Words that nobody's options make an answer of: a model could ask so that they are not heard.
static bool halts(const char *word)
{
    return strcmp(word, "stop") == 0 || strcmp(word, "pause") == 0;
}

static void ignored(pons__saying *s, const char *word, const char *reason)
{
    PONS__EMIT(s->b, s->cx, control_reported, .word = word, .ignored = reason);
}

// Words that are said while questions are open answer the one that asks for words, or has that option; where several
// do, none. What controls the robot does so all the same.
static bool answers_question(pons__saying *s, const char *text, const char *control)
{
    if (halts(control)) {
        return false;
    }
    PONS__AUTO_OPEN list = pons__questions_open(s->b);
    const char *option = NULL;
    const pons__question *q = NULL;
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const pons__question *about = list.at[i].answered ? NULL : list.at[i].about;
        const char *named = about ? pons_answer_option(about->options, text) : NULL;
        if (!about || (option && !named) || !(named || (about->words && !*control))) {
            continue; // its option is meant before any words
        }
        n = named && !option ? 1 : n + 1;
        option = named;
        q = about;
    }
    if (n == 0 || (*control && list.unanswered > 1)) { // yes and no are any question's
        return false;
    }
    if (n > 1) {
        ignored(s, "answer", "several questions are open: answer one by its id");
        return true;
    }
    pons__reply_hear(s, &(pons__reply){.id = q->id,
                                       .action = "approve",
                                       .answer = option ? option : text,
                                       .at_ms = s->said->at_ms,
                                       .by = s->said->by});
    return true;
}

static bool names_place(const pons__saying *s, const char *text)
{
    pons_autovalue places = NULL;
    const bool kept = pons__places_hear(s->b, s->cx, text, s->said->by, &places);
    if (places) {
        pons__port_send(&s->b->port, &(pons_message){.type = PONS_MESSAGE_PLACES,
                                                     .as.places = {pons_get(places, "zones"),
                                                                   pons_get(places, "charger")}});
    }
    return kept;
}

// What a person says of a question, a time or a place: done with. "Slower" controls the robot, and is no answer
// to what asks for words; "80 %" and "too slow" are.
static bool answered_or_kept(pons__saying *s, const char *text, const char *word,
                             const pons__hurry *hurry, bool person)
{
    const char *before = hurry ? hurry->before : NULL;
    const bool slower = hurry && strcmp(hurry->word, "slower") == 0;
    if (person && answers_question(s, text, slower || before ? "pace" : word)) {
        return true;
    }
    const bool kept =
        person && strcmp(word, "stop") != 0 &&
        (pons__schedules_hear(s->b, s->cx, text, s->said->by) || names_place(s, text));
    if (kept && before) {
        handle_words(s, before, person);
    }
    return kept;
}

// Words after which something may move that did not before.
static bool sets_free(const char *word)
{
    static const char *const words[] = {"yes", "continue", "resume", "reset", NULL};
    return pons__word_find(words, word, -1) >= 0;
}

void pons__hear_speed_request(pons__saying *s)
{
    bool taken = false;
    pons_autovalue then = pons__speed_request_look(s->b, s->cx, s->t, &taken);
    if (taken) {
        pons__hear(s, then, false);
    } else if (json_array_size(then) > 0) {
        ignored(s, "pace", "the pace with which more was said was refused: nothing of it counts");
    }
}

// The letter to hear when the pace is in force: of a yes the answer to the question that is open now, and to no later
// one. NULL: it is to be heard at once. The caller's.
static pons_value *to_hear_then(pons__saying *s, const char *text, const char *control)
{
    pons__inbox_message inbox_message = {.kind = PONS_LETTER_SAY};
    if (strcmp(control, "yes") == 0) {
        PONS__AUTO_OPEN list = pons__questions_open(s->b);
        if (list.unanswered != 1) {
            return NULL; // it is none, and that is told
        }
        inbox_message.kind = PONS_LETTER_ANSWER;
        inbox_message.value =
            PONS__WRITE(reply, .id = list.next, .action = "approve", .reason = control,
                        .at_ms = s->said->at_ms, .by = s->said->by);
    } else {
        pons__said with = *s->said;
        with.text = text;
        with.goals = with.plan = NULL;
        with.nonce = NULL; // it is heard now, as far as its sender goes
        inbox_message.value = pons__record_write(&pons__said_record, &with);
    }
    pons_value *ret = pons__record_write(&pons__inbox_message_record, &inbox_message);
    pons_value_unref(inbox_message.value);
    return ret;
}

// "Yes, at half speed": what sets something free counts when it can go no faster; any other word at once.
static void hear_pace(pons__saying *s, const pons__hurry *hurry, bool person)
{
    pons_error none = PONS_ERROR_INIT;
    pons__understood *u = NULL;
    pons_autovalue then = NULL;
    pons__hear_speed_request(s); // what was answered is over, and tells what is in force
    if (hurry->before) {
        understand(s, hurry->before, &u, &none);
        pons_value *inbox_message = person && u->control && sets_free(u->control)
                                        ? to_hear_then(s, hurry->before, u->control)
                                        : NULL;
        pons__record_free(&pons__understood_record, u);
        if (inbox_message) {
            then = json_array();
            json_array_append_new(then, inbox_message);
        } else {
            handle_words(s, hurry->before, person);
        }
    }
    switch (pons__speed_request_hear(s->b, s->cx, s->t, hurry, s->said->by, person, then)) {
    case PONS__TEMPO_KEPT:
        break;
    case PONS__TEMPO_MET:
        pons__hear(s, then, false);
        break;
    case PONS__TEMPO_NOT:
        if (then) {
            ignored(s, "pace",
                    "it cannot be that fast or slow: what was said with it does not count");
        }
        break;
    }
}

// What nobody here understands while a question wants a yes or a no (可以吗, 好像不行) is neither, and no task.
static bool asked_again(pons__saying *s, const char *text)
{
    PONS__AUTO_OPEN list = pons__questions_open(s->b);
    for (size_t i = 0; i < list.n && !s->b->opts.llm; i++) {
        const struct pons__open_one *one = &list.at[i];
        if (!one->answered && !(one->about && one->about->words)) {
            ignored(s, "answer",
                    pons_translate(pons_language_chinese(text),
                                   "that is neither yes nor no: the question is open"));
            return true;
        }
    }
    return false;
}

// A goal of a time whose last one is not over yet: one is enough.
static bool still_at(pons__saying *s)
{
    const char *schedule = pons__schedule_of(s->said->by);
    const pons__task *task =
        schedule ? pons__list_find(&s->t->queue, offsetof(pons__task, schedule), schedule) : NULL;
    if (task) {
        PONS__EMIT(s->b, s->cx, schedule_skipped, .schedule_id = schedule, .text = s->said->text,
                   .task_id = task->id);
    }
    return task;
}

// Yes and no are to the one question that is open. But nothing waits for one of the kernel's own: while a task goes on,
// a no is about that.
static bool no_is_of_task(const pons__tasks *t, const pons__open *list)
{
    return *t->active_task_id && list->n > 0 && list->at[0].own;
}

// Ends the task of this id, or (NULL) all that people have asked for so far; what is still moving is
// let go of by K6's preempt. Charging is the kernel's own and goes on.
static void cancel_tasks(pons__saying *s, const char *only)
{
    bool any = false;
    for (size_t i = 0; i < s->t->queue.n;) {
        const pons__task *task = s->t->queue.at[i];
        const bool theirs = strcmp(task->source, "battery") != 0;
        if (theirs && (!only || strcmp(task->id, only) == 0)) {
            pons__task_end(s, task->id, "cancelled", "the user said cancel", NULL);
            any = true;
        } else {
            i++;
        }
    }
    if (!any) {
        ignored(s, "cancel", only ? "there is no such task" : "there is no task");
    }
}

// Whether a task is about what is not wanted any more: an intent, and the place or the thing that goes with it.
static bool is_about(const pons__task *task, const pons__goal *not_wanted)
{
    for (size_t i = 0; i < task->goals.n; i++) {
        const pons__goal *goal = task->goals.at[i];
        const bool same = strcmp(goal->intent, not_wanted->intent) == 0 &&
                          (!*not_wanted->zone || strcmp(goal->zone, not_wanted->zone) == 0) &&
                          (!*not_wanted->object || strcmp(goal->object, not_wanted->object) == 0) &&
                          (!*not_wanted->skill || strcmp(goal->skill, not_wanted->skill) == 0) &&
                          (!not_wanted->pose || json_equal(goal->pose, not_wanted->pose));
        if (same && !goal->done) {
            return true;
        }
    }
    return false;
}

// "Cancel the second", "not the kitchen": those tasks, and no other.
static void cancel_some(pons__saying *s, const char *text, const pons_value *which)
{
    const pons__tasks *t = s->t;
    const int64_t nth = pons_get_int(which, "nth", 0), number = pons_get_int(which, "number", 0);
    PONS__AUTO(understood) u = pons__record_read(&pons__understood_record, which); // its goals
    int64_t place = 0, last = 0;
    const char *why = pons_translate(pons_language_chinese(text), "the user said cancel");
    char id[32], found[32] = "";
    snprintf(id, sizeof id, "task-%lld", (long long)number);
    for (size_t i = 0; i < t->queue.n; i++) {
        last += strcmp(((pons__task *)t->queue.at[i])->source, "battery") != 0;
    }
    const bool named = number && pons__queue_find(s->t, id);
    const int64_t by_place = nth < 0 ? last : nth;
    const int64_t wanted = number ? number * !named : by_place;
    bool any = false;
    for (size_t i = 0; i < t->queue.n; i += *found == 0) {
        const pons__task *task = t->queue.at[i];
        const bool theirs = strcmp(task->source, "battery") != 0;
        place += theirs;
        bool hit = theirs && (named ? strcmp(task->id, id) == 0 : wanted > 0 && place == wanted);
        for (size_t k = 0; theirs && k < u->goals.n; k++) {
            hit = hit || is_about(task, u->goals.at[k]);
        }
        *found = '\0';
        if (hit) {
            snprintf(found, sizeof found, "%s", task->id);
            pons__task_end(s, found, "cancelled", why, NULL);
            any = true;
        }
    }
    if (!any) {
        ignored(s, "cancel",
                pons_translate(pons_language_chinese(text),
                               "there is no such task: nothing has changed"));
    }
}

// A person gives one task another priority; without a number it goes before all that wait.
static void raise_task(pons__saying *s, const char *id)
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
    top = pons__task_priority(s, top);
    task->priority = top > most ? most : top < 0 ? 0 : top;
    s->t->changed = true;
    PONS__EMIT(s->b, s->cx, task_raised, .task_id = task->id, .priority = task->priority);
}

// control: {word, task? (cancel, raise), priority? (raise), and what the body said when it was said (continue, reset)}
static void handle_control(pons__saying *s, const char *word)
{
    pons__tasks *t = s->t;
    if (strcmp(word, "pause") == 0 || strcmp(word, "stop") == 0 || strcmp(word, "cancel") == 0) {
        pons__speed_request_drop_words(s->b, s->cx, t);
    }
    if (strcmp(word, "pause") == 0) {
        t->paused = t->changed = true;
    } else if (strcmp(word, "continue") == 0 || strcmp(word, "resume") == 0) {
        const char *why = pons__stopped_release(s->b, s->cx, t, s->said);
        if (why) {
            ignored(s, word, why);
        } else if (strcmp(word, "continue") == 0) {
            t->paused = false;
            t->changed = true;
        }
    } else if (strcmp(word, "stop") == 0) {
        pons__stopped_say(s->b, t, s->said, "a person said stop");
        s->stopped = true;
    } else if (strcmp(word, "cancel") == 0) {
        cancel_tasks(s, s->said->task);
    } else if (strcmp(word, "raise") == 0) {
        raise_task(s, s->said->task ? s->said->task : "");
    } else if (strcmp(word, "reset") == 0) {
        const char *why = pons__stopped_reset(s->b, t, s->said, s->stopped);
        if (why) {
            ignored(s, word, why);
        }
    } else if (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0) {
        const bool yes = strcmp(word, "yes") == 0;
        PONS__AUTO_OPEN list = pons__questions_open(s->b);
        if (list.unanswered > 1) {
            ignored(s, word, "several questions are open: answer one by its id");
            return;
        }
        const bool counts = (yes || !no_is_of_task(t, &list)) &&
                            pons__reply_hear(s, &(pons__reply){.action = yes ? "approve" : "reject",
                                                               .reason = word,
                                                               .at_ms = s->said->at_ms,
                                                               .by = s->said->by});
        if (!counts && !yes && *t->active_task_id) { // it answers nothing: it is about what goes on
            pons__stopped_say(s->b, t, s->said, "a person said no");
            s->stopped = true;
        }
    }
}

// The word that steers (pause, cancel, yes): obeyed, or refused to who is no person.
static void handle_word(pons__saying *s, const char *text, const pons__understood *u, bool presumes)
{
    if (presumes && u->goals.n > 0) {
        ignored(s, u->control, "only a person may say so");
    } else if (!presumes && u->cancel && strcmp(u->control, "cancel") == 0) {
        cancel_some(s, text, u->cancel);
    } else if (!presumes) {
        handle_control(s, u->control);
    }
}

static void handle_understood(pons__saying *s, const char *text, pons__understood *u, bool person,
                              const pons_error *why)
{
    pons_brain *b = s->b;
    const char *word = u->control ? u->control : "";
    const bool wanted = u->goals.n > 0;
    const bool presumes = !person && *word && !may_say(word);
    PONS__AUTO(hurry) hurry = strcmp(word, "stop") != 0 ? how_fast(b, text) : NULL;
    const bool done = answered_or_kept(s, text, word, hurry, person);
    if (hurry && !done) {
        hear_pace(s, hurry, person);
        if (hurry->rest) {
            handle_words(s, hurry->rest, person);
        }
    }
    if (hurry || done) {
        return;
    }
    if (still_at(s) || (why && person && asked_again(s, text))) {
        return;
    }
    if (*word) {
        handle_word(s, text, u, presumes);
        if (!wanted && !presumes) {
            return;
        }
    }
    if (wanted && pons__state_answered(s, text, &u->goals)) {
        return;
    }
    pons__task_push(s, text, &u->goals, NULL, pons__schedule_of(s->said->by) ? "schedule" : "user",
                    u->urgent ? b->rules.priority_urgent : b->rules.priority_user);
    const bool vain = presumes && !wanted;
    if (vain || (why && !b->opts.llm)) {
        // Nobody here understands it: the task was queued and is ended at once, so that it is never
        // lost.
        char id[32];
        snprintf(id, sizeof id, "task-%lld", (long long)s->t->next - 1);
        pons__task_end(s, id, "failed", vain ? "only a person may say so" : why->message, NULL);
    }
}

// A run begins: what it will be judged by starts here.
static void handle_run(pons__saying *s)
{
    pons__tasks *t = s->t;
    t->run_first = t->next;
    pons__record_free(&pons__totals_record, t->totals);
    t->totals = pons__record_new(&pons__totals_record);
    t->changed = true;
    pons_each(goal, s->said->goals) {
        handle_words(s, json_is_string(goal) ? json_string_value(goal) : "", true);
    }
    const pons_value *plan = s->said->plan;
    if (plan) { // a task of its own: its goal is what the task says
        PONS__AUTO(plan_brief) brief = pons__record_read(&pons__plan_brief_record, plan);
        pons__task_push(s, brief->goal, NULL, plan, "user", s->b->rules.priority_user);
        const pons__task *task =
            pons__queue_find(t, t->queue.n ? ((pons__task *)t->queue.at[t->queue.n - 1])->id : "");
        if (task && task->plan) {
            pons__task_plan_created(s->b, s->cx, task->plan);
        }
    }
}

// ---- results of the inner loop ------------------------------------------------------------------

// An edit has made other goals of a task: it says from now on what these say.
static void retell(pons__task *task, const pons__list *goals)
{
    bool other = false;
    for (size_t i = 0; i < goals->n && task->goals.n == goals->n; i++) {
        other = other || strcmp(((pons__goal *)goals->at[i])->text,
                                ((pons__goal *)task->goals.at[i])->text) != 0;
    }
    pons_autobuf says = PONS_BUF_INIT;
    for (size_t i = 0; other && i < goals->n; i++) {
        pons_buf_printf(&says, i > 0 ? "; %s" : "%s", ((pons__goal *)goals->at[i])->text);
    }
    if (other && says.data) {
        pons__set_text(&task->text, says.data);
    }
}

// It keeps its place, what it has reached, how often it got nowhere, and what it has cost.
static void keep_reached(const pons__saying *s, pons__task *task, pons__outcome *o)
{
    pons__list_clear(&pons__goal_record, &task->goals);
    task->goals = o->goals;
    o->goals = (pons__list){0};
    pons__record_free(&pons__task_plan_record, task->plan);
    pons__record_free(&pons__recovery_state_record, task->recovery);
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
    task->recovery = o->recovery;
    task->spent = o->spent;
    o->plan = NULL;
    o->recovery = NULL;
    o->spent = NULL;
}

// The inner loop has let go of its task for another one; the priorities are asked again.
static void switch_task(pons__saying *s, const pons__outcome *o)
{
    pons__tasks *t = s->t;
    const pons__task *to = NULL;
    char why[160];
    const char *refused = pons__tasks_switch(t, o->switch_to, &to, why, sizeof why);
    if (refused) {
        ignored(s, "switch", refused);
        return;
    }
    PONS__EMIT(s->b, s->cx, task_switched, .from = t->active_task_id, .to = to->id,
               .reason = o->reason);
    pons__set_text(&t->switch_to, to->id);
    pons__task_move(pons__queue_active(t), PONS_TASK_LET_GO);
    pons__set_text(&t->active_task_id, ""); // the choice is made anew, and the switch decides it
}

static void handle_result(pons__saying *s, const pons_value *value)
{
    pons__tasks *t = s->t;
    PONS__AUTO(outcome) o = pons__record_read(&pons__outcome_record, value);
    if (o->activation != t->react->activation) { // of an activation that was given up
        return;
    }
    t->changed = true;
    t->react->state = PONS_INNER_IDLE;
    pons__list_clear(&pons__question_record, &t->react->asks);
    t->safe_handled =
        t->safe_handled || t->react->mode == PONS_MODE_SAFE || o->mode == PONS_MODE_SAFE;
    t->totals->iterations += o->iterations;
    t->totals->replans += o->replans;
    t->totals->distance_m += o->distance_m;
    pons__task *task = pons__queue_find(t, o->task_id);
    const bool switched = strcmp(o->status, "switched") == 0;
    if (task && (switched || strcmp(o->status, "preempted") == 0)) {
        retell(task, &o->goals);
        keep_reached(s, task, o);
        if (switched && strcmp(t->active_task_id, task->id) == 0) {
            switch_task(s, o);
        }
    } else if (task) {
        retell(task, &o->goals);
        pons__task_end(s, o->task_id, o->status, o->reason, o->verified);
    } else {
        pons__questions_close(s->b, s->cx, &o->asks, "the task is over");
    }
}

bool pons__reply_hear(pons__saying *s, const pons__reply *reply)
{
    pons_autovalue value = pons__record_write(&pons__reply_record, reply);
    return pons__answer_hear(s->b, s->cx, value);
}

static void handle_inbox_message(pons__saying *s, const pons__inbox_message *l)
{
    pons__said *said = pons__said_read(l->value);
    const pons__said *around = s->said; // it may have come with another one
    s->said = said;
    switch ((pons__inbox_message_kind)l->kind) {
    case PONS_LETTER_SAY:
    case PONS_LETTER_GOAL:
    case PONS_LETTER_WISH:
        handle_words(s, said->text, l->kind != PONS_LETTER_WISH);
        break;
    case PONS_LETTER_CONTROL:
        handle_control(s, said->word);
        break;
    case PONS_LETTER_STOPPED: {
        PONS__AUTO(stopping) stop = pons__stopping_read(l->value);
        pons__stopped_hear(s->t, stop->activation, stop->reason);
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
    if (said->nonce && l->kind != PONS_LETTER_ANSWER) {
        PONS__EMIT(s->b, s->cx, said_taken, .nonce = said->nonce);
    }
    pons__record_free(&pons__said_record, said);
    s->said = around;
}

void pons__hear(pons__saying *s, const pons_value *pending, bool results)
{
    pons_each(msg, pending) {
        PONS__AUTO(inbox_message) l = pons__record_read(&pons__inbox_message_record, msg);
        if ((l->kind == PONS_LETTER_RESULT) == results) {
            handle_inbox_message(s, l);
        }
    }
}
