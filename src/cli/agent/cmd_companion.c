// cmd_companion.c - `pons companion run|status|log|why|message`: a digital partner's life.
//
// `run` lives in real time; with --days it simulates days in seconds, and the same seed gives the
// same days byte for byte. A simulated life that was cut short goes on where it was; one that
// stands elsewhere than where --from says is begun anew. A life in real time is never replaced.
#include "app/workspace/which_robot.h"
#include "cli/cli.h"
#include "cli/served.h"
#include "pons/companion.h"
#include "pons/config_file.h"
#include "pons/ext/llm.h"
#include "pons/log.h"
#include "pons/module.h"
#include "pons/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME_BYTES_MAX    63
#define MESSAGE_BYTES_MAX 4095
#define VIEW              "config/world-view.yaml"

enum {
    MS_A_MINUTE = 60000,
    MINUTES_A_DAY = 1440,
    AGAIN_MS = 500,
    CATCH_UP_DAYS = 31, // a life that stood still for longer leaves out what is older
    DAYS_MAX = 36600,
    LOG_LINES = 40,    // of `log` without --all
    POLL_MS_MAX = 500, // so that a signal is seen soon
    MODEL_POLL_MS = 20
};

typedef struct args {
    const char *days, *from, *seed, *speed, *llm, *view, *tree; // run
    const char *sender, *urgent, *all;
    cli_server_words server;
} args;

typedef struct living { // one `run`
    cli *c;
    const args *a;
    pons_world_view *view;
    pons_bt *tree;
    pons_store store;
    pons_companion *life;
    bool simulated;
    double speed; // simulated minutes a real minute; 0: as fast as it goes
    int64_t from, until;
    uint64_t seed;
    pons_clock real, model_clock;
    pons_clock_manual manual;
    pons_llm llm;
    char day[16];
    char seen[PATH_MAX + 64]; // the world view's file as it was looked at last
    pons_traces *traces;      // NULL: nobody collects them
} living;

// ---- looking in ---------------------------------------------------------------------------------

typedef struct looking {
    pons_world_view *view;
    pons_store store;
} looking;

typedef struct log_view {
    living l;
    int64_t skip;
} log_view;

// A file of the workspace when it has its own, else a person's, else the one that pons ships.
static int own_file(const cli *c, const char *given, const char *relative, char path[PATH_MAX],
                    pons_error *err)
{
    if (given) {
        snprintf(path, PATH_MAX, "%s", given);
        return PONS_OK;
    }
    return pons_config_find(c->app.workspace, relative, path, PATH_MAX, NULL, err);
}

static int load_view(const cli *c, const args *a, pons_world_view **ret, pons_error *err)
{
    char path[PATH_MAX];
    const int rc = own_file(c, a->view, VIEW, path, err);
    return rc < 0 ? rc : pons_world_view_load(path, ret, err);
}

static int look(cli *c, const args *a, looking *l, pons_error *err)
{
    int rc = load_view(c, a, &l->view, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, false, err);
    return rc < 0 ? rc : app_store(&c->app, &l->store, err);
}

static int looked(looking *l, int rc)
{
    pons_store_close(&l->store);
    pons_world_view_unref(l->view);
    return rc;
}

// The time of day, to be shown by %.5s, of a stored time "YYYY-MM-DDTHH:MM...".
static const char *clock_of(const char *time)
{
    return strlen(time) >= strlen("YYYY-MM-DDTHH:MM") ? time + strlen("YYYY-MM-DDT") : "--:--";
}

static int status(cli *c, const args *a, pons_error *err)
{
    looking l = {0};
    pons_autovalue state = NULL;
    int rc = look(c, a, &l, err);
    rc = rc < 0 ? rc : pons_companion_read(l.store, NULL, &state, err);
    pons_lease holder;
    const bool lives =
        rc >= 0 && l.store.ops->lease_peek(l.store.self, PONS_COMPANION_THREAD, &holder, NULL) >= 0;
    if (rc >= 0 && c->json) {
        pons_autovalue line = json_copy(state);
        json_object_set_new(line, "pid", lives ? json_integer(holder.pid) : json_null());
        cli_print_json(line);
    } else if (rc >= 0) {
        const pons_value *now = pons_get(state, "activity");
        const bool busy = json_is_object(now);
        cli_out("%s  %s%s%.5s%s at %s, energy %.0f, %zu unread message%s; %s\n",
                pons_get_str(state, "time", ""),
                busy ? pons_world_view_name(l.view, pons_get_str(now, "type", ""), "en") : "idle",
                busy ? " until " : "", busy ? clock_of(pons_get_str(now, "until", "")) : "",
                busy ? "," : "",
                pons_world_view_name(l.view, pons_get_str(state, "place", ""), "en"),
                pons_get_num(state, "energy", 0), json_array_size(pons_get(state, "messages")),
                json_array_size(pons_get(state, "messages")) == 1 ? "" : "s",
                lives ? "it lives" : "not running");
    }
    return looked(&l, rc);
}

static int count_line(void *user, const pons_value *ev)
{
    (void)ev;
    ++*(int64_t *)user;
    return 0;
}

static void print_log_line(const living *l, const pons_value *ev)
{
    const char *type = pons_get_str(ev, "type", ""), *time = pons_get_str(ev, "time", "");
    const char *id = pons_get_str(pons_get(ev, "action"), "type", "");
    const char *what = *id ? pons_world_view_name(l->view, id, "en") : "";
    cli_out("%.16s  %-16s %s", time, type, what);
    if (strcmp(type, "decision") == 0) {
        const pons_value *model = pons_get(ev, "model");
        cli_out("%s%s%s%s", *what ? " by " : "nothing new, ", pons_get_str(ev, "branch", ""),
                model ? "; the model " : "", model ? pons_get_str(model, "from", "") : "");
        cli_out("%s%s", model ? ": " : "", model ? pons_get_str(model, "outcome", "") : "");
    } else if (strcmp(type, "filtered") == 0) {
        cli_out(" (%s) %s: %s", pons_get_str(ev, "by", ""), pons_get_str(ev, "rule", ""),
                pons_get_str(ev, "reason", ""));
    } else if (strcmp(type, "external.message") == 0) {
        cli_out("%s%s%s", pons_get_str(ev, "from", ""), pons_get(ev, "from") ? ": " : "",
                pons_get_str(ev, "text", ""));
    } else if (strcmp(type, "state.changed") == 0) {
        char *from = json_dumps(pons_get(ev, "from"), JSON_ENCODE_ANY);
        char *to = json_dumps(pons_get(ev, "to"), JSON_ENCODE_ANY);
        cli_out("%s %s%s%s", pons_get_str(ev, "what", ""), from ? from : "", to ? " → " : "read",
                to ? to : "");
        free(from);
        free(to);
    } else if (pons_get(ev, "until")) {
        cli_out(" until %.5s", clock_of(pons_get_str(ev, "until", "")));
    } else if (pons_get(ev, "status")) {
        cli_out(" %s", pons_get_str(ev, "status", ""));
    }
    cli_out("\n");
}

static int log_line(void *user, const pons_value *ev)
{
    log_view *v = user;
    if (v->skip-- > 0) {
        return 0;
    }
    if (v->l.c->json) {
        cli_print_json(ev);
    } else {
        print_log_line(&v->l, ev);
    }
    return 0;
}

static int show_log(cli *c, const args *a, pons_error *err)
{
    looking l = {0};
    pons_autovalue state = NULL;
    log_view v = {.l = {.c = c}};
    int64_t from = 0, n = 0;
    int rc = look(c, a, &l, err);
    rc = rc < 0 ? rc : pons_companion_read(l.store, NULL, &state, err);
    const int64_t to = pons_get_int(state, "minute", 0);
    if (rc >= 0 && a->from) {
        rc = pons_world_view_minute(l.view, a->from, to, &from, err);
    } else if (rc >= 0 && !a->all && !c->json) {
        rc = pons_companion_log(l.store, NULL, 0, to, count_line, &n, err);
        v.skip = n - LOG_LINES;
    }
    v.l.view = l.view;
    rc = rc < 0 ? rc : pons_companion_log(l.store, NULL, from, to, log_line, &v, err);
    return looked(&l, rc);
}

static void print_why(const looking *l, const pons_value *w)
{
    const pons_value *d = pons_get(w, "decision"), *model = pons_get(d, "model");
    const pons_value *lasts = pons_get(w, "activity");
    const char *action = pons_get_str(pons_get(d, "action"), "type", NULL);
    size_t i;
    pons_value *v;
    cli_out("%s  %s, by %s", pons_get_str(w, "time", ""),
            action ? pons_world_view_name(l->view, action, "en") : "nothing new",
            pons_get_str(d, "branch", ""));
    if (strcmp(pons_get_str(d, "time", ""), pons_get_str(w, "time", "")) != 0) {
        cli_out(" (the same since %.16s)", pons_get_str(d, "time", ""));
    }
    cli_out("\n");
    if (json_is_object(lasts)) {
        cli_out("  goes on: %s, since %.16s until %.16s\n",
                pons_world_view_name(l->view, pons_get_str(pons_get(lasts, "action"), "type", ""),
                                     "en"),
                pons_get_str(lasts, "time", ""), pons_get_str(lasts, "until", ""));
    }
    json_array_foreach((pons_value *)pons_get(d, "path"), i, v)
    {
        const char *text = json_string_value(v);
        cli_out("  %s%s\n", strchr(text, ':') ? "    " : "", text);
    }
    json_array_foreach((pons_value *)pons_get(d, "filtered"), i, v)
    {
        cli_out("  filtered (%s): %s, %s: %s\n", pons_get_str(v, "by", ""),
                pons_get_str(pons_get(v, "action"), "type", "-"), pons_get_str(v, "rule", ""),
                pons_get_str(v, "reason", ""));
    }
    if (model) {
        cli_out("  the model (%s) said: %s\n  and so: %s\n", pons_get_str(model, "from", ""),
                pons_get_str(model, "said", "nothing"), pons_get_str(model, "outcome", ""));
    }
    if (pons_get(d, "rationale")) {
        cli_out("  because: %s\n", pons_get_str(d, "rationale", ""));
    }
}

static int why(cli *c, const args *a, pons_error *err)
{
    looking l = {0};
    pons_autovalue state = NULL;
    pons_autovalue w = NULL;
    pons_autobuf text = PONS_BUF_INIT;
    int64_t minute = 0;
    int rc = cli_words(c, 1, TIME_BYTES_MAX, &text, err);
    rc = rc < 0 ? rc : look(c, a, &l, err);
    rc = rc < 0 ? rc : pons_companion_read(l.store, NULL, &state, err);
    const int64_t last = pons_get_int(state, "minute", 1) - 1;
    rc = rc < 0 ? rc : pons_world_view_minute(l.view, text.data, last, &minute, err);
    rc = rc < 0 ? rc : pons_companion_why(l.store, NULL, l.view, minute, &w, err);
    if (rc >= 0 && c->json) {
        cli_print_json(w);
    } else if (rc >= 0) {
        print_why(&l, w);
    }
    return looked(&l, rc);
}

static int message(cli *c, const args *a, pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT;
    looking l = {0};
    int rc = cli_words(c, 1, MESSAGE_BYTES_MAX, &text, err);
    if (rc >= 0 && text.len == 0) {
        rc = app_bad(err, "companion message: there is no text");
    }
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : app_store(&c->app, &l.store, err);
    rc = rc < 0
             ? rc
             : pons_companion_message(l.store, NULL, text.data, a->sender, a->urgent != NULL, err);
    return looked(&l, rc);
}

// ---- public functions ---------------------------------------------------------------------------

static int64_t minute_now(const living *l)
{
    return pons_wall_ms(&l->real) / MS_A_MINUTE;
}

// Which file the world view is, and how it stands: another text when it has changed. "": it is not there.
static void look_at_view(const living *l, char ret[PATH_MAX + 64])
{
    char path[PATH_MAX];
    struct stat st;
    pons_error none = PONS_ERROR_INIT;
    ret[0] = '\0';
    if (own_file(l->c, l->a->view, VIEW, path, &none) >= 0 && stat(path, &st) == 0) {
        snprintf(ret, PATH_MAX + 64, "%s %lld %lld.%09ld %lld", path, (long long)st.st_ino,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_size);
    }
}

static void tell_view(const living *l, const pons_error *why)
{
    char line[1024];
    if (l->c->json) {
        pons_autovalue ev = pons_object(
            "type", json_string("view.changed"), "taken_up", json_boolean(!why), "reason",
            why ? json_string(pons_error_line(why, line, sizeof line)) : NULL, NULL);
        cli_print_json(ev);
    } else if (why) {
        cli_err("pons: the world view has changed and can't be lived by: %s; the old one stays\n",
                pons_error_line(why, line, sizeof line));
    } else {
        cli_err("pons: the world view has changed: lived by from here on\n");
    }
}

static void trace(const living *l, const pons_value *ev)
{
    int64_t minute = 0;
    pons_error none = PONS_ERROR_INIT;
    if (!l->traces || pons_world_view_minute(l->view, pons_get_str(ev, "time", ""), l->from,
                                             &minute, &none) < 0) {
        return;
    }
    pons_traces_event(l->traces, &(pons_event){.thread = PONS_COMPANION_THREAD,
                                               .ns = PONS_TRACES_LIFE,
                                               .type = pons_get_str(ev, "type", ""),
                                               .ts_ms = minute * MS_A_MINUTE,
                                               .payload = ev});
}

static const char *name_of(const living *l, const pons_value *ev)
{
    return pons_world_view_name(l->view, pons_get_str(pons_get(ev, "action"), "type", "?"), "en");
}

static void print_day(living *l, const char *time)
{
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
    int64_t minute;
    const char *holiday;
    if (strncmp(l->day, time, 10) == 0 || pons_world_view_minute(l->view, time, 0, &minute, NULL)) {
        return;
    }
    snprintf(l->day, sizeof l->day, "%.10s", time);
    const bool school = pons_world_view_school_day(l->view, minute, &holiday);
    // 1970-01-01 was a Thursday.
    int64_t offset_day = minute;
    char midnight[32];
    snprintf(midnight, sizeof midnight, "%.10sT00:00Z", time);
    pons_world_view_minute(l->view, midnight, 0, &offset_day, NULL);
    cli_out("%s %s, %s\n", l->day, days[(offset_day / MINUTES_A_DAY + 3) % 7],
            holiday  ? holiday
            : school ? "school"
                     : "free");
}

static void print_event(living *l, const pons_value *ev)
{
    const char *type = pons_get_str(ev, "type", ""), *time = pons_get_str(ev, "time", "");
    const char *since = pons_get_str(ev, "since", time), *branch = pons_get_str(ev, "branch", "");
    if (strcmp(type, "tick") == 0 || strcmp(type, "decision") == 0 || strlen(time) < 16) {
        return;
    }
    const bool ended = strcmp(type, "action.ended") == 0;
    const bool said = strcmp(type, "external.message") == 0;
    // What the routine would have liked is for the log; what others wanted is part of the day.
    const bool filtered =
        strcmp(type, "filtered") == 0 && strcmp(pons_get_str(ev, "by", ""), "tree") != 0;
    if (!ended && !said && !filtered) {
        return;
    }
    print_day(l, time);
    if (ended) {
        const bool cut = strcmp(pons_get_str(ev, "status", ""), "interrupted") == 0;
        cli_out("  %.5s – %.5s  %-20s %s%s%s\n", clock_of(since), clock_of(time), name_of(l, ev),
                branch, cut ? ", interrupted by " : "",
                cut ? pons_world_view_name(l->view, pons_get_str(ev, "by", ""), "en") : "");
    } else if (said) {
        cli_out("  %.5s          message%s%s: %s\n", clock_of(time),
                pons_get(ev, "from") ? " from " : "", pons_get_str(ev, "from", ""),
                pons_get_str(ev, "text", ""));
    } else {
        cli_out("  %.5s          not done: %s%s%s (%s)\n", clock_of(time),
                pons_get(ev, "action") ? name_of(l, ev) : "", pons_get(ev, "action") ? ": " : "",
                pons_get_str(ev, "reason", ""), pons_get_str(ev, "rule", ""));
    }
}

static void on_event(void *user, const pons_value *ev)
{
    living *l = user;
    trace(l, ev);
    if (l->c->json) {
        cli_print_json(ev);
    } else {
        print_event(l, ev);
    }
}

// A scripted model has the simulation's own clock, which passes while it is waited for.
static int wait_for_model(void *user, int fd, int64_t ms)
{
    living *l = user;
    if (cli_ended) {
        return -1;
    }
    if (l->simulated && fd < 0) {
        l->manual.now_ns += (ms < MODEL_POLL_MS ? ms : MODEL_POLL_MS) * PONS_NS_PER_MS;
        return 0;
    }
    const int64_t most = fd < 0 ? MODEL_POLL_MS : POLL_MS_MAX;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    poll(&p, fd >= 0, (int)(ms < most ? ms : most));
    return 0;
}

static int open_life(living *l, pons_error *err)
{
    const bool scripted = l->a->llm && strncmp(l->a->llm, "script:", strlen("script:")) == 0;
    l->model_clock = l->simulated && scripted ? pons_clock_from_manual(&l->manual) : l->real;
    int rc = l->llm.ops ? PONS_OK : app_llm(l->a->llm, &l->model_clock, &l->llm, err);
    if (rc < 0) {
        return rc;
    }
    // In a simulation a minute takes no time, so its tick waits for the model. Who lives by a clock
    // does not wait: the routine runs until the answer is there.
    const bool by_clock = !l->simulated || (l->speed > 0 && !scripted);
    const pons_companion_options o = {.view = l->view,
                                      .tree = l->tree,
                                      .store = l->store,
                                      .seed = l->seed,
                                      .start_min = l->from,
                                      .until_min = l->until,
                                      .simulated = l->simulated,
                                      .llm = l->llm.ops ? &l->llm : NULL,
                                      .clock = &l->model_clock,
                                      .wait = by_clock ? NULL : wait_for_model,
                                      .on_event = on_event,
                                      .user = l};
    return pons_companion_open(&o, &l->life, err);
}

// A world view that changes while it is lived by is taken up at the next minute: the life is closed and
// opened again, as a kill there would have it. One that is wrong, or that the life does not fit, is told
// and the old one stays. A simulation that outruns the clock keeps the one that it began with, so that a
// seed gives the same days.
static int take_up(living *l, pons_error *err)
{
    char now[PATH_MAX + 64];
    pons_error why = PONS_ERROR_INIT;
    pons_world_view *fresh = NULL, *old = l->view;
    if (l->simulated && l->speed <= 0) {
        return PONS_OK;
    }
    look_at_view(l, now);
    if (!now[0] || strcmp(now, l->seen) == 0) { // one that is being replaced is there again soon
        return PONS_OK;
    }
    memcpy(l->seen, now, sizeof now);
    if (load_view(l->c, l->a, &fresh, &why) < 0) {
        tell_view(l, &why);
        return PONS_OK;
    }
    int rc = pons_companion_flush(l->life, err);
    if (rc < 0) {
        pons_world_view_unref(fresh);
        return rc;
    }
    pons_companion_close(l->life);
    l->life = NULL;
    l->view = fresh;
    if (open_life(l, &why) >= 0) {
        pons_world_view_unref(old);
        tell_view(l, NULL);
        return PONS_OK;
    }
    pons_world_view_unref(fresh);
    l->view = old;
    tell_view(l, &why);
    return open_life(l, err);
}

// Sleeps until the minute has come; false when asked to stop.
static bool await_minute(living *l, int64_t minute, int64_t began_ns, int64_t began_min)
{
    for (;;) {
        int64_t left_ms = 0;
        if (!l->simulated) {
            left_ms = minute * MS_A_MINUTE - pons_wall_ms(&l->real);
        } else if (l->speed > 0) {
            const double due_ms = (double)(minute - began_min) * MS_A_MINUTE / l->speed;
            left_ms = (int64_t)due_ms - (pons_now_ns(&l->real) - began_ns) / PONS_NS_PER_MS;
        }
        if (cli_ended || left_ms <= 0) {
            return !cli_ended;
        }
        cli_flush();
        // An answer of the model is taken as it comes; a model without a descriptor is asked again.
        struct pollfd p = {.fd = pons_companion_fd(l->life), .events = POLLIN};
        poll(&p, p.fd >= 0, (int)(left_ms < POLL_MS_MAX ? left_ms : POLL_MS_MAX));
        pons_companion_poll(l->life);
    }
}

static int live(living *l, pons_error *err)
{
    const int64_t began_ns = pons_now_ns(&l->real), began_min = pons_companion_minute(l->life);
    int rc = PONS_OK;
    if (!l->simulated) {
        rc = pons_companion_skip(l->life, minute_now(l) - CATCH_UP_DAYS * MINUTES_A_DAY, err);
    }
    for (;;) {
        const int64_t minute = pons_companion_minute(l->life);
        if (rc < 0 || (l->until > 0 && minute >= l->until) ||
            !await_minute(l, minute, began_ns, began_min)) {
            break;
        }
        l->manual.now_ns = minute * MS_A_MINUTE * PONS_NS_PER_MS;
        if ((rc = take_up(l, err)) < 0) {
            break;
        }
        // Minutes that were missed are lived by the routine alone.
        rc = pons_companion_tick(l->life, l->simulated || minute >= minute_now(l), err);
    }
    return rc < 0 ? rc : pons_companion_flush(l->life, err);
}

static int load_tree(const cli *c, const args *a, pons_bt **ret, pons_error *err)
{
    char path[PATH_MAX];
    const pons_bt_load_options o = {.format = PONS_BT_AUTO};
    const int rc = own_file(c, a->tree, "trees/companion.mdsl", path, err);
    return rc < 0 ? rc : pons_bt_load_file(path, &o, ret, NULL, err);
}

// What the words of the command mean for the life that is, or is not, there.
static int read_times(living *l, const pons_value *state, pons_error *err)
{
    const args *a = l->a;
    double days = 0, seed = 1;
    const bool there = state && pons_get_bool(state, "simulated", false);
    const int64_t at = there ? pons_get_int(state, "minute", 0) : minute_now(l);
    l->simulated = a->days || a->from || a->speed;
    l->seed = 1;
    int rc = a->days ? cli_number(a->days, "--days", 1, DAYS_MAX, &days, err) : PONS_OK;
    if (rc >= 0 && a->seed) {
        rc = cli_number(a->seed, "--seed", 0, 9007199254740992.0, &seed, err);
    }
    if (rc >= 0 && a->speed) {
        rc = cli_number(a->speed, "--speed", 0.001, 1e6, &l->speed, err);
    }
    if (rc < 0) {
        return rc;
    }
    l->seed = (uint64_t)seed;
    l->from = at;
    if (a->from && pons_world_view_minute(l->view, a->from, at, &l->from, err) < 0) {
        return PONS_EINVAL;
    }
    l->until = a->days ? l->from + (int64_t)(days * MINUTES_A_DAY) : 0;
    if (l->simulated && !a->days && !a->speed) {
        return app_bad(err, "companion run: --from needs --days (or --speed)");
    }
    return PONS_OK;
}

// Does the command go on with the life that is there? A simulated one that is unfinished and was
// begun by the same words, or stands where --from says.
static bool goes_on(const living *l, const pons_value *state)
{
    const int64_t at = pons_get_int(state, "minute", 0);
    if (!l->a->from || at == l->from) {
        return !l->a->seed || (int64_t)l->seed == pons_get_int(state, "seed", 0);
    }
    return pons_get_int(state, "first", 0) == l->from &&
           pons_get_int(state, "until", 0) == l->until && at < l->until &&
           pons_get_int(state, "seed", 0) == (int64_t)l->seed;
}

static int prepare(living *l, pons_error *err)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    int rc = pons_companion_read(l->store, NULL, &state, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    rc = read_times(l, state, err);
    if (rc < 0 || !state) {
        return rc;
    }
    const bool was_simulated = pons_get_bool(state, "simulated", false);
    if (l->simulated && !was_simulated) {
        return pons_error_set(err, PONS_EBUSY, "companion",
                              "a companion lives here in real time; simulate in another "
                              "--workspace");
    }
    if (was_simulated && (!l->simulated || !goes_on(l, state))) {
        return l->store.ops->thread_delete(l->store.self, PONS_COMPANION_THREAD, err);
    }
    if (l->simulated) {
        cli_err("pons: the life goes on at %s\n", pons_get_str(state, "time", ""));
    }
    return PONS_OK;
}

static void print_end(living *l)
{
    pons_autovalue state = pons_companion_state(l->life);
    const pons_value *now = pons_get(state, "activity");
    if (!l->c->json && json_is_object(now)) {
        char since[32];
        pons_world_view_time(l->view, pons_get_int(now, "since", 0), since, sizeof since);
        cli_out("  %.5s –        %s (until %.5s)\n", clock_of(since),
                pons_world_view_name(l->view, pons_get_str(now, "type", ""), "en"),
                clock_of(pons_get_str(now, "until", "")));
    }
}

// Until it is over or a signal came.
static int live_it(living *l, pons_error *err)
{
    look_at_view(l, l->seen);
    int rc = load_view(l->c, l->a, &l->view, err);
    rc = rc < 0 ? rc : load_tree(l->c, l->a, &l->tree, err);
    rc = rc < 0 ? rc : app_workspace(&l->c->app, true, err);
    rc = rc < 0 ? rc : app_store(&l->c->app, &l->store, err);
    rc = rc < 0 ? rc : prepare(l, err);
    rc = rc < 0 ? rc : pons_traces_from_environment(&l->traces, err);
    rc = rc < 0 ? rc : open_life(l, err);
    rc = rc < 0 ? rc : live(l, err);
    if (rc >= 0) {
        print_end(l);
    }
    pons_companion_close(l->life);
    pons_traces_close(l->traces);
    if (l->llm.ops) {
        l->llm.ops->close(l->llm.self);
    }
    pons_store_close(&l->store);
    pons_bt_unref(l->tree);
    pons_world_view_unref(l->view);
    return rc;
}

// A store that cannot write (a full disk) is no reason to take the page, and its Stop, away: the life
// begins again from what is stored until it can.
static int live_beside(void *user, pons_error *err)
{
    living *l = user;
    const living fresh = *l;
    for (bool told = false;; told = true) {
        const int rc = live_it(l, err);
        if (rc != PONS_EIO || strcmp(err->module, "store") != 0 || cli_ended) {
            return rc;
        }
        if (!told) {
            char line[1024];
            pons_log(PONS_LOG_WARN, "companion", "the life waits for the store: %s",
                     pons_error_line(err, line, sizeof line));
        }
        poll(NULL, 0, AGAIN_MS);
        *l = fresh;
        *err = (pons_error)PONS_ERROR_INIT;
    }
}

static void leave(void *user)
{
    (void)user;
    cli_ended = 1;
}

static int run(cli *c, const args *a, pons_error *err)
{
    living l = {.c = c, .a = a, .real = pons_clock_real()};
    cli_server *server = NULL;
    int rc = cli_server_create(c, &a->server, &server, err);
    if (server) {
        const char *llm = a->llm; // a script is the life's alone
        const cli_beside o = {.llm = llm && strncmp(llm, "script:", 7) == 0 ? "rules" : llm,
                              .live = live_beside,
                              .leave = leave,
                              .user = &l};
        rc = cli_server_beside(c, server, &o, err);
    } else if (rc >= 0) {
        cli_end_on_signals(0);
        rc = live_it(&l, err);
    }
    cli_server_destroy(server);
    return rc;
}

int cmd_companion(cli *c, pons_error *err)
{
    args a = {0};
    const cli_option options[] = {
        {"--days", "N", "run: simulate so many days (without it: real time)", &a.days},
        {"--from", "DATE", "run: where the simulation begins; log: from when", &a.from},
        {"--seed", "N", "run: of a new life (default 1)", &a.seed},
        {"--speed", "X", "run: simulate, X minutes a minute", &a.speed},
        {"--llm", "URL|rules|script:FILE", "run: who proposes (rules: only the routine)", &a.llm},
        {"--world-view", "FILE", "another world view than config/world-view.yaml", &a.view},
        {"--tree", "FILE", "run: another tree than trees/companion.mdsl", &a.tree},
        {"--sender", "NAME", "message: who it is from", &a.sender},
        {"--urgent", NULL, "message: it may wake", &a.urgent},
        {"--all", NULL, "log: everything, not only the end", &a.all},
        CLI_SERVER_OPTIONS(&a.server),
        CLI_ROBOT_OPTIONS(c),
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *word = c->argc > 0 ? c->argv[0] : "";
    if (strcmp(word, "run") == 0 && c->argc == 1) {
        return run(c, &a, err);
    }
    if (strcmp(word, "status") == 0 && c->argc == 1) {
        return status(c, &a, err);
    }
    if (strcmp(word, "log") == 0 && c->argc == 1) {
        return show_log(c, &a, err);
    }
    if (strcmp(word, "why") == 0 && c->argc >= 2) {
        return why(c, &a, err);
    }
    if (strcmp(word, "message") == 0 && c->argc >= 2) {
        return message(c, &a, err);
    }
    return app_bad(err, "companion: use `pons companion run`, `status`, `log`, `why TIME` or "
                        "`message TEXT`");
}
