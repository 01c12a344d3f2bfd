// vehicle.c - what a vehicle has, and what all files of this folder ask of it and say with it: its lists,
// errors and their references, an action's status, the order and its end.
#include "vda5050/vehicle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pons__vda_set(pons_vda5050 *v, const char *key, pons_value *value)
{
    json_object_set_new(v->kept, key, value);
    v->dirty = true;
}

pons_value *pons__vda_list(const pons_vda5050 *v, const char *key)
{
    return json_object_get(v->kept, key);
}

void pons__vda_ref(pons_value *refs, const char *key, const char *value)
{
    json_array_append_new(refs, pons_object("referenceKey", json_string(key), "referenceValue",
                                            pons_string(value), NULL));
}

void pons__vda_ref_number(pons_value *refs, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    pons__vda_ref(refs, key, text);
}

pons_value *pons__vda_error(const char *type, const char *level, const char *what,
                            const pons_value *refs)
{
    return pons_object("errorType", json_string(type), "errorReferences",
                       refs ? pons_value_ref(refs) : json_array(), "errorDescription",
                       pons_string(what), "errorLevel", json_string(level), NULL);
}

// The same again takes the place of the first; of too many the oldest goes.
void pons__vda_refuse(pons_vda5050 *v, const char *type, const char *what, pons_value *refs)
{
    pons_value *e = pons__vda_error(type, "WARNING", what, refs);
    pons_value_unref(refs);
    for (size_t i = 0; i < json_array_size(v->errors); i++) {
        if (json_equal(json_array_get(v->errors, i), e)) {
            json_array_remove(v->errors, i);
            break;
        }
    }
    if (json_array_size(v->errors) >= PONS__VDA_ERRORS_MAX) {
        json_array_remove(v->errors, 0);
    }
    json_array_append_new(v->errors, e);
}

bool pons__vda_meant(pons_vda5050 *v, const pons_value *message, pons_value *refs)
{
    pons_autovalue own = refs;
    static const struct {
        const char *key, *config;
    } names[] = {{"manufacturer", "manufacturer"}, {"serialNumber", "serial"}};
    const char *version = pons_get_str(message, "version", "");
    if (strncmp(version, "2.", 2) != 0) {
        pons__vda_ref(own, "version", version);
        pons__vda_refuse(v, "validationError", "this vehicle speaks version 2.1.0",
                         pons_value_ref(own));
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *said = pons_get_str(message, names[i].key, "");
        if (strcmp(said, pons_get_str(v->config, names[i].config, "")) != 0) {
            pons__vda_ref(own, names[i].key, said);
            pons__vda_refuse(v, "validationError", "the header names another vehicle",
                             pons_value_ref(own));
            return false;
        }
    }
    return true;
}

bool pons__vda_pose_of(const pons_vda5050 *v, const pons_value *node, double *x, double *y,
                       bool *turned, double *yaw)
{
    const pons_value *at = pons_get(node, "nodePosition");
    if (!json_is_object(at)) {
        at = pons_get(pons_get(v->config, "nodes"), pons_get_str(node, "nodeId", ""));
    }
    *x = pons_get_num(at, "x", NAN);
    *y = pons_get_num(at, "y", NAN);
    *turned = json_is_number(pons_get(at, "theta"));
    *yaw = pons_get_num(at, "theta", 0.0);
    return isfinite(*x) && isfinite(*y);
}

// ---- actions ------------------------------------------------------------------------------------

bool pons__vda_open(const pons_value *action)
{
    const char *status = pons_get_str(action, "status", "");
    return strcmp(status, "FINISHED") != 0 && strcmp(status, "FAILED") != 0;
}

void pons__vda_status(pons_value *action, const char *status, const char *result)
{
    json_object_set_new(action, "status", json_string(status));
    if (result) {
        json_object_set_new(action, "result", pons_string(result));
    }
}

pons_value *pons__vda_find_action(const pons_vda5050 *v, const char *id)
{
    pons_each(a, pons__vda_list(v, "actions")) {
        if (id && strcmp(pons_get_str(a, "id", ""), id) == 0) {
            return a;
        }
    }
    return NULL;
}

bool pons__vda_has_skill(const pons_vda5050 *v, const char *name)
{
    return !v->skills || pons_find(v->skills, "name", name);
}

// ---- the order ----------------------------------------------------------------------------------

bool pons__vda_busy(const pons_vda5050 *v)
{
    bool open = json_array_size(pons__vda_list(v, "nodes")) > 0;
    pons_each(a, pons__vda_list(v, "actions")) {
        open = open || (pons__vda_open(a) && strcmp(pons_get_str(a, "scope", ""), "INSTANT") != 0);
    }
    const pons_value *current = pons_get(v->kept, "current");
    open = open || json_is_object(pons_get(v->kept, "hold"));
    return open ||
           (json_is_object(current) && strcmp(pons_get_str(current, "kind", ""), "node") == 0);
}

void pons__vda_drop(pons_vda5050 *v, const char *result)
{
    pons_value *current = json_object_get(v->kept, "current");
    const char *at = pons_get_str(current, "action", "");
    pons_each(a, pons__vda_list(v, "actions")) {
        const bool runs = strcmp(pons_get_str(a, "id", ""), at) == 0;
        if (pons__vda_open(a) && !runs && strcmp(pons_get_str(a, "scope", ""), "INSTANT") != 0) {
            pons__vda_status(a, "FAILED", result);
        }
    }
    if (json_is_object(current)) {
        const pons_value *running = pons__vda_find_action(v, at);
        if (!running || strcmp(pons_get_str(running, "scope", ""), "INSTANT") != 0) {
            json_object_set_new(current, "cancel", json_true());
            json_object_set_new(current, "again", json_false());
        }
    }
    json_array_clear(pons__vda_list(v, "nodes"));
    json_array_clear(pons__vda_list(v, "edges"));
    pons_value *order = json_object_get(v->kept, "order");
    json_object_set_new(order, "over", json_true());
    pons__vda_set(v, "hold", json_null());
}
