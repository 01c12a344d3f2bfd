// request_check.c - what a model asks for, held against the files and the body, when it asks and again when it is written.
#include "pons/workspace_critic.h"
#include "workspace/model_access/model_files.h"

#include <string.h>

// The body's skill that it comes to. The caller frees ret->args.
void pons__model_access_call(model_access *d, const pons_value *args, const pons_value *status,
                             pons__ws_call *ret)
{
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (d->o.robot.ops) {
        d->o.robot.ops->list(d->o.robot.self, &tools, &err);
    }
    // A body whose skills nobody offers here is asked through the file all the same.
    const bool knows = json_array_size(tools) > 1;
    pons__ws_call_of(args, knows ? tools : NULL, pons_get(status, "world"),
                     pons_ws_place_doc(d->place, PONS_WS_ENVIRONMENT), ret);
}

// The files' word. Adds what is broken; a refusal is a lesson.
static void judge_by_files(model_access *d, const char *type, const pons_value *params,
                           const pons_value *status, pons_verdict *v)
{
    pons_ws_judgement j;
    pons_error err = PONS_ERROR_INIT;
    const pons_value *robot = pons_get(status, "robot");
    const pons_ws_asked asked = {.action_type = type,
                                 .params = params,
                                 .robot_id = d->robot_id,
                                 .robot = json_object_size(robot) ? robot : NULL};
    pons_ws_judge(d->place, &asked, &j);
    if (!j.ok) {
        pons_ws_learn(d->place, &asked, &j, &err); // what cannot be written holds all the same
    }
    pons_each(rule, j.rules) {
        pons_verdict_refuse(v, "workspace", pons_get_str(rule, "rule", ""),
                            pons_get_str(rule, "message", ""));
    }
    pons_ws_judgement_clear(&j);
}

static int judge_by_body(model_access *d, const pons__ws_call *call, pons_verdict *v,
                         pons_error *err)
{
    pons_autoverdict body = NULL;
    if (!d->o.judge || call->code || call->errand || call->at_once) {
        return PONS_OK;
    }
    const int rc = d->o.judge(d->o.user, call->skill, call->args, &body, err);
    if (rc == PONS_ENOTFOUND) { // who does it judges it
        *err = (pons_error)PONS_ERROR_INIT;
        return PONS_OK;
    }
    return rc < 0 ? rc : pons_verdict_add(v, body);
}

int pons__model_access_judge_proposal(model_access *d, const pons_value *args, pons_verdict *v,
                                      pons_error *err)
{
    pons_autovalue status = pons__model_access_status(d);
    pons__ws_call call;
    judge_by_files(d, pons_get_str(args, "action_type", ""), pons_get(args, "params"), status, v);
    pons__model_access_call(d, args, status, &call);
    if (call.code) {
        pons_verdict_refuse(v, "workspace", call.code, call.what);
    }
    const int rc = judge_by_body(d, &call, v, err);
    pons_value_unref(call.args);
    return rc;
}

int pons_ws_model_access_judge(void *self, const char *tool, const pons_value *args,
                               pons_verdict *v, pons_error *err)
{
    model_access *d = self;
    int rc = pons__model_access_open_place(d, err);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(tool, PONS_WS_PROPOSE) == 0) { // where nobody does it, its start says so
        rc = pons__model_access_served(d) ? pons__model_access_judge_proposal(d, args, v, err)
                                          : PONS_OK;
    } else {
        pons_autovalue status = pons__model_access_status(d);
        pons_autovalue params = NULL;
        const char *type = NULL;
        pons__ws_action_of(tool, args, &type, &params);
        judge_by_files(d, type, params, status, v);
    }
    pons__model_access_pace(d);
    return rc;
}
