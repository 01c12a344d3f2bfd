// session_runner.c - `pons watchdog runtime`: sessions of SESSIONS.md on the targets of TARGETS.md.
//
// A target has a body of its own: its backend (a real robot's adapter.driver) is the driver, config.world the
// world. The workspace's own body belongs to the target that config.json's robot.id names, or that is the
// only one, or whose driver and world it has; run/target keeps which one that is, for good, as a body's ledger
// must go on being asked by the same. Any other target's body lives in targets/ID/. A body that is there
// is joined; one that is not is started, and ended again by the last watchdog that goes.
//
// --once ends when nothing is pending: 0 all done, 1 something failed, 2 a file cannot be read.
#include "app/watchdog/watchdog.h"
#include "app/workspace/onboarded_workspace.h"
#include "pons/agent.h"
#include "pons/random.h"
#include "pons/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define START_EVERY_MS 5000
#define STARTS_MAX     3
#define KEEP_SESSIONS  10000 // where config/kernel.yaml is silent
#define KEEP_FAILED    100000
#define POLL_MAX_MS    200 // what a body's link or a policy has to say is looked for so often at least

typedef struct body_of { // of one target
    struct body_of *next;
    struct watch *w;
    app_context c; // its workspace
    app_robot meant;
    char target[PONS_NAME_MAX];
    app_body_child child; // that this process has started
} body_of;

typedef struct watch {
    const app_context *c;
    const app_watchdog_options *o;
    pons_clock clock;
    pons_value *config, *policy;
    pons_ws_dialect dialect;
    pons_store store;
    pons_lanes lanes;
    pons_ws_place *place;
    pons_runtime *runtime;
    body_of *bodies;
    char runner[PONS_NAME_MAX], lock_path[PATH_MAX + 160];
    int lock;
} watch;

static void notice(void *user, const char *file, const char *text)
{
    const watch *w = user;
    app_tell(w->c, "%s: %s", file, text);
}

// ---- bodies -------------------------------------------------------------------------------------

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    body_of *b = user;
    const int rc = app_robot_connect(&b->c, &b->meant, ret, err);
    app_body_child_ended(&b->child, NULL);
    if (app_no_body(rc)) {
        const app_body_how how = {.driver = b->meant.driver,
                                  .world = b->meant.world,
                                  .speed = b->w->o->speed,
                                  .seed = b->w->o->seed};
        app_body_child_start(&b->child, &b->c, &how, pons_now_ms(&b->w->clock), STARTS_MAX,
                             START_EVERY_MS);
    }
    return rc;
}

static bool runs_here(const watch *w, const app_robot *meant)
{
    pons_error none = PONS_ERROR_INIT;
    pons_link *there = NULL;
    const int rc = app_robot_connect(w->c, meant, &there, &none);
    pons_link_close(there);
    return rc == PONS_OK;
}

static bool only_target(const watch *w)
{
    size_t n = 0, targets = 0;
    const pons_ws_doc *d = pons_ws_place_doc(w->place, PONS_WS_TARGETS);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        targets += strcmp(all[i].kind, "target") == 0;
    }
    return targets == 1;
}

// Whether the workspace's own body is this target's. Once it was, it stays so.
static bool own_body(const watch *w, const char *target, const app_robot *meant)
{
    char path[PATH_MAX + 16], had[PONS_NAME_MAX] = "";
    snprintf(path, sizeof path, "%s/target", w->c->run_dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        return false;
    }
    const ssize_t n = read(fd, had, sizeof had - 1);
    bool own = n > 0 && strcmp(had, target) == 0;
    if (n == 0) {
        const char *id = pons_get_str(pons_get(w->config, "robot"), "id", "");
        own = strcmp(id, target) == 0 || only_target(w) || runs_here(w, meant);
        const ssize_t len = (ssize_t)strlen(target);
        own = own && write(fd, target, (size_t)len) == len;
    }
    close(fd);
    return own;
}

static int place_body(const watch *w, body_of *b, const char *target, const pons_value *record,
                      pons_error *err)
{
    const char *other = pons_get_str(record, "workspace", "");
    char dir[PATH_MAX];
    b->c = *w->c;
    if (*other) {
        snprintf(dir, sizeof dir, "%.*s%s%.200s", *other == '/' ? 0 : PATH_MAX - 300,
                 w->c->workspace, *other == '/' ? "" : "/", other);
    } else if (own_body(w, target, &b->meant)) {
        return PONS_OK;
    } else {
        snprintf(dir, sizeof dir, "%.*s/targets/%s", PATH_MAX - 200, w->c->workspace, target);
    }
    if (strlen(dir) > sizeof dir - 32) {
        return pons_error_set(err, PONS_EINVAL, "runtime",
                              "the folder of its body has too long a name: %.200s", dir);
    }
    snprintf(b->c.workspace, sizeof b->c.workspace, "%s", dir);
    snprintf(b->c.run_dir, sizeof b->c.run_dir, "%.*s/run", PATH_MAX - 16, dir);
    snprintf(b->c.db, sizeof b->c.db, "%.*s/pons.db", PATH_MAX - 16, dir);
    return app_workspace(&b->c, true, err);
}

static bool good_name(const char *id)
{
    return *id && *id != '.' && !strchr(id, '/') && strlen(id) < PONS_NAME_MAX;
}

// What the record says; what it does not say is config.json's.
static int describe_body(const watch *w, body_of *b, const pons_value *record, pons_error *err)
{
    const pons_value *config = pons_get(record, "config");
    const bool real = strcmp(pons_get_str(record, "type", "sim"), "real_robot") == 0;
    const char *driver = real ? pons_get_str(pons_get(record, "adapter"), "driver", "")
                              : pons_get_str(record, "backend", NULL);
    const char *world = pons_get_str(config, "world", NULL);
    const char *scene = pons_get_str(config, "scene_xml", NULL);
    const pons_robot_ops *ops = NULL;
    if (scene &&
        !world) { // another scene than the one that is named would be judged by, and driven in
        return pons_error_set(
            err, PONS_EINVAL, "runtime",
            "config.scene_xml is not read: pons makes its scenes itself; name one by "
            "config.world (tabletop, house, or a file)");
    }
    if (scene) {
        char text[400];
        snprintf(text, sizeof text,
                 "target %.80s: config.scene_xml is not read; its scene is config.world, %.80s",
                 b->target, world);
        notice((void *)(uintptr_t)w, "TARGETS.md", text);
    }
    int rc = app_robot_meant(w->c, driver, world, &b->meant, err);
    if (rc < 0) {
        return rc;
    }
    if (!good_name(b->meant.driver)) {
        return pons_error_set(err, PONS_EINVAL, "runtime", "the target names no driver");
    }
    rc = app_driver(b->meant.driver, &ops, err);
    if (rc == PONS_ENOTFOUND ||
        rc == PONS_EINVAL) { // where a module was looked for is nothing for a file that people read
        rc = pons_error_set(err, PONS_ENOTFOUND, "runtime", "there is no backend %s here",
                            b->meant.driver);
    }
    return rc;
}

static int open_body(void *user, const char *target, const pons_value *record, pons_tools *ret,
                     pons_error *err)
{
    watch *w = user;
    body_of *b = calloc(1, sizeof *b);
    if (!b) {
        return pons_error_set(err, PONS_ENOMEM, "runtime", "no memory for a body");
    }
    b->w = w;
    snprintf(b->target, sizeof b->target, "%s", target);
    int rc = good_name(target)
                 ? describe_body(w, b, record, err)
                 : pons_error_set(err, PONS_EINVAL, "runtime",
                                  "a target's id names a folder: '%.60s' cannot", target);
    rc = rc < 0 ? rc : place_body(w, b, target, record, err);
    const pons_robot_tools_options robot = {.clock = w->clock,
                                            .connect = connect_body,
                                            .user = b,
                                            .name = "pons watchdog runtime",
                                            .thread = "runtime",
                                            .policy = w->policy};
    rc = rc < 0 ? rc : pons_robot_tools_open(&robot, ret, err);
    if (rc < 0) {
        free(b);
        return rc;
    }
    b->next = w->bodies;
    w->bodies = b;
    return PONS_OK;
}

// The folder's files are about the folder's own body.
static bool is_described(void *user, const char *target)
{
    const watch *w = user;
    for (const body_of *b = w->bodies; b; b = b->next) {
        if (strcmp(b->target, target) == 0) {
            return strcmp(b->c.workspace, w->c->workspace) == 0;
        }
    }
    return false;
}

static int open_pictures(void *user, const char *target, pons_tools *ret, pons_error *err)
{
    const watch *w = user;
    for (const body_of *b = w->bodies; b; b = b->next) {
        if (strcmp(b->target, target) == 0) {
            return app_pictures_open(&b->c, ret, err);
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, "runtime", "no body of %.60s", target);
}

static int judge(void *user, const pons_tools *robot, const char *skill, const pons_value *args,
                 char *why, size_t cap)
{
    const int rc = app_watchdog_judge(robot, skill, args, why, cap);
    return rc < 0 ? PONS_EREFUSED : rc;
}

// ---- what is said -------------------------------------------------------------------------------

static void report(void *user, const char *id, const pons_value *record)
{
    const watch *w = user;
    w->o->record(w->o->user, id, pons_get_str(record, "status", ""), record);
}

static void pruned(void *user, int64_t sessions, int64_t failed)
{
    const watch *w = user;
    w->o->pruned(w->o->user, sessions, failed);
}

// ---- this watchdog among others -----------------------------------------------------------------

static void lock_of(const watch *w, const char *runner, char *ret, size_t cap)
{
    snprintf(ret, cap, "%.*s/runtime-%s.lock", PATH_MAX - 1, w->c->run_dir, runner);
}

// A name that nobody else has or will have, and a lock that the kernel frees when this process dies.
static int take_name(watch *w, pons_error *err)
{
    char host[64] = "";
    pons_rand rand;
    pons_rand_seed_os(&rand);
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at; at++) {
        *at = *at == '/' ? '_' : *at;
    }
    snprintf(w->runner, sizeof w->runner, "%.40s-%d-%08llx", host, (int)getpid(),
             (unsigned long long)(pons_rand_u64(&rand) & 0xffffffffu));
    lock_of(w, w->runner, w->lock_path, sizeof w->lock_path);
    w->lock = open(w->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (w->lock < 0 || flock(w->lock, LOCK_EX | LOCK_NB) < 0) {
        return app_lacks(err, "cannot lock %s: %s", w->lock_path, strerror(errno));
    }
    return PONS_OK;
}

// Of this folder's watchdogs that is known at once; of others only time tells.
static bool is_dead(void *user, const char *runner)
{
    const watch *w = user;
    char path[PATH_MAX + 160];
    if (strchr(runner, '/')) {
        return false;
    }
    lock_of(w, runner, path, sizeof path);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    const bool dead = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return dead;
}

static int count_other(void *user, const char *runner, int64_t beats)
{
    const watch *w = ((void **)user)[0];
    int *others = ((void **)user)[1];
    *others += strcmp(runner, w->runner) != 0 && !is_dead((void *)(uintptr_t)w, runner);
    return 0;
}

// ---- begun and ended ----------------------------------------------------------------------------

static int open_parts(watch *w, pons_error *err)
{
    const pons_ws_place_options place = {.role = PONS_WS_BY_RUNTIME,
                                         .dialect = w->dialect,
                                         .writes_per_s = PONS_WS_WRITES_PER_S,
                                         .no_wait = true, // it beats for bodies
                                         .notice = notice,
                                         .user = w};
    int rc = pons_ws_place_open(w->c->workspace, &place, &w->place, err);
    rc = rc < 0 ? rc : app_critic_policy(w->c, &w->policy, err);
    rc = rc < 0 ? rc : app_store(w->c, &w->store, err);
    if (rc >= 0 && !w->store.ops->lanes) {
        rc = app_lacks(err, "the store %s has no lanes", w->store.ops->name);
    }
    if (rc < 0) {
        return rc;
    }
    pons_autovalue rules = NULL;
    if ((rc = app_config(w->c, &rules, err)) < 0) {
        return rc;
    }
    const pons_value *keep = pons_get(pons_get(rules, "store"), "keep");
    const int64_t sessions = pons_get_int(keep, "sessions", KEEP_SESSIONS);
    const int64_t failed = pons_get_int(keep, "failed_sessions", KEEP_FAILED);
    pons_rand rand;
    pons_rand_seed_os(&rand);
    w->store.ops->lanes(w->store.self, &w->lanes);
    const pons_runtime_options o = {.place = w->place,
                                    .dir = w->c->workspace,
                                    .lanes = w->lanes,
                                    .clock = w->clock,
                                    .runner = w->runner,
                                    .only = w->o->only,
                                    .seed = pons_rand_u64(&rand),
                                    .keep = sessions < 0 ? 0
                                            : sessions   ? sessions
                                                         : 1,
                                    .keep_failed = failed < 0 ? 0
                                                   : failed   ? failed
                                                              : 1,
                                    .body = open_body,
                                    .described = is_described,
                                    .judge = judge,
                                    .pictures = open_pictures,
                                    .pons = "/proc/self/exe",
                                    .dead = is_dead,
                                    .reported = report,
                                    .pruned = pruned,
                                    .user = w};
    return pons_runtime_open(&o, &w->runtime, err);
}

static void close_parts(watch *w)
{
    int others = 0;
    void *counting[] = {w, &others};
    pons_error ignored = PONS_ERROR_INIT;
    pons_runtime_close(w->runtime);
    if (w->lanes.ops) {
        w->lanes.ops->runners(w->lanes.self, count_other, counting, &ignored);
    }
    while (w->bodies) {
        body_of *b = w->bodies;
        w->bodies = b->next;
        if (!others) { // somebody may be driving it
            app_body_child_end(&b->child);
        }
        free(b);
    }
    pons_ws_place_close(w->place);
    pons_store_close(&w->store);
    pons_value_unref(w->policy);
    pons_value_unref(w->config);
    if (w->lock >= 0) {
        unlink(w->lock_path);
        close(w->lock);
    }
}

static bool unreadable(const watch *w)
{
    return pons_ws_place_suspended(w->place, PONS_WS_SESSIONS) ||
           pons_ws_place_suspended(w->place, PONS_WS_TARGETS) ||
           pons_ws_place_suspended(w->place, PONS_WS_SKILLS) ||
           pons_ws_place_suspended(w->place, PONS_WS_SKILLRUNTIME);
}

static int run(watch *w)
{
    while (!*w->o->ended) {
        const int wait = pons_runtime_step(w->runtime);
        if (w->o->once && unreadable(w)) {
            return APP_FAULTY; // told already, with its place
        }
        if (w->o->once && pons_runtime_idle(w->runtime)) {
            break;
        }
        struct pollfd fd = {.fd = pons_runtime_fd(w->runtime), .events = POLLIN};
        poll(&fd, 1, wait < POLL_MAX_MS ? wait : POLL_MAX_MS);
    }
    return pons_runtime_failed(w->runtime) ? APP_NO_SUCCESS : PONS_OK;
}

int app_sessions_run(const app_context *c, const app_watchdog_options *o, pons_error *err)
{
    watch w = {.c = c, .o = o, .lock = -1, .clock = pons_clock_real()};
    int rc = app_workspace_config(c, &w.config, &w.dialect, err);
    rc = rc < 0 ? rc : take_name(&w, err);
    rc = rc < 0 ? rc : open_parts(&w, err);
    rc = rc < 0 ? rc : run(&w);
    close_parts(&w);
    return rc;
}
