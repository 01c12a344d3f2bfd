// monitor.c - what a monitor asks and what it is answered: Groot2's protocol, version 2.
//
// A request's first part is 6 bytes: the protocol's version, a letter, and a number that comes back in
// the reply. The reply's is those with the version of ours, and 16 bytes that name this tree at work; or
// the word "error", with a text behind it. What the letters mean stands in the table at the end.
//
// The status of a node that went idle is what it went idle from, plus 10: a monitor that looks ten times
// a second would miss most results otherwise. Numbers are little-endian, as every machine that
// Groot2 runs on has them.
#include "bt/core/tree.h"
#include "bt/groot/groot.h"
#include "pons/groot.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROTOCOL = 2,
    HEADER = 6,
    ID = 16,
    IDLE_FROM = 10,
    TRANSITIONS_MAX = 1000,
    REQUEST_MAX = 1 << 20, // [bytes] of a body
    BEAT_S = 5
};

typedef struct transition {
    int64_t us; // since the recording began
    uint16_t uid;
    uint8_t status;
} transition;

typedef struct hook {
    uint16_t uid;
    bool after, enabled, once, replaces, ready;
    uint8_t desired;
} hook;

struct pons_groot {
    pons_bt *bt;
    const pons_bt_tree *tree;
    pons_groot_options o;
    uint8_t id[ID];
    uint8_t *status; // (n_nodes)
    bool recording;
    int64_t began_ns;
    transition ring[TRANSITIONS_MAX];
    size_t first, count; // of the ring
    hook *hooks;
    size_t n_hooks;
    int64_t beat_ns; // of the last request
    bool lost;       // it is too long ago
};

int pons_groot_create(pons_bt *bt, const pons_groot_options *o, pons_groot **ret, pons_error *err)
{
    if (bt->n_nodes > UINT16_MAX) {
        return pons_error_set(
            err, PONS_EINVAL, "bt",
            "a tree of %u nodes can't be shown: Groot2's protocol has numbers for 65535",
            bt->n_nodes);
    }
    pons_groot *g = calloc(1, sizeof *g);
    uint8_t *status = calloc(bt->n_nodes ? bt->n_nodes : 1, 1);
    if (!g || !status) {
        free(g);
        free(status);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to show a tree");
    }
    g->bt = pons_bt_ref(bt);
    g->o = *o;
    g->status = status;
    g->beat_ns = pons_now_ns(&o->clock);
    pons_rand rand;
    pons_rand_seed(&rand, (uint64_t)pons_wall_ms(&o->clock) ^ (uint64_t)(uintptr_t)g);
    for (int i = 0; i < ID; i++) {
        g->id[i] = (uint8_t)(pons_rand_unit(&rand) * 256);
    }
    g->id[6] = (g->id[6] & 0x0f) | 0x40; // a UUID of version 4
    g->id[8] = (g->id[8] & 0x3f) | 0x80;
    *ret = g;
    return PONS_OK;
}

void pons_groot_destroy(pons_groot *g)
{
    if (g) {
        pons_bt_unref(g->bt);
        free(g->status);
        free(g->hooks);
        free(g);
    }
}

void pons_groot_show(pons_groot *g, const pons_bt_tree *tree)
{
    g->tree = tree;
}

void pons_groot_change(pons_groot *g, uint32_t node, pons_bt_status from, pons_bt_status to)
{
    if (node >= g->bt->n_nodes) {
        return;
    }
    g->status[node] = (uint8_t)(to == PONS_BT_READY ? IDLE_FROM + from : to);
    if (!g->recording) {
        return;
    }
    if (g->count == TRANSITIONS_MAX) { // the oldest goes
        g->first = (g->first + 1) % TRANSITIONS_MAX;
        g->count--;
    }
    g->ring[(g->first + g->count++) % TRANSITIONS_MAX] =
        (transition){.us = (pons_now_ns(&g->o.clock) - g->began_ns) / 1000,
                     .uid = (uint16_t)(node + 1),
                     .status = (uint8_t)to};
}

// ---- replies ------------------------------------------------------------------------------------

static void put_number(pons_buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        pons_buf_byte(b, (uint8_t)(v >> 8 * i));
    }
}

static void refuse(pons_groot_reply *r, const char *what)
{
    pons_buf_clear(&r->head);
    pons_buf_clear(&r->body);
    pons_buf_str(&r->head, "error");
    pons_buf_str(&r->body, what);
    r->has_body = true;
}

void pons_groot_reply_fini(pons_groot_reply *r)
{
    pons_buf_fini(&r->head);
    pons_buf_fini(&r->body);
    pons_value_unref(r->packed);
    r->packed = NULL;
}

static void full_tree(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons__groot_export(&r->body, g->bt, true);
    r->has_body = true;
}

static void all_status(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    for (uint32_t i = 0; i < g->bt->n_nodes; i++) {
        put_number(&r->body, i + 1, 2);
        pons_buf_byte(&r->body, g->status[i]);
    }
    r->has_body = true;
}

// ---- blackboards --------------------------------------------------------------------------------

// What board number `board` holds; an entry that is declared and empty is null.
static pons_value *board_value(const pons_groot *g, uint32_t board)
{
    pons_value *all = json_object();
    const pons_bt_tree *t = g->tree;
    for (uint32_t i = 0; all && t && i < t->n_slots; i++) {
        const pons__bt_slot_def *d = &g->bt->slots[i];
        if (d->board == board && (t->slots[i].exists || d->declared)) {
            json_object_set_new(all, d->key,
                                t->slots[i].exists ? pons__bt_value_json(&t->slots[i].v)
                                                   : json_null());
        }
    }
    for (uint32_t i = 0; all && t && board == 0 && i < t->n_extra; i++) {
        if (t->extra[i].slot.exists) {
            json_object_set_new(all, t->extra[i].key, pons__bt_value_json(&t->extra[i].slot.v));
        }
    }
    return all;
}

// The numbers of the boards by the names that a monitor asks with. NULL: no memory.
static pons_value *board_numbers(const pons_groot *g)
{
    pons_value *all = json_object();
    uint32_t board = 0;
    bool whole = all && !json_object_set_new(all, g->bt->main_id ? g->bt->main_id : "MainTree",
                                             json_integer(0));
    for (uint32_t i = 0; whole && i < g->bt->n_nodes; i++) {
        char path[PONS__GROOT_PATH_MAX];
        if (g->bt->nodes[i].type == X_SUBTREE) { // boards are numbered as these stand
            const char *name = pons__groot_path(g->bt, i, path, sizeof path);
            board++;
            whole =
                json_object_get(all, name) || !json_object_set_new(all, name, json_integer(board));
        }
    }
    if (!whole) {
        pons_value_unref(all);
        all = NULL;
    }
    return all;
}

// Names with semicolons between them: the main tree's ID, and the paths of the other instances.
static void boards(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons_autovalue numbers = board_numbers(g);
    char *names = strndup(body->data, body->len), *rest = names;
    bool below = false;
    r->packed = json_object();
    r->has_body = true;
    r->head.failed |= !names || !numbers || !r->packed;
    for (const char *name; rest && (name = strsep(&rest, ";"));) {
        const pons_value *board = json_object_get(numbers, name);
        if (board && !json_object_get(r->packed, name)) {
            json_object_set_new(r->packed, name,
                                board_value(g, (uint32_t)json_integer_value(board)));
            below |= json_integer_value(board) > 0;
        }
    }
    if (below) { // where keys with an @ are
        json_object_set_new(r->packed, "ROOT", board_value(g, 0));
    }
    if (json_object_size(r->packed) == 0) {
        pons_value_unref(r->packed);
        r->packed = json_null();
    }
    free(names);
}

// ---- recording ----------------------------------------------------------------------------------

static void record(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    if (body->len == 5 && memcmp(body->data, "start", 5) == 0) {
        g->recording = true;
        g->began_ns = pons_now_ns(&g->o.clock);
        g->first = g->count = 0;
        pons_buf_printf(&r->body, "%lld", (long long)pons_wall_ms(&g->o.clock) * 1000);
        r->has_body = true;
    } else if (body->len == 4 && memcmp(body->data, "stop", 4) == 0) {
        g->recording = false;
    }
}

static void transitions(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    for (; g->count > 0; g->count--) {
        const transition *t = &g->ring[g->first];
        put_number(&r->body, (uint64_t)t->us, 6);
        put_number(&r->body, t->uid, 2);
        pons_buf_byte(&r->body, t->status);
        g->first = (g->first + 1) % TRANSITIONS_MAX;
    }
    r->has_body = true;
}

// ---- hooks --------------------------------------------------------------------------------------

static const char *const words[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};

static uint8_t word_status(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            return (uint8_t)i;
        }
    }
    return PONS_BT_SKIPPED; // go on
}

static hook *find_hook(const pons_groot *g, int64_t uid, bool after)
{
    for (size_t i = 0; i < g->n_hooks; i++) {
        if (g->hooks[i].uid == uid && g->hooks[i].after == after) {
            return &g->hooks[i];
        }
    }
    return NULL;
}

// The node and the place that a request is about; false: it makes no sense, and r says so.
static bool read_place(const pons_groot *g, const pons_value *v, int64_t *ret_uid, bool *ret_after,
                       pons_groot_reply *r)
{
    const pons_value *position = pons_get(v, "position");
    *ret_uid = pons_get_int(v, "uid", 0);
    *ret_after = json_integer_value(position) == 1;
    if (!json_is_integer(position) || !json_is_integer(pons_get(v, "uid"))) {
        refuse(r, "a hook has uid and position");
        return false;
    }
    if (*ret_uid < 1 || *ret_uid > g->bt->n_nodes) {
        refuse(r, "Node ID not found");
        return false;
    }
    return true;
}

static void insert_one(pons_groot *g, const pons_value *v, pons_groot_reply *r)
{
    int64_t uid;
    bool after;
    if (!read_place(g, v, &uid, &after, r)) {
        return;
    }
    hook *h = find_hook(g, uid, after);
    if (!h) {
        if (!pons_list_reserve(&g->hooks, NULL, g->n_hooks + 1, sizeof *g->hooks)) {
            r->head.failed = true;
            return;
        }
        h = &g->hooks[g->n_hooks++];
        *h = (hook){.uid = (uint16_t)uid, .after = after};
    }
    h->enabled = pons_get_bool(v, "enabled", true);
    h->once = pons_get_bool(v, "once", false);
    h->replaces = pons_get_int(v, "mode", 0) == 1;
    h->desired = word_status(pons_get_str(v, "desired_status", "SKIPPED"));
    h->ready = false;
}

static pons_value *read_json(const pons_groot_part *body, pons_groot_reply *r)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(body->data, body->len, &v, &err) < 0) {
        refuse(r, err.message);
    }
    return v;
}

static void insert(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons_autovalue v = read_json(body, r);
    for (size_t i = 0; i < json_array_size(v); i++) {
        insert_one(g, json_array_get(v, i), r);
    }
    if (v && !json_is_array(v)) {
        insert_one(g, v, r);
    }
}

static void drop(pons_groot *g, hook *h)
{
    *h = g->hooks[--g->n_hooks];
}

// The hook that a request names; NULL: it is answered. *ret_v is unreferenced by the caller.
static hook *hook_of(pons_groot *g, const pons_groot_part *body, pons_value **ret_v,
                     pons_groot_reply *r)
{
    int64_t uid;
    bool after;
    *ret_v = read_json(body, r);
    if (!*ret_v || !read_place(g, *ret_v, &uid, &after, r)) {
        return NULL;
    }
    hook *h = find_hook(g, uid, after);
    if (!h) {
        refuse(r, "Node ID not found");
    }
    return h;
}

static void take_away(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons_autovalue v = NULL;
    hook *h = hook_of(g, body, &v, r);
    if (h) {
        drop(g, h);
    }
}

static void unlock(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons_autovalue v = NULL;
    hook *h = hook_of(g, body, &v, r);
    if (h) {
        h->desired = word_status(pons_get_str(v, "desired_status", "SKIPPED"));
        h->once |= pons_get_bool(v, "remove_when_done", false);
        h->ready = true;
    }
}

static void take_all(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    g->n_hooks = 0;
}

static void disable_all(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    for (size_t i = 0; i < g->n_hooks; i++) {
        g->hooks[i].enabled = false;
    }
}

static void dump(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r)
{
    pons_autovalue list = json_array();
    char *text = NULL;
    for (size_t i = 0; i < g->n_hooks; i++) {
        const hook *h = &g->hooks[i];
        json_array_append_new(
            list, pons_object("desired_status", json_string(words[h->desired]), "enabled",
                              json_boolean(h->enabled), "mode", json_integer(h->replaces), "once",
                              json_boolean(h->once), "position", json_integer(h->after), "uid",
                              json_integer(h->uid), NULL));
    }
    if (pons_value_line(list, &text) >= 0) {
        pons_buf_str(&r->body, text);
    } else {
        r->head.failed = true;
    }
    r->has_body = true;
    free(text);
}

bool pons_groot_hooked(const pons_groot *g, uint32_t node, bool after)
{
    const hook *h = g->n_hooks > 0 && !g->lost ? find_hook(g, (int64_t)node + 1, after) : NULL;
    return h && h->enabled;
}

int pons_groot_hook(pons_groot *g, uint32_t node, bool after)
{
    hook *h = pons_groot_hooked(g, node, after) ? find_hook(g, (int64_t)node + 1, after) : NULL;
    if (!h) {
        return PONS_BT_READY;
    }
    if (!h->replaces && !h->ready) {
        return PONS_GROOT_HOLD;
    }
    const uint8_t desired = h->desired;
    h->ready = false;
    if (h->once) {
        drop(g, h);
    }
    return desired == PONS_BT_SUCCESS || desired == PONS_BT_FAILURE ? desired : PONS_BT_READY;
}

int pons_groot_reached(uint32_t node, pons_groot_reply *ret)
{
    *ret = (pons_groot_reply){.has_body = true};
    pons_buf_byte(&ret->head, PROTOCOL);
    pons_buf_byte(&ret->head, 'N');
    put_number(&ret->head, node + 1, 4); // nobody answers it, so any number will do
    pons_buf_printf(&ret->body, "%u", node + 1);
    return ret->head.failed || ret->body.failed ? PONS_ENOMEM : PONS_OK;
}

void pons_groot_beat(pons_groot *g)
{
    g->lost = pons_now_ns(&g->o.clock) - g->beat_ns > BEAT_S * PONS_NS_PER_S;
}

// ---- requests -----------------------------------------------------------------------------------

static const struct {
    char letter;
    bool two;  // it has a body
    bool hook; // it is about hooks
    void (*answer)(pons_groot *g, const pons_groot_part *body, pons_groot_reply *r);
} requests[] = {
    {'T', false, false, full_tree}, {'S', false, false, all_status},  {'B', true, false, boards},
    {'r', true, false, record},     {'t', false, false, transitions}, {'I', true, true, insert},
    {'R', true, true, take_away},   {'U', true, true, unlock},        {'D', false, false, dump},
    {'A', false, false, take_all},  {'X', false, false, disable_all}};

int pons_groot_answer(pons_groot *g, const pons_groot_part *parts, size_t n, pons_groot_reply *ret)
{
    const uint8_t *head = n > 0 ? parts[0].data : NULL;
    *ret = (pons_groot_reply){.has_body = false};
    g->beat_ns = pons_now_ns(&g->o.clock);
    g->lost = false;
    if (n == 0 || parts[0].len != HEADER) {
        refuse(ret, "wrong request header");
        return ret->head.failed || ret->body.failed ? PONS_ENOMEM : PONS_OK;
    }
    pons_buf_byte(&ret->head, PROTOCOL);
    pons_buf_bytes(&ret->head, head + 1, HEADER - 1);
    pons_buf_bytes(&ret->head, g->id, ID);
    const size_t rows = sizeof requests / sizeof *requests;
    size_t i = 0;
    while (i < rows && requests[i].letter != (char)head[1]) {
        i++;
    }
    if (i == rows) {
        refuse(ret, "Request not recognized");
    } else if (requests[i].two && n != 2) {
        refuse(ret, "must be 2 parts message");
    } else if (requests[i].two && parts[1].len > REQUEST_MAX) {
        refuse(ret, "the request is longer than 1 MiB");
    } else if (requests[i].hook && !g->o.hooks) {
        refuse(ret, "no breakpoints here: they would hold a robot's tree in the midst of a tick");
    } else {
        requests[i].answer(g, n > 1 ? &parts[1] : &(pons_groot_part){"", 0}, ret);
    }
    return ret->head.failed || ret->body.failed ? PONS_ENOMEM : PONS_OK;
}
