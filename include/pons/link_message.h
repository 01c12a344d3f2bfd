// link_message.h - what is said to the body, as structs. What the body says: link_report.h.
//
// A message is JSON only on the link (link.h). Who sends one fills a struct and encodes it; who
// hears one decodes it, once, and works with the struct. Both go by one table (fields.h), which has
// for each field of each message its name, kind, limits and meaning; docs/reference/link-messages.md shows the same
// table, and tests walk it.
//
//   pons_message  --encode-->  {"type":"goal",…}  --link-->  {"type":"goal",…}  --decode-->  struct
//
// Members that the table does not have are ignored, and a member that is null counts as absent.
#pragma once

#include "pons/fields.h"
#include "pons/link.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_GOAL_ID_MAX 200 // bytes

typedef enum pons_message_type {
    PONS_MESSAGE_NONE, // no message, or of a type that is not known
    PONS_MESSAGE_HELLO,
    PONS_MESSAGE_HEARTBEAT,
    PONS_MESSAGE_GOAL,
    PONS_MESSAGE_CANCEL,
    PONS_MESSAGE_ADOPT,
    PONS_MESSAGE_STATUS,
    PONS_MESSAGE_STOP,
    PONS_MESSAGE_RESET,
    PONS_MESSAGE_BYE,
    PONS_MESSAGE_SPAWN,
    PONS_MESSAGE_BATTERY,
    PONS_MESSAGE_SET_POSE,
    PONS_MESSAGE_STEER,
    PONS_MESSAGE_PACE,
    PONS_MESSAGE_PLACES,
    PONS_MESSAGE_TYPES
} pons_message_type;

// Strings are never NULL after a decode. To send, NULL stands for the field's default.
typedef struct pons_message_hello {
    int64_t protocol;
    const char *role; // "controller", "observer"
    const char *name;
    int64_t pid; // 0: not said
    bool tree;   // wants to see the navigator's tree at work
    bool view;   // wants to see the way and the scan
    bool laser;  // and the scan as it was measured
    bool senses; // wants what the robot senses, as it comes
    bool sees;   // wants what the simulated detector finds
} pons_message_hello;

typedef struct pons_message_goal {
    const char *goal_id;
    int64_t epoch;      // -1: not said
    int64_t expires_ms; // CLOCK_BOOTTIME
    const char *robot_id, *skill;
    const pons_value *args; // an object, of which the skill knows more
    const char *args_hash;
    const char *thread, *task_id;
    int64_t attempt;
    bool preempt;
} pons_message_goal;

typedef struct pons_message_about { // cancel, adopt, status (which has no epoch)
    const char *goal_id;
    int64_t epoch; // -1: not said
} pons_message_about;

typedef struct pons_message_spawn {
    const char *id; // of an obstacle, or of an object of the world, which is there then
    double x, y, yaw, sx, sy, height; // in the map [m, rad]; NAN: not said
    bool remove;
} pons_message_spawn;

typedef struct pons_message {
    pons_message_type type;
    union {
        pons_message_hello hello;
        pons_message_goal goal;
        pons_message_about about;
        struct {
            const char *reason;
        } stop;
        struct {
            bool automatic; // "auto"
            int64_t number; // of the latch that is meant; 0: the one that is in force
        } reset;
        struct {
            bool stop_body;
        } bye;
        pons_message_spawn spawn;
        struct {
            double pct;
        } battery;
        struct {
            double x, y, yaw; // in the map [m, rad]; NAN: was of another kind
        } set_pose;
        struct {
            double v, w; // [m/s, rad/s]; NAN: not said
            bool let_go;
        } steer;
        struct {
            int64_t percent; // of every speed limit, that is left
            int64_t from;    // what is in force, or else it is not raised; 0: whatever that is
        } pace;
        struct {
            const pons_value *zones, *charger; // as the world's file has them; NULL: unchanged
        } places;
    } as;
    pons_field_fault fault; // of a decode: the first field that is wrong
    const pons_value *held; // of a decode: what strings and args lie in
} pons_message;

// Reads a message. PONS_ENOTFOUND: its type is not in the table; *ret is of PONS_MESSAGE_NONE.
// PONS_EPROTOCOL: a field is missing, of another kind, or outside its limits; err and ret->fault
// name the first one and say what was found. *ret is filled all the same, for some must be obeyed
// (stop) or answered by their id (goal): what is of its kind as it came, the others with their
// defaults. The caller clears *ret.
int pons_message_decode(const pons_value *json, pons_message *ret, pons_error *err);
// One more owner of what a decode has read.
pons_message pons_message_share(const pons_message *m);
void pons_message_clear(pons_message *m); // NULL-safe; leaves PONS_MESSAGE_NONE

// The JSON of a message, with "type"; the caller's. A string that is no UTF-8 is left out.
pons_value *pons_message_encode(const pons_message *m);
// pons_link_send() of that.
int pons_message_send(pons_link *l, const pons_message *m, pons_error *err);

// ---- the table ----------------------------------------------------------------------------------

// The word of a type, "goal"; NULL for PONS_MESSAGE_NONE and what is no type.
const char *pons_message_word(pons_message_type type);
// The fields of a type, without "type" itself; constant.
const pons_field *pons_message_fields(pons_message_type type, size_t *ret_n);
// Appends the table as it stands in docs/reference/link-messages.md. PONS_ENOMEM.
int pons_message_describe(pons_buf *out);

PONS_C_END
