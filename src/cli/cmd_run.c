// cmd_run.c - `pons run` and `pons resume`.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREAD_ID_LENGTH 6

static int check_goals(const pons_policy *policy, const char *world, bool model, char *const *goals,
                       int n);
static int check_thread_name(const char *name);
static void new_thread(char ret[PONS_NAME_MAX]);
static int run_options(pons_store store, const char *thread, pons_value **ret_started,
                       pons_value **ret_done, pons_error *err);

int cmd_run(cli *c)
{
    const char *thread = NULL, *world = "house", *driver = "mujoco", *llm = NULL,
               *speed_text = NULL, *seed_text = NULL, *stream = NULL;
    const cli_option options[] = {
        {"--thread", "ID", "use (or make) this thread; default: a new one", &thread},
        {"--world", "NAME", "a world of worlds/, or a path; default house", &world},
        {"--driver", "NAME", "mujoco (default) or kinematic", &driver},
        {"--llm", "SPEC",
         "URL, rules, or script:FILE; default: the environment's model, else rules", &llm},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1", &speed_text},
        {"--seed", "N", "of everything random; default: from the system", &seed_text},
        {"--stream", "MODE", "updates (default)", &stream},
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
    bad = bad < 0 && thread ? check_thread_name(thread) : bad;
    if (bad < 0 && stream && strcmp(stream, "updates") != 0) {
        bad = cli_bad("--stream takes updates, not '%s'", stream);
    }
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    pons_llm model = {0};
    if (bad < 0 && llm && cli_llm(llm, &clock, &model, &err) < 0) {
        return cli_fail(&err);
    }
    const bool has_model =
        model.ops || (!llm && (getenv("PONS_LLM_URL") || getenv("OPENAI_BASE_URL")));
    if (model.ops) {
        model.ops->close(model.self);
    }
    pons_policy policy = {0};
    if (bad < 0 && cli_policy(c, &policy, &err) < 0) {
        return cli_fail(&err);
    }
    bad = bad < 0 ? check_goals(&policy, world, has_model, c->argv, c->argc) : bad;
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
        return bad;
    }
    char id[PONS_NAME_MAX];
    if (thread) {
        snprintf(id, sizeof id, "%s", thread);
    } else {
        new_thread(id);
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
                                   .prompt = c->argc == 0};
    if (o.prompt && isatty(STDIN_FILENO) && !c->json) {
        printf("thread %s. Say a goal (\"go to the kitchen\", \"去厨房\"), or stop, pause, "
               "continue, approve, "
               "status, quit.\n",
               id);
    }
    const int status = cli_session_run(c, &o);
    pons_rules_close(&policy);
    return status;
}

static int saw_mail(void *user, const pons_inbox_row *row)
{
    (void)row;
    *(bool *)user = true;
    return 1;
}

int cmd_resume(cli *c)
{
    const char *llm = NULL;
    const cli_option options[] = {
        {"--llm", "SPEC", "URL, rules, or script:FILE", &llm},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, cli_find("resume"), options);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return cli_bad("resume takes one thread");
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
                     : cli_latest_thread(store, id, &err);
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
                                   .seed = (uint64_t)pons_get_int(about, "seed", 0)};
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

static int check_thread_name(const char *name)
{
    const size_t n = strlen(name);
    pons_autovalue text = json_string(name);
    if (!text) {
        return cli_bad("--thread takes valid UTF-8");
    }
    if (n == 0 || n >= PONS_NAME_MAX) {
        return cli_bad("--thread takes 1 to %d bytes", PONS_NAME_MAX - 1);
    }
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == '/' || *p == 127) {
            return cli_bad("--thread '%s': no spaces, slashes or control characters", name);
        }
    }
    return -1;
}

static void new_thread(char ret[PONS_NAME_MAX])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    pons_rand r;
    pons_rand_seed_os(&r);
    char word[THREAD_ID_LENGTH + 1] = "";
    for (int i = 0; i < THREAD_ID_LENGTH; i++) {
        word[i] = letters[pons_rand_below(&r, sizeof letters - 1)];
    }
    snprintf(ret, PONS_NAME_MAX, "t-%s", word);
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
