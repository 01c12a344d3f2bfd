// session_dependencies.c - a session that depends on others begins when all of them have succeeded, and never when one has not.
//
//     depends_on       in the lanes         else in the file       then
//     each             succeeded            succeeded              it begins
//     one              runs, waits          pending, running       it waits, and is in no lane
//     one              failed, cancelled    failed, cancelled      DEPENDENCY_FAILED
//     one              -                    -, or no text          DEPENDENCY_UNKNOWN
//     one              -                    waits for this one     DEPENDENCY_CYCLE
#include "workspace/runtime/runtime_common.h"

#include <string.h>

#define DEPTH_MAX 1000 // of sessions that wait for each other

static int take_state(void *user, const pons_session_row *row)
{
    *(int32_t *)user = row->state;
    return 0;
}

static const pons_value *record_of(const pons_runtime *r, const char *id)
{
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    const pons_ws_record *rec = d ? pons_ws_find(d, "session", id) : NULL;
    return rec ? rec->value : NULL;
}

// As paos2 may write it: session://id.
static const char *id_of(const char *ref)
{
    const char *scheme = strstr(ref, "://");
    return scheme ? scheme + strlen("://") : ref;
}

// A record that cannot be read may be this one.
static bool is_faulty(const pons_runtime *r, const char *id)
{
    size_t n = 0;
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    const pons_ws_fault *all = d ? pons_ws_faults(d, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].id[0] || strcmp(all[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

enum { VISITING, FREE, CIRCLE };

// Whether a session that is pending in the file is one of a circle, or waits for one. What was found is kept, so that a
// file of chains is walked once.
static bool in_circle(pons_runtime *r, const char *id, int depth)
{
    const pons_value *record = record_of(r, id);
    const int64_t known = pons_get_int(r->circles, id, -1);
    if (known >= 0 || depth > DEPTH_MAX || strcmp(pons_get_str(record, "status", ""), "pending")) {
        return known == VISITING || known == CIRCLE || depth > DEPTH_MAX;
    }
    bool circle = false;
    json_object_set_new(r->circles, id, json_integer(VISITING));
    pons_each(v, json_object_get(record, "depends_on")) {
        circle =
            (json_is_string(v) && in_circle(r, id_of(json_string_value(v)), depth + 1)) || circle;
    }
    json_object_set_new(r->circles, id, json_integer(circle ? CIRCLE : FREE));
    return circle;
}

static rt_depends judge(pons_runtime *r, const char *id, const char *on, rt_refusal *why)
{
    int32_t state = -1;
    pons_error err = PONS_ERROR_INIT;
    const int rc = r->o.lanes.ops->get(r->o.lanes.self, on, take_state, &state, &err);
    const pons_value *record = record_of(r, on);
    const char *status = pons_get_str(record, "status", "");
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        return RT_WAITS; // the store is away
    }
    if (state == PONS_SESSION_SUCCEEDED || (state < 0 && strcmp(status, "succeeded") == 0)) {
        return RT_READY;
    }
    const bool lives = state == PONS_SESSION_PENDING || state == PONS_SESSION_WAITING ||
                       state == PONS_SESSION_RUNNING;
    const bool waits = strcmp(status, "pending") == 0 || strcmp(status, "running") == 0;
    if (state < 0 && !record) {
        if (is_faulty(r, on)) {
            return RT_WAITS;
        }
        pons__rt_refuse(why, "DEPENDENCY_UNKNOWN",
                        "depends_on names %.80s, and there is no such session", on);
    } else if (!lives && !(state < 0 && waits)) {
        pons__rt_refuse(why, "DEPENDENCY_FAILED", "%.80s, which it depends on, has not succeeded",
                        on);
    } else if (in_circle(r, id, 0)) {
        pons__rt_refuse(why, "DEPENDENCY_CYCLE", "it waits for %.80s, and that for it", on);
    } else {
        return RT_WAITS;
    }
    return RT_NEVER;
}

rt_depends pons__rt_depends(pons_runtime *r, const char *id, const pons_value *session,
                            rt_refusal *why)
{
    rt_depends all = RT_READY;
    r->circles = r->circles ? r->circles : json_object();
    pons_each(v, json_object_get(session, "depends_on")) {
        const char *on = json_string_value(v);
        if (!on) {
            pons__rt_refuse(why, "DEPENDENCY_UNKNOWN", "depends_on has what is no session's id");
            return RT_NEVER;
        }
        const rt_depends one = judge(r, id, id_of(on), why);
        if (one == RT_NEVER) {
            return RT_NEVER;
        }
        all = one == RT_WAITS ? RT_WAITS : all;
    }
    return all;
}
