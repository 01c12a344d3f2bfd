// tree_leaves.c - what the tree can ask (guards) and do (actions). trees/companion.mdsl puts them in
// order; any other tree may be given that uses these names.
//
//   guards   IsMorning IsNight IsSchoolDay IsSleeping NotSleeping Idle AtPlace(place)
//            InWindow(window) OutsideWindow(window) MessageWaiting MessageMayInterrupt
//            ModelMayBeAsked EnergyBelow(percent)
//   actions  Start(activity) Suggest StartSuggested Continue
//   callback Branch(name): names the branch that the tick is in
//
// A world view may add guards, made of these (own_guards.c).
//
// A leaf's arguments are read once: they are constants of the definition.
#include "companion/tree_leaves.h"

#include "companion/activity_executor.h"
#include "companion/events.h"
#include "companion/model_suggestion.h"
#include "companion/own_guards.h"
#include "companion/safety_filter.h"
#include "companion/world_moment.h"
#include "companion/world_view_queries.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*pons__co_leaf)(pons_companion *c, const char *arg);

typedef struct leaf_row {
    const char *name;
    pons__co_leaf fn;
    bool condition;
} leaf_row;

// ---- guards -------------------------------------------------------------------------------------

static bool is_morning(pons_companion *c, const char *arg)
{
    return pons__co_is_morning(c);
}

static bool is_night(pons_companion *c, const char *arg)
{
    return pons__co_in_window(c->view, "night", c->seed, c->minute, NULL);
}

static bool is_school_day(pons_companion *c, const char *arg)
{
    return pons_world_view_school_day(c->view, c->minute, NULL);
}

static bool is_sleeping(pons_companion *c, const char *arg)
{
    return pons__co_sleeping(c);
}

static bool not_sleeping(pons_companion *c, const char *arg)
{
    return !pons__co_sleeping(c);
}

static bool idle(pons_companion *c, const char *arg)
{
    return !c->world.current.what;
}

static bool at_place(pons_companion *c, const char *arg)
{
    const pons__co_activity *a = c->world.current.what;
    return strcmp(c->world.place, arg) == 0 && !(a && *a->to); // on the way one is nowhere
}

static bool in_window(pons_companion *c, const char *arg)
{
    return pons__co_in_window(c->view, arg, c->seed, c->minute, NULL);
}

static bool outside_window(pons_companion *c, const char *arg)
{
    return !in_window(c, arg);
}

static bool energy_below(pons_companion *c, const char *arg)
{
    return c->world.energy < strtod(arg, NULL);
}

static bool message_waiting(pons_companion *c, const char *arg)
{
    return c->world.n_messages > 0;
}

static bool message_may_interrupt(pons_companion *c, const char *arg)
{
    char why[256];
    if (pons__co_message_that_may(c, why, sizeof why)) {
        return true;
    }
    if (c->world.current.what && c->world.current.what->reads_messages) {
        return false; // they are being read
    }
    pons__co_note_filtered(c, "read_message", "message", "message_waits", why);
    return false;
}

static bool model_may_be_asked(pons_companion *c, const char *arg)
{
    return pons__co_may_ask(c);
}

// ---- actions ------------------------------------------------------------------------------------

static bool start(pons_companion *c, const pons__co_proposal *p, const char *by,
                  pons__co_refusal *ret)
{
    *ret = pons__co_filter(c, p);
    if (ret->rule) {
        pons__co_note_filtered(c, p->type, by, ret->rule, ret->reason);
        return false;
    }
    pons__co_execute(c, pons__co_activity_of(c->view, p->type), p);
    return true;
}

static bool act_start(pons_companion *c, const char *arg)
{
    const pons__co_activity *a = pons__co_activity_of(c->view, arg);
    pons__co_proposal p = {.preemptive = a && a->preemptive,
                           .emergency =
                               c->board.branch && strcmp(c->board.branch, "Emergency") == 0};
    pons__co_refusal why;
    snprintf(p.type, sizeof p.type, "%s", arg);
    return start(c, &p, "tree", &why);
}

static bool act_suggest(pons_companion *c, const char *arg)
{
    return pons__co_suggest(c);
}

static bool act_start_suggested(pons_companion *c, const char *arg)
{
    pons__co_refusal why;
    if (start(c, &c->board.policy.suggestion, "model", &why)) {
        pons__co_suggestion_used(c);
        return true;
    }
    pons__co_suggestion_refused(c, &why);
    return false;
}

static bool act_continue(pons_companion *c, const char *arg)
{
    return true;
}

// ---- the tree's calls ---------------------------------------------------------------------------

static const leaf_row rows[] = {
    {"IsMorning", is_morning, true},
    {"IsNight", is_night, true},
    {"IsSchoolDay", is_school_day, true},
    {"IsSleeping", is_sleeping, true},
    {"NotSleeping", not_sleeping, true},
    {"Idle", idle, true},
    {"AtPlace", at_place, true},
    {"InWindow", in_window, true},
    {"OutsideWindow", outside_window, true},
    {"EnergyBelow", energy_below, true},
    {"MessageWaiting", message_waiting, true},
    {"MessageMayInterrupt", message_may_interrupt, true},
    {"ModelMayBeAsked", model_may_be_asked, true},
    {"Start", act_start, false},
    {"Suggest", act_suggest, false},
    {"StartSuggested", act_start_suggested, false},
    {"Continue", act_continue, false},
    {NULL, NULL, false},
};

// The one copy of a text that this life keeps: traces of other ticks point to it.
static const char *kept(pons_companion *c, const char *text)
{
    for (size_t i = 0; i < c->n_texts; i++) {
        if (strcmp(c->texts[i], text) == 0) {
            return c->texts[i];
        }
    }
    char **more = realloc(c->texts, (c->n_texts + 1) * sizeof *more);
    c->texts = more ? more : c->texts;
    char *copy = more ? strdup(text) : NULL;
    if (!copy) {
        c->nomem = true;
        return "";
    }
    c->texts[c->n_texts++] = copy;
    return copy;
}

// The leaf that a call means, and its first argument. Those of a node's own leaf and of its entry
// are looked for once; a guard's each time, as a node may have two.
static pons__co_arg argument(pons_companion *c, const pons_bt_call *call)
{
    const bool entry = call->reason == PONS_BT_ENTRY;
    const bool own = call->reason == PONS_BT_START || call->reason == PONS_BT_CONTINUE;
    const size_t at = 2 * (size_t)call->node + entry;
    const bool cached = (own || entry) && at < c->n_args;
    if (cached && c->args[at].text) {
        return c->args[at];
    }
    pons_autovalue list = pons_bt_call_args(call);
    const pons_value *first = json_array_get(list, 0);
    char number[32];
    snprintf(number, sizeof number, "%g", json_number_value(first));
    const char *text = json_is_number(first) ? number : json_string_value(first);
    const leaf_row *row = rows;
    while (row->name && strcmp(row->name, call->name) != 0) {
        row++;
    }
    const pons__co_arg arg = {.text = kept(c, text ? text : ""), .row = row};
    if (cached) {
        c->args[at] = arg;
    }
    return arg;
}

static void trace(pons_companion *c, const char *name, const char *arg, char result)
{
    if (c->board.n_trace < PONS__CO_TRACE_MAX) {
        c->board.trace[c->board.n_trace++] = (pons__co_step){name, *arg ? arg : NULL, result};
    }
}

static int call_branch(pons_bt_call *call, void *user, pons_error *err)
{
    pons_companion *c = user;
    if (call->reason == PONS_BT_ENTRY) {
        c->board.branch = argument(c, call).text;
        trace(c, c->board.branch, "", '>');
    }
    return PONS_BT_SUCCESS;
}

static int call_leaf(pons_bt_call *call, void *user, pons_error *err)
{
    pons_companion *c = user;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    const pons__co_arg of = argument(c, call);
    const leaf_row *row = of.row;
    const char *arg = of.text;
    assert(row->name); // only these are registered
    const bool yes = row->fn(c, arg);
    trace(c, row->name, arg, yes ? 'y' : 'n');
    return yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

static const leaf_row *row_of(const char *name)
{
    const leaf_row *row = rows;
    while (row->name && strcmp(row->name, name) != 0) {
        row++;
    }
    return row->name ? row : NULL;
}

// A guard of the world view's: any, or all, of others. One that a newer view has no more says no.
static bool ask_view(pons_companion *c, const char *name)
{
    const pons_value *own = pons__co_condition(c->view, name), *any = pons_get(own, "any");
    const pons_value *list = any ? any : pons_get(own, "all");
    for (size_t i = 0; i < json_array_size(list); i++) {
        pons__co_guard g;
        char why[160];
        const char *text = json_string_value(json_array_get(list, i));
        const leaf_row *row =
            pons__co_guard_read(text, &g, why, sizeof why) ? row_of(g.name) : NULL;
        const bool yes = row && row->fn(c, g.arg) != g.negated;
        if (yes == (any != NULL)) {
            return yes;
        }
    }
    return own && !any;
}

static int call_view(pons_bt_call *call, void *user, pons_error *err)
{
    pons_companion *c = user;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    const bool yes = ask_view(c, call->name);
    trace(c, kept(c, call->name), "", yes ? 'y' : 'n');
    return yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

// ---- before the first minute --------------------------------------------------------------------

static int check_argument(const leaf_row *row, const pons_value *first, pons_error *err)
{
    const bool id = row->fn == at_place || row->fn == in_window || row->fn == outside_window ||
                    row->fn == act_start;
    if (id && json_string_length(first) == 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__COMPANION, "%s needs a name as its argument",
                              row->name);
    }
    if (row->fn == energy_below && !json_is_number(first) && json_string_length(first) == 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                              "%s needs a number as its argument", row->name);
    }
    return PONS_OK;
}

// A tree that calls what does not exist would go wrong at some minute, perhaps months away. A name
// that this world has not (of a window, a place, an activity) is no fault: the same tree serves
// many worlds, and the records say "no" or unknown_action.
int pons__co_check_call(void *user, const char *name, const pons_value *args, pons_error *err)
{
    const pons_value *first = json_array_get(args, 0);
    const pons_companion *c = user;
    if (strcmp(name, "Branch") == 0) {
        return json_is_string(first) ? PONS_OK
                                     : pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                                                      "Branch needs the branch's name");
    }
    const leaf_row *row = row_of(name);
    if (row) {
        return check_argument(row, first, err);
    }
    return pons__co_condition(c->view, name)
               ? PONS_OK
               : pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                                "a companion has no '%s' to call, and the world view no condition "
                                "of that name",
                                name);
}

int pons__co_register_leaves(pons_bt_registry *r, pons_companion *c, pons_error *err)
{
    const pons_bt_leaf branch = {.name = "Branch", .fn = call_branch, .user = c};
    int rc = pons_bt_register(r, &branch, err);
    for (const leaf_row *row = rows; rc >= 0 && row->name; row++) {
        const pons_bt_leaf leaf = {
            .name = row->name, .condition = row->condition, .fn = call_leaf, .user = c};
        rc = pons_bt_register(r, &leaf, err);
        assert(pons__co_own_leaf(row->name)); // nobody's condition takes its place
    }
    const pons_value *all = pons_get(c->view->doc, "conditions");
    for (size_t i = 0; rc >= 0 && i < json_array_size(all); i++) {
        const pons_bt_leaf leaf = {.name = kept(c, pons_get_str(json_array_get(all, i), "id", "")),
                                   .condition = true,
                                   .fn = call_view,
                                   .user = c};
        rc = pons_bt_register(r, &leaf, err);
    }
    return rc;
}
