// route.c - where a task sends the run: goto, Send, and the command that does it all at once.
//
// A router may go where it has said it may; a node where its options say. What a command does to
// the parent is only noted (`escape`): the task ends, its run ends unapplied, and the parent's
// task, which runs the subgraph, writes and goes as if the command were its own. A crash in between
// runs the child's last superstep again, which commands the same.
#include "graph/node/route.h"

#include "graph/core/faults.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"

#include <string.h>

// ---- to the parent ------------------------------------------------------------------------------

static int escape(pons_cx *cx, pons_value *update, const pons_command *cmd, pons_error *err)
{
    pons_value *go = json_array(), *sends = json_array();
    int bad = !go || !sends;
    for (const char *const *s = cmd->go; s && *s; s++) {
        bad |= json_array_append_new(go, json_string(*s));
    }
    for (size_t i = 0; i < cmd->n_sends; i++) {
        bad |=
            json_array_append_new(sends, json_pack("[so]", cmd->sends[i].node, cmd->sends[i].arg));
    }
    pons_value *e = pons_object_whole("u", pons_optional(update), "g", go, "s", sends, NULL);
    if (!e || bad) {
        pons_value_unref(e);
        pons__cx_fault(cx, PONS_ENOMEM, NULL);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a command");
    }
    pons_value_unref(cx->escape);
    cx->escape = e;
    return PONS_OK;
}

// A handful of targets: comparing beats looking up.
static uint32_t allowed(const pons_cx *cx, const char *node)
{
    const uint32_t *to = cx->router ? cx->router->targets : cx->node->goes;
    size_t n = cx->router ? cx->router->n_targets : cx->node->n_goes;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pons__graph_node_name(cx->run->g, to[i]), node) == 0) {
            return to[i];
        }
    }
    return PONS__NONE;
}

static void route(pons_cx *cx, const char *node, pons_value *arg, bool send)
{
    pons_error e = PONS_ERROR_INIT;
    uint32_t to = node ? allowed(cx, node) : PONS__NONE;
    int st = PONS_OK;
    if (to == PONS__NONE) {
        st = pons_error_set(&e, PONS_EINVAL, PONS__MODULE,
                            cx->router ? "a router of '%s' goes to '%s', which it has not named"
                                       : "node '%s' goes to '%s', which its options do not name",
                            cx->node->name, node ? node : "");
    } else if (send && (to == PONS__END || !arg)) {
        st = pons_error_set(&e, PONS_EINVAL, PONS__MODULE, "node '%s' sends %s", cx->node->name,
                            arg ? "to END, which takes no argument" : "no argument");
    } else if (!pons_value_fits(arg)) {
        st = pons__too_deep(cx, "sends", &e);
    }
    if (st != PONS_OK || to == PONS__END) {
        pons_value_unref(arg);
        if (st != PONS_OK) {
            pons__cx_fault(cx, st, &e);
        }
        return;
    }
    st = pons__cx_route(cx, to, arg);
    if (st != PONS_OK) {
        pons__cx_fault(cx, st, NULL);
    }
}

int pons__cx_escape(pons_cx *cx, const pons_value *e, pons_error *err)
{
    const pons_value *update = pons_get(e, "u");
    int st = update ? pons__cx_input(cx, update, err) : PONS_OK;
    pons_each(v, pons_get(e, "g")) {
        route(cx, json_string_value(v), NULL, false);
    }
    pons_each(v, pons_get(e, "s")) {
        route(cx, json_string_value(json_array_get(v, 0)), pons_value_ref(json_array_get(v, 1)),
              true);
    }
    return st;
}

// ---- in a node or a router ----------------------------------------------------------------------

void pons_cx_goto(pons_cx *cx, const char *node)
{
    route(cx, node, NULL, false);
}

void pons_cx_send(pons_cx *cx, const char *node, pons_value *arg)
{
    route(cx, node, arg, true);
}

int pons_cx_command(pons_cx *cx, const pons_command *cmd, pons_error *err)
{
    pons_autovalue update = cmd->update;
    int st = PONS_OK;
    if (cmd->resume || cmd->resume_map) {
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                            "node '%s' commands a resume, which only an input can", cx->node->name);
    } else if (cmd->parent && !cx->run->parent_task) {
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                            "node '%s' commands its parent graph, but there is none",
                            cx->node->name);
    }
    if (st != PONS_OK) {
        pons__command_drop(cmd);
        pons__cx_fault(cx, st, err);
        return st;
    }
    if (cmd->parent && cx->caller) {
        pons__command_drop(cmd);
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "task '%s' commands the parent graph",
                            cx->node->name);
        pons__cx_fault(cx, st, err);
        return st;
    }
    if (cmd->parent) {
        return escape(cx, update, cmd, err);
    }
    if (update) {
        st = pons__cx_input(cx, update, err);
    }
    for (const char *const *go = cmd->go; go && *go; go++) {
        route(cx, *go, NULL, false);
    }
    for (size_t i = 0; i < cmd->n_sends; i++) {
        route(cx, cmd->sends[i].node, cmd->sends[i].arg, true);
    }
    if (st != PONS_OK) {
        pons__cx_fault(cx, st, err);
    }
    if (cx->fault != PONS_OK && st == PONS_OK && err) {
        *err = cx->fault_error;
    }
    return cx->fault;
}

// ---- of an input --------------------------------------------------------------------------------

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
        if (st == PONS_OK) {
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a command sends to '%s'",
                                cmd->sends[i].node);
        }
    }
    for (const char *const *go = cmd->go; go && *go && st == PONS_OK; go++) {
        uint32_t to = pons__graph_node_find(cx->run->g, *go);
        if (to == PONS__NONE) {
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                "a command goes to '%s', which is no node", *go);
        } else if (to != PONS__END) {
            st = pons__cx_route(cx, to, NULL);
        }
    }
    return st;
}

void pons__command_drop(const pons_command *cmd)
{
    for (size_t i = 0; i < cmd->n_sends; i++) {
        pons_value_unref(cmd->sends[i].arg);
    }
}
