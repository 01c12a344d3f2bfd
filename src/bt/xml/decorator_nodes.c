// decorator_nodes.c - BehaviorTree.CPP's decorators, and the leaves that are like them: what waits,
// counts, loops, or looks at whether an entry was written.
#include "bt/xml/halt.h"
#include "bt/xml/nodes.h"
#include "bt/xml/port_values.h"

#include <stdlib.h>
#include <string.h>

// ---- once and again -----------------------------------------------------------------------------

static int x_simple(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const uint8_t type = t->nodes[i].type;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    const int s = t->tick(t, i + 1, err);
    if (!pons__bt_completed(s)) {
        return s == PONS_BT_SKIPPED && type == X_KEEP_RUNNING ? PONS_BT_RUNNING : s;
    }
    const int rc = pons__bt_reset_kids(t, i, err);
    if (rc < 0) {
        return rc;
    }
    const int other = s == PONS_BT_SUCCESS ? PONS_BT_FAILURE : PONS_BT_SUCCESS;
    return type == X_INVERTER        ? other
           : type == X_FORCE_SUCCESS ? PONS_BT_SUCCESS
           : type == X_FORCE_FAILURE ? PONS_BT_FAILURE
           : type == X_KEEP_RUNNING  ? (s == PONS_BT_FAILURE ? s : PONS_BT_RUNNING)
                                     : s;
}

static int x_again(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bool repeat = t->nodes[i].type == X_REPEAT;
    const char *port = repeat ? "num_cycles" : "num_attempts";
    const int again = repeat ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    const int over = repeat ? PONS_BT_FAILURE : PONS_BT_SUCCESS;
    const uint32_t c = i + 1;
    pons__bt_mem *m = &t->mem[i];
    int64_t limit;
    int rc = pons__bt_need_int(t, i, port, -1, &limit, err);
    if (rc < 0) {
        return rc;
    }
    bool loop = limit == -1 || m->count < limit;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    while (loop) {
        const uint8_t was = t->state[c];
        const int s = t->tick(t, c, err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        rc = pons__bt_halt_child(t, c, err);
        if (rc < 0 || s == PONS_BT_SKIPPED) {
            return rc < 0 ? rc : s;
        }
        if (s == over) {
            m->count = 0;
            return s;
        }
        m->count += m->count < INT32_MAX;
        rc = repeat ? PONS_OK : pons__bt_need_int(t, i, port, -1, &limit, err);
        if (rc < 0) {
            return rc;
        }
        loop = limit == -1 || m->count < limit;
        if (was == PONS_BT_READY && loop) {
            t->wake = true;
            return PONS_BT_RUNNING;
        }
    }
    m->count = 0;
    return again;
}

// count: the status that the one run ended with.
static int x_run_once(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    if (m->count != 0) {
        return pons__bt_input_int(t, i, "then_skip", 1) ? PONS_BT_SKIPPED : m->count;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    const int s = t->tick(t, i + 1, err);
    if (!pons__bt_completed(s)) {
        return s;
    }
    const int rc = pons__bt_reset_kids(t, i, err);
    m->count = s;
    return rc < 0 ? rc : s;
}

// ---- time ---------------------------------------------------------------------------------------

// How long this run of the node has taken so far. index: it has begun.
static int64_t run_ms(pons_bt_tree *t, uint32_t i)
{
    pons__bt_mem *m = &t->mem[i];
    if (m->index == 0) {
        m->index = 1;
        m->t_ns = pons__bt_now_ns(t);
        pons__bt_set(t, i, PONS_BT_RUNNING);
    }
    return (pons__bt_now_ns(t) - m->t_ns) / PONS_NS_PER_MS;
}

static int tick_child(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int s = t->tick(t, i + 1, err);
    return pons__bt_completed(s) ? pons__bt_end_with(t, i, s, err) : s;
}

static int x_delay(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    int64_t wait_ms;
    const int rc = pons__bt_need_int(t, i, "delay_msec", 0, &wait_ms, err);
    if (rc < 0) {
        return rc;
    }
    return run_ms(t, i) < wait_ms ? PONS_BT_RUNNING : tick_child(t, i, err);
}

static int x_timeout(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    int64_t limit_ms;
    const int rc = pons__bt_need_int(t, i, "msec", 0, &limit_ms, err);
    if (rc < 0) {
        return rc;
    }
    const bool over = run_ms(t, i) >= limit_ms && limit_ms > 0;
    return over && t->state[i + 1] == PONS_BT_RUNNING
               ? pons__bt_end_with(t, i, PONS_BT_FAILURE, err)
               : tick_child(t, i, err);
}

static int x_sleep(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    int64_t wait_ms;
    const int rc = pons__bt_need_int(t, i, "msec", 0, &wait_ms, err);
    if (rc < 0 || wait_ms <= 0) {
        return rc < 0 ? rc : PONS_BT_SUCCESS;
    }
    if (run_ms(t, i) < wait_ms) {
        return PONS_BT_RUNNING;
    }
    t->mem[i].index = 0;
    return PONS_BT_SUCCESS;
}

// ---- conditions and queues ----------------------------------------------------------------------

static int status_input(pons_bt_tree *t, uint32_t i, const char *port, int fallback)
{
    static const char *const words[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};
    pons__bt_value v;
    if (pons__bt_input(t, i, port, &v) >= 0 && v.kind == PONS__BT_STRING) {
        for (int s = PONS_BT_RUNNING; s <= PONS_BT_SKIPPED; s++) {
            if (strcmp(words[s], v.s) == 0) {
                return s;
            }
        }
    }
    return fallback;
}

// index: the child runs, so the condition is not asked.
static int x_precondition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    if (m->index == 0) {
        const int yes = pons__bt_ask_script(t, i, t->nodes[i].script, err);
        if (yes < 0) {
            return yes;
        }
        m->index = yes;
    }
    if (m->index == 0) {
        return status_input(t, i, "else", PONS_BT_FAILURE);
    }
    return tick_child(t, i, err);
}

// A list is shared: what is taken is gone for everyone.
static int pop_list(pons__bt_slot *slot, const pons_value *list, pons__bt_value *ret,
                    pons_error *err)
{
    if (json_array_size(list) == 0) {
        return 0;
    }
    const int rc = pons__bt_value_of_json(json_array_get(list, 0), ret);
    pons_value *rest = json_array();
    bool ok = rest != NULL;
    for (size_t k = 1; k < json_array_size(list) && ok; k++) {
        ok = json_array_append_new(rest, pons_value_ref(json_array_get(list, k))) == 0;
    }
    if (rc < 0 || !ok) { // nothing is taken
        if (rc >= 0) {
            pons__bt_value_fini(ret);
        }
        pons_value_unref(rest);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a queue");
    }
    pons__bt_value_fini(&slot->v);
    slot->v = (pons__bt_value){.kind = PONS__BT_JSON, .owned = true, .j = rest};
    return 1;
}

// The next element, by value; false when there is none. index: how many were taken from text.
static int pop(pons_bt_tree *t, uint32_t i, pons__bt_value *ret, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    static const char letters[] = {'i', 'b', 'd', 's'};
    const char letter = letters[n->type - X_LOOP_INT];
    pons__bt_value q;
    if (pons__bt_input(t, i, "queue", &q) < 0) {
        return 0;
    }
    if (q.kind == PONS__BT_JSON && json_is_array(q.j)) {
        return pop_list(&t->slots[pons__bt_port_of(n, "queue")->slot], q.j, ret, err);
    }
    char number[40];
    const char *at = q.kind == PONS__BT_JSON ? "" : pons__bt_value_text(&q, number, sizeof number);
    for (int32_t skip = t->mem[i].index; skip > 0 && at; skip--) {
        at = strchr(at, ';');
        at += at != NULL;
    }
    if (!at || !*at) {
        return 0;
    }
    const char *end = strchr(at, ';');
    char *item = strndup(at, end ? (size_t)(end - at) : strlen(at));
    pons__bt_value v;
    int rc = !item                              ? PONS_ENOMEM
             : pons__bt_parse(item, letter, &v) ? pons__bt_value_dup(ret, &v)
                                                : PONS_EINVAL;
    if (rc < 0) {
        t->failed = i;
        rc = pons_error_set(err, rc, "bt", "the queue's element '%.60s' does not convert to %s",
                            item ? item : "", pons__bt_kind_word(pons__bt_type_kind(letter)));
    }
    free(item);
    t->mem[i].index++;
    return rc < 0 ? rc : 1;
}

// count: the child runs.
static int x_loop(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] == PONS_BT_READY) {
        m->count = 0;
        const pons__bt_port *port = pons__bt_port_of(&t->nodes[i], "queue");
        if (port && port->slot == PONS__BT_NONE) {
            m->index = 0;
        }
    }
    if (m->count == 0) {
        pons__bt_value v = {.kind = PONS__BT_EMPTY};
        int rc = pop(t, i, &v, err);
        if (rc > 0) {
            rc = pons__bt_output(t, i, "value", &v, err);
            rc = rc < 0 ? rc : 1;
        }
        pons__bt_value_fini(&v);
        if (rc <= 0) {
            return rc < 0 ? rc : status_input(t, i, "if_empty", PONS_BT_SUCCESS);
        }
    }
    if (t->state[i] == PONS_BT_READY) {
        pons__bt_set(t, i, PONS_BT_RUNNING);
    }
    const int s = t->tick(t, i + 1, err);
    if (s < 0) {
        return s;
    }
    m->count = s == PONS_BT_RUNNING;
    const int rc = pons__bt_completed(s) ? pons__bt_reset_kids(t, i, err) : PONS_OK;
    return rc < 0 ? rc : s == PONS_BT_FAILURE ? s : PONS_BT_RUNNING;
}

// ---- entries ------------------------------------------------------------------------------------

static const pons__bt_slot *entry_slot(const pons_bt_tree *t, uint32_t i)
{
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], "entry");
    return p && p->slot != PONS__BT_NONE ? &t->slots[p->slot] : NULL;
}

// index: the child is still executing; t_ns: the last write seen.
static int x_if_updated(pons_bt_tree *t, uint32_t i, int otherwise, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    if (m->index == 0) {
        const pons__bt_slot *s = entry_slot(t, i);
        if (!s || (int64_t)s->seq == m->t_ns) {
            return otherwise;
        }
        m->t_ns = (int64_t)s->seq;
    }
    const int s = t->tick(t, i + 1, err);
    m->index = s == PONS_BT_RUNNING;
    if (pons__bt_completed(s)) {
        const int rc = pons__bt_reset_kids(t, i, err);
        return rc < 0 ? rc : s;
    }
    return s;
}

static int x_was_updated(pons_bt_tree *t, uint32_t i)
{
    pons__bt_mem *m = &t->mem[i];
    const pons__bt_slot *s = entry_slot(t, i);
    if (!s || (int64_t)s->seq == m->t_ns) {
        return PONS_BT_FAILURE;
    }
    m->t_ns = (int64_t)s->seq;
    return PONS_BT_SUCCESS;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__bt_tick_decorator(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((pons__bt_type)t->hot[i].type) {
    case X_INVERTER:
    case X_FORCE_SUCCESS:
    case X_FORCE_FAILURE:
    case X_KEEP_RUNNING:
        return x_simple(t, i, err);
    case X_REPEAT:
    case X_RETRY:
        return x_again(t, i, err);
    case X_DELAY:
        return x_delay(t, i, err);
    case X_TIMEOUT:
        return x_timeout(t, i, err);
    case X_SLEEP:
        return x_sleep(t, i, err);
    case X_RUN_ONCE:
        return x_run_once(t, i, err);
    case X_PRECONDITION:
        return x_precondition(t, i, err);
    case X_SKIP_UNLESS_UPDATED:
        return x_if_updated(t, i, PONS_BT_SKIPPED, err);
    case X_WAIT_VALUE_UPDATE:
        return x_if_updated(t, i, PONS_BT_RUNNING, err);
    case X_WAS_ENTRY_UPDATED:
        return x_was_updated(t, i);
    default:
        return x_loop(t, i, err);
    }
}
