// command_input.c - a command as input. It either answers an unfinished run (its update is kept as a
// record under the checkpoint, so a crash does not lose it, and is folded into the state in memory)
// or begins a run somewhere else than at START.
#include "graph/core/alloc_runs.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/node/route.h"
#include "graph/persist/commit.h"
#include "graph/run/run_open.h"
#include "graph/run/superstep.h"

// The update becomes writes (messages get their ids) and a record, then changes the state.
static int patch_durably(pons_run *r, const pons_value *update, pons_error *err)
{
    pons_cx *cx = pons__task_add(r, PONS__END, err);
    if (!cx) {
        return PONS_ENOMEM;
    }
    r->n_tasks--; // a scratch task: nothing of the superstep
    int st = pons__cx_input(cx, update, err);
    pons_autovalue writes = json_array();
    for (size_t i = 0; i < cx->n_writes; i++) {
        json_array_append_new(
            writes, json_pack("[sO]", r->g->channels[cx->writes[i].ch].name, cx->writes[i].v));
    }
    if (st == PONS_OK && json_array_size(writes) != cx->n_writes) {
        st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an update");
    }
    if (st == PONS_OK && r->durable) {
        pons__rows rows = {0};
        st = pons__rows_add(&rows, r, PONS__COMMAND_TASK, r->commands, pons_value_ref(writes), err);
        if (st == PONS_OK) {
            st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
        }
        pons__rows_fini(&rows);
    }
    r->commands += st == PONS_OK;
    pons__task_clear(cx);
    return st == PONS_OK ? pons__ns_patch(r->ns, writes, err) : st;
}

static int continue_with(pons_run *r, const pons_command *cmd, pons_error *err)
{
    int st = cmd->update ? patch_durably(r, cmd->update, err) : PONS_OK;
    if (st == PONS_OK && cmd->resume) {
        st = pons_run_resume_value(r, cmd->resume, err);
    }
    if (st == PONS_OK && cmd->resume_map) {
        st = pons_run_resume_map(r, cmd->resume_map, err);
    }
    return st;
}

int pons_run_command(pons_thread *t, const pons_graph *g, const char *ns, const pons_command *cmd,
                     const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_autovalue update = cmd->update;
    bool resume = cmd->resume || cmd->resume_map;
    bool routes = (cmd->go && cmd->go[0]) || cmd->n_sends > 0;
    if (cmd->parent || (resume && routes)) {
        pons__command_drop(cmd);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              cmd->parent ? "a command as input has no parent graph"
                                          : "a command can't resume and go elsewhere at once");
    }
    pons_run *r = NULL;
    pons_error e = PONS_ERROR_INIT;
    int st = routes ? PONS_ENOTFOUND : pons_run_resume(t, g, ns, opts, &r, &e);
    if (st == PONS_OK && r->state == PONS_RUN_DONE) { // had ended
        pons_run_destroy(r);
        r = NULL;
        st = pons_error_set(&e, PONS_ENOTFOUND, PONS__MODULE,
                            "namespace '%s' of thread %s has nothing unfinished", ns, t->id);
    }
    if (st == PONS_ENOTFOUND && !resume) {
        st = pons__run_open(t, g, ns, opts, &pons__supersteps, &r, &e);
        if (st == PONS_OK) {
            st = pons__run_begin(r, update, "", cmd, &e);
        } else {
            pons__command_drop(cmd);
        }
    } else if (st == PONS_OK) {
        st = continue_with(r, cmd, &e);
    }
    if (st != PONS_OK) {
        if (r) {
            r->state = PONS_RUN_DONE; // nothing was begun
        }
        pons_run_destroy(r);
        if (err) {
            *err = e;
        }
        return st;
    }
    *ret = r;
    return PONS_OK;
}
