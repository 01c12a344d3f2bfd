// command.c - where a task sends the run: goto, Send, and the command that does it all at once.
//
// A router may go where it has said it may; a node where its options say. What a command does to
// the parent is only noted (`escape`): the task ends, its run ends unapplied, and the parent's
// task, which runs the subgraph, writes and goes as if the command were its own. A crash in between
// runs the child's last superstep again, which commands the same.
//
// A command as input either answers an unfinished run (its update is kept as a record under the
// checkpoint, so a crash does not lose it, and is folded into the state in memory) or begins a run
// somewhere else than at START.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t allowed(const pons_cx *cx, const char *node);
static void route(pons_cx *cx, const char *node, pons_value *arg, bool send);
static int escape(pons_cx *cx, pons_value *update, const pons_command *cmd, pons_error *err);
static int patch_durably(pons_run *r, const pons_value *update, pons_error *err);
static int continue_with(pons_run *r, const pons_command *cmd, pons_error *err);
static void drop_args(const pons_command *cmd);

// ---------------------------------------------------------------- in a node or a router

void pons_cx_goto(pons_cx *cx, const char *node)
{
    route(cx, node, NULL, false);
}

void pons_cx_send(pons_cx *cx, const char *node, pons_value *arg)
{
    route(cx, node, arg, true);
}

const pons_value *pons_cx_arg(const pons_cx *cx)
{
    return cx->arg;
}

int pons_cx_command(pons_cx *cx, const pons_command *cmd, pons_error *err)
{
    pons_autovalue update = cmd->update;
    int st = PONS_OK;
    if (cmd->resume || cmd->resume_map)
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                            "node '%s' commands a resume, which only an input can", cx->node->name);
    else if (cmd->parent && !cx->run->parent_task)
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                            "node '%s' commands its parent graph, but there is none",
                            cx->node->name);
    if (st != PONS_OK) {
        drop_args(cmd);
        pons__cx_fault(cx, st, err);
        return st;
    }
    if (cmd->parent)
        return escape(cx, update, cmd, err);
    if (update)
        st = pons__cx_input(cx, update, err);
    for (const char *const *go = cmd->go; go && *go; go++)
        route(cx, *go, NULL, false);
    for (size_t i = 0; i < cmd->n_sends; i++)
        route(cx, cmd->sends[i].node, cmd->sends[i].arg, true);
    if (st != PONS_OK)
        pons__cx_fault(cx, st, err);
    if (cx->fault != PONS_OK && st == PONS_OK && err)
        *err = cx->fault_error;
    return cx->fault;
}

int pons__cx_route(pons_cx *cx, uint32_t to, pons_value *arg)
{
    if (!arg) {
        if (!pons__reserve(&cx->gotos, &cx->cap_gotos, cx->n_gotos + 1, sizeof *cx->gotos))
            return PONS_ENOMEM;
        cx->gotos[cx->n_gotos++] = to;
        return PONS_OK;
    }
    if (!pons__reserve(&cx->sends, &cx->cap_sends, cx->n_sends + 1, sizeof *cx->sends)) {
        pons_value_unref(arg);
        return PONS_ENOMEM;
    }
    cx->sends[cx->n_sends++] = (pons__sent){to, arg};
    return PONS_OK;
}

static void route(pons_cx *cx, const char *node, pons_value *arg, bool send)
{
    pons_error e = PONS_ERROR_INIT;
    uint32_t to = allowed(cx, node);
    int st = PONS_OK;
    if (to == PONS__NONE)
        st = pons_error_set(&e, PONS_EINVAL, PONS__MODULE,
                            cx->router ? "a router of '%s' goes to '%s', which it has not named"
                                       : "node '%s' goes to '%s', which its options do not name",
                            cx->node->name, node);
    else if (send && (to == PONS__END || !arg))
        st = pons_error_set(&e, PONS_EINVAL, PONS__MODULE, "node '%s' sends %s", cx->node->name,
                            arg ? "to END, which takes no argument" : "no argument");
    if (st != PONS_OK || to == PONS__END) {
        pons_value_unref(arg);
        if (st != PONS_OK)
            pons__cx_fault(cx, st, &e);
        return;
    }
    st = pons__cx_route(cx, to, arg);
    if (st != PONS_OK)
        pons__cx_fault(cx, st, NULL);
}

// A handful of targets: comparing beats looking up.
static uint32_t allowed(const pons_cx *cx, const char *node)
{
    const uint32_t *to = cx->router ? cx->router->targets : cx->node->goes;
    size_t n = cx->router ? cx->router->n_targets : cx->node->n_goes;
    for (size_t i = 0; i < n; i++)
        if (strcmp(pons__graph_node_name(cx->run->g, to[i]), node) == 0)
            return to[i];
    return PONS__NONE;
}

// ---------------------------------------------------------------- to the parent

static int escape(pons_cx *cx, pons_value *update, const pons_command *cmd, pons_error *err)
{
    pons_value *go = json_array(), *sends = json_array();
    int bad = !go || !sends;
    for (const char *const *s = cmd->go; s && *s; s++)
        bad |= json_array_append_new(go, json_string(*s));
    for (size_t i = 0; i < cmd->n_sends; i++)
        bad |=
            json_array_append_new(sends, json_pack("[so]", cmd->sends[i].node, cmd->sends[i].arg));
    pons_value *e = pons_object("u", pons_value_ref(update), "g", go, "s", sends, NULL);
    if (!e || bad) {
        pons_value_unref(e);
        pons__cx_fault(cx, PONS_ENOMEM, NULL);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a command");
    }
    pons_value_unref(cx->escape);
    cx->escape = e;
    return PONS_OK;
}

int pons__cx_escape(pons_cx *cx, const pons_value *e, pons_error *err)
{
    size_t i;
    pons_value *v;
    const pons_value *update = pons_get(e, "u");
    int st = update ? pons__cx_input(cx, update, err) : PONS_OK;
    json_array_foreach(pons_get(e, "g"), i, v)
    {
        route(cx, json_string_value(v), NULL, false);
    }
    json_array_foreach(pons_get(e, "s"), i, v)
    {
        route(cx, json_string_value(json_array_get(v, 0)), pons_value_ref(json_array_get(v, 1)),
              true);
    }
    return st;
}

// ---------------------------------------------------------------- as input

int pons_run_command(pons_thread *t, const pons_graph *g, const char *ns, const pons_command *cmd,
                     const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_autovalue update = cmd->update;
    bool resume = cmd->resume || cmd->resume_map;
    bool routes = (cmd->go && cmd->go[0]) || cmd->n_sends > 0;
    if (cmd->parent || (resume && routes)) {
        drop_args(cmd);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              cmd->parent ? "a command as input has no parent graph"
                                          : "a command can't resume and go elsewhere at once");
    }
    pons_run *r = NULL;
    pons_error e = PONS_ERROR_INIT;
    int st = routes ? PONS_ENOTFOUND : pons_run_resume(t, g, ns, opts, &r, &e);
    if (st == PONS_ENOTFOUND && !resume) {
        st = pons__run_open(t, g, ns, opts, &r, &e);
        if (st == PONS_OK)
            st = pons__run_begin(r, update, "", cmd, &e);
        else
            drop_args(cmd);
    } else if (st == PONS_OK) {
        st = continue_with(r, cmd, &e);
    }
    if (st != PONS_OK) {
        if (r)
            r->state = PONS_RUN_DONE; // nothing was begun
        pons_run_destroy(r);
        if (err)
            *err = e;
        return st;
    }
    *ret = r;
    return PONS_OK;
}

static int continue_with(pons_run *r, const pons_command *cmd, pons_error *err)
{
    int st = cmd->update ? patch_durably(r, cmd->update, err) : PONS_OK;
    if (st == PONS_OK && cmd->resume)
        st = pons_run_resume_value(r, cmd->resume, err);
    if (st == PONS_OK && cmd->resume_map)
        st = pons_run_resume_map(r, cmd->resume_map, err);
    return st;
}

int pons__command_routes(pons_cx *cx, const pons_command *cmd, pons_error *err)
{
    int st = PONS_OK;
    for (size_t i = 0; i < cmd->n_sends; i++) {
        uint32_t to = pons__graph_node_find(cx->run->g, cmd->sends[i].node);
        if (st == PONS_OK && to < cx->run->g->n_nodes && cmd->sends[i].arg) {
            st = pons__cx_route(cx, to, cmd->sends[i].arg);
            continue;
        }
        pons_value_unref(cmd->sends[i].arg);
        if (st == PONS_OK)
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a command sends to '%s'",
                                cmd->sends[i].node);
    }
    for (const char *const *go = cmd->go; go && *go && st == PONS_OK; go++) {
        uint32_t to = pons__graph_node_find(cx->run->g, *go);
        if (to == PONS__NONE)
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                "a command goes to '%s', which is no node", *go);
        else if (to != PONS__END)
            st = pons__cx_route(cx, to, NULL);
    }
    return st;
}

// The update becomes writes (messages get their ids) and a record, then changes the state.
static int patch_durably(pons_run *r, const pons_value *update, pons_error *err)
{
    pons_cx *cx = pons__task_add(r, PONS__END, err);
    if (!cx)
        return PONS_ENOMEM;
    r->n_tasks--; // a scratch task: nothing of the superstep
    int st = pons__cx_input(cx, update, err);
    pons_autovalue writes = json_array();
    for (size_t i = 0; i < cx->n_writes; i++)
        json_array_append_new(
            writes, json_pack("[sO]", r->g->channels[cx->writes[i].ch].name, cx->writes[i].v));
    if (st == PONS_OK && json_array_size(writes) != cx->n_writes)
        st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an update");
    if (st == PONS_OK && r->durable) {
        pons__rows rows = {0};
        st = pons__rows_add(&rows, r, PONS__COMMAND_TASK, r->commands, pons_value_ref(writes), err);
        if (st == PONS_OK)
            st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
        pons__rows_fini(&rows);
    }
    r->commands += st == PONS_OK;
    pons__task_clear(cx);
    return st == PONS_OK ? pons__run_patch(r, writes, err) : st;
}

int pons__run_patch(pons_run *r, const pons_value *writes, pons_error *err)
{
    pons__ns *ns = r->ns;
    size_t i;
    pons_value *w;
    json_array_foreach((pons_value *)(uintptr_t)writes, i, w)
    {
        const char *name = json_string_value(json_array_get(w, 0));
        uint32_t ch = pons__graph_channel_find(r->g, name ? name : "");
        if (ch == PONS__NONE)
            continue; // of a graph that had it
        pons__slot *s = &ns->slots[ch];
        pons_value *one[] = {json_array_get(w, 1)}, *v = NULL;
        size_t keep;
        int st = pons__channel_fold(&r->g->channels[ch], s->v, one, 1, &v, &keep, err);
        if (st != PONS_OK)
            return st;
        pons_value_unref(s->v);
        pons_value_unref(s->merged);
        s->merged = NULL;
        s->v = v;
        s->keep = keep < s->keep ? keep : s->keep;
        pons__ids_reset(&s->ids);
        pons__ns_mark_dirty(ns, ch);
        if (r->g->channels[ch].transient && !s->live) {
            s->live = true;
            ns->live[ns->n_live++] = ch;
        }
    }
    return PONS_OK;
}

static void drop_args(const pons_command *cmd)
{
    for (size_t i = 0; i < cmd->n_sends; i++)
        pons_value_unref(cmd->sends[i].arg);
}
