// graph_run.c - a graph of a person's own on a durable thread: run, step, hold, answer, resume,
// change, fork.
//
// The graph's state is in the thread's root namespace "". Which graph a thread is run by is in its
// event graph.started, so a resume names the thread alone. The loop runs one superstep at a time:
// between two of them everything is committed or queued in order, so a run that is held, left with
// Ctrl-C or killed goes on from there. Whatever a node says, and whatever the engine streams, is a
// numbered event: `pons threads events THREAD --after SEQ` gives it again.
//
//     pons graph run --> start --> superstep -+-> done, failed
//                          ^                  +-> a question: asked here, or exit 4
//     pons graph resume ---+-- hold <---------+   (--step, --before, --after)
#include "cli/graphs/graph_run.h"

#include "pons/traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT ""

typedef struct session {
    cli *c;
    const graph_words *w;
    char thread[PONS_NAME_MAX];
    char name[PATH_MAX]; // of the graph, or its module's path
    pons_store store;
    const pons_graph_module *module;
    pons_graph *graph;
    pons_thread *t;
    pons_run *run;
    cli_display *display;
    pons_traces *traces; // NULL: nobody collects them
    pons_run_options opts;
    pons_value *drawn; // the graph as JSON: its nodes and channels
    pons_value *input, *answer, *answers;
    pons_value *before, *after; // lists of names
    bool stepping;              // --step, until a person says "continue"
    bool left;                  // a person said "quit", or Ctrl-C
    bool held;                  // --before or --after stopped it
} session;

static volatile sig_atomic_t interrupted;

// ---- what was typed -----------------------------------------------------------------------------

// "a,b" as a list.
static pons_value *split(const char *names)
{
    pons_value *list = json_array();
    while (names && *names) {
        const size_t n = strcspn(names, ",");
        if (n > 0) {
            json_array_append_new(list, json_stringn(names, n));
        }
        names += n + (names[n] == ',');
    }
    return list;
}

static int read_words(session *s, pons_error *err)
{
    const graph_words *w = s->w;
    static const struct {
        const char *word;
        pons_durability is;
    } words[] = {{"async", PONS_DURABILITY_ASYNC},
                 {"sync", PONS_DURABILITY_SYNC},
                 {"exit", PONS_DURABILITY_EXIT}};
    double limit = 0.0;
    s->opts = (pons_run_options){.stream = PONS_STREAM_UPDATES, .stream_subgraphs = true};
    s->stepping = w->step != NULL;
    s->before = split(w->before);
    s->after = split(w->after);
    size_t d = 0;
    while (w->durability && d < 3 && strcmp(words[d].word, w->durability) != 0) {
        d++;
    }
    if (d == 3) {
        return app_bad(err, "--durability takes async, sync or exit, not '%s'", w->durability);
    }
    s->opts.durability = words[d].is;
    int rc = w->stream ? cli_modes(w->stream, &s->opts.stream, err) : PONS_OK;
    rc = rc >= 0 && w->limit ? cli_number(w->limit, "--limit", 1.0, 1e9, &limit, err) : rc;
    rc = rc >= 0 && w->input ? cli_value(w->input, "--input", &s->input, err) : rc;
    rc = rc >= 0 && w->answers ? cli_value(w->answers, "--answers", &s->answers, err) : rc;
    rc = rc >= 0 && w->answer ? cli_word_or_json(w->answer, "--answer", &s->answer, err) : rc;
    if (rc >= 0 && w->quiet && w->stream) {
        rc = app_bad(err, "--quiet streams nothing: leave --stream out");
    }
    if (rc >= 0 && s->input && !json_is_object(s->input)) {
        rc = app_bad(err, "--input takes an object, {channel: value}");
    }
    if (rc >= 0 && s->answers && !json_is_object(s->answers)) {
        rc = app_bad(err, "--answers takes an object, {id: answer}");
    }
    if (rc >= 0 && s->answer && s->answers) {
        rc = app_bad(err, "--answer or --answers, not both");
    }
    s->opts.stream = w->quiet ? 0 : s->opts.stream;
    s->opts.recursion_limit = (int)limit;
    return rc;
}

static bool any_of(const pons_value *names, const pons_value *of)
{
    pons_each(a, names) {
        pons_each(b, of) {
            if (json_equal(a, b)) {
                return true;
            }
        }
    }
    return false;
}

static int known_nodes(const session *s, const pons_value *names, const char *option,
                       pons_error *err)
{
    const pons_value *nodes = pons_get(s->drawn, "nodes");
    pons_each(name, names) {
        pons_autovalue one = json_array();
        json_array_append(one, name);
        if (!any_of(one, nodes)) {
            return app_bad(err, "%s: graph %s has no node '%s'", option, pons_graph_name(s->graph),
                           json_string_value(name));
        }
    }
    return PONS_OK;
}

// The compiled graph, and its names as its drawing has them.
static int load_graph(session *s, pons_error *err)
{
    char *text = NULL;
    int rc = app_graph_load(s->name, &s->module, &s->graph, err);
    rc = rc < 0 ? rc : pons_graph_draw(s->graph, "json", &text, err);
    rc = rc < 0 ? rc : pons_value_parse(text, strlen(text), &s->drawn, err);
    free(text);
    return rc;
}

// ---- the end ------------------------------------------------------------------------------------

// What the run has, committed or not; without a run, what the store has.
static pons_value *state_of(const session *s)
{
    pons_error none = PONS_ERROR_INIT;
    pons_value *state = NULL;
    if (!s->run) {
        pons_state_read(s->store, s->thread, ROOT, &state, &none);
        return state;
    }
    state = json_object();
    pons_each(name, pons_get(s->drawn, "channels")) {
        const pons_value *v = pons_run_get(s->run, json_string_value(name));
        if (v) {
            json_object_set(state, json_string_value(name), (json_t *)v);
        }
    }
    return state;
}

static void print_questions(const session *s)
{
    pons_autovalue pending = pons_run_pending(s->run);
    pons_each(q, pending) {
        if (strcmp(pons_get_str(q, "kind", ""), "human") != 0) {
            continue;
        }
        if (s->c->json) {
            const pons_value *request = pons_get(q, "request");
            pons_autovalue out =
                pons_object("type", json_string("question"), "thread", json_string(s->thread), "id",
                            json_string(pons_get_str(q, "id", "")), "node",
                            json_string(pons_get_str(q, "node", "")), "question",
                            request ? pons_value_ref(request) : json_null(), NULL);
            cli_print_json(out);
            continue;
        }
        char *text = NULL;
        if (pons_value_line(pons_get(q, "request"), &text) >= 0) {
            cli_display_line(s->display, "asks", "%s %s: %s", pons_get_str(q, "node", ""),
                             pons_get_str(q, "id", ""), text);
        }
        free(text);
    }
}

// The state and how it ended, on stdout; the outcome says it as well.
static int finish(session *s)
{
    const pons_run_state state = s->run ? pons_run_state_get(s->run) : PONS_RUN_DONE;
    const bool held = state == PONS_RUN_READY; // by --step, --before, --after or Ctrl-C
    const bool canceled =
        state == PONS_RUN_FAILED && pons_run_error(s->run)->status == PONS_ECANCELED;
    const char *word = held                            ? "held"
                       : canceled                      ? "canceled"
                       : state == PONS_RUN_DONE        ? "done"
                       : state == PONS_RUN_FAILED      ? "failed"
                       : state == PONS_RUN_INTERRUPTED ? "interrupted"
                                                       : "parked";
    char why[1024] = "";
    if (state == PONS_RUN_FAILED) {
        pons_error_line(pons_run_error(s->run), why, sizeof why);
    }
    pons_autovalue next = s->run ? pons_run_next(s->run) : json_array();
    pons_autovalue values = state_of(s);
    if (s->run) {
        print_questions(s);
    }
    if (s->c->json) {
        pons_autovalue out =
            pons_object("type", json_string("graph.end"), "thread", json_string(s->thread),
                        "status", json_string(word), "next", pons_value_ref(next), "values",
                        values ? pons_value_ref(values) : json_object(), "error",
                        *why ? json_string(why) : json_null(), NULL);
        cli_print_json(out);
    } else {
        char *text = NULL;
        if (pons_value_line(values, &text) < 0) {
            text = NULL;
        }
        cli_display_line(s->display, word, "%s", text ? text : "{}");
        free(text);
    }
    if (state == PONS_RUN_FAILED) {
        cli_err("pons: %s\n", why);
    } else if (state != PONS_RUN_DONE && !s->c->json) {
        cli_err("pons: %s; `pons graph resume %s%s` goes on\n", word, s->thread,
                state == PONS_RUN_INTERRUPTED && !pons_run_drained(s->run) ? " --answer …" : "");
    }
    return state == PONS_RUN_DONE     ? PONS_OK
           : state == PONS_RUN_FAILED ? APP_NO_SUCCESS
                                      : APP_WAITING;
}

static void on_event(void *user, const pons_event *ev)
{
    const session *s = user;
    cli_display_event(s->display, ev);
    pons_traces_event(s->traces, ev);
}

static void on_task(void *user, const pons_task_seen *seen)
{
    pons_traces_task(((const session *)user)->traces, seen);
}

static void on_signal(int number)
{
    if (interrupted) {
        _exit(128 + number);
    }
    interrupted = 1;
}

// ---- opening ------------------------------------------------------------------------------------

static int open_session(session *s, bool create, pons_error *err)
{
    char known[PATH_MAX];
    int rc = app_workspace(&s->c->app, create, err);
    rc = rc < 0 ? rc : app_store(&s->c->app, &s->store, err);
    if (rc < 0) {
        return rc;
    }
    const bool has = app_graph_name(s->store, s->thread, known);
    if (!has && !create) {
        return pons_error_set(err, PONS_ENOTFOUND, "graph",
                              "there is no thread %s that `pons graph run` has begun", s->thread);
    }
    int64_t last = 0;
    pons_error none = PONS_ERROR_INIT;
    if (!has && s->store.ops->event_last(s->store.self, s->thread, &last, &none) >= 0 && last > 0) {
        return pons_error_set(err, PONS_EINVAL, "graph",
                              "thread %s is not a graph's: `pons resume`", s->thread);
    }
    if (has && create && strcmp(known, s->name) != 0) {
        return pons_error_set(err, PONS_EINVAL, "graph", "thread %s is of the graph %s", s->thread,
                              known);
    }
    if (has) {
        memcpy(s->name, known, sizeof s->name);
    }
    if (!s->graph) {
        rc = load_graph(s, err);
    }
    s->display = cli_display_create(s->c, false);
    rc = rc < 0 ? rc : pons_traces_from_environment(&s->traces, err);
    const pons_thread_options opts = {.clock = pons_clock_real(),
                                      .handlers = s->module ? s->module->handlers : NULL,
                                      .n_handlers = s->module ? s->module->n_handlers : 0,
                                      .on_event = on_event,
                                      .on_task = s->traces ? on_task : NULL,
                                      .user = s};
    rc = rc < 0 ? rc : pons_cancel_create(&s->opts.cancel, err);
    rc = rc < 0 ? rc : pons_cancel_listen(s->opts.cancel, s->store, s->thread, err);
    rc = rc < 0 ? rc : pons_thread_open(s->store, s->thread, &opts, &s->t, err);
    if (rc >= 0 && !has) {
        rc = pons_thread_emit(s->t, ROOT, APP_GRAPH_STARTED,
                              pons_object("graph", json_string(s->name), NULL), err);
    }
    return rc;
}

static void close_session(session *s)
{
    pons_run_destroy(s->run);
    pons_thread_close(s->t);
    pons_cancel_destroy(s->opts.cancel);
    pons_graph_destroy(s->graph);
    cli_display_destroy(s->display);
    pons_traces_close(s->traces);
    pons_store_close(&s->store);
    pons_value_unref(s->drawn);
    pons_value_unref(s->input);
    pons_value_unref(s->answer);
    pons_value_unref(s->answers);
    pons_value_unref(s->before);
    pons_value_unref(s->after);
}

static int begin(session *s, pons_error *err)
{
    return s->w->at
               ? pons_run_fork(s->t, s->graph, ROOT, s->w->at, s->input, &s->opts, &s->run, err)
               : pons_run_start(s->t, s->graph, ROOT, s->input, &s->opts, &s->run, err);
}

// What was left, with the answers to what it asked. A finished one has nothing: s->run is NULL.
static int go_on(session *s, pons_error *err)
{
    int rc = pons_run_resume(s->t, s->graph, ROOT, &s->opts, &s->run, err);
    if (rc == PONS_ENOTFOUND && !s->answer && !s->answers) {
        *err = (pons_error)PONS_ERROR_INIT;
        return PONS_OK;
    }
    if (rc == PONS_OK && pons_run_state_get(s->run) == PONS_RUN_DONE) {
        pons_run_destroy(s->run);
        s->run = NULL;
        return s->answer || s->answers
                   ? pons_error_set(err, PONS_ENOTFOUND, "graph",
                                    "thread %s has nothing unfinished", s->thread)
                   : PONS_OK;
    }
    if (rc < 0 || (!s->answer && !s->answers)) {
        return rc;
    }
    return s->answers ? pons_run_resume_map(s->run, s->answers, err)
                      : pons_run_resume_value(s->run, s->answer, err);
}

// ---- the loop -----------------------------------------------------------------------------------

static bool hold_here(session *s, const pons_value *ran)
{
    pons_autovalue next = pons_run_next(s->run);
    return any_of(next, s->before) || any_of(ran, s->after);
}

// Shows the step and takes a word. False: leave. Without anybody to say one it goes on.
static bool ask_step(session *s, const pons_value *ran, const pons_value *was, const pons_value *is,
                     const pons_value *next)
{
    char line[256];
    const bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->c->json;
    cli_step_show(s->display, s->c, s->thread, ROOT, ran, was, is, next);
    if (terminal && !ran) {
        cli_display_note(s->display, CLI_STEP_HELP);
    }
    for (;;) {
        if (terminal) {
            cli_out("step> ");
            cli_flush();
        }
        if (!fgets(line, sizeof line, stdin)) {
            s->stepping = !interrupted && !terminal; // the end of input: shown, not held
            return !interrupted && !terminal;
        }
        switch (cli_step_parse(line)) {
        case CLI_STEP_NEXT:
            return true;
        case CLI_STEP_CONTINUE:
            s->stepping = false;
            return true;
        case CLI_STEP_QUIT:
            return false;
        case CLI_STEP_STATE:
            cli_print_json(is);
            break;
        default:
            cli_display_note(s->display, CLI_STEP_HELP);
        }
    }
}

// On a terminal an interrupt is asked here and now. False: nobody to ask, or they said nothing.
static bool ask_person(session *s, pons_error *err)
{
    char line[4096];
    pons_autovalue pending = pons_run_pending(s->run);
    const pons_value *first = json_array_get(pending, 0);
    if (!first || s->c->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        return false;
    }
    char *question = NULL;
    if (pons_value_line(pons_get(first, "request"), &question) < 0) {
        return false;
    }
    cli_out("%s asks: %s\nanswer> ", pons_get_str(first, "node", "it"), question);
    free(question);
    cli_flush();
    if (!fgets(line, sizeof line, stdin)) {
        cli_out("\n");
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    pons_value *value = NULL;
    if (!*line) {
        return false; // leaves it open
    }
    pons_error slip = PONS_ERROR_INIT;
    if (cli_word_or_json(line, "answer", &value, &slip) < 0) {
        cli_tell(&slip); // and asks again
        return true;
    }
    pons_autovalue map = pons_object(pons_get_str(first, "id", ""), value, NULL);
    return pons_run_resume_map(s->run, map, err) >= 0;
}

static int loop(session *s, pons_error *err)
{
    const struct sigaction leave = {.sa_handler = on_signal}; // and a read at the prompt ends
    sigaction(SIGINT, &leave, NULL);
    sigaction(SIGTERM, &leave, NULL);
    pons_autovalue was = state_of(s);
    pons_autovalue next = pons_run_next(s->run);
    int rc = PONS_OK, steps = pons_run_supersteps(s->run);
    if (s->stepping && pons_run_state_get(s->run) == PONS_RUN_READY) {
        s->left = !ask_step(s, NULL, NULL, was, next);
    }
    while (rc >= 0 && !s->left && !s->held && !interrupted) {
        const pons_run_state state = pons_run_state_get(s->run);
        if (state == PONS_RUN_PARKED) {
            rc = pons_run_sleep(s->run, err);
            if (rc >= 0 && pons_run_state_get(s->run) == PONS_RUN_PARKED) {
                break; // for a handler that did not answer
            }
            continue;
        }
        if (state == PONS_RUN_INTERRUPTED && ask_person(s, err)) {
            continue;
        }
        if (state != PONS_RUN_READY) {
            break;
        }
        rc = pons_run_step(s->run, err);
        if (rc < 0 || pons_run_supersteps(s->run) == steps) {
            continue; // it has parked inside, or is over
        }
        steps = pons_run_supersteps(s->run);
        pons_autovalue ran = next;
        next = pons_run_next(s->run);
        if (s->stepping) {
            pons_autovalue before = was;
            was = state_of(s);
            const bool over = pons_run_state_get(s->run) != PONS_RUN_READY;
            s->left = !over && !ask_step(s, ran, before, was, next);
            if (over) {
                cli_step_show(s->display, s->c, s->thread, ROOT, ran, before, was, next);
            }
        }
        s->held = !s->left && pons_run_state_get(s->run) == PONS_RUN_READY && hold_here(s, ran);
    }
    if (rc < 0 && interrupted) {
        rc = PONS_OK;
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int cli_graph_run(cli *c, const char *name, const graph_words *w, pons_error *err)
{
    session s = {.c = c, .w = w};
    char full[PATH_MAX];
    const bool path = strchr(name, '/') && realpath(name, full);
    snprintf(s.name, sizeof s.name, "%s", path ? full : name);
    int rc = read_words(&s, err);
    if (rc >= 0 && w->at && !w->thread) {
        rc = app_bad(err, "graph run --at needs the --thread that the checkpoint is of");
    }
    if (rc >= 0 && (w->answer || w->answers)) {
        rc = app_bad(err, "graph run takes no answer; `pons graph resume THREAD --answer` does");
    }
    if (rc >= 0 && w->thread) {
        rc = app_thread_name(w->thread, err);
        snprintf(s.thread, sizeof s.thread, "%s", w->thread);
    } else {
        app_new_thread(s.thread);
    }
    rc = rc < 0 ? rc : load_graph(&s, err);
    rc = rc < 0 ? rc : known_nodes(&s, s.before, "--before", err);
    rc = rc < 0 ? rc : known_nodes(&s, s.after, "--after", err);
    rc = rc < 0 ? rc : open_session(&s, true, err);
    rc = rc < 0 ? rc : begin(&s, err);
    rc = rc < 0 ? rc : loop(&s, err);
    rc = rc < 0 ? rc : finish(&s);
    close_session(&s);
    return rc;
}

int cli_graph_resume(cli *c, const char *thread, const graph_words *w, pons_error *err)
{
    session s = {.c = c, .w = w};
    int rc = read_words(&s, err);
    if (rc >= 0 && (w->input || w->at || w->thread)) {
        rc =
            app_bad(err, "graph resume takes the thread alone; run has --input, --at and --thread");
    }
    snprintf(s.thread, sizeof s.thread, "%.*s", PONS_NAME_MAX - 1, thread);
    rc = rc < 0 ? rc : open_session(&s, false, err);
    rc = rc < 0 ? rc : known_nodes(&s, s.before, "--before", err);
    rc = rc < 0 ? rc : known_nodes(&s, s.after, "--after", err);
    rc = rc < 0 ? rc : go_on(&s, err);
    rc = rc < 0 || !s.run ? rc : loop(&s, err);
    rc = rc < 0 ? rc : finish(&s);
    close_session(&s);
    return rc;
}

int cli_graph_update(cli *c, const char *thread, const graph_words *w, pons_error *err)
{
    session s = {.c = c, .w = w};
    pons_autovalue values = NULL;
    if (!w->values && !w->as) {
        return app_bad(err, "graph update needs --values JSON, --as NODE or both");
    }
    int rc = w->values ? cli_value(w->values, "--values", &values, err) : PONS_OK;
    if (rc >= 0 && values && !json_is_object(values)) {
        rc = app_bad(err, "--values takes an object, {channel: value}");
    }
    snprintf(s.thread, sizeof s.thread, "%.*s", PONS_NAME_MAX - 1, thread);
    char id[32] = "";
    rc = rc < 0 ? rc : open_session(&s, false, err);
    rc = rc < 0 ? rc : pons_state_update(s.t, s.graph, ROOT, values, w->as, id, err);
    if (rc >= 0 && c->json) {
        pons_autovalue out =
            pons_object("thread", json_string(s.thread), "checkpoint_id", json_string(id), NULL);
        cli_print_json(out);
    } else if (rc >= 0) {
        cli_out("%s is at checkpoint %s; `pons graph resume %s` goes on\n", s.thread, id, s.thread);
    }
    close_session(&s);
    return rc < 0 ? rc : PONS_OK;
}
