// dds_opcodes.c - a shape as a topic of Cyclone's: a program (dds_opcodes.h) that says where its members are.
//
// CDR has no marks where a final struct begins or ends, so a struct in a struct is written as if its members
// stood there; only arrays and sequences of structs have programs of their own.
#include "drivers/dds/dds_opcodes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t op, flags;
} scalars[] = {
    // in the order of ros2_kind
    {DDS_OP_VAL_BLN, 0},
    {DDS_OP_VAL_1BY, DDS_OP_FLAG_SGN},
    {DDS_OP_VAL_1BY, 0},
    {DDS_OP_VAL_2BY, DDS_OP_FLAG_SGN},
    {DDS_OP_VAL_2BY, 0},
    {DDS_OP_VAL_4BY, DDS_OP_FLAG_SGN},
    {DDS_OP_VAL_4BY, 0},
    {DDS_OP_VAL_8BY, DDS_OP_FLAG_SGN},
    {DDS_OP_VAL_8BY, 0},
    {DDS_OP_VAL_4BY, DDS_OP_FLAG_FP},
    {DDS_OP_VAL_8BY, DDS_OP_FLAG_FP},
    {DDS_OP_VAL_STR, 0},
};
static_assert(sizeof scalars / sizeof scalars[0] == ROS2_STRUCT, "a scalar without an operation");

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

ros2_topic *ros2_topic_create(const ros2_shape *s)
{
    program p = {.ops = NULL};
    compile(s, 0, &p);
    put(&p, DDS_OP_RTS);
    ros2_topic *x = p.n < UINT16_MAX ? calloc(1, sizeof *x) : NULL;
    p.ops = x ? calloc(p.n, sizeof *p.ops) : NULL;
    if (!p.ops) {
        free(x);
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
    return x;
}

void ros2_topic_destroy(ros2_topic *x)
{
    if (x) {
        free(x->ops);
        free(x);
    }
}
