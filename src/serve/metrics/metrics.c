// metrics.c - what Prometheus reads: counters, histograms and what is right now.
//
//     GET /metrics         text, version 0.0.4, since the server was started
//
//     brain's loop, agents' --event--> counters by type, source, state, …
//     workers ----------------request-> a histogram of times, counters by status
//     whoever commits --------commit--> the same of the store
//     the one who asks ---------------> the text, with what is now (queue, battery, latch) from the
//                                       host's status
//
// A series is a family and its labels, made by the first thing that counts. Labels come from outside
// now and then (an event of a graph that somebody registered, a skill of a module), so there is room
// for SERIES_MAX of them; what comes after that is counted under "other", and no memory is taken for
// it. Times are between the stored moments of two events where events tell them, so a decision's is
// from the observation that it was made of, and an effect's from its dispatch to its end.
#include "serve/metrics/metrics.h"

#include "pons/buf.h"
#include "serve/access/reply.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 256
#define LABELS_MAX 160
#define VALUE_MAX  48 // bytes of a label's value
#define OPEN_MAX   64 // effects whose end has not come
#define BUCKETS    13

// X(symbol, name, help): counters.
#define COUNTERS(X)                                                                                \
    X(EVENTS, "pons_events_total", "Events of all threads that this process ran.")                 \
    X(DECISIONS, "pons_decisions_total", "Decisions of the brain, by type and who decided.")       \
    X(TOKENS, "pons_llm_tokens_total", "Tokens of models that were asked.")                        \
    X(MODEL_CALLS, "pons_llm_calls_total", "Calls of models, by who called.")                      \
    X(TOOL_CALLS, "pons_tool_calls_total", "Calls of tools that have ended.")                      \
    X(EFFECTS, "pons_effects_total", "Transitions of effects, by the state that was reached.")     \
    X(TASKS, "pons_tasks_total", "Tasks that have ended.")                                         \
    X(REFUSED, "pons_guard_refusals_total", "Rules that refused what was to be done.")             \
    X(STOPS, "pons_safety_stops_total", "Stops that were latched.")                                \
    X(RESETS, "pons_safety_resets_total", "Latches that were lifted.")                             \
    X(ASKED, "pons_approvals_total", "Questions to people, and their answers.")                    \
    X(REQUESTS, "pons_http_requests_total", "Requests to the main port, by status.")               \
    X(STOP_REQUESTS, "pons_stop_requests_total", "Requests to Stop's port, by status.")            \
    X(COMMITS, "pons_store_commits_total", "Commits to the store.")

// X(symbol, name, help): histograms of seconds.
#define TIMES(X)                                                                                   \
    X(DECISION, "pons_decision_seconds", "From an observation to the decision.")                   \
    X(MODEL, "pons_llm_seconds", "Calls of models by agents.")                                     \
    X(TOOL, "pons_tool_seconds", "Calls of tools by agents.")                                      \
    X(EFFECT, "pons_effect_seconds", "From an effect's dispatch to its end.")                      \
    X(REQUEST, "pons_http_request_seconds", "From a whole request to its reply.")                  \
    X(STOP, "pons_stop_seconds", "From a request to Stop's port to its reply.")                    \
    X(COMMIT, "pons_store_commit_seconds", "Of a commit.")

#define SYMBOL(symbol, name, help) symbol,
typedef enum counter { COUNTERS(SYMBOL) N_COUNTERS } counter;
#define TIME_SYMBOL(symbol, name, help) TIME_##symbol,
typedef enum timing { TIMES(TIME_SYMBOL) N_TIMES } timing;

typedef struct described {
    const char *name, *help;
} described;

#define ROW(symbol, name, help) {name, help},
static const described counters[] = {COUNTERS(ROW)};
static const described timings[] = {TIMES(ROW)};

static const double bounds[BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1,
                                       0.25,   1,     2.5,    10,    60,   300};

typedef struct series {
    counter of;
    char labels[LABELS_MAX]; // a="b",c="d"
    double value;
} series;

typedef struct histogram {
    uint64_t in[BUCKETS + 1];
    double sum;
} histogram;

typedef struct open_effect {
    char id[40];
    int64_t since_ms;
} open_effect;

struct pons__metrics {
    pons_serve *s;
    int64_t started_ms; // const: wall
    pthread_mutex_t mtx;
    series rows[SERIES_MAX];    // [mtx]
    size_t n;                   // [mtx]
    histogram times[N_TIMES];   // [mtx]
    open_effect open[OPEN_MAX]; // [mtx]
    size_t next_open;           // [mtx]
    int64_t observed_ms;        // [mtx] of the robot's thread; 0: decided since
    struct {
        const char *name;
        int n;
    } feeds[PONS__METRICS_FEEDS]; // [mtx]
};

int pons__metrics_open(pons_serve *s, pons__metrics **ret, pons_error *err)
{
    pons__metrics *m = calloc(1, sizeof *m);
    if (!m) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for metrics");
    }
    m->s = s;
    m->started_ms = pons_wall_ms(&s->o.clock);
    pthread_mutex_init(&m->mtx, NULL);
    *ret = m;
    return PONS_OK;
}

void pons__metrics_close(pons__metrics *m)
{
    if (m) {
        pthread_mutex_destroy(&m->mtx);
        free(m);
    }
}

// ---- counting: under mtx ------------------------------------------------------------------------

// A value of a label, as the format wants it.
static void escaped(const char *value, char ret[2 * VALUE_MAX + 1])
{
    size_t n = 0;
    size_t len = strnlen(value, VALUE_MAX);
    while (value[len] != '\0' && len > 0 && ((unsigned char)value[len] & 0xc0) == 0x80) {
        len--; // not in the middle of a character
    }
    for (size_t i = 0; i < len; i++) {
        const char c = value[i];
        if (c == '"' || c == '\\' || c == '\n') {
            ret[n++] = '\\';
        }
        ret[n++] = c == '\n' ? 'n' : c;
    }
    ret[n] = '\0';
}

static void add(pons__metrics *m, counter of, const char *labels, double by)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->rows[i].of == of && strcmp(m->rows[i].labels, labels) == 0) {
            m->rows[i].value += by;
            return;
        }
    }
    // The last places are for "other" of each counter, so that there always is one.
    const bool other = strcmp(labels, "other=\"1\"") == 0;
    if (m->n + (other ? 0 : N_COUNTERS) >= SERIES_MAX) {
        if (!other) {
            add(m, of, "other=\"1\"", by);
        }
        return;
    }
    series *row = &m->rows[m->n++];
    row->of = of;
    row->value = by;
    snprintf(row->labels, sizeof row->labels, "%s", labels);
}

static void count(pons__metrics *m, counter of, const char *name, const char *value)
{
    char text[2 * VALUE_MAX + 1], labels[LABELS_MAX];
    escaped(value, text);
    snprintf(labels, sizeof labels, "%s=\"%s\"", name, text);
    add(m, of, labels, 1);
}

static void observe(pons__metrics *m, timing of, double seconds)
{
    histogram *h = &m->times[of];
    size_t i = 0;
    if (!isfinite(seconds) || seconds < 0) { // a wall clock was set back between two events
        return;
    }
    while (i < BUCKETS && seconds > bounds[i]) {
        i++;
    }
    h->in[i]++;
    h->sum += seconds;
}

// ---- events -------------------------------------------------------------------------------------

static void on_decision(pons__metrics *m, const pons_event *ev)
{
    char type[2 * VALUE_MAX + 1], source[2 * VALUE_MAX + 1], labels[LABELS_MAX + 64];
    escaped(pons_get_str(pons_get(ev->payload, "decision"), "type", ""), type);
    escaped(pons_get_str(ev->payload, "source", ""), source);
    snprintf(labels, sizeof labels, "type=\"%.40s\",source=\"%.40s\"", type, source);
    add(m, DECISIONS, labels, 1);
    const pons_value *model = pons_get(ev->payload, "model");
    if (model) {
        add(m, MODEL_CALLS, "node=\"brain\"", (double)pons_get_int(model, "calls", 1));
        add(m, TOKENS, "node=\"brain\",kind=\"total\"", (double)pons_get_int(model, "tokens", 0));
    }
    if (m->observed_ms > 0) {
        observe(m, TIME_DECISION, (double)(ev->ts_ms - m->observed_ms) / 1e3);
        m->observed_ms = 0;
    }
}

static void on_effect(pons__metrics *m, const pons_event *ev)
{
    const char *id = pons_get_str(ev->payload, "goal_id", "");
    const char *state = pons_get_str(ev->payload, "state", "");
    count(m, EFFECTS, "state", state);
    if (strcmp(state, "dispatched") == 0) {
        open_effect *o = &m->open[m->next_open++ % OPEN_MAX];
        snprintf(o->id, sizeof o->id, "%s", id);
        o->since_ms = ev->ts_ms;
        return;
    }
    const bool over = strcmp(state, "intended") != 0 && strcmp(state, "accepted") != 0;
    for (size_t i = 0; over && i < OPEN_MAX; i++) {
        if (*id && strcmp(m->open[i].id, id) == 0) {
            observe(m, TIME_EFFECT, (double)(ev->ts_ms - m->open[i].since_ms) / 1e3);
            m->open[i].id[0] = '\0';
        }
    }
}

static void on_model_end(pons__metrics *m, const pons_event *ev)
{
    char node[2 * VALUE_MAX + 1], labels[LABELS_MAX];
    const pons_value *tokens = pons_get(ev->payload, "tokens");
    escaped(pons_get_str(ev->payload, "node", ""), node);
    snprintf(labels, sizeof labels, "node=\"%s\"", node);
    add(m, MODEL_CALLS, labels, 1);
    static const char *const kinds[] = {"prompt", "completion"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(labels, sizeof labels, "node=\"%.96s\",kind=\"%s\"", node, kinds[i]);
        add(m, TOKENS, labels, (double)pons_get_int(tokens, kinds[i], 0));
    }
    observe(m, TIME_MODEL, pons_get_num(ev->payload, "duration_ms", 0.0) / 1e3);
}

static void on_refusal(pons__metrics *m, const pons_event *ev)
{
    const pons_value *rules = pons_get(ev->payload, "rules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        count(m, REFUSED, "rule", pons_get_str(json_array_get(rules, i), "rule", ""));
    }
}

void pons__metrics_event(pons__metrics *m, const pons_event *ev)
{
    const char *type = ev->type;
    pthread_mutex_lock(&m->mtx);
    count(m, EVENTS, "type", type);
    if (strcmp(type, "observation") == 0) {
        m->observed_ms = ev->ts_ms;
    } else if (strcmp(type, "decision") == 0) {
        on_decision(m, ev);
    } else if (strcmp(type, "effect") == 0) {
        on_effect(m, ev);
    } else if (strcmp(type, "llm_end") == 0) {
        on_model_end(m, ev);
    } else if (strcmp(type, "tool_end") == 0) {
        count(m, TOOL_CALLS, "tool", pons_get_str(ev->payload, "tool", ""));
        observe(m, TIME_TOOL, pons_get_num(ev->payload, "duration_ms", 0.0) / 1e3);
    } else if (strcmp(type, "task.done") == 0) {
        count(m, TASKS, "status", pons_get_str(ev->payload, "status", ""));
    } else if (strcmp(type, "guard.refused") == 0) {
        on_refusal(m, ev);
    } else if (strcmp(type, "stop") == 0) {
        const bool latched = pons_get_bool(ev->payload, "latched", false);
        add(m, latched ? STOPS : RESETS, "", 1);
    } else if (strcmp(type, "approval.requested") == 0 || strcmp(type, "approval_request") == 0 ||
               strcmp(type, "plan_approval_request") == 0) {
        count(m, ASKED, "what", "asked");
    } else if (strcmp(type, "approval.resolved") == 0 ||
               strcmp(type, "plan_approval_resolved") == 0) {
        count(m, ASKED, "what", "answered");
    }
    pthread_mutex_unlock(&m->mtx);
}

// ---- the server's own ---------------------------------------------------------------------------

void pons__metrics_request(pons__metrics *m, bool stop, int status, int64_t ns)
{
    char code[16];
    snprintf(code, sizeof code, "%d", status);
    pthread_mutex_lock(&m->mtx);
    count(m, stop ? STOP_REQUESTS : REQUESTS, "code", code);
    observe(m, stop ? TIME_STOP : TIME_REQUEST, (double)ns / PONS_NS_PER_S);
    pthread_mutex_unlock(&m->mtx);
}

void pons__metrics_commit(pons__metrics *m, bool failed, int64_t ns)
{
    pthread_mutex_lock(&m->mtx);
    count(m, COMMITS, "result", failed ? "failed" : "ok");
    observe(m, TIME_COMMIT, (double)ns / PONS_NS_PER_S);
    pthread_mutex_unlock(&m->mtx);
}

void pons__metrics_stream(pons__metrics *m, const char *feed, int by)
{
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < PONS__METRICS_FEEDS; i++) {
        if (!m->feeds[i].name || strcmp(m->feeds[i].name, feed) == 0) {
            m->feeds[i].name = feed;
            m->feeds[i].n += by;
            break;
        }
    }
    pthread_mutex_unlock(&m->mtx);
}

// ---- the text -----------------------------------------------------------------------------------

static void head(pons_buf *b, const char *name, const char *type, const char *help)
{
    pons_buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_counters(const pons__metrics *m, pons_buf *b)
{
    for (int of = 0; of < N_COUNTERS; of++) {
        head(b, counters[of].name, "counter", counters[of].help);
        const bool plain = of == STOPS || of == RESETS;
        bool any = false;
        for (size_t i = 0; i < m->n; i++) {
            const series *row = &m->rows[i];
            if ((int)row->of == of) {
                const bool labels = row->labels[0] != '\0';
                pons_buf_printf(b, "%s%s%s%s %.17g\n", counters[of].name, labels ? "{" : "",
                                row->labels, labels ? "}" : "", row->value);
                any = true;
            }
        }
        if (plain && !any) { // 0 is something to know
            pons_buf_printf(b, "%s 0\n", counters[of].name);
        }
    }
}

static void write_times(const pons__metrics *m, pons_buf *b)
{
    for (int of = 0; of < N_TIMES; of++) {
        const histogram *h = &m->times[of];
        const char *name = timings[of].name;
        uint64_t sum = 0;
        head(b, name, "histogram", timings[of].help);
        for (size_t i = 0; i < BUCKETS; i++) {
            sum += h->in[i];
            pons_buf_printf(b, "%s_bucket{le=\"%g\"} %llu\n", name, bounds[i],
                            (unsigned long long)sum);
        }
        sum += h->in[BUCKETS];
        pons_buf_printf(b, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.17g\n%s_count %llu\n", name,
                        (unsigned long long)sum, name, h->sum, name, (unsigned long long)sum);
    }
}

static void gauge(pons_buf *b, const char *name, const char *help, double value)
{
    head(b, name, "gauge", help);
    pons_buf_printf(b, "%s %.17g\n", name, value);
}

static void write_queue(pons_buf *b, const pons_value *queue)
{
    static const char *const words[] = {"queued", "active", "paused"};
    head(b, "pons_queue_tasks", "gauge", "Tasks in the queue, by their status.");
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t n = 0;
        for (size_t i = 0; i < json_array_size(queue); i++) {
            n += strcmp(pons_get_str(json_array_get(queue, i), "status", ""), words[w]) == 0;
        }
        pons_buf_printf(b, "pons_queue_tasks{status=\"%s\"} %zu\n", words[w], n);
    }
}

// What is now; what is not known is left out.
static void write_now(const pons__request *r, pons_buf *b)
{
    pons_autovalue status = NULL;
    pons_error none = PONS_ERROR_INIT;
    const pons_serve *s = r->s;
    if (s->o.host.status(s->o.host.user, s->o.thread, &status, &none) < 0) {
        gauge(b, "pons_up", "1: the brain's state can be read.", 0);
        return;
    }
    const pons_value *stop = pons_get(status, "stop");
    gauge(b, "pons_up", "1: the brain's state can be read.", 1);
    write_queue(b, pons_get(status, "queue"));
    gauge(b, "pons_approvals_open", "Questions that wait for a person.",
          (double)json_array_size(pons_get(status, "approvals")));
    gauge(b, "pons_skills_running", "Skills that run.",
          (double)json_array_size(pons_get(status, "skills")));
    gauge(b, "pons_body_link", "1: a body answers.", json_is_object(pons_get(status, "body")));
    if (json_is_boolean(pons_get(stop, "latched"))) {
        gauge(b, "pons_safety_latched", "1: a stop is latched.",
              pons_get_bool(stop, "latched", false));
    }
    if (json_is_number(pons_get(status, "battery_pct"))) {
        gauge(b, "pons_battery_ratio", "Of the robot's battery, 0 to 1.",
              pons_get_num(status, "battery_pct", 0.0) / 100.0);
    }
}

static void write_streams(const pons__metrics *m, pons_buf *b)
{
    head(b, "pons_http_streams", "gauge", "Clients that listen, by what they listen to.");
    for (size_t i = 0; i < PONS__METRICS_FEEDS && m->feeds[i].name; i++) {
        pons_buf_printf(b, "pons_http_streams{feed=\"%s\"} %d\n", m->feeds[i].name, m->feeds[i].n);
    }
}

static int metrics(pons__request *r)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons__metrics *m = r->s->metrics;
    write_now(r, &b);
    gauge(&b, "pons_start_time_seconds", "Unix time of the server's start.",
          (double)m->started_ms / 1e3);
    pthread_mutex_lock(&m->mtx);
    write_counters(m, &b);
    write_times(m, &b);
    write_streams(m, &b);
    pthread_mutex_unlock(&m->mtx);
    if (b.failed) {
        return pons__reply_error(r, 503, "no memory");
    }
    return pons__reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", NULL, b.data,
                             b.len);
}

const pons__route pons__metrics_routes[] = {
    {"GET", "/metrics", PONS__VIEWER, metrics},
    {NULL, NULL, PONS__NOBODY, NULL},
};
