// cmd_status.c - `pons status` and `pons threads`: what is, read from the store and from the body.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OBSERVE_TIMEOUT_MS 500
#define HISTORY_ROWS       50

static void print_status(const pons_value *s);
static int list_threads(cli *c, pons_store store, pons_error *err);
static int prune_thread(cli *c, pons_store store, const char *thread, int64_t keep,
                        pons_error *err);
static int show_thread(cli *c, pons_store store, const char *thread, pons_error *err);
static int show_history(cli *c, pons_store store, const char *thread, pons_error *err);

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

int cmd_threads(cli *c)
{
    const char *keep_text = NULL;
    const cli_option options[] = {
        {"--keep", "N", "prune: checkpoints of each namespace that stay; default 1", &keep_text},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("threads"), options);
    if (parsed >= 0) {
        return parsed;
    }
    double keep = 1.0;
    const int bad = keep_text ? cli_number(keep_text, "--keep", 1.0, 1e9, &keep) : -1;
    if (bad >= 0) {
        return bad;
    }
    const char *verb = c->argc ? c->argv[0] : "list";
    const bool list = strcmp(verb, "list") == 0;
    const bool show = strcmp(verb, "show") == 0, history = strcmp(verb, "history") == 0;
    const bool rm = strcmp(verb, "rm") == 0, prune = strcmp(verb, "prune") == 0;
    const bool copy = strcmp(verb, "copy") == 0;
    if (!list && !show && !history && !rm && !prune && !copy) {
        return cli_bad("threads: there is no '%s'; use list, show, history, prune, copy or rm",
                       verb);
    }
    if (copy && c->argc != 3) {
        return cli_bad("threads copy takes a thread and the name of its copy");
    }
    if (!list && !copy && c->argc != 2) {
        return cli_bad("threads %s takes one thread", verb);
    }
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    int rc = cli_workspace(c, false, &err);
    rc = rc < 0 ? rc : cli_store(c, &store, &err);
    if (rc >= 0) {
        rc = list      ? list_threads(c, store, &err)
             : show    ? show_thread(c, store, c->argv[1], &err)
             : history ? show_history(c, store, c->argv[1], &err)
             : prune   ? prune_thread(c, store, c->argv[1], (int64_t)keep, &err)
             : copy    ? pons_state_copy(store, c->argv[1], c->argv[2], &err)
                       : store.ops->thread_delete(store.self, c->argv[1], &err);
    }
    pons_store_close(&store);
    return rc < 0 ? cli_fail(&err) : EXIT_DONE;
}

static int print_thread(void *user, const pons_thread_info *info)
{
    const cli *c = user;
    if (c->json) {
        pons_autovalue row = pons_object(
            "thread", json_string(info->thread), "created_ms", json_integer(info->created_ms),
            "updated_ms", json_integer(info->updated_ms), "checkpoints",
            json_integer(info->checkpoints), "events", json_integer(info->events), "bytes",
            json_integer(info->bytes), "holder_pid", json_integer(info->holder_pid), NULL);
        cli_print_json(row);
        return 0;
    }
    char when[32] = "";
    const time_t seconds = info->updated_ms / 1000;
    struct tm tm;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &tm));
    printf("%-20s %s  %6lld checkpoints %6lld events %8.1f kB  ", info->thread, when,
           (long long)info->checkpoints, (long long)info->events, (double)info->bytes / 1e3);
    if (info->holder_pid) {
        printf("held by %lld\n", (long long)info->holder_pid);
    } else {
        puts("free");
    }
    return 0;
}

static int list_threads(cli *c, pons_store store, pons_error *err)
{
    return store.ops->threads(store.self, print_thread, c, err);
}

// Old checkpoints go; events, effects and messages stay.
static int prune_thread(cli *c, pons_store store, const char *thread, int64_t keep, pons_error *err)
{
    int64_t removed = 0;
    const int rc = pons_state_prune(store, thread, keep, 0, &removed, err);
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        pons_autovalue row =
            pons_object("thread", json_string(thread), "removed", json_integer(removed), NULL);
        cli_print_json(row);
    } else {
        printf("%lld checkpoints removed from %s\n", (long long)removed, thread);
    }
    return PONS_OK;
}

static int show_thread(cli *c, pons_store store, const char *thread, pons_error *err)
{
    static const char *const namespaces[] = {"kernel", "react"};
    pons_autovalue out = json_object();
    (void)c;
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
        pons_value *state = NULL;
        const int rc = pons_state_read(store, thread, namespaces[i], &state, err);
        if (rc >= 0) {
            json_object_set_new(out, namespaces[i], state);
        } else if (rc != PONS_ENOTFOUND) {
            return rc;
        }
    }
    if (json_object_size(out) == 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "threads", "there is no thread %s", thread);
    }
    cli_print_json(out);
    return PONS_OK;
}

static int show_history(cli *c, pons_store store, const char *thread, pons_error *err)
{
    static const char *const namespaces[] = {"kernel", "react"};
    bool any = false;
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
        pons_autovalue list = NULL;
        const int rc =
            pons_state_history(store, thread, namespaces[i], HISTORY_ROWS, false, &list, err);
        if (rc < 0 && rc != PONS_ENOTFOUND) {
            return rc;
        }
        size_t k;
        json_t *row;
        json_array_foreach(list, k, row)
        {
            any = true;
            if (c->json) {
                pons_autovalue out = json_copy(row);
                json_object_set_new(out, "ns", json_string(namespaces[i]));
                cli_print_json(out);
                continue;
            }
            const pons_value *next = pons_get(row, "next");
            printf("%-7s %5lld  %-26s %-7s →", namespaces[i],
                   (long long)pons_get_int(row, "step", 0), pons_get_str(row, "checkpoint_id", ""),
                   pons_get_str(row, "source", ""));
            size_t m;
            json_t *name;
            json_array_foreach(next, m, name)
            {
                printf(" %s", json_string_value(name));
            }
            puts(json_array_size(next) ? "" : " end");
        }
    }
    if (!any) {
        return pons_error_set(err, PONS_ENOTFOUND, "threads", "there is no thread %s", thread);
    }
    return PONS_OK;
}
