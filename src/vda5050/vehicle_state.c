// vehicle_state.c - what a master is told: state, visualization, connection, factsheet.
//
// A state goes out when it differs from the last one in anything but where the robot is, how fast, and a
// part of a per cent of its battery; and `state_s` after the last one in any case.
//
// The published schema of a state has no PAUSED among the words of an actionStatus, though the text has: an action
// of a robot that is stopped is RUNNING, and eStop says why nothing happens. Its blockingTypes of a factsheet are
// a list that is a word, which nothing can be: they are left out.
#include "pons/clock.h"
#include "vda5050/vehicle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATE_S 15.0

static void time_text(int64_t wall_ms, char *ret, size_t cap)
{
    char day[PONS_UTC_TEXT];
    pons_utc_text(wall_ms, day);
    snprintf(ret, cap, "%.19s.%03dZ", day, (int)(wall_ms % 1000));
}

pons_value *pons__vda_message(pons_vda5050 *v, pons_vda5050_topic topic, int64_t wall_ms)
{
    char when[64];
    time_text(wall_ms, when, sizeof when);
    return pons_object("headerId", json_integer(v->header[topic]++), "timestamp", json_string(when),
                       "version",
                       json_string(pons_get_str(v->config, "version", PONS_VDA5050_VERSION)),
                       "manufacturer", json_string(pons_get_str(v->config, "manufacturer", "")),
                       "serialNumber", json_string(pons_get_str(v->config, "serial", "")), NULL);
}

pons_value *pons_vda5050_connection(pons_vda5050 *v, const char *word, int64_t wall_ms)
{
    pons_value *m = pons__vda_message(v, PONS_VDA5050_CONNECTION, wall_ms);
    json_object_set_new(m, "connectionState", json_string(word));
    return m;
}

static pons_value *position(const pons_vda5050 *v)
{
    const pons_vda5050_seen *s = &v->seen;
    const bool known = isfinite(s->x) && isfinite(s->y) && isfinite(s->yaw) && s->connected;
    return pons_object("x", json_real(known ? s->x : 0.0), "y", json_real(known ? s->y : 0.0),
                       "theta", json_real(known ? remainder(s->yaw, 2.0 * M_PI) : 0.0), "mapId",
                       json_string(pons_get_str(v->config, "map", "")), "positionInitialized",
                       json_boolean(known && s->placed), NULL);
}

static pons_value *velocity(const pons_vda5050 *v)
{
    return pons_object("vx", json_real(isfinite(v->seen.v) ? v->seen.v : 0.0), "vy", json_real(0.0),
                       "omega", json_real(isfinite(v->seen.w) ? v->seen.w : 0.0), NULL);
}

void pons__vda_publish_visualization(pons_vda5050 *v, int64_t wall_ms)
{
    pons_autovalue m = pons__vda_message(v, PONS_VDA5050_VISUALIZATION, wall_ms);
    json_object_set_new(m, "agvPosition", position(v));
    json_object_set_new(m, "velocity", velocity(v));
    v->o.publish(v->o.user, PONS_VDA5050_VISUALIZATION, m);
}

// ---- state --------------------------------------------------------------------------------------

static pons_value *node_states(const pons_vda5050 *v)
{
    pons_value *list = json_array();
    pons_each(n, pons__vda_list(v, "nodes")) {
        const pons_value *at = pons_get(n, "nodePosition"), *theta = pons_get(at, "theta");
        const char *about = pons_get_str(n, "nodeDescription", NULL);
        pons_value *where = at ? pons_object("x", pons_value_ref(pons_get(at, "x")), "y",
                                             pons_value_ref(pons_get(at, "y")), "theta",
                                             theta ? pons_value_ref(theta) : NULL, "mapId",
                                             pons_value_ref(pons_get(at, "mapId")), NULL)
                               : NULL;
        json_array_append_new(
            list, pons_object("nodeId", json_string(pons_get_str(n, "nodeId", "")), "sequenceId",
                              json_integer(pons_get_int(n, "sequenceId", 0)), "nodeDescription",
                              about ? json_string(about) : NULL, "nodePosition", where, "released",
                              json_boolean(pons_get_bool(n, "released", false)), NULL));
    }
    return list;
}

static pons_value *edge_states(const pons_vda5050 *v)
{
    pons_value *list = json_array();
    pons_each(e, pons__vda_list(v, "edges")) {
        const char *about = pons_get_str(e, "edgeDescription", NULL);
        json_array_append_new(
            list, pons_object("edgeId", json_string(pons_get_str(e, "edgeId", "")), "sequenceId",
                              json_integer(pons_get_int(e, "sequenceId", 0)), "edgeDescription",
                              about ? json_string(about) : NULL, "released",
                              json_boolean(pons_get_bool(e, "released", false)), NULL));
    }
    return list;
}

static pons_value *action_states(const pons_vda5050 *v)
{
    pons_value *list = json_array();
    pons_each(a, pons__vda_list(v, "actions")) {
        const char *about = pons_get_str(a, "about", NULL),
                   *result = pons_get_str(a, "result", NULL);
        json_array_append_new(
            list, pons_object("actionId", json_string(pons_get_str(a, "id", "")), "actionType",
                              json_string(pons_get_str(a, "type", "")), "actionDescription",
                              about ? json_string(about) : NULL, "actionStatus",
                              json_string(pons_get_str(a, "status", "")), "resultDescription",
                              result ? json_string(result) : NULL, NULL));
    }
    return list;
}

static void add(pons_value *list, const char *type, const char *level, const char *what)
{
    json_array_append_new(list, pons__vda_error(type, level, what, NULL));
}

static pons_value *errors(const pons_vda5050 *v)
{
    pons_value *list = json_copy(v->errors);
    const pons_vda5050_seen *s = &v->seen;
    const pons_value *hold = pons_get(v->kept, "hold");
    if (json_is_object(hold)) {
        json_array_append_new(list, pons_value_ref(hold));
    }
    if (!s->connected) {
        add(list, "vehicleNotReady", "FATAL", "no body answers");
    } else if (!s->placed) {
        add(list, "localizationError", "FATAL", "the robot does not know where it is");
    }
    if (s->latched) {
        add(list, "emergencyStop", "FATAL", s->why ? s->why : "a stop is latched");
    } else if (s->waits) {
        add(list, "stopped", "FATAL", s->why ? s->why : "a person must let it go on");
    }
    if (s->question) {
        add(list, "waitsForPerson", "WARNING", s->question);
    }
    return list;
}

// The base is nearly driven, and more is announced.
static bool wants_base(const pons_vda5050 *v)
{
    size_t released = 0;
    const pons_value *nodes = pons__vda_list(v, "nodes");
    while (pons_get_bool(json_array_get(nodes, released), "released", false)) {
        released++;
    }
    return released < json_array_size(nodes) && released <= 1;
}

static pons_value *state(pons_vda5050 *v)
{
    const pons_vda5050_seen *s = &v->seen;
    const pons_value *order = pons_get(v->kept, "order"), *last = pons_get(v->kept, "last");
    const double pct = isfinite(s->battery_pct) ? round(s->battery_pct) : 0.0;
    pons_value *m = pons_object(
        "orderId", json_string(pons_get_str(order, "id", "")), "orderUpdateId",
        json_integer(pons_get_int(order, "update", 0)), "lastNodeId",
        json_string(pons_get_str(last, "node", "")), "lastNodeSequenceId",
        json_integer(pons_get_int(last, "seq", 0)), "nodeStates", node_states(v), "edgeStates",
        edge_states(v), "driving", json_boolean(fabs(s->v) > 0.01 || fabs(s->w) > 0.02), "paused",
        json_boolean(pons_get_bool(v->kept, "paused", false) || s->paused), "newBaseRequest",
        json_boolean(wants_base(v)), "actionStates", action_states(v), "batteryState",
        pons_object("batteryCharge", json_real(pct), "charging", json_boolean(s->charging), NULL),
        "operatingMode", json_string(s->away ? "MANUAL" : "AUTOMATIC"), "errors", errors(v),
        "information", json_array(), "safetyState",
        pons_object("eStop", json_string(s->latched ? "MANUAL" : "NONE"), "fieldViolation",
                    json_boolean(s->near), NULL),
        "maps",
        json_pack("[{s:s, s:s, s:s}]", "mapId", pons_get_str(v->config, "map", ""), "mapVersion",
                  pons_get_str(v->config, "map_version", "1"), "mapStatus", "ENABLED"),
        NULL);
    if (s->has_load_device) {
        json_object_set_new(m, "loads",
                            s->holding ? json_pack("[{s:s}]", "loadId", s->holding) : json_array());
    }
    return m;
}

void pons__vda_publish_state(pons_vda5050 *v, int64_t now_ms, int64_t wall_ms)
{
    const double every_s = pons_get_num(v->config, "state_s", STATE_S);
    pons_autovalue says = state(v);
    const bool due = v->forced || !v->said || (double)(now_ms - v->state_ms) >= every_s * 1000.0 ||
                     !json_equal(says, v->said);
    if (due && v->online) {
        pons_autovalue m = pons__vda_message(v, PONS_VDA5050_STATE, wall_ms);
        json_object_update(m, says);
        json_object_set_new(m, "agvPosition", position(v));
        json_object_set_new(m, "velocity", velocity(v));
        v->o.publish(v->o.user, PONS_VDA5050_STATE, m);
        pons_value_unref(v->said);
        v->said = pons_value_ref(says);
        v->state_ms = now_ms;
        v->forced = false;
    }
}

// ---- factsheet ----------------------------------------------------------------------------------

static const struct {
    const char *type, *about;
} own[] = {{"cancelOrder", "ends the order"},
           {"startPause", "no driving"},
           {"stopPause", "lifts startPause, and nothing that a person has said"},
           {"stateRequest", "a state"},
           {"factsheetRequest", "this"},
           {"initPosition", "where the robot is: x, y, theta, mapId, lastNodeId"}};

static pons_value *agv_actions(const pons_vda5050 *v)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:[s]}", "actionType", own[i].type,
                                              "actionDescription", own[i].about, "actionScopes",
                                              "INSTANT"));
    }
    pons_each_member(type, row, pons_get(v->config, "actions")) {
        if (!pons__vda_has_skill(v, pons_get_str(row, "skill", ""))) {
            continue;
        }
        pons_value *parameters = json_array();
        pons_each_member(key, to, pons_get(row, "parameters")) {
            const bool required = pons_list_has(pons_get(row, "required"), key);
            json_array_append_new(parameters,
                                  json_pack("{s:s, s:s, s:b}", "key", key, "valueDataType",
                                            pons_get_str(pons_get(row, "types"), key, "STRING"),
                                            "isOptional", !required));
        }
        json_array_append_new(
            list,
            pons_object("actionType", json_string(type), "actionDescription",
                        pons_string(pons_get_str(row, "about", pons_get_str(row, "skill", ""))),
                        "actionScopes", pons_value_ref(pons_get(row, "scopes")), "actionParameters",
                        parameters, NULL));
    }
    return list;
}

static pons_value *limits(void)
{
    return json_pack(
        "{s:{s:i, s:i, s:i, s:i, s:b}, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i}, s:{s:f, s:f}}",
        "maxStringLens", "msgLen", PONS_VDA5050_BYTES_MAX, "topicSerialLen", PONS__VDA_ID_MAX,
        "topicElemLen", PONS__VDA_ID_MAX, "idLen", PONS__VDA_ID_MAX, "idNumericalOnly", 0,
        "maxArrayLens", "order.nodes", 256, "order.edges", 255, "node.actions", 16, "edge.actions",
        16, "actions.actionsParameters", 32, "instantActions", 16, "state.errors", 24, "timing",
        "minOrderInterval", 0.1, "minStateInterval", 0.1);
}

// What is in `from` and is no object goes into `into`, at any depth.
static void merge(pons_value *into, const pons_value *from)
{
    pons_each_member(key, value, from) {
        pons_value *there = json_object_get(into, key);
        if (json_is_object(there) && json_is_object(value)) {
            merge(there, value);
        } else {
            json_object_set_new(into, key, json_deep_copy(value));
        }
    }
}

void pons__vda_publish_factsheet(pons_vda5050 *v, int64_t wall_ms)
{
    const pons_vda5050_seen *s = &v->seen;
    const double wide = s->radius_m > 0.0 ? 2.0 * s->radius_m : 0.5;
    const double brake = s->brake_max_mps2 > 0.0 ? s->brake_max_mps2 : 0.5;
    pons_autovalue m = pons__vda_message(v, PONS_VDA5050_FACTSHEET, wall_ms);
    pons_autovalue own_words =
        pons_object("typeSpecification",
                    json_pack("{s:s, s:s, s:s, s:f, s:[s], s:[s]}", "seriesName", "pons",
                              "agvKinematic", "DIFF", "agvClass", "CARRIER", "maxLoadMass", 0.0,
                              "localizationTypes", "NATURAL", "navigationTypes", "AUTONOMOUS"),
                    "physicalParameters",
                    json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "speedMin", 0.0, "speedMax",
                              s->speed_max_mps, "accelerationMax", brake, "decelerationMax", brake,
                              "heightMax", 1.0, "width", wide, "length", wide),
                    "protocolLimits", limits(), "protocolFeatures",
                    pons_object("optionalParameters",
                                json_pack("[{s:s, s:s}]", "parameter",
                                          "order.nodes.nodePosition.theta", "support", "SUPPORTED"),
                                "agvActions", agv_actions(v), NULL),
                    "agvGeometry", json_object(), "loadSpecification", json_object(), NULL);
    merge(own_words, pons_get(v->config, "factsheet"));
    json_object_update(m, own_words);
    v->o.publish(v->o.user, PONS_VDA5050_FACTSHEET, m);
    v->reported_speed = s->speed_max_mps;
    v->factsheet_due = false;
}
