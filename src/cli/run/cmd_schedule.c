// cmd_schedule.c - `pons schedule`: goals of a time, kept in the store (pons/brain_schedule.h).
//
//     pons schedule add "every day at 9 go to the kitchen"      in words, of either language
//     pons schedule add --cron "0 9 * * mon-fri" --zone Europe/Berlin GOAL
//     pons schedule list|remove|pause|continue
//
// Whichever brain of this workspace runs has them done. Who changes one holds run/schedule.lock for as long, which the
// brain holds while it looks: what is removed is not written again by a look that had begun.
#include "app/operator/operator.h"
#include "app/workspace/which_robot.h"
#include "app/workspace/workspace_scope.h"
#include "cli/run/places.h"
#include "pons/brain_schedule.h"
#include "pons/rule_policy.h"
#include "pons/schedule.h"
#include "serve/runs/job_store.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOCK_TRIES = 200, LOCK_WAIT_MS = 10 };

typedef struct goal_store { // the store, with the lock where something is changed
    pons_store store;
    pons_items it;
    char space[64];
    int lock;
} goal_store;

static int open_goals(cli *c, bool change, goal_store *d, pons_error *err)
{
    *d = (goal_store){.lock = -1};
    int rc = change ? app_workspace(&c->app, true, err) : PONS_OK;
    rc = rc < 0   ? rc
         : change ? app_store(&c->app, &d->store, err)
                  : app_store_read(&c->app, &d->store, err);
    if (rc < 0) {
        return rc;
    }
    d->it = (pons_items){.store = d->store, .clock = pons_clock_real()};
    app_schedules_space(&c->app, d->space);
    if (!change) {
        return rc;
    }
    d->lock = app_schedules_open(&c->app);
    if (d->lock < 0) {
        return pons_error_set(err, PONS_EENV, "schedule", "cannot open run/schedule.lock: %s",
                              strerror(errno));
    }
    for (int i = 0; !app_schedules_take(d->lock, true); i++) {
        if (i == LOCK_TRIES) {
            return pons_error_set(err, PONS_EBUSY, "schedule",
                                  "somebody has held run/schedule.lock for %d s",
                                  LOCK_TRIES * LOCK_WAIT_MS / 1000);
        }
        poll(NULL, 0, LOCK_WAIT_MS);
    }
    return rc;
}

static void close_goals(goal_store *d)
{
    if (d->lock >= 0) {
        close(d->lock);
    }
    pons_store_close(&d->store);
}

// ---- showing ------------------------------------------------------------------------------------

static void show_time(const pons_value *v, const char *member, char ret[48])
{
    pons_zone *zone = NULL;
    pons_error none = PONS_ERROR_INIT;
    const int64_t at = pons_get_int(v, member, 0);
    if (at <= 0 || pons_zone_open(pons_get_str(v, "zone", NULL), &zone, &none) < 0) {
        snprintf(ret, 48, "–");
        return;
    }
    pons_schedule_show(at, zone, ret, 48);
    pons_zone_close(zone);
}

static void show(const cli *c, const pons_value *v)
{
    char next[48], missed[48];
    if (c->json) {
        pons_autovalue row = json_copy((pons_value *)(uintptr_t)v);
        json_object_set_new(row, "type", json_string("schedule"));
        cli_print_json(row);
        return;
    }
    const bool on = pons_get_bool(v, "enabled", false);
    const char *zone = pons_get_str(v, "zone", "");
    show_time(v, "next_ms", next);
    show_time(v, "missed_ms", missed);
    cli_out("%s  %s%s%s  %s\n", pons_get_str(v, "id", ""),
            on && strncmp(pons_get_str(v, "schedule", ""), "when ", 5) == 0 ? "watches"
            : on                                                            ? next
            : pons_get_int(v, "next_ms", 0)                                 ? "paused"
                                                                            : "over",
            *zone ? " " : "", zone, pons_get_str(v, "text", ""));
    cli_out("          %s; done %lld times", pons_get_str(v, "schedule", ""),
            (long long)pons_get_int(v, "done", 0));
    if (pons_get_int(v, "missed", 0) > 0) {
        cli_out(", missed %lld times, last %s", (long long)pons_get_int(v, "missed", 0), missed);
    }
    cli_out("\n");
}

// Those of the API (POST /runs/crons), which `pons serve` looks after.
static int show_crons(const cli *c, const pons_items *it, pons_error *err)
{
    pons_autovalue all = NULL;
    const int rc = pons_items_search(
        it, &(pons_items_query){.prefix = PONS__OWN ".crons", .limit = -1}, &all, err);
    pons_each(one, all) {
        const pons_value *v = pons_get(one, "value");
        char next[48];
        if (c->json) {
            pons_autovalue row = pons_object(
                "type", json_string("cron"), "id", json_string(pons_get_str(v, "cron_id", "")),
                "schedule", json_string(pons_get_str(v, "schedule", "")), "next_ms",
                json_integer(pons_get_int(v, "next_ms", 0)), "enabled",
                json_boolean(pons_get_bool(v, "enabled", true)), NULL);
            cli_print_json(row);
            continue;
        }
        show_time(v, "next_ms", next);
        cli_out("%s  %s\n          %s; of the API: `pons serve` runs it\n",
                pons_get_str(v, "cron_id", ""), next, pons_get_str(v, "schedule", ""));
    }
    return rc;
}

int cmd_schedule_list(cli *c, pons_error *err)
{
    goal_store d;
    pons_autovalue all = NULL;
    int rc = cli_parse(c, NULL, err);
    if (rc >= 0 && c->argc > 0) {
        rc = app_bad(err, "schedule list takes nothing more");
    }
    if (rc < 0) {
        return rc;
    }
    rc = open_goals(c, false, &d, err);
    rc = rc < 0 ? rc
                : pons_items_search(&d.it, &(pons_items_query){.prefix = d.space, .limit = -1},
                                    &all, err);
    for (size_t i = json_array_size(all); i-- > 0;) { // the oldest first
        show(c, pons_get(json_array_get(all, i), "value"));
    }
    rc = rc < 0 ? rc : show_crons(c, &d.it, err);
    if (rc >= 0 && json_array_size(all) == 0 && !c->json) {
        cli_err("pons: no goals of a time; `pons schedule add \"every day at 9 go to the "
                "kitchen\"`\n");
    }
    close_goals(&d);
    return rc;
}

// ---- adding -------------------------------------------------------------------------------------

typedef struct words { // as they were typed; NULL: not given
    const char *cron, *at, *in, *every, *when, *again, *zone, *late, *priority, *deadline;
} words;

static bool brain_there(const cli *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n =
        snprintf(address.sun_path, sizeof address.sun_path, "%s/brain.sock", c->app.run_dir);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool there = fd >= 0 && n < (int)sizeof address.sun_path &&
                       connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return there;
}

// The world that the last body of this workspace had: true. Else the one that the next brain will have, or NULL.
static bool last_world(cli *c, pons_value **ret)
{
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue body = app_robot_reported(&c->app);
    const char *had = app_robot_world(body);
    app_robot meant;
    if (had && app_world(had, ret, &why) >= 0) {
        return true;
    }
    if (app_robot_meant(&c->app, NULL, NULL, &meant, &why) >= 0) {
        app_world(meant.world, ret, &why);
    }
    return false;
}

// What the goal says is held against the world that the last body of this workspace had, where there was one.
static int check_goal(cli *c, const pons_policy *p, const char *text, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    pons_autovalue parsed = NULL;
    pons_autovalue twice = NULL;
    const bool known = last_world(c, &world);
    if (p->ops->when(p->self, text, &twice, &(pons_error)PONS_ERROR_INIT) >= 0) {
        return app_bad(err, "schedule: '%s' says a time too", text);
    }
    pons_autovalue with = world ? cli_places_in(c, world) : NULL;
    pons_autovalue pace = NULL; // "go slowly to the kitchen": it is told when its time has come
    const bool paced = p->ops->pace(p->self, text, &pace, &(pons_error)PONS_ERROR_INIT) >= 0;
    const char *word = pons_get_str(pace, "word", "");
    const bool faster = strcmp(word, "faster") == 0 || strcmp(word, "normal") == 0;
    if (pons_get(pace, "before")) {
        return app_bad(err, "schedule: '%s' has a control word, and no goal", text);
    }
    if (faster) {
        return app_bad(err, "schedule: '%s' is what only a person may say, then", text);
    }
    text = paced ? pons_get_str(pace, "rest", NULL) : text;
    if (!text) {
        return PONS_OK;
    }
    const int rc = p->ops->parse(p->self, text, with, &parsed, &why);
    if (rc >= 0 && json_is_string(pons_get(parsed, "control"))) {
        return app_bad(err, "schedule: '%s' is a control word, and no goal", text);
    }
    if (rc >= 0 || app_llm_spec(NULL)) {
        return PONS_OK; // what the rules do not understand is the model's
    }
    const bool understood = !app_not_understood(why.message);
    if (known && understood &&
        strncmp(why.message, "unknown skill", strlen("unknown skill")) != 0) {
        return pons_error_set(err, PONS_EINVAL, "schedule", "%s", why.message);
    }
    if (understood && world) {
        cli_err("pons: %-s\n", why.message); // another world may have it
    } else if (!understood) {
        cli_err("pons: the rules do not understand \"%s\": only a brain with a model can do it\n",
                text);
    }
    return PONS_OK;
}

static int one_time(const words *w, char *ret, size_t cap, pons_error *err)
{
    const char *const given[] = {w->cron, w->at, w->in, w->every, w->when};
    static const char *const before[] = {"", "at ", "in ", "every ", "when "};
    int n = 0;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i] && ++n && snprintf(ret, cap, "%s%s", before[i], given[i]) >= (int)cap) {
            return app_bad(err, "schedule: '%.40s…' is too long", given[i]);
        }
    }
    return n > 1 ? app_bad(err, "schedule add takes one of --cron, --at, --in, --every and --when")
                 : n;
}

static int join(const cli *c, char *ret, size_t cap, pons_error *err)
{
    pons_autobuf joined = PONS_BUF_INIT;
    const int rc = cli_words(c, 0, cap - 1, &joined, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(ret, cap, "%s", joined.data);
    return ret[strspn(ret, " \t\r\n")] != '\0'
               ? PONS_OK
               : app_bad(err, "schedule add needs a goal: pons schedule add \"every day at 9 go to "
                              "the kitchen\"");
}

static int read_late(const char *text, int64_t *ret, pons_error *err)
{
    pons_schedule s;
    char spec[PONS_SCHEDULE_TEXT_MAX];
    *ret = PONS_SCHEDULE_LATE_USUAL_MS;
    if (!text || strcmp(text, "any") == 0 || strcmp(text, "0") == 0) {
        *ret = !text ? *ret : *text == '0' ? 0 : -1;
        return PONS_OK;
    }
    snprintf(spec, sizeof spec, "in %.60s", text);
    if (pons_schedule_read(spec, 0, NULL, &s, err) < 0) {
        return app_bad(err, "--late takes 0, any, or a time like 90s, 10m, 2h, not '%s'", text);
    }
    *ret = s.at_ms;
    return PONS_OK;
}

// The goal and its schedule: from the options, else from what is said.
static int understand(const pons_policy *p, const words *w, char text[], size_t cap, char when[],
                      size_t when_cap, pons_error *err)
{
    const int given = one_time(w, when, when_cap, err);
    pons_autovalue said = NULL;
    if (given != 0) {
        return given < 0 ? given : PONS_OK;
    }
    if (p->ops->when(p->self, text, &said, err) < 0) {
        return app_bad(err,
                       "schedule: '%s' says no time and something to do then, as \"every day at 9 "
                       "go to the kitchen\", \"每天九点去厨房\", or --cron, --at, --in, --every",
                       text);
    }
    snprintf(when, when_cap, "%s", pons_get_str(said, "schedule", ""));
    snprintf(text, cap, "%s", pons_get_str(said, "text", ""));
    return PONS_OK;
}

static int keep(cli *c, const pons_value *v, pons_error *err)
{
    goal_store d;
    int rc = open_goals(c, true, &d, err);
    rc = rc < 0 ? rc : pons_schedule_goal_put(&d.it, d.space, v, err);
    close_goals(&d);
    if (rc >= 0) {
        show(c, v);
        if (!brain_there(c) && !c->json) {
            cli_err("pons: no brain runs now; `pons serve` or `pons run` looks after it\n");
        }
    }
    return rc;
}

int cmd_schedule_add(cli *c, pons_error *err)
{
    words w = {0};
    const cli_option options[] = {
        {"--cron", "FIELDS", "minute hour day month weekday, as \"0 9 * * mon-fri\"", &w.cron},
        {"--at", "TIME", "once: 9:00, \"tomorrow 9:00\", \"2027-01-31 9:00\"", &w.at},
        {"--in", "T", "once, so long from now: 90s, 10m, 2h, 1d", &w.in},
        {"--every", "T", "from now on, a minute or more: 90s, 10m, 2h, 1d", &w.every},
        {"--when", "THING",
         "when the robot sees it, as \"person\", \"cat at kitchen\", \"somebody at door\"",
         &w.when},
        {"--again", "T", "with --when: only after so long without it; default 5min", &w.again},
        {"--zone", "NAME", "a time zone, as Europe/Berlin; default: this machine's", &w.zone},
        {"--late", "T",
         "when nobody was there at its time, do it up to so much later: 10m, any, 0; default 1h",
         &w.late},
        {"--priority", "P", "of the goal: background, user, urgent, or a number", &w.priority},
        {"--deadline", "T", "the goal is over T after its time: seconds, or with m or h behind it",
         &w.deadline},
        {NULL, NULL, NULL, NULL}};
    const pons_clock clock = pons_clock_real();
    const int64_t now_ms = pons_wall_ms(&clock);
    char text[PONS_SCHEDULE_GOAL_MAX + 1] = "", when[PONS_SCHEDULE_TEXT_MAX] = "";
    pons_schedule_goal g = {.text = text, .schedule = when};
    pons_policy policy = {0};
    pons_autovalue v = NULL;
    int64_t deadline_ms = 0;
    int rc = cli_parse(c, options, err);
    rc = rc < 0 ? rc : join(c, text, sizeof text, err);
    rc = rc < 0 ? rc : read_late(w.late, &g.late_ms, err);
    rc = rc < 0 ? rc : cli_wish(w.priority, w.deadline, &deadline_ms, err);
    rc = rc < 0 ? rc : app_policy(&c->app, &policy, err);
    rc = rc < 0 ? rc : understand(&policy, &w, text, sizeof text, when, sizeof when, err);
    rc = rc < 0 ? rc : check_goal(c, &policy, text, err);
    double again_s = 0.0;
    rc = rc >= 0 && w.again ? cli_duration(w.again, "--again", &again_s, err) : rc;
    g.again_ms = (int64_t)(again_s * 1e3);
    g.zone = w.zone;
    g.priority = w.priority;
    g.deadline_ms = deadline_ms ? deadline_ms - now_ms : 0;
    g.by = "pons schedule";
    rc = rc < 0 ? rc : pons_schedule_goal_make(&g, now_ms, &v, err);
    rc = rc < 0 ? rc : keep(c, v, err);
    pons_rules_close(&policy);
    return rc;
}

// ---- changing -----------------------------------------------------------------------------------

static int find(goal_store *d, const char *id, pons_value **ret, pons_error *err)
{
    pons_autovalue row = NULL;
    const int rc = pons_items_get(&d->it, d->space, id, &row, err);
    if (rc == PONS_ENOTFOUND || rc == PONS_EINVAL) {
        return app_bad(err, "schedule: there is no %s; `pons schedule list` has them", id);
    }
    *ret = rc < 0 ? NULL : pons_value_ref(pons_get(row, "value"));
    return rc;
}

static int remove_one(goal_store *d, const char *id, pons_error *err)
{
    return pons_items_delete(&d->it, d->space, id, err);
}

static int set(goal_store *d, const pons_value *was, bool on, pons_value **ret, pons_error *err)
{
    const int rc = pons_schedule_goal_enable(was, on, pons_wall_ms(&d->it.clock), ret, err);
    return rc < 0 ? rc : pons_schedule_goal_put(&d->it, d->space, *ret, err);
}

typedef enum change { REMOVE, PAUSE, CONTINUE } change;

// All that are named, or none where one of them is not there.
static int change_them(cli *c, change what, pons_error *err)
{
    goal_store d;
    int rc = cli_parse(c, NULL, err);
    if (rc >= 0 && c->argc == 0) {
        rc = app_bad(err, "schedule %s needs an id; `pons schedule list` has them",
                     c->word ? c->word->name : "");
    }
    if (rc < 0) {
        return rc;
    }
    rc = open_goals(c, true, &d, err);
    for (int i = 0; i < c->argc && rc >= 0; i++) {
        pons_autovalue v = NULL;
        rc = find(&d, c->argv[i], &v, err);
    }
    for (int i = 0; i < c->argc && rc >= 0; i++) {
        pons_autovalue v = NULL;
        pons_autovalue next = NULL;
        rc = find(&d, c->argv[i], &v, err);
        rc = rc < 0           ? rc
             : what == REMOVE ? remove_one(&d, c->argv[i], err)
                              : set(&d, v, what == CONTINUE, &next, err);
        if (rc >= 0 && next) {
            show(c, next);
        }
    }
    close_goals(&d);
    return rc;
}

int cmd_schedule_remove(cli *c, pons_error *err)
{
    return change_them(c, REMOVE, err);
}

int cmd_schedule_pause(cli *c, pons_error *err)
{
    return change_them(c, PAUSE, err);
}

int cmd_schedule_continue(cli *c, pons_error *err)
{
    return change_them(c, CONTINUE, err);
}
