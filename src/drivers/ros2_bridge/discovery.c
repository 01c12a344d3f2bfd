// discovery.c - what ros2's tools ask of a node: its parameters, and its log (/rosout). Which endpoints are its,
// drivers/dds/discovery_info.c tells.
//
// Parameters say what the robot is, and cannot be set: what may be changed is in the workspace.
#include "drivers/ros2_bridge/discovery.h"

#include "drivers/ros2_bridge/bridge_common.h"

#include <stdio.h>
#include <string.h>

enum { PARAMETERS = 6, ASKED_MAX = 64 };
enum { NOT_SET = 0, BOOL = 1, DOUBLE = 3, STRING = 4 }; // rcl_interfaces/ParameterType

typedef rcl_interfaces_msg_dds__ParameterValue_ value;

static const char *const services[] = {"describe_parameters", "get_parameters",
                                       "get_parameter_types", "list_parameters",
                                       "set_parameters",      "set_parameters_atomically"};

static const struct {
    const char *name;
    uint8_t type;
    const char *means;
} parameters[PARAMETERS] = {
    {"use_sim_time", BOOL, "stamps are robot time, which is on /clock"},
    {"robot_id", STRING, "as in the body's ledger"},
    {"driver", STRING, "what moves the robot"},
    {"radius_m", DOUBLE, "of the footprint"},
    {"speed_max_mps", DOUBLE, "ahead"},
    {"yaw_rate_max_radps", DOUBLE, "turning"},
};

static const struct {
    const dds_topic_descriptor_t *request, *response;
} types[] = {
#define SERVICE(x)                                                                                 \
    {                                                                                              \
        &rcl_interfaces_srv_dds__##x##_Request__desc,                                              \
            &rcl_interfaces_srv_dds__##x##_Response__desc                                          \
    }
    SERVICE(DescribeParameters), SERVICE(GetParameters), SERVICE(GetParameterTypes),
    SERVICE(ListParameters),     SERVICE(SetParameters), SERVICE(SetParametersAtomically),
#undef SERVICE
};

int bridge_graph_open(bridge *b, pons_error *err)
{
    const ros2_qos log = {.reliable = true, .transient = true, .depth = 100};
    char name[2 * ROS2_NAME_MAX + 64];
    b->rosout_w = ros2_node_writer(&b->node, "rt", "/rosout", NULL,
                                   &rcl_interfaces_msg_dds__Log__desc, log, err);
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        snprintf(name, sizeof name, "%s/%s/%s", b->c.shown.ns, b->c.shown.node, services[i]);
        if (!bridge_service_open(b, &b->param[i], name, types[i].request, types[i].response, NULL,
                                 err)) {
            return PONS_EENV;
        }
    }
    return b->rosout_w ? PONS_OK : PONS_EENV;
}

// ---- parameters ---------------------------------------------------------------------------------

static int find(const char *name)
{
    for (int i = 0; i < PARAMETERS; i++) {
        if (strcmp(parameters[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static value value_of(const bridge *b, int i)
{
    const double numbers[PARAMETERS] = {
        0, 0, 0, b->radius_m, b->speed_max_mps, b->yaw_rate_max_radps};
    const char *const texts[PARAMETERS] = {"", b->robot_id, b->driver, "", "", ""};
    value v = {.string_value = WORDS("")};
    if (i >= 0) {
        v.type = parameters[i].type;
        v.bool_value = v.type == BOOL && bridge_sim_time(b);
        v.double_value = numbers[i];
        v.string_value = WORDS(texts[i]);
    }
    return v;
}

#define REQUEST(x)  rcl_interfaces_srv_dds__##x##_Request_
#define RESPONSE(x) rcl_interfaces_srv_dds__##x##_Response_
#define ASKED(seq)  ((seq)._length < ASKED_MAX ? (seq)._length : (uint32_t)ASKED_MAX)

static void describe(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[0].rpc, REQUEST(DescribeParameters), r)
    {
        const uint32_t n = ASKED(r->names);
        rcl_interfaces_msg_dds__ParameterDescriptor_ all[ASKED_MAX] = {0};
        for (uint32_t i = 0; i < n; i++) {
            const int k = find(r->names._buffer[i]);
            all[i].name = r->names._buffer[i];
            all[i].description = WORDS(k < 0 ? "" : parameters[k].means);
            all[i].additional_constraints = WORDS("");
            all[i].type = k < 0 ? NOT_SET : parameters[k].type;
            all[i].read_only = k >= 0;
        }
        const RESPONSE(DescribeParameters) m = {r->guid_, r->seq_, {n, n, all, false}};
        ros2_rpc_write(&b->param[0].rpc, &m);
    }
}

static void get(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[1].rpc, REQUEST(GetParameters), r)
    {
        const uint32_t n = ASKED(r->names);
        value all[ASKED_MAX];
        for (uint32_t i = 0; i < n; i++) {
            all[i] = value_of(b, find(r->names._buffer[i]));
        }
        const RESPONSE(GetParameters) m = {r->guid_, r->seq_, {n, n, all, false}};
        ros2_rpc_write(&b->param[1].rpc, &m);
    }
}

static void get_types(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[2].rpc, REQUEST(GetParameterTypes), r)
    {
        const uint32_t n = ASKED(r->names);
        uint8_t all[ASKED_MAX];
        for (uint32_t i = 0; i < n; i++) {
            const int k = find(r->names._buffer[i]);
            all[i] = k < 0 ? NOT_SET : parameters[k].type;
        }
        const RESPONSE(GetParameterTypes) m = {r->guid_, r->seq_, {n, n, all, false}};
        ros2_rpc_write(&b->param[2].rpc, &m);
    }
}

// No name of ours has a dot: a prefix is a whole name, or none of them.
static void list(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[3].rpc, REQUEST(ListParameters), r)
    {
        char *all[PARAMETERS];
        uint32_t n = 0;
        for (int i = 0; i < PARAMETERS; i++) {
            bool wanted = r->prefixes._length == 0;
            for (uint32_t k = 0; k < r->prefixes._length; k++) {
                wanted = wanted || strcmp(r->prefixes._buffer[k], parameters[i].name) == 0;
            }
            if (wanted) {
                all[n++] = WORDS(parameters[i].name);
            }
        }
        const RESPONSE(ListParameters) m = {r->guid_, r->seq_, {.names = {n, n, all, false}}};
        ros2_rpc_write(&b->param[3].rpc, &m);
    }
}

static rcl_interfaces_msg_dds__SetParametersResult_ refusal(const char *name)
{
    return (rcl_interfaces_msg_dds__SetParametersResult_){
        false, WORDS(find(name) < 0 ? "there is no such parameter"
                                    : "it says what the robot is, and cannot be set")};
}

static void set(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[4].rpc, REQUEST(SetParameters), r)
    {
        const uint32_t n = ASKED(r->parameters);
        rcl_interfaces_msg_dds__SetParametersResult_ all[ASKED_MAX];
        for (uint32_t i = 0; i < n; i++) {
            all[i] = refusal(r->parameters._buffer[i].name);
        }
        const RESPONSE(SetParameters) m = {r->guid_, r->seq_, {n, n, all, false}};
        ros2_rpc_write(&b->param[4].rpc, &m);
    }
}

static void set_atomically(bridge *b)
{
    ROS2_RPC_TAKE(&b->param[5].rpc, REQUEST(SetParametersAtomically), r)
    {
        const RESPONSE(SetParametersAtomically)
            m = {r->guid_, r->seq_,
                 refusal(r->parameters._length > 0 ? r->parameters._buffer[0].name : "")};
        ros2_rpc_write(&b->param[5].rpc, &m);
    }
}

void bridge_graph_take(bridge *b)
{
    static void (*const answers[])(bridge *) = {describe, get, get_types,
                                                list,     set, set_atomically};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (bridge_service_ready(b, &b->param[i])) {
            answers[i](b);
        }
    }
}
