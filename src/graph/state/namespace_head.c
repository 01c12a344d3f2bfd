// namespace_head.c - a namespace's head: an image of a checkpoint laid out for a graph, one slot a channel.
//
//   image (names) --adopt, restore--> slots, next, arrived, sends (indices) --reshape--> of another
//                                                                                        graph
// A channel or a node that the graph does not have is kept aside: values in `extra`, so that they
// are stored again, a node in `lost`, so that a resume can say so.
#include "graph/state/namespace_head.h"

#include "graph/engine.h"
#include "graph/state/channel_update.h"
#include "graph/util/bits.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- layout -------------------------------------------------------------------------------------

static bool shape_next(pons__ns *ns, const pons__image *im)
{
    pons_each(v, im->next) {
        uint32_t ix = pons__graph_node_find(ns->g, json_string_value(v));
        if (ix < ns->g->n_nodes) {
            pons__bit_set(ns->next, ix);
        } else { // a resume says so; a new run does not care
            snprintf(ns->lost, sizeof ns->lost, "%s", json_string_value(v));
        }
    }
    pons_each(v, im->fired) {
        uint32_t ix = pons__graph_node_find(ns->g, json_string_value(v));
        if (ix < ns->g->n_nodes && ns->fired) {
            pons__bit_set(ns->fired, ix);
        }
    }
    pons_each(v, im->waiting) {
        uint32_t ix = pons__graph_node_find(ns->g, json_string_value(v));
        if (ix < ns->g->n_nodes) { // of a node that is not deferred any more: it is next
            pons__bit_set(ns->waiting ? ns->waiting : ns->next, ix);
        } else {
            snprintf(ns->lost, sizeof ns->lost, "%s", json_string_value(v));
        }
    }
    pons_each(v, im->sends) {
        const char *name = json_string_value(json_array_get(v, 0));
        uint32_t ix = pons__graph_node_find(ns->g, name ? name : "");
        if (ix >= ns->g->n_nodes) {
            snprintf(ns->lost, sizeof ns->lost, "%s", name ? name : "");
        } else if (!pons__ns_send(ns, ix, pons_value_ref(json_array_get(v, 1)))) {
            return false;
        }
    }
    for (size_t j = 0; j < ns->g->n_joins; j++) {
        const pons__join *join = &ns->g->joins[j];
        pons_each(v, json_object_get(im->joins, join->label)) {
            for (size_t k = 0; k < join->n_from; k++) {
                if (strcmp(ns->g->nodes[join->from[k]].name, json_string_value(v)) == 0) {
                    ns->arrived[j] |= 1ULL << k;
                }
            }
        }
    }
    return true;
}

static void unshape(pons__ns *ns)
{
    for (size_t i = 0; ns->slots && i < ns->g->n_channels; i++) {
        pons_value_unref(ns->slots[i].v);
        pons_value_unref(ns->slots[i].merged);
        pons_value_unref(ns->slots[i].base);
        pons_value_unref(ns->slots[i].patch);
        pons__ids_reset(&ns->slots[i].ids);
    }
    free(ns->slots);
    free(ns->dirty);
    free(ns->live);
    free(ns->next);
    free(ns->arrived);
    free(ns->waiting);
    free(ns->fired);
    pons__ns_sends_clear(ns);
    free(ns->sends);
    pons_value_unref(ns->extra);
    pons__graph_unref(ns->g);
    ns->slots = NULL;
    ns->dirty = ns->live = NULL;
    ns->next = ns->arrived = NULL;
    ns->waiting = ns->fired = NULL;
    ns->sends = NULL;
    ns->cap_sends = 0;
    ns->extra = NULL;
    ns->g = NULL;
    ns->n_dirty = ns->n_live = 0;
}

// The image's values, each to its channel; those that no channel of g has stay in the image.
static void shape_slots(pons__ns *ns, const pons_graph *g, pons__image *im, bool was_dirty)
{
    for (uint32_t i = 0; i < g->n_channels; i++) {
        const pons__channel *ch = &g->channels[i];
        pons__slot *s = &ns->slots[i];
        s->v = pons_value_ref(json_object_get(im->state, ch->name));
        if (s->v) {
            s->keep = json_array_size(s->v);
            json_object_del(im->state, ch->name);
            s->live = ch->transient;
            if (ch->transient) {
                ns->live[ns->n_live++] = i;
            }
            if (was_dirty) {
                pons__ns_mark_dirty(ns, i);
                s->keep = 0;
            }
            s->stored = !was_dirty;
        } else if (ch->initial && !ch->transient) {
            s->v = pons_value_ref(ch->initial); // in the first snapshot; until then, in the graph
        }
    }
}

// Lays the image's values out for g. Clears what was there.
static int shape(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err)
{
    bool was_dirty = ns->n_dirty > 0;
    unshape(ns);
    ns->lost[0] = '\0';
    ns->slots = calloc(g->n_channels + 1, sizeof *ns->slots);
    ns->dirty = calloc(g->n_channels + 1, sizeof *ns->dirty);
    ns->live = calloc(g->n_channels + 1, sizeof *ns->live);
    ns->next = calloc(g->n_words, sizeof *ns->next);
    ns->arrived = calloc(g->n_joins + 1, sizeof *ns->arrived);
    ns->fired = g->n_joins ? calloc(g->n_words, sizeof *ns->fired) : NULL;
    ns->waiting = g->deferred ? calloc(g->n_words, sizeof *ns->waiting) : NULL;
    ns->g = pons__graph_ref(g);
    if ((g->deferred && !ns->waiting) || (g->n_joins && !ns->fired) || !ns->slots || !ns->dirty ||
        !ns->live || !ns->next || !ns->arrived) {
        unshape(ns);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a namespace");
    }
    shape_slots(ns, g, im, was_dirty);
    if (json_object_size(im->state) > 0) {
        ns->extra = pons_value_ref(im->state);
    }
    if (!shape_next(ns, im)) {
        unshape(ns);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a namespace");
    }
    return PONS_OK;
}

static pons__image image_of(const pons__ns *ns)
{
    pons__image im = {.state = json_object(), .next = json_array(), .joins = json_object()};
    if (ns->extra) {
        json_object_update(im.state, ns->extra);
    }
    for (size_t i = 0; i < ns->g->n_channels; i++) {
        if (ns->slots[i].v) {
            json_object_set_new(im.state, ns->g->channels[i].name, pons_value_ref(ns->slots[i].v));
        }
    }
    for (size_t i = 0; i < ns->g->n_nodes; i++) {
        if (pons__bit_get(ns->next, i)) {
            json_array_append_new(im.next, json_string(ns->g->nodes[i].name));
        }
    }
    im.waiting = json_array();
    im.fired = json_array();
    for (size_t i = 0; ns->fired && i < ns->g->n_nodes; i++) {
        if (pons__bit_get(ns->fired, i)) {
            json_array_append_new(im.fired, json_string(ns->g->nodes[i].name));
        }
    }
    im.sends = json_array();
    for (size_t i = 0; i < ns->g->n_nodes; i++) {
        if (ns->waiting && pons__bit_get(ns->waiting, i)) {
            json_array_append_new(im.waiting, json_string(ns->g->nodes[i].name));
        }
    }
    for (size_t i = 0; i < ns->n_sends; i++) {
        json_array_append_new(
            im.sends, json_pack("[sO]", ns->g->nodes[ns->sends[i].node].name, ns->sends[i].arg));
    }
    snprintf(im.id, sizeof im.id, "%s", ns->head);
    snprintf(im.parent, sizeof im.parent, "%s", ns->head_parent);
    return im;
}

// ---- life ---------------------------------------------------------------------------------------

pons__ns *pons__ns_create(const char *name)
{
    pons__ns *ns = calloc(1, sizeof *ns);
    if (!ns) {
        return NULL;
    }
    snprintf(ns->name, sizeof ns->name, "%s", name);
    ns->step = PONS__STEP_NONE;
    return ns;
}

void pons__ns_destroy(pons__ns *ns)
{
    unshape(ns);
    pons_value_unref(ns->parents);
    pons_value_unref(ns->metadata);
    pons_value_unref(ns->began);
    free(ns);
}

void pons__ns_forget(pons__ns *ns)
{
    unshape(ns);
    ns->loaded = false;
    ns->exists = false;
    ns->inbox_after = 0;
    ns->step = PONS__STEP_NONE;
    ns->queued = ns->ahead = false;
}

static void take_head(pons__ns *ns, const pons__image *im)
{
    ns->step = im->found ? im->step : PONS__STEP_NONE;
    ns->run_id = im->run_id;
    ns->forked = im->forked;
    snprintf(ns->head, sizeof ns->head, "%s", im->id);
    snprintf(ns->head_parent, sizeof ns->head_parent, "%s", im->parent);
    snprintf(ns->owner, sizeof ns->owner, "%s", im->owner);
    pons_value_unref(ns->parents);
    ns->parents = pons_value_ref(im->parents);
    pons_value_unref(ns->metadata);
    ns->metadata = pons_value_ref(im->metadata);
    pons_value_unref(ns->began);
    ns->began = pons_value_ref(im->began);
    ns->source = im->source;
}

// ---- loading ------------------------------------------------------------------------------------

int pons__ns_adopt(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err)
{
    int st = shape(ns, g, im, err);
    if (st != PONS_OK) {
        return st;
    }
    ns->loaded = true;
    ns->exists = im->found;
    ns->run_id_stored = im->found;
    ns->head_unfinished = json_array_size(im->next) + json_array_size(im->sends) > 0;
    ns->snapshot_bytes = im->snapshot_bytes;
    ns->tail_bytes = im->tail_bytes;
    ns->tail_rows = im->tail_rows;
    take_head(ns, im);
    return PONS_OK;
}

int pons__ns_reshape(pons__ns *ns, const pons_graph *g, pons_error *err)
{
    pons__image im = image_of(ns);
    int st = shape(ns, g, &im, err);
    pons__image_fini(&im);
    return st;
}

int pons__ns_restore(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err)
{
    ns->n_dirty = 0;
    int st = shape(ns, g, im, err);
    if (st != PONS_OK) {
        pons__ns_forget(ns);
        return st;
    }
    ns->run_id_stored = false;
    ns->snapshot_bytes = 0; // a snapshot is due
    take_head(ns, im);
    return PONS_OK;
}

// ---- values -------------------------------------------------------------------------------------

void pons__ns_set(pons__ns *ns, uint32_t ch, pons_value *v, size_t keep)
{
    pons__slot *s = &ns->slots[ch];
    pons__ns_swap(ns, ch, v, keep);
    pons__ids_reset(&s->ids);
    if (ns->g->channels[ch].transient && !s->live) {
        s->live = true;
        ns->live[ns->n_live++] = ch;
    }
}

void pons__ns_swap(pons__ns *ns, uint32_t ch, pons_value *v, size_t keep)
{
    pons__slot *s = &ns->slots[ch];
    if (s->stored && !s->dirty && ns->g->channels[ch].tracked && !ns->g->channels[ch].transient) {
        s->base = s->v; // what changed is worked out when it is stored
    } else {
        pons_value_unref(s->v);
    }
    pons_value_unref(s->merged);
    s->merged = NULL;
    s->v = v;
    s->keep = keep < s->keep ? keep : s->keep;
    pons__ns_mark_dirty(ns, ch);
}

int pons__ns_patch(pons__ns *ns, const pons_value *writes, pons_error *err)
{
    pons_each(w, writes) {
        const char *name = json_string_value(json_array_get(w, 0));
        uint32_t ch = pons__graph_channel_find(ns->g, name ? name : "");
        if (ch == PONS__NONE) {
            continue; // of a graph that had it
        }
        pons_value *one[] = {json_array_get(w, 1)}, *v = NULL;
        size_t keep;
        int st = pons__channel_fold(&ns->g->channels[ch], ns->slots[ch].v, one, 1, &v, &keep, err);
        if (st != PONS_OK) {
            return st;
        }
        pons__ns_set(ns, ch, v, keep);
    }
    return PONS_OK;
}

void pons__ns_mark_dirty(pons__ns *ns, uint32_t ch)
{
    pons__slot *s = &ns->slots[ch];
    if (s->dirty || !ns->g->channels[ch].tracked) {
        return;
    }
    s->dirty = true;
    ns->dirty[ns->n_dirty++] = ch;
}

// ---- what is next -------------------------------------------------------------------------------

bool pons__ns_more(const pons__ns *ns)
{
    return ns->n_sends > 0 || pons__bits_any(ns->next, ns->g->n_words);
}

void pons__ns_sends_clear(pons__ns *ns)
{
    for (size_t i = 0; i < ns->n_sends; i++) {
        pons_value_unref(ns->sends[i].arg);
    }
    ns->n_sends = 0;
}

bool pons__ns_send(pons__ns *ns, uint32_t node, pons_value *arg)
{
    if (!pons_list_reserve(&ns->sends, &ns->cap_sends, ns->n_sends + 1, sizeof *ns->sends)) {
        pons_value_unref(arg);
        return false;
    }
    ns->sends[ns->n_sends++] = (pons__sent){node, arg};
    return true;
}
