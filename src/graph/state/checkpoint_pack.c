// checkpoint_pack.c - one packed row a superstep, holding what changed.
//
// A row is JSON, so that a person can read it:
//
//     {"v":1,"k":"l","n":["next",...],"j":{"a+b>c":["a"]},"r":"1f...","o":"owner",
//      "c":{channel:value,...}, "l":{channel:[keep,[items...]]}, "m":{channel:{key:value|null}},
//      "p":{channel:patch,...}, "a":[node,...], "F":true, "x":[channel,...],
//      "s":[[node,arg],...], "d":[node,...]}
//
//   v  format, in a snapshot (1), and where there are patches (2)
//   k  source: i(nput) u(pdate) f(ork) b(ack: a rollback); absent: l(oop)
//   n  nodes to run; absent: none
//   s  sends to run after n
//   d  deferred nodes that wait
//   t  which of n a join has triggered
//   j  joins that some legs have reached
//   c  whole values
//   l  the first `keep` items as before, then these
//   m  keys set, or removed by null
//   p  values that were written anew and differ little, by what differs (value_diff.c)
//   x  channels that became empty
//   r  run, in a snapshot and when it changed; then also
//      o  the parent's task, of a subgraph
//      P  {namespace: checkpoint} of the graphs around it
//      M  what the program knows of the run
//      B  {channel: mark} of a subgraph that keeps its state: what its run began with
//      F  the run goes on from an older one
//   a  who wrote last, where the checkpoint before this one does not tell: of an update, and of a
//      step whose predecessor is not stored
//
// The row's id carries its time (48 bits of wall ms), its columns the step and the parent. checkpoint_read.c
// reads them back.
//
// Reading a checkpoint replays the rows from the nearest snapshot. A snapshot is due when the tail
// since the last one weighs eight times as much as that snapshot, each row counting ROW_BYTES more
// than its text, and is at least ROWS_MIN rows long. So snapshots grow geometrically with a growing
// list, each about five times the one before: half-way to the next one they weigh a third of what
// the list does, and reading any checkpoint costs O(its own size + ROWS_MIN rows). What a step
// costs does not depend on how many channels there are: only dirty ones are looked at.
#include "graph/state/checkpoint_pack.h"

#include "graph/state/value_diff.h"
#include "graph/util/bits.h"
#include "graph/util/ids.h"
#include "graph/util/json_text.h"

#include <inttypes.h>

enum { FORMAT = 1, FORMAT_PATCH = 2, ROWS_MIN = 64, TAIL_FACTOR = 8, ROW_BYTES = 64 };

// ---- parts of a row -----------------------------------------------------------------------------

static void key(pons_buf *b, const char *name)
{
    pons__json_quoted(b, name);
    pons_buf_bytes(b, ":", 1);
}

static void pack_later(const pons__ns *ns, pons_buf *b)
{
    for (size_t i = 0; i < ns->n_sends; i++) {
        pons_buf_str(b, i ? ",[" : ",\"s\":[[");
        pons__json_quoted(b, ns->g->nodes[ns->sends[i].node].name);
        pons_buf_bytes(b, ",", 1);
        pons__json_value(b, ns->sends[i].arg);
        pons_buf_bytes(b, "]", 1);
    }
    pons_buf_str(b, ns->n_sends > 0 ? "]" : "");
    bool first = true;
    for (size_t i = 0; i < ns->g->n_nodes && ns->waiting; i++) {
        if (!pons__bit_get(ns->waiting, i)) {
            continue;
        }
        pons_buf_str(b, first ? ",\"d\":[" : ",");
        pons__json_quoted(b, ns->g->nodes[i].name);
        first = false;
    }
    pons_buf_str(b, first ? "" : "]");
}

static void pack_fired(const pons__ns *ns, pons_buf *b)
{
    const char *sep = ",\"t\":[";
    for (size_t i = 0; i < ns->g->n_nodes; i++) {
        if (pons__bit_get(ns->fired, i) && pons__bit_get(ns->next, i)) {
            pons_buf_str(b, sep);
            pons__json_quoted(b, ns->g->nodes[i].name);
            sep = ",";
        }
    }
    pons_buf_str(b, sep[1] ? "" : "]");
}

static void pack_joins(const pons__ns *ns, pons_buf *b)
{
    bool open = false;
    for (size_t i = 0; i < ns->g->n_joins; i++) {
        const pons__join *j = &ns->g->joins[i];
        if (!ns->arrived[i]) {
            continue;
        }
        pons_buf_str(b, open ? "," : ",\"j\":{");
        key(b, j->label);
        open = true;
        bool first = true;
        for (size_t k = 0; k < j->n_from; k++) {
            if (!((ns->arrived[i] >> k) & 1u)) {
                continue;
            }
            pons_buf_str(b, first ? "[" : ",");
            pons__json_quoted(b, ns->g->nodes[j->from[k]].name);
            first = false;
        }
        pons_buf_bytes(b, "]", 1);
    }
    pons_buf_str(b, open ? "}" : "");
}

static void pack_header(const pons__ns *ns, char source, int format, bool snapshot, pons_buf *b)
{
    if (format) {
        pons_buf_printf(b, ",\"v\":%d", format);
    }
    if (source != 'l') {
        pons_buf_printf(b, ",\"k\":\"%c\"", source);
    }
    bool first = true;
    for (size_t i = 0; i < ns->g->n_nodes; i++) {
        if (!pons__bit_get(ns->next, i)) {
            continue;
        }
        pons_buf_str(b, first ? ",\"n\":[" : ",");
        pons__json_quoted(b, ns->g->nodes[i].name);
        first = false;
    }
    pons_buf_str(b, first ? "" : "]");
    if (ns->n_sends > 0 || ns->waiting) {
        pack_later(ns, b);
    }
    pack_joins(ns, b);
    if (ns->fired && pons__bits_any(ns->fired, ns->g->n_words)) {
        pack_fired(ns, b);
    }
    if (ns->wrote) {
        pons_buf_str(b, ",\"a\":");
        pons__json_value(b, ns->wrote);
    }
    if (!snapshot && ns->run_id_stored) {
        return;
    }
    pons_buf_str(b, ns->forked ? ",\"F\":true" : "");
    pons_buf_printf(b, ",\"r\":\"%016" PRIx64 "\"", ns->run_id);
    pons_buf_str(b, ",\"o\":");
    pons__json_quoted(b, ns->owner);
    if (ns->parents) {
        pons_buf_str(b, ",\"P\":");
        pons__json_value(b, ns->parents);
    }
    if (ns->metadata) {
        pons_buf_str(b, ",\"M\":");
        pons__json_value(b, ns->metadata);
    }
    if (ns->began) {
        pons_buf_str(b, ",\"B\":");
        pons__json_value(b, ns->began);
    }
}

static void pack_whole(const pons__ns *ns, pons_buf *b)
{
    const char *sep = ",\"c\":{";
    for (size_t i = 0; i < ns->g->n_channels; i++) {
        if (!ns->g->channels[i].tracked || !ns->slots[i].v) {
            continue;
        }
        pons_buf_str(b, sep);
        key(b, ns->g->channels[i].name);
        pons__json_value(b, ns->slots[i].v);
        sep = ",";
    }
    pons_each_member(name, v, ns->extra) {
        pons_buf_str(b, sep);
        key(b, name);
        pons__json_value(b, v);
        sep = ",";
    }
    pons_buf_str(b, sep[1] ? "" : "}");
}

// ---- what changed -------------------------------------------------------------------------------

enum part { PART_WHOLE, PART_TAIL, PART_KEYS, PART_PATCH, PART_EMPTY, PARTS };

// What a list's tail weighs, from its first item that the store has not.
static size_t tail_weight(const pons__slot *s)
{
    size_t sum = 0;
    for (size_t i = s->keep; i < json_array_size(s->v); i++) {
        sum += 1 + pons__patch_weight(json_array_get(s->v, i));
    }
    return sum;
}

// A tail is worth it when something stays.
static bool by_tail(const pons__channel *ch, const pons__slot *s)
{
    return ch->appends && s->keep > 0 && json_is_array(s->v);
}

// Works out the patches of what was written anew. Returns whether there are any.
static bool make_patches(const pons__ns *ns)
{
    bool any = false;
    for (size_t i = 0; i < ns->n_dirty; i++) {
        pons__slot *s = &ns->slots[ns->dirty[i]];
        pons_value_unref(s->patch);
        s->patch = s->base && s->v ? pons__patch_make(s->base, s->v) : NULL;
        if (s->patch && by_tail(&ns->g->channels[ns->dirty[i]], s) &&
            tail_weight(s) <= pons__patch_weight(s->patch)) {
            pons_value_unref(s->patch);
            s->patch = NULL;
        }
        any = any || s->patch;
    }
    return any;
}

static bool by_keys(const pons__slot *s)
{
    return s->merged && json_object_size(s->merged) * 2 <= json_object_size(s->v);
}

static enum part part_of(const pons__channel *ch, const pons__slot *s)
{
    if (!s->v) {
        return PART_EMPTY;
    }
    return s->patch ? PART_PATCH : by_tail(ch, s) ? PART_TAIL : by_keys(s) ? PART_KEYS : PART_WHOLE;
}

static void pack_slot(enum part part, const pons__slot *s, pons_buf *b)
{
    if (part == PART_WHOLE) {
        pons__json_value(b, s->v);
    } else if (part == PART_KEYS) {
        pons__json_value(b, s->merged);
    } else if (part == PART_PATCH) {
        pons__json_value(b, s->patch);
    } else if (part == PART_TAIL) {
        pons_buf_bytes(b, "[", 1);
        pons__json_int(b, (int64_t)s->keep);
        size_t n = json_array_size(s->v);
        for (size_t i = s->keep; i < n; i++) {
            pons_buf_str(b, i == s->keep ? ",[" : ",");
            pons__json_value(b, json_array_get(s->v, i));
        }
        pons_buf_str(b, n > s->keep ? "]]" : ",[]]");
    }
}

static void pack_changed(const pons__ns *ns, pons_buf *b)
{
    static const char *const open[PARTS] = {",\"c\":{", ",\"l\":{", ",\"m\":{", ",\"p\":{",
                                            ",\"x\":["};
    for (enum part part = PART_WHOLE; part < PARTS; part++) {
        bool first = true;
        for (size_t i = 0; i < ns->n_dirty; i++) {
            const pons__channel *ch = &ns->g->channels[ns->dirty[i]];
            const pons__slot *s = &ns->slots[ns->dirty[i]];
            if (part_of(ch, s) != part) {
                continue;
            }
            pons_buf_str(b, first ? open[part] : ",");
            first = false;
            pons__json_quoted(b, ch->name);
            if (part != PART_EMPTY) {
                pons_buf_bytes(b, ":", 1);
            }
            pack_slot(part, s, b);
        }
        if (!first) {
            pons_buf_bytes(b, part == PART_EMPTY ? "]" : "}", 1);
        }
    }
}

// ---- public functions ---------------------------------------------------------------------------

bool pons__pack(pons__ns *ns, char source, pons_buf *b)
{
    bool snapshot =
        !ns->exists || ns->snapshot_bytes == 0 ||
        (ns->tail_rows + 1 >= ROWS_MIN &&
         ns->tail_bytes + (ns->tail_rows + 1) * ROW_BYTES >= TAIL_FACTOR * ns->snapshot_bytes);
    pons_buf_clear(b);
    const bool patches = !snapshot && ns->n_dirty > 0 && make_patches(ns);
    pack_header(ns, source, patches ? FORMAT_PATCH : snapshot ? FORMAT : 0, snapshot, b);
    if (snapshot) {
        pack_whole(ns, b);
    } else if (ns->n_dirty > 0) {
        pack_changed(ns, b);
    }
    if (b->len == 0) {
        pons_buf_bytes(b, "{", 1);
    } else {
        b->data[0] = '{'; // every part begins with a comma
    }
    pons_buf_bytes(b, "}", 1);
    return snapshot;
}

void pons__packed(pons__ns *ns, char source, const char *id, bool snapshot, size_t bytes)
{
    ns->source = source;
    ns->unstored[0] = '\0';
    for (size_t i = 0; i < ns->n_dirty; i++) {
        pons__slot *s = &ns->slots[ns->dirty[i]];
        s->dirty = false;
        s->stored = s->v != NULL;
        s->keep = json_array_size(s->v);
        pons_value_unref(s->merged);
        pons_value_unref(s->base);
        pons_value_unref(s->patch);
        s->merged = s->base = s->patch = NULL;
    }
    for (size_t i = 0; snapshot && i < ns->g->n_channels; i++) {
        ns->slots[i].stored = ns->slots[i].v != NULL; // initial values are in it, too
    }
    ns->n_dirty = 0;
    ns->exists = true;
    ns->run_id_stored = true;
    ns->head_unfinished = pons__ns_more(ns);
    pons__id_copy(ns->head, id);
    ns->snapshot_bytes = snapshot ? bytes : ns->snapshot_bytes;
    ns->tail_bytes = snapshot ? 0 : ns->tail_bytes + bytes;
    ns->tail_rows = snapshot ? 0 : ns->tail_rows + 1;
}
