// cmd_companion.c - `pons companion run|status|log|why|message`: a digital partner's life.
//
// What lives is app/companion/living.c; here it is shown, a line each.
#include "app/companion/living.h"
#include "cli/cli.h"
#include "cli/served.h"

#include <stdlib.h>
#include <string.h>

#define TIME_BYTES_MAX    63
#define MESSAGE_BYTES_MAX 4095

enum {
    MINUTES_A_DAY = 1440,
    DAYS_MAX = 36600,
    LOG_LINES = 40 // of `log` without --all
};

typedef struct args {
    const char *days, *from, *seed, *speed, *llm, *view, *tree; // run
    const char *sender, *urgent, *all;
    cli_server_words server;
} args;

typedef struct teller { // who shows a life
    cli *c;
    const pons_world_view *view;
    char day[16];
} teller;

// ---- looking in ---------------------------------------------------------------------------------

typedef struct looking {
    pons_world_view *view;
    pons_store store;
} looking;

typedef struct log_view {
    teller l;
    int64_t skip;
} log_view;

static int look(cli *c, const args *a, looking *l, pons_error *err)
{
    int rc = app_world_view_load(&c->app, a->view, &l->view, err);
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
    ++*(int64_t *)user;
    return 0;
}

static void print_log_line(const teller *l, const pons_value *ev)
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
    pons_each(v, pons_get(d, "path")) {
        const char *text = json_string_value(v);
        cli_out("  %s%s\n", strchr(text, ':') ? "    " : "", text);
    }
    pons_each(v, pons_get(d, "filtered")) {
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

// ---- a life, shown ------------------------------------------------------------------------------

static void tell_view(void *user, const pons_error *why)
{
    const teller *l = user;
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

static const char *name_of(const teller *l, const pons_value *ev)
{
    return pons_world_view_name(l->view, pons_get_str(pons_get(ev, "action"), "type", "?"), "en");
}

static void print_day(teller *l, const char *time)
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

static void print_event(teller *l, const pons_value *ev)
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
        cli_out("  %.5s – %.5s  %-*s %s%s%s\n", clock_of(since), clock_of(time), 20, name_of(l, ev),
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

static void print_end(void *user, const pons_world_view *view, const pons_value *state)
{
    const teller *l = user;
    const pons_value *now = pons_get(state, "activity");
    if (!l->c->json && json_is_object(now)) {
        char since[32];
        pons_world_view_time(view, pons_get_int(now, "since", 0), since, sizeof since);
        cli_out("  %.5s –        %s (until %.5s)\n", clock_of(since),
                pons_world_view_name(view, pons_get_str(now, "type", ""), "en"),
                clock_of(pons_get_str(now, "until", "")));
    }
}

static void show_event(void *user, const pons_world_view *view, const pons_value *ev)
{
    teller *l = user;
    l->view = view;
    if (l->c->json) {
        cli_print_json(ev);
    } else {
        print_event(l, ev);
    }
}

static void flush(void *user)
{
    cli_flush();
}

typedef struct beside {
    const app_context *c;
    const app_living_options *o;
} beside;

static int live_beside(void *user, pons_error *err)
{
    const beside *b = user;
    return app_living_run(b->c, b->o, err);
}

static void leave(void *user)
{
    cli_ended = 1;
}

static int read_options(const args *a, app_living_options *o, uint64_t *ret_seed, pons_error *err)
{
    double seed = 1;
    o->simulated = a->days || a->from || a->speed;
    int rc = a->days ? cli_number(a->days, "--days", 1, DAYS_MAX, &o->days, err) : PONS_OK;
    rc = rc < 0 || !a->seed ? rc : cli_number(a->seed, "--seed", 0, 9007199254740992.0, &seed, err);
    rc = rc < 0 || !a->speed ? rc : cli_number(a->speed, "--speed", 0.001, 1e6, &o->speed, err);
    *ret_seed = (uint64_t)seed;
    o->seed = a->seed ? ret_seed : NULL;
    return rc >= 0 && o->simulated && !a->days && !a->speed
               ? app_bad(err, "companion run: --from needs --days (or --speed)")
               : rc;
}

static int run(cli *c, const args *a, pons_error *err)
{
    uint64_t seed;
    teller l = {.c = c};
    app_living_options o = {.view = a->view,
                            .tree = a->tree,
                            .llm = a->llm,
                            .from = a->from,
                            .ended = &cli_ended,
                            .event = show_event,
                            .changed = tell_view,
                            .idle = flush,
                            .end = print_end,
                            .user = &l};
    cli_server *server = NULL;
    int rc = read_options(a, &o, &seed, err);
    rc = rc < 0 ? rc : cli_server_create(c, &a->server, &server, err);
    if (rc >= 0 && server) {
        const char *llm = a->llm; // a script is the life's alone
        beside b = {.c = &c->app, .o = &o};
        o.waits = true;
        rc = cli_server_beside(
            c, server,
            &(cli_beside){.llm = llm && strncmp(llm, "script:", 7) == 0 ? "rules" : llm,
                          .live = live_beside,
                          .leave = leave,
                          .user = &b},
            err);
    } else if (rc >= 0) {
        cli_end_on_signals(0);
        rc = app_living_run(&c->app, &o, err);
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
