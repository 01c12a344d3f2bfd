// types.c - interfaces by their text, laid out for DDS.
//
//     === my_msgs/action/Wave          my_msgs/action/Wave_Goal      {int32 times; float32 speed = 0.5}
//     int32 times                      my_msgs/action/Wave_Result    {bool done}
//     float32 speed 0.5        →       my_msgs/action/Wave_Feedback  {int32 left}
//     ---                              my_msgs/action/Wave_SendGoal_Request {guid_, seq_, goal_id, goal} …
//     bool done
//     ---                              each as a struct in memory and a program of Cyclone's (dds_opcodes.h)
//     int32 left                       that says where its members are
//
// A definition is text until it is asked for. CDR has no marks where a final struct begins or ends, so a
// struct in a struct is written as if its members stood there; only arrays and sequences of structs have
// programs of their own. An empty message is one octet.
//
// Where a definition comes from, in this order: what the configuration says itself, the folders that it
// names (and $AMENT_PREFIX_PATH), the release's file that comes with pons.
#include "drivers/ros2/types.h"

#include "pons/buf.h"
#include "pons/file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

enum { DEFINITIONS = 512, FOLDERS = 16, DEEP = 24, MEMBERS = 256, FILE_MAX_BYTES = 1 << 20 };

typedef struct definition {
    char name[ROS2_TYPE_MAX]; // as in "==="
    char *text;
    char where[160];
    int line; // of its first one
} definition;

typedef struct topic {
    dds_topic_descriptor_t desc;
    const ros2_shape *of;
    char name[ROS2_TYPE_MAX + 16];
    uint32_t *ops;
} topic;

struct ros2_types {
    int n, n_shapes, n_topics, n_folders, deep;
    definition at[DEFINITIONS];
    ros2_shape *shapes[DEFINITIONS];
    topic *topics[DEFINITIONS];
    char *folders[FOLDERS];
};

static const struct {
    const char *name;
    ros2_kind kind;
    uint32_t size, op, flags;
} scalars[] = {
    {"bool", ROS2_BOOL, 1, DDS_OP_VAL_BLN, 0},
    {"int8", ROS2_INT8, 1, DDS_OP_VAL_1BY, DDS_OP_FLAG_SGN},
    {"uint8", ROS2_UINT8, 1, DDS_OP_VAL_1BY, 0},
    {"int16", ROS2_INT16, 2, DDS_OP_VAL_2BY, DDS_OP_FLAG_SGN},
    {"uint16", ROS2_UINT16, 2, DDS_OP_VAL_2BY, 0},
    {"int32", ROS2_INT32, 4, DDS_OP_VAL_4BY, DDS_OP_FLAG_SGN},
    {"uint32", ROS2_UINT32, 4, DDS_OP_VAL_4BY, 0},
    {"int64", ROS2_INT64, 8, DDS_OP_VAL_8BY, DDS_OP_FLAG_SGN},
    {"uint64", ROS2_UINT64, 8, DDS_OP_VAL_8BY, 0},
    {"float32", ROS2_FLOAT32, 4, DDS_OP_VAL_4BY, DDS_OP_FLAG_FP},
    {"float64", ROS2_FLOAT64, 8, DDS_OP_VAL_8BY, DDS_OP_FLAG_FP},
    {"string", ROS2_STRING, sizeof(char *), DDS_OP_VAL_STR, 0}, // the order of ros2_kind until here
    {"byte", ROS2_UINT8, 1, DDS_OP_VAL_1BY, 0},
    {"char", ROS2_UINT8, 1, DDS_OP_VAL_1BY, 0},
};

// What the messages of actions and services are, around one of their parts.
static const struct {
    const char *suffix, *head, *part, *member;
} wrappers[] = {
    {"_SendGoal_Request", "uint64 guid_\nint64 seq_\nuint8[16] goal_id\n", "_Goal", "goal"},
    {"_SendGoal_Response",
     "uint64 guid_\nint64 seq_\nbool accepted\nbuiltin_interfaces/Time stamp\n", NULL, NULL},
    {"_GetResult_Request", "uint64 guid_\nint64 seq_\nuint8[16] goal_id\n", NULL, NULL},
    {"_GetResult_Response", "uint64 guid_\nint64 seq_\nint8 status\n", "_Result", "result"},
    {"_FeedbackMessage", "uint8[16] goal_id\n", "_Feedback", "feedback"},
    {"_Asked", "uint64 guid_\nint64 seq_\n", "_Request", "request"}, // a service's, with who asks
    {"_Answered", "uint64 guid_\nint64 seq_\n", "_Response", "response"},
};

static int find_text(ros2_types *t, const char *name, definition *ret, pons_error *err);
static int parse(ros2_types *t, const definition *d, ros2_shape *s, pons_error *err);
static int parse_member(ros2_types *t, const definition *d, int line, char *text, ros2_member *m,
                        bool *ret_is_member, pons_error *err);
static void lay_out(ros2_shape *s);

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the types of messages");
}

ros2_types *ros2_types_create(void)
{
    return calloc(1, sizeof(ros2_types));
}

static void shape_destroy(ros2_shape *s)
{
    for (int i = 0; s && i < s->n; i++) {
        pons_value_unref(s->members[i].usual);
    }
    free(s ? s->members : NULL);
    free(s);
}

void ros2_types_destroy(ros2_types *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; i < t->n; i++) {
        free(t->at[i].text);
    }
    for (int i = 0; i < t->n_shapes; i++) {
        shape_destroy(t->shapes[i]);
    }
    for (int i = 0; i < t->n_topics; i++) {
        free(t->topics[i]->ops);
        free(t->topics[i]);
    }
    for (int i = 0; i < t->n_folders; i++) {
        free(t->folders[i]);
    }
    free(t);
}

// ---- definitions --------------------------------------------------------------------------------

int ros2_types_folder(ros2_types *t, const char *path, pons_error *err)
{
    if (t->n_folders == FOLDERS) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "more than %d folders of interfaces",
                              FOLDERS);
    }
    t->folders[t->n_folders] = strdup(path);
    return t->folders[t->n_folders] ? (t->n_folders++, PONS_OK) : no_memory(err);
}

static const definition *defined(const ros2_types *t, const char *name)
{
    for (int i = 0; i < t->n; i++) {
        if (strcmp(t->at[i].name, name) == 0) {
            return &t->at[i];
        }
    }
    return NULL;
}

static int define(ros2_types *t, const char *name, size_t name_n, const char *text, size_t n,
                  const char *where, int line, pons_error *err)
{
    char whole[ROS2_TYPE_MAX];
    if (name_n == 0 || name_n >= sizeof whole - 24) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s:%d: an interface's name is missing, or long", where, line);
    }
    snprintf(whole, sizeof whole, "%.*s", (int)name_n, name);
    const char *slash = strchr(whole, '/');
    if (!slash || slash == whole || !strchr(slash + 1, '/')) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s:%d: '%.60s' is not of the form package/msg/Name", where, line,
                              whole);
    }
    if (defined(t, whole)) {
        return PONS_OK;
    }
    if (t->n == DEFINITIONS) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "more than %d interfaces", DEFINITIONS);
    }
    definition *d = &t->at[t->n];
    d->text = strndup(text, n);
    if (!d->text) {
        return no_memory(err);
    }
    snprintf(d->name, sizeof d->name, "%s", whole);
    snprintf(d->where, sizeof d->where, "%s", where);
    d->line = line;
    t->n++;
    return PONS_OK;
}

int ros2_types_define(ros2_types *t, const char *name, const char *text, const char *where,
                      pons_error *err)
{
    // What stands before the first "===" is the definition, what follows are others that it needs.
    const char *rest = strncmp(text, "===", 3) == 0 ? text : strstr(text, "\n===");
    const size_t n = rest ? (size_t)(rest - text) : strlen(text);
    const int rc = define(t, name, strlen(name), text, n, where, 1, err);
    return rc < 0 || !rest ? rc : ros2_types_add(t, rest + (*rest == '\n'), where, err);
}

int ros2_types_add(ros2_types *t, const char *text, const char *where, pons_error *err)
{
    int line = 1, rc = PONS_OK;
    const char *p = text;
    while (rc >= 0 && *p) {
        const char *end = strchrnul(p, '\n');
        if (strncmp(p, "===", 3) != 0) {
            p = end + (*end != 0);
            line++;
            continue;
        }
        const char *name = p + 3 + strspn(p + 3, "= \t"), *body = end + (*end != 0);
        size_t name_n = (size_t)(end - name);
        while (name_n > 0 && isspace((unsigned char)name[name_n - 1])) {
            name_n--;
        }
        const char *next = strncmp(body, "===", 3) == 0 ? body : strstr(body, "\n===");
        const char *stop = next ? next + (*next == '\n') : body + strlen(body);
        rc = define(t, name, name_n, body, (size_t)(stop - body), where, line + 1, err);
        for (const char *c = p; c < stop; c++) {
            line += *c == '\n';
        }
        p = stop;
    }
    return rc;
}

static int read_text(const char *path, char **ret, pons_error *err)
{
    FILE *f = pons_file_read(path);
    if (!f) {
        return PONS_ENOTFOUND;
    }
    char *text = calloc(1, FILE_MAX_BYTES + 1);
    const size_t n = text ? fread(text, 1, FILE_MAX_BYTES + 1, f) : 0;
    fclose(f);
    if (!text) {
        return no_memory(err);
    }
    if (n > FILE_MAX_BYTES || strlen(text) != n) {
        free(text);
        return pons_error_set(err, PONS_EINVAL, MODULE, "%s: is no text of interfaces", path);
    }
    *ret = text;
    return PONS_OK;
}

int ros2_types_add_file(ros2_types *t, const char *path, pons_error *err)
{
    char *text = NULL;
    int rc = read_text(path, &text, err);
    if (rc == PONS_ENOTFOUND) {
        return pons_error_set(err, rc, MODULE, "cannot read %s", path);
    }
    const char *name = strrchr(path, '/');
    rc = rc < 0 ? rc : ros2_types_add(t, text, name ? name + 1 : path, err);
    free(text);
    return rc;
}

// PACKAGE/msg/X.msg in a folder.
static int find_file(ros2_types *t, const char *name, pons_error *err)
{
    const char *kind = strchr(name, '/') + 1, *last = strrchr(name, '/');
    for (int i = 0; i < t->n_folders; i++) {
        char path[PATH_MAX], *text = NULL;
        snprintf(path, sizeof path, "%s/%s.%.*s", t->folders[i], name, (int)(last - kind), kind);
        int rc = read_text(path, &text, err);
        if (rc == PONS_ENOTFOUND) {
            continue;
        }
        rc = rc < 0 ? rc : define(t, name, strlen(name), text, strlen(text), path, 1, err);
        free(text);
        return rc;
    }
    return PONS_ENOTFOUND;
}

// One part of a text that "---" divides; false: it has not so many.
static bool part(const char *text, int which, int line, const char **ret, size_t *ret_n,
                 int *ret_line)
{
    const char *begin = text;
    for (const char *p = text;; line++) {
        const char *end = strchrnul(p, '\n');
        const bool divides = strncmp(p, "---", 3) == 0;
        if ((divides || !*end) && which-- == 0) {
            *ret = begin;
            *ret_n = (size_t)((divides ? p : end) - begin);
            return true;
        }
        if (!*end) {
            return false;
        }
        p = end + 1;
        if (divides) {
            begin = p;
            *ret_line = line + 1;
        }
    }
}

// The text of a shape: a message's, a part of an action's or a service's, or that of a message around one.
static int find_text(ros2_types *t, const char *name, definition *ret, pons_error *err)
{
    static const struct {
        const char *suffix, *kind;
        int part;
    } parts[] = {{"_Goal", "/action/", 0},
                 {"_Result", "/action/", 1},
                 {"_Feedback", "/action/", 2},
                 {"_Request", "/srv/", 0},
                 {"_Response", "/srv/", 1}};
    const size_t n = strlen(name);
    *ret = (definition){.line = 1};
    snprintf(ret->name, sizeof ret->name, "%s", name);
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        const size_t s = strlen(wrappers[i].suffix);
        if (n > s && strcmp(name + n - s, wrappers[i].suffix) == 0) {
            char text[512];
            const char *inner = wrappers[i].part;
            const int at = snprintf(text, sizeof text, "%s", wrappers[i].head);
            if (inner) {
                snprintf(text + at, sizeof text - (size_t)at, "%.*s%s %s", (int)(n - s), name,
                         inner, wrappers[i].member);
            }
            snprintf(ret->where, sizeof ret->where, "%s", name);
            ret->text = strdup(text);
            return ret->text ? PONS_OK : no_memory(err);
        }
    }
    char file[ROS2_TYPE_MAX];
    snprintf(file, sizeof file, "%s", name);
    int which = -1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && which < 0; i++) {
        const size_t s = strlen(parts[i].suffix);
        if (n > s && strcmp(name + n - s, parts[i].suffix) == 0 && strstr(name, parts[i].kind)) {
            which = parts[i].part;
            file[n - s] = '\0';
        }
    }
    const definition *d = defined(t, file);
    if (!d) {
        const int rc = find_file(t, file, err);
        d = rc >= 0 ? defined(t, file) : NULL;
        if (rc < 0 && rc != PONS_ENOTFOUND) {
            return rc;
        }
    }
    if (!d) {
        return pons_error_set(
            err, PONS_ENOTFOUND, MODULE,
            "the interface %.100s is not known: say its definition, or the folder "
            "where it is (interfaces)",
            file);
    }
    const char *text = d->text;
    size_t length = strlen(text);
    ret->line = d->line;
    snprintf(ret->where, sizeof ret->where, "%s", d->where);
    if (which >= 0 && !part(d->text, which, d->line, &text, &length, &ret->line)) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s: %.100s has too few parts: they are divided by ---", d->where,
                              file);
    }
    ret->text = strndup(text, length);
    return ret->text ? PONS_OK : no_memory(err);
}

// ---- shapes -------------------------------------------------------------------------------------

int ros2_types_get(ros2_types *t, const char *name, const ros2_shape **ret, pons_error *err)
{
    for (int i = 0; i < t->n_shapes; i++) {
        if (strcmp(t->shapes[i]->name, name) == 0) {
            *ret = t->shapes[i];
            return PONS_OK;
        }
    }
    const char *slash = strchr(name, '/');
    if (strlen(name) >= ROS2_TYPE_MAX || !slash || slash == name || !strchr(slash + 1, '/') ||
        strstr(name, "..")) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "'%.80s' is not of the form package/msg/Name", name);
    }
    if (t->deep >= DEEP || t->n_shapes == DEFINITIONS) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%.100s is in itself, or interfaces are in one another too deep",
                              name);
    }
    definition d = {.text = NULL};
    int rc = find_text(t, name, &d, err);
    ros2_shape *s = rc < 0 ? NULL : calloc(1, sizeof *s);
    if (s) {
        snprintf(s->name, sizeof s->name, "%s", name);
        t->deep++;
        rc = parse(t, &d, s, err);
        t->deep--;
    } else if (rc >= 0) {
        rc = no_memory(err);
    }
    free(d.text);
    if (rc < 0 || t->n_shapes == DEFINITIONS) {
        shape_destroy(s);
        return rc < 0 ? rc
                      : pons_error_set(err, PONS_EINVAL, MODULE, "more than %d interfaces",
                                       DEFINITIONS);
    }
    lay_out(s);
    t->shapes[t->n_shapes++] = s;
    *ret = s;
    return PONS_OK;
}

static int parse(ros2_types *t, const definition *d, ros2_shape *s, pons_error *err)
{
    int line = d->line;
    s->members = calloc(MEMBERS, sizeof *s->members);
    if (!s->members) {
        return no_memory(err);
    }
    for (const char *p = d->text; *p; line++) {
        const char *end = strchrnul(p, '\n');
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)(end - p < 1000 ? end - p : 1000), p);
        bool is_member = false;
        if (s->n == MEMBERS - 1) {
            return pons_error_set(err, PONS_EINVAL, MODULE, "%s:%d: more than %d members", d->where,
                                  line, MEMBERS - 1);
        }
        ros2_member *m = &s->members[s->n];
        *m = (ros2_member){.usual = NULL};
        const int rc = parse_member(t, d, line, text, m, &is_member, err);
        if (rc < 0) {
            pons_value_unref(m->usual);
            return rc;
        }
        for (int i = 0; is_member && i < s->n; i++) {
            if (strcmp(s->members[i].name, m->name) == 0) {
                pons_value_unref(m->usual);
                return pons_error_set(err, PONS_EINVAL, MODULE, "%s:%d: %s is there already",
                                      d->where, line, m->name);
            }
        }
        s->n += is_member;
        p = end + (*end != 0);
    }
    if (s->n == 0) { // as ROS has it on the wire
        snprintf(s->members[0].name, ROS2_MEMBER_MAX, "structure_needs_at_least_one_member");
        s->members[0].kind = ROS2_UINT8;
        s->n = 1;
    }
    return PONS_OK;
}

static int wrong(const definition *d, int line, const char *what, const char *why, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, MODULE, "%s:%d: '%.80s': %s", d->where, line, what,
                          why);
}

// "<=16", of a string or in the brackets of a sequence.
static bool bound(char **p, uint32_t *ret)
{
    char *end;
    if (strncmp(*p, "<=", 2) != 0 || !isdigit((unsigned char)(*p)[2])) {
        return false;
    }
    const unsigned long n = strtoul(*p + 2, &end, 10);
    *p = end;
    *ret = (uint32_t)n;
    return n > 0 && n <= INT_MAX;
}

static pons_value *usual_of(const ros2_member *m, char *text)
{
    size_t n = strlen(text);
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
        return json_boolean(strcasecmp(text, "true") == 0);
    }
    if (m->kind == ROS2_STRING && !m->array && !m->sequence) {
        if (n >= 2 && (*text == '\'' || *text == '"') && text[n - 1] == *text) {
            text[n - 1] = '\0';
            text++;
        }
        return json_string(text);
    }
    for (char *c = text; *c; c++) { // ['a', 'b']
        *c = *c == '\'' ? '"' : *c;
    }
    const char *number = text + (*text == '+');
    char zero[64]; // ".5" and "1." are numbers there, and none in JSON
    if (m->kind >= ROS2_FLOAT32 && m->kind <= ROS2_FLOAT64 && !m->array && !m->sequence) {
        char *end;
        const double d = strtod(number, &end);
        return *end ? NULL : json_real(d);
    }
    snprintf(zero, sizeof zero, "%s", number);
    return json_loads(strlen(number) < sizeof zero ? zero : number, JSON_DECODE_ANY, NULL);
}

// TYPE NAME [USUAL], a constant (TYPE NAME=VALUE, which is no member), or nothing but a comment.
static int parse_member(ros2_types *t, const definition *d, int line, char *text, ros2_member *m,
                        bool *ret_is_member, pons_error *err)
{
    char quote = '\0';
    for (char *c = text; *c; c++) {
        if (quote) {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        } else if (*c == '#') {
            *c = '\0';
            break;
        }
    }
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) {
        text[--n] = '\0';
    }
    char *type = text + strspn(text, " \t"), *name = type + strcspn(type, " \t");
    if (!*type || *type == '@') { // an annotation of generated files
        return PONS_OK;
    }
    if (!*name) {
        return wrong(d, line, type, "a type and a name are needed", err);
    }
    *name++ = '\0';
    name += strspn(name, " \t");
    const size_t name_n =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    char *rest = name + name_n + strspn(name + name_n, " \t");
    if (*rest == '=') {
        return PONS_OK;
    }
    if (name_n == 0 || name_n >= sizeof m->name || isdigit((unsigned char)*name) ||
        (rest == name + name_n && *rest)) {
        return wrong(d, line, name, "is no name of a member", err);
    }
    snprintf(m->name, sizeof m->name, "%.*s", (int)name_n, name);
    char *after =
        type + strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/");
    char tail[64];
    snprintf(tail, sizeof tail, "%s", after);
    *after = '\0';
    after = tail;
    m->kind = ROS2_STRUCT;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        m->kind = strcmp(scalars[i].name, type) == 0 ? scalars[i].kind : m->kind;
    }
    if (strcmp(type, "wstring") == 0 || strcmp(type, "wchar") == 0 ||
        strcmp(type, "float128") == 0) {
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "%s:%d: %s is not spoken here",
                              d->where, line, type);
    }
    if (m->kind == ROS2_STRING && *after == '<' && !bound(&after, &m->longest)) {
        return wrong(d, line, tail, "is no bound of a string", err);
    }
    if (*after == '[') {
        after++;
        m->sequence = !isdigit((unsigned char)*after);
        m->array = !m->sequence;
        if (m->array) {
            m->n = (uint32_t)strtoul(after, &after, 10);
        } else if (*after == '<' && !bound(&after, &m->n)) {
            return wrong(d, line, tail, "is no bound of a sequence", err);
        }
        if (*after++ != ']' || (m->array && (m->n == 0 || m->n > 1U << 20))) {
            return wrong(d, line, tail, "is no length", err);
        }
    }
    if (*after) {
        return wrong(d, line, after, "is not expected after a type", err);
    }
    if (m->kind == ROS2_STRUCT) {
        char whole[ROS2_TYPE_MAX];
        const char *slash = strchr(type, '/');
        if (strcmp(type, "Header") == 0) {
            snprintf(whole, sizeof whole, "std_msgs/msg/Header");
        } else if (!slash) { // of the same package
            snprintf(whole, sizeof whole, "%.*s/msg/%s", (int)strcspn(d->name, "/"), d->name, type);
        } else if (strchr(slash + 1, '/')) {
            snprintf(whole, sizeof whole, "%s", type);
        } else {
            snprintf(whole, sizeof whole, "%.*s/msg/%s", (int)(slash - type), type, slash + 1);
        }
        const int rc = ros2_types_get(t, whole, &m->of, err);
        if (rc < 0) {
            return *err->source ? rc : pons_error_source(err, "%s:%d", d->where, line);
        }
    }
    if (*rest) {
        if (m->kind == ROS2_STRUCT || !(m->usual = usual_of(m, rest))) {
            return wrong(d, line, rest, "cannot be the usual value", err);
        }
    }
    *ret_is_member = true;
    return PONS_OK;
}

static void lay_out(ros2_shape *s)
{
    s->align = 1;
    for (int i = 0; i < s->n; i++) {
        ros2_member *m = &s->members[i];
        const bool is_struct = m->kind == ROS2_STRUCT;
        uint32_t size = is_struct ? m->of->size : scalars[m->kind].size;
        uint32_t align = is_struct ? m->of->align : scalars[m->kind].size;
        if (m->sequence) {
            size = sizeof(dds_sequence_t);
            align = _Alignof(dds_sequence_t);
        } else if (m->array) {
            size *= m->n;
        }
        m->at = (s->size + align - 1) / align * align;
        s->size = m->at + size;
        s->align = align > s->align ? align : s->align;
    }
    s->size = (s->size + s->align - 1) / s->align * s->align;
}

// ---- for DDS ------------------------------------------------------------------------------------

typedef struct program {
    uint32_t *ops; // NULL: only counted
    uint32_t n;
} program;

static void put(program *p, uint32_t op)
{
    if (p->ops) {
        p->ops[p->n] = op;
    }
    p->n++;
}

static void compile(const ros2_shape *s, uint32_t at, program *p)
{
    for (int i = 0; i < s->n; i++) {
        const ros2_member *m = &s->members[i];
        const bool is_struct = m->kind == ROS2_STRUCT;
        if (is_struct && !m->array && !m->sequence) {
            compile(m->of, at + m->at, p);
            continue;
        }
        const uint32_t begin = p->n, val = is_struct ? DDS_OP_VAL_STU : scalars[m->kind].op;
        const uint32_t flags = is_struct ? 0 : scalars[m->kind].flags;
        const uint32_t type = m->array      ? (uint32_t)DDS_OP_TYPE_ARR | val << 8
                              : m->sequence ? (uint32_t)DDS_OP_TYPE_SEQ | val << 8
                                            : val << 16;
        put(p, (uint32_t)DDS_OP_ADR | type | flags);
        put(p, at + m->at);
        if (m->array) {
            put(p, m->n);
        }
        if (!is_struct) {
            continue;
        }
        const uint32_t jump = m->array ? p->n : p->n + 1, head = m->array ? 5 : 4;
        put(p, m->array ? 0 : m->of->size);
        put(p, m->array ? m->of->size : 0);
        compile(m->of, 0, p);
        put(p, DDS_OP_RTS);
        if (p->ops) {
            p->ops[jump] = (p->n - begin) << 16 | head;
        }
    }
}

// nav2_msgs/action/Spin_Goal is nav2_msgs::action::dds_::Spin_Goal_; a service's messages are named by what is asked
// and answered, though who asks is in them.
static void name_topic(const char *name, char *ret, size_t cap)
{
    static const char *const as[][2] = {{"_Asked", "_Request"}, {"_Answered", "_Response"}};
    const char *last = strrchr(name, '/'), *first = strchr(name, '/'), *suffix = "";
    size_t n = strlen(last + 1);
    for (size_t i = 0; i < sizeof as / sizeof as[0]; i++) {
        const size_t k = strlen(as[i][0]);
        if (n > k && strcmp(last + 1 + n - k, as[i][0]) == 0) {
            n -= k;
            suffix = as[i][1];
            break;
        }
    }
    snprintf(ret, cap, "%.*s::%.*s::dds_::%.*s%s_", (int)(first - name), name,
             (int)(last - first - 1), first + 1, (int)n, last + 1, suffix);
}

const dds_topic_descriptor_t *ros2_types_topic(ros2_types *t, const ros2_shape *s, pons_error *err)
{
    for (int i = 0; i < t->n_topics; i++) {
        if (t->topics[i]->of == s) {
            return &t->topics[i]->desc;
        }
    }
    program p = {.ops = NULL};
    compile(s, 0, &p);
    put(&p, DDS_OP_RTS);
    topic *x = t->n_topics < DEFINITIONS && p.n < UINT16_MAX ? calloc(1, sizeof *x) : NULL;
    p.ops = x ? calloc(p.n, sizeof *p.ops) : NULL;
    if (!p.ops) {
        free(x);
        no_memory(err);
        return NULL;
    }
    p.n = 0;
    compile(s, 0, &p);
    put(&p, DDS_OP_RTS);
    name_topic(s->name, x->name, sizeof x->name);
    x->of = s;
    x->ops = p.ops;
    const dds_topic_descriptor_t d = {.m_size = s->size,
                                      .m_align = s->align,
                                      .m_typename = x->name,
                                      .m_nops = p.n,
                                      .m_ops = p.ops,
                                      .m_meta = ""};
    memcpy(&x->desc, &d, sizeof d); // its members are const
    t->topics[t->n_topics++] = x;
    return &x->desc;
}
