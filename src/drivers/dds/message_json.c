// message_json.c - messages of interface_types.c from and to JSON.
#include "drivers/dds/interface_types.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_MAX = 1 << 20 }; // members of one sequence

static int bad(const char *name, const char *why, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, "ros2", "%s: %s", name, why);
}

static uint32_t size_of(const ros2_member *m)
{
    static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, sizeof(char *)};
    return m->kind == ROS2_STRUCT ? m->of->size : sizes[m->kind];
}

// ---- from JSON ----------------------------------------------------------------------------------

static int integer_from(const ros2_member *m, const pons_value *v, void *at, pons_error *err)
{
    static const int64_t least[] = {0, INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0, INT64_MIN, 0},
                         most[] = {1,         INT8_MAX,   UINT8_MAX, INT16_MAX, UINT16_MAX,
                                   INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MAX};
    const char *digits = json_string_value(v);
    if (m->kind == ROS2_UINT64 && digits && *digits && strlen(digits) <= 20 &&
        strspn(digits, "0123456789") == strlen(digits)) {
        errno = 0;
        const unsigned long long big = strtoull(digits, NULL, 10);
        memcpy(at, &big, sizeof big);
        return errno == 0 ? PONS_OK : bad(m->name, "it does not fit", err);
    }
    if (!json_is_integer(v)) {
        return bad(m->name, "an integer is needed", err);
    }
    const int64_t n = json_integer_value(v);
    if (n < least[m->kind] || n > most[m->kind]) {
        return bad(m->name, "it does not fit", err);
    }
    switch (size_of(m)) {
    case 1:
        *(uint8_t *)at = (uint8_t)n;
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)n;
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)n;
        break;
    default:
        *(int64_t *)at = n;
    }
    return PONS_OK;
}

// {x, y, yaw} as a pose of the map, seconds as a time; the value, or NULL: it is not one of these.
static pons_value *short_form(const ros2_shape *s, const pons_value *v, const char *map)
{
    const bool stamped = strcmp(s->name, "geometry_msgs/msg/PoseStamped") == 0;
    if (json_is_object(v) && pons_get(v, "x") && pons_get(v, "y") && !pons_get(v, "position") &&
        (stamped || strcmp(s->name, "geometry_msgs/msg/Pose") == 0)) {
        const double yaw = pons_get_num(v, "yaw", 0.0);
        pons_value *pose = pons_object(
            "position",
            pons_object("x", json_real(pons_get_num(v, "x", NAN)), "y",
                        json_real(pons_get_num(v, "y", NAN)), NULL),
            "orientation",
            pons_object("z", json_real(sin(0.5 * yaw)), "w", json_real(cos(0.5 * yaw)), NULL),
            NULL);
        return stamped ? pons_object("header", pons_object("frame_id", json_string(map), NULL),
                                     "pose", pose, NULL)
                       : pose;
    }
    if (json_is_number(v) && (strcmp(s->name, "builtin_interfaces/msg/Duration") == 0 ||
                              strcmp(s->name, "builtin_interfaces/msg/Time") == 0)) {
        const double t = json_number_value(v), whole = floor(t);
        return fabs(t) < 2e9 ? pons_object("sec", json_integer((json_int_t)whole), "nanosec",
                                           json_integer((json_int_t)((t - whole) * 1e9)), NULL)
                             : NULL;
    }
    return NULL;
}

static int one_from(const ros2_member *m, const pons_value *v, const char *map, void *at,
                    pons_error *err)
{
    if (m->kind == ROS2_STRUCT) {
        const int rc = ros2_value_from(m->of, v, map, at, err);
        if (rc < 0) {
            pons_error_context(err, "%s", m->name);
        }
        return rc;
    }
    if (m->kind == ROS2_BOOL) {
        *(bool *)at = json_is_true(v);
        return json_is_boolean(v) ? PONS_OK : bad(m->name, "true or false is needed", err);
    }
    if (m->kind == ROS2_STRING) {
        const char *text = json_string_value(v);
        if (!text || strlen(text) != json_string_length(v)) {
            return bad(m->name, "a text is needed", err);
        }
        if (m->longest && strlen(text) > m->longest) {
            return bad(m->name, "the text is too long", err);
        }
        *(char **)at = dds_string_dup(text);
        return *(char **)at ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "ros2", "no memory");
    }
    if (m->kind != ROS2_FLOAT32 && m->kind != ROS2_FLOAT64) {
        return integer_from(m, v, at, err);
    }
    const double d = json_number_value(v);
    if (!json_is_number(v) || !isfinite(d) || (m->kind == ROS2_FLOAT32 && fabs(d) > 3.4028234e38)) {
        return bad(m->name, "a number is needed", err);
    }
    if (m->kind == ROS2_FLOAT32) {
        *(float *)at = (float)d;
    } else {
        *(double *)at = d;
    }
    return PONS_OK;
}

static int member_from(const ros2_member *m, const pons_value *v, const char *map, void *at,
                       pons_error *err)
{
    if (!m->array && !m->sequence) {
        return one_from(m, v, map, at, err);
    }
    const size_t n = json_array_size(v), each = size_of(m);
    if (!json_is_array(v) || (m->array && n != m->n) || (m->sequence && m->n && n > m->n) ||
        n > ARRAY_MAX) {
        return bad(m->name, "it is no list, or not of the right length", err);
    }
    unsigned char *items = at;
    if (m->sequence) {
        dds_sequence_t *s = at;
        *s = (dds_sequence_t){._buffer = n > 0 ? dds_alloc(n * each) : NULL, ._release = true};
        if (n > 0 && !s->_buffer) {
            return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory");
        }
        s->_maximum = s->_length = (uint32_t)n;
        items = s->_buffer;
        if (items) {
            memset(items, 0, n * each);
        }
    }
    int rc = PONS_OK;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = one_from(m, json_array_get(v, i), map, items + i * each, err);
    }
    return rc;
}

// Strings that nobody said are empty ones: NULL is none.
static int usual_member(const ros2_member *m, const char *map, void *at, pons_error *err)
{
    if (m->usual) {
        return member_from(m, m->usual, map, at, err);
    }
    int rc = PONS_OK;
    const size_t each = size_of(m);
    for (uint32_t i = 0; !m->sequence && rc >= 0 && i < (m->array ? m->n : 1); i++) {
        void *item = (unsigned char *)at + i * each;
        if (m->kind == ROS2_STRUCT) {
            rc = ros2_value_from(m->of, NULL, map, item, err);
        } else if (m->kind == ROS2_STRING) {
            *(char **)item = dds_string_dup("");
        }
    }
    return rc;
}

int ros2_value_from(const ros2_shape *s, const pons_value *v, const char *map, void *mem,
                    pons_error *err)
{
    memset(mem, 0, s->size);
    if (v && !json_is_null(v) && !json_is_object(v) && !json_is_number(v)) {
        return bad(s->name, "an object is needed", err);
    }
    pons_autovalue brief = short_form(s, v, map);
    v = brief ? brief : v;
    if (json_is_number(v)) {
        return bad(s->name, "an object is needed", err);
    }
    size_t known = 0;
    int rc = PONS_OK;
    for (int i = 0; i < s->n && rc >= 0; i++) {
        const ros2_member *m = &s->members[i];
        const pons_value *said = pons_get(v, m->name);
        known += said != NULL;
        rc = said ? member_from(m, said, map, (unsigned char *)mem + m->at, err)
                  : usual_member(m, map, (unsigned char *)mem + m->at, err);
    }
    if (rc >= 0 && known < json_object_size(v)) {
        pons_each_member(key, item, v) {
            bool there = false;
            for (int i = 0; i < s->n && !there; i++) {
                there = strcmp(s->members[i].name, key) == 0;
            }
            if (!there) {
                char name[ROS2_MEMBER_MAX];
                snprintf(name, sizeof name, "%.60s", key);
                rc = bad(name, "there is no such member", err);
                break;
            }
        }
    }
    if (rc < 0) {
        ros2_value_fini(s, mem);
    }
    return rc;
}

void ros2_value_fini(const ros2_shape *s, void *mem)
{
    for (int i = 0; i < s->n; i++) {
        const ros2_member *m = &s->members[i];
        unsigned char *items = (unsigned char *)mem + m->at;
        dds_sequence_t *seq = m->sequence ? (void *)items : NULL;
        const size_t n = seq ? seq->_length : m->array ? m->n : 1, each = size_of(m);
        items = seq ? seq->_buffer : items;
        for (size_t k = 0; k < n && m->kind >= ROS2_STRING; k++) {
            if (m->kind == ROS2_STRING) {
                dds_string_free(*(char **)(void *)(items + k * each));
            } else {
                ros2_value_fini(m->of, items + k * each);
            }
        }
        if (seq) {
            dds_free(seq->_buffer);
        }
    }
    memset(mem, 0, s->size);
}

// ---- to JSON ------------------------------------------------------------------------------------

static pons_value *real(double d)
{
    return isfinite(d) ? json_real(d) : json_null();
}

// JSON's integers are signed here: what is beyond them is said as a text of digits.
static pons_value *beyond(uint64_t n)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_string(digits);
}

static pons_value *one_to(const ros2_member *m, const void *at)
{
    const char *text;
    switch (m->kind) {
    case ROS2_BOOL:
        return json_boolean(*(const uint8_t *)at != 0);
    case ROS2_INT8:
        return json_integer(*(const int8_t *)at);
    case ROS2_UINT8:
        return json_integer(*(const uint8_t *)at);
    case ROS2_INT16:
        return json_integer(*(const int16_t *)at);
    case ROS2_UINT16:
        return json_integer(*(const uint16_t *)at);
    case ROS2_INT32:
        return json_integer(*(const int32_t *)at);
    case ROS2_UINT32:
        return json_integer(*(const uint32_t *)at);
    case ROS2_INT64:
        return json_integer(*(const int64_t *)at);
    case ROS2_UINT64:
        return beyond(*(const uint64_t *)at);
    case ROS2_FLOAT32:
        return real((double)*(const float *)at);
    case ROS2_FLOAT64:
        return real(*(const double *)at);
    case ROS2_STRING:
        text = *(char *const *)at ? *(char *const *)at : "";
        pons_value *v = json_string(text);
        return v ? v : json_string("(not UTF-8)");
    case ROS2_STRUCT:
        break;
    }
    return ros2_value_to(m->of, at);
}

// A way is said by how long it is and where it ends: whoever asked for one wants no list of points.
static pons_value *path_to(const ros2_shape *s, const void *mem)
{
    const ros2_member *poses = NULL;
    for (int i = 0; i < s->n; i++) {
        poses = strcmp(s->members[i].name, "poses") == 0 ? &s->members[i] : poses;
    }
    if (!poses || !poses->sequence || poses->kind != ROS2_STRUCT) {
        return NULL;
    }
    const dds_sequence_t *all = (const void *)((const unsigned char *)mem + poses->at);
    double length = 0.0, last[2] = {0, 0};
    for (uint32_t i = 0; i < all->_length; i++) {
        pons_autovalue one = ros2_value_to(poses->of, all->_buffer + (size_t)i * poses->of->size);
        const pons_value *at = pons_get(pons_get(one, "pose"), "position");
        const double x = pons_get_num(at, "x", NAN), y = pons_get_num(at, "y", NAN);
        length += i > 0 ? hypot(x - last[0], y - last[1]) : 0.0;
        last[0] = x;
        last[1] = y;
    }
    return pons_object("poses", json_integer(all->_length), "length_m", real(length), "end",
                       pons_object("x", real(last[0]), "y", real(last[1]), NULL), NULL);
}

pons_value *ros2_value_to(const ros2_shape *s, const void *mem)
{
    if (strcmp(s->name, "nav_msgs/msg/Path") == 0) {
        pons_value *path = path_to(s, mem);
        if (path) {
            return path;
        }
    }
    pons_value *all = json_object();
    for (int i = 0; i < s->n; i++) {
        const ros2_member *m = &s->members[i];
        const unsigned char *items = (const unsigned char *)mem + m->at;
        const dds_sequence_t *seq = m->sequence ? (const void *)items : NULL;
        const size_t n = seq ? seq->_length : m->n, each = size_of(m);
        pons_value *v;
        items = seq ? seq->_buffer : items;
        if (!m->array && !m->sequence) {
            v = one_to(m, items);
        } else if (n > ROS2_SHOWN_MAX) {
            v = pons_object("length", json_integer((json_int_t)n), NULL);
        } else {
            v = json_array();
            for (size_t k = 0; k < n; k++) {
                json_array_append_new(v, one_to(m, items + k * each));
            }
        }
        json_object_set_new(all, m->name, v);
    }
    return all;
}

const void *ros2_value_at(const ros2_shape *s, const void *mem, const char *name, ros2_kind kind)
{
    for (int i = 0; i < s->n; i++) {
        const ros2_member *m = &s->members[i];
        if (m->kind == kind && !m->array && !m->sequence && strcmp(m->name, name) == 0) {
            return (const unsigned char *)mem + m->at;
        }
    }
    return NULL;
}

// ---- what may be said ---------------------------------------------------------------------------

static pons_value *typed(const char *type)
{
    return pons_object("type", json_string(type), NULL);
}

static pons_value *schema_of(const ros2_member *m)
{
    static const double least[] = {0, INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0},
                        most[] = {1,          INT8_MAX,  UINT8_MAX, INT16_MAX,
                                  UINT16_MAX, INT32_MAX, UINT32_MAX};
    if (m->kind == ROS2_STRUCT) {
        const char *name = m->of->name;
        if (strcmp(name, "geometry_msgs/msg/PoseStamped") == 0 ||
            strcmp(name, "geometry_msgs/msg/Pose") == 0) {
            return pons_object("type", json_string("object"), "additionalProperties", json_false(),
                               "properties",
                               pons_object("x", typed("number"), "y", typed("number"), "yaw",
                                           typed("number"), NULL),
                               "required", json_pack("[ss]", "x", "y"), NULL);
        }
        if (strcmp(name, "builtin_interfaces/msg/Duration") == 0 ||
            strcmp(name, "builtin_interfaces/msg/Time") == 0) {
            return typed("number");
        }
        return ros2_shape_schema(m->of);
    }
    pons_value *v = typed(m->kind == ROS2_BOOL     ? "boolean"
                          : m->kind == ROS2_STRING ? "string"
                          : m->kind < ROS2_FLOAT32 ? "integer"
                                                   : "number");
    if (m->kind > ROS2_BOOL && m->kind < ROS2_INT64) {
        json_object_set_new(v, "minimum", json_integer((json_int_t)least[m->kind]));
        json_object_set_new(v, "maximum", json_integer((json_int_t)most[m->kind]));
    } else if (m->kind == ROS2_UINT64) {
        json_object_set_new(v, "minimum", json_integer(0));
    } else if (m->kind == ROS2_STRING && m->longest) {
        json_object_set_new(v, "maxLength", json_integer(m->longest));
    }
    return v;
}

pons_value *ros2_shape_schema(const ros2_shape *s)
{
    pons_value *properties = json_object(), *required = json_array();
    for (int i = 0; i < s->n; i++) {
        const ros2_member *m = &s->members[i];
        if (strcmp(m->name, "structure_needs_at_least_one_member") == 0) {
            continue;
        }
        pons_value *v = schema_of(m);
        if (m->array || m->sequence) {
            v = pons_object("type", json_string("array"), "items", v, NULL);
            if (m->n) {
                json_object_set_new(v, "maxItems", json_integer(m->n));
            }
            if (m->array) {
                json_object_set_new(v, "minItems", json_integer(m->n));
            }
        }
        if (m->usual) {
            json_object_set(v, "default", m->usual);
        }
        json_object_set_new(properties, m->name, v);
        if (!m->usual && strcmp(m->name, "header") != 0) {
            json_array_append_new(required, json_string(m->name));
        }
    }
    return pons_object("type", json_string("object"), "additionalProperties", json_false(),
                       "properties", properties, "required", required, NULL);
}
