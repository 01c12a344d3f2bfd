// order.c - orders: judged as VDA 5050 2.1 has it (section 6.6), taken, or refused with an error.
//
//     no JSON, not of the schema, not for this vehicle, its parts do not fit     validationError
//     what this vehicle can't do or can't use; a person has it                    orderError
//     the first node is not where the robot is, or nobody says where a node is    noRouteError
//     an update that is old, or continues nothing; a new order while one goes on  orderUpdateError
//
// An order that the vehicle had before, under another id since, is never taken again, whatever its
// first node is: it is a message that came late.
#include "vda5050/vehicle.h"

#include <math.h>
#include <string.h>

#define PAST_MAX 1000 // orders that are known to have been

typedef struct parts { // of a message
    const pons_value *order, *nodes, *edges;
    const char *id;
    int64_t update;
} parts;

static pons_value *refs_of(const parts *p)
{
    pons_value *refs = json_array();
    pons__vda_ref(refs, "topic", "order");
    if (p->order) {
        pons__vda_ref_number(refs, "headerId", pons_get_int(p->order, "headerId", 0));
        pons__vda_ref(refs, "orderId", p->id);
        pons__vda_ref_number(refs, "orderUpdateId", p->update);
    }
    return refs;
}

static bool refuse(pons_vda5050 *v, const parts *p, const char *type, const char *what,
                   const char *key, const char *value)
{
    pons_value *refs = refs_of(p);
    if (key) {
        pons__vda_ref(refs, key, value);
    }
    pons__vda_refuse(v, type, what, refs);
    return false;
}

// ---- whether its parts fit ----------------------------------------------------------------------

static bool fits(pons_vda5050 *v, const parts *p)
{
    const size_t n = json_array_size(p->nodes);
    int64_t seq = pons_get_int(json_array_get(p->nodes, 0), "sequenceId", 0);
    bool horizon = false;
    if (json_array_size(p->edges) + 1 != n) {
        return refuse(v, p, "validationError", "there is one edge less than there are nodes",
                      "edges", "count");
    }
    for (size_t i = 0; i < n; i++, seq += 2) {
        const pons_value *node = json_array_get(p->nodes, i);
        const pons_value *edge = i ? json_array_get(p->edges, i - 1) : NULL;
        const pons_value *before = i ? json_array_get(p->nodes, i - 1) : NULL;
        const char *id = pons_get_str(node, "nodeId", ""),
                   *edge_id = pons_get_str(edge, "edgeId", "");
        const bool released = pons_get_bool(node, "released", false);
        const bool edge_off = edge && pons_get_int(edge, "sequenceId", -1) != seq - 1;
        if (edge_off || pons_get_int(node, "sequenceId", -1) != seq) {
            return refuse(v, p, "validationError", "sequenceIds do not count on by one",
                          edge_off ? "edgeId" : "nodeId", edge_off ? edge_id : id);
        }
        if (edge && (strcmp(pons_get_str(edge, "startNodeId", ""),
                            pons_get_str(before, "nodeId", "")) != 0 ||
                     strcmp(pons_get_str(edge, "endNodeId", ""), id) != 0)) {
            return refuse(v, p, "validationError", "an edge does not join the nodes beside it",
                          "edgeId", edge_id);
        }
        if (edge && pons_get_bool(edge, "released", false) != released) {
            return refuse(v, p, "validationError",
                          "an edge and the node that it leads to are released together", "edgeId",
                          edge_id);
        }
        if (released && (horizon || pons_get_bool(edge, "released", true) == false)) {
            return refuse(v, p, "validationError", "what is released follows what is not", "nodeId",
                          id);
        }
        horizon = horizon || !released;
    }
    return !pons_get_bool(json_array_get(p->nodes, 0), "released", false)
               ? refuse(v, p, "validationError", "the first node is not released", "nodeId",
                        pons_get_str(json_array_get(p->nodes, 0), "nodeId", ""))
               : true;
}

// ---- whether it can be done ---------------------------------------------------------------------

static bool ignored(const pons_vda5050 *v, const char *field)
{
    return pons_list_has(pons_get(v->config, "ignored_fields"), field);
}

// What an edge may say and the robot can't keep to.
static const char *unusable(const pons_vda5050 *v, const pons_value *edge)
{
    static const char *const fields[] = {"trajectory", "corridor",  "orientation",     "direction",
                                         "maxHeight",  "minHeight", "maxRotationSpeed"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (pons_get(edge, fields[i]) && !ignored(v, fields[i])) {
            return fields[i];
        }
    }
    if (!pons_get_bool(edge, "rotationAllowed", true) && !ignored(v, "rotationAllowed")) {
        return "rotationAllowed";
    }
    const double max = pons_get_num(edge, "maxSpeed", INFINITY);
    const bool fast = !(v->seen.speed_max_mps > 0.0) || max < v->seen.speed_max_mps - 1e-9;
    return isfinite(max) && fast && !ignored(v, "maxSpeed") ? "maxSpeed" : NULL;
}

// The actions of a part, as they are kept, at the end of `into`.
static bool take_actions(pons_vda5050 *v, const parts *p, const pons_value *part, const char *scope,
                         pons_value *into)
{
    pons_each(a, pons_get(part, "actions")) {
        char why[200] = "";
        const char *key = NULL, *id = pons_get_str(a, "actionId", "");
        pons_value *kept = pons__vda_action(v, a, scope, pons_get_int(part, "sequenceId", 0), &key,
                                            why, sizeof why);
        bool twice = false;
        pons_each(other, into) {
            twice = twice || strcmp(pons_get_str(other, "id", ""), id) == 0;
        }
        if (!kept || twice) {
            pons_value *refs = refs_of(p);
            pons__vda_ref(refs, "actionId", id);
            pons__vda_ref(refs, "actionType", pons_get_str(a, "actionType", ""));
            if (key) {
                pons__vda_ref(refs, "actionParameters", key);
            }
            pons__vda_refuse(v, twice ? "validationError" : "orderError",
                             twice ? "two actions have this id" : why, refs);
            pons_value_unref(kept);
            return false;
        }
        json_array_append_new(into, kept);
    }
    return true;
}

// skip_first: the node where an update is sewn on; what the first order said of it holds.
static bool doable(pons_vda5050 *v, const parts *p, bool skip_first, pons_value *actions)
{
    const char *map = pons_get_str(v->config, "map", "");
    if (pons_get(p->order, "zoneSetId") && !ignored(v, "zoneSetId")) {
        return refuse(v, p, "orderError", "this vehicle has no zone sets", "zoneSetId",
                      pons_get_str(p->order, "zoneSetId", ""));
    }
    for (size_t i = skip_first; i < json_array_size(p->nodes); i++) {
        const pons_value *node = json_array_get(p->nodes, i);
        const pons_value *at = pons_get(node, "nodePosition");
        const pons_value *edge = i ? json_array_get(p->edges, i - 1) : NULL;
        const char *id = pons_get_str(node, "nodeId", ""), *field = edge ? unusable(v, edge) : NULL;
        const double least = pons_get_num(v->config, "accuracy_m", 0.2);
        const double allowed = pons_get_num(at, "allowedDeviationXY", 0.0);
        double x = 0.0, y = 0.0, yaw = 0.0;
        bool turned = false;
        if (field) {
            pons_value *refs = refs_of(p);
            pons__vda_ref(refs, "edgeId", pons_get_str(edge, "edgeId", ""));
            pons__vda_ref(refs, "field", field);
            pons__vda_refuse(v, "orderError", "this vehicle cannot keep to this field", refs);
            return false;
        }
        if (at && strcmp(pons_get_str(at, "mapId", ""), map) != 0) {
            return refuse(v, p, "orderError", "this vehicle has another map", "mapId",
                          pons_get_str(at, "mapId", ""));
        }
        if (allowed > 0.0 && allowed < least && !ignored(v, "allowedDeviationXY")) {
            return refuse(v, p, "orderError", "this vehicle is not as exact as that", "nodeId", id);
        }
        if (i > 0 && !pons__vda_pose_of(v, node, &x, &y, &turned, &yaw)) {
            return refuse(v, p, "noRouteError", "nobody says where the node is", "nodeId", id);
        }
        if ((edge && !take_actions(v, p, edge, "EDGE", actions)) ||
            !take_actions(v, p, node, "NODE", actions)) {
            return false;
        }
    }
    return true;
}

// ---- whether it is the one that comes next ------------------------------------------------------

static const pons_value *past(const pons_vda5050 *v, const char *id, size_t *ret_i)
{
    size_t i = 0;
    const pons_value *row = NULL;
    json_array_foreach(pons__vda_list(v, "past"), i, row) {
        if (strcmp(json_string_value(json_array_get(row, 0)), id) == 0) {
            *ret_i = i;
            return row;
        }
    }
    return NULL;
}

static void remember(pons_vda5050 *v, const char *id, int64_t update)
{
    pons_value *list = pons__vda_list(v, "past");
    size_t i = 0;
    if (past(v, id, &i) || (json_array_size(list) >= PAST_MAX && (i = 0, true))) {
        json_array_remove(list, i);
    }
    json_array_append_new(list, json_pack("[s, I]", id, (json_int_t)update));
    v->dirty = true;
}

// The robot stands on the first node: it has driven there, or is within what the node allows.
static bool near_first(pons_vda5050 *v, const parts *p)
{
    const pons_value *node = json_array_get(p->nodes, 0), *last = pons_get(v->kept, "last");
    const char *id = pons_get_str(node, "nodeId", "");
    double x = 0.0, y = 0.0, yaw = 0.0;
    bool turned = false;
    if (!pons__vda_pose_of(v, node, &x, &y, &turned, &yaw)) {
        return *id && strcmp(id, pons_get_str(last, "node", "")) == 0
                   ? true
                   : refuse(v, p, "noRouteError", "nobody says where the first node is", "nodeId",
                            id);
    }
    const double allowed = pons_get_num(pons_get(node, "nodePosition"), "allowedDeviationXY", 0.0);
    const double least = pons_get_num(v->config, "reach_m", 0.5);
    const double far = hypot(v->seen.x - x, v->seen.y - y);
    if (!v->seen.connected || !v->seen.placed || !(far <= fmax(allowed, least))) {
        char what[160];
        snprintf(what, sizeof what,
                 v->seen.placed ? "the robot is %.2f m away from the first node"
                                : "the robot does not know where it is",
                 far);
        return refuse(v, p, "noRouteError", what, "nodeId", id);
    }
    return true;
}

static bool continues(pons_vda5050 *v, const parts *p)
{
    const pons_value *last = pons_get(v->kept, "last"), *first = json_array_get(p->nodes, 0);
    const char *node = pons_get_str(last, "node", "");
    int64_t seq = pons_get_int(last, "seq", 0);
    if (pons_get_bool(pons_get(v->kept, "order"), "over", false)) {
        return refuse(v, p, "orderUpdateError", "the order was cancelled", NULL, NULL);
    }
    pons_each(left, pons__vda_list(v, "nodes")) {
        if (pons_get_bool(left, "released", false)) { // the last of the base
            node = pons_get_str(left, "nodeId", "");
            seq = pons_get_int(left, "sequenceId", 0);
        }
    }
    if (strcmp(pons_get_str(first, "nodeId", ""), node) == 0 &&
        pons_get_int(first, "sequenceId", -1) == seq) {
        return true;
    }
    char what[240];
    snprintf(what, sizeof what,
             "it does not begin where the base ends: node %.128s, sequenceId %lld", node,
             (long long)seq);
    return refuse(v, p, "orderUpdateError", what, "nodeId", pons_get_str(first, "nodeId", ""));
}

// ---- taken --------------------------------------------------------------------------------------

// Numbers of actions are never given twice within an order: they are in keys.
static void append_actions(pons_vda5050 *v, const pons_value *actions)
{
    int64_t next = pons_get_int(v->kept, "numbers", 0);
    pons_each(a, actions) {
        json_object_set_new(a, "number", json_integer(next++));
        json_array_append(pons__vda_list(v, "actions"), a);
    }
    pons__vda_set(v, "numbers", json_integer(next));
}

static void take(pons_vda5050 *v, const parts *p, const pons_value *actions, bool update)
{
    pons_value *nodes = pons__vda_list(v, "nodes"), *edges = pons__vda_list(v, "edges");
    for (size_t i = json_array_size(nodes); i-- > 0;) { // the horizon, or all
        if (!update || !pons_get_bool(json_array_get(nodes, i), "released", false)) {
            json_array_remove(nodes, i);
            json_array_remove(edges, i);
        }
    }
    const int64_t from = pons_get_int(json_array_get(p->nodes, 0), "sequenceId", 0);
    pons_value *had = pons__vda_list(v, "actions");
    for (size_t i = json_array_size(had); i-- > 0;) {
        const pons_value *a = json_array_get(had, i);
        const bool instant = strcmp(pons_get_str(a, "scope", ""), "INSTANT") == 0;
        const bool goes =
            update ? !instant && pons_get_int(a, "seq", -1) > from : !instant || !pons__vda_open(a);
        if (goes) {
            json_array_remove(had, i);
        }
    }
    for (size_t i = 1; i < json_array_size(p->nodes); i++) {
        json_array_append(nodes, json_array_get(p->nodes, i));
        json_array_append(edges, json_array_get(p->edges, i - 1));
    }
    if (!update) {
        const pons_value *first = json_array_get(p->nodes, 0);
        pons__vda_set(v, "serial", json_integer(pons_get_int(v->kept, "serial", 0) + 1));
        pons__vda_set(v, "numbers", json_integer(0));
        pons__vda_set(v, "tries", json_integer(0));
        pons__vda_set(v, "hold", json_null());
        pons__vda_set(v, "last",
                      pons_object("node", json_string(pons_get_str(first, "nodeId", "")), "seq",
                                  json_integer(from), NULL));
    }
    append_actions(v, actions);
    pons__vda_set(v, "order",
                  pons_object("id", json_string(p->id), "update", json_integer(p->update), "over",
                              json_false(), NULL));
    remember(v, p->id, p->update);
    json_array_clear(v->errors);
    v->forced = true;
}

// The instant actions that a new order leaves.
static pons_value *going_on(const pons_vda5050 *v)
{
    pons_value *list = json_array();
    pons_each(a, pons__vda_list(v, "actions")) {
        if (pons__vda_open(a) && strcmp(pons_get_str(a, "scope", ""), "INSTANT") == 0) {
            json_array_append(list, a);
        }
    }
    return list;
}

static void judge(pons_vda5050 *v, const parts *p)
{
    const pons_value *current = pons_get(v->kept, "order");
    const bool update = *p->id && strcmp(pons_get_str(current, "id", ""), p->id) == 0;
    const int64_t has = pons_get_int(current, "update", 0);
    size_t i = 0;
    const pons_value *before = update ? NULL : past(v, p->id, &i);
    if (update && p->update == has) {
        return; // it came twice
    }
    if (update && p->update < has) {
        refuse(v, p, "orderUpdateError", "a newer update was accepted before", NULL, NULL);
        return;
    }
    if (before && p->update <= json_integer_value(json_array_get(before, 1))) {
        refuse(v, p, "orderUpdateError", "this order was had before", NULL, NULL);
        return;
    }
    if (v->seen.away) {
        refuse(v, p, "orderError", v->seen.why ? v->seen.why : "the robot is somebody else's",
               "operatingMode", "MANUAL");
        return;
    }
    if (!update && pons__vda_busy(v)) {
        refuse(v, p, "orderUpdateError", "another order goes on: cancelOrder first", NULL, NULL);
        return;
    }
    pons_autovalue actions = update ? json_deep_copy(pons__vda_list(v, "actions")) : going_on(v);
    const size_t had = json_array_size(actions); // so that an id is not given twice
    if ((update ? continues(v, p) : near_first(v, p)) && doable(v, p, update, actions)) {
        for (size_t k = 0; k < had; k++) {
            json_array_remove(actions, 0);
        }
        take(v, p, actions, update);
    }
}

void pons__vda_order(pons_vda5050 *v, const char *data, size_t n)
{
    pons_error why = PONS_ERROR_INIT;
    pons_value *order = NULL;
    parts p = {0};
    if (pons_value_parse(data, n, &order, &why) < 0) {
        char line[256];
        snprintf(line, sizeof line, "no JSON, at %.60s: %.160s", why.source, why.message);
        refuse(v, &p, "validationError", line, NULL, NULL);
        return;
    }
    if (pons_schema_check(v->o.order, order, &why) < 0) {
        char pointer[128];
        snprintf(pointer, sizeof pointer, "%.*s", (int)strcspn(why.message, ":"), why.message);
        refuse(v, &p, "validationError", why.message, "field", pointer);
        pons_value_unref(order);
        return;
    }
    p = (parts){.order = order,
                .nodes = pons_get(order, "nodes"),
                .edges = pons_get(order, "edges"),
                .id = pons_get_str(order, "orderId", ""),
                .update = pons_get_int(order, "orderUpdateId", 0)};
    if (pons__vda_meant(v, order, refs_of(&p)) && fits(v, &p)) {
        judge(v, &p);
    }
    pons_value_unref(order);
}
