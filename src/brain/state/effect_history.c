// effect_history.c - what the state says of what was done: the newest entries of a namespace, and sums over all of them.
//
//     {log: [{ts_ms, arbitration} | {ts_ms, decision, reason, source} | {ts_ms, dispatched, cancelled} |
//            {ts_ms, skill, status, error_code, took_ms}], metrics}
//
// It is bounded: the events have the whole history, this is what a person reads in the state. Any thread.
#include "brain/state/effect_history.h"

#include "brain/records/record_table.h"
#include "brain/state/self.h"

#include <string.h>

#define TRACE_KEPT 20

// clang-format off
static const pons__field entry_fields[] = {
    {"ts_ms",       INT,  NEVER, offsetof(pons__entry, ts_ms), .means = "wall"},
    {"arbitration", NAME, KEY,   offsetof(pons__entry, arbitration), .means = "K4: from one mode to another, and why"},
    {"decision",    NAME, KEY,   offsetof(pons__entry, decision), .means = "R2: its type"},
    {"reason",      NAME, KEY,   offsetof(pons__entry, reason), .means = "the same: for people"},
    {"source",      NAME, KEY,   offsetof(pons__entry, source), .means = "the same: who decided"},
    {"dispatched",  LIST, KEY,   offsetof(pons__entry, dispatched), .of = &pons__op_record, .means = "R6: what was sent"},
    {"cancelled",   JSON, KEY,   offsetof(pons__entry, cancelled), .means = "the same: goal ids"},
    {"skill",       NAME, KEY,   offsetof(pons__entry, skill), .means = "R7: what has ended"},
    {"status",      NAME, KEY,   offsetof(pons__entry, status), .means = "the same: how"},
    {"error_code",  INT,  KEY,   offsetof(pons__entry, error_code), .means = "the same: Nav2's numbers"},
    {"took_ms",     INT,  KEY,   offsetof(pons__entry, took_ms), .means = "the same: of robot time"},
};
TABLE(entry, "one of `log` in `trace`");

static const pons__field metrics_fields[] = {
    {"arbitrations", INT, KEY, offsetof(pons__metrics, arbitrations), .means = "K4: changes of the mode"},
    {"decisions",    INT, KEY, offsetof(pons__metrics, decisions), .means = "R2"},
    {"replans",      INT, KEY, offsetof(pons__metrics, replans), .means = "R2: REPLAN and RETRY"},
    {"dispatched",   INT, KEY, offsetof(pons__metrics, dispatched), .means = "R6: operations"},
    {"ended",        INT, KEY, offsetof(pons__metrics, ended), .means = "R7: operations"},
    {"failed",       INT, KEY, offsetof(pons__metrics, failed), .means = "R7: of those, not well"},
    {"skill_ms",     INT, KEY, offsetof(pons__metrics, skill_ms), .means = "R7: the robot time of those"},
};
TABLE(metrics, "`metrics` in `trace`: sums since the thread began");

static const pons__field trace_fields[] = {
    {"log",     JSON,   NEVER, offsetof(pons__trace, log), .means = "a list of `entry`, the newest last"},
    {"metrics", RECORD, NEVER, offsetof(pons__trace, metrics), .of = &pons__metrics_record, .means = "sums of all there were"},
};
TABLE(trace, "the channel `trace` of both graphs");
// clang-format on

static void count(pons__metrics *m, const pons__entry *e)
{
    const int type = pons__word_find(pons__decision_words, e->decision, PONS_DECIDE_NONE);
    m->arbitrations += e->arbitration != NULL;
    m->decisions += e->decision != NULL;
    m->replans += type == PONS_REPLAN || type == PONS_RETRY;
    m->dispatched += (int64_t)e->dispatched.n;
    if (e->status) {
        m->ended++;
        m->failed += strcmp(e->status, pons__end_words[PONS_END_DONE]) != 0;
        m->skill_ms += e->took_ms;
    }
}

int pons__trace_reduce(void *user, const pons_value *old, const pons_value *update,
                       pons_value **ret, pons_error *err)
{
    PONS__AUTO(trace) t = pons__record_read(&pons__trace_record, old);
    PONS__AUTO(entry) e = pons__record_read(&pons__entry_record, update);
    const size_t n = json_array_size(t->log);
    pons_value *log = json_array();
    for (size_t i = n >= TRACE_KEPT ? n - TRACE_KEPT + 1 : 0; i < n; i++) {
        json_array_append(log, json_array_get(t->log, i));
    }
    json_array_append(log, (json_t *)update);
    pons__json(&t->log, log);
    t->metrics = t->metrics ? t->metrics : pons__record_new(&pons__metrics_record);
    count(t->metrics, e);
    *ret = pons__record_write(&pons__trace_record, t);
    return PONS_OK;
}

void pons__trace_put(const pons_brain *b, pons_cx *cx, pons__entry entry)
{
    entry.ts_ms = pons__wall_ms(b);
    pons_cx_put(cx, "trace", pons__record_write(&pons__entry_record, &entry));
}
