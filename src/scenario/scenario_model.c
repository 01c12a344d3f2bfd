// scenario_model.c - the model of a story: a script, or the rules in a model's clothes; and its absence.
//
//     brain --request--> scenario_model.c --there----> the script of the file            (llm/replay)
//                           |                 or policy.decide(observation), as JSON text in two
//                           |                 pieces, 400 ms later
//                           +---away------> an error after 50 ms, as of a server that is down
//                           +---silent----> an error after 30 s, as of a server that does not answer
//
// With the rules' own decisions a story takes the whole path of a model - prompt, stream, parse,
// time - and must come out as it does without one. A call that was begun keeps its fate: a model
// that is lost meanwhile still ends what it had begun to say.
#include "scenario/scenario_model.h"

#include <stdlib.h>
#include <string.h>

#define TELLS_NS   (400 * PONS_NS_PER_MS)
#define REFUSES_NS (50 * PONS_NS_PER_MS)
#define SILENT_NS  (30 * PONS_NS_PER_S)

// Takes the event.
static int wait_with(pons__model *m, int64_t after_ns, pons_llm_event ev, pons_error *err)
{
    for (size_t i = 0; i < PONS__MODEL_CALLS; i++) {
        if (!m->waiting[i].used) {
            m->waiting[i].used = true;
            m->waiting[i].due_ns = pons_now_ns(&m->clock) + after_ns;
            m->waiting[i].event = ev;
            return PONS_OK;
        }
    }
    pons_llm_event_clear(&ev);
    return pons_error_set(err, PONS_EBUSY, "scenario", "%d calls wait already", PONS__MODEL_CALLS);
}

// What the rules decide, as the text of a model.
static int tell(pons__model *m, uint64_t call, const pons_value *request, pons_error *err)
{
    pons_autovalue decision = NULL;
    char *text = NULL;
    int rc =
        m->policy.ops->decide(m->policy.self, pons_get(request, "observation"), &decision, err);
    if (rc >= 0 && pons_value_line(decision, &text) < 0) {
        rc = pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
    }
    if (rc < 0) {
        return rc;
    }
    pons_llm_event half = {.call = call, .kind = PONS_LLM_TOKEN, .text = strdup(text)};
    pons_llm_event whole = {.call = call,
                            .kind = PONS_LLM_DONE,
                            .value = pons_object("content", json_string(text), "tool_calls",
                                                 json_array(), "finish_reason", json_string("stop"),
                                                 NULL)};
    free(text);
    rc = wait_with(m, TELLS_NS / 2, half, err);
    if (rc < 0) {
        pons_llm_event_clear(&whole);
        return rc;
    }
    return wait_with(m, TELLS_NS, whole, err);
}

static int model_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    pons__model *m = self;
    if (m->state != PONS__MODEL_THERE) {
        const bool away = m->state == PONS__MODEL_AWAY;
        pons_llm_event ev = {.call = call, .kind = PONS_LLM_ERROR};
        pons_error_set(&ev.error, PONS_EIO, "llm",
                       away ? "connection refused" : "no byte for 30 s");
        return wait_with(m, away ? REFUSES_NS : SILENT_NS, ev, err);
    }
    return m->inner.ops ? m->inner.ops->start(m->inner.self, call, request, err)
                        : tell(m, call, request, err);
}

static void model_cancel(void *self, uint64_t call)
{
    pons__model *m = self;
    for (size_t i = 0; i < PONS__MODEL_CALLS; i++) {
        if (m->waiting[i].used && m->waiting[i].event.call == call) {
            pons_llm_event_clear(&m->waiting[i].event);
            m->waiting[i].used = false;
        }
    }
    if (m->inner.ops) {
        m->inner.ops->cancel(m->inner.self, call);
    }
}

static int model_event_fd(void *self)
{
    return -1;
}

static bool model_next(void *self, pons_llm_event *ret)
{
    pons__model *m = self;
    for (size_t i = 0; i < PONS__MODEL_CALLS; i++) {
        if (m->waiting[i].used && m->waiting[i].due_ns <= pons_now_ns(&m->clock)) {
            *ret = m->waiting[i].event;
            m->waiting[i].used = false;
            return true;
        }
    }
    return m->inner.ops && m->inner.ops->next(m->inner.self, ret);
}

int pons__model_open(pons__model *m, const pons_llm_ops *script, const pons_value *replies,
                     pons_policy policy, pons_clock clock, pons_error *err)
{
    *m = (pons__model){.policy = policy,
                       .clock = clock,
                       .ops = {.abi = PONS_LLM_ABI,
                               .name = "story",
                               .start = model_start,
                               .cancel = model_cancel,
                               .event_fd = model_event_fd,
                               .next = model_next}};
    if (!script) {
        return PONS_OK;
    }
    pons_autovalue config = pons_object("replies", pons_value_ref(replies), NULL);
    const int rc = script->open(config, &clock, &m->inner.self, err);
    m->inner.ops = rc < 0 ? NULL : script;
    return rc;
}

void pons__model_close(pons__model *m)
{
    for (size_t i = 0; i < PONS__MODEL_CALLS; i++) {
        if (m->waiting[i].used) {
            pons_llm_event_clear(&m->waiting[i].event);
        }
    }
    if (m->inner.ops) {
        m->inner.ops->close(m->inner.self);
    }
    *m = (pons__model){.state = PONS__MODEL_THERE};
}

pons_llm pons__model_llm(pons__model *m)
{
    return (pons_llm){.ops = &m->ops, .self = m};
}
