// questions.c - the questions that are open, and which answer to one counts.
//
// A question stands in one of these places until it is answered:
//
//     react.approval, react.also    the inner loop is parked in R5 with it (react/approval.c)
//     a task's asks                 the task was put aside with it, so that others may run
//     tasks.react.asks              and has its turn again, which the inner loop has not read yet
//     an await of the engine        an effect of a fork asks, before it goes out
//     the kernel's own questions    nothing waits for them (picture_consent.c); they stay in the list with their answers
//
// The first answer binds. Answers come through the kernel's inbox, which is ordered and durable, so
// whoever posted first has answered, whether a brain lives or not; K5 writes it down in `hci`:
//
//     answers  {question, action, by, at_ms, reason, said}   what counts: of every question that is open or
//                                                            acted on, and the newest KEPT others
//     heard    {nonce, question, verdict}                    what became of each message
//
//     verdict  of the table below: bound, late (another one was the answer), overrides (a no that counts instead) or
//              closed (the kernel took over, or it is another's)
//
// said is the whole answer. Of a task that was put aside it stands at its question as well, for as long
// as the task waits for its turn. The brain's loop thread, and whoever reads a store.
#include "brain/tasks/questions.h"

#include "brain/body_link/body_port.h"
#include "brain/body_link/speed_request.h"
#include "brain/goals/named_places.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/state/self.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ANSWERS_KEPT 20
#define HEARD_KEPT   40

// ---- the machine --------------------------------------------------------------------------------

// What a question is, by what is stored: it is read off that for each message.
enum { CLOSED, OPEN, APPROVED, REJECTED, BEGUN };
enum { YES, NO };

static const char *const state_words[] = {"closed", "open", "approved", "rejected", "begun", NULL};
static const char *const event_words[] = {"yes", "no", NULL};

static const pons__transition rows[] = {
    {CLOSED, YES, CLOSED, "closed"},   {CLOSED, NO, CLOSED, "closed"},
    {OPEN, YES, APPROVED, "bound"},    {OPEN, NO, REJECTED, "bound"},
    {APPROVED, YES, APPROVED, "late"}, {APPROVED, NO, REJECTED, "overrides"},
    {REJECTED, YES, REJECTED, "late"}, {REJECTED, NO, REJECTED, "late"},
    {BEGUN, YES, BEGUN, "late"},       {BEGUN, NO, BEGUN, "late"}, // what was approved has started
};

PONS__MACHINE(question, "a question to a person, by its answers", state_words);

static bool is_no(const char *action)
{
    return strcmp(action, "reject") == 0;
}

// What becomes of an answer, and of the question by it.
static const char *verdict_of(int *state, const char *action)
{
    const char *verdict = "";
    pons__machine_move(&pons__question_machine, state, is_no(action) ? NO : YES, &verdict, NULL);
    return verdict;
}

// ---- the channel --------------------------------------------------------------------------------

pons__hci *pons__hci_of(pons_brain *b, const pons_value *channel)
{
    if (b->hci && b->hci_of == channel && (channel || !b->hci->changed)) {
        return b->hci;
    }
    pons__hci_forget(b);
    b->hci = pons__record_read(&pons__hci_record, channel);
    b->hci_of = pons_value_ref(channel);
    return b->hci;
}

int pons__hci_put(pons_brain *b, pons_cx *cx)
{
    if (!b->hci->changed) {
        return PONS_OK;
    }
    b->hci->changed = false;
    pons_value *v = pons__record_write(&pons__hci_record, b->hci);
    pons_value_unref(b->hci_of);
    b->hci_of = pons_value_ref(v);
    return pons_cx_put(cx, "hci", v);
}

void pons__hci_forget(pons_brain *b)
{
    pons__record_free(&pons__hci_record, b->hci);
    pons_value_unref(b->hci_of);
    b->hci = NULL;
    b->hci_of = NULL;
}

const pons_value *pons__question_answer(const pons__hci *hci, const char *question)
{
    const pons__answer *a = pons__answer_find(hci, question);
    return a ? a->said : NULL;
}

// ---- what is open -------------------------------------------------------------------------------

static void stands(pons__open *list, const char *id, const pons__question *about, pons__task *task,
                   const pons__hci *hci)
{
    list->at = pons_need_more(list->at, (list->n + 1) * sizeof *list->at);
    const bool bound = pons__answer_find(hci, id);
    list->at[list->n++] = (struct pons__open_one){
        .id = id, .about = about, .task = task, .answered = bound || (about && about->answer)};
    if (!list->at[list->n - 1].answered) {
        list->next = list->unanswered++ ? list->next : id;
    }
}

void pons__open_clear(pons__open *list)
{
    free(list->at);
    *list = (pons__open){0};
}

pons__open pons__questions_open(pons_brain *b)
{
    const pons__hci *hci = b->hci;
    pons__open list = {0};
    const pons__react *inner = b->react_run ? pons__inner_of(b) : NULL;
    const pons__reported *reported = b->tasks->react;
    const bool putting = inner && inner->task && reported->state != PONS_INNER_IDLE &&
                         inner->activation == reported->activation;
    for (size_t i = 0; pons__questions_handed(b) && i < reported->asks.n; i++) {
        const pons__question *q = reported->asks.at[i];
        stands(&list, q->id, q, NULL, hci);
    }
    for (size_t i = 0; putting && i < inner->task->asks.n; i++) { // the kernel will be told of it
        const pons__question *q = inner->task->asks.at[i];
        stands(&list, q->id, q, NULL, hci);
    }
    if (inner && inner->asking.question) { // also before the run is parked with it
        stands(&list, inner->asking.question->id, inner->asking.question, NULL, hci);
        for (size_t i = 0; i < inner->asking.also.n; i++) {
            const pons__question *q = inner->asking.also.at[i];
            stands(&list, q->id, q, NULL, hci);
        }
    } else if (b->approval_id[0]) {
        stands(&list, b->approval_id, NULL, NULL, hci);
    }
    for (size_t i = 0; i < b->tasks->queue.n; i++) {
        pons__task *task = b->tasks->queue.at[i];
        for (size_t k = 0; k < task->asks.n; k++) {
            const pons__question *q = task->asks.at[k];
            stands(&list, q->id, q, task, hci);
        }
    }
    const size_t others = list.unanswered;
    for (size_t i = 0; i < b->tasks->asks.n; i++) {
        const pons__question *q = b->tasks->asks.at[i];
        stands(&list, q->id, q, NULL, hci);
        list.at[list.n - 1].own = true;
    }
    list.unanswered = others > 0 ? others : list.unanswered; // yes and no are to the others first
    return list;
}

bool pons__questions_handed(pons_brain *b)
{
    const pons__reported *reported = b->tasks->react;
    if (reported->asks.n == 0 || b->react_run) {
        return reported->asks.n > 0 && !pons__reported_taken(reported, pons__inner_of(b));
    }
    // between two runs of one activation there is none
    PONS__AUTO(react)
    stored = pons__record_read(&pons__react_record, pons__inner_channel(b, "react"));
    const bool taken = pons__reported_taken(reported, stored);
    return !taken;
}

bool pons__question_waits(const pons__task *task)
{
    for (size_t i = 0; i < task->asks.n; i++) {
        if (!((const pons__question *)task->asks.at[i])->answer) {
            return true;
        }
    }
    return false;
}

const char *pons__question_asking(pons_brain *b)
{
    const pons__react *inner = b->react_run ? pons__inner_of(b) : NULL;
    const pons__reported *reported = b->tasks->react;
    if (!inner || !inner->task || reported->state == PONS_INNER_IDLE ||
        inner->activation != reported->activation) {
        return "";
    }
    if (pons__question_waits(inner->task)) { // R5 has put it aside, and the kernel was not told yet
        return inner->task->id;
    }
    bool open = false;
    for (size_t i = 0; inner->asking.question && i <= inner->asking.also.n; i++) {
        const pons__question *q = i ? inner->asking.also.at[i - 1] : inner->asking.question;
        open = open || (!q->answer && !pons__answer_find(b->hci, q->id));
    }
    const bool parked = b->approval_id[0] && open;
    return parked && (reported->state == PONS_INNER_STOPPING || !pons__under_way(b))
               ? inner->task->id
               : "";
}

bool pons__under_way(pons_brain *b)
{
    bool any = false;
    PONS__AUTO(skills)
    s = pons__record_read(&pons__skills_record, pons_run_get(b->react_run, "skills"));
    for (size_t i = 0; i < s->running.n; i++) {
        const pons__running *r = s->running.at[i];
        const pons__body_goal *g = pons__port_goal(&b->port, r->goal_id);
        any = any || (g && !g->result);
    }
    return any;
}

void pons__questions_close(pons_brain *b, pons_cx *cx, pons__list *asks, const char *why)
{
    for (size_t i = 0; i < asks->n; i++) {
        const pons__question *q = asks->at[i];
        PONS__EMIT(b, cx, approval_resolved, .id = q->id, .action = "reject", .reason = why,
                   .by = "the kernel", .at_ms = pons_cx_wall_ms(cx));
    }
    b->tasks->changed = b->tasks->changed || asks->n > 0;
    pons__list_clear(&pons__question_record, asks);
}

// Appends to a list, and drops the oldest beyond so many. Takes the entry.
static void keep(const pons__record *r, pons__list *list, void *entry, size_t most)
{
    while (list->n >= most) {
        pons__record_free(r, pons__list_take(list, 0));
    }
    pons__list_add(list, entry);
}

// ---- which answer counts ------------------------------------------------------------------------

// What it is an answer to: the question that it names, else the first that is open. NULL: it is not open. One of the
// kernel's own that has its answer is meant by its id alone.
static const struct pons__open_one *meant(const pons__open *list, const char *question)
{
    const bool any = list->n > 0 && !question && !list->at[0].own;
    const struct pons__open_one *first = any ? &list->at[0] : NULL;
    for (size_t i = 0; i < list->n; i++) {
        const struct pons__open_one *one = &list->at[i];
        if (question ? strcmp(one->id, question) == 0 : !one->answered) {
            return one;
        }
    }
    return first;
}

// What the inner loop acts on: a no that names no question, where none is open, takes that back. "": nothing.
const char *pons__question_acted_on(pons_brain *b)
{
    const pons__react *inner = b->react_run ? pons__inner_of(b) : NULL;
    return inner ? inner->answered.question : "";
}

const char *pons_answer_option(const pons_value *options, const char *text)
{
    const char *alike = NULL, *numbered = NULL;
    char number[24];
    pons_each(option, options) {
        snprintf(number, sizeof number, "%zu", option_at + 1);
        const char *words = json_is_string(option) ? json_string_value(option) : "";
        if (strcmp(words, text) == 0) {
            return words;
        }
        alike = !alike && strcasecmp(words, text) == 0 ? words : alike;
        numbered = strcmp(number, text) == 0 ? words : numbered;
    }
    return alike ? alike : numbered;
}

// What these words control: "yes", "no", …; "" is nothing.
static void words_control(pons_brain *b, const char *text, char *ret, size_t cap)
{
    const pons_policy *policy = &b->opts.policy;
    pons_autovalue parsed = NULL;
    pons_autovalue world = pons__places_world(b);
    pons_error none = PONS_ERROR_INIT;
    policy->ops->parse(policy->self, text, world, &parsed, &none);
    snprintf(ret, cap, "%s", pons_get_str(parsed, "control", ""));
}

pons__meant pons__reply_meant(pons_brain *b, const pons__reply *reply)
{
    static const char *const noes[] = {"no", "stop", "cancel", NULL};
    char word[32];
    const bool edit = strcmp(reply->action, "edit") == 0;
    if (strcmp(reply->action, "approve") != 0 && !edit) {
        return PONS_MEANT_NO;
    }
    if (!reply->answer || edit) {
        return PONS_MEANT_YES;
    }
    words_control(b, reply->answer, word, sizeof word);
    if (pons__word_find(noes, word, -1) >= 0) {
        return PONS_MEANT_NO;
    }
    return strcmp(word, "yes") == 0 ? PONS_MEANT_YES : PONS_MEANT_WORDS;
}

// The answer as it will be read: the option that it names, where it names one.
static pons_value *as_said(const struct pons__open_one *one, const pons__reply *reply,
                           const pons_value *answer)
{
    const char *option = one && one->about && reply->answer
                             ? pons_answer_option(one->about->options, reply->answer)
                             : NULL;
    return option ? pons__with(answer, "answer", json_string(option)) : pons_value_ref(answer);
}

// Whether it is this question, or was asked beside it.
static bool is_or_beside(const pons__question *q, const char *question)
{
    return q && (strcmp(q->id, question) == 0 || pons__has(q->beside, question));
}

// Whether the answer to this question is still to be acted on, or to be taken back.
static bool needed(pons_brain *b, const pons__open *list, const char *question)
{
    const pons__react *inner = b->react_run ? pons__inner_of(b) : NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->at[i].id, question) == 0 || is_or_beside(list->at[i].about, question)) {
            return true;
        }
    }
    return inner && pons__answered_is(inner, question);
}

static void bind(pons_brain *b, pons_cx *cx, const pons__open *list,
                 const struct pons__open_one *one, const char *question, const pons__reply *reply,
                 const pons_value *answer)
{
    const int64_t at_ms = reply->at_ms ? reply->at_ms : pons_cx_wall_ms(cx);
    pons__answer *a = pons__record_new(&pons__answer_record);
    pons__set_text(&a->question, question);
    pons__set_text(&a->action, reply->action);
    pons__set_text(&a->reason, reply->reason);
    pons__set_text(&a->by, reply->by);
    a->at_ms = at_ms;
    pons_autovalue said = as_said(one, reply, answer);
    pons_autovalue bound = pons__with(said, "id", json_string(question));
    pons__json(&a->said, pons__with(bound, "at_ms", json_integer(at_ms)));
    pons__json(&b->hci->approval_response, pons_value_ref(a->said));
    const pons__list none = {0};
    const pons__list *of = one && one->task ? &one->task->asks : &none;
    of = one && one->own ? &b->tasks->asks : of;
    for (size_t i = 0; i < of->n; i++) {
        pons__question *q = of->at[i];
        if (q == one->about) {
            pons__json(&q->answer, pons_value_ref(a->said));
            b->tasks->changed = true;
        }
    }
    if (one && one->own) { // nobody else tells of it
        PONS__EMIT(b, cx, approval_resolved, .id = question, .action = reply->action,
                   .reason = reply->reason, .by = reply->by, .at_ms = at_ms);
    }
    pons__list *answers = &b->hci->answers;
    size_t spare = 0, oldest = answers->n;
    for (size_t i = answers->n; i-- > 0;) { // who has not been acted on is never forgotten
        if (!needed(b, list, ((const pons__answer *)answers->at[i])->question)) {
            spare++;
            oldest = i;
        }
    }
    if (spare >= ANSWERS_KEPT) {
        pons__record_free(&pons__answer_record, pons__list_take(answers, oldest));
    }
    pons__list_add(answers, a);
}

// Nobody has answered by the deadline, whoever was there to see it pass: that is a no.
static void close_late(pons_brain *b, pons_cx *cx, const pons__open *list,
                       const struct pons__open_one *one, const pons__reply *reply)
{
    const int64_t until_ms = one && one->about && !one->answered ? one->about->deadline_ms : 0;
    const int64_t at_ms = reply->at_ms ? reply->at_ms : pons_cx_wall_ms(cx);
    if (until_ms && at_ms >= until_ms && strcmp(reply->action, "reject") != 0) {
        const pons__reply no = {.id = one->id,
                                .action = "reject",
                                .reason = PONS__NO_ANSWER,
                                .by = PONS__DEADLINE,
                                .at_ms = until_ms};
        pons_autovalue said = pons__record_write(&pons__reply_record, &no);
        bind(b, cx, list, one, one->id, &no, said);
    }
}

static bool asks(const pons__list *list, const char *question)
{
    for (size_t i = 0; i < list->n; i++) {
        if (is_or_beside(list->at[i], question)) {
            return true;
        }
    }
    return false;
}

// Whether what this question's answer approved has left the brain, or is no matter any more.
static bool inner_started(pons_store store, const char *thread, const pons__react *react,
                          const pons__skills *skills, const char *question, pons_error *err)
{
    const uint32_t sent =
        ~(1U << PONS_EFFECT_INTENDED | 1U << PONS_EFFECT_REFUSED) & ((1U << 16) - 1);
    pons_autovalue effects = NULL;
    const bool asked = react && (is_or_beside(react->asking.question, question) ||
                                 asks(&react->asking.also, question));
    if (asked || (react && react->task && asks(&react->task->asks, question))) {
        return false;
    }
    if (!react || !pons__answered_is(react, question) ||
        pons_effects_read(store, thread, sent, &effects, err) < 0) {
        return true;
    }
    const bool nothing = react->proposed_ops && react->proposed_ops->to_dispatch.n == 0;
    const bool lets_go = skills && json_array_size(skills->to_cancel) > 0;
    if (nothing && (react->source == PONS_SOURCE_PLAN || lets_go)) { // its step has gone on
        return true;
    }
    for (size_t i = 0; skills && i < skills->to_dispatch.n; i++) {
        if (pons__find(effects, "id", ((const pons__op *)skills->to_dispatch.at[i])->goal_id)) {
            return true;
        }
    }
    return false;
}

// The same, from the channels as they are stored. What a task was put aside with has not.
static bool started(pons_store store, const char *thread, const pons__tasks *tasks,
                    const pons_value *react, const pons_value *skills, const char *question,
                    pons_error *err)
{
    for (size_t i = 0; tasks && i < tasks->queue.n; i++) {
        if (asks(&((const pons__task *)tasks->queue.at[i])->asks, question)) {
            return false;
        }
    }
    PONS__AUTO(react) r = react ? pons__record_read(&pons__react_record, react) : NULL;
    PONS__AUTO(skills) s = skills ? pons__record_read(&pons__skills_record, skills) : NULL;
    const bool waits = tasks && tasks->react && !pons__reported_taken(tasks->react, r) &&
                       asks(&tasks->react->asks, question);
    return !waits && inner_started(store, thread, r, s, question, err);
}

// What the question is for an answer of this kind. one: where it is open; first: what counts so far.
static int state_of(pons_brain *b, const struct pons__open_one *one, const pons__answer *first,
                    const char *question, const char *action)
{
    const pons_value *react = b->react_run ? pons_run_get(b->react_run, "react") : NULL;
    const pons_value *skills = b->react_run ? pons_run_get(b->react_run, "skills") : NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!first) {
        return one ? OPEN : CLOSED;
    }
    if (is_no(first->action)) {
        return REJECTED;
    }
    const bool begun =
        is_no(action) && !one &&
        started(b->opts.store, b->opts.thread, b->tasks, react, skills, question, &none);
    return begun ? BEGUN : APPROVED;
}

// K5: a message is heard.
bool pons__answer_hear(pons_brain *b, pons_cx *cx, const pons_value *answer)
{
    PONS__AUTO_OPEN list = pons__questions_open(b);
    PONS__AUTO(reply) reply = pons__reply_read(answer);
    const struct pons__open_one *one = meant(&list, reply->id);
    const char *acted_on = pons__question_acted_on(b);
    one = !reply->id && one && one->answered && *acted_on ? NULL : one; // the newest yes
    const char *question = reply->id ? reply->id : one ? one->id : acted_on;
    const char *action = reply->action;
    close_late(b, cx, &list, one, reply);
    const pons__answer *first = pons__answer_find(b->hci, question);
    // "Yes, at half speed" was first, and counts when the body has the pace; a no goes before it.
    pons_autovalue waits =
        !first && one && !is_no(action) ? pons__speed_request_answer(b->tasks, question) : NULL;
    PONS__AUTO(answer) paced = waits ? pons__record_read(&pons__answer_record, waits) : NULL;
    first = paced ? paced : first;
    int is = state_of(b, one, first, question, action);
    if (!one && !reply->id && !(is == APPROVED && is_no(action))) { // it is to nothing that is open
        is = CLOSED;
        question = "";
    }
    const int was = is;
    const char *verdict = verdict_of(&is, action);
    pons__received *received = pons__record_new(&pons__received_record);
    pons__set_text(&received->nonce, reply->nonce);
    pons__set_text(&received->question, question);
    pons__set_text(&received->verdict, verdict);
    keep(&pons__received_record, &b->hci->received, received, HEARD_KEPT);
    b->hci->changed = true;
    const bool counts = is != was;
    if (counts) {
        bind(b, cx, &list, one, question, reply, answer);
    } else {
        PONS__EMIT(b, cx, approval_late, .id = question, .action = action, .verdict = verdict,
                   .first = first);
    }
    return counts;
}

// ---- for whoever has posted one -----------------------------------------------------------------

typedef struct letters {
    const char *question;
    pons_value *list; // answers to the question, in the order of the inbox
} letters;

static void add_answer(letters *l, const pons_value *value)
{
    PONS__AUTO(reply) reply = pons__reply_read(value);
    if (strcmp(reply->id ? reply->id : "", l->question) == 0) {
        json_array_append(l->list, (json_t *)value);
    }
}

static int read_inbox_message(void *user, const pons_inbox_row *row)
{
    pons_autovalue value = NULL;
    if (strcmp(row->kind, pons__inbox_message_words[PONS_LETTER_ANSWER]) == 0 &&
        pons_value_parse(row->value.data, row->value.len, &value, NULL) >= 0) {
        add_answer(user, value);
    }
    return 0;
}

// What this message will be, where the first one counts so far. started: what that approved has.
static const char *will_be(const pons_value *msg, const pons_value *first, bool started)
{
    if (!first) {
        return "bound";
    }
    PONS__AUTO(reply) reply = pons__reply_read(msg), *was = pons__reply_read(first);
    const bool same = *reply->nonce && strcmp(reply->nonce, was->nonce) == 0;
    int is = is_no(was->action) ? REJECTED : started ? BEGUN : APPROVED;
    return same ? "bound" : verdict_of(&is, reply->action);
}

// The inbox is read before the state: what is not in the one any more is in the other.
int pons_answer_read(pons_store store, const char *thread, const char *question, const char *nonce,
                     pons_value **ret, pons_error *err)
{
    pons_autovalue waiting = json_array();
    pons_autovalue kernel = NULL;
    pons_autovalue inner = NULL;
    pons_error none = PONS_ERROR_INIT;
    letters l = {.question = question, .list = waiting};
    int rc =
        store.ops->inbox_read(store.self, thread, PONS_NS_KERNEL, 0, read_inbox_message, &l, err);
    rc = rc < 0 ? rc : pons_state_read(store, thread, PONS_NS_KERNEL, &kernel, err);
    if (rc < 0) {
        return rc;
    }
    pons_state_read(store, thread, PONS_NS_REACT, &inner, &none); // none yet is no fault
    PONS__AUTO(hci) hci = pons__record_read(&pons__hci_record, pons_get(kernel, "hci"));
    const pons__answer *bound = pons__answer_find(hci, question);
    pons_autovalue first = bound ? pons__record_write(&pons__answer_record, bound) : NULL;
    const char *verdict = NULL;
    for (size_t i = hci->received.n; !verdict && i > 0; i--) {
        const pons__received *received = hci->received.at[i - 1];
        verdict = strcmp(received->nonce, nonce) == 0 ? received->verdict : NULL;
    }
    const bool received = verdict;
    pons_autovalue all = json_array(); // taken by a tick that was cut short, then what waits
    letters earlier = {.question = question, .list = all};
    pons_each(msg, hci->pending) {
        PONS__AUTO(inbox_message) taken = pons__record_read(&pons__inbox_message_record, msg);
        if (taken->kind == PONS_LETTER_ANSWER) {
            add_answer(&earlier, taken->value);
        }
    }
    json_array_extend(all, waiting);
    PONS__AUTO(tasks) tasks = pons__record_read(&pons__tasks_record, pons_get(kernel, "tasks"));
    first = first ? first : pons__speed_request_answer(tasks, question);
    const bool late = started(store, thread, tasks, pons_get(inner, "react"),
                              pons_get(inner, "skills"), question, &none);
    pons_autovalue before = NULL; // what counted until this message took it back
    const char *became = "late";
    pons_each(msg, all) {
        const bool own = strcmp(pons_get_str(msg, "nonce", ""), nonce) == 0;
        const char *is = will_be(msg, first, late);
        if (own) {
            became = is;
            before = strcmp(is, "overrides") == 0 ? pons_value_ref(first) : NULL;
        }
        if (strcmp(is, "late") != 0) {
            pons_value_unref(first);
            first = pons_value_ref(msg);
        }
    }
    verdict = verdict ? verdict : became;
    if (before) {
        pons_value_unref(first);
        first = pons_value_ref(before);
    }
    *ret = pons_object("verdict", json_string(verdict), "heard", json_boolean(received), "first",
                       first ? pons_value_ref(first) : json_null(), NULL);
    return PONS_OK;
}
