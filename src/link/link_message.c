// link_message.c - the messages to the body: one table, by which they are read, checked, written and
// documented.
//
//   decode   JSON --> its type's fields (fields.h) --> struct
//   encode   struct --> its type's fields --> JSON
//   describe the table, for docs/reference/link-messages.md
//
// What the body says has the other table, link_report.c.
//
// A new message is a type in link_message.h, its struct, its fields here, and a row in docs/reference/link.md;
// a new field is a line here. Nothing else of pons spells a member's name of a message to the body.
// Any thread.
#include "pons/link_message.h"

#include <string.h>

#define AT(member) offsetof(pons_message, as.member)
#define REQUIRED   PONS_FIELD_REQUIRED
#define USUAL      PONS_FIELD_USUAL
#define OPTIONAL   PONS_FIELD_OPTIONAL
#define STRING     PONS_FIELD_STRING
#define INTEGER    PONS_FIELD_INTEGER
#define NUMBER     PONS_FIELD_NUMBER
#define BOOLEAN    PONS_FIELD_BOOLEAN
#define OBJECT     PONS_FIELD_OBJECT
#define LIST       PONS_FIELD_LIST

// ---- the table ----------------------------------------------------------------------------------

// clang-format off
static const pons_field hello_fields[] = {
    {"protocol", INTEGER, USUAL,    AT(hello.protocol), .code = "protocol", .means = "1; another one is refused"},
    {"role",     STRING,  USUAL,    AT(hello.role), .words = "observer", .means = "`controller` or `observer`"},
    {"name",     STRING,  USUAL,    AT(hello.name), .means = "of the program, for people"},
    {"pid",      INTEGER, OPTIONAL, AT(hello.pid), .means = "where the socket cannot tell it"},
    {"tree",     BOOLEAN, OPTIONAL, AT(hello.tree), .means = "wants `tree` messages too"},
    {"view",     BOOLEAN, OPTIONAL, AT(hello.view), .means = "wants `view` messages too"},
    {"laser",    BOOLEAN, OPTIONAL, AT(hello.laser), .means = "wants the whole scan in them"},
    {"senses",   BOOLEAN, OPTIONAL, AT(hello.senses), .means = "wants `senses` messages too"},
    {"sees",     BOOLEAN, OPTIONAL, AT(hello.sees), .means = "wants `sees` messages too"},
};

static const pons_field goal_fields[] = {
    {"goal_id",    STRING,  REQUIRED, AT(goal.goal_id), .min = 1, .max = PONS_GOAL_ID_MAX, .means = "the sender's choice, unique for ever"},
    {"epoch",      INTEGER, USUAL,    AT(goal.epoch), .preset = -1, .code = "stale_epoch", .means = "the control epoch of the sender's `hello`"},
    {"expires_ms", INTEGER, USUAL,    AT(goal.expires_ms), .code = "expired", .means = "CLOCK_BOOTTIME; it does not start later"},
    {"robot_id",   STRING,  USUAL,    AT(goal.robot_id), .code = "wrong_robot", .means = "the robot that is meant"},
    {"skill",      STRING,  USUAL,    AT(goal.skill), .code = "unknown_skill", .means = "one of the registry"},
    {"args",       OBJECT,  REQUIRED, AT(goal.args), .means = "the skill's arguments, by its schema"},
    {"args_hash",  STRING,  REQUIRED, AT(goal.args_hash), .min = 1, .max = PONS_LINK_LINE_MAX, .means = "the same whenever the id is; opaque to the body"},
    {"thread",     STRING,  USUAL,    AT(goal.thread), .means = "for the ledger"},
    {"task_id",    STRING,  USUAL,    AT(goal.task_id), .means = "for the ledger"},
    {"attempt",    INTEGER, USUAL,    AT(goal.attempt), .means = "for the ledger"},
    {"preempt",    BOOLEAN, OPTIONAL, AT(goal.preempt), .means = "takes over from an active goal of the same skill"},
};

static const pons_field about_fields[] = { // status has the first only
    {"goal_id", STRING,  REQUIRED, AT(about.goal_id), .means = "the goal that is meant"},
    {"epoch",   INTEGER, USUAL,    AT(about.epoch), .preset = -1, .code = "stale_epoch", .means = "as of `goal`"},
};

static const pons_field stop_fields[] = {
    {"reason", STRING, OPTIONAL, AT(stop.reason), .words = "stop", .means = "for people; whatever it is, the stop counts"},
};

static const pons_field reset_fields[] = {
    {"auto",   BOOLEAN, OPTIONAL, AT(reset.automatic), .means = "only a latch of the origin `boot`"},
    {"number", INTEGER, OPTIONAL, AT(reset.number), .means = "only the latch of this number (`stop.number`)"},
};

static const pons_field bye_fields[] = {
    {"stop_body", BOOLEAN, USUAL, AT(bye.stop_body), .means = "also ends a body that a run had started"},
};

static const pons_field spawn_fields[] = {
    {"id",     STRING,  REQUIRED, AT(spawn.id), .means = "of the obstacle; of an object of the world: it is moved, and needs no size"},
    {"x",      NUMBER,  OPTIONAL, AT(spawn.x), .means = "its middle, m"},
    {"y",      NUMBER,  OPTIONAL, AT(spawn.y), .means = "m"},
    {"yaw",    NUMBER,  OPTIONAL, AT(spawn.yaw), .means = "rad"},
    {"sx",     NUMBER,  OPTIONAL, AT(spawn.sx), .means = "its length, m"},
    {"sy",     NUMBER,  OPTIONAL, AT(spawn.sy), .means = "its width, m"},
    {"height", NUMBER,  OPTIONAL, AT(spawn.height), .means = "m"},
    {"remove", BOOLEAN, OPTIONAL, AT(spawn.remove), .means = "it goes; the rest is not needed then"},
};

static const pons_field battery_fields[] = {
    {"pct", NUMBER, REQUIRED, AT(battery.pct), .min = 0, .max = 100, .means = "charge, per cent"},
};

static const pons_field set_pose_fields[] = {
    {"x",   NUMBER, REQUIRED, AT(set_pose.x), .means = "where the robot is, in the map, m"},
    {"y",   NUMBER, REQUIRED, AT(set_pose.y), .means = "m"},
    {"yaw", NUMBER, REQUIRED, AT(set_pose.yaw), .means = "how it is turned, rad"},
};

static const pons_field steer_fields[] = {
    {"v",      NUMBER,  USUAL,    AT(steer.v), .min = -10, .max = 10, .means = "ahead, m/s; the body's limits and its gate cut it"},
    {"w",      NUMBER,  USUAL,    AT(steer.w), .min = -10, .max = 10, .means = "turning to the left, rad/s"},
    {"let_go", BOOLEAN, OPTIONAL, AT(steer.let_go), .means = "the person has finished: the goal is done"},
};

static const pons_field pace_fields[] = {
    {"percent", INTEGER, REQUIRED, AT(pace.percent), .min = 10, .max = 100, .means = "of every speed limit is left, kept until another one comes"},
    {"from",    INTEGER, OPTIONAL, AT(pace.from), .min = 0, .max = 100, .means = "it is not raised unless this is in force; 0: from wherever it is"},
};

static const pons_field places_fields[] = {
    {"zones",   LIST,   OPTIONAL, AT(places.zones), .means = "all zones, as the world's file has them; left out: unchanged"},
    {"charger", OBJECT, OPTIONAL, AT(places.charger), .means = "the charger, as the world's file has it; left out: unchanged"},
};

#define FIELDS(list) list, sizeof(list) / sizeof((list)[0])
static const struct {
    const char *word;
    const pons_field *fields;
    size_t n;
} types[PONS_MESSAGE_TYPES] = {
    [PONS_MESSAGE_HELLO]     = {"hello", FIELDS(hello_fields)},
    [PONS_MESSAGE_HEARTBEAT] = {"heartbeat", NULL, 0},
    [PONS_MESSAGE_GOAL]      = {"goal", FIELDS(goal_fields)},
    [PONS_MESSAGE_CANCEL]    = {"cancel", FIELDS(about_fields)},
    [PONS_MESSAGE_ADOPT]     = {"adopt", FIELDS(about_fields)},
    [PONS_MESSAGE_STATUS]    = {"status", about_fields, 1},
    [PONS_MESSAGE_STOP]      = {"stop", FIELDS(stop_fields)},
    [PONS_MESSAGE_RESET]     = {"reset", FIELDS(reset_fields)},
    [PONS_MESSAGE_BYE]       = {"bye", FIELDS(bye_fields)},
    [PONS_MESSAGE_SPAWN]     = {"world.spawn", FIELDS(spawn_fields)},
    [PONS_MESSAGE_BATTERY]   = {"world.battery", FIELDS(battery_fields)},
    [PONS_MESSAGE_SET_POSE]  = {"set_pose", FIELDS(set_pose_fields)},
    [PONS_MESSAGE_STEER]     = {"steer", FIELDS(steer_fields)},
    [PONS_MESSAGE_PACE]      = {"pace", FIELDS(pace_fields)},
    [PONS_MESSAGE_PLACES]    = {"world.places", FIELDS(places_fields)},
};
// clang-format on

int pons_message_decode(const pons_value *json, pons_message *ret, pons_error *err)
{
    const char *word = pons_get_str(json, "type", "");
    *ret = (pons_message){.type = PONS_MESSAGE_NONE};
    for (int t = PONS_MESSAGE_NONE + 1; t < PONS_MESSAGE_TYPES; t++) {
        if (strcmp(types[t].word, word) == 0) {
            ret->type = (pons_message_type)t;
        }
    }
    if (ret->type == PONS_MESSAGE_NONE) {
        return pons_error_set(err, PONS_ENOTFOUND, "link", "there is no message %.60s", word);
    }
    ret->held = pons_value_ref(json);
    pons_fields_decode(types[ret->type].fields, types[ret->type].n, json, ret, &ret->fault);
    return ret->fault.text[0] ? pons_error_set(err, PONS_EPROTOCOL, "link", "%s", ret->fault.text)
                              : PONS_OK;
}

pons_message pons_message_share(const pons_message *m)
{
    pons_value_ref(m->held);
    return *m;
}

void pons_message_clear(pons_message *m)
{
    if (m) {
        pons_value_unref(m->held);
        *m = (pons_message){.type = PONS_MESSAGE_NONE};
    }
}

pons_value *pons_message_encode(const pons_message *m)
{
    pons_value *json = pons_object_whole("type", json_string(types[m->type].word), NULL);
    if (json && pons_fields_encode(types[m->type].fields, types[m->type].n, m, json) < 0) {
        pons_value_unref(json);
        return NULL;
    }
    return json;
}

int pons_message_send(pons_link *l, const pons_message *m, pons_error *err)
{
    return pons_link_send(l, pons_message_encode(m), err);
}

const char *pons_message_word(pons_message_type type)
{
    return type > PONS_MESSAGE_NONE && type < PONS_MESSAGE_TYPES ? types[type].word : NULL;
}

const pons_field *pons_message_fields(pons_message_type type, size_t *ret_n)
{
    *ret_n = types[type].n;
    return types[type].fields;
}

int pons_message_describe(pons_buf *out)
{
    int rc = pons_buf_str(out, "| message | field | kind | required | meaning |\n"
                               "|---|---|---|---|---|\n");
    for (int t = PONS_MESSAGE_NONE + 1; rc >= 0 && t < PONS_MESSAGE_TYPES; t++) {
        rc = types[t].n == 0
                 ? pons_buf_printf(out, "| `%s` | | | | |\n", types[t].word)
                 : pons_fields_describe(types[t].fields, types[t].n, types[t].word, out);
    }
    return rc;
}
