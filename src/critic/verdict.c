// verdict.c - what the critic found: rules that are violated, yeses that are needed, rules that
// were not judged. It only grows: there is no function that takes a rule away.
#include "critic/judgement.h"
#include "pons/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES_MAX = 64 };

pons_verdict *pons_verdict_create(void)
{
    pons_verdict *v = calloc(1, sizeof *v);
    if (!v) {
        return NULL;
    }
    v->rules = json_array();
    v->approvals = json_array();
    v->unjudged = json_array();
    if (!v->rules || !v->approvals || !v->unjudged) {
        pons_verdict_destroy(v);
        return NULL;
    }
    return v;
}

void pons_verdict_destroy(pons_verdict *v)
{
    if (!v) {
        return;
    }
    pons_value_unref(v->rules);
    pons_value_unref(v->approvals);
    pons_value_unref(v->unjudged);
    free(v);
}

bool pons_verdict_ok(const pons_verdict *v)
{
    return json_array_size(v->rules) == 0 && !v->failed;
}

const pons_value *pons_verdict_rules(const pons_verdict *v)
{
    return v->rules;
}

const pons_value *pons_verdict_approvals(const pons_verdict *v)
{
    return v->approvals;
}

const pons_value *pons_verdict_unjudged(const pons_verdict *v)
{
    return v->unjudged;
}

// ---- adding -------------------------------------------------------------------------------------

pons_value *pons__verdict_note(pons_verdict *v, pons_value *list, const char *rule,
                               const char *skill, int64_t step_id, const char *fmt, ...)
{
    pons_autobuf message = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    pons_buf_vprintf(&message, fmt, ap);
    va_end(ap);
    pons_value *note = pons_object_whole("rule", pons_string(rule), "skill",
                                         skill ? pons_string(skill) : PONS_ABSENT, "message",
                                         pons_string(message.data ? message.data : ""), "step_id",
                                         step_id >= 0 ? json_integer(step_id) : PONS_ABSENT, NULL);
    if (message.failed) { // half a message is none
        pons_value_unref(note);
        note = NULL;
    }
    if (!note || json_array_append_new(list, note) < 0) {
        v->failed = true;
        return NULL;
    }
    return note;
}

void pons__verdict_unjudged(pons_verdict *v, const char *rule)
{
    if (!pons_list_has(v->unjudged, rule) &&
        json_array_append_new(v->unjudged, json_string(rule)) < 0) {
        v->failed = true;
    }
}

int pons_verdict_refuse(pons_verdict *v, const char *by, const char *rule, const char *message)
{
    char word[WORD_BYTES_MAX];
    snprintf(word, sizeof word, "%s", rule && *rule ? rule : "refused");
    pons_value *note = pons__verdict_note(v, v->rules, word, NULL, -1, "%s",
                                          message && *message ? message : "refused");
    if (!note || json_object_set_new(note, "by", pons_string(by ? by : "")) < 0) {
        v->failed = true;
        return PONS_ENOMEM;
    }
    return PONS_OK;
}

int pons_verdict_refuse_value(pons_verdict *v, const char *by, const pons_value *refusals)
{
    const pons_value *list = json_is_object(refusals) ? pons_get(refusals, "refusals") : refusals;
    int added = 0;
    if (json_is_string(list)) {
        const int rc = pons_verdict_refuse(v, by, NULL, json_string_value(list));
        return rc < 0 ? rc : 1;
    }
    pons_each(one, list) {
        const char *message =
            json_is_string(one) ? json_string_value(one) : pons_get_str(one, "message", NULL);
        const int rc = pons_verdict_refuse(v, by, pons_get_str(one, "rule", NULL), message);
        if (rc < 0) {
            return rc;
        }
        added++;
    }
    return added;
}

int pons_verdict_add(pons_verdict *v, const pons_verdict *other)
{
    v->failed = v->failed || other->failed;
    pons_each(one, other->unjudged) {
        pons__verdict_unjudged(v, json_string_value(one));
    }
    if (json_array_extend(v->rules, other->rules) < 0 ||
        json_array_extend(v->approvals, other->approvals) < 0) {
        v->failed = true;
    }
    return v->failed ? PONS_ENOMEM : PONS_OK;
}

// ---- telling ------------------------------------------------------------------------------------

pons_value *pons_verdict_to_value(const pons_verdict *v)
{
    // Copies: a value that was given away does not change when the verdict does.
    if (v->failed) { // what it would say is not all
        return NULL;
    }
    return pons_object_whole("ok", json_boolean(pons_verdict_ok(v)), "rules", json_copy(v->rules),
                             "approvals", json_copy(v->approvals), "unjudged",
                             json_copy(v->unjudged), NULL);
}

long pons_verdict_line(const pons_verdict *v, char **ret)
{
    pons_autobuf b = PONS_BUF_INIT;
    size_t len = 0;
    json_int_t step = -1;
    if (pons_verdict_ok(v)) {
        pons_buf_str(&b, "ok");
    }
    pons_each(rule, v->rules) {
        const json_int_t at = pons_get_int(rule, "step_id", -1);
        pons_buf_str(&b, rule_at ? "; " : "");
        if (at >= 0 && at != step) {
            pons_buf_printf(&b, "step %lld %s: ", (long long)at, pons_get_str(rule, "skill", ""));
        }
        step = at;
        const char *by = pons_get_str(rule, "by", NULL);
        pons_buf_printf(&b, "%s%s%s: %s", by ? by : "", by ? " " : "",
                        pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
    }
    char *line = v->failed ? NULL : pons_buf_take(&b, &len);
    if (!line) {
        return PONS_ENOMEM;
    }
    *ret = line;
    return (long)len;
}

int pons_verdict_error(const pons_verdict *v, pons_error *err)
{
    char *line = NULL;
    if (pons_verdict_ok(v)) {
        return PONS_OK;
    }
    if (pons_verdict_line(v, &line) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    const int rc = pons_error_set(err, PONS_EREFUSED, "critic", "%s", line);
    free(line);
    return rc;
}

// ---- what a judgement finds ---------------------------------------------------------------------

void pons__violated(judgement *j, const char *rule, double found, double limit, const char *unit,
                    const char *fmt, ...)
{
    pons_autobuf message = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    pons_buf_vprintf(&message, fmt, ap);
    va_end(ap);
    if (message.failed) {
        j->verdict->failed = true;
        return;
    }
    pons_value *note = pons__verdict_note(j->verdict, j->verdict->rules, rule, j->action,
                                          j->step_id, "%s", message.data ? message.data : "");
    bool lost = false;
    if (note && isfinite(found)) {
        lost |= json_object_set_new(note, "found", json_real(found)) < 0;
    }
    if (note && isfinite(limit)) {
        lost |= json_object_set_new(note, "limit", json_real(limit)) < 0;
    }
    if (note && unit) {
        lost |= json_object_set_new(note, "unit", json_string(unit)) < 0;
    }
    j->verdict->failed = j->verdict->failed || lost;
}

void pons__unjudged(judgement *j, const char *rule)
{
    pons__verdict_unjudged(j->verdict, rule);
}
