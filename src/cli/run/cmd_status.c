// cmd_status.c - `pons status`: what is, read from the store and from the body.
#include "app/notify/secret_filter.h"
#include "app/workspace/which_robot.h"
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#define OBSERVE_TIMEOUT_MS 500

void cli_why_still(const pons_value *s, pons_buf *ret)
{
    const pons_value *stop = pons_get(s, "stop");
    const char *mode = pons_get_str(s, "mode", "");
    if (pons_get_bool(stop, "latched", false)) {
        pons_buf_printf(ret,
                        "a protective stop is latched (%s): `pons reset`, then `pons continue`",
                        pons_get_str(stop, "reason", ""));
    } else if (json_is_object(pons_get(s, "stopped"))) {
        pons_buf_printf(ret, "tasks were stopped, and wait: `pons continue`");
    } else if (pons_get_bool(s, "paused", false)) {
        pons_buf_printf(ret, "it is paused: `pons continue`");
    } else if (json_array_size(pons_get(s, "approvals")) > 0) {
        pons_buf_printf(ret, "it waits for an answer: `pons approve %s`",
                        pons_get_str(s, "thread", ""));
    } else if (strcmp(mode, "CHARGE") == 0) {
        pons_buf_printf(ret, "it charges first, and then goes on by itself");
    } else if (strcmp(mode, "SAFE") == 0) {
        pons_buf_printf(ret, "it is not safe to move (%s)", pons_get_str(s, "mode_reason", ""));
    }
}

// How it stands, in one sentence.
static void print_sentence(const pons_value *s)
{
    pons_autobuf why = PONS_BUF_INIT;
    const char *thread = pons_get_str(s, "thread", "");
    const pons_value *task = pons_get(s, "active_task");
    const size_t waiting =
        json_array_size(pons_get(s, "queue")) + json_array_size(pons_get(s, "unheard"));
    const bool brain = !json_is_false(pons_get(s, "brain"));
    cli_why_still(s, &why);
    if (!brain && waiting > 0) {
        cli_out("No brain of %s runs, so nothing moves; %zu task(s) wait: `pons resume %s`.\n",
                thread, waiting, thread);
    } else if (!brain) {
        cli_out("No brain runs, and nothing waits: `pons run \"go to the kitchen\"`.\n");
    } else if (!json_is_object(pons_get(s, "pose"))) {
        cli_out("The brain of %s runs, and no robot answers it.\n", thread);
    } else if (why.len > 0) {
        cli_out("The robot stands: %-s.\n", why.data);
    } else if (json_is_object(task)) {
        cli_out("It is at work on %s: %s.\n", pons_get_str(task, "id", ""),
                pons_get_str(task, "text", ""));
    } else {
        cli_out("It is ready, and has nothing to do: `pons say \"go to the kitchen\"`.\n");
    }
}

static void print_robot(const pons_value *s)
{
    const pons_value *pose = pons_get(s, "pose"), *stop = pons_get(s, "stop");
    const int64_t pace = pons_get_int(s, "pace_percent", 100);
    if (json_is_object(pose)) {
        cli_out("robot     %.2f, %.2f m, %.0f°, %s; battery %.0f%% %s\n",
                pons_get_num(pose, "x", 0.0), pons_get_num(pose, "y", 0.0),
                pons_get_num(pose, "yaw", 0.0) * 180.0 / M_PI, pons_get_str(s, "zone", "no zone"),
                pons_get_num(s, "battery_pct", 0.0), pons_get_str(s, "battery_state", ""));
    } else {
        cli_out("robot     no body answers\n");
    }
    if (pace < 100) {
        cli_out("pace      %lld %% of its speed (`pons pace normal`)\n", (long long)pace);
    }
    if (pons_get_bool(stop, "latched", false)) {
        cli_out("stop      latched: %-s\n", pons_get_str(stop, "reason", ""));
    }
    if (json_is_object(pons_get(s, "stopped"))) {
        cli_out("          tasks wait for `pons reset` and `pons continue`\n");
    }
}

static void print_task(const pons_value *s)
{
    const pons_value *task = pons_get(s, "active_task"), *ladder = pons_get(s, "ladder");
    cli_out("task      %s\n", json_is_object(task) ? pons_get_str(task, "text", "") : "none");
    if (json_is_object(ladder)) {
        cli_out("ladder    %s; %lld tries and %lld decisions left%s%-s\n",
                pons_get_str(ladder, "step", ""), (long long)pons_get_int(ladder, "tries_left", 0),
                (long long)pons_get_int(ladder, "decisions_left", 0),
                *pons_get_str(ladder, "why", "") ? "; " : "", pons_get_str(ladder, "why", ""));
    }
    pons_each(item, pons_get(s, "queue")) {
        cli_out("  queue   %lld  %s  %s\n", (long long)pons_get_int(item, "priority", 0),
                pons_get_str(item, "id", ""), pons_get_str(item, "text", ""));
    }
    pons_each(item, pons_get(s, "unheard")) {
        cli_out("  kept    %s\n", json_string_value(item));
    }
    pons_each(item, pons_get(s, "skills")) {
        cli_out("skill     %s  goal %.8s  time-out %.0f s\n", pons_get_str(item, "skill", ""),
                pons_get_str(item, "goal_id", ""), pons_get_num(item, "timeout_s", 0.0));
    }
}

void cli_status_show(const pons_value *s)
{
    const pons_value *decision = pons_get(s, "decision"), *failure = pons_get(s, "last_failure");
    const pons_value *body = pons_get(s, "body");
    print_sentence(s);
    cli_out("thread    %s\n", pons_get_str(s, "thread", "none"));
    if (json_is_string(pons_get(body, "driver"))) {
        char line[256];
        cli_out("body      %-s\n", app_robot_line(body, line, sizeof line));
    }
    cli_out("mode      %s (%-s)%-s\n", pons_get_str(s, "mode", ""),
            pons_get_str(s, "mode_reason", ""),
            pons_get_bool(s, "paused", false) ? ", paused" : "");
    print_robot(s);
    print_task(s);
    const bool asks = json_array_size(pons_get(s, "approvals")) > 0 &&
                      strcmp(pons_get_str(decision, "type", ""), "ASK_HUMAN") == 0;
    if (json_is_object(decision)) { // the question, below, is why it asks
        cli_out(asks ? "decision  %lld: %s%-s\n" : "decision  %lld: %s. %-s\n",
                (long long)pons_get_int(s, "iter", 0), pons_get_str(decision, "type", ""),
                asks ? "" : pons_get_str(decision, "reason", ""));
    }
    if (json_is_object(failure)) {
        cli_out("failure   %s %-s %lld: %-s; %-s\n", pons_get_str(failure, "skill", ""),
                pons_get_str(failure, "status", ""),
                (long long)pons_get_int(failure, "error_code", 0),
                pons_get_str(failure, "error_msg", ""), pons_get_str(failure, "recovery", ""));
    }
    pons_each(item, pons_get(s, "approvals")) {
        cli_out("asks      %s  (pons approve %s …)\n", pons_get_str(item, "question", ""),
                pons_get_str(s, "thread", ""));
    }
}

int cmd_status(cli *c, pons_error *err)
{
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return app_bad(err, "status takes one thread");
    }
    pons_store store = {0};
    pons_error none = PONS_ERROR_INIT;
    char thread[PONS_NAME_MAX];
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    pons_autovalue status = NULL;
    int rc = app_store_read(&c->app, &store, err);
    bool known = rc >= 0;
    if (rc >= 0) {
        app_observe(&c->app, OBSERVE_TIMEOUT_MS, &hello, &telemetry);
        rc = c->argc ? snprintf(thread, sizeof thread, "%s", c->argv[0])
                     : app_latest_thread(store, thread, err);
        known = rc >= 0;
        rc = rc == PONS_ENOTFOUND && telemetry ? PONS_OK : rc; // a body that has no thread yet
    }
    if (rc >= 0) {
        rc = pons_status_read(store, known ? thread : NULL, telemetry, hello, &status, err);
    }
    if (rc >= 0) {
        pons_lease holder = {0};
        const bool held = known && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
        json_object_set_new(status, "brain", json_boolean(held));
    }
    pons_store_close(&store);
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        cli_print_json(status);
    } else {
        pons_autovalue clean = app_value_without_secrets(status);
        cli_status_show(clean);
    }
    return PONS_OK;
}
