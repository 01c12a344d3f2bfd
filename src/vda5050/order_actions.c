// order_actions.c - actions: what the config's table makes of those of an order, and instant ones.
//
// A row of the table says which skill an action is, which of its parameters become which arguments, and
// where it may stand. What is not in the table refuses an order, and FAILS as an instant action; so does a
// parameter that is missing. These are the vehicle's own, all of them instant:
//
//     cancelOrder      the order is over: RUNNING until nothing of it is done any more
//     startPause       no driving; actions go on. RUNNING until the robot has let go of its way
//     stopPause        lifts that pause, and nothing that a person has said
//     stateRequest     factsheetRequest
//     initPosition     says where the robot is; not while it has an order
//
// An actionId counts once: what is known is refused, or passed over when its message came twice. What stops
// is done each time it comes: a master may have one id for all of its cancelOrders.
#include "vda5050/vehicle.h"

#include <string.h>

#define DEPTH_MAX 16   // of a parameter's value
#define HEARD_MAX 1000 // instant actions that are known to have been

static pons_value *kept_action(const pons_value *action, const char *scope, int64_t seq,
                               const char *skill, pons_value *args)
{
    const char *about = pons_get_str(action, "actionDescription", NULL);
    return pons_object("id", json_string(pons_get_str(action, "actionId", "")), "type",
                       json_string(pons_get_str(action, "actionType", "")), "about",
                       about ? json_string(about) : NULL, "status", json_string("WAITING"), "scope",
                       json_string(scope), "seq", json_integer(seq), "blocking",
                       json_string(pons_get_str(action, "blockingType", "")), "skill",
                       skill ? json_string(skill) : json_null(), "args",
                       args ? args : json_object(), NULL);
}

static const pons_value *parameter(const pons_value *action, const char *key)
{
    return pons_get(pons_find(pons_get(action, "actionParameters"), "key", key), "value");
}

// How many containers are in each other.
static size_t depth(const pons_value *v)
{
    size_t most = 0, i = 0;
    const char *key = NULL;
    const pons_value *in = NULL;
    json_array_foreach(v, i, in) {
        const size_t d = depth(in);
        most = d > most ? d : most;
    }
    json_object_foreach((json_t *)v, key, in) {
        const size_t d = depth(in);
        most = d > most ? d : most;
    }
    return most + (json_is_array(v) || json_is_object(v));
}

pons_value *pons__vda_action(const pons_vda5050 *v, const pons_value *action, const char *scope,
                             int64_t seq, const char **ret_key, char *why, size_t cap)
{
    const char *type = pons_get_str(action, "actionType", "");
    const pons_value *row = pons_get(pons_get(v->config, "actions"), type);
    *ret_key = NULL;
    if (!row || !pons_list_has(pons_get(row, "scopes"), scope)) {
        snprintf(why, cap,
                 row ? "this vehicle does not do %.80s as an action of %s"
                     : "this vehicle has no action %.80s%.0s",
                 type, strcmp(scope, "INSTANT") == 0 ? "instantActions" : scope);
        return NULL;
    }
    if (!pons__vda_has_skill(v, pons_get_str(row, "skill", ""))) {
        snprintf(why, cap, "this vehicle has no skill %.60s, which %.80s is",
                 pons_get_str(row, "skill", ""), type);
        return NULL;
    }
    const pons_value *with = pons_get(row, "with");
    pons_value *args = with ? json_deep_copy(with) : json_object();
    pons_each_member(key, to, pons_get(row, "parameters")) {
        const pons_value *value = parameter(action, key);
        if (value && depth(value) > DEPTH_MAX) {
            snprintf(why, cap, "the parameter %.80s of %.80s has more than %d levels", key, type,
                     DEPTH_MAX);
            *ret_key = key;
            pons_value_unref(args);
            return NULL;
        }
        if (value) {
            json_object_set_new(args, json_string_value(to), pons_value_ref(value));
        } else if (pons_list_has(pons_get(row, "required"), key)) {
            snprintf(why, cap, "the parameter %.80s of %.80s is missing", key, type);
            *ret_key = key;
            pons_value_unref(args);
            return NULL;
        }
    }
    return kept_action(action, scope, seq, pons_get_str(row, "skill", ""), args);
}

// ---- the vehicle's own --------------------------------------------------------------------------

typedef struct asked { // an instant action that is being heard
    const pons_value *message;
    pons_value *kept;
    const char *id;
    bool again; // its message came twice
} asked;

static pons_value *refs_of(const asked *a)
{
    pons_value *refs = json_array();
    pons__vda_ref(refs, "topic", "instantActions");
    pons__vda_ref(refs, "actionId", a->id);
    pons__vda_ref(refs, "actionType", pons_get_str(a->message, "actionType", ""));
    return refs;
}

static void fail(pons_vda5050 *v, const asked *a, const char *type, const char *what)
{
    pons__vda_status(a->kept, "FAILED", what);
    pons__vda_refuse(v, type, what, refs_of(a));
}

static void cancel_order(pons_vda5050 *v, const asked *a)
{
    const char *by = json_string_value(json_object_get(v->kept, "canceling"));
    const bool over = pons_get_bool(pons_get(v->kept, "order"), "over", false);
    pons__vda_status(a->kept, "RUNNING", NULL);
    if (by && strcmp(by, a->id) == 0) {
        return;
    }
    if (by || over || !pons__vda_busy(v)) {
        if (a->again) {
            pons__vda_status(a->kept, "FINISHED", NULL);
        } else {
            fail(v, a, "noOrderToCancel", "there is no order to cancel");
        }
        return;
    }
    pons__vda_set(v, "canceling", json_string(a->id));
    pons__vda_drop(v, "the order was cancelled");
}

static void start_pause(pons_vda5050 *v, const asked *a)
{
    pons_value *current = json_object_get(v->kept, "current");
    const char *by = json_string_value(json_object_get(v->kept, "pausing"));
    pons__vda_set(v, "paused", json_true());
    if (json_is_object(current) && strcmp(pons_get_str(current, "kind", ""), "node") == 0 &&
        (!by || strcmp(by, a->id) == 0)) {
        if (!pons_get_bool(current, "cancel", false)) {
            json_object_set_new(current, "cancel", json_true());
            json_object_set_new(current, "again", json_true());
        }
        pons__vda_status(a->kept, "RUNNING", NULL);
        pons__vda_set(v, "pausing", json_string(a->id));
        return;
    }
    pons__vda_status(a->kept, "FINISHED", NULL);
}

static void stop_pause(pons_vda5050 *v, const asked *a)
{
    pons__vda_set(v, "paused", json_false());
    if (v->seen.latched || v->seen.waits || v->seen.paused) {
        fail(v, a, "pauseNotLifted",
             v->seen.why ? v->seen.why : "a person has halted the robot, and lifts that");
        return;
    }
    pons__vda_status(a->kept, "FINISHED", NULL);
}

static void init_position(pons_vda5050 *v, const asked *a)
{
    const pons_value *x = parameter(a->message, "x"), *y = parameter(a->message, "y");
    const pons_value *theta = parameter(a->message, "theta");
    const pons_value *map = parameter(a->message, "mapId");
    const pons_value *node = parameter(a->message, "lastNodeId");
    const char *node_id = json_is_string(node) ? json_string_value(node) : "";
    if (!json_is_number(x) || !json_is_number(y) || !json_is_number(theta)) {
        fail(v, a, "validationError", "initPosition has x, y and theta, which are numbers");
    } else if (json_is_string(map) &&
               strcmp(json_string_value(map), pons_get_str(v->config, "map", "")) != 0) {
        fail(v, a, "orderError", "this vehicle has another map");
    } else if (strlen(node_id) > PONS__VDA_ID_MAX) {
        fail(v, a, "validationError", "lastNodeId is longer than 128 bytes");
    } else if (!v->o.place || !v->seen.connected) {
        fail(v, a, "actionError", "no body answers");
    } else if (pons__vda_busy(v) || v->seen.away || json_is_object(pons_get(v->kept, "current")) ||
               json_is_string(pons_get(v->kept, "placing"))) {
        fail(v, a, "actionError", "the robot has something to do: cancelOrder first");
    } else {
        pons__vda_status(a->kept, "RUNNING", NULL);
        pons__vda_set(v, "placing", json_string(a->id));
        v->place_x = json_number_value(x);
        v->place_y = json_number_value(y);
        v->place_yaw = json_number_value(theta);
        snprintf(v->place_node, sizeof v->place_node, "%s", node_id);
        v->place_due = true;
    }
}

static void state_request(pons_vda5050 *v, const asked *a)
{
    pons__vda_status(a->kept, "FINISHED", NULL);
    v->forced = true;
}

static void factsheet_request(pons_vda5050 *v, const asked *a)
{
    pons__vda_status(a->kept, "FINISHED", NULL);
    v->factsheet_due = true;
}

static const struct own {
    const char *type;
    void (*run)(pons_vda5050 *v, const asked *a);
    bool stops;
} owns[] = {{"cancelOrder", cancel_order, true},
            {"startPause", start_pause, true},
            {"stopPause", stop_pause, false},
            {"stateRequest", state_request, false},
            {"factsheetRequest", factsheet_request, false},
            {"initPosition", init_position, false}};

static const struct own *own_of(const pons_value *action)
{
    const char *type = pons_get_str(action, "actionType", "");
    for (size_t i = 0; i < sizeof owns / sizeof owns[0]; i++) {
        if (strcmp(owns[i].type, type) == 0) {
            return &owns[i];
        }
    }
    return NULL;
}

// ---- heard --------------------------------------------------------------------------------------

// One of the table's: done when what is done now has ended.
static void take_skill(pons_vda5050 *v, const asked *a)
{
    char why[200] = "";
    const char *key = NULL;
    pons_value *kept = pons__vda_action(v, a->message, "INSTANT", -1, &key, why, sizeof why);
    if (!kept) {
        fail(v, a, "unsupportedAction", why);
        return;
    }
    const int64_t number = pons_get_int(v->kept, "instants", 0) + 1;
    json_object_update(a->kept, kept);
    json_object_set_new(a->kept, "number", json_integer(number));
    pons__vda_set(v, "instants", json_integer(number));
    pons_value_unref(kept);
    if (v->seen.away) {
        fail(v, a, "actionError", "somebody else has the robot");
    }
}

// Keeps that an id was heard, and in which message.
static void note_received(pons_value *received, pons_value *known, const char *id, const char *of)
{
    if (known) {
        json_object_set_new(known, "of", pons_string(of));
        return;
    }
    if (json_array_size(received) >= HEARD_MAX) {
        json_array_remove(received, 0);
    }
    json_array_append_new(received,
                          pons_object("id", json_string(id), "of", pons_string(of), NULL));
}

// `of`: headerId and timestamp of its message; the same twice is a redelivery, and no error. What stops is done each
// time that it comes.
static void hear(pons_vda5050 *v, const pons_value *action, const char *of)
{
    pons_value *received = pons__vda_list(v, "heard");
    const struct own *own = own_of(action);
    asked a = {.message = action, .id = pons_get_str(action, "actionId", "")};
    pons_value *had = pons__vda_find_action(v, a.id);
    pons_value *known = (pons_value *)pons_find(received, "id", a.id);
    const bool before = known || had, stops = own && own->stops;
    const bool others = had && json_is_string(pons_get(had, "skill")); // keeps its actionState
    a.again = strcmp(pons_get_str(known, "of", ""), of) == 0;
    if (before && !a.again && (others || !stops)) {
        pons__vda_refuse(v, "validationError", "this actionId was given before", refs_of(&a));
    }
    if (before && !stops) {
        return;
    }
    note_received(received, known, a.id, of);
    pons_autovalue kept = kept_action(action, "INSTANT", -1, NULL, NULL);
    a.kept = kept;
    if (had && !others) {
        a.kept = had;
        json_object_clear(had);
        json_object_update(had, kept);
    } else if (!had) {
        json_array_append(pons__vda_list(v, "actions"), kept);
    }
    v->dirty = true;
    if (own) {
        own->run(v, &a);
    } else {
        take_skill(v, &a);
    }
}

// What has ended goes before the state grows beyond what a master can be asked to read.
static void make_room(pons_vda5050 *v)
{
    pons_value *actions = pons__vda_list(v, "actions");
    size_t instants = 0;
    for (size_t i = json_array_size(actions); i-- > 0;) {
        const pons_value *a = json_array_get(actions, i);
        const bool instant = strcmp(pons_get_str(a, "scope", ""), "INSTANT") == 0;
        instants += instant;
        if (instant && instants > PONS__VDA_INSTANTS_MAX && !pons__vda_open(a)) {
            json_array_remove(actions, i);
            v->dirty = true;
        }
    }
}

static const pons_value *actions_of(const pons_value *message)
{
    const pons_value *list = pons_get(message, "actions");
    return list ? list : pons_get(message, "instantActions"); // 2.0's text
}

bool pons__vda_instant_stops(const char *data, size_t n)
{
    pons_value *message = NULL;
    bool stops = false;
    if (pons_value_parse(data, n, &message, NULL) < 0) {
        return false;
    }
    pons_each(action, actions_of(message)) {
        const struct own *own = own_of(action);
        stops = stops || (own && own->stops);
    }
    pons_value_unref(message);
    return stops;
}

void pons__vda_instant(pons_vda5050 *v, const char *data, size_t n)
{
    pons_error why = PONS_ERROR_INIT;
    pons_value *message = NULL;
    pons_value *refs = json_array();
    pons__vda_ref(refs, "topic", "instantActions");
    if (pons_value_parse(data, n, &message, &why) < 0) {
        char line[256];
        snprintf(line, sizeof line, "no JSON, at %.60s: %.160s", why.source, why.message);
        pons__vda_refuse(v, "validationError", line, refs);
        return;
    }
    if (pons_schema_check(v->o.actions, message, &why) < 0) {
        pons__vda_refuse(v, "validationError", why.message, refs);
    } else if (pons__vda_meant(v, message, refs)) {
        char of[576];
        snprintf(of, sizeof of, "%lld %s", (long long)pons_get_int(message, "headerId", 0),
                 pons_get_str(message, "timestamp", ""));
        pons_each(action, actions_of(message)) {
            hear(v, action, of);
        }
        make_room(v);
    }
    pons_value_unref(message);
}
