// interface_types.c - interfaces by their text, laid out for DDS.
//
//     === my_msgs/action/Wave          my_msgs/action/Wave_Goal      {int32 times; float32 speed = 0.5}
//     int32 times                      my_msgs/action/Wave_Result    {bool done}
//     float32 speed 0.5        →       my_msgs/action/Wave_Feedback  {int32 left}
//     ---                              my_msgs/action/Wave_SendGoal_Request {guid_, seq_, goal_id, goal} …
//     bool done
//     ---                              each as a struct in memory and a program of Cyclone's (dds_opcodes.h)
//     int32 left                       that says where its members are
//
// A definition is text until it is asked for (interface_texts.c); what is asked for becomes a struct here, and a program in
// dds_opcodes.c. An empty message is one octet.
//
// Where a definition comes from, in this order: what the configuration says itself, the folders that it
// names (and $AMENT_PREFIX_PATH), the release's file that comes with pons.
#include "drivers/dds/interface_types.h"

#include "drivers/dds/dds_opcodes.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

enum { DEEP = 24, MEMBERS = 256 };

struct ros2_types {
    ros2_texts texts;
    int n_shapes, n_topics, deep;
    ros2_shape *shapes[ROS2_INTERFACES_MAX];
    ros2_topic *topics[ROS2_INTERFACES_MAX];
};

static const struct {
    const char *name;
    ros2_kind kind;
    uint32_t size;
} scalars[] = {
    {"bool", ROS2_BOOL, 1},
    {"int8", ROS2_INT8, 1},
    {"uint8", ROS2_UINT8, 1},
    {"int16", ROS2_INT16, 2},
    {"uint16", ROS2_UINT16, 2},
    {"int32", ROS2_INT32, 4},
    {"uint32", ROS2_UINT32, 4},
    {"int64", ROS2_INT64, 8},
    {"uint64", ROS2_UINT64, 8},
    {"float32", ROS2_FLOAT32, 4},
    {"float64", ROS2_FLOAT64, 8},
    {"string", ROS2_STRING, sizeof(char *)}, // the order of ros2_kind until here
    {"byte", ROS2_UINT8, 1},
    {"char", ROS2_UINT8, 1},
};

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
    ros2_texts_fini(&t->texts);
    for (int i = 0; i < t->n_shapes; i++) {
        shape_destroy(t->shapes[i]);
    }
    for (int i = 0; i < t->n_topics; i++) {
        ros2_topic_destroy(t->topics[i]);
    }
    free(t);
}

ros2_texts *ros2_types_texts(ros2_types *t)
{
    return &t->texts;
}

static int wrong(const ros2_text *d, int line, const char *what, const char *why, pons_error *err)
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

// Also blanks at the end.
static void cut_comment(char *text)
{
    char quote = '\0', *c = text;
    for (; *c && (quote || *c != '#'); c++) {
        if (quote) {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        }
    }
    while (c > text && isspace((unsigned char)c[-1])) {
        c--;
    }
    *c = '\0';
}

static ros2_kind kind_of(const char *type)
{
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (strcmp(scalars[i].name, type) == 0) {
            return scalars[i].kind;
        }
    }
    return ROS2_STRUCT;
}

// The bound of a string and the length of an array, behind a type. NULL, or what is wrong.
static const char *take_bounds(ros2_member *m, char **after)
{
    if (m->kind == ROS2_STRING && **after == '<' && !bound(after, &m->longest)) {
        return "is no bound of a string";
    }
    if (**after != '[') {
        return NULL;
    }
    ++*after;
    m->sequence = !isdigit((unsigned char)**after);
    m->array = !m->sequence;
    if (m->array) {
        m->n = (uint32_t)strtoul(*after, after, 10);
    } else if (**after == '<' && !bound(after, &m->n)) {
        return "is no bound of a sequence";
    }
    const bool closed = *(*after)++ == ']';
    return !closed || (m->array && (m->n == 0 || m->n > 1U << 20)) ? "is no length" : NULL;
}

static int find_struct(ros2_types *t, const ros2_text *d, int line, const char *type,
                       const ros2_shape **ret, pons_error *err)
{
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
    const int rc = ros2_types_get(t, whole, ret, err);
    return rc >= 0 || *err->source ? rc : pons_error_source(err, "%s:%d", d->where, line);
}

// TYPE NAME [USUAL], a constant (TYPE NAME=VALUE, which is no member), or nothing but a comment.
static int parse_member(ros2_types *t, const ros2_text *d, int line, char *text, ros2_member *m,
                        bool *ret_is_member, pons_error *err)
{
    cut_comment(text);
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
    m->kind = kind_of(type);
    if (strcmp(type, "wstring") == 0 || strcmp(type, "wchar") == 0 ||
        strcmp(type, "float128") == 0) {
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "%s:%d: %s is not spoken here",
                              d->where, line, type);
    }
    const char *why = take_bounds(m, &after);
    if (why) {
        return wrong(d, line, tail, why, err);
    }
    if (*after) {
        return wrong(d, line, after, "is not expected after a type", err);
    }
    if (m->kind == ROS2_STRUCT) {
        const int rc = find_struct(t, d, line, type, &m->of, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (*rest && (m->kind == ROS2_STRUCT || !(m->usual = usual_of(m, rest)))) {
        return wrong(d, line, rest, "cannot be the usual value", err);
    }
    *ret_is_member = true;
    return PONS_OK;
}

static int parse(ros2_types *t, const ros2_text *d, ros2_shape *s, pons_error *err)
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
    if (t->deep >= DEEP || t->n_shapes == ROS2_INTERFACES_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%.100s is in itself, or interfaces are in one another too deep",
                              name);
    }
    ros2_text d = {.text = NULL};
    int rc = ros2_texts_find(&t->texts, name, &d, err);
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
    if (rc < 0 || t->n_shapes == ROS2_INTERFACES_MAX) {
        shape_destroy(s);
        return rc < 0 ? rc
                      : pons_error_set(err, PONS_EINVAL, MODULE, "more than %d interfaces",
                                       ROS2_INTERFACES_MAX);
    }
    lay_out(s);
    t->shapes[t->n_shapes++] = s;
    *ret = s;
    return PONS_OK;
}

const dds_topic_descriptor_t *ros2_types_topic(ros2_types *t, const ros2_shape *s, pons_error *err)
{
    for (int i = 0; i < t->n_topics; i++) {
        if (t->topics[i]->of == s) {
            return &t->topics[i]->desc;
        }
    }
    ros2_topic *x = t->n_topics < ROS2_INTERFACES_MAX ? ros2_topic_create(s) : NULL;
    if (!x) {
        no_memory(err);
        return NULL;
    }
    t->topics[t->n_topics++] = x;
    return &x->desc;
}
