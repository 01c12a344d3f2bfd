// retry_timeout.c - what a node's options ask for when it fails or is slow.
//
//   failed --+--> of a policy whose predicate agrees, attempts left --> parked for the wait --> again
//            |
//            +--> a handler is named --> done: no writes, one Send to the handler, no edges
//            |
//            +--> failed
//
// A wait and a time-out are times that pons_run_deadlines looks at; nothing sleeps and no thread is
// started. The attempt and when the next one is due are in the task's header record, so a crash in
// the middle of a wait goes on waiting. Time-outs begin again after a crash.
#include "graph/task/retry_timeout.h"

#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/task/blocking_node.h"

// ---- failures -----------------------------------------------------------------------------------

// The first policy that takes the error counts, also when its attempts are used up.
static const pons_retry *another_attempt(const pons_cx *cx, const pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    bool any = false; // else nobody is asked
    for (size_t i = 0; i < p->n_retries; i++) {
        any = any || cx->attempt + 1 < p->retries[i].attempts;
    }
    if (!any || err->status == PONS_ENONDETERMINISM) {
        return NULL;
    }
    for (size_t i = 0; i < p->n_retries; i++) {
        const pons_retry *r = &p->retries[i];
        if (r->retry_on ? r->retry_on(r->user, err) : pons_retry_transient(NULL, err)) {
            return cx->attempt + 1 < r->attempts ? r : NULL;
        }
    }
    return NULL;
}

static int64_t wait_ms(pons_cx *cx, const pons_retry *r)
{
    double ms = (double)r->initial_ms;
    double most = r->max_ms > 0 ? (double)r->max_ms : (double)INT32_MAX;
    for (int i = 1; i < cx->attempt && ms < most; i++) {
        ms *= r->factor > 1 ? r->factor : 1;
    }
    ms = ms < most ? ms : most;
    const double unit = 1.0 / 9007199254740992.0; // 2^-53: a uniform number below 1
    const int drop_bits = 11;
    if (r->jitter > 0) {
        ms *= 1 + r->jitter * (double)(pons_rand_u64(&cx->run->t->rand) >> drop_bits) * unit;
    }
    return (int64_t)ms;
}

static bool to_handler(pons_cx *cx, uint32_t handler, const pons_error *err)
{
    pons_value *arg =
        pons_object_whole("node", json_string(cx->node->name), "status", json_integer(err->status),
                          "word", json_string(pons_status_word(err->status)), "message",
                          json_string(err->message), "source", json_string(err->source), NULL);
    if (!arg || pons__cx_route(cx, handler, arg) != PONS_OK) {
        return false;
    }
    cx->bare = true;
    cx->fault = PONS_OK;
    cx->state = PONS__TASK_DONE;
    return true;
}

bool pons__policy_failed(pons_cx *cx, const pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    if (pons__run_cancel_how(cx->run) != PONS_CANCEL_NONE) {
        return false;
    }
    const pons_retry *again = another_attempt(cx, err);
    if (!again && p->handler == PONS__NONE) {
        return false;
    }
    pons__task_cancel(cx);
    pons_run_destroy(cx->child);
    cx->child = NULL;
    pons__task_drop(cx);
    if (!again) {
        return to_handler(cx, p->handler, err);
    }
    cx->attempt++;
    pons__task_trim(cx);
    cx->started_ns = cx->moved_ns = cx->limit_ns = 0;
    int64_t ms = wait_ms(cx, again);
    if (ms <= 0) {
        cx->state = PONS__TASK_TODO;
        return true;
    }
    cx->wake_ns = pons_later_ns(pons_now_ns(&cx->run->t->clock), ms);
    cx->wake_wall_ms = pons_later_ms(pons_wall_ms(&cx->run->t->clock), ms);
    cx->wake_span_ms = ms;
    cx->state = PONS__TASK_PARKED;
    return true;
}

bool pons_retry_transient(void *user, const pons_error *err)
{
    return err->status == PONS_EIO || err->status == PONS_EBUSY || err->status == PONS_EAGAIN ||
           err->status == PONS_ETIMEOUT || err->status == PONS_ECLOSED;
}

bool pons_retry_any(void *user, const pons_error *err)
{
    return true;
}

// ---- time-outs ----------------------------------------------------------------------------------

void pons__policy_park(pons_cx *cx)
{
    const pons__policy *p = cx->node->policy;
    cx->limit_ns = 0;
    if (p->run_timeout_ms <= 0 && p->idle_timeout_ms <= 0) {
        return;
    }
    if (pons__task_waits_for_people(cx)) {
        cx->started_ns = cx->moved_ns = 0;
        return;
    }
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    cx->started_ns = cx->started_ns ? cx->started_ns : now_ns;
    cx->moved_ns = cx->moved_ns ? cx->moved_ns : now_ns;
    cx->limit_ns = pons__policy_limit(cx);
}

int64_t pons__policy_limit(pons_cx *cx)
{
    const pons__policy *p = cx->node->policy;
    int64_t moved = pons__work_moved_ns(cx);
    cx->moved_ns = moved > cx->moved_ns ? moved : cx->moved_ns;
    int64_t run = INT64_MAX, idle = INT64_MAX;
    if (p->run_timeout_ms > 0) {
        run = pons_later_ns(cx->started_ns, p->run_timeout_ms);
    }
    if (p->idle_timeout_ms > 0) {
        idle = pons_later_ns(cx->moved_ns, p->idle_timeout_ms);
    }
    return run < idle ? run : idle;
}

void pons__policy_expire(pons_cx *cx)
{
    cx->expired = true;
    cx->limit_ns = 0;
    pons__task_cancel(cx);
}

int pons__policy_timed_out(pons_cx *cx, pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    bool whole =
        p->run_timeout_ms > 0 && now_ns >= pons_later_ns(cx->started_ns, p->run_timeout_ms);
    cx->expired = false;
    return pons_error_set(
        err, PONS_ETIMEOUT, PONS__MODULE,
        whole ? "node '%s' took longer than %lld ms" : "node '%s' made no progress for %lld ms",
        cx->node->name, (long long)(whole ? p->run_timeout_ms : p->idle_timeout_ms));
}
