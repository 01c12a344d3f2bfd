// topics.c - the topics of ROS 2 as they are on the wire (ext/topics.h), for recordings.
//
//     DDS's publications --> a topic whose type is known --> a reader --CDR, as it came--> whoever records
//
// Every topic that is published is heard: with a namespace in config/ros2.yaml only those in it, and those that the
// configuration names (/tf, /clock …). Hidden ones (a part of the name begins with _) are not, as with `ros2 bag`. A
// type is known by its text, which is the schema of the recording too: from `interfaces` of the configuration,
// $AMENT_PREFIX_PATH, and config/ros2/*.msgs.
//
// A reader asks for what the least of the topic's publishers offers, for otherwise it would not hear that one. One
// thread; it publishes nothing and has no service.
#include "pons/ext/topics.h"

#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"
#include "drivers/ros2_topics/discovery_probe.h"
#include "drivers/ros2_topics/message_definitions.h"
#include "pons/module.h"

#include <dds/ddsi/ddsi_serdata.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE  "ros2"
#define LOOK_MS 100 // at who publishes, at least
#define DEPTH   1000

enum { TOPICS = 256, TURN = 64 };

typedef struct received {
    char name[ROS2_NAME_MAX], type[ROS2_TYPE_MAX];
    const dds_topic_descriptor_t *desc;
    dds_entity_t reader; // 0: it is not heard, which was told
    bool reliable, transient;
    int number; // whoever records calls it so
} received;

typedef struct topics {
    pons_topics_options o;
    ros2_config c;
    ros2_node node;
    ros2_types *types;
    received at[TOPICS];
    int n;
    bool full; // was told
    pthread_t thread;
    bool runs;
    _Atomic bool quit;
} topics;

// ---- what they say ------------------------------------------------------------------------------

static void hand_over(topics *t, const received *h, struct ddsi_serdata *d)
{
    ddsrt_iovec_t all = {.iov_base = NULL};
    struct ddsi_serdata *held = ddsi_serdata_to_ser_ref(d, 0, ddsi_serdata_size(d), &all);
    t->o.message(t->o.user, h->number, all.iov_base, (size_t)all.iov_len);
    ddsi_serdata_to_ser_unref(held, &all);
}

static void take(topics *t, const received *h)
{
    for (int n = TURN; h->reader && n == TURN;) {
        struct ddsi_serdata *data[TURN];
        dds_sample_info_t info[TURN];
        n = dds_takecdr(h->reader, data, TURN, info, DDS_ANY_STATE);
        for (int i = 0; i < n; i++) {
            if (info[i].valid_data) {
                hand_over(t, h, data[i]);
            }
            ddsi_serdata_unref(data[i]);
        }
    }
}

// ---- who publishes ------------------------------------------------------------------------------

// A topic of another robot is none of ours.
static bool is_ours(const ros2_config *c, const char *name)
{
    const ros2_stream *named[] = {&c->t_odom,    &c->t_scan,       &c->t_battery,
                                  &c->t_tf,      &c->t_tf_static,  &c->t_clock,
                                  &c->t_cmd_vel, &c->t_cmd_vel_in, &c->t_initialpose};
    const char *ns = c->ns + (*c->ns == '/');
    const size_t n = strlen(ns);
    bool ours = n == 0 || (strncmp(name + 1, ns, n) == 0 && name[n + 1] == '/');
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        ours = ours || strcmp(named[i]->name, name) == 0;
    }
    return ours;
}

static void not_received(const topics *t, const char *why)
{
    char line[512];
    snprintf(line, sizeof line, "%.440s; it is not recorded", why);
    t->o.tell(t->o.user, line);
}

// 0: it cannot be, which was told.
static dds_entity_t reader_of(topics *t, const received *h)
{
    pons_error err = PONS_ERROR_INIT;
    const ros2_qos qos = {.reliable = h->reliable, .transient = h->transient, .depth = DEPTH};
    const dds_entity_t r = ros2_node_reader(&t->node, "rt", h->name, NULL, h->desc, qos, &err);
    if (r == 0) {
        not_received(t, err.message);
    }
    return r;
}

static void begin(topics *t, received *h)
{
    pons_error err = PONS_ERROR_INIT;
    const ros2_shape *shape = NULL;
    char *text = NULL, line[300];
    int rc = ros2_types_get(t->types, h->type, &shape, &err);
    h->desc = rc < 0 ? NULL : ros2_types_topic(t->types, shape, &err);
    if (h->desc) {
        text = ros2_topic_text(t->types, shape);
        h->number =
            text ? t->o.topic(t->o.user, &(pons_topic){h->name, h->type, "cdr", "ros2msg", text})
                 : -1;
        h->reader = h->number < 0 ? 0 : reader_of(t, h);
        free(text);
        return;
    }
    snprintf(line, sizeof line, "%.80s: %.200s", h->name, err.message);
    not_received(t, line);
}

// What the least of its publishers offers; a reader that asks for more is made anew.
static void ask_less(topics *t, received *h, bool reliable, bool transient)
{
    if (!h->reader || ((reliable || !h->reliable) && (transient || !h->transient))) {
        return;
    }
    h->reliable = h->reliable && reliable;
    h->transient = h->transient && transient;
    take(t, h);
    dds_delete(h->reader);
    h->reader = reader_of(t, h);
}

static void on_publication(topics *t, const dds_builtintopic_endpoint_t *e)
{
    char type[ROS2_TYPE_MAX], line[300];
    const char *name = e->topic_name + 2;
    dds_reliability_kind_t reliability = DDS_RELIABILITY_BEST_EFFORT;
    dds_durability_kind_t durability = DDS_DURABILITY_VOLATILE;
    dds_duration_t blocks;
    if (strncmp(e->topic_name, "rt/", 3) != 0 || strlen(name) >= ROS2_NAME_MAX ||
        strstr(name, "/_") || !is_ours(&t->c, name)) {
        return;
    }
    dds_qget_reliability(e->qos, &reliability, &blocks);
    dds_qget_durability(e->qos, &durability);
    const bool reliable = reliability == DDS_RELIABILITY_RELIABLE;
    const bool transient = durability >= DDS_DURABILITY_TRANSIENT_LOCAL;
    ros2_node_type(e->type_name, type, sizeof type);
    for (int i = 0; i < t->n; i++) {
        received *h = &t->at[i];
        if (strcmp(h->name, name) == 0) {
            if (strcmp(h->type, type) == 0) {
                ask_less(t, h, reliable, transient);
            } else if (h->reader) {
                snprintf(line, sizeof line, "%.80s is %.80s too, beside %.80s", name, type,
                         h->type);
                not_received(t, line);
            }
            return;
        }
    }
    if (t->n == TOPICS) {
        if (!t->full) {
            snprintf(line, sizeof line, "%.80s: there are more than %d topics", name, TOPICS);
            not_received(t, line);
        }
        t->full = true;
        return;
    }
    received *h = &t->at[t->n++];
    *h = (received){.reliable = reliable, .transient = transient};
    snprintf(h->name, sizeof h->name, "%s", name);
    snprintf(h->type, sizeof h->type, "%s", type);
    begin(t, h);
}

// Those that have come since the last look.
static void look(topics *t)
{
    for (;;) {
        void *samples[TURN] = {NULL};
        dds_sample_info_t info[TURN];
        const dds_return_t n = dds_take(t->node.others[0], samples, info, TURN, TURN);
        for (int i = 0; i < n; i++) {
            if (info[i].valid_data && info[i].instance_state == DDS_IST_ALIVE) {
                on_publication(t, samples[i]);
            }
        }
        if (n > 0) {
            dds_return_loan(t->node.others[0], samples, n);
        }
        if (n < TURN) {
            return;
        }
    }
}

// ---- operations ---------------------------------------------------------------------------------

static void topics_close(void *self)
{
    topics *t = self;
    if (!t) {
        return;
    }
    atomic_store(&t->quit, true);
    if (t->runs) {
        pthread_join(t->thread, NULL);
    }
    ros2_node_close(&t->node);
    ros2_types_destroy(t->types);
    ros2_config_fini(&t->c);
    free(t);
}

static void *run(void *arg)
{
    topics *t = arg;
    while (!atomic_load(&t->quit)) {
        look(t);
        ros2_node_wait(&t->node, DDS_MSECS(LOOK_MS));
        for (int i = 0; i < t->n; i++) {
            take(t, &t->at[i]);
        }
    }
    return NULL;
}

static int topics_open(const pons_topics_options *o, void **ret, pons_error *err)
{
    topics *t = calloc(1, sizeof *t);
    if (!t || !(t->types = ros2_types_create())) {
        free(t);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to hear topics with");
    }
    t->o = *o;
    int rc = ros2_config_load(o->workspace, &t->c, err);
    rc = rc < 0 ? rc : ros2_topic_texts(t->types, &t->c, err);
    rc = rc < 0 ? rc : ros2_node_open(&t->node, t->c.domain, err);
    if (rc >= 0) {
        t->runs = pthread_create(&t->thread, NULL, run, t) == 0;
        rc = t->runs ? PONS_OK : pons_error_set(err, PONS_EENV, MODULE, "cannot start a thread");
    }
    if (rc < 0) {
        topics_close(t);
        return rc;
    }
    *ret = t;
    return PONS_OK;
}

static const pons_topics_ops ops = {.abi = PONS_TOPICS_ABI,
                                    .name = "ros2",
                                    .open = topics_open,
                                    .close = topics_close,
                                    .look = ros2_discovery_probe};
PONS_MODULE_EXPORT("topics", "ros2", &ops);
