// cmd_status.c - `pons status`: what is, read from the store and from the body.
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#define OBSERVE_TIMEOUT_MS 500

static void print_status(const pons_value *s);

int cmd_status(cli *c)
{
    const int parsed = cli_parse(c, cli_find("status"), NULL);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return cli_bad("status takes one thread");
    }
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    char thread[PONS_NAME_MAX];
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    pons_autovalue status = NULL;
    int rc = cli_workspace(c, false, &err);
    rc = rc < 0 ? rc : cli_store(c, &store, &err);
    if (rc >= 0) {
        rc = c->argc ? snprintf(thread, sizeof thread, "%s", c->argv[0])
                     : cli_latest_thread(store, thread, &err);
    }
    if (rc >= 0) {
        cli_observe(c, OBSERVE_TIMEOUT_MS, &hello, &telemetry);
        rc = pons_status_read(store, thread, telemetry, hello, &status, &err);
    }
    pons_store_close(&store);
    if (rc < 0) {
        return cli_fail(&err);
    }
    if (c->json) {
        cli_print_json(status);
    } else {
        print_status(status);
    }
    return EXIT_DONE;
}

static void print_status(const pons_value *s)
{
    const pons_value *pose = pons_get(s, "pose"), *stop = pons_get(s, "stop");
    const pons_value *task = pons_get(s, "active_task"), *decision = pons_get(s, "decision");
    const pons_value *failure = pons_get(s, "last_failure");
    printf("thread    %s\n", pons_get_str(s, "thread", ""));
    printf("mode      %s (%s)%s\n", pons_get_str(s, "mode", ""), pons_get_str(s, "mode_reason", ""),
           pons_get_bool(s, "paused", false) ? ", paused" : "");
    if (json_is_object(pose)) {
        printf("robot     %.2f, %.2f m, %.0f°, %s; battery %.0f%% %s\n",
               pons_get_num(pose, "x", 0.0), pons_get_num(pose, "y", 0.0),
               pons_get_num(pose, "yaw", 0.0) * 180.0 / M_PI, pons_get_str(s, "zone", "no zone"),
               pons_get_num(s, "battery_pct", 0.0), pons_get_str(s, "battery_state", ""));
    } else {
        printf("robot     no body answers\n");
    }
    if (pons_get_bool(stop, "latched", false)) {
        printf("stop      latched: %s\n", pons_get_str(stop, "reason", ""));
    }
    printf("task      %s\n", json_is_object(task) ? pons_get_str(task, "text", "") : "none");
    size_t i;
    json_t *item;
    json_array_foreach(pons_get(s, "queue"), i, item)
    {
        printf("  queue   %lld  %s\n", (long long)pons_get_int(item, "priority", 0),
               pons_get_str(item, "text", ""));
    }
    json_array_foreach(pons_get(s, "skills"), i, item)
    {
        printf("skill     %s  goal %.8s  time-out %.0f s\n", pons_get_str(item, "skill", ""),
               pons_get_str(item, "goal_id", ""), pons_get_num(item, "timeout_s", 0.0));
    }
    if (json_is_object(decision)) {
        printf("decision  %lld: %s. %s\n", (long long)pons_get_int(s, "iter", 0),
               pons_get_str(decision, "type", ""), pons_get_str(decision, "reason", ""));
    }
    if (json_is_object(failure)) {
        printf("failure   %s %s %lld: %s; %s\n", pons_get_str(failure, "skill", ""),
               pons_get_str(failure, "status", ""),
               (long long)pons_get_int(failure, "error_code", 0),
               pons_get_str(failure, "error_msg", ""), pons_get_str(failure, "recovery", ""));
    }
    json_array_foreach(pons_get(s, "approvals"), i, item)
    {
        printf("asks      %s  (pons approve %s …)\n", pons_get_str(item, "question", ""),
               pons_get_str(s, "thread", ""));
    }
}
