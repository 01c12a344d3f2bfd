// vehicle.h - a vehicle as the files of this folder share it.
#pragma once

#include "pons/vda5050.h"

#define PONS__VDA_ERRORS_MAX   16
#define PONS__VDA_INSTANTS_MAX 32  // instant actions that the state shows, when they are over
#define PONS__VDA_ID_MAX       128 // bytes of an id, as the factsheet says; the schemas have it too

// kept is one object, as it is stored:
//
//     {serial, order: {id, update, over}, nodes, edges, last: {node, seq},
//      actions: [{id, type, about?, status, result?, scope, seq, blocking, skill, args}],
//      current: null | {key, kind, seq, action, skill, args, cancel, again},
//      tries, paused, pausing, canceling, placing, hold: null | error, past: [[id, update]…], heard: [{id, of}…]}
//
// nodes and edges are those still to be driven, as the order had them; over: the order was cancelled or
// dropped, and nothing continues it. hold: the order waits for cancelOrder. pausing, canceling, placing:
// the actionId of the instant action that is at it, or null. heard: of instant actions; of: the message's headerId
// and timestamp.
struct pons_vda5050 {
    pons_vda5050_options o;
    pons_value *config;
    pons_value *kept;
    bool dirty;         // kept has changed
    pons_value *errors; // of messages that were refused, until an order is accepted
    pons_vda5050_seen seen;
    pons_value *texts;  // seen's strings
    pons_value *skills; // the newest that were seen; NULL: none yet
    double place_x, place_y, place_yaw;
    bool place_due; // told once that the action is kept
    char place_node[PONS__VDA_ID_MAX + 1];
    bool online, forced, factsheet_due;
    int64_t state_ms, shown_ms;
    pons_value *said; // the state that was published last, without what changes all the time
    uint32_t header[PONS_VDA5050_TOPICS];
    double reported_speed; // in the factsheet
};

// order.c
void pons__vda_order(pons_vda5050 *v, const char *data, size_t n);

// order_actions.c
void pons__vda_instant(pons_vda5050 *v, const char *data, size_t n);
bool pons__vda_instant_stops(const char *data, size_t n); // one of its actions does
// An action as it is kept, WAITING; or NULL, with what is wrong with it.
pons_value *pons__vda_action(const pons_vda5050 *v, const pons_value *action, const char *scope,
                             int64_t seq, const char **ret_key, char *why, size_t cap);

// vehicle_state.c
pons_value *pons__vda_message(pons_vda5050 *v, pons_vda5050_topic topic, int64_t wall_ms);
void pons__vda_publish_state(pons_vda5050 *v, int64_t now_ms, int64_t wall_ms);
void pons__vda_publish_factsheet(pons_vda5050 *v, int64_t wall_ms);
void pons__vda_publish_visualization(pons_vda5050 *v, int64_t wall_ms);

// vehicle.c
// refs: of errorReferences; pons__vda_refuse takes them.
pons_value *pons__vda_error(const char *type, const char *level, const char *what,
                            const pons_value *refs);
void pons__vda_refuse(pons_vda5050 *v, const char *type, const char *what, pons_value *refs);
void pons__vda_ref(pons_value *refs, const char *key, const char *value);
void pons__vda_ref_number(pons_value *refs, const char *key, int64_t value);
// The header says that it is for this vehicle; else it is refused. Takes refs.
bool pons__vda_meant(pons_vda5050 *v, const pons_value *message, pons_value *refs);
void pons__vda_set(pons_vda5050 *v, const char *key, pons_value *value); // of kept; takes it
pons_value *pons__vda_list(const pons_vda5050 *v, const char *key);
bool pons__vda_pose_of(const pons_vda5050 *v, const pons_value *node, double *x, double *y,
                       bool *turned, double *yaw);
bool pons__vda_open(const pons_value *action); // neither FINISHED nor FAILED
void pons__vda_status(pons_value *action, const char *status, const char *result);
pons_value *pons__vda_find_action(const pons_vda5050 *v, const char *id);
bool pons__vda_has_skill(const pons_vda5050 *v, const char *name); // or it is not known
bool pons__vda_busy(const pons_vda5050 *v); // driving, working, or waiting for more of an order
// The robot has left the way of the order, or the order is over: nothing of it is done any more.
void pons__vda_drop(pons_vda5050 *v, const char *result);
