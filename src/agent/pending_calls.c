// pending_calls.c - the other end of the awaits: model and tool calls under way.
//
// A flight is a call that a node asked for, on its way through the middlewares to a provider and
// back. Flights are memory only. After a crash the engine asks again for every await without an
// answer, and a flight is made anew:
//
//   a model call          is made again: models may be asked twice
//   a read-only tool      is run again
//   a tool with a key     is asked about (adopt): what goes on is joined; what was certainly never
//                         started is started under the same key; anything else is `unknown`, and
//                         so the model is told
//
// A keyed call is started by the ledger's dispatch (pons__host_send), before its await exists: the
// flight waits for it, and keeps the answer if that was faster.
#include "agent/pending_calls.h"

#include "agent/config.h"
#include "agent/event_output.h"
#include "agent/model_request.h"
#include "agent/session.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_SHOWN   2000 // characters of a model's input in llm_start
#define SAID_MAX      (1 << 20)
#define PER_MILLION   1e6
#define MINIMUM_WAIT  1 // ms
#define LOOK_EVERY_MS 2

// ---- small things -------------------------------------------------------------------------------

static pons__flight *flight_create(pons_agent *a)
{
    pons__flight *f = pons_need_zeroed(1, sizeof *f);
    f->next = a->flights;
    a->flights = f;
    return f;
}

static void flight_free(pons__flight *f)
{
    pons_value_unref(f->request);
    pons_value_unref(f->shown);
    pons_value_unref(f->answer);
    pons_buf_fini(&f->said);
    free(f);
}

// Cancels what runs; its events are not wanted any more.
static void flight_forget(pons_agent *a, pons__flight *f)
{
    if (f->call && f->model && a->llm.ops) {
        a->llm.ops->cancel(a->llm.self, f->call);
    } else if (f->call && f->provider) {
        f->provider->ops->cancel(f->provider->self, f->call);
    }
    pons__flight **at = &a->flights;
    while (*at != f) {
        at = &(*at)->next;
    }
    *at = f->next;
    flight_free(f);
}

static void show(pons_agent *a, const char *type, pons_value *payload)
{
    pons_error ignored = PONS_ERROR_INIT; // a store that fails says so at the next commit
    pons_value *shown = pons__agent_shown_value(a, payload);
    pons_value_unref(payload);
    pons_thread_emit(a->thread, PONS_AGENT_NS, type, shown, &ignored);
}

// ---- landing ------------------------------------------------------------------------------------

static pons_value *error_answer(const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + 64];
    snprintf(line, sizeof line, "%s: %s", err->module, err->message);
    return pons_object("error", pons__agent_cut(line, sizeof line), "ok", json_false(), "output",
                       json_sprintf("error: %s", line), NULL);
}

static pons_value *price(const pons_agent *a, const char *model, const pons_value *usage)
{
    const pons_value *p = pons_get(pons__cfg(a->config, "prices"), model);
    if (!p || !usage) {
        return json_null();
    }
    return json_real(
        (pons_get_num(usage, "prompt_tokens", 0) * pons_get_num(p, "prompt", 0) +
         pons_get_num(usage, "completion_tokens", 0) * pons_get_num(p, "completion", 0)) /
        PER_MILLION);
}

// llm_end: what llm_start said, and what it took.
static pons_value *ended(const pons_agent *a, const pons__flight *f, const pons_value *reply,
                         int64_t ms)
{
    const pons_value *usage = pons_get(reply, "usage");
    const char *model = pons_get_str(reply, "model", f->name);
    const char *reasoning = pons_get_str(reply, "reasoning", NULL);
    pons_value *shown = json_copy(f->shown);
    json_object_set_new(shown, "model", json_string(*f->name ? f->name : model));
    json_object_set_new(shown, "duration_ms", json_integer(ms));
    json_object_set_new(
        shown, "tokens",
        json_is_object(usage)
            ? pons_object("prompt", json_integer(pons_get_int(usage, "prompt_tokens", 0)),
                          "completion", json_integer(pons_get_int(usage, "completion_tokens", 0)),
                          NULL)
            : json_null());
    json_object_set_new(shown, "cost", price(a, *f->name ? f->name : model, usage));
    if (reasoning) {
        json_object_set_new(shown, "reasoning", pons__agent_cut(reasoning, INPUT_SHOWN));
    }
    return shown;
}

static pons_agent_call about(const pons_agent *a, const pons__flight *f)
{
    const pons__tool *t = f->model ? NULL : pons__registry_find(&a->registry, f->name);
    return (pons_agent_call){.model = f->model,
                             .node = f->node,
                             .name = f->name,
                             .id = f->key,
                             .now_ms = pons_now_ms(&a->opts.clock),
                             .tool = t ? t->item : NULL};
}

// The answer, through the middlewares from the innermost out. Takes it.
static void land(pons_agent *a, pons__flight *f, pons_value *answer)
{
    const pons_agent_call call = about(a, f);
    const int64_t ms = (pons_now_ns(&a->opts.clock) - f->started_ns) / PONS_NS_PER_MS;
    for (size_t i = a->n_mw; i-- > 0;) {
        const pons_agent_middleware *m = &a->mw[i].m;
        if (m->after) {
            m->after(m->user, &call, &answer);
        }
    }
    if (f->model) {
        pons_value *shown = ended(a, f, pons_get(answer, "reply"), ms);
        pons_value *next = pons__agent_put_in(answer, "shown", shown);
        pons_value_unref(answer);
        answer = next;
    } else {
        pons_value *next = pons__agent_put_in(answer, "duration_ms", json_integer(ms));
        json_object_set_new(next, "started", json_boolean(f->call != 0));
        json_object_del(next, "error");
        pons_value_unref(answer);
        answer = next;
    }
    f->call = 0; // nothing more of it is wanted
    f->provider = NULL;
    f->finished = true;
    pons_value_unref(f->answer);
    f->answer = answer;
}

static int deliver(pons_agent *a, pons__flight *f, pons_error *err)
{
    char id[PONS__CALL_ID_MAX];
    memcpy(id, f->await, sizeof id);
    pons_value *answer = f->answer;
    f->answer = NULL;
    pons__flight **at = &a->flights;
    while (*at != f) {
        at = &(*at)->next;
    }
    *at = f->next;
    flight_free(f);
    const int rc = pons_run_answer(a->run, id, answer, err);
    return rc == PONS_ENOTPENDING ? PONS_OK : rc;
}

// ---- starting -----------------------------------------------------------------------------------

static int launch_model(pons_agent *a, pons__flight *f, pons_error *err)
{
    show(a, "llm_start", pons_value_ref(f->shown));
    if (!a->llm.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__AGENT, "no model is configured");
    }
    return a->llm.ops->start(a->llm.self, f->call, f->request, err);
}

static int launch_tool(pons_agent *a, pons__flight *f, pons_error *err)
{
    const pons__tool *t = pons__registry_find(&a->registry, f->name);
    if (!t || !t->provider) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__AGENT, "there is no tool %s any more",
                              f->name);
    }
    if (!f->adopted) {
        show(a, "tool_start",
             pons_object("tool", json_string(f->name), "input", pons_value_ref(f->request),
                         "motivation", pons_value_ref(pons_get(f->shown, "motivation")), NULL));
    }
    f->provider = t->provider;
    return t->provider->ops->start(t->provider->self, f->call, f->name, f->request, f->key, err);
}

// Through the middlewares and off. Whatever goes wrong is the call's answer.
static int launch(pons_agent *a, pons__flight *f)
{
    const pons_agent_call call = about(a, f);
    pons_error err = PONS_ERROR_INIT;
    int64_t wait_ms = 0;
    int rc = PONS_OK;
    pons_value *was = pons_value_ref(f->request);
    f->waiting = false;
    for (size_t i = 0; i < a->n_mw && rc >= 0 && wait_ms == 0; i++) {
        const pons_agent_middleware *m = &a->mw[i].m;
        rc = m->before ? m->before(m->user, &call, &f->request, &wait_ms, &err) : PONS_OK;
    }
    if (rc >= 0 && wait_ms > 0) { // all are asked again then, about the request as it was
        pons_value_unref(f->request);
        f->request = was;
        f->waiting = true;
        wait_ms = wait_ms < MINIMUM_WAIT ? MINIMUM_WAIT : wait_ms;
        f->due_ns = pons_now_ns(&a->opts.clock) + wait_ms * PONS_NS_PER_MS;
        return PONS_OK;
    }
    pons_value_unref(was);
    f->started_ns = pons_now_ns(&a->opts.clock);
    f->call = pons__next_call();
    rc = rc < 0 ? rc : f->model ? launch_model(a, f, &err) : launch_tool(a, f, &err);
    if (rc < 0) {
        land(a, f, error_answer(&err));
    }
    return rc;
}

// An effect's row: an await does not repeat what is in it. New reference, or NULL.
static pons_value *effect_row(pons_agent *a, const char *id)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue list = NULL;
    if (pons_effects_read(a->opts.store, a->thread_id,
                          1U << PONS_EFFECT_DISPATCHED | 1U << PONS_EFFECT_ACCEPTED, &list,
                          &ignored) < 0) {
        return NULL;
    }
    return pons_value_ref(pons_find(list, "id", id));
}

// A key that an earlier life of this process may have started. Its provider is asked by name: it
// may not have said again yet which tools it has.
static void recover(pons_agent *a, pons__flight *f)
{
    pons_autovalue row = effect_row(a, f->key);
    const char *name = pons_get_str(pons_get(row, "tag"), "provider", "");
    pons_error err = PONS_ERROR_INIT;
    int rc = PONS_EUNSUPPORTED;
    f->request = pons_value_ref(pons_get(row, "args"));
    for (size_t i = 0; i < a->opts.n_tools && rc == PONS_EUNSUPPORTED; i++) {
        const pons_tools *p = &a->providers[i];
        if (strcmp(p->ops->name, name) != 0 || !p->ops->adopt) {
            continue;
        }
        f->provider = p;
        f->started_ns = pons_now_ns(&a->opts.clock);
        f->call = pons__next_call();
        rc = p->ops->adopt(p->self, f->call, f->name, f->key, &err);
    }
    if (rc >= 0) {
        return;
    }
    if (rc == PONS_ENOTFOUND && f->request) { // certainly not started
        launch(a, f);
        return;
    }
    land(a, f,
         pons_object("ok", json_false(), "unknown", json_true(), "output",
                     json_string("The program was ended while this call was under way. Whether it "
                                 "did something is not known: look before you try again."),
                     NULL));
}

// ---- awaits -------------------------------------------------------------------------------------

void pons__host_model_start(void *user, pons_run *run, const char *id, const pons_value *request,
                            bool restarted)
{
    pons_agent *a = user;
    pons__flight *f = flight_create(a);
    const char *call_id = pons_get_str(request, "call_id", "");
    f->model = true;
    snprintf(f->await, sizeof f->await, "%s", id);
    snprintf(f->key, sizeof f->key, "%s", call_id);
    snprintf(f->node, sizeof f->node, "%s", pons_get_str(request, "node", ""));
    f->request = pons__model_request(a, run, request);
    snprintf(f->name, sizeof f->name, "%s",
             pons_get_str(f->request, "model", a->opts.model ? a->opts.model : ""));
    const pons_value *list = pons_get(f->request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    static const struct {
        const char *node, *why;
    } motives[] = {{"agent", "answer the user"},
                   {"executor", "carry out a step of the plan"},
                   {"replanner", "see whether the plan still holds"},
                   {"compact", "sum up what was said before"}};
    const char *why = "";
    for (size_t i = 0; i < sizeof motives / sizeof *motives; i++) {
        why = strcmp(motives[i].node, f->node) == 0 ? motives[i].why : why;
    }
    f->shown = pons_object("call_id", json_string(call_id), "node", json_string(f->node), "model",
                           json_string(f->name), "input",
                           pons__agent_cut(pons_get_str(last, "content", ""), INPUT_SHOWN),
                           "motivation", json_string(why), NULL);
    launch(a, f);
}

void pons__host_tool_start(void *user, pons_run *run, const char *id, const pons_value *request,
                           bool restarted)
{
    pons_agent *a = user;
    const char *effect = pons_get_str(request, "effect", NULL);
    pons_error ignored = PONS_ERROR_INIT;
    pons__flight *f = NULL;
    for (f = a->flights; f && effect; f = f->next) {
        if (!f->model && strcmp(f->key, effect) == 0) {
            snprintf(f->await, sizeof f->await, "%s", id);
            if (f->finished) {
                deliver(a, f, &ignored);
            }
            return;
        }
    }
    f = flight_create(a);
    f->effect = effect != NULL;
    f->adopted = restarted || f->effect; // it has begun in an earlier life: said so then
    snprintf(f->await, sizeof f->await, "%s", id);
    snprintf(f->key, sizeof f->key, "%s", effect ? effect : id);
    snprintf(f->node, sizeof f->node, "%s", pons_get_str(request, "node", ""));
    snprintf(f->name, sizeof f->name, "%s", pons_get_str(request, "tool", ""));
    f->request = pons_value_ref(pons_get(request, "arguments"));
    f->shown =
        pons_object("motivation", json_string(pons_get_str(request, "motivation", "")), NULL);
    if (effect) {
        recover(a, f);
    } else {
        launch(a, f);
    }
}

int pons__host_send(void *user, const pons_effect *e, pons_error *err)
{
    pons_agent *a = user;
    pons__flight *f = flight_create(a);
    f->effect = true;
    snprintf(f->key, sizeof f->key, "%s", e->id);
    snprintf(f->node, sizeof f->node, "%s", pons_get_str(e->tag, "node", ""));
    snprintf(f->name, sizeof f->name, "%s", json_string_value(e->skill));
    f->request = pons_value_ref(e->args);
    f->shown = pons_object("motivation", json_string(pons_get_str(e->tag, "motivation", "")), NULL);
    launch(a, f);
    return PONS_OK; // a call that could not start has a failure as its answer
}

void pons__host_cancel(void *user, pons_run *run, const char *id)
{
    pons_agent *a = user;
    for (pons__flight *f = a->flights; f; f = f->next) {
        if (strcmp(f->await, id) == 0) {
            flight_forget(a, f);
            return;
        }
    }
}

void pons__host_drop(pons_agent *a)
{
    while (a->flights) {
        flight_forget(a, a->flights);
    }
}

// ---- events of providers ------------------------------------------------------------------------

static pons__flight *find_call(pons_agent *a, const pons_tools *provider, uint64_t call)
{
    for (pons__flight *f = a->flights; f; f = f->next) {
        if (f->call == call && f->provider == provider && f->model == !provider) {
            return f;
        }
    }
    return NULL;
}

static void on_model(pons_agent *a, pons__flight *f, pons_llm_event *ev)
{
    if (ev->kind == PONS_LLM_TOKEN) {
        if (strcmp(f->node, "agent") == 0) { // what the executor says is summed up, not shown
            if (f->said.len < SAID_MAX) {
                pons_buf_str(&f->said, ev->text);
            }
            char *text = pons__agent_shown(a, ev->text);
            pons_thread_emit_live(a->thread, PONS_AGENT_NS, "token",
                                  pons_object("content", json_string(text ? text : ""), NULL));
            free(text);
        }
        return;
    }
    if (ev->kind == PONS_LLM_REASONING) {
        return; // it comes whole, with the reply
    }
    if (ev->kind == PONS_LLM_ERROR) {
        land(a, f, error_answer(&ev->error));
        return;
    }
    pons__model_measure(a, f->request, ev->value);
    land(a, f, pons_object("reply", pons_value_ref(ev->value), NULL));
}

static void on_tool(pons_agent *a, pons__flight *f, pons_tool_event *ev)
{
    if (ev->kind == PONS_TOOL_PROGRESS) {
        char *text = pons__agent_shown(a, ev->text ? ev->text : "");
        pons_thread_emit_live(a->thread, PONS_AGENT_NS, "tool_progress",
                              pons_object("tool", json_string(f->name), "content",
                                          json_string(text ? text : ""), NULL));
        free(text);
        return;
    }
    if (ev->kind == PONS_TOOL_FAILED) {
        const int why = ev->error.status;
        if (f->effect && f->adopted && why == PONS_ENOTFOUND) { // never begun, as it turned out
            f->call = 0;
            launch(a, f);
            return;
        }
        pons_value *answer = error_answer(&ev->error);
        if (f->effect && why == PONS_ECLOSED) {
            pons_value_unref(answer);
            answer = pons_object("ok", json_false(), "unknown", json_true(), "output",
                                 json_sprintf("error: %s. Whether the call did something is not "
                                              "known: look before you try again.",
                                              ev->error.message),
                                 NULL);
        }
        if (why == PONS_EREFUSED) {
            json_object_set_new(answer, "refused", json_true());
        } else if (why == PONS_ECANCELED) {
            json_object_set_new(answer, "canceled", json_true());
        }
        land(a, f, answer);
        return;
    }
    const size_t most = (size_t)pons__cfg_int(a->config, "settings.tool_output_max");
    const char *output = pons_get_str(ev->value, "output", "");
    land(a, f,
         pons_object("ok", json_true(), "output", pons__agent_ends(output, most), "cached",
                     json_boolean(pons_get_bool(ev->value, "cached", false)), "pictures",
                     pons_value_ref(pons_get(ev->value, "pictures")), NULL));
}

int pons__host_poll(pons_agent *a, pons_error *err)
{
    int did = 0;
    pons_llm_event lev = {0};
    while (a->llm.ops && a->llm.ops->next(a->llm.self, &lev)) {
        pons__flight *f = find_call(a, NULL, lev.call);
        if (a->window_call && lev.call == a->window_call && lev.kind != PONS_LLM_TOKEN) {
            pons__model_window(a, &lev);
        } else if (f) {
            on_model(a, f, &lev);
        }
        pons_llm_event_clear(&lev);
        did = 1;
    }
    for (size_t i = 0; i < a->opts.n_tools; i++) {
        pons_tool_event tev = {0};
        while (a->providers[i].ops->next(a->providers[i].self, &tev)) {
            pons__flight *f = find_call(a, &a->providers[i], tev.call);
            if (f) {
                on_tool(a, f, &tev);
            }
            pons_tool_event_clear(&tev);
            did = 1;
        }
    }
    const int64_t now = pons_now_ns(&a->opts.clock);
    for (pons__flight *f = a->flights, *next; f; f = next) {
        next = f->next;
        if (f->waiting && f->due_ns <= now) {
            launch(a, f);
            did = 1;
        }
    }
    for (pons__flight *f = a->flights, *next; f; f = next) {
        next = f->next;
        if (f->finished && f->await[0]) {
            const int rc = deliver(a, f, err);
            if (rc < 0) {
                return rc;
            }
            did = 1;
        }
    }
    return did;
}

int64_t pons__host_next_due_ns(const pons_agent *a)
{
    int64_t due = INT64_MAX;
    const int64_t look_again = pons_now_ns(&a->opts.clock) + LOOK_EVERY_MS * PONS_NS_PER_MS;
    for (const pons__flight *f = a->flights; f; f = f->next) {
        // A provider without a descriptor can only be looked at again.
        const int fd = !f->call      ? 0
                       : f->model    ? a->llm.ops->event_fd(a->llm.self)
                       : f->provider ? f->provider->ops->event_fd(f->provider->self)
                                     : 0;
        due = fd < 0 && look_again < due ? look_again : due;
        due = f->waiting && f->due_ns < due ? f->due_ns : due;
        due = f->finished && f->await[0] ? 0 : due;
    }
    return due;
}
