// rpc.c - see rpc.h. Fast DDS has bytes; Cyclone's own reader and writer of CDR make messages of them here.
#include "drivers/dds/rpc.h"

#include "pons/module.h"

#include <dds/ddsi/ddsi_cdrstream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

static const ros2_qos SURE = {.reliable = true, .depth = 10};

enum { XCDR1 = 1, ENCAPSULATION = 4, BIG = 0, LITTLE = 1, FLUSH_MS = 300 };
#define ALIAS                                                                                      \
    0xFA57DD5000000000ull // | i: a server's name for the client clients[i] that is not Cyclone's

typedef struct head {
    uint64_t guid;
    int64_t seq;
} head;

// ---- Fast DDS -----------------------------------------------------------------------------------

static void came(void *user)
{
    const ros2_node *n = user;
    dds_set_guardcondition(n->fast_came, true);
    if (n->came) {
        n->came(n->came_user);
    }
}

// NULL: the module is not there, or cannot be used; `why` of the node says so.
static const ros2_fast_ops *fast_of(ros2_node *n)
{
    const void *found = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (n->fast || *n->fast_why) {
        return n->fast ? n->fast_ops : NULL;
    }
    const int rc = pons_module_load_of("dds", "fast", ROS2_FAST_ABI, &found, &err);
    if (rc < 0) {
        snprintf(n->fast_why, sizeof n->fast_why, "%.120s",
                 rc == PONS_ENOTFOUND ? "the module dds-fast is not installed" : err.message);
        return NULL;
    }
    n->fast_ops = found;
    const int opened =
        n->fast_ops->open(n->domain, came, n, &n->fast, n->fast_why, sizeof n->fast_why);
    return opened < 0 ? NULL : n->fast_ops;
}

static ros2_fast_end *fast_end(ros2_rpc *s)
{
    const ros2_fast_ops *ops = fast_of(s->n);
    char topics[2][ROS2_NAME_MAX + 96], says[2][256];
    const char *const types[] = {s->asks->m_typename,
                                 s->answers_type ? s->answers_type : s->answers->m_typename};
    snprintf(topics[0], sizeof topics[0], "rq%sRequest", s->name);
    snprintf(topics[1], sizeof topics[1], "rr%sReply", s->name);
    for (int i = 0; i < 2; i++) {
        ros2_node_says(s->n, s->serves ? "serviceid" : "clientid", types[i], says[i],
                       sizeof says[i]);
    }
    const ros2_fast_service want = {.topics = {topics[0], topics[1]},
                                    .types = {types[0], types[1]},
                                    .says = {says[0], says[1]},
                                    .serves = s->serves};
    ros2_fast_end *e = ops ? ops->end(s->n->fast, &want) : NULL;
    if (ops && !e) { // it is not tried again in every round
        snprintf(s->n->fast_why, sizeof s->n->fast_why, "Fast DDS cannot make its endpoints");
    }
    return e;
}

static bool is_cyclone(const dds_builtintopic_endpoint_t *e)
{
    return e->key.v[0] == 0x01 && e->key.v[1] == 0x10; // a GUID begins with its vendor
}

enum { CYCLONE = 1, OTHER = 2 };

// Of which kinds its peers are. Any thread.
static int kinds_of_peers(ros2_rpc *s)
{
    enum { MOST = 16 };
    dds_instance_handle_t all[MOST];
    const dds_return_t n = s->w > 0 ? dds_get_matched_subscriptions(s->w, all, MOST) : 0;
    uint64_t sum = 1;
    int kinds = 0;
    for (int i = 0; i < n && i < MOST; i++) {
        sum += all[i] * 3;
    }
    if (atomic_load(&s->known) == sum) {
        return atomic_load(&s->kinds);
    }
    for (int i = 0; i < n && i < MOST; i++) {
        dds_builtintopic_endpoint_t *e = dds_get_matched_subscription_data(s->w, all[i]);
        if (e) {
            kinds |= is_cyclone(e) ? CYCLONE : OTHER;
            dds_builtintopic_free_endpoint(e);
        }
    }
    atomic_store(&s->kinds, kinds);
    atomic_store(&s->known, sum);
    return kinds;
}

// CDR with its encapsulation. A message whose head is said elsewhere goes without.
static uint8_t *encode(const dds_topic_descriptor_t *d, const void *message, bool with_head,
                       size_t *ret_n)
{
    dds_ostreamLE_t os;
    const size_t cut = with_head ? 0 : sizeof(head);
    dds_ostreamLE_init(&os, 256, XCDR1);
    dds_stream_writeLE(&os, message, d->m_ops);
    uint8_t *bytes = malloc(ENCAPSULATION + os.x.m_index);
    if (bytes) {
        memcpy(bytes, (const uint8_t[]){0, LITTLE, 0, 0}, ENCAPSULATION);
        memcpy(bytes + ENCAPSULATION, os.x.m_buffer + cut, os.x.m_index - cut);
        *ret_n = ENCAPSULATION + os.x.m_index - cut;
    }
    dds_ostreamLE_fini(&os);
    return bytes;
}

// NULL: it is no message of that type. `in_front`: its head is there; else h is put there.
static void *decode(const dds_topic_descriptor_t *d, const uint8_t *bytes, size_t n, bool in_front,
                    head h)
{
    const size_t front = in_front ? 0 : sizeof h;
    if (n < ENCAPSULATION || bytes[0] != 0 || bytes[1] > LITTLE || n > UINT32_MAX / 2) {
        return NULL;
    }
    const bool swap = (bytes[1] == BIG) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    const uint32_t size = (uint32_t)(n - ENCAPSULATION + front);
    char *whole = malloc(size + 1);
    void *message = calloc(1, d->m_size);
    uint32_t at = 0;
    if (!whole || !message) {
        free(whole);
        free(message);
        return NULL;
    }
    if (swap) { // the head as the bytes have theirs: numbers of 8 bytes
        h.guid = __builtin_bswap64(h.guid);
        h.seq = (int64_t)__builtin_bswap64((uint64_t)h.seq);
    }
    memcpy(whole, &h, front);
    memcpy(whole + front, bytes + ENCAPSULATION, n - ENCAPSULATION);
    const bool good = dds_stream_normalize_data(whole, &at, size, swap, XCDR1, d->m_ops) != NULL;
    if (good) {
        dds_istream_t is;
        dds_istream_init(&is, size, whole, XCDR1);
        dds_stream_read(&is, message, d->m_ops);
    } else {
        free(message);
        message = NULL;
    }
    free(whole);
    return message;
}

static uint64_t alias_of(ros2_rpc *s, const uint8_t guid[16])
{
    for (int i = 0; i < s->n_clients && i < RPC_CLIENTS; i++) {
        if (memcmp(s->clients[i], guid, sizeof s->clients[i]) == 0) {
            return ALIAS | (uint64_t)i;
        }
    }
    const int i = s->n_clients++ % RPC_CLIENTS;
    memcpy(s->clients[i], guid, sizeof s->clients[i]);
    return ALIAS | (uint64_t)i;
}

static void *next_of_fast(ros2_rpc *s, ros2_fast_end *e)
{
    const ros2_fast_ops *ops = s->n->fast_ops;
    ros2_fast_id id;
    void *bytes = NULL;
    size_t n = 0;
    while (s->left > 0 && ops->take(e, &bytes, &n, &id)) {
        s->left--;
        if (!s->serves && s->asked_as[(uint64_t)id.seq % RPC_CLIENTS] != id.seq) {
            free(bytes); // of a request that is long over
            continue;
        }
        const head h = s->serves
                           ? (head){id.in_front ? 0 : alias_of(s, id.guid), id.seq}
                           : (head){ros2_rpc_guid(s), s->asked[(uint64_t)id.seq % RPC_CLIENTS]};
        void *message = decode(s->serves ? s->asks : s->answers, bytes, n, id.in_front, h);
        free(bytes);
        if (message) {
            return message;
        }
    }
    return NULL;
}

static bool write_by_fast(ros2_rpc *s, ros2_fast_end *e, const void *message)
{
    head h;
    memcpy(&h, message, sizeof h);
    const bool alias = (h.guid & ~(uint64_t)(RPC_CLIENTS - 1)) == ALIAS;
    ros2_fast_id to = {.seq = h.seq, .in_front = !alias};
    if (alias) {
        memcpy(to.guid, s->clients[h.guid % RPC_CLIENTS], sizeof to.guid);
    }
    size_t n = 0;
    int64_t seq = -1;
    uint8_t *bytes = encode(s->serves ? s->answers : s->asks, message, s->serves && !alias, &n);
    if (bytes) {
        seq = s->n->fast_ops->write(e, bytes, n, s->serves ? &to : NULL);
    }
    if (seq >= 0) {
        s->asked[(uint64_t)seq % RPC_CLIENTS] = h.seq;
        s->asked_as[(uint64_t)seq % RPC_CLIENTS] = seq;
    }
    free(bytes);
    return seq >= 0;
}

static void adopt(ros2_rpc *s, ros2_fast_end *e)
{
    uint8_t guids[2][16];
    if (e) {
        s->n->fast_ops->guids(e, guids);
        ros2_node_own(s->n, guids[0], true);
        ros2_node_own(s->n, guids[1], false);
        atomic_store(&s->fast, e);
    }
}

// ---- both ---------------------------------------------------------------------------------------

int ros2_rpc_open(ros2_rpc *s, ros2_node *n, bool serves, const char *name,
                  const dds_topic_descriptor_t *asks, const dds_topic_descriptor_t *answers,
                  const char *answers_type, pons_error *err)
{
    const ros2_qos all = {.reliable = true, .depth = 100};
    if (!asks || !answers) {
        return PONS_ENOMEM;
    }
    *s = (ros2_rpc){.n = n,
                    .serves = serves,
                    .asks = asks,
                    .answers = answers,
                    .answers_type = answers_type,
                    .left = ROS2_TURN};
    snprintf(s->name, sizeof s->name, "%s", name);
    ros2_fast_end *e = serves ? fast_end(s) : NULL;
    if (e) {
        adopt(s, e);
        return PONS_OK;
    }
    if (serves) {
        s->r = ros2_node_reader(n, "rqRequest", name, NULL, asks, all, err);
        s->w =
            s->r > 0 ? ros2_node_writer(n, "rrReply", name, answers_type, answers, SURE, err) : 0;
    } else {
        s->w = ros2_node_writer(n, "rqRequest", name, NULL, asks, SURE, err);
        s->r =
            s->w > 0 ? ros2_node_reader(n, "rrReply", name, answers_type, answers, SURE, err) : 0;
    }
    return s->w > 0 && s->r > 0 ? PONS_OK : PONS_EENV;
}

static void give_back(ros2_rpc *s)
{
    if (s->loan) {
        dds_return_loan(s->r, &s->loan, 1);
        s->loan = NULL;
    }
    if (s->mem) {
        dds_stream_free_sample(s->mem, (s->serves ? s->asks : s->answers)->m_ops);
        free(s->mem);
        s->mem = NULL;
    }
}

void ros2_rpc_close(ros2_rpc *s)
{
    if (s->n) {
        give_back(s);
    }
}

void ros2_rpc_meet(ros2_rpc *s)
{
    const int kinds = s->serves ? 0 : kinds_of_peers(s);
    if (kinds == OTHER && !atomic_load(&s->fast) && !*s->n->fast_why) {
        adopt(s, fast_end(s));
    }
    if (kinds == OTHER && atomic_load(&s->fast) &&
        s->r > 0) { // it would read answers as what they are not
        give_back(s);
        dds_delete(s->r);
        s->r = 0;
    } else if ((kinds & CYCLONE) && s->r <= 0) {
        s->r = ros2_node_reader(s->n, "rrReply", s->name, s->answers_type, s->answers, SURE, NULL);
    }
}

void ros2_rpc_peers(const ros2_rpc *s, int ret[2])
{
    ros2_fast_end *e = atomic_load(&s->fast);
    ret[0] = s->w > 0 ? dds_get_matched_subscriptions(s->w, NULL, 0) : 0;
    ret[1] = s->r > 0 ? dds_get_matched_publications(s->r, NULL, 0) : 0;
    if (e) {
        s->n->fast_ops->peers(e, ret);
    }
}

static bool by_fast(const ros2_rpc *s)
{
    int peers[2];
    ros2_fast_end *e = atomic_load(&s->fast);
    if (!e || s->serves) {
        return e != NULL;
    }
    s->n->fast_ops->peers(e, peers);
    return peers[0] > 0 && peers[1] > 0;
}

bool ros2_rpc_there(ros2_rpc *s)
{
    const int kinds =
        kinds_of_peers(s); // of both kinds: each would read the other's request as another one
    return (kinds == OTHER && by_fast(s)) || (kinds == CYCLONE && ros2_node_matched(s->r));
}

bool ros2_rpc_foreign(ros2_rpc *s)
{
    return kinds_of_peers(s) == OTHER && !atomic_load(&s->fast) && *s->n->fast_why;
}

bool ros2_rpc_comes(ros2_rpc *s)
{
    return kinds_of_peers(s) != 0 && !ros2_rpc_foreign(s);
}

bool ros2_rpc_why(ros2_rpc *s, char *ret, size_t cap)
{
    if (ros2_rpc_foreign(s)) {
        snprintf(ret, cap, "its RMW is not Cyclone's, and %.60s", s->n->fast_why);
        return true;
    }
    return ros2_node_why(s->n, ros2_node_matched(s->r) ? s->w : s->r, ret, cap);
}

uint64_t ros2_rpc_guid(const ros2_rpc *s)
{
    return ros2_node_guid(s->w);
}

bool ros2_rpc_write(ros2_rpc *s, const void *message)
{
    if (by_fast(s)) {
        return write_by_fast(s, atomic_load(&s->fast), message);
    }
    return (s->serves || !(kinds_of_peers(s) & OTHER)) && dds_write(s->w, message) >= 0;
}

void ros2_rpc_flush(ros2_rpc *s)
{
    ros2_fast_end *e = atomic_load(&s->fast);
    if (e) {
        s->n->fast_ops->flush(e, FLUSH_MS);
    } else if (s->w > 0) {
        dds_wait_for_acks(s->w, DDS_MSECS(FLUSH_MS));
    }
}

// A request of a client that says elsewhere which one it is: its first bytes are the message's.
static bool understood(ros2_rpc *s, const dds_sample_info_t *info)
{
    bool good = true;
    dds_builtintopic_endpoint_t *e =
        s->serves ? dds_get_matched_publication_data(s->r, info->publication_handle) : NULL;
    if (e) {
        good = is_cyclone(e);
        dds_builtintopic_free_endpoint(e);
    }
    s->misheard = s->misheard || !good;
    return good;
}

const void *ros2_rpc_next(ros2_rpc *s)
{
    dds_sample_info_t info;
    ros2_fast_end *e = atomic_load(&s->fast);
    give_back(s);
    while (s->r > 0 && s->left > 0 && dds_take(s->r, &s->loan, &info, 1, 1) > 0) {
        s->left--;
        if (info.valid_data && understood(s, &info)) {
            return s->loan;
        }
        give_back(s);
    }
    s->mem = e ? next_of_fast(s, e) : NULL;
    s->left = s->mem ? s->left : ROS2_TURN;
    return s->mem;
}
