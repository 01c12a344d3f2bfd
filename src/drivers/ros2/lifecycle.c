// lifecycle.c - whether Nav2 is active.
//
// Nav2's nodes are there, and serve their actions, before they are active and after they were deactivated: then they
// refuse goals, or say nothing. So they are asked, every discovery_s:
//
//     MANAGER/is_active --true--------------------------------------------> active
//          | false, or no answer
//          v
//     each of `lifecycle_nodes`: NODE/get_state --one is not "active"-----> not active: that one, by name
//                                               --all are, that answer----> active (brought up by hand)
//                                               --none answers------------> the manager's word; none: not known
//
// What is not known holds nothing: a robot whose Nav2 has no lifecycle manager drives as it did, and one without
// Nav2 is noticed because nobody serves its actions. But a first goal waits until all nodes have been asked once. If a node was
// discovered and has not answered, the goal waits for FIRST_S: Fast DDS may discover the peer later than Cyclone DDS does.
#include "drivers/ros2/lifecycle.h"

#include "drivers/dds/service_client.h"
#include "pons/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE   "ros2"
#define ANSWER_S 2.0 // at most
#define FIRST_S  6.0
#define WATCH    "" // the id of the watch's own calls

typedef enum watch { IDLE, MANAGER, NODES } watch;

struct ros2_lifecycle {
    const ros2_config *c;
    ros2_service *manager;
    ros2_service *nodes[ROS2_LIFECYCLE_MAX];
    watch watch;      // reader thread
    int64_t begun_ns; // start of the newest round, host time
    int64_t first_ns; // start of the first round, host time

    pthread_mutex_t mtx; // what follows
    char why[PONS_OUTSIDE_TEXT_MAX];
    bool judged; // once
};

int ros2_lifecycle_open(ros2_node *n, ros2_types *t, const ros2_config *c, ros2_lifecycle **ret,
                        pons_error *err)
{
    ros2_lifecycle *l = calloc(1, sizeof *l);
    if (!l) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for Nav2's lifecycle");
    }
    char name[ROS2_NAME_MAX + 16];
    const double answer_s = c->answer_s < ANSWER_S ? c->answer_s : ANSWER_S;
    l->c = c;
    pthread_mutex_init(&l->mtx, NULL);
    snprintf(name, sizeof name, "%s/is_active", c->lifecycle_manager);
    int rc = ros2_service_open(n, t, name, "std_srvs/srv/Trigger", c->discovery_s, answer_s,
                               &l->manager, err);
    for (int i = 0; i < c->n_lifecycle && rc >= 0; i++) {
        char node[ROS2_NAME_MAX];
        ros2_config_name(c, c->lifecycle_nodes[i], node);
        snprintf(name, sizeof name, "%s/get_state", node);
        rc = ros2_service_open(n, t, name, "lifecycle_msgs/srv/GetState", c->discovery_s, answer_s,
                               &l->nodes[i], err);
    }
    if (rc < 0) {
        ros2_lifecycle_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void ros2_lifecycle_close(ros2_lifecycle *l)
{
    if (!l) {
        return;
    }
    ros2_service_close(l->manager);
    for (int i = 0; i < l->c->n_lifecycle; i++) {
        ros2_service_close(l->nodes[i]);
    }
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

// ---- any thread ---------------------------------------------------------------------------------

static void ask_nodes(ros2_lifecycle *l, const char *id)
{
    pons_autovalue nothing = json_object();
    for (int i = 0; i < l->c->n_lifecycle; i++) {
        ros2_service_begin(l->nodes[i], id, nothing, l->c->map);
    }
}

static void ask_manager(ros2_lifecycle *l, const char *id)
{
    pons_autovalue nothing = json_object();
    ros2_service_begin(l->manager, id, nothing, l->c->map);
}

void ros2_lifecycle_ask(ros2_lifecycle *l, const char *id)
{
    ask_manager(l, id);
    ask_nodes(l, id);
}

void ros2_lifecycle_end(ros2_lifecycle *l, const char *id)
{
    ros2_service_end(l->manager, id);
    for (int i = 0; i < l->c->n_lifecycle; i++) {
        ros2_service_end(l->nodes[i], id);
    }
}

// The end of one call: true, and the response or NULL; the caller's. A call that was never begun is over.
static bool answered(ros2_service *s, const char *id, pons_value **ret)
{
    ros2_progress p = {.end = ROS2_END_UNKNOWN};
    ros2_service_look(s, id, &p);
    *ret = p.result;
    return p.end != ROS2_END_NONE;
}

pons_value *ros2_lifecycle_answer(ros2_lifecycle *l, const char *id)
{
    pons_autovalue manager = NULL;
    pons_autovalue nodes = json_object();
    bool over = answered(l->manager, id, &manager);
    for (int i = 0; i < l->c->n_lifecycle; i++) {
        pons_autovalue state = NULL;
        over = answered(l->nodes[i], id, &state) && over;
        const char *label = pons_get_str(pons_get(state, "current_state"), "label", NULL);
        json_object_set_new(nodes, l->c->lifecycle_nodes[i],
                            label ? json_string(label) : json_null());
    }
    if (!over) {
        return NULL;
    }
    const pons_value *active = pons_get(manager, "success");
    return pons_object("active", active ? json_deep_copy(active) : json_null(), "nodes",
                       json_incref(nodes), NULL);
}

bool ros2_lifecycle_holds(ros2_lifecycle *l, char *why, size_t cap)
{
    pthread_mutex_lock(&l->mtx);
    const bool holds = *l->why != '\0';
    if (holds) {
        snprintf(why, cap, "%s", l->why);
    }
    pthread_mutex_unlock(&l->mtx);
    return holds;
}

bool ros2_lifecycle_begins(ros2_lifecycle *l)
{
    pthread_mutex_lock(&l->mtx);
    const bool begins = !l->judged;
    pthread_mutex_unlock(&l->mtx);
    return begins;
}

// ---- the reader thread --------------------------------------------------------------------------

// Whether an answer may still come: a server was discovered, and FIRST_S is not over.
static bool comes(const ros2_lifecycle *l, int64_t host_ns)
{
    bool any = ros2_service_comes(l->manager);
    for (int i = 0; i < l->c->n_lifecycle && !any; i++) {
        any = ros2_service_comes(l->nodes[i]);
    }
    return any && (double)(host_ns - l->first_ns) < FIRST_S * (double)PONS_NS_PER_S;
}

static void judge(ros2_lifecycle *l, const pons_value *state, int64_t host_ns)
{
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    const pons_value *nodes = pons_get(state, "nodes"), *active = pons_get(state, "active");
    bool any = false, known = json_is_boolean(active);
    for (int i = 0; i < l->c->n_lifecycle && !json_is_true(active); i++) {
        const char *name = l->c->lifecycle_nodes[i], *label = pons_get_str(nodes, name, NULL);
        any = any || label;
        if (label && strcmp(label, "active") != 0) {
            snprintf(why, sizeof why, "Nav2 is not active: %.60s is %.40s", name, label);
            break;
        }
    }
    if (!any && json_is_false(active)) {
        snprintf(why, sizeof why, "Nav2 is not active: %.100s says so", l->c->lifecycle_manager);
    }
    known = known || any || l->judged || !comes(l, host_ns);
    pthread_mutex_lock(&l->mtx);
    memcpy(l->why, why, sizeof why);
    l->judged = known;
    pthread_mutex_unlock(&l->mtx);
}

void ros2_lifecycle_poll(ros2_lifecycle *l, int64_t host_ns)
{
    ros2_service_poll(l->manager, host_ns);
    for (int i = 0; i < l->c->n_lifecycle; i++) {
        ros2_service_poll(l->nodes[i], host_ns);
    }
    if (l->watch == IDLE && (!l->begun_ns || (double)(host_ns - l->begun_ns) >
                                                 l->c->discovery_s * (double)PONS_NS_PER_S)) {
        l->begun_ns = host_ns;
        l->first_ns = l->first_ns ? l->first_ns : host_ns;
        l->watch = MANAGER;
        ask_manager(l, WATCH);
        return;
    }
    pons_autovalue state = l->watch == IDLE ? NULL : ros2_lifecycle_answer(l, WATCH);
    if (!state) {
        return;
    }
    if (l->watch == MANAGER && !json_is_true(pons_get(state, "active"))) {
        l->watch = NODES;
        ask_nodes(l, WATCH);
        return;
    }
    l->watch = IDLE;
    ros2_lifecycle_end(l, WATCH);
    judge(l, state, host_ns);
}
