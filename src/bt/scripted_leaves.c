// scripted_leaves.c - a tree with scripted leaves: how users try one, and how conformance cases are written.
//
//     {"tree":"Main", "tick":"exactly_once|once|while_running", "ticks":4,
//      "leaves":{"a":"RS","c":"TTN"}, "conditions":["c"], "random":[0.2,0.9], "dt_ms":400,
//      "properties":{"x":41}, "blackboard":{"x":1},
//      "events":[{"before_tick":2,"set":{"x":2}}, {"before_tick":3,"halt":true}]}
//
// "watch":true also gives a line {tick, node, path, from, to, at_ms} for every change of a node's
// state, before the line of its tick. A leaf's letters are its results, one a call, the last
// repeats: S F R, T N for conditions, X raises. A line a tick says the status, the states and what
// was called.
#include "bt/core/definition.h"
#include "pons/bt.h"
#include "pons/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_MAX = 1000000, DT_MS_MAX = 1000000000 };

typedef struct trial trial;
typedef struct letters {
    trial *owner;
    const char *text;
    size_t at;
} letters;

struct trial {
    const pons_value *script;
    pons_bt_format format;
    pons_bt_registry *leaves;
    letters *letters;
    pons_bt *bt;
    pons_bt_tree *tree;
    pons_clock_manual clock;
    double dt_ms;
    size_t random_at;
    pons_value *calls;
    int64_t tick;         // the one at hand
    bool nomem;           // something of it could not be noted
    pons_bt_line_fn line; // for changes, when they are watched
    void *user;
    const pons_bt_spectator *spectator; // or NULL
    bool watch;                         // a line for each change
};

// ---- leaves -------------------------------------------------------------------------------------

// name, mark and the arguments as JSON: "exit:x(true,false,1)".
static void note(trial *x, const pons_bt_call *call, const char *prefix, const char *mark)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_autovalue args = pons_bt_call_args(call);
    pons_buf_printf(&b, "%s%s%s", prefix, call->name, mark);
    const char *open = "(";
    if (call->reason == PONS_BT_EXIT) {
        pons_buf_printf(&b, "(%s,%s", call->succeeded ? "true" : "false",
                        call->aborted ? "true" : "false");
        open = ",";
    }
    x->nomem = x->nomem || !args;
    pons_each(v, args) {
        char *text = NULL;
        if (call->reason != PONS_BT_HALT && pons_value_line(v, &text) >= 0) {
            pons_buf_printf(&b, "%s%s", open, text);
            open = ",";
        } else if (call->reason != PONS_BT_HALT) {
            x->nomem = true;
        }
        free(text);
    }
    if (*open == ',') {
        pons_buf_byte(&b, ')');
    }
    x->nomem = x->nomem || b.failed ||
               json_array_append_new(x->calls, json_string(b.data ? b.data : "")) != 0;
}

static int leaf(pons_bt_call *call, void *user, pons_error *err)
{
    letters *l = user;
    trial *x = l->owner;
    static const char *const prefixes[] = {
        [PONS_BT_ENTRY] = "entry:", [PONS_BT_STEP] = "step:", [PONS_BT_EXIT] = "exit:"};
    const uint8_t type = x->bt->nodes[call->node].type;
    const bool condition = type == M_CONDITION || type == X_CONDITION;
    const char *prefix = call->reason < 7 ? prefixes[call->reason] : NULL;
    const char *mark = call->reason == PONS_BT_HALT                  ? "!"
                       : call->reason == PONS_BT_START && !condition ? "+"
                                                                     : "";
    note(x, call, prefix ? prefix : "", mark);
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    const char c = l->text[l->at] ? l->text[l->at] : 'S';
    l->at += l->text[l->at] && l->text[l->at + 1];
    switch (c) {
    case 'X':
        return pons_error_set(err, PONS_EIO, "bt", "function '%s' raised an error", call->name);
    case 'R':
        return PONS_BT_RUNNING;
    case 'K':
        return PONS_BT_SKIPPED;
    default:
        return c == 'S' || c == 'T' ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    }
}

// ---- ticking ------------------------------------------------------------------------------------

// A line for each change of a node's state, as it happens.
static void on_change(void *user, const pons_bt_change *change)
{
    trial *x = user;
    char path[1200];
    if (x->spectator && x->spectator->on_change) {
        x->spectator->on_change(x->spectator->user, change);
    }
    if (!x->watch) {
        return;
    }
    pons_autovalue v =
        pons_object_whole("tick", json_integer(x->tick), "node", json_integer(change->node), "path",
                          json_string(pons_bt_path(x->tree, change->node, path, sizeof path)),
                          "from", json_string(pons_bt_status_word(x->format, change->from)), "to",
                          json_string(pons_bt_status_word(x->format, change->to)), "at_ms",
                          json_real((double)change->now_ns / (double)PONS_NS_PER_MS), NULL);
    if (v) {
        x->line(x->user, v);
    }
    x->nomem = x->nomem || !v;
}

static pons_bt_status on_hook(void *user, uint32_t node, bool after)
{
    const pons_bt_spectator *s = ((const trial *)user)->spectator;
    return s->hook(s->user, node, after);
}

static int set_board(trial *x, const pons_value *values, pons_error *err)
{
    pons_each_member(key, v, values) {
        const int rc = pons_bt_set(x->tree, key, pons_value_ref(v), err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static int play_events(trial *x, int64_t tick, pons_error *err)
{
    const pons_value *events = pons_get(x->script, "events");
    pons_each(e, events) {
        if (pons_get_int(e, "before_tick", 0) != tick) {
            continue;
        }
        int rc = set_board(x, pons_get(e, "set"), err);
        if (rc >= 0 && pons_get_bool(e, "halt", false)) {
            rc = pons_bt_halt(x->tree, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// tickWhileRunning of a script moves the clock between the ticks, as sleeping would.
static int one_tick(trial *x, const char *mode, pons_bt_status *ret, pons_error *err)
{
    const int64_t step_ns = (int64_t)(x->dt_ms * (double)PONS_NS_PER_MS);
    const bool loop = strcmp(mode, "while_running") == 0;
    const bool once = strcmp(mode, "exactly_once") != 0;
    for (int n = 0;; n++) {
        const int rc = pons_bt_tick(x->tree, once ? PONS_BT_ONCE : PONS_BT_EXACTLY_ONCE, ret, err);
        x->clock.now_ns += step_ns;
        if (rc < 0 || !loop || *ret != PONS_BT_RUNNING || x->format != PONS_BT_XML) {
            return rc;
        }
        if (n == 100000) {
            return pons_error_set(err, PONS_ERECURSION, "bt", "still RUNNING after 100,000 ticks");
        }
    }
}

static int tick_all(trial *x, pons_bt_line_fn line, void *user, pons_error *err)
{
    const int64_t ticks = pons_get_int(x->script, "ticks", 1);
    const char *mode = pons_get_str(x->script, "tick", "exactly_once");
    for (int64_t n = 1; n <= ticks; n++) {
        pons_error failure = PONS_ERROR_INIT;
        pons_bt_status s = PONS_BT_READY;
        pons_value_unref(x->calls);
        x->calls = json_array();
        x->tick = n;
        int rc = play_events(x, n, &failure);
        rc = rc < 0 ? rc : one_tick(x, mode, &s, &failure);
        char text[1200], *states = pons_bt_states(x->tree);
        if (rc == PONS_ENOMEM || x->nomem || !states || !x->calls) {
            free(states);
            return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to try a tree");
        }
        pons_autovalue v = pons_object_whole(
            "tick", json_integer(n), "status",
            json_string(rc < 0 ? "ERROR" : pons_bt_status_word(x->format, s)), "states",
            json_string(states), "calls", pons_value_ref(x->calls), "blackboard",
            x->format == PONS_BT_XML ? pons_bt_board(x->tree) : PONS_ABSENT, "error",
            rc < 0 ? json_string(pons_error_line(&failure, text, sizeof text)) : PONS_ABSENT, NULL);
        free(states);
        if (!v) {
            return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to try a tree");
        }
        line(user, v);
        if (rc < 0 || (x->spectator && x->spectator->ticked &&
                       x->spectator->ticked(x->spectator->user, x->dt_ms) < 0)) {
            break;
        }
    }
    return PONS_OK;
}

// ---- the script ---------------------------------------------------------------------------------

typedef bool (*is_kind)(const pons_value *v);

static bool is_object(const pons_value *v)
{
    return json_is_object(v);
}

static bool is_list_of(const pons_value *list, is_kind kind)
{
    pons_each(v, list) {
        if (!kind(v)) {
            return false;
        }
    }
    return json_is_array(list);
}

static bool is_text(const pons_value *v)
{
    return json_is_string(v);
}

static bool is_draw(const pons_value *v)
{
    return json_is_number(v) && json_number_value(v) >= 0 && json_number_value(v) <= 1;
}

static bool is_event(const pons_value *v)
{
    const pons_value *set = pons_get(v, "set"), *halt = pons_get(v, "halt");
    return json_is_integer(pons_get(v, "before_tick")) && (!set || json_is_object(set)) &&
           (!halt || json_is_boolean(halt));
}

static bool is_tick(const pons_value *v)
{
    const char *tick = json_string_value(v);
    return tick && (strcmp(tick, "exactly_once") == 0 || strcmp(tick, "once") == 0 ||
                    strcmp(tick, "while_running") == 0);
}

static bool is_ticks(const pons_value *v)
{
    return json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= TICKS_MAX;
}

static bool is_dt(const pons_value *v)
{
    return json_is_number(v) && json_number_value(v) >= 0 && json_number_value(v) <= DT_MS_MAX;
}

static bool is_draws(const pons_value *v)
{
    return is_list_of(v, is_draw);
}

static bool is_texts(const pons_value *v)
{
    return is_list_of(v, is_text);
}

static bool is_events(const pons_value *v)
{
    return is_list_of(v, is_event);
}

static int check_script(const pons_value *s, pons_error *err)
{
    static const struct {
        const char *key, *what;
        is_kind fits;
    } rows[] = {{"tree", "is a tree's name", is_text},
                {"tick", "is exactly_once, once or while_running", is_tick},
                {"ticks", "is a whole number, at most 1,000,000", is_ticks},
                {"leaves", "is an object {name: letters}", is_object},
                {"conditions", "is a list of leaves' names", is_texts},
                {"random", "is a list of numbers from 0 to 1", is_draws},
                {"dt_ms", "is a number from 0 to 1e9", is_dt},
                {"properties", "is an object", is_object},
                {"blackboard", "is an object", is_object},
                {"events", "is a list of {before_tick, set{} or halt}", is_events}};
    if (!json_is_object(s)) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "the script of leaves: an object {leaves:{…}, ticks, …} is expected");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pons_value *v = pons_get(s, rows[i].key);
        if (v && !rows[i].fits(v)) {
            return pons_error_set(err, PONS_EINVAL, "bt", "the script of leaves: '%s' %s",
                                  rows[i].key, rows[i].what);
        }
    }
    const char *name;
    pons_value *v;
    json_object_foreach((pons_value *)pons_get(s, "leaves"), name, v) {
        const char *text = json_string_value(v);
        if (!text || strspn(text, "SFRTNXK") != strlen(text)) {
            return pons_error_set(err, PONS_EINVAL, "bt",
                                  "the script of leaves: '%.60s' has letters S F R T N X", name);
        }
    }
    return PONS_OK;
}

static bool is_condition(const trial *x, const char *name)
{
    const pons_value *list = pons_get(x->script, "conditions");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *c = json_string_value(json_array_get(list, i));
        if (c && strcmp(c, name) == 0) {
            return true;
        }
    }
    return false;
}

static int register_leaves(trial *x, pons_error *err)
{
    const pons_value *leaves = pons_get(x->script, "leaves");
    x->letters = calloc(json_object_size(leaves) + 1, sizeof *x->letters);
    if (!x->letters) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to try a tree");
    }
    size_t n = 0;
    pons_each_member(name, v, leaves) {
        x->letters[n] = (letters){.owner = x, .text = json_string_value(v)};
        const pons_bt_leaf l = {
            .name = name, .condition = is_condition(x, name), .fn = leaf, .user = &x->letters[n++]};
        const int rc = pons_bt_register(x->leaves, &l, err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static double draw(void *user)
{
    trial *x = user;
    const pons_value *list = pons_get(x->script, "random");
    const size_t n = json_array_size(list);
    if (n == 0) {
        return 0;
    }
    const size_t at = x->random_at < n ? x->random_at : n - 1;
    x->random_at++;
    return json_number_value(json_array_get(list, at));
}

static double delta(void *user)
{
    return ((const trial *)user)->dt_ms;
}

static pons_value *property(void *user, const char *name)
{
    return pons_value_ref(pons_get(pons_get(((const trial *)user)->script, "properties"), name));
}

static int create_tree(trial *x, pons_error *err)
{
    x->format = pons_bt_format_of(x->bt);
    x->dt_ms = pons_get_num(x->script, "dt_ms", 0);
    const pons_bt_tree_options o = {.clock = pons_clock_from_manual(&x->clock),
                                    .leaves = x->leaves,
                                    .random = draw,
                                    .delta_ms = delta,
                                    .property = property,
                                    .on_change = x->watch || x->spectator ? on_change : NULL,
                                    .hook = x->spectator && x->spectator->hook ? on_hook : NULL,
                                    .user = x};
    const int rc = pons_bt_tree_create(x->bt, &o, &x->tree, err);
    return rc < 0 ? rc : set_board(x, pons_get(x->script, "blackboard"), err);
}

// ---- public functions ---------------------------------------------------------------------------

static int try_one(const pons_bt_spectator *spectator, const char *path, const char *text,
                   const pons_value *script, pons_bt_line_fn line, void *user,
                   pons_value **ret_faults, pons_error *err)
{
    trial x = {.script = script,
               .leaves = pons_bt_registry_create(),
               .tick = 1,
               .line = line,
               .user = user,
               .spectator = spectator,
               .watch = pons_get_bool(script, "watch", false)};
    int rc = x.leaves ? check_script(script, err)
                      : pons_error_set(err, PONS_ENOMEM, "bt", "no memory to try a tree");
    rc = rc < 0 ? rc : register_leaves(&x, err);
    if (rc >= 0) {
        const pons_bt_load_options o = {
            .leaves = x.leaves, .name = path, .tree = pons_get_str(script, "tree", NULL)};
        rc = text ? pons_bt_load(text, strlen(text), &o, &x.bt, ret_faults, err)
                  : pons_bt_load_file(path, &o, &x.bt, ret_faults, err);
    }
    rc = rc < 0 ? rc : create_tree(&x, err);
    if (rc >= 0 && spectator && spectator->begins) {
        rc = spectator->begins(spectator->user, x.bt, x.tree, err);
    }
    rc = rc < 0 ? rc : tick_all(&x, line, user, err);
    if (rc >= 0 && spectator && spectator->ends) {
        spectator->ends(spectator->user);
    }
    pons_bt_tree_destroy(x.tree);
    pons_bt_unref(x.bt);
    pons_bt_registry_destroy(x.leaves);
    pons_value_unref(x.calls);
    free(x.letters);
    return rc;
}

int pons_bt_try(const char *path, const char *text, const pons_value *script, pons_bt_line_fn line,
                void *user, pons_value **ret_faults, pons_error *err)
{
    return try_one(NULL, path, text, script, line, user, ret_faults, err);
}

int pons_bt_try_before(const pons_bt_spectator *spectator, const char *path,
                       const pons_value *script, pons_bt_line_fn line, void *user,
                       pons_value **ret_faults, pons_error *err)
{
    return try_one(spectator, path, NULL, script, line, user, ret_faults, err);
}
