// nav2_nodes.c - Nav2's control nodes, decorators and the conditions that need nothing but the tree.
//
// What looks at the robot (distance, speed) asks the tree's options; what looks at goals and paths
// compares blackboard entries by how often they were written. "Since the tree began" is counted by
// the tree's epoch: a node whose mark is of an older run of the root begins anew. So GoalUpdated
// works wherever it stands, also where its parent resets it at every tick.
#include "bt/xml/halt.h"
#include "bt/xml/nodes.h"
#include "bt/xml/port_values.h"

#include <math.h>
#include <stdlib.h>

enum { RECOVERIES_A_TICK = 1000 }; // of children that end at once: then the tick is given up

// Whether this node has not been looked at since the root began; marks it.
static bool first_time(pons_bt_tree *t, uint32_t i)
{
    pons__bt_mem *m = &t->mem[i];
    if ((uint32_t)m->count == (uint32_t)t->epoch) {
        return false;
    }
    m->count = (int32_t)(uint32_t)t->epoch;
    return true;
}

// index: the furthest child reached.
static int n_pipeline(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] != PONS_BT_RUNNING) {
        m->index = 0;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const int s = t->tick(t, pons__bt_kid(t, i, k), err);
        if (s < 0) {
            return s;
        }
        if (s == PONS_BT_FAILURE) {
            return pons__bt_end_with(t, i, s, err);
        }
        if (s == PONS_BT_RUNNING && (int32_t)k >= m->index) {
            m->index = (int32_t)k;
            return s;
        }
    }
    return pons__bt_end_with(t, i, PONS_BT_SUCCESS, err);
}

static int n_nonblocking(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    bool all = true;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint32_t c = pons__bt_kid(t, i, k);
        const int s = t->tick(t, c, err);
        if (s < 0) {
            return s;
        }
        if (s == PONS_BT_FAILURE) {
            return pons__bt_end_with(t, i, s, err);
        }
        all &= s != PONS_BT_RUNNING;
    }
    return all ? pons__bt_end_with(t, i, PONS_BT_SUCCESS, err) : PONS_BT_RUNNING;
}

// Where a PersistentSequence stands is a blackboard entry's, so that it survives a halt, and
// whoever writes the entry moves it; without one, the node's own index is it.
static int persist(pons_bt_tree *t, uint32_t i, int64_t at, pons_error *err)
{
    const pons__bt_value v = {.kind = PONS__BT_INT, .i = at};
    t->mem[i].index = (int32_t)at;
    return pons__bt_output(t, i, "current_child_idx", &v, err);
}

static int n_persistent(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    int64_t at = pons__bt_input_int(t, i, "current_child_idx", t->mem[i].index);
    int s = PONS_BT_SUCCESS;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    at = at < 0 ? 0 : at;
    while (at < n->n_kids && s != PONS_BT_FAILURE) {
        s = t->tick(t, pons__bt_kid(t, i, (uint32_t)at), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s != PONS_BT_FAILURE) {
            const int rc = persist(t, i, ++at, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    const int rc = persist(t, i, 0, err);
    return rc < 0 ? rc : pons__bt_end_with(t, i, s == PONS_BT_FAILURE ? s : PONS_BT_SUCCESS, err);
}

// index: which of the two children; count: retries.
static int n_recovery(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    const int64_t retries = pons__bt_input_int(t, i, "number_of_retries", 1);
    if (t->state[i] != PONS_BT_RUNNING) {
        m->index = m->count = 0;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (int rounds = 0;; rounds++) {
        if (rounds == RECOVERIES_A_TICK) {
            t->wake = true;
            return PONS_BT_RUNNING;
        }
        const int s = t->tick(t, pons__bt_kid(t, i, (uint32_t)m->index), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (m->index == 0) {
            if (s != PONS_BT_FAILURE) {
                return pons__bt_end_with(t, i, s, err);
            }
            if (retries >= 0 && m->count >= retries) { // negative: endless
                return pons__bt_end_with(t, i, PONS_BT_FAILURE, err);
            }
            m->index = 1;
        } else {
            if (s == PONS_BT_FAILURE || s == PONS_BT_SKIPPED) {
                return pons__bt_end_with(t, i, PONS_BT_FAILURE, err);
            }
            const int rc = pons__bt_halt_child(t, pons__bt_kid(t, i, 1), err);
            if (rc < 0) {
                return rc;
            }
            m->index = 0;
            m->count += m->count < INT32_MAX;
        }
        const int rc = pons__bt_halt_child(t, pons__bt_kid(t, i, 0), err);
        if (rc < 0) {
            return rc;
        }
    }
}

// index: whose turn it is, which persists; count: failures in a row.
static int n_round_robin(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    const bool wrap = pons__bt_input_int(t, i, "wrap_around", 1) != 0;
    const int32_t all = (int32_t)n->n_kids;
    if (t->state[i] != PONS_BT_RUNNING) {
        m->count = 0;
        m->index = wrap || m->index < all ? m->index % all : 0;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    int skipped = 0;
    while (m->count + skipped < all && m->index < all) {
        const int s = t->tick(t, pons__bt_kid(t, i, (uint32_t)m->index), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        m->index++;
        if (wrap && m->index >= all) {
            m->index = 0;
        }
        if (s == PONS_BT_SUCCESS) {
            const int32_t next = m->index;
            const int rc = pons__bt_end_with(t, i, s, err);
            m->index = next;
            return rc;
        }
        m->count += s == PONS_BT_FAILURE;
        skipped += s == PONS_BT_SKIPPED;
    }
    const bool failed = m->count > 0 || skipped < all;
    return pons__bt_end_with(t, i, failed ? PONS_BT_FAILURE : PONS_BT_SKIPPED, err);
}

static double now_s(const pons_bt_tree *t)
{
    return (double)pons__bt_now_ns(t) / (double)PONS_NS_PER_S;
}

static double odometer(const pons_bt_tree *t)
{
    return t->o.odometer_m ? t->o.odometer_m(t->o.user) : 0;
}

static uint64_t writes_of(const pons_bt_tree *t, uint32_t i)
{
    static const char *const ports[] = {"goal", "goals"};
    uint64_t n = 0;
    for (int k = 0; k < 2; k++) {
        const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], ports[k]);
        n += p && p->slot != PONS__BT_NONE ? t->slots[p->slot].seq : 0;
    }
    return n;
}

// [s] between ticks at the present speed.
static double speed_period_s(pons_bt_tree *t, uint32_t i)
{
    const double low = pons__bt_input_num(t, i, "min_rate", 0.1);
    const double high = pons__bt_input_num(t, i, "max_rate", 1.0);
    const double slow = pons__bt_input_num(t, i, "min_speed", 0.0);
    const double fast = pons__bt_input_num(t, i, "max_speed", 0.5);
    const double speed = t->o.speed_mps ? fabs(t->o.speed_mps(t->o.user)) : 0;
    const double part = fast > slow ? (speed - slow) / (fast - slow) : 0;
    const double rate = low + (part < 0 ? 0 : part > 1 ? 1 : part) * (high - low);
    return rate > 0 ? 1 / rate : 0;
}

// Whether the threshold has been crossed; x is the mark of the last time.
static bool due(pons_bt_tree *t, uint32_t i)
{
    const double x = t->mem[i].x;
    switch (t->nodes[i].type) {
    case X_RATE: {
        const double hz = pons__bt_input_num(t, i, "hz", 10);
        return hz <= 0 || now_s(t) - x >= 1 / hz;
    }
    case X_DISTANCE:
        return fabs(odometer(t) - x) >= pons__bt_input_num(t, i, "distance", 1);
    case X_SPEED:
        return now_s(t) - x >= speed_period_s(t, i);
    default: // X_GOAL_UPDATED_CONTROLLER
        return writes_of(t, i) != (uint64_t)t->mem[i].t_ns;
    }
}

static void mark(pons_bt_tree *t, uint32_t i)
{
    t->mem[i].x = t->nodes[i].type == X_DISTANCE ? odometer(t) : now_s(t);
    t->mem[i].t_ns = (int64_t)writes_of(t, i);
}

// The child ticks the first time, while it is RUNNING, and when the threshold is crossed.
static int n_controller(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bool first = t->state[i] == PONS_BT_READY;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    if (first) {
        mark(t, i);
    }
    if (!first && t->state[i + 1] != PONS_BT_RUNNING && !due(t, i)) {
        return PONS_BT_RUNNING;
    }
    if (!first && t->state[i + 1] != PONS_BT_RUNNING && t->nodes[i].type != X_RATE) {
        mark(t, i);
    }
    const int s = t->tick(t, i + 1, err);
    if (s == PONS_BT_SUCCESS) {
        if (t->nodes[i].type == X_RATE || t->nodes[i].type == X_DISTANCE) {
            mark(t, i); // the period begins when the child is done
        }
        const int rc = pons__bt_reset_kids(t, i, err);
        return rc < 0 ? rc : s;
    }
    return s == PONS_BT_FAILURE ? pons__bt_end_with(t, i, s, err) : s;
}

// Copies the goal through; a new one arrives by the blackboard.
static int n_goal_updater(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    static const char *const pairs[][2] = {{"input_goal", "output_goal"},
                                           {"input_goals", "output_goals"}};
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (int k = 0; k < 2; k++) {
        pons__bt_value v;
        if (pons__bt_input(t, i, pairs[k][0], &v) < 0) {
            continue;
        }
        int rc = pons__bt_value_own(&v);
        rc = rc < 0 ? rc : pons__bt_output(t, i, pairs[k][1], &v, err);
        pons__bt_value_fini(&v);
        if (rc < 0) {
            return rc;
        }
    }
    const int s = t->tick(t, i + 1, err);
    return pons__bt_completed(s) ? pons__bt_end_with(t, i, s, err) : s;
}

// Once, until its parent resets it; FAILURE afterwards. index: it has happened.
static int n_single_trigger(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] == PONS_BT_READY) {
        m->index = 0;
    }
    if (m->index != 0) {
        return PONS_BT_FAILURE;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    const int s = t->tick(t, i + 1, err);
    if (!pons__bt_completed(s)) {
        return s;
    }
    m->index = 1;
    const int rc = pons__bt_reset_kids(t, i, err);
    return rc < 0 ? rc : s;
}

static double path_length(const pons_value *path)
{
    const pons_value *poses = json_is_array(path) ? path : pons_get(path, "poses");
    if (json_is_number(pons_get(path, "length_m"))) { // what is left of it
        return json_number_value(pons_get(path, "length_m"));
    }
    double sum = 0;
    for (size_t k = 1; k < json_array_size(poses); k++) {
        const pons_value *a = json_array_get(poses, k - 1), *b = json_array_get(poses, k);
        sum += hypot(pons_get_num(b, "x", 0) - pons_get_num(a, "x", 0),
                     pons_get_num(b, "y", 0) - pons_get_num(a, "y", 0));
    }
    return sum;
}

// The child runs when the new path is much longer than the one before, near its end. A path is
// {poses:[{x,y}...], length_m?} or the list. x: the last length; t_ns: the last write seen.
static int n_path_longer(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], "path");
    const pons__bt_slot *s = p && p->slot != PONS__BT_NONE ? &t->slots[p->slot] : NULL;
    const bool fresh = first_time(t, i);
    if (t->state[i + 1] != PONS_BT_RUNNING) {
        const double length = s && s->v.kind == PONS__BT_JSON ? path_length(s->v.j) : 0;
        const bool longer = !fresh && s && (int64_t)s->seq != m->t_ns && m->x > 0 &&
                            m->x < pons__bt_input_num(t, i, "prox_len", 3) &&
                            length >= m->x * pons__bt_input_num(t, i, "length_factor", 2);
        m->x = length;
        m->t_ns = s ? (int64_t)s->seq : 0;
        if (!longer) {
            return PONS_BT_SUCCESS;
        }
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    const int st = t->tick(t, i + 1, err);
    if (pons__bt_completed(st)) {
        const int rc = pons__bt_reset_kids(t, i, err);
        return rc < 0 ? rc : st;
    }
    return st;
}

static int answer(bool yes)
{
    return yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

static int n_goal_updated(pons_bt_tree *t, uint32_t i)
{
    const int64_t writes = (int64_t)writes_of(t, i);
    const bool changed = !first_time(t, i) && writes != t->mem[i].t_ns;
    t->mem[i].t_ns = writes;
    return answer(changed);
}

static int n_expired(pons_bt_tree *t, uint32_t i, double now, double limit)
{
    pons__bt_mem *m = &t->mem[i];
    if (first_time(t, i)) {
        m->x = now;
        return PONS_BT_FAILURE;
    }
    if (fabs(now - m->x) < limit) {
        return PONS_BT_FAILURE;
    }
    m->x = now;
    return PONS_BT_SUCCESS;
}

// A new path starts the timer anew.
static int n_path_expiring(pons_bt_tree *t, uint32_t i)
{
    pons__bt_mem *m = &t->mem[i];
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], "path");
    const int64_t seq = p && p->slot != PONS__BT_NONE ? (int64_t)t->slots[p->slot].seq : 0;
    if (seq != m->t_ns) {
        m->t_ns = seq;
        m->count = (int32_t)(uint32_t)(t->epoch - 1);
    }
    return n_expired(t, i, now_s(t), pons__bt_input_num(t, i, "seconds", 1));
}

static int n_error_codes(pons_bt_tree *t, uint32_t i)
{
    const int64_t code = pons__bt_input_int(t, i, "error_code", 0);
    pons__bt_value v;
    if (pons__bt_input(t, i, "error_codes_to_check", &v) < 0) {
        return PONS_BT_FAILURE;
    }
    if (v.kind == PONS__BT_JSON) {
        pons_each(x, v.j) {
            if (json_integer_value(x) == code) {
                return PONS_BT_SUCCESS;
            }
        }
        return PONS_BT_FAILURE;
    }
    for (const char *s = v.kind == PONS__BT_STRING ? v.s : ""; *s;) {
        char *end;
        const long long c = strtoll(s, &end, 10);
        if (end != s && c == code) {
            return PONS_BT_SUCCESS;
        }
        s = end == s ? s + 1 : end;
    }
    return PONS_BT_FAILURE;
}

static int n_would_help(pons_bt_tree *t, uint32_t i)
{
    static const int controller[] = {100, 104, 105, 106, 0};
    static const int planner[] = {200, 207, 208, 300, 307, 308, 0};
    const int64_t code = pons__bt_input_int(t, i, "error_code", 0);
    const int *c = t->nodes[i].type == X_CONTROLLER_HELP ? controller : planner;
    while (*c && *c != code) {
        c++;
    }
    return answer(*c != 0);
}

int pons__bt_tick_nav2(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((pons__bt_type)t->nodes[i].type) {
    case X_PIPELINE:
        return n_pipeline(t, i, err);
    case X_NONBLOCKING:
        return n_nonblocking(t, i, err);
    case X_PERSISTENT:
        return n_persistent(t, i, err);
    case X_RECOVERY:
        return n_recovery(t, i, err);
    case X_ROUND_ROBIN:
        return n_round_robin(t, i, err);
    case X_RATE:
    case X_DISTANCE:
    case X_SPEED:
    case X_GOAL_UPDATED_CONTROLLER:
        return n_controller(t, i, err);
    case X_GOAL_UPDATER:
        return n_goal_updater(t, i, err);
    case X_SINGLE_TRIGGER:
        return n_single_trigger(t, i, err);
    case X_PATH_LONGER:
        return n_path_longer(t, i, err);
    case X_GOAL_UPDATED:
    case X_GLOBAL_UPDATED_GOAL:
        return n_goal_updated(t, i);
    case X_TIME_EXPIRED:
        return n_expired(t, i, now_s(t), pons__bt_input_num(t, i, "seconds", 1));
    case X_DISTANCE_TRAVELED:
        return n_expired(t, i, odometer(t), pons__bt_input_num(t, i, "distance", 1));
    case X_PATH_EXPIRING:
        return n_path_expiring(t, i);
    case X_ERROR_CODES_PRESENT:
        return n_error_codes(t, i);
    case X_CONTROLLER_HELP:
    case X_PLANNER_HELP:
        return n_would_help(t, i);
    default:
        t->failed = i;
        return pons_error_set(err, PONS_EUNSUPPORTED, "bt", "a node of this kind cannot be ticked");
    }
}
