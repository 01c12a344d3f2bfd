// vda5050.c - a vehicle under a master control: the whole of it, and what is done next.
//
// What a vehicle has of an order is what is left of it: the nodes and edges still to be driven, and the
// actions with their status. Three things move it on, and each is kept before anything follows from it:
//
//     a message    order.c judges an order and takes it, or refuses it with an error; order_actions.c has
//                  instant actions
//     the robot    pons_vda5050_ended: a node is traversed, an action FINISHED or FAILED
//     somebody     pons_vda5050_tick sees a person, or the battery, at work with the robot: the order is
//                  dropped, for the robot is not where the master believes it to be
//
// After each, `choose` looks for the next thing, one at a time: an instant action of the table; the actions
// of the node where it stands; those of the edge before it; the next node, when that and its edge are
// released and no pause is in force. Its key is
//
//     (vda5050 SERIAL.SEQUENCE.TRY)   of a node: TRY rises when a pause ended a drive before it was over
//     (vda5050 SERIAL.aN)             the Nth action of the order
//     (vda5050 iN)                    the Nth instant action of all
//
// where SERIAL counts the orders that were ever accepted. So the same order, read again after a kill,
// gives the same key, and who does it finds it done.
//
// Who is above the master: a stop, the kernel's battery and a person's tasks. A stop holds what is done, where it is,
// and is seen as eStop; a pause of the master's ends the drive and begins it again, so it has nothing to do with
// a person's pause, and lifts none.
#include "pons/out_of_memory.h"
#include "pons/printable.h"
#include "vda5050/vehicle.h"

#include <stdlib.h>
#include <string.h>

#define STATE_LEAST_MS 100 // between two states that are not asked for

const char *const pons_vda5050_topics[PONS_VDA5050_TOPICS] = {
    [PONS_VDA5050_ORDER] = "order",           [PONS_VDA5050_INSTANT_ACTIONS] = "instantActions",
    [PONS_VDA5050_STATE] = "state",           [PONS_VDA5050_VISUALIZATION] = "visualization",
    [PONS_VDA5050_CONNECTION] = "connection", [PONS_VDA5050_FACTSHEET] = "factsheet"};

// ---- what is next -------------------------------------------------------------------------------

static const pons_value *next_action(const pons_vda5050 *v, const char *scope, int64_t seq,
                                     size_t *ret_i)
{
    size_t i = 0;
    const pons_value *a = NULL;
    json_array_foreach(pons__vda_list(v, "actions"), i, a) {
        if (pons__vda_open(a) && json_is_string(pons_get(a, "skill")) &&
            pons_get_int(a, "seq", -1) == seq && strcmp(pons_get_str(a, "scope", ""), scope) == 0) {
            *ret_i = (size_t)pons_get_int(a, "number", (int64_t)i);
            return a;
        }
    }
    return NULL;
}

static void take_action(pons_vda5050 *v, const pons_value *a, const char *key)
{
    pons_value *action = pons__vda_find_action(v, pons_get_str(a, "id", ""));
    pons__vda_status(action, "RUNNING", NULL);
    pons__vda_set(v, "current",
                  pons_object("key", json_string(key), "kind", json_string("action"), "action",
                              json_string(pons_get_str(a, "id", "")), "skill",
                              json_string(pons_get_str(a, "skill", "")), "args",
                              pons_value_ref(pons_get(a, "args")), "cancel", json_false(), "again",
                              json_false(), NULL));
}

// The key's words are for people, its end says which it is. Words are cut, at whole characters.
static void name(char *ret, size_t cap, const char *what, const char *word, const char *id)
{
    const size_t n = pons_text_whole(word, 60);
    char plain[61];
    for (size_t i = 0; i < n; i++) {
        plain[i] = (unsigned char)word[i] < 0x20 || word[i] == 0x7f ? '?' : word[i];
    }
    snprintf(ret, cap, "%s %.*s (vda5050 %s)", what, (int)n, plain, id);
}

// The order waits for the master: it alone can say what is to become of it.
static void hold(pons_vda5050 *v, const char *type, const char *what, const char *key,
                 const char *value)
{
    pons_autovalue refs = json_array();
    pons__vda_ref(refs, key, value);
    pons__vda_ref(refs, "orderId", pons_get_str(pons_get(v->kept, "order"), "id", ""));
    pons_value *e = pons__vda_error(type, "FATAL", what, refs);
    json_object_set_new(e, "errorHint", json_string("cancelOrder, then a new order"));
    pons__vda_set(v, "hold", e);
}

static void take_node(pons_vda5050 *v, const pons_value *node)
{
    char id[96], key[PONS_VDA5050_KEY_MAX];
    double x = 0.0, y = 0.0, yaw = 0.0;
    bool turned = false;
    const int64_t seq = pons_get_int(node, "sequenceId", 0);
    const char *node_id = pons_get_str(node, "nodeId", "");
    if (!pons__vda_pose_of(v, node, &x, &y, &turned, &yaw)) {
        hold(v, "noRouteError", "nobody says where the node is", "nodeId", node_id);
        return;
    }
    snprintf(id, sizeof id, "%lld.%lld.%lld", (long long)pons_get_int(v->kept, "serial", 0),
             (long long)seq, (long long)pons_get_int(v->kept, "tries", 0));
    name(key, sizeof key, "drive to", node_id, id);
    pons_value *pose = pons_object("x", json_real(x), "y", json_real(y), "yaw",
                                   turned ? json_real(yaw) : NULL, NULL);
    pons__vda_set(v, "current",
                  pons_object("key", json_string(key), "kind", json_string("node"), "seq",
                              json_integer(seq), "node", json_string(node_id), "skill",
                              json_string("navigate_to_pose"), "args",
                              pons_object("pose", pose, NULL), "cancel", json_false(), "again",
                              json_false(), NULL));
}

static bool released(const pons_value *part)
{
    return part && pons_get_bool(part, "released", false);
}

static void choose_next(pons_vda5050 *v)
{
    char id[96], key[PONS_VDA5050_KEY_MAX];
    size_t n = 0;
    const pons_value *nodes = pons__vda_list(v, "nodes"), *edges = pons__vda_list(v, "edges");
    const pons_value *a = next_action(v, "INSTANT", -1, &n);
    const int64_t serial = pons_get_int(v->kept, "serial", 0);
    if (a) {
        snprintf(id, sizeof id, "i%zu", n);
        name(key, sizeof key, "do", pons_get_str(a, "type", ""), id);
        take_action(v, a, key);
        return;
    }
    if (json_is_object(pons_get(v->kept, "hold")) || v->seen.away ||
        json_is_string(pons_get(v->kept, "placing"))) {
        return;
    }
    const pons_value *edge = json_array_get(edges, 0), *node = json_array_get(nodes, 0);
    a = next_action(v, "NODE", pons_get_int(pons_get(v->kept, "last"), "seq", 0), &n);
    if (!a && released(edge)) {
        a = next_action(v, "EDGE", pons_get_int(edge, "sequenceId", -1), &n);
    }
    if (a) {
        snprintf(id, sizeof id, "%lld.a%zu", (long long)serial, n);
        name(key, sizeof key, "do", pons_get_str(a, "type", ""), id);
        take_action(v, a, key);
    } else if (released(node) && released(edge) && !pons_get_bool(v->kept, "paused", false)) {
        take_node(v, node);
    }
}

static void instant_over(pons_vda5050 *v, const char *key)
{
    const char *id = json_string_value(json_object_get(v->kept, key));
    pons_value *action = pons__vda_find_action(v, id);
    if (action && !json_is_string(pons_get(action, "skill"))) { // else it has another's id
        pons__vda_status(action, "FINISHED", NULL);
    }
    if (id) {
        pons__vda_set(v, key, json_null());
    }
}

static void choose(pons_vda5050 *v)
{
    const pons_value *current = pons_get(v->kept, "current");
    const bool drives =
        json_is_object(current) && strcmp(pons_get_str(current, "kind", ""), "node") == 0;
    if (!json_is_object(current)) {
        instant_over(v, "canceling");
    }
    if (!drives) {
        instant_over(v, "pausing");
    }
    if (!json_is_object(current)) {
        choose_next(v);
    }
}

static int flush(pons_vda5050 *v, pons_error *err)
{
    if (!v->dirty) {
        return PONS_OK;
    }
    const int rc = v->o.keep(v->o.user, v->kept, err);
    v->dirty = rc < 0;
    if (rc >= 0 && v->place_due) {
        v->place_due = false;
        v->o.place(v->o.user, v->place_x, v->place_y, v->place_yaw);
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_vda5050_create(const pons_vda5050_options *o, pons_vda5050 **ret, pons_error *err)
{
    pons_vda5050 *v = pons_need_zeroed(1, sizeof *v);
    v->o = *o;
    v->config = pons_value_ref(o->config);
    v->errors = json_array();
    v->texts = json_object();
    v->kept =
        json_is_object(o->kept)
            ? json_deep_copy(o->kept)
            : pons_object("serial", json_integer(0), "order",
                          pons_object("id", json_string(""), "update", json_integer(0), "over",
                                      json_true(), NULL),
                          "nodes", json_array(), "edges", json_array(), "last",
                          pons_object("node", json_string(""), "seq", json_integer(0), NULL),
                          "actions", json_array(), "current", json_null(), "tries", json_integer(0),
                          "instants", json_integer(0), "paused", json_false(), "pausing",
                          json_null(), "canceling", json_null(), "placing", json_null(), "hold",
                          json_null(), "past", json_array(), "heard", json_array(), NULL);
    pons_value *placing =
        pons__vda_find_action(v, json_string_value(json_object_get(v->kept, "placing")));
    if (placing) { // nobody knows whether the body has heard it
        pons__vda_status(placing, "FAILED", "cut short: look at agvPosition");
        pons__vda_set(v, "placing", json_null());
    }
    *ret = v;
    return PONS_OK;
}

void pons_vda5050_destroy(pons_vda5050 *v)
{
    if (v) {
        pons_value_unref(v->config);
        pons_value_unref(v->kept);
        pons_value_unref(v->errors);
        pons_value_unref(v->texts);
        pons_value_unref(v->skills);
        pons_value_unref(v->said);
        free(v);
    }
}

int pons_vda5050_received(pons_vda5050 *v, pons_vda5050_topic topic, const char *data, size_t n,
                          bool retained, pons_error *err)
{
    pons_value *refs = json_array();
    pons__vda_ref(refs, "topic", pons_vda5050_topics[topic]);
    if (retained) { // it may be of any age
        pons__vda_refuse(v, "validationError", "a retained message is not taken", refs);
    } else if (n > PONS_VDA5050_BYTES_MAX) {
        pons__vda_refuse(v, "validationError", "the message is longer than 262144 bytes", refs);
    } else {
        pons_value_unref(refs);
        if (topic == PONS_VDA5050_ORDER) {
            pons__vda_order(v, data, n);
        } else if (topic == PONS_VDA5050_INSTANT_ACTIONS) {
            pons__vda_instant(v, data, n);
        }
    }
    choose(v);
    return flush(v, err);
}

int pons_vda5050_missed(pons_vda5050 *v, pons_vda5050_topic topic, size_t n, pons_error *err)
{
    char what[160];
    pons_value *refs = json_array();
    pons__vda_ref(refs, "topic", pons_vda5050_topics[topic]);
    snprintf(what, sizeof what,
             "%zu messages came faster than they are read, and were dropped: send them again", n);
    pons__vda_refuse(v, "messagesDropped", what, refs);
    return flush(v, err);
}

bool pons_vda5050_stops(pons_vda5050_topic topic, const char *data, size_t n)
{
    return topic == PONS_VDA5050_INSTANT_ACTIONS && n <= PONS_VDA5050_BYTES_MAX &&
           pons__vda_instant_stops(data, n);
}

int pons_vda5050_online(pons_vda5050 *v, bool online, int64_t now_ms, int64_t wall_ms,
                        pons_error *err)
{
    const int rc = flush(v, err);
    v->online = online;
    if (rc >= 0 && online) {
        pons_autovalue hello = pons_vda5050_connection(v, "ONLINE", wall_ms);
        v->o.publish(v->o.user, PONS_VDA5050_CONNECTION, hello);
        pons__vda_publish_factsheet(v, wall_ms);
        pons__vda_publish_state(v, now_ms, wall_ms);
    }
    return rc;
}

static const char *text_of(pons_vda5050 *v, const char *key, const char *text)
{
    if (text) {
        json_object_set_new(v->texts, key, pons_string(text));
    }
    return text ? pons_get_str(v->texts, key, "") : NULL;
}

int pons_vda5050_tick(pons_vda5050 *v, const pons_vda5050_seen *seen, int64_t now_ms,
                      int64_t wall_ms, pons_error *err)
{
    const bool away = seen->away && !v->seen.away;
    if (seen->skills && seen->skills != v->skills) {
        pons_value_unref(v->skills);
        v->skills = pons_value_ref(seen->skills);
        v->factsheet_due = true;
    }
    v->seen = *seen;
    v->seen.skills = v->skills;
    v->seen.why = text_of(v, "why", seen->why);
    v->seen.question = text_of(v, "question", seen->question);
    v->seen.holding = text_of(v, "holding", seen->holding);
    if (away && pons__vda_busy(v)) {
        pons_value *refs = json_array();
        pons__vda_ref(refs, "orderId", pons_get_str(pons_get(v->kept, "order"), "id", ""));
        pons__vda_refuse(v, "orderDropped", seen->why ? seen->why : "the robot is somebody else's",
                         refs);
        pons__vda_drop(v, "somebody else has the robot");
    }
    if (away) { // where it will be afterwards nobody knows
        pons__vda_set(v, "last",
                      pons_object("node", json_string(""), "seq", json_integer(0), NULL));
    }
    choose(v);
    const int rc = flush(v, err);
    if (rc < 0 || !v->online) {
        return rc;
    }
    if (v->factsheet_due || (seen->connected && seen->speed_max_mps != v->reported_speed)) {
        pons__vda_publish_factsheet(v, wall_ms);
    }
    if (v->forced || now_ms - v->state_ms >= STATE_LEAST_MS) {
        pons__vda_publish_state(v, now_ms, wall_ms);
    }
    const double every_s = pons_get_num(v->config, "visualization_s", 1.0);
    if (every_s > 0.0 && seen->connected && (double)(now_ms - v->shown_ms) >= every_s * 1000.0) {
        v->shown_ms = now_ms;
        pons__vda_publish_visualization(v, wall_ms);
    }
    return PONS_OK;
}

bool pons_vda5050_want(const pons_vda5050 *v, pons_vda5050_work *ret)
{
    const pons_value *current = pons_get(v->kept, "current");
    if (!json_is_object(current)) {
        return false;
    }
    *ret = (pons_vda5050_work){.key = pons_get_str(current, "key", ""),
                               .skill = pons_get_str(current, "skill", ""),
                               .args = pons_get(current, "args"),
                               .cancel = pons_get_bool(current, "cancel", false)};
    return true;
}

// ---- what has ended -----------------------------------------------------------------------------

static void drove(pons_vda5050 *v, const pons_value *was, bool ok, const char *why)
{
    pons_value *nodes = pons__vda_list(v, "nodes"), *edges = pons__vda_list(v, "edges");
    const pons_value *node = json_array_get(nodes, 0);
    const int64_t seq = pons_get_int(was, "seq", -1);
    const bool left = node && pons_get_int(node, "sequenceId", -2) == seq;
    if (ok) { // also of an order that was cancelled meanwhile
        pons__vda_set(v, "last",
                      pons_object("node", json_string(pons_get_str(was, "node", "")), "seq",
                                  json_integer(seq), NULL));
        pons__vda_set(v, "tries", json_integer(0));
        if (left) {
            json_array_remove(nodes, 0);
            json_array_remove(edges, 0);
        }
    } else if (pons_get_bool(was, "again", false)) {
        pons__vda_set(v, "tries", json_integer(pons_get_int(v->kept, "tries", 0) + 1));
    } else if (!pons_get_bool(was, "cancel", false)) {
        hold(v, "navigationError", why, "nodeId", pons_get_str(was, "node", ""));
    }
}

static void acted(pons_vda5050 *v, const pons_value *was, bool ok, const char *why)
{
    pons_value *action = pons__vda_find_action(v, pons_get_str(was, "action", ""));
    if (!action) {
        return;
    }
    pons__vda_status(action, ok ? "FINISHED" : "FAILED", ok ? NULL : why);
    const bool instant = strcmp(pons_get_str(action, "scope", ""), "INSTANT") == 0;
    if (ok || pons_get_bool(was, "cancel", false)) {
        return;
    }
    if (instant || strcmp(pons_get_str(action, "blocking", ""), "NONE") == 0) {
        pons_value *refs = json_array();
        pons__vda_ref(refs, "actionId", pons_get_str(action, "id", ""));
        pons__vda_refuse(v, "actionError", why, refs);
    } else {
        hold(v, "actionError", why, "actionId", pons_get_str(action, "id", ""));
    }
}

int pons_vda5050_ended(pons_vda5050 *v, const char *key, bool ok, const char *why, pons_error *err)
{
    const pons_value *current = pons_get(v->kept, "current");
    if (!json_is_object(current) || strcmp(pons_get_str(current, "key", ""), key) != 0) {
        return PONS_OK;
    }
    pons_autovalue was = pons_value_ref(current);
    pons__vda_set(v, "current", json_null());
    why = why && *why ? why : "it ended without success";
    if (strcmp(pons_get_str(was, "kind", ""), "node") == 0) {
        drove(v, was, ok, why);
    } else {
        acted(v, was, ok, why);
    }
    choose(v);
    return flush(v, err);
}

int pons_vda5050_placed(pons_vda5050 *v, bool ok, const char *why, pons_error *err)
{
    pons_value *action =
        pons__vda_find_action(v, json_string_value(json_object_get(v->kept, "placing")));
    if (action) {
        pons__vda_status(action, ok ? "FINISHED" : "FAILED", ok ? NULL : why);
        if (ok) {
            pons__vda_set(
                v, "last",
                pons_object("node", json_string(v->place_node), "seq", json_integer(0), NULL));
        }
    }
    pons__vda_set(v, "placing", json_null());
    choose(v);
    return flush(v, err);
}
