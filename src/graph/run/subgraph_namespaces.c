// subgraph_namespaces.c - the namespaces below a run's, of subgraphs that keep their state ("own").
//
// Where was such a subgraph at a checkpoint P of the graph around it? Every run of it names the
// checkpoints that the graphs around it stood on when it began. A run that stood on an ancestor of
// P has made what P knows; one that stood on P, or on another branch, has not:
//
//   parent   A ------> B ------> P ------> C        fork at P: a new F, and in the subgraph
//             \         \         \                 a new checkpoint with the state of b
//   own        a         b         (c: forgotten)
//
// The fork and all of them are one commit: killed at any moment, either nothing has gone back or all
// has. What a fork put there (source "fork", standing on F) belongs to F itself. Where the checkpoint
// that a run stood on is not stored any more (pruned, or never: `exit`), the ids' order in time
// decides.
#include "graph/run/subgraph_namespaces.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/run_accessors.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/util/ids.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lineage { // of a checkpoint
    pons_value *seen;    // {id: whether it is an ancestor, or the checkpoint itself}
    char want[32];       // the next ancestor
    const char *at;      // the checkpoint
    const char *outer;   // its namespace
    char found[32];      // in the namespace below
    char newest[32];     // of the run being looked at there
    bool ok;
} lineage;

const pons_graph *pons__below(const pons_run *r, const char *name)
{
    const pons_graph *g = r->g;
    size_t outer = strlen(r->ns->name);
    if (strncmp(name, r->ns->name, outer) != 0 || (outer && name[outer] != '|')) {
        return NULL;
    }
    for (name += outer + (outer > 0); g && *name; name += *name == '|') {
        char node[PONS_NAME_MAX];
        snprintf(node, sizeof node, "%.*s", (int)strcspn(name, ":|"), name);
        const uint32_t ix = pons__graph_node_find(g, node);
        const pons__node *n = ix < g->n_nodes ? &g->nodes[ix] : NULL;
        const char *place = name + strcspn(name, ":|");
        g = n ? n->sub : NULL;
        if (n && !g && strncmp(place, ":#", 2) == 0) { // a graph that the node runs
            g = pons__graph_run_find(n, place + 2, strcspn(place + 2, "#|"));
        }
        name += strcspn(name, "|");
    }
    return g;
}

// ---- back to a checkpoint -----------------------------------------------------------------------

typedef struct name_list {
    const pons_run *r;
    pons_value *names;
    bool ok;
} name_list;

// Below a fresh one nobody comes back: the fork's tasks have other names.
static int take_name(void *user, const char *ns)
{
    name_list *l = user;
    size_t outer = strlen(l->r->ns->name);
    const pons_graph *g = pons__below(l->r, ns);
    if (!g || g == l->r->g || strlen(ns) <= outer) {
        return 0;
    }
    for (const char *c = strchr(ns + outer, ':'); c; c = strchr(c + 1, ':')) {
        if (c[1] != '#') {
            return 0;
        }
    }
    l->ok = json_array_append_new(l->names, json_string(ns)) == 0;
    return !l->ok;
}

static bool has_own(const pons_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if ((g->nodes[i].sub && g->nodes[i].mode == PONS_SUBGRAPH_OWN) || g->nodes[i].n_runs > 0) {
            return true;
        }
    }
    return false;
}

static int trace_row(void *user, const pons_checkpoint_row *row)
{
    lineage *l = user;
    bool mine = strcmp(row->id, l->want) == 0;
    if (mine) {
        snprintf(l->want, sizeof l->want, "%s", row->parent);
    }
    l->ok = json_object_set_new(l->seen, row->id, json_boolean(mine)) == 0 && l->ok;
    return !l->ok;
}

static int trace(pons_run *r, const char *checkpoint, lineage *l, pons_error *err)
{
    pons_store s = r->t->store;
    snprintf(l->want, sizeof l->want, "%s", checkpoint);
    int st = s.ops->history(s.self, r->t->id, r->ns->name, "", 0, trace_row, l, err);
    return st == PONS_OK && !l->ok
               ? pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a fork")
               : st;
}

static bool belongs(const lineage *l, const char *stood_on, const char *id, bool forked)
{
    if (!stood_on) { // a run of its own, from outside
        return strcmp(id, l->at) < 0;
    }
    if (strcmp(stood_on, l->at) == 0) {
        return forked;
    }
    const pons_value *known = json_object_get(l->seen, stood_on);
    return known ? json_is_true(known) : strcmp(stood_on, l->at) < 0;
}

// Rows come newest first; a run's oldest one says what it stood on.
static int find_row(void *user, const pons_checkpoint_row *row)
{
    lineage *l = user;
    pons_autovalue data = NULL;
    if (pons_value_read(row->data.data, row->data.len, &data, NULL) != PONS_OK) {
        return 0;
    }
    const char source = pons_get_str(data, "k", "l")[0];
    if (source == 'i') {
        return 0; // before its run
    }
    if (!l->newest[0]) {
        snprintf(l->newest, sizeof l->newest, "%s", row->id);
    }
    if (!pons_get(data, "r")) {
        return 0;
    }
    const char *stood_on = pons_get_str(pons_get(data, "P"), l->outer, NULL);
    if (belongs(l, stood_on, row->id, source == 'f')) {
        snprintf(l->found, sizeof l->found, "%s", l->newest);
        return 1;
    }
    l->newest[0] = '\0';
    return 0;
}

// A fork of a namespace below; id empty: as it was before its first run.
static int put_back(pons_run *r, pons__ns *ns, const pons_graph *g, const char *id, pons__others *o,
                    pons_error *err)
{
    pons_thread *t = r->t;
    pons__image im = {0};
    int st = id[0] ? pons__image_at(t->store, t->id, ns->name, id, &im, err) : PONS_OK;
    if (!id[0]) {
        im.state = json_object();
    }
    if (st == PONS_OK) {
        st = pons__ns_restore(ns, g, &im, err);
    }
    pons__image_fini(&im);
    if (st != PONS_OK) {
        return st;
    }
    pons_value *stands = pons_object_whole(r->ns->name, json_string(pons__run_cp(r)), NULL);
    pons_run *own = stands ? pons__others_add(o, t, g, ns, r->loop) : NULL;
    if (!own) {
        pons_value_unref(stands);
        pons__ns_forget(ns);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a fork");
    }
    pons_value_unref(ns->parents);
    ns->parents = stands;
    ns->step++;
    ns->forked = true;
    own->source = 'f';
    return PONS_OK;
}

static int rewind_one(pons_run *r, const char *name, const pons_graph *g, lineage *l,
                      pons__others *o, pons_error *err)
{
    pons_store s = r->t->store;
    l->found[0] = l->newest[0] = '\0';
    int st = s.ops->history(s.self, r->t->id, name, "", 0, find_row, l, err);
    pons__ns *ns = st == PONS_OK ? pons__ns_get(r->t, name, err) : NULL;
    if (!ns) {
        return st == PONS_OK ? PONS_EINVAL : st;
    }
    if (ns->active && ns->active->state != PONS_RUN_DONE && ns->active->state != PONS_RUN_FAILED) {
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "subgraph namespace '%s' has a run under way", name);
    }
    st = pons__ns_load(r->t, ns, g, true, err);
    if (st != PONS_OK || (ns->exists && strcmp(ns->head, l->found) == 0)) {
        return st;
    }
    return put_back(r, ns, g, l->found, o, err);
}

int pons__below_rewind(pons_run *r, const char *checkpoint, pons__others *o, pons_error *err)
{
    pons_thread *t = r->t;
    if (!has_own(r->g)) {
        return PONS_OK;
    }
    name_list names = {.r = r, .names = json_array(), .ok = true};
    pons_autovalue owned = names.names;
    pons_autovalue seen = json_object();
    lineage l = {.seen = seen, .at = checkpoint, .outer = r->ns->name, .ok = true};
    if (!owned || !seen) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a fork");
    }
    int st = t->store.ops->namespaces(t->store.self, t->id, take_name, &names, err);
    if (st != PONS_OK || json_array_size(owned) == 0) {
        return st;
    }
    st = names.ok ? trace(r, checkpoint, &l, err) : PONS_ENOMEM;
    for (size_t i = 0; i < json_array_size(owned) && st == PONS_OK; i++) {
        const char *name = json_string_value(json_array_get(owned, i));
        st = rewind_one(r, name, pons__below(r, name), &l, o, err);
    }
    return st;
}

// ---- several in one commit ----------------------------------------------------------------------

pons_run *pons__others_add(pons__others *o, pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons__loop *loop)
{
    pons_run *was = ns->active; // it has ended
    pons_run *own = pons_list_reserve(&o->v, &o->cap, o->n + 1, sizeof *o->v)
                        ? pons__run_create(t, g, ns, NULL, loop)
                        : NULL;
    if (!own) {
        return NULL;
    }
    own->durable = true;
    o->v[o->n++] = (pons__with){own, was};
    return own;
}

void pons__others_end(pons__others *o, bool forget)
{
    for (size_t i = 0; i < o->n; i++) {
        pons_run *own = o->v[i].run;
        pons__ns *ns = own->ns;
        own->spoiled = forget;
        own->state = PONS_RUN_DONE;
        pons_run_destroy(own);
        ns->active = o->v[i].was;
    }
    free(o->v);
    *o = (pons__others){0};
}

// ---- at the end ---------------------------------------------------------------------------------

int pons__below_store(pons_run *root, pons_error *err)
{
    pons__others o = {0};
    int st = PONS_OK;
    for (pons__ns *ns = root->t->namespaces; ns && st == PONS_OK; ns = ns->next_ns) {
        if (!ns->unstored[0] || ns->base_serial != root->serial) {
            continue;
        }
        pons_run *own = pons__others_add(&o, root->t, ns->g, ns, root->loop);
        if (!own) {
            st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to end a run");
            break;
        }
        own->source = 'l';
        pons__id_copy(own->cp_id, ns->unstored);
    }
    if (st == PONS_OK && o.n > 0) {
        st = pons__run_commit(root, &(pons__extra){.with = o.v, .n_with = o.n}, err);
    }
    for (size_t i = 0; i < o.n && st == PONS_OK; i++) {
        o.v[i].run->ns->unstored[0] = '\0';
    }
    pons__others_end(&o, false); // after a failure they are stored by the next try
    return st;
}
