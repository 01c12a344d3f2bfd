// cmd_run.c - `pons run` and `pons resume`.
#include "cli/agent_cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_DEFAULT_S 60.0

static int check_goals(const pons_policy *policy, const char *world, bool model, char *const *goals,
                       int n);
static int wait_option(const char *text, int64_t *ret_ms);
static void close_model(pons_llm *model);
static int read_plan(cli *c, const char *path, const char *world, pons_plan **ret);
static int run_options(pons_store store, const char *thread, pons_value **ret_started,
                       pons_value **ret_done, pons_error *err);

int cmd_run(cli *c)
{
    const char *thread = NULL, *world = "house", *driver = "mujoco", *llm = NULL,
               *speed_text = NULL, *seed_text = NULL, *stream = NULL, *kernel = NULL, *step = NULL,
               *wait_text = NULL, *plan_path = NULL;
    const cli_option options[] = {
        {"--thread", "ID", "use (or make) this thread; default: a new one", &thread},
        {"--world", "NAME", "a world of worlds/, or a path; default house", &world},
        {"--driver", "NAME", "mujoco (default) or kinematic", &driver},
        {"--llm", "SPEC",
         "URL, rules, script:FILE, record:FILE:URL or replay:FILE; default: the environment's "
         "model, else rules",
         &llm},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1", &speed_text},
        {"--seed", "N", "of everything random; default: from the system", &seed_text},
        {"--plan", "FILE", "pursue a plan instead of goals; - is standard input", &plan_path},
        {"--stream", "MODE,…",
         "also what the inner loop streams: values, updates, messages, custom, tasks, checkpoints, "
         "debug",
         &stream},
        {"--stream-kernel", NULL, "and the kernel's ticks, ten a second", &kernel},
        {"--step", NULL, "hold the inner loop before each superstep: Enter goes on", &step},
        {"--wait", "S",
         "exit 4 when a stop or a pause has held all up for so long; 0: never; default 60 without "
         "a "
         "terminal",
         &wait_text},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, cli_find("run"), options);
    if (parsed >= 0) {
        return parsed;
    }
    double speed = 1.0, seed = 0.0;
    int bad = speed_text ? cli_number(speed_text, "--speed", 0.1, 100.0, &speed) : -1;
    bad = bad < 0 && seed_text ? cli_number(seed_text, "--seed", 0.0, 9007199254740991.0, &seed)
                               : bad;
    pons_error err = PONS_ERROR_INIT;
    if (bad < 0 && thread && cli_thread_name(thread, &err) < 0) {
        bad = cli_fail(&err);
    }
    uint32_t modes = 0;
    int64_t wait_ms = 0;
    bad = bad < 0 && stream ? cli_modes(stream, &modes) : bad;
    bad = bad < 0 ? wait_option(wait_text, &wait_ms) : bad;
    if (bad < 0 && kernel && !stream) {
        bad = cli_bad("--stream-kernel goes with --stream");
    }
    if (bad < 0 && step && c->argc == 0 && !plan_path) {
        bad = cli_bad("--step needs a goal: what is typed in says when to go on");
    }
    if (bad < 0 && plan_path && c->argc > 0) {
        bad = cli_bad("run takes goals or --plan FILE, not both");
    }
    const pons_clock clock = pons_clock_real();
    pons_llm model = {0};
    if (bad < 0 && llm && cli_llm(llm, &clock, &model, &err) < 0) {
        return cli_fail(&err);
    }
    const bool has_model =
        model.ops || (!llm && (getenv("PONS_LLM_URL") || getenv("OPENAI_BASE_URL")));
    pons_policy policy = {0};
    if (bad < 0 && cli_policy(c, &policy, &err) < 0) {
        bad = cli_fail(&err);
    }
    bad = bad < 0 ? check_goals(&policy, world, has_model, c->argv, c->argc) : bad;
    pons_plan *plan = NULL;
    if (bad < 0 && plan_path) {
        bad = read_plan(c, plan_path, world, &plan);
    }
    // A name that nobody knows is found out here; the physics library is the body's to load.
    const pons_robot_ops *robot = NULL;
    if (bad < 0 && strcmp(driver, "mujoco") != 0 && cli_driver(driver, &robot, &err) < 0) {
        bad = cli_fail(&err);
    }
    if (bad < 0 && cli_workspace(c, true, &err) < 0) {
        bad = cli_fail(&err);
    }
    if (bad >= 0) {
        pons_rules_close(&policy);
        close_model(&model);
        pons_plan_destroy(plan);
        return bad;
    }
    char id[PONS_NAME_MAX];
    if (thread) {
        snprintf(id, sizeof id, "%s", thread);
    } else {
        cli_new_thread(id);
    }
    const cli_session_options o = {.thread = id,
                                   .policy = &policy,
                                   .world = world,
                                   .driver = driver,
                                   .llm = llm,
                                   .speed = speed,
                                   .seed = (uint64_t)seed,
                                   .goals = (const char *const *)c->argv,
                                   .n_goals = (size_t)c->argc,
                                   .plan = plan,
                                   .prompt = c->argc == 0 && !plan,
                                   .opened = model.ops ? &model : NULL,
                                   .stream = modes,
                                   .stream_kernel = kernel != NULL,
                                   .step = step != NULL,
                                   .wait_ms = wait_ms};
    if (o.prompt && isatty(STDIN_FILENO) && !c->json) {
        printf("thread %s. Say a goal (\"go to the kitchen\", \"去厨房\"), or stop, pause, "
               "continue, approve, "
               "status, quit.\n",
               id);
    }
    const int status = cli_session_run(c, &o);
    pons_rules_close(&policy);
    close_model(&model);
    pons_plan_destroy(plan);
    return status;
}

// A plan is held against the world before anything is made, as goals are.
static int read_plan(cli *c, const char *path, const char *world, pons_plan **ret)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autoverdict verdict = NULL;
    const int read = cli_plan_read(path, NULL, false, ret);
    if (read != EXIT_DONE) {
        return read;
    }
    if ((*ret)->n_steps > 0 && pons_plan_is_finished(*ret)) {
        return cli_bad("plan: all its steps are settled: there is nothing to do");
    }
    if (cli_plan_judge(c, *ret, world, NULL, &verdict, &err) < 0) {
        return cli_fail(&err);
    }
    cli_plan_verdict(verdict);
    return pons_verdict_ok(verdict) ? -1 : cli_bad("plan: refused; nothing was done");
}

static void close_model(pons_llm *model)
{
    if (model->ops) {
        model->ops->close(model->self);
    }
}

// Who sits at a terminal lifts a stop when it is time; a script must learn that nobody does.
static int wait_option(const char *text, int64_t *ret_ms)
{
    double s = isatty(STDIN_FILENO) ? 0.0 : WAIT_DEFAULT_S;
    const int bad = text ? cli_number(text, "--wait", 0.0, 1e9, &s) : -1;
    *ret_ms = (int64_t)(s * 1e3);
    return bad;
}

static int saw_mail(void *user, const pons_inbox_row *row)
{
    (void)row;
    *(bool *)user = true;
    return 1;
}

int cmd_resume(cli *c)
{
    const char *llm = NULL, *stream = NULL, *kernel = NULL, *step = NULL, *wait_text = NULL;
    uint32_t modes = 0;
    int64_t wait_ms = 0;
    const cli_option options[] = {
        {"--llm", "SPEC", "URL, rules, script:FILE, record:FILE:URL or replay:FILE", &llm},
        {"--stream", "MODE,…", "as for run", &stream},
        {"--stream-kernel", NULL, "as for run", &kernel},
        {"--step", NULL, "hold the inner loop before each superstep: Enter goes on", &step},
        {"--wait", "S", "as for run", &wait_text},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, cli_find("resume"), options);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return cli_bad("resume takes one thread");
    }
    int bad = stream ? cli_modes(stream, &modes) : -1;
    bad = bad < 0 ? wait_option(wait_text, &wait_ms) : bad;
    if (bad >= 0) {
        return bad;
    }
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    pons_autovalue started = NULL;
    pons_autovalue done = NULL;
    char id[PONS_NAME_MAX];
    int rc = cli_workspace(c, false, &err);
    rc = rc < 0 ? rc : cli_store(c, &store, &err);
    if (rc >= 0) {
        rc = c->argc ? snprintf(id, sizeof id, "%s", c->argv[0])
                     : cli_latest_of_any(store, id, &err);
        if (rc >= 0 && pons_agent_thread_is(store, id)) {
            pons_store_close(&store);
            return cli_agent_resume(c, id, llm);
        }
        if (rc >= 0 && cli_graph_of(store, id)) {
            rc = pons_error_set(&err, PONS_EINVAL, "threads",
                                "thread %s is a graph's: `pons graph resume %s`", id, id);
        }
        rc = rc < 0 ? rc : run_options(store, id, &started, &done, &err);
    }
    bool mail = false; // words that came after the end are work
    if (rc >= 0) {
        rc = store.ops->inbox_read(store.self, id, "kernel", 0, saw_mail, &mail, &err);
    }
    if (rc < 0) {
        pons_store_close(&store);
        return cli_fail(&err);
    }
    pons_store_close(&store);
    const char *status = pons_get_str(done, "status", "waiting");
    if (done && !mail && strcmp(status, "waiting") != 0) { // finished: say so again
        cli_display *d = cli_display_create(c, false);
        pons_autovalue payload = json_copy(done);
        const pons_event ev = {.seq = pons_get_int(done, "seq", 0),
                               .thread = id,
                               .ns = "kernel",
                               .ts_ms = pons_get_int(done, "ts_ms", 0),
                               .type = "run.done",
                               .payload = payload};
        json_object_del(payload, "seq");
        json_object_del(payload, "ts_ms");
        cli_display_event(d, &ev);
        cli_display_destroy(d);
        return strcmp(status, "succeeded") == 0 ? EXIT_DONE : EXIT_NO_SUCCESS;
    }
    const pons_value *about = pons_get(started, "options");
    const cli_session_options o = {.thread = id,
                                   .world = pons_get_str(about, "world", "house"),
                                   .driver = pons_get_str(about, "driver", "mujoco"),
                                   .llm = llm,
                                   .speed = pons_get_num(about, "speed", 1.0),
                                   .seed = (uint64_t)pons_get_int(about, "seed", 0),
                                   .stream = modes,
                                   .stream_kernel = kernel != NULL,
                                   .step = step != NULL,
                                   .wait_ms = wait_ms};
    return cli_session_run(c, &o);
}

// A goal is held against the world before anything is made: an unknown zone is bad input. What the
// rules do not understand is the model's to understand, when there is one.
static int check_goals(const pons_policy *policy, const char *world_name, bool model,
                       char *const *goals, int n)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    for (int i = 0; i < n; i++) {
        if (goals[i][strspn(goals[i], " \t\r\n")] == '\0') {
            return cli_bad("goal %d is empty", i + 1);
        }
    }
    if (cli_world(world_name, &world, &err) < 0) {
        return cli_fail(&err);
    }
    int status = -1;
    for (int i = 0; i < n && status < 0; i++) {
        pons_autovalue parsed = NULL;
        const int rc = policy->ops->parse(policy->self, goals[i], world, &parsed, &err);
        if (rc < 0 && (!model || strncmp(err.message, "unknown", strlen("unknown")) == 0)) {
            status = cli_fail(&err);
        } else if (rc >= 0 && json_is_string(pons_get(parsed, "control"))) {
            status =
                cli_bad("goal %d, '%s', is a control word: `pons %s` says it to a running brain",
                        i + 1, goals[i], pons_get_str(parsed, "control", "say"));
        }
    }
    return status;
}

typedef struct scan {
    pons_value *started, *done;
} scan;

static int scan_event(void *user, const pons_event_row *row)
{
    scan *s = user;
    const bool started = strcmp(row->type, "run.started") == 0;
    const bool done = strcmp(row->type, "run.done") == 0;
    pons_value *payload = NULL;
    if ((started || done) &&
        pons_value_parse(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        json_object_set_new(payload, "seq", json_integer(row->seq));
        json_object_set_new(payload, "ts_ms", json_integer(row->ts_ms));
        pons_value_unref(s->done);
        s->done = done ? payload : NULL; // a run that began later is not done
        if (started) {
            pons_value_unref(s->started);
            s->started = payload;
        }
    }
    return 0;
}

// What the newest run was started with, and its run.done when it has one.
static int run_options(pons_store store, const char *thread, pons_value **ret_started,
                       pons_value **ret_done, pons_error *err)
{
    scan s = {0};
    const int rc = store.ops->events(store.self, thread, 0, 0, scan_event, &s, err);
    *ret_started = s.started;
    *ret_done = s.done;
    if (rc < 0) {
        return rc;
    }
    if (!s.started && !s.done) {
        int64_t last = 0;
        const int known = store.ops->event_last(store.self, thread, &last, err);
        if (known < 0 || last == 0) {
            return pons_error_set(err, PONS_ENOTFOUND, "threads",
                                  "there is no thread %s with a run to resume", thread);
        }
    }
    return PONS_OK;
}
