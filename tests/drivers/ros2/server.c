// server.c - see server.h.
#include "server.h"

#include "ros2.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ros2_qos SURE = {.reliable = true, .depth = 10},
                      KEPT = {.reliable = true, .transient = true, .depth = 1};

const ros2_shape *server_shape(ros2_types *t, const char *type, const char *part)
{
    char name[ROS2_TYPE_MAX + 32];
    const ros2_shape *x = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(name, sizeof name, "%s_%s", type, part);
    if (ros2_types_get(t, name, &x, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return x;
}

static dds_entity_t end(server *s, bool reads, const char *prefix, const char *name,
                        const char *what, const dds_topic_descriptor_t *d, ros2_qos qos)
{
    char topic[ROS2_NAME_MAX + 32];
    pons_error err = PONS_ERROR_INIT;
    snprintf(topic, sizeof topic, "%s/_action/%s", name, what);
    const dds_entity_t e = reads ? ros2_node_reader(s->n, prefix, topic, NULL, d, qos, &err)
                                 : ros2_node_writer(s->n, prefix, topic, NULL, d, qos, &err);
    if (!e) {
        fail_msg("%s", err.message);
    }
    return e;
}

void server_open(server *s, ros2_node *n, ros2_types *t, const char *name, const char *type)
{
    static const char *const services[] = {"send_goal", "get_result", "cancel_goal"},
                             *const parts[] = {"SendGoal", "GetResult"};
    pons_error err = PONS_ERROR_INIT;
    *s = (server){.n = n, .t = t};
    for (int i = 0; i < 3; i++) {
        const dds_topic_descriptor_t *asks = &action_msgs_srv_dds__CancelGoal_Request__desc,
                                     *answers = &action_msgs_srv_dds__CancelGoal_Response__desc;
        if (i < 2) {
            char part[64];
            snprintf(part, sizeof part, "%s_Request", parts[i]);
            s->asks[i] = server_shape(t, type, part);
            snprintf(part, sizeof part, "%s_Response", parts[i]);
            s->answers[i] = server_shape(t, type, part);
            asks = ros2_types_topic(t, s->asks[i], &err);
            answers = ros2_types_topic(t, s->answers[i], &err);
        }
        s->w[i] = end(s, false, "rrReply", name, services[i], answers, SURE);
        s->r[i] = end(s, true, "rqRequest", name, services[i], asks, SURE);
    }
    s->feedback = server_shape(t, type, "FeedbackMessage");
    s->feedback_w =
        end(s, false, "rt", name, "feedback", ros2_types_topic(t, s->feedback, &err), SURE);
    s->status_w =
        end(s, false, "rt", name, "status", &action_msgs_msg_dds__GoalStatusArray__desc, KEPT);
}

void server_close(server *s)
{
    for (int i = 0; i < 3; i++) {
        dds_delete(s->r[i]);
        dds_delete(s->w[i]);
    }
    dds_delete(s->feedback_w);
    dds_delete(s->status_w);
}

static pons_value *next(server *s, int service, bool waits)
{
    void *sample[1] = {NULL};
    dds_sample_info_t info;
    for (int i = 0; i < 60000; i++) {
        if (dds_take(s->r[service], sample, &info, 1, 1) > 0) {
            pons_value *v = info.valid_data ? ros2_value_to(s->asks[service], sample[0]) : NULL;
            dds_return_loan(s->r[service], sample, 1);
            sample[0] = NULL;
            if (v) {
                return v;
            }
        }
        if (!waits) {
            return NULL;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    fail_msg("no request came");
    return NULL;
}

pons_value *server_goal(server *s)
{
    return next(s, 0, true);
}

pons_value *server_goal_yet(server *s)
{
    return next(s, 0, false);
}

pons_value *server_asked_yet(server *s)
{
    return next(s, 1, false);
}

pons_value *server_asked(server *s)
{
    return next(s, 1, true);
}

bool server_quiet(server *s)
{
    pons_autovalue v = next(s, 0, false);
    return !v;
}

bool server_cancel_yet(server *s, server_cancel *ret)
{
    void *sample[1] = {NULL};
    dds_sample_info_t info;
    while (dds_take(s->r[2], sample, &info, 1, 1) > 0) {
        const action_msgs_srv_dds__CancelGoal_Request_ *c = sample[0];
        const bool valid = info.valid_data;
        if (valid) {
            *ret = (server_cancel){.guid = c->guid_, .seq = c->seq_};
            memcpy(ret->uuid, c->goal_info.goal_id.uuid, 16);
        }
        dds_return_loan(s->r[2], sample, 1);
        sample[0] = NULL;
        if (valid) {
            return true;
        }
    }
    return false;
}

void server_cancel_answer(server *s, const server_cancel *c, int code)
{
    const action_msgs_srv_dds__CancelGoal_Response_ m = {
        .guid_ = c->guid, .seq_ = c->seq, .return_code = (int8_t)code};
    assert_int_equal(dds_write(s->w[2], &m), 0);
}

void server_canceled(server *s, uint8_t ret_uuid[16], int code)
{
    server_cancel c;
    for (int i = 0; i < 60000; i++) {
        if (server_cancel_yet(s, &c)) {
            memcpy(ret_uuid, c.uuid, 16);
            server_cancel_answer(s, &c, code);
            return;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    fail_msg("no cancel came");
}

static void say(dds_entity_t w, const ros2_shape *s, const pons_value *v)
{
    pons_error err = PONS_ERROR_INIT;
    void *mem = calloc(1, s->size);
    if (ros2_value_from(s, v, "map", mem, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(dds_write(w, mem), 0);
    ros2_value_fini(s, mem);
    free(mem);
}

// Who asked, and the how manieth question.
static pons_value *head(const pons_value *request)
{
    return pons_object("guid_", json_incref((json_t *)pons_get(request, "guid_")), "seq_",
                       json_incref((json_t *)pons_get(request, "seq_")), NULL);
}

void server_answer(server *s, const pons_value *request, bool accepted)
{
    pons_autovalue v = head(request);
    json_object_set_new(v, "accepted", json_boolean(accepted));
    say(s->w[0], s->answers[0], v);
}

void server_end(server *s, const pons_value *request, int status, const char *result)
{
    pons_autovalue v = head(request);
    json_object_set_new(v, "status", json_integer(status));
    json_object_set_new(v, "result", json_loads(result, 0, NULL));
    say(s->w[1], s->answers[1], v);
}

void server_tell(server *s, const pons_value *goal, const char *feedback)
{
    pons_autovalue v = pons_object("goal_id", json_incref((json_t *)pons_get(goal, "goal_id")),
                                   "feedback", json_loads(feedback, 0, NULL), NULL);
    say(s->feedback_w, s->feedback, v);
}

void server_list(server *s, const pons_value *goal, int status)
{
    action_msgs_msg_dds__GoalStatus_ one = {.status = (int8_t)status};
    for (size_t i = 0; i < 16; i++) {
        one.goal_info.goal_id.uuid[i] =
            (uint8_t)json_integer_value(json_array_get(pons_get(goal, "goal_id"), i));
    }
    const action_msgs_msg_dds__GoalStatusArray_ all = {
        {._maximum = 1, ._length = 1, ._buffer = &one}};
    assert_int_equal(dds_write(s->status_w, &all), 0);
}
