// message.c - the messages to the body: one table, by which they are read, checked, written and
// documented.
//
//   decode   JSON --> for each field of the type: absent? of its kind? within its limits? --> struct
//   encode   struct --> for each field of the type: said? --> JSON
//   describe the table, for docs/link.md
//
// A new message is a type in link_message.h, its struct, its fields here, and a row in docs/link.md;
// a new field is a line here. Nothing else of pons spells a member's name of a message to the body.
// Any thread.
#include "pons/link_message.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

// ---- the table ----------------------------------------------------------------------------------

// clang-format off
static const pons_message_field hello_fields[] = {
    {"protocol", INTEGER, USUAL,    AT(hello.protocol), .code = "protocol", .means = "1; another one is refused"},
    {"role",     STRING,  USUAL,    AT(hello.role), .words = "observer", .means = "`controller` or `observer`"},
    {"name",     STRING,  USUAL,    AT(hello.name), .means = "of the program, for people"},
    {"pid",      INTEGER, OPTIONAL, AT(hello.pid), .means = "where the socket cannot tell it"},
    {"tree",     BOOLEAN, OPTIONAL, AT(hello.tree), .means = "wants `tree` messages too"},
};

static const pons_message_field goal_fields[] = {
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

static const pons_message_field about_fields[] = { // status has the first only
    {"goal_id", STRING,  REQUIRED, AT(about.goal_id), .means = "the goal that is meant"},
    {"epoch",   INTEGER, USUAL,    AT(about.epoch), .preset = -1, .code = "stale_epoch", .means = "as of `goal`"},
};

static const pons_message_field stop_fields[] = {
    {"reason", STRING, OPTIONAL, AT(stop.reason), .words = "stop", .means = "for people; whatever it is, the stop counts"},
};

static const pons_message_field reset_fields[] = {
    {"auto", BOOLEAN, OPTIONAL, AT(reset.automatic), .means = "only a latch of the origin `boot`"},
};

static const pons_message_field bye_fields[] = {
    {"stop_body", BOOLEAN, USUAL, AT(bye.stop_body), .means = "also ends a body that a run had started"},
};

static const pons_message_field spawn_fields[] = {
    {"id",     STRING,  REQUIRED, AT(spawn.id), .means = "of the obstacle"},
    {"x",      NUMBER,  OPTIONAL, AT(spawn.x), .means = "its middle, m"},
    {"y",      NUMBER,  OPTIONAL, AT(spawn.y), .means = "m"},
    {"yaw",    NUMBER,  OPTIONAL, AT(spawn.yaw), .means = "rad"},
    {"sx",     NUMBER,  OPTIONAL, AT(spawn.sx), .means = "its length, m"},
    {"sy",     NUMBER,  OPTIONAL, AT(spawn.sy), .means = "its width, m"},
    {"height", NUMBER,  OPTIONAL, AT(spawn.height), .means = "m"},
    {"remove", BOOLEAN, OPTIONAL, AT(spawn.remove), .means = "it goes; the rest is not needed then"},
};

static const pons_message_field battery_fields[] = {
    {"pct", NUMBER, REQUIRED, AT(battery.pct), .min = 0, .max = 100, .means = "charge, per cent"},
};

static const pons_message_field set_pose_fields[] = {
    {"x",   NUMBER, REQUIRED, AT(set_pose.x), .means = "where the robot is, in the map, m"},
    {"y",   NUMBER, REQUIRED, AT(set_pose.y), .means = "m"},
    {"yaw", NUMBER, REQUIRED, AT(set_pose.yaw), .means = "how it is turned, rad"},
};

#define FIELDS(list) list, sizeof(list) / sizeof((list)[0])
static const struct {
    const char *word;
    const pons_message_field *fields;
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
};

// What a kind is called, with its article.
static const char *const kind_words[] = {
    [STRING] = "a string", [INTEGER] = "an integer", [NUMBER] = "a number",
    [BOOLEAN] = "true or false", [OBJECT] = "an object",
};
// clang-format on

static void read_field(const pons_message_field *f, const pons_value *json, pons_message *m);
static void set_default(const pons_message_field *f, pons_message *m);
static bool set_value(const pons_message_field *f, const pons_value *v, pons_message *m);
static void check_limits(const pons_message_field *f, pons_message *m);
static void wrong(const pons_message_field *f, pons_message *m, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static pons_value *said(const pons_message_field *f, const pons_message *m);
static const char *found(const pons_value *v);

// ---- public functions ---------------------------------------------------------------------------

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
    for (size_t i = 0; i < types[ret->type].n; i++) {
        read_field(&types[ret->type].fields[i], json, ret);
    }
    return ret->fault[0] ? pons_error_set(err, PONS_EPROTOCOL, "link", "%s", ret->fault) : PONS_OK;
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
    pons_value *json = pons_object("type", json_string(types[m->type].word), NULL);
    for (size_t i = 0; json && i < types[m->type].n; i++) {
        const pons_message_field *f = &types[m->type].fields[i];
        pons_value *v = said(f, m);
        if (v) {
            json_object_set_new(json, f->name, v);
        }
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

const pons_message_field *pons_message_fields(pons_message_type type, size_t *ret_n)
{
    *ret_n = types[type].n;
    return types[type].fields;
}

int pons_message_describe(pons_buf *out)
{
    static const char *const uses[] = {[REQUIRED] = "yes", [USUAL] = "–", [OPTIONAL] = "–"};
    int rc = pons_buf_str(out, "| message | field | kind | required | meaning |\n"
                               "|---|---|---|---|---|\n");
    for (int t = PONS_MESSAGE_NONE + 1; t < PONS_MESSAGE_TYPES; t++) {
        if (types[t].n == 0) {
            rc = pons_buf_printf(out, "| `%s` | | | | |\n", types[t].word);
        }
        for (size_t i = 0; i < types[t].n; i++) {
            const pons_message_field *f = &types[t].fields[i];
            char limits[64] = "";
            if (f->max > 0) {
                snprintf(limits, sizeof limits, ", %" PRId64 "–%" PRId64 "%s", f->min, f->max,
                         f->kind == STRING ? " bytes" : "");
            }
            rc = pons_buf_printf(out, "| `%s` | `%s` | %s%s | %s | %s |\n", types[t].word, f->name,
                                 kind_words[f->kind], limits, uses[f->use], f->means);
        }
    }
    return rc;
}

// ---- decode -------------------------------------------------------------------------------------

static void read_field(const pons_message_field *f, const pons_value *json, pons_message *m)
{
    const pons_value *v = pons_get(json, f->name);
    set_default(f, m);
    if (!v || json_is_null(v)) {
        if (f->use == REQUIRED) {
            wrong(f, m, "%s is missing", f->name);
        }
    } else if (!set_value(f, v, m)) {
        wrong(f, m, "%s must be %s, not %s", f->name, kind_words[f->kind], found(v));
    } else {
        check_limits(f, m);
    }
}

static void set_default(const pons_message_field *f, pons_message *m)
{
    void *at = (char *)m + f->offset;
    switch (f->kind) {
    case STRING:
        *(const char **)at = f->words ? f->words : "";
        break;
    case INTEGER:
        *(int64_t *)at = f->preset;
        break;
    case NUMBER:
        *(double *)at = NAN;
        break;
    case BOOLEAN:
        *(bool *)at = false;
        break;
    case OBJECT:
        *(const pons_value **)at = NULL;
        break;
    }
}

// false: v is of another kind.
static bool set_value(const pons_message_field *f, const pons_value *v, pons_message *m)
{
    void *at = (char *)m + f->offset;
    switch (f->kind) {
    case STRING:
        if (json_is_string(v)) {
            *(const char **)at = json_string_value(v);
        }
        return json_is_string(v);
    case INTEGER: {
        const double d = json_number_value(v);
        if (json_is_integer(v)) {
            *(int64_t *)at = json_integer_value(v);
        } else if (json_is_real(v) && d == floor(d) && d >= -0x1p63 && d < 0x1p63) {
            *(int64_t *)at = (int64_t)d;
        } else {
            return false;
        }
        return true;
    }
    case NUMBER:
        if (json_is_number(v)) {
            *(double *)at = json_number_value(v);
        }
        return json_is_number(v);
    case BOOLEAN:
        *(bool *)at = json_is_true(v);
        return json_is_boolean(v);
    case OBJECT:
        if (json_is_object(v)) {
            *(const pons_value **)at = v;
        }
        return json_is_object(v);
    }
    return false;
}

static void check_limits(const pons_message_field *f, pons_message *m)
{
    const void *at = (const char *)m + f->offset;
    if (f->max == 0) {
        return;
    }
    if (f->kind == STRING) {
        const int64_t n = (int64_t)strlen(*(const char *const *)at);
        if (n < f->min || n > f->max) {
            wrong(f, m, "%s must have %" PRId64 " to %" PRId64 " bytes, not %" PRId64, f->name,
                  f->min, f->max, n);
        }
    } else if (f->kind == INTEGER || f->kind == NUMBER) {
        const double x = f->kind == NUMBER ? *(const double *)at : (double)*(const int64_t *)at;
        if (x < (double)f->min || x > (double)f->max) {
            wrong(f, m, "%s must be from %" PRId64 " to %" PRId64 ", not %g", f->name, f->min,
                  f->max, x);
        }
    }
}

// The first fault is the one that is told.
static void wrong(const pons_message_field *f, pons_message *m, const char *fmt, ...)
{
    if (m->fault[0]) {
        return;
    }
    m->fault_code = f->code ? f->code : "bad_args";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(m->fault, sizeof m->fault, fmt, ap);
    va_end(ap);
}

static const char *found(const pons_value *v)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_NULL:
        break;
    }
    return "null";
}

// ---- encode -------------------------------------------------------------------------------------

// The value of a field; NULL: it is not said.
static pons_value *said(const pons_message_field *f, const pons_message *m)
{
    const void *at = (const char *)m + f->offset;
    const bool always = f->use != OPTIONAL;
    switch (f->kind) {
    case STRING: {
        const char *preset = f->words ? f->words : "";
        const char *s = *(const char *const *)at;
        s = s ? s : preset;
        return always || strcmp(s, preset) != 0 ? json_string(s) : NULL;
    }
    case INTEGER: {
        const int64_t n = *(const int64_t *)at;
        return always || n != f->preset ? json_integer(n) : NULL;
    }
    case NUMBER: {
        const double x = *(const double *)at;
        return isfinite(x) ? json_real(x) : NULL;
    }
    case BOOLEAN: {
        const bool on = *(const bool *)at;
        return always || on ? json_boolean(on) : NULL;
    }
    case OBJECT: {
        const pons_value *v = *(const pons_value *const *)at;
        return v ? pons_value_ref(v) : NULL;
    }
    }
    return NULL;
}
