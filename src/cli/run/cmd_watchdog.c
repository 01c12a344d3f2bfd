// cmd_watchdog.c - `pons watchdog hal` and `pons watchdog runtime` (app/watchdog/): what is done, a line each; and what the
// latter starts to speak with a server of a policy.
#include "app/policies/policies.h"
#include "app/watchdog/watchdog.h"
#include "cli/cli.h"

#include <string.h>

static void show_action(void *user, const char *id, const char *status, const pons_value *action)
{
    const cli *c = user;
    const pons_value *error = pons_get(action, "error");
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("action"), "id", json_string(id), "status",
                        json_string(status), "error", pons_optional(error), NULL);
        cli_print_json(row);
    } else {
        cli_out("%s  %s %s%s%s\n", id, pons_get_str(action, "action_type", ""), status,
                error ? ": " : "", error ? pons_get_str(error, "message", "") : "");
    }
    cli_flush();
}

static void show_session(void *user, const char *id, const char *status, const pons_value *record)
{
    const cli *c = user;
    const pons_value *error = pons_get(record, "error");
    if (c->json) {
        pons_autovalue row = pons_object(
            "type", json_string("session"), "id", json_string(id), "status", json_string(status),
            "target", pons_optional(pons_get(record, "target_ref")), "skill",
            pons_optional(pons_get(record, "skill_ref")), "error", pons_optional(error), NULL);
        cli_print_json(row);
    } else {
        cli_out("%s  %s %s%s%s%s%s\n", id, pons_get_str(record, "skill_ref", ""), status,
                error ? ": " : "", error ? pons_get_str(error, "code", "") : "", error ? " " : "",
                error ? pons_get_str(error, "message", "") : "");
    }
    cli_flush();
}

static void show_pruned(void *user, int64_t sessions, int64_t failed)
{
    const cli *c = user;
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("sessions.pruned"), "sessions", json_integer(sessions),
                        "failed", json_integer(failed), NULL);
        cli_print_json(row);
    } else {
        cli_out(
            "%lld sessions that ended long ago are gone from the store, %lld of them had failed\n",
            (long long)(sessions + failed), (long long)failed);
    }
    cli_flush();
}

int cmd_watchdog(cli *c, pons_error *err)
{
    const char *once = NULL;
    double seed_number = 1.0;
    app_watchdog_options o = {.speed = 1.0, .ended = &cli_ended, .pruned = show_pruned, .user = c};
    const cli_option options[] = {
        {"--once", NULL, "end when nothing is pending", &once},
        {"--robot", "ID", "hal: this robot's actions, and those of none; runtime: this target's",
         &o.only},
        CLI_ROBOT_OPTIONS(c),
        {"--speed", "X", "of a body that has to be started: robot seconds in a second",
         CLI_NUMBER(&o.speed, 0.01, 1000.0)},
        {"--seed", "N", "of a body that has to be started; default 1",
         CLI_NUMBER(&seed_number, 0, 1e15)},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc == 2 && strcmp(c->argv[0], "policy") == 0) {
        return app_policy_process(c->argv[1], stdin, stdout, err);
    }
    const bool sessions = c->argc == 1 && strcmp(c->argv[0], "runtime") == 0;
    if (c->argc != 1 || (!sessions && strcmp(c->argv[0], "hal") != 0)) {
        return app_bad(err, "watchdog: use `pons watchdog hal` or `pons watchdog runtime`");
    }
    const int rc = app_workspace(&c->app, false, err);
    if (rc < 0) {
        return rc;
    }
    o.once = once != NULL;
    o.seed = (uint64_t)seed_number;
    o.record = sessions ? show_session : show_action;
    cli_end_on_signals(SA_RESTART);
    return sessions ? app_sessions_run(&c->app, &o, err) : app_actions_run(&c->app, &o, err);
}
