// cmd_run.c - `pons run` and `pons resume`.
#include "app/pictures/pictures.h"
#include "app/sight/sight.h"
#include "app/workspace/which_robot.h"
#include "cli/agent/agent_cli.h"
#include "cli/run/places.h"
#include "cli/served.h"
#include "pons/brain_objects.h"
#include "pons/rule_policy.h"
#include "pons/yes_no.h"

#include <string.h>
#include <unistd.h>

#define WAIT_DEFAULT_S 60.0

typedef struct run_words { // the options of `pons run`, as they were typed; NULL: not given
    const char *thread, *skills, *llm, *plan, *stream, *kernel, *step, *priority, *deadline,
        *only_new, *record, *ros2, *errand;
    double speed, seed, wait_s;
    cli_server_words server;
} run_words;

typedef struct run_parts { // what is opened before a session is
    app_robot meant;
    pons_llm model;
    pons_policy policy;
    pons_plan *plan;
} run_parts;

// ---- run ----------------------------------------------------------------------------------------

// Who sits at a terminal lifts a stop when it is time; a script must learn that nobody does.
static double wait_usual_s(void)
{
    return isatty(STDIN_FILENO) ? 0.0 : WAIT_DEFAULT_S;
}

static int read_words(cli *c, run_words *w, pons_error *err)
{
    w->speed = 1.0;
    w->wait_s = wait_usual_s();
    const cli_option options[] = {
        {"--thread", "ID", "use (or make) this thread; default: a new one", &w->thread},
        {"--new", NULL, "end with 3 when the thread has been given goals before", &w->only_new},
        CLI_ROBOT_OPTIONS(c),
        {"--skills", "NAME,…", "the body that this starts has these too, of modules skill-NAME",
         &w->skills},
        {"--ros2", NULL, "the body that this starts is shown to ROS 2 (docs/reference/ros2.md)",
         &w->ros2},
        {"--llm", "SPEC",
         "URL, rules, script:FILE, record:FILE:URL or replay:FILE; default: the environment's "
         "model, else rules",
         &w->llm},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1",
         CLI_NUMBER(&w->speed, 0.1, 100.0)},
        {"--seed", "N", "of everything random; default: from the system",
         CLI_NUMBER(&w->seed, 0.0, 9007199254740991.0)},
        {"--plan", "FILE", "pursue a plan instead of goals; - is standard input", &w->plan},
        {"--stream", "MODE,…",
         "also what the inner loop streams: values, updates, messages, custom, tasks, checkpoints, "
         "debug",
         &w->stream},
        {"--stream-kernel", NULL, "and the kernel's ticks, ten a second", &w->kernel},
        {"--step", NULL, "hold the inner loop before each superstep: Enter goes on", &w->step},
        {"--wait", "S",
         "exit 4 when a stop or a pause has held all up for so long; 0: never; default 60 without "
         "a terminal",
         CLI_NUMBER(&w->wait_s, 0.0, 1e9)},
        {"--priority", "P", "of the goals: background, user, urgent, or a number", &w->priority},
        {"--deadline", "T",
         "the goals are over T from now, done or not: seconds, or with m or h behind it",
         &w->deadline},
        {"--record", "FILE", "all of it into a new MCAP file (docs/reference/recording.md)",
         &w->record},
        {"--errand", NULL, "started by a watchdog, which keeps the workspace's files", &w->errand},
        CLI_SERVER_OPTIONS(&w->server),
        {NULL, NULL, NULL, NULL},
    };
    return cli_parse(c, options, err);
}

// What is wrong by itself, before any file is looked at.
static int check_words(const cli *c, const run_words *w, cli_session_options *o, pons_error *err)
{
    int rc = w->thread ? app_thread_name(w->thread, err) : PONS_OK;
    o->run.speed = w->speed;
    o->run.seed = (uint64_t)w->seed;
    o->run.wait_ms = (int64_t)(w->wait_s * 1e3);
    rc = rc >= 0 && w->stream ? cli_modes(w->stream, &o->run.stream, err) : rc;
    rc = rc < 0 ? rc : cli_wish(w->priority, w->deadline, &o->run.deadline_ms, err);
    o->run.priority = w->priority;
    o->run.only_new = w->only_new != NULL;
    o->run.watched = w->errand != NULL;
    if (rc >= 0 && w->kernel && !w->stream) {
        rc = app_bad(err, "--stream-kernel goes with --stream");
    }
    if (rc >= 0 && w->step && c->argc == 0 && !w->plan) {
        rc = app_bad(err, "--step needs a goal: what is typed in says when to go on");
    }
    if (rc >= 0 && w->plan && c->argc > 0) {
        rc = app_bad(err, "run takes goals or --plan FILE, not both");
    }
    return rc;
}

// A plan is held against the world before anything is made, as goals are.
static int read_plan(cli *c, const run_words *w, run_parts *p, pons_error *err)
{
    pons_autoverdict verdict = NULL;
    // `pons plan run` has read it already.
    const bool again = c->self && strcmp(c->self->name, "plan") == 0;
    int rc =
        cli_plan_read(w->plan, NULL, again ? CLI_PLAN_SILENT : CLI_PLAN_REPAIRS, &p->plan, err);
    if (rc >= 0 && p->plan->n_steps > 0 && pons_plan_is_finished(p->plan)) {
        rc = app_bad(err, "plan: all its steps are settled: there is nothing to do");
    }
    rc = rc < 0 ? rc : cli_plan_judge(c, p->plan, p->meant.world, NULL, w->skills, &verdict, err);
    if (rc < 0) {
        return rc;
    }
    cli_plan_verdict(verdict);
    return pons_verdict_ok(verdict) ? PONS_OK : app_bad(err, "plan: refused; nothing was done");
}

// What is no goal without the skills is tried with them: those of the body that this starts, for one
// that runs already may have others. They are read when they are first wanted.
static int understand(const pons_policy *policy, const pons_seen_words *seen, const char *goal,
                      pons_value *world, const app_skills *modules, pons_value **ret,
                      pons_error *err)
{
    pons_error plain = PONS_ERROR_INIT;
    pons_value *skills = NULL;
    const bool reported = pons_get(world, "skills") != NULL;
    int rc = pons_seen_parse(seen, policy, goal, world, ret, reported ? err : &plain);
    if (rc >= 0 || reported) {
        return rc;
    }
    rc = pons_body_skills(modules->at, modules->n, &skills, err);
    if (rc < 0 || json_object_set_new(world, "skills", skills) < 0) {
        return rc < 0 ? rc : pons_error_set(err, PONS_ENOMEM, "run", "no memory for the skills");
    }
    return pons_seen_parse(seen, policy, goal, world, ret, err);
}

typedef struct goal_check { // what a goal is held against before anything is made
    const pons_policy *policy;
    const app_skills *modules;
    pons_seen_words seen;
    pons_value *world; // the caller's; what the skills' modules say is put into it
    bool model, alone;
} goal_check;

// The i-th goal. What the rules do not understand is the model's to understand, when there is one.
static int check_goal(const goal_check *k, int i, const char *said, pons_error *err)
{
    const pons_policy *policy = k->policy;
    pons_autovalue place = NULL; // a name for where it stands needs no world
    pons_error none = PONS_ERROR_INIT;
    const int named = policy->ops->place(policy->self, said, &place, &none);
    if (named == PONS_EINVAL) {
        return app_bad(err, "goal %d, '%s': %s", i, said, none.message);
    }
    if (named >= 0) { // it is heard at once, and would name the place where the others begin
        return k->alone ? PONS_OK
                        : app_bad(err,
                                  "goal %d, '%s', is about where the robot stands: say it alone, "
                                  "there",
                                  i, said);
    }
    const char *goal = said;
    pons_autovalue pace = NULL; // how fast, and when, are no matter of the world
    if (policy->ops->pace(policy->self, goal, &pace, &none) >= 0) {
        goal = pons_get_str(pace, "rest", NULL);
    }
    pons_autovalue when = NULL;
    if (goal && policy->ops->when(policy->self, goal, &when, &none) >= 0) {
        goal = pons_get_str(when, "text", goal);
    }
    if (!goal) {
        return PONS_OK;
    }
    pons_autovalue parsed = NULL;
    const int rc = understand(policy, &k->seen, goal, k->world, k->modules, &parsed, err);
    if (rc < 0) { // a body that runs already may have the skill
        return k->model || strncmp(err->message, "unknown skill", strlen("unknown skill")) == 0
                   ? PONS_OK
                   : rc;
    }
    if (json_is_string(pons_get(parsed, "control"))) {
        return app_bad(err,
                       "goal %d, '%s', is a control word: `pons %s` says it to a running brain", i,
                       said, pons_get_str(parsed, "control", "say"));
    }
    return PONS_OK;
}

// The goals are held against the world before anything is made: an unknown zone is bad input.
static int check_goals(cli *c, const pons_policy *policy, const char *world_name,
                       const app_skills *modules, bool model, char *const *goals, int n,
                       pons_error *err)
{
    goal_check k = {.policy = policy,
                    .modules = modules,
                    .model = model,
                    .alone = n == 1,
                    .seen = {.items = {.clock = pons_clock_real()}}};
    for (int i = 0; i < n; i++) {
        if (goals[i][strspn(goals[i], " \t\r\n")] == '\0') {
            return app_bad(err, "goal %d is empty", i + 1);
        }
    }
    pons_autovalue bare = NULL;
    int rc = app_world(world_name, &bare, err);
    pons_autovalue world = rc < 0 ? NULL : cli_places_in(c, bare);
    app_sight_child sight = {0};
    rc = rc < 0 ? rc : app_sight_child_open(&sight, &c->app, world_name, err);
    if (rc >= 0 && sight.wanted) {
        pons_error none = PONS_ERROR_INIT; // a new workspace has no store
        k.seen.ns = sight.space;
        k.seen.kinds = pons_get(sight.config, "synonyms");
        app_store_read(&c->app, &k.seen.items.store, &none);
        json_object_set_new(world, "remembers", json_true());
    }
    k.world = world;
    for (int i = 0; i < n && rc >= 0; i++) {
        rc = check_goal(&k, i + 1, goals[i], err);
    }
    pons_store_close(&k.seen.items.store);
    app_sight_child_end(&sight);
    return rc;
}

// Whatever can be found wrong before anything is made; the workspace comes last.
static int open_parts(cli *c, const run_words *w, run_parts *p, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    int rc = app_robot_meant(&c->app, NULL, NULL, &p->meant, err);
    pons_autovalue pictures = NULL;
    rc = rc < 0 ? rc : app_model_pictures(&c->app, &pictures, err);
    rc = rc >= 0 && w->llm ? app_llm(w->llm, pictures, &clock, &p->model, err) : rc;
    const bool has_model = app_llm_spec(w->llm);
    rc = rc < 0 ? rc : app_policy(&c->app, &p->policy, err);
    app_skills skills = {0};
    rc = rc < 0 ? rc : app_skills_load(w->skills, &skills, err);
    rc = rc < 0 ? rc
                : check_goals(c, &p->policy, p->meant.world, &skills, has_model, c->argv, c->argc,
                              err);
    rc = rc >= 0 && w->plan ? read_plan(c, w, p, err) : rc;
    // A name that nobody knows is found out here; the physics library is the body's to load.
    const pons_robot_ops *robot = NULL;
    pons_link *there = NULL; // a body that is there needs no driver of ours
    if (rc >= 0 && strcmp(p->meant.driver, APP_DRIVER_USUAL) != 0 &&
        app_robot_connect(&c->app, &p->meant, &there, &(pons_error)PONS_ERROR_INIT) < 0) {
        rc = app_driver(p->meant.driver, &robot, err);
    }
    pons_link_close(there);
    return rc < 0 ? rc : app_workspace(&c->app, true, err);
}

// Who sits at a prompt has the page beside it, at a free port, where there is one to be had.
static bool page_beside(const cli *c, const run_words *w)
{
    const cli_server_words *s = &w->server;
    const pons_http_server_ops *http = NULL;
    return c->argc == 0 && !w->plan && !c->json && !s->listen && !s->open && !s->token_file &&
           isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
           pons_http_server_load(&http, &(pons_error)PONS_ERROR_INIT) >= 0;
}

static void close_parts(run_parts *p)
{
    pons_rules_close(&p->policy);
    if (p->model.ops) {
        p->model.ops->close(p->model.self);
    }
    pons_plan_destroy(p->plan);
}

// ---- a brain that has the robot -----------------------------------------------------------------

static int say_there(cli *c, const run_words *w, const char *thread, pons_error *err)
{
    const char *const options[] = {"--thread",   thread,      "--priority", w->priority,
                                   "--deadline", w->deadline, "--",         ""};
    char **goals = c->argv;
    const int n = c->argc;
    int rc = PONS_OK;
    for (int i = 0; i < n && rc == PONS_OK; i++) {
        char *line[9] = {NULL};
        c->argc = 0;
        for (size_t k = 0; k < 8; k += 2) {
            if (options[k + 1]) {
                line[c->argc++] = (char *)options[k];
                line[c->argc++] = (char *)options[k + 1];
            }
        }
        line[c->argc - 1] = goals[i];
        c->argv = line;
        rc = cmd_say(c, err);
    }
    c->argc = 0;
    return rc;
}

static bool asked(const char *thread)
{
    char answer[16] = "";
    cli_out("The brain of %s has this robot already. Say it there? [y/n] ", thread);
    return cli_line(answer, sizeof answer) && pons_yes_no_of(answer, NULL, NULL) == PONS_SAID_YES;
}

// Two brains cannot have one body. `do` means whichever brain there is; who types `run` at a terminal is asked; a script
// is told the command.
static int run_beside(cli *c, const run_words *w, bool *ret_there, pons_error *err)
{
    const char *thread = w->thread;
    char latest[PONS_NAME_MAX];
    pons_store store = {0};
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    if (!app_fleet_here(&c->app) && app_wake_brain(&c->app) &&
        app_thread_open(&c->app, false, &thread, latest, &store, &none) >= 0) {
        *ret_there = store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    }
    pons_store_close(&store);
    if (!*ret_there) {
        return PONS_OK;
    }
    const char *word = c->self ? c->self->name : "";
    const bool does = strcmp(word, "do") == 0 || strcmp(word, "explore") == 0;
    const bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->json;
    if (c->argc > 0 && (does || (person && asked(thread)))) {
        return say_there(c, w, thread, err);
    }
    return pons_error_set(err, PONS_EBUSY, "run",
                          "the brain of %s (pid %lld) has this robot already; say it there: `pons "
                          "say --thread %s \"%s\"`",
                          thread, (long long)holder.pid, thread,
                          c->argc > 0 ? c->argv[0] : "go to the kitchen");
}

int cmd_run(cli *c, pons_error *err)
{
    run_words w = {0};
    run_parts p = {0};
    cli_session_options o = {0};
    cli_server *server = NULL;
    char id[PONS_NAME_MAX];
    int rc = read_words(c, &w, err);
    rc = rc < 0 ? rc : check_words(c, &w, &o, err);
    w.server.beside = rc >= 0 && page_beside(c, &w);
    rc = rc < 0 ? rc : cli_server_create(c, &w.server, &server, err);
    rc = rc < 0 ? rc : open_parts(c, &w, &p, err);
    bool there = false; // a brain that has the robot
    rc = rc < 0 || w.errand || p.plan ? rc : run_beside(c, &w, &there, err);
    rc = rc < 0 || there ? rc : cli_server_claim(server, err);
    if (rc >= 0 && !there) {
        if (w.thread) {
            snprintf(id, sizeof id, "%s", w.thread);
        } else {
            app_new_thread(id);
        }
        o.run.thread = id;
        o.run.policy = &p.policy;
        o.run.skills = w.skills;
        o.run.llm = w.llm;
        o.run.goals = (const char *const *)c->argv;
        o.run.n_goals = (size_t)c->argc;
        o.run.plan = p.plan;
        o.prompt = c->argc == 0 && !p.plan;
        o.run.opened = p.model.ops ? &p.model : NULL;
        if (server) {
            o.run.guests[o.run.n_guests++] = cli_server_guest(
                server, &(app_server_session){.thread = id, .llm = w.llm, .policy = &p.policy});
        }
        o.run.stream_kernel = w.kernel != NULL;
        o.run.step = w.step != NULL;
        o.record = w.record;
        o.run.ros2 = w.ros2 != NULL;
        if (o.prompt && isatty(STDIN_FILENO) && !c->json) {
            cli_out(
                "thread %s. Say a goal (\"go to the kitchen\", \"去厨房\"); /help shows what it "
                "can do, Ctrl-D leaves.\n",
                id);
        }
        rc = cli_session_run(c, &o, err);
    }
    close_parts(&p);
    cli_server_destroy(server);
    return rc;
}

int cli_run_options(cli *c, pons_error *err)
{
    run_words w = {0};
    return read_words(c, &w, err);
}

// ---- resume -------------------------------------------------------------------------------------

typedef struct scan {
    pons_value *started, *done;
} scan;

typedef struct left { // what there is to resume
    char thread[PONS_NAME_MAX];
    bool agent; // an agent's thread: the rest is not read
    pons_value *started, *done;
    bool mail;        // words that came after the end are work
    pons_store store; // open until the session has it: opened twice, a file is written back twice
} left;

static int scan_event(void *user, const pons_event_row *row)
{
    scan *s = user;
    const bool started = strcmp(row->type, "run.started") == 0;
    const bool done = strcmp(row->type, "run.done") == 0;
    pons_value *payload = NULL;
    if ((started || done) &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
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

static int saw_mail(void *user, const pons_inbox_row *row)
{
    *(bool *)user = true;
    return 1;
}

static int find_left(cli *c, left *l, pons_error *err)
{
    int rc = app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_store(&c->app, &l->store, err);
    const pons_store store = l->store;
    if (rc >= 0 && c->argc) {
        snprintf(l->thread, sizeof l->thread, "%s", c->argv[0]);
    } else if (rc >= 0) {
        rc = app_latest_of_any(store, l->thread, err);
    }
    l->agent = rc >= 0 && pons_agent_thread_is(store, l->thread);
    if (rc >= 0 && !l->agent) {
        rc = app_graph_of(store, l->thread)
                 ? pons_error_set(err, PONS_EINVAL, "threads",
                                  "thread %s is a graph's: `pons graph resume %s`", l->thread,
                                  l->thread)
                 : run_options(store, l->thread, &l->started, &l->done, err);
        rc = rc < 0 ? rc
                    : store.ops->inbox_read(store.self, l->thread, "kernel", 0, saw_mail, &l->mail,
                                            err);
    }
    return rc;
}

// Finished: it says so again.
static int say_done(cli *c, const left *l)
{
    cli_display *d = cli_display_create(c, false);
    pons_autovalue payload = json_copy(l->done);
    const pons_event ev = {.seq = pons_get_int(l->done, "seq", 0),
                           .thread = l->thread,
                           .ns = "kernel",
                           .ts_ms = pons_get_int(l->done, "ts_ms", 0),
                           .type = "run.done",
                           .payload = payload};
    json_object_del(payload, "seq");
    json_object_del(payload, "ts_ms");
    cli_display_event(d, &ev);
    cli_display_destroy(d);
    return strcmp(pons_get_str(l->done, "status", ""), "succeeded") == 0 ? PONS_OK : APP_NO_SUCCESS;
}

static int go_on(cli *c, left *l, cli_session_options *o, pons_error *err)
{
    int rc = find_left(c, l, err);
    if (rc < 0) {
        return rc;
    }
    if (l->agent) {
        pons_store_close(&l->store); // an agent opens its own
        return cli_agent_resume(c, l->thread, o->run.llm, err);
    }
    if (l->done && !l->mail && strcmp(pons_get_str(l->done, "status", "waiting"), "waiting") != 0) {
        return say_done(c, l);
    }
    const pons_value *about = pons_get(l->started, "options");
    o->run.thread = l->thread;
    o->run.store = &l->store;
    o->run.world = pons_get_str(about, "world", APP_WORLD_USUAL);
    o->run.driver = pons_get_str(about, "driver", APP_DRIVER_USUAL);
    o->run.skills = pons_get_str(about, "skills", NULL);
    o->run.llm_kept = !o->run.llm && pons_get(about, "llm");
    o->run.llm = o->run.llm ? o->run.llm : pons_get_str(about, "llm", NULL);
    o->run.resumed = true;
    o->run.speed = pons_get_num(about, "speed", 1.0);
    o->run.seed = (uint64_t)pons_get_int(about, "seed", 0);
    o->run.ros2 = json_is_true(pons_get(about, "ros2"));
    return cli_session_run(c, o, err);
}

int cmd_resume(cli *c, pons_error *err)
{
    const char *stream = NULL, *kernel = NULL, *step = NULL, *errand = NULL;
    double wait_s = wait_usual_s();
    cli_session_options o = {0};
    const cli_option options[] = {
        {"--llm", "SPEC",
         "URL, rules, script:FILE, record:FILE:URL or replay:FILE; default: what the run was given",
         &o.run.llm},
        {"--stream", "MODE,…", "as for run", &stream},
        {"--stream-kernel", NULL, "as for run", &kernel},
        {"--step", NULL, "hold the inner loop before each superstep: Enter goes on", &step},
        {"--wait", "S", "as for run", CLI_NUMBER(&wait_s, 0.0, 1e9)},
        {"--record", "FILE", "as for run", &o.record},
        {"--errand", NULL, "as for run", &errand},
        {NULL, NULL, NULL, NULL},
    };
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc > 1) {
        rc = app_bad(err, "resume takes one thread");
    }
    rc = rc >= 0 && stream ? cli_modes(stream, &o.run.stream, err) : rc;
    if (rc < 0) {
        return rc;
    }
    o.run.wait_ms = (int64_t)(wait_s * 1e3);
    o.run.stream_kernel = kernel != NULL;
    o.run.step = step != NULL;
    o.run.watched = errand != NULL;
    left l = {0};
    rc = go_on(c, &l, &o, err);
    pons_store_close(&l.store);
    pons_value_unref(l.started);
    pons_value_unref(l.done);
    return rc;
}
