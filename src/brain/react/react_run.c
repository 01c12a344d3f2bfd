// react_run.c - the inner loop's run: begun when the kernel has told it something, stepped, given what it waits for.
//
//     mail of the kernel (activate) --> a run begins --> supersteps --> it parks --> done: a tick
//                                                          ^             |
//              the kernel wants it back (preempt), a person has answered-+
//
// Both are level-triggered: they are read off the kernel's stored state again and again until the inner
// loop has them, so there is no message to lose. What the nodes do is in react/; the loop thread.
#include "brain/react/react_run.h"

#include "brain/model/model_await.h"
#include "brain/records/await_fields.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/tasks/questions.h"
#include "pons/language.h"

#include <string.h>

// From the last word of the body to the next superstep, at most; R4 judges by what it said.
#define LOOK_MAX_NS (100 * PONS_NS_PER_MS)

// An effect of a forked run: the engine asks a person before it goes out. The question is shown
// like the critic's own, and answered in the same way.
static int ask_confirmation(pons_brain *b, const pons__waits *human, pons_error *err)
{
    snprintf(b->approval_id, sizeof b->approval_id, "%s", human->id);
    if (strcmp(b->confirm_id, human->id) == 0) {
        return PONS_OK;
    }
    memcpy(b->confirm_id, b->approval_id, sizeof b->confirm_id);
    PONS__AUTO(confirming) what = pons__record_read(&pons__confirming_record, human->request);
    const char *skill = *what->skill ? what->skill : "this";
    pons_value *asks = json_pack("[{s:s, s:s}]", "rule", "fork", "message",
                                 "each effect of a fork's first run asks");
    pons_autovalue ops = json_pack("[{s:s, s:o, s:o}]", "skill", skill, "args",
                                   pons__or_null(what->args), "asks", asks);
    pons__question q = {.id = human->id, .reason = "", .refused = "", .ops = ops};
    const pons__react *inner = pons__inner_of(b);
    const bool zh = inner && inner->task && pons_language_chinese(inner->task->text);
    pons__set_textf(&q.question, pons_translate(zh, "this thread is a fork; may I %s?"), skill);
    const int rc = pons__event_now(b, PONS_NS_REACT, &pons__approval_requested_record, &q, err);
    pons__set_text(&q.question, NULL);
    return rc;
}

static pons__list people_now(const pons_brain *b)
{
    const pons_run_state state = pons_run_state_get(b->react_run);
    const bool waits = state == PONS_RUN_INTERRUPTED || state == PONS_RUN_PARKED;
    return waits ? pons__inner_people(b->react_run) : (pons__list){0};
}

// Whether it waits for a person, and with which question. Where nobody was waited for and nothing has happened
// since, nobody is.
static int look_for_people(pons_brain *b, bool happened, pons_error *err)
{
    const bool look = happened || b->human_open || b->human_of != b->react_run;
    PONS__AUTO_LIST(waits) people = {0};
    if (look) {
        people = people_now(b);
    }
    b->human_open = people.n > 0;
    b->human_of = b->react_run;
    const pons__react *react = people.n ? pons__inner_of(b) : NULL;
    const pons__question *approval = react ? react->asking.question : NULL;
    snprintf(b->approval_id, sizeof b->approval_id, "%s", approval ? approval->id : "");
    return people.n && !approval ? ask_confirmation(b, people.at[0], err) : PONS_OK;
}

// Words that nobody has heard yet, and the inner loop about to step: they go first, so that whatever
// was posted before a goal goes out (a stop, a reject) is in the kernel's state by then.
static int unheard(pons_brain *b, pons_error *err)
{
    int64_t mail = 0;
    const bool answered = b->hci->approval_response;
    if ((pons_run_state_get(b->react_run) != PONS_RUN_READY && !(answered && b->approval_id[0])) ||
        !b->port.hello || !b->port.telemetry) {
        return 0;
    }
    const int rc = pons_thread_inbox_count(b->thread, PONS_NS_KERNEL, &mail, err);
    return rc < 0 ? rc : mail > 0;
}

// Whether what people have approved is about to be done.
static bool acts_on_answers(pons_brain *b)
{
    const pons__react *react = pons__inner_of(b);
    return react && (*react->answered.question || react->answered.also);
}

// Supersteps until it waits or ends; with options.step the one that was granted. A node that parks
// has not ended its superstep, so the grant outlasts its await. A slow disk: the body and people are heard
// in between, or what R4 judges by would be older than it may be.
static int advance(pons_brain *b, pons_error *err)
{
    int did = 0;
    while (pons_run_state_get(b->react_run) == PONS_RUN_READY &&
           (!b->opts.step || b->step_granted)) {
        const int before = pons_run_supersteps(b->react_run);
        const int rc = pons_run_step(b->react_run, err);
        if (rc < 0) {
            return rc;
        }
        if (pons_run_supersteps(b->react_run) != before) {
            b->step_granted = false;
        }
        did = 1;
        if (pons_now_ns(&b->opts.clock) - b->port.looked_ns > LOOK_MAX_NS) {
            break;
        }
        const int waits = acts_on_answers(b) ? unheard(b, err) : 0;
        if (waits != 0) {
            return waits < 0 ? waits : did;
        }
    }
    return did;
}

// The question that it may have said it waits for is closed, by a person or by the kernel: the run
// goes on, and ends with a word of its own.
static void waits_no_more(pons_brain *b)
{
    b->done_emitted = false;
    b->outcome = PONS_BRAIN_RUNNING;
}

// The kernel has told it something, and it is idle: a run begins.
static int begin(pons_brain *b, pons_error *err)
{
    int64_t mail = 0;
    if (b->tasks->react->state == PONS_INNER_IDLE) {
        return 0;
    }
    int rc = pons_thread_inbox_count(b->thread, PONS_NS_REACT, &mail, err);
    if (rc < 0 || mail == 0) {
        return rc;
    }
    pons_value_unref(b->rested);
    b->rested = NULL;
    const pons_run_options sync = pons__inner_options(b);
    rc = pons_run_start(b->thread, b->react, PONS_NS_REACT, NULL, &sync, &b->react_run, err);
    if (b->outcome == PONS_BRAIN_WAITING) { // a person has answered what all waited with
        waits_no_more(b);
    }
    return rc < 0 ? rc : 1;
}

// The same word to every question that is open.
static int answer_people(pons_brain *b, const pons__list *people, const pons_value *word,
                         pons_error *err)
{
    for (size_t i = 0; i < people->n; i++) {
        const pons__waits *human = people->at[i];
        const int rc = pons_run_answer(b->react_run, human->id, pons_value_ref(word), err);
        if (rc < 0) {
            return rc;
        }
    }
    waits_no_more(b);
    return 1;
}

// Read off the kernel's state: it wants the inner loop back, and R1 has not read so yet.
static int give_preempt(pons_brain *b, pons_error *err)
{
    const pons__reported *reported = b->tasks->react;
    const pons_run_state state = pons_run_state_get(b->react_run);
    if (reported->state != PONS_INNER_STOPPING) {
        return 0;
    }
    const pons__react *react = pons__inner_of(b);
    if (!react || react->activation != reported->activation || react->preempt ||
        (state != PONS_RUN_PARKED && state != PONS_RUN_INTERRUPTED)) {
        return 0;
    }
    PONS__AUTO_LIST(waits) people = people_now(b);
    if (people.n > 0) {
        // What the task asks stays open while others run, unless it is over or stopped; also when SAFE, for
        // which it is let go of and the base stopped, has passed before this life could say so.
        const bool safe = b->tasks->mode == PONS_MODE_SAFE || reported->mode == PONS_MODE_SAFE;
        const bool aside = !safe && !b->tasks->stopped && react->asking.question &&
                           pons__queue_find(b->tasks, reported->task_id);
        pons_autovalue word =
            PONS__WRITE(reply, .action = "reject", .reason = "the kernel took over",
                        .at_ms = pons_wall_ms(&b->opts.clock), .detached = true, .aside = aside);
        return answer_people(b, &people, word, err);
    }
    pons_autovalue value =
        PONS__WRITE(model_answer, .detached = true, .tokens = pons__call_tokens(b));
    const int rc = pons_run_detach(b->react_run, value, err);
    return rc < 0 ? rc : rc > 0;
}

static int give_one(pons_brain *b, bool own, const char *human, const pons_value *response,
                    pons_error *err)
{
    pons_value *answer = pons_value_ref(response);
    if (!own) {
        // The engine's own question: yes or no, in words too; what is neither is no yes.
        PONS__AUTO(reply) reply = pons__reply_read(response);
        const bool yes =
            strcmp(reply->action, "approve") == 0 && pons__reply_meant(b, reply) == PONS_MEANT_YES;
        pons_value_unref(answer);
        answer = json_boolean(yes);
        pons__event_now(b, PONS_NS_REACT, &pons__approval_resolved_record,
                        &(pons__approval_resolved){.id = human,
                                                   .action = yes ? "approve" : "reject",
                                                   .reason = reply->reason,
                                                   .by = reply->by,
                                                   .at_ms = reply->at_ms,
                                                   .answer = reply->answer},
                        err);
    }
    const int rc = pons_run_answer(b->react_run, human, answer, err);
    waits_no_more(b);
    return rc < 0 ? rc : 1;
}

// A person's answer, bound by K5 to the question that was open when it was given.
static int give_answer(pons_brain *b, pons_error *err)
{
    if (!b->approval_id[0] || b->hci->answers.n == 0) {
        return 0;
    }
    PONS__AUTO_LIST(waits) people = people_now(b);
    const pons__react *react = pons__inner_of(b);
    const bool own = react && react->asking.question;
    int did = 0;
    for (size_t i = 0; did >= 0 && i < people.n; i++) {
        const pons__waits *human = people.at[i];
        PONS__AUTO(question) asked = pons__record_read(&pons__question_record, human->request);
        const pons_value *response = pons__question_answer(b->hci, own ? asked->id : human->id);
        PONS__AUTO(reply) reply = pons__reply_read(response);
        const bool no = strcmp(reply->action, "reject") == 0;
        if (response && !(b->tasks->stopped && !no)) { // a stop that came before it started wins
            did = give_one(b, own, human->id, response, err);
        }
    }
    return did;
}

int pons__inner_work(pons_brain *b, pons_error *err)
{
    if (!b->seen) { // nothing is decided before the world has been seen
        return 0;
    }
    if (!b->react_run) {
        return begin(b, err);
    }
    int did = 0, rc = unheard(b, err);
    if (rc != 0) {
        b->tick_now = true;
        return rc;
    }
    pons_run_deadlines(b->react_run, err);
    rc = give_preempt(b, err);
    if (rc >= 0) {
        did |= rc;
        rc = give_answer(b, err);
    }
    if (rc < 0) {
        return rc;
    }
    did |= rc;
    rc = advance(b, err);
    if (rc < 0) {
        return rc;
    }
    did |= rc;
    const pons_run_state state = pons_run_state_get(b->react_run);
    rc = look_for_people(b, did, err);
    if (rc < 0) {
        return rc;
    }
    if (state == PONS_RUN_FAILED) {
        *err = *pons_run_error(b->react_run);
        return pons_error_context(err, "the inner loop failed");
    }
    if (state == PONS_RUN_DONE) {
        pons_run_destroy(b->react_run);
        b->react_run = NULL;
        b->tick_now = true;
        did = 1;
    }
    return did;
}

pons_run_options pons__inner_options(const pons_brain *b)
{
    return (pons_run_options){.durability = PONS_DURABILITY_SYNC, .stream = b->opts.stream};
}

pons_value *pons_brain_held(pons_brain *b)
{
    const bool held = b->opts.step && !b->step_granted && b->react_run &&
                      pons_run_state_get(b->react_run) == PONS_RUN_READY;
    return held ? pons_run_next(b->react_run) : NULL;
}

void pons_brain_step(pons_brain *b)
{
    b->step_granted = true;
}

pons__list pons__inner_people(const pons_run *run)
{
    pons__list all = {0}, people = {0};
    pons_autovalue pending = pons_run_pending(run);
    pons__list_read(&pons__waits_record, pending, &all);
    while (all.n > 0) {
        pons__waits *one = pons__list_take(&all, 0);
        if (strcmp(one->kind, "human") == 0) {
            pons__list_add(&people, one);
        } else {
            pons__record_free(&pons__waits_record, one);
        }
    }
    pons__list_clear(&pons__waits_record, &all);
    return people;
}
