// thread_ttl.c - threads that go by themselves after a while without news.
//
//     POST /threads, PATCH /threads/T {ttl: minutes, or {ttl, strategy}}
//
// The time counts from the newest of a thread's changes, so a conversation that goes on stays. One that is
// at work, or that somebody else holds, is left for the next sweep.
#include "serve/langgraph/thread_ttl.h"

#include "pons/log.h"
#include "serve/runs/job_store.h"
#include "serve/runs/run_host.h"

#include <string.h>

#define SPACE PONS__OWN ".ttl"

enum { SWEEP_MS = 10000 };

static const double MS_PER_MINUTE = 60000.0;

static double minutes_of(const pons_value *ttl)
{
    return json_number_value(json_is_object(ttl) ? pons_get(ttl, "ttl") : ttl);
}

int pons__ttl_set(pons_serve *s, const char *thread, const pons_value *ttl, pons_error *err)
{
    if (!ttl || json_is_null(ttl)) {
        return PONS_OK;
    }
    pons_autovalue v = pons_object("strategy", json_string(pons_get_str(ttl, "strategy", "delete")),
                                   "ttl_minutes", json_real(minutes_of(ttl)), NULL);
    return pons__own_put(pons__runhost_items(s->host), SPACE, thread, v, err);
}

void pons__ttl_forget(pons_serve *s, const char *thread)
{
    pons_error none = PONS_ERROR_INIT;
    pons_items_delete(pons__runhost_items(s->host), SPACE, thread, &none);
}

pons_value *pons__ttl_get(pons_serve *s, const char *thread)
{
    pons_value *ttl = NULL;
    pons__own_get(pons__runhost_items(s->host), SPACE, thread, &ttl, NULL);
    return ttl;
}

static void look(pons_serve *s, const char *thread, const pons_value *ttl, int64_t now)
{
    pons_autovalue rows = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int found =
        pons_threads_find(s->o.store, &(pons_threads_query){.thread = thread}, &rows, &err);
    if (found == PONS_ENOTFOUND || (found >= 0 && json_array_size(rows) == 0)) {
        pons__ttl_forget(s, thread); // somebody else deleted it
        return;
    }
    const int64_t updated = pons_get_int(json_array_get(rows, 0), "updated_ms", 0);
    const double age = (double)(now - updated) / MS_PER_MINUTE;
    const bool keeps = strcmp(pons_get_str(ttl, "strategy", ""), "keep_latest") == 0;
    if (found < 0 || age < pons_get_num(ttl, "ttl_minutes", 0.0) ||
        pons_get_int(ttl, "pruned_ms", -1) == updated || pons__runhost_busy(s->host, thread)) {
        return;
    }
    const int rc = keeps ? pons_state_prune(s->o.store, thread, 1, 0, NULL, &err)
                         : pons__runhost_thread_delete(s->host, thread, &err);
    if (rc >= 0 && keeps) { // until something new happens there
        pons_autovalue next = json_copy((pons_value *)(uintptr_t)ttl);
        json_object_set_new(next, "pruned_ms", json_integer(updated));
        pons__own_put(pons__runhost_items(s->host), SPACE, thread, next, &err);
    } else if (rc >= 0) {
        pons__ttl_forget(s, thread);
    } else if (rc != PONS_EBUSY) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "thread %s: %s", thread, err.message);
    }
}

void pons__ttl_sweep(pons_serve *s)
{
    pons_autovalue items = NULL;
    pons_error none = PONS_ERROR_INIT;
    const int64_t now = pons_wall_ms(&s->o.clock);
    if (now - s->swept_ms < SWEEP_MS && now >= s->swept_ms) {
        return;
    }
    s->swept_ms = now;
    pons_items_search(pons__runhost_items(s->host),
                      &(pons_items_query){.prefix = SPACE, .limit = -1}, &items, &none);
    pons_each(one, items) {
        look(s, pons_get_str(one, "key", ""), pons_get(one, "value"), now);
    }
}
