// queries.c - looks at what is stored or was told: small functions of their arguments, for all files. A
// published value is never changed: what makes one here makes a new one.
#include "brain/state/self.h"
#include "pons/plan.h"

#include <string.h>

#define AGREEMENT_MIN 0.85 // of what a scan shows with the map (docs/reference/navigation.md)

pons_value *pons__with(const pons_value *old, const char *key, pons_value *value)
{
    pons_value *fresh = old ? json_copy((json_t *)old) : json_object();
    json_object_set_new(fresh, key, value ? value : json_null());
    return fresh;
}

void pons__set(pons_value **obj, const char *key, pons_value *value)
{
    pons_value *next = pons__with(*obj, key, value);
    pons_value_unref(*obj);
    *obj = next;
}

pons_value *pons__event(pons_brain *b, pons_value *payload)
{
    json_object_set_new(payload, "robot_ms", json_integer(pons__port_robot_ms(&b->port)));
    return payload;
}

void pons__event_emit(pons_brain *b, pons_cx *cx, const pons__record *type, const void *event)
{
    pons_cx_emit(cx, type->name, pons__event(b, pons__record_write(type, event)));
}

int pons__event_now(pons_brain *b, const char *ns, const pons__record *type, const void *event,
                    pons_error *err)
{
    return pons_thread_emit(b->thread, ns, type->name,
                            pons__event(b, pons__record_write(type, event)), err);
}

pons_value *pons__or_null(const pons_value *v)
{
    return v ? pons_value_ref(v) : json_null();
}

const pons_value *pons__find(const pons_value *list, const char *key, const char *value)
{
    pons_each(item, list) {
        const char *got = pons_get_str(item, key, NULL);
        if (got && strcmp(got, value) == 0) {
            return item;
        }
    }
    return NULL;
}

bool pons__has(const pons_value *list, const char *text)
{
    pons_each(item, list) {
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0) {
            return true;
        }
    }
    return false;
}

// ---- the body -----------------------------------------------------------------------------------

int64_t pons__port_epoch(const pons__port *p)
{
    return p->hello ? p->greeting.as.hello.epoch : 0;
}

const char *pons__port_boot(const pons__port *p)
{
    return p->hello ? p->greeting.as.hello.boot_id : "";
}

int64_t pons__port_robot_ms(const pons__port *p)
{
    return p->newest.as.telemetry.robot_ms; // 0 before the first
}

// A body that does not tell is believed. One scan that contradicts is not yet a doubt to the body, but
// enough to wait with a success until the next ones.
bool pons__place_sure(const pons_brain *b)
{
    const pons_report_telemetry *t = &b->port.newest.as.telemetry;
    const char *state = t->localization.state;
    return (!state || !*state || strcmp(state, "sure") == 0) &&
           !(t->localization.agreement < AGREEMENT_MIN); // NaN: it cannot tell
}

const pons_value *pons__place_now(const pons_brain *b)
{
    return b->seen && pons__place_sure(b) ? b->seen->pose : NULL;
}

// The body's, and the config's: of what both count there is the smaller amount.
pons_value *pons__resources(const pons_brain *b)
{
    const pons_value *reported = b->port.greeting.as.hello.resources;
    pons_value *all = reported ? json_copy((json_t *)reported) : json_object();
    pons_each_member(name, amount, b->rules.resources) {
        const pons_value *there = pons_get(all, name);
        if (!there || json_integer_value(amount) < json_integer_value(there)) {
            json_object_set(all, name, amount);
        }
    }
    return all;
}

bool pons__latch_lifts_itself(const pons_brain *b)
{
    return b->rules.auto_reset_sim && b->port.greeting.as.hello.simulated && b->port.telemetry &&
           strcmp(b->port.newest.as.telemetry.stop.origin, "boot") == 0;
}

// ---- the brain's own ----------------------------------------------------------------------------

bool pons__stands(const pons__tasks *tasks)
{
    return tasks->stopped || tasks->paused;
}

int pons__task_plan_status(const pons__task_plan *state)
{
    return state && state->plan ? pons_plan_status_find(pons_get_str(state->plan, "status", ""))
                                : -1;
}

bool pons__task_plan_drives(const pons__task_plan *state)
{
    if (!state || !state->plan || strcmp(state->kind, "goals") == 0) {
        return false;
    }
    const int status = pons__task_plan_status(state);
    return strcmp(state->kind, "given") == 0 ||
           (status >= 0 && !pons_machine_final(&pons_plan_machine, status));
}

const pons__react *pons__inner_of(pons_brain *b)
{
    const pons_value *now = b->react_run ? pons_run_get(b->react_run, "react") : NULL;
    if (now != b->inner_of || !b->inner) {
        pons__record_free(&pons__react_record, b->inner);
        pons_value_unref(b->inner_of);
        b->inner = pons__record_read(&pons__react_record, now);
        b->inner_of = pons_value_ref(now);
    }
    return now ? b->inner : NULL;
}

const pons_value *pons__inner_channel(pons_brain *b, const char *name)
{
    pons_error none = PONS_ERROR_INIT;
    if (b->react_run) {
        return pons_run_get(b->react_run, name);
    }
    if (!b->rested) { // nothing but its own run changes it: it is read once
        pons_state_read(b->opts.store, b->opts.thread, PONS_NS_REACT, &b->rested, &none);
    }
    return pons_get(b->rested, name);
}

const pons__answer *pons__answer_veto(pons_brain *b)
{
    const pons__react *react = b->react_run ? pons__inner_of(b) : NULL;
    for (size_t i = react ? b->hci->answers.n : 0; i-- > 0;) {
        const pons__answer *answer = b->hci->answers.at[i];
        if (pons__answered_is(react, answer->question)) {
            const bool newest = pons__answer_find(b->hci, answer->question) == answer;
            if (newest && strcmp(answer->action, "reject") == 0) {
                return answer;
            }
        }
    }
    return NULL;
}
