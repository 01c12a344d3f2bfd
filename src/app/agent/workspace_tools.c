// workspace_tools.c - the files of a workspace that was onboarded, for a model: what it may read and propose, and that what it asks of the
// body is held against them too.
#include "app/agent/agent_setup.h"
#include "app/sight/sight.h"
#include "app/workspace/onboarded_workspace.h"

#include <string.h>

static bool served(void *user)
{
    const app_workspace_tools *d = user;
    return app_hal_served(d->c);
}

static pons_value *status(void *user)
{
    const app_workspace_tools *d = user;
    return pons_robot_tools_status(d->robot.self);
}

static int judge_skill(void *user, const char *skill, const pons_value *args, pons_verdict **ret,
                       pons_error *err)
{
    const app_workspace_tools *d = user;
    return pons_robot_tools_judge(d->robot.self, skill, args, NULL, ret, err);
}

static bool seen(void *user, const char *what, char *line, size_t cap)
{
    app_workspace_tools *d = user;
    return app_seen(d->c, &d->memory, what, NULL, -1, line, cap);
}

int app_workspace_tools_open(const app_context *c, const pons_clock *clock, const char *who,
                             const pons_tools *robot, app_workspace_tools *ret, pons_error *err)
{
    pons_autovalue config = NULL;
    *ret = (app_workspace_tools){.c = c, .robot = *robot};
    if (!app_onboarded(c)) {
        return PONS_OK;
    }
    pons_ws_model_access_options o = {.dir = c->workspace,
                                      .who = who,
                                      .clock = *clock,
                                      .robot = *robot,
                                      .served = served,
                                      .status = status,
                                      .judge = judge_skill,
                                      .seen = seen,
                                      .user = ret};
    const int rc = app_workspace_config(c, &config, &o.dialect, err);
    o.robot_id = pons_get_str(pons_get(config, "robot"), "id", NULL);
    return rc < 0 ? rc : pons_ws_model_access_open(&o, &ret->tools, err);
}

int app_workspace_tools_judge(void *user, const char *tool, const pons_value *args,
                              const pons_plan_step *step, pons_verdict **ret, pons_error *err)
{
    const app_workspace_tools *d = user;
    if (!tool || strcmp(tool, PONS_WS_PROPOSE) != 0) {
        const int rc = pons_robot_tools_judge(d->robot.self, tool, args, step, ret, err);
        if (rc < 0 || !tool || !d->tools.ops) {
            return rc; // a step is judged again as the calls that it makes
        }
    } else if (!d->tools.ops) {
        return pons_error_set(err, PONS_ENOTFOUND, "agent", "there is no tool %s", tool);
    } else {
        *ret = pons_verdict_create();
    }
    const int rc = *ret ? pons_ws_model_access_judge(d->tools.self, tool, args, *ret, err)
                        : pons_error_set(err, PONS_ENOMEM, "agent", "no memory for a judgement");
    if (rc < 0) {
        pons_verdict_destroy(*ret);
        *ret = NULL;
    }
    return rc;
}
