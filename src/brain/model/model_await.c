// model_await.c - R2's await of a model: one request at a time, its tokens shown as they come.
//
// The request is made when the await starts (prompt.c); of the answer is kept what a decision may have
// (answer_check.c). The brain's loop thread; the provider has its own.
//
// A call that was under way when the brain died is paid for, whatever became of it: a restart starts it
// no second time, but answers {cut, tokens}, durably, and R2 counts that and asks anew as long as the
// task's budget lasts. So a brain that dies at each call comes to the end of the budget as well.
#include "brain/model/model_await.h"

#include "brain/model/answer_check.h"
#include "brain/model/prompt.h"
#include "brain/records/await_fields.h"
#include "brain/tasks/picture_consent.h"

#include <string.h>

#define COUNT_MAX (INT64_C(1) << 40) // tokens of one call that are believed

// The observation's picture goes with the newest words.
static void attach(pons_value *full, pons_value *picture, const char *to)
{
    pons_value *list = json_object_get(full, "messages");
    pons_value *last = json_array_get(list, json_array_size(list) - 1);
    json_object_set_new(last, "pictures", json_pack("[o]", picture));
    if (to) { // to which a person lets pictures go
        json_object_set_new(full, "pictures_allowed", json_string(to));
    }
}

// id may be the one that is there.
static void set_await(pons_brain *b, pons_run *run, const char *id)
{
    char copy[sizeof b->llm_await];
    snprintf(copy, sizeof copy, "%s", id);
    memcpy(b->llm_await, copy, sizeof copy);
    b->llm_run = run;
}

static void wait_for_picture(pons_brain *b, pons_run *run, const char *id,
                             const pons_value *request)
{
    pons_value *waits = pons_value_ref(request);
    pons_value_unref(b->llm_waits);
    b->llm_waits = waits;
    set_await(b, run, id);
}

void pons__model_start(void *user, pons_run *run, const char *id, const pons_value *request,
                       bool restarted)
{
    pons_brain *b = user;
    pons_value *picture = NULL;
    if (b->opts.llm && b->opts.picture && !restarted && pons__picture_consent_given(b) &&
        b->opts.picture(b->opts.user, &picture) == PONS_EAGAIN) {
        wait_for_picture(b, run, id, request);
        return;
    }
    pons_error err = PONS_ERROR_INIT;
    pons_error ignored = PONS_ERROR_INIT;
    int rc = PONS_EUNSUPPORTED;
    b->llm_tokens = 0;
    if (b->opts.llm) {
        PONS__AUTO(react)
        react = pons__record_read(&pons__react_record, pons_run_get(run, "react"));
        PONS__AUTO(skills)
        skills = pons__record_read(&pons__skills_record, pons_run_get(run, "skills"));
        PONS__AUTO(model_asked) asked = pons__record_read(&pons__model_asked_record, request);
        pons_autovalue full = pons__decision_request(b, pons_run_get(run, "messages"), react,
                                                     skills, asked->complaint, asked->previous);
        // The provider counts the calls of an activation: a model that goes in circles ends here,
        // and the rules go on.
        json_object_set_new(
            full, "run",
            json_sprintf("%s#%lld", pons_thread_id(b->thread), (long long)react->activation));
        if (picture) {
            attach(full, picture, b->opts.pictures_to);
        }
        snprintf(b->llm_task, sizeof b->llm_task, "%s", react->task ? react->task->id : "");
        if (restarted) { // its prompt is the same: the state is
            const pons__model_answer cut = {.cut = true, .tokens = b->prompt_tokens};
            pons_run_answer(run, id, pons__record_write(&pons__model_answer_record, &cut),
                            &ignored);
            return;
        }
        rc = b->opts.llm->ops->start(b->opts.llm->self, ++b->llm_call, full, &err);
    } else {
        pons_error_set(&err, rc, "brain", "no model is configured any more");
    }
    if (rc < 0) {
        char line[512], await[sizeof b->llm_await];
        const pons__model_answer lost = {.error = pons_error_line(&err, line, sizeof line)};
        snprintf(await, sizeof await, "%s", id);
        b->llm_await[0] = '\0';
        pons_run_answer(run, await, pons__record_write(&pons__model_answer_record, &lost),
                        &ignored);
        return;
    }
    set_await(b, run, id);
}

void pons__model_cancel(void *user, pons_run *run, const char *id)
{
    pons_brain *b = user;
    if (b->opts.llm && strcmp(b->llm_await, id) == 0) {
        b->opts.llm->ops->cancel(b->opts.llm->self, b->llm_call);
        b->llm_await[0] = '\0';
        pons_value_unref(b->llm_waits); // what waited for its picture is not wanted any more
        b->llm_waits = NULL;
    }
}

// A token as LangGraph's clients know it; durable, so it has a number.
static int emit_message(pons_brain *b, const char *text, pons_error *err)
{
    pons_value *chunk =
        pons_object("type", json_string("AIMessageChunk"), "content", json_string(text), NULL);
    pons_value *meta =
        pons_object("langgraph_step", json_integer(pons_run_supersteps(b->react_run) + 1),
                    "langgraph_node", json_string("react_decide"), NULL);
    return pons_thread_emit(b->thread, PONS_NS_REACT, "stream.messages",
                            json_pack("[oo]", chunk, meta), err);
}

// A count of the server's; it may say anything.
static int64_t count_of(int64_t n, int64_t estimate)
{
    return n < 0 ? estimate : n < COUNT_MAX ? n : COUNT_MAX;
}

// What a call has cost, as the server counts it; else as the prompt was estimated, and the answer.
static int64_t tokens_of(const pons_brain *b, const pons__model_answer *answer)
{
    const pons__model_usage *u = answer->usage;
    const int64_t in = count_of(u ? u->prompt_tokens : -1, b->prompt_tokens);
    const int64_t out =
        count_of(u ? u->completion_tokens : -1, (int64_t)strlen(answer->content) / 3 + 1);
    return count_of(u ? u->total_tokens : -1, in + out);
}

// What the inner loop is told of a call that has ended.
static pons_value *answer_of(pons_brain *b, const pons_llm_event *ev)
{
    char line[512];
    if (ev->kind == PONS_LLM_ERROR) {
        const pons__model_answer lost = {.error = pons_error_line(&ev->error, line, sizeof line),
                                         .tokens = b->llm_tokens ? pons__call_tokens(b) : 0};
        return pons__record_write(&pons__model_answer_record, &lost);
    }
    PONS__AUTO(model_answer) said = pons__record_read(&pons__model_answer_record, ev->value);
    const pons__model_answer kept = pons__decision_answer(said, tokens_of(b, said));
    pons_value *answer = pons__record_write(&pons__model_answer_record, &kept);
    pons__prompt_learn(b, said->usage ? said->usage->prompt_tokens : 0);
    return answer;
}

int64_t pons__call_tokens(const pons_brain *b)
{
    return b->llm_await[0] ? b->prompt_tokens + b->llm_tokens : 0;
}

int pons__model_poll(pons_brain *b, pons_error *err)
{
    int did = 0;
    pons_llm_event ev = {0};
    if (b->llm_waits) {
        pons_autovalue request = b->llm_waits;
        b->llm_waits = NULL;
        if (b->llm_await[0] && b->react_run == b->llm_run) {
            pons__model_start(b, b->llm_run, b->llm_await, request, false);
            did = b->llm_waits == NULL;
        }
    }
    while (b->opts.llm && b->opts.llm->ops->next(b->opts.llm->self, &ev)) {
        const bool wanted = ev.call == b->llm_call && b->llm_await[0] && b->react_run == b->llm_run;
        did = 1;
        if (wanted && ev.kind == PONS_LLM_TOKEN) {
            b->llm_tokens += (int64_t)strlen(ev.text) / 3 + 1;
            pons_thread_emit_live(b->thread, PONS_NS_REACT, "token",
                                  pons_object("content", json_string(ev.text), "task_id",
                                              json_string(b->llm_task), "call_id",
                                              json_string(b->llm_await), NULL));
            const int rc =
                b->opts.stream & PONS_STREAM_MESSAGES ? emit_message(b, ev.text, err) : PONS_OK;
            if (rc < 0) {
                pons_llm_event_clear(&ev);
                return rc;
            }
        } else if (wanted && (ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR)) {
            char id[64];
            pons_value *answer = answer_of(b, &ev);
            memcpy(id, b->llm_await, sizeof id);
            b->llm_await[0] = '\0';
            const int rc = pons_run_answer(b->react_run, id, answer, err);
            if (rc < 0 && rc != PONS_ENOTPENDING) {
                pons_llm_event_clear(&ev);
                return rc;
            }
        }
        pons_llm_event_clear(&ev);
    }
    return did;
}
