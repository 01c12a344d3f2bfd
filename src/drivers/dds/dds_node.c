// dds_node.c - DDS as ROS 2 uses it (rmw_cyclonedds' conventions).
//
//     topic /odom            rt/odom                      nav_msgs::msg::dds_::Odometry_
//     service /x             rq/xRequest, rr/xReply       pkg::srv::dds_::X_Request_, …
//
// An endpoint's user data say what else ROS wants to know of it: which requests and replies belong
// together (serviceid= of who serves, clientid= of who asks), and the hash of its type (typehash=).
//
// The interfaces come from idl/ros2.idl without type information: a Cyclone 0.10.2 dies of the type
// objects of a newer one when both have some. Everybody matches by names alone then.
//
// Topics with another type, and peers whose QoS does not fit, simply never match; so that somebody is told,
// the builtin topics are looked through for who else has the same topic. A robot with Nav2 has some thousand endpoints.
#include "drivers/dds/dds_node.h"

#include "drivers/dds/hashes.h"
#include "pons/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

enum { NAME = ROS2_NAME_MAX + 64, PEERS = 256, PEERS_MAX = 1 << 16 };

#define WHY_NS DDS_MSECS(250) // for which what was said holds

typedef struct rivals {
    char name[NAME];
    dds_guid_t mine; // the participant
    int n;
} rivals;

typedef struct stranger { // who has the same topic otherwise
    const char *name, *type, *shown;
    bool writes;
    const dds_qos_t *qos;
    char *ret;
    size_t cap;
    bool found;
} stranger;

int ros2_node_open(ros2_node *n, uint32_t domain, pons_error *err)
{
    static const char enclave[] = "enclave=/;";
    dds_qos_t *q = dds_create_qos();
    dds_qset_userdata(q, enclave, sizeof enclave - 1);
    n->participant = dds_create_participant(domain, q, NULL);
    dds_delete_qos(q);
    if (n->participant < 0) {
        return pons_error_set(
            err, PONS_EENV, MODULE,
            "cannot take part in DDS domain %u: %s (of many programs on one machine "
            "no more than MaxAutoParticipantIndex can, see CYCLONEDDS_URI)",
            domain, dds_strretcode(-n->participant));
    }
    n->waitset = dds_create_waitset(n->participant);
    n->fast_came = dds_create_guardcondition(n->participant);
    dds_waitset_attach(n->waitset, n->fast_came, n->fast_came);
    n->domain = domain;
    n->others[0] = dds_create_reader(n->participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, NULL, NULL);
    n->others[1] =
        dds_create_reader(n->participant, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, NULL, NULL);
    pons_rand r;
    pons_rand_seed_os(&r);
    n->n_endpoints = 0;
    for (int i = 0, at = 0; i < 16; i++) {
        at += snprintf(n->id + at, sizeof n->id - (size_t)at, "%s%x", i ? "." : "",
                       (unsigned)(pons_rand_u64(&r) & 0xff));
    }
    return PONS_OK;
}

void ros2_node_close(ros2_node *n)
{
    if (n->fast) {
        n->fast_ops->close(n->fast);
    }
    if (n->participant > 0) {
        dds_delete(n->participant);
    }
}

void ros2_node_wait(ros2_node *n, int64_t ns)
{
    dds_attach_t woken[1];
    bool was;
    dds_waitset_wait(n->waitset, woken, 1, ns);
    dds_take_guardcondition(n->fast_came, &was);
}

void ros2_node_own(ros2_node *n, const uint8_t guid[16], bool writes)
{
    if (n->n_endpoints < ROS2_ENDPOINTS_MAX) {
        memcpy(n->endpoints[n->n_endpoints].guid, guid, 16);
        n->endpoints[n->n_endpoints++].writes = writes;
    }
}

static dds_entity_t made(ros2_node *n, dds_entity_t e, bool writes, const char *name,
                         pons_error *err)
{
    dds_guid_t guid;
    if (e > 0) {
        if (dds_get_guid(e, &guid) == 0) {
            ros2_node_own(n, guid.v, writes);
        }
        return e;
    }
    pons_error_set(err, PONS_EENV, MODULE, "cannot make an endpoint of %.120s: %s", name,
                   dds_strretcode(-e));
    return 0;
}

static dds_entity_t topic(ros2_node *n, const char *prefix, const char *name, const char *type,
                          const dds_topic_descriptor_t *desc, char *ret, pons_error *err)
{
    dds_topic_descriptor_t named;
    memcpy(&named, desc, sizeof named); // its members are const
    if (type) {
        memcpy((void *)&named.m_typename, &type, sizeof type);
    }
    // rq/xRequest and rr/xReply: the suffix comes with the prefix.
    snprintf(ret, NAME, "%.2s%s%s", prefix, name, *prefix ? prefix + 2 : "");
    const dds_entity_t t = dds_create_topic(n->participant, &named, ret, NULL, NULL);
    if (t > 0) {
        return t;
    }
    pons_error_set(err, PONS_EENV, MODULE, "cannot make the topic %.120s: %s", ret,
                   dds_strretcode(-t));
    return 0;
}

// NULL: of a type that is not in our .idl files.
static const char *hash_of(const char *type)
{
    static const struct {
        const char *type, *hash;
    } all[] = {
#define ROS2_HASH(type, hash) {type, hash},
        ROS2_HASHES(ROS2_HASH)
#undef ROS2_HASH
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].type, type) == 0) {
            return all[i].hash;
        }
    }
    return NULL;
}

void ros2_node_says(const ros2_node *n, const char *role, const char *type, char *ret, size_t cap)
{
    const char *hash = n->hashed ? hash_of(type) : NULL;
    int at = 0;
    *ret = '\0';
    if (*role) {
        at = snprintf(ret, cap, "%s=%s;", role, n->id);
    }
    if (hash) {
        snprintf(ret + at, cap - (size_t)at, "typehash=RIHS01_%s;", hash);
    }
}

static dds_qos_t *qos_of(const ros2_node *n, const char *prefix, const char *type, bool writes,
                         ros2_qos qos)
{
    dds_qos_t *q = dds_create_qos();
    dds_qset_history(q, DDS_HISTORY_KEEP_LAST, qos.depth > 0 ? qos.depth : 1);
    dds_qset_reliability(q, qos.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                         DDS_MSECS(100));
    dds_qset_durability(q,
                        qos.transient ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
    if (qos.transient) { // what who comes late is told
        dds_qset_durability_service(q, 0, DDS_HISTORY_KEEP_LAST, qos.depth > 0 ? qos.depth : 1,
                                    DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                                    DDS_LENGTH_UNLIMITED);
    }
    dds_qset_writer_data_lifecycle(q, false);
    char says[256];
    const char *role = "";
    if (*prefix && prefix[2]) { // a request's reader and a reply's writer serve
        role = (prefix[1] == 'q') != writes ? "serviceid" : "clientid";
    }
    ros2_node_says(n, role, type, says, sizeof says);
    if (*says) {
        dds_qset_userdata(q, says, strlen(says));
    }
    return q;
}

dds_entity_t ros2_node_reader(ros2_node *n, const char *prefix, const char *name, const char *type,
                              const dds_topic_descriptor_t *desc, ros2_qos qos, pons_error *err)
{
    char full[NAME];
    const dds_entity_t t = topic(n, prefix, name, type, desc, full, err);
    if (t <= 0) {
        return 0;
    }
    dds_qos_t *q = qos_of(n, prefix, type ? type : desc->m_typename, false, qos);
    const dds_entity_t e = made(n, dds_create_reader(n->participant, t, q, NULL), false, full, err);
    dds_delete_qos(q);
    if (e > 0) {
        dds_set_status_mask(e, DDS_DATA_AVAILABLE_STATUS);
        dds_waitset_attach(n->waitset, e, e);
    }
    return e;
}

dds_entity_t ros2_node_writer(ros2_node *n, const char *prefix, const char *name, const char *type,
                              const dds_topic_descriptor_t *desc, ros2_qos qos, pons_error *err)
{
    char full[NAME];
    const dds_entity_t t = topic(n, prefix, name, type, desc, full, err);
    if (t <= 0) {
        return 0;
    }
    dds_qos_t *q = qos_of(n, prefix, type ? type : desc->m_typename, true, qos);
    const dds_entity_t e = made(n, dds_create_writer(n->participant, t, q, NULL), true, full, err);
    dds_delete_qos(q);
    return e;
}

bool ros2_node_matched(dds_entity_t endpoint)
{
    dds_instance_handle_t peers[1];
    if (endpoint <= 0) {
        return false;
    }
    const dds_return_t as_writer = dds_get_matched_subscriptions(endpoint, peers, 1);
    return (as_writer >= 0 ? as_writer : dds_get_matched_publications(endpoint, peers, 1)) > 0;
}

uint64_t ros2_node_guid(dds_entity_t writer)
{
    dds_instance_handle_t h = 0;
    dds_get_instance_handle(writer, &h);
    return h;
}

void ros2_node_type(const char *type, char *ret, size_t cap)
{
    size_t n = 0;
    for (const char *c = type; *c && n + 1 < cap;) {
        if (strncmp(c, "::dds_::", 8) == 0) {
            ret[n++] = '/';
            c += 8;
        } else if (strncmp(c, "::", 2) == 0) {
            ret[n++] = '/';
            c += 2;
        } else {
            ret[n++] = *c++;
        }
    }
    n -= n > 0 && ret[n - 1] == '_';
    ret[n] = '\0';
}

void ros2_node_each(const ros2_node *n, bool publications, ros2_look *look, void *user)
{
    const dds_entity_t reader = n->others[publications ? 0 : 1];
    for (int room = PEERS; room <= PEERS_MAX; room *= 4) {
        // Cyclone fills in as many pointers as the largest read of this reader had, whatever this one asks for.
        void **samples = calloc(PEERS_MAX, sizeof *samples);
        dds_sample_info_t *info = calloc((size_t)room, sizeof *info);
        const dds_return_t got =
            samples && info ? dds_read(reader, samples, info, PEERS_MAX, (uint32_t)room) : 0;
        const bool all = got < room || room == PEERS_MAX;
        bool goes_on = all;
        for (int i = 0; i < got && goes_on; i++) {
            goes_on = !info[i].valid_data || info[i].instance_state != DDS_IST_ALIVE ||
                      look(samples[i], user);
        }
        if (got > 0) {
            dds_return_loan(reader, samples, got);
        }
        free(samples);
        free(info);
        if (all) {
            return;
        }
    }
}

static bool count_rival(const dds_builtintopic_endpoint_t *e, void *user)
{
    rivals *r = user;
    r->n += strcmp(e->topic_name, r->name) == 0 &&
            memcmp(e->participant_key.v, r->mine.v, sizeof r->mine.v) != 0;
    return true;
}

int ros2_node_rivals(const ros2_node *n, dds_entity_t writer)
{
    rivals r = {.n = 0};
    if (dds_get_name(dds_get_topic(writer), r.name, sizeof r.name) < 0 ||
        dds_get_guid(n->participant, &r.mine) < 0) {
        return 0;
    }
    ros2_node_each(n, true, count_rival, &r);
    return r.n;
}

// What of a QoS does not fit; "": nothing.
static void misfit(const dds_qos_t *offered, const dds_qos_t *wanted, char *ret, size_t cap)
{
    dds_reliability_kind_t ro, rw;
    dds_durability_kind_t d_o, dw;
    dds_liveliness_kind_t lo = DDS_LIVELINESS_AUTOMATIC, lw = DDS_LIVELINESS_AUTOMATIC;
    dds_duration_t d, to = DDS_INFINITY, tw = DDS_INFINITY, lease_o = DDS_INFINITY,
                      lease_w = DDS_INFINITY;
    *ret = '\0';
    (void)dds_qget_deadline(offered, &to);
    (void)dds_qget_deadline(wanted, &tw);
    (void)dds_qget_liveliness(offered, &lo, &lease_o);
    (void)dds_qget_liveliness(wanted, &lw, &lease_w);
    if (dds_qget_reliability(offered, &ro, &d) && dds_qget_reliability(wanted, &rw, &d) &&
        ro < rw) {
        snprintf(ret, cap, "reliability is offered as best_effort, reliable is wanted");
    } else if (dds_qget_durability(offered, &d_o) && dds_qget_durability(wanted, &dw) && d_o < dw) {
        snprintf(ret, cap, "durability is offered as volatile, transient_local is wanted");
    } else if (to > tw) {
        snprintf(ret, cap, "a deadline of %.3g s is wanted, and not offered", (double)tw * 1e-9);
    } else if (lo < lw || lease_o > lease_w) {
        snprintf(ret, cap, "liveliness is wanted otherwise than it is offered");
    }
}

static bool look_at(const dds_builtintopic_endpoint_t *e, void *user)
{
    stranger *s = user;
    char mine[96], theirs[96], wrong[96];
    if (strcmp(e->topic_name, s->name) != 0) {
        return true;
    }
    if (strcmp(e->type_name, s->type) != 0) {
        ros2_node_type(s->type, mine, sizeof mine);
        ros2_node_type(e->type_name, theirs, sizeof theirs);
        snprintf(s->ret, s->cap, "%.60s is %.40s there, %.40s is needed", s->shown, theirs, mine);
        s->found = true;
        return false;
    }
    misfit(s->writes ? s->qos : e->qos, s->writes ? e->qos : s->qos, wrong, sizeof wrong);
    if (*wrong) {
        snprintf(s->ret, s->cap, "%.60s: %.90s", s->shown, wrong);
        s->found = true;
    }
    return !s->found;
}

static bool why(const ros2_node *n, dds_entity_t endpoint, char *ret, size_t cap)
{
    dds_instance_handle_t peers[1];
    const bool writes = dds_get_matched_subscriptions(endpoint, peers, 1) >= 0;
    char name[NAME] = "", type[NAME] = "";
    const dds_entity_t t = dds_get_topic(endpoint);
    dds_get_name(t, name, sizeof name);
    dds_get_type_name(t, type, sizeof type);
    const char *shown = strlen(name) > 2 ? name + 2 : name;
    snprintf(ret, cap, "%.80s: nobody %s it", shown, writes ? "subscribes to" : "publishes");
    dds_qos_t *q = dds_create_qos();
    dds_get_qos(endpoint, q);
    stranger s = {name, type, shown, writes, q, ret, cap, false};
    ros2_node_each(n, !writes, look_at, &s);
    dds_delete_qos(q);
    return s.found;
}

bool ros2_node_why(ros2_node *n, dds_entity_t endpoint, char *ret, size_t cap)
{
    const dds_time_t now = dds_time();
    const size_t all = sizeof n->why / sizeof n->why[0];
    size_t at = 0;
    for (size_t i = 0; i < all; i++) { // its own place, else the oldest
        if (n->why[i].of == endpoint && now - n->why[i].at < WHY_NS) {
            snprintf(ret, cap, "%s", n->why[i].line);
            return n->why[i].other;
        }
        at = n->why[i].at < n->why[at].at ? i : at;
    }
    n->why[at].other = why(n, endpoint, n->why[at].line, sizeof n->why[at].line);
    n->why[at].of = endpoint;
    n->why[at].at = dds_time();
    snprintf(ret, cap, "%s", n->why[at].line);
    return n->why[at].other;
}
