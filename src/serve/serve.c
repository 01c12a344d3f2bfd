// serve.c - a workspace over HTTP: opening, closing, and the way of a request.
//
//     worker:  door_begin --> door_enter: host, origin, body, token --> route_request --> a handler
//                                  | refused: answered there                |
//                                  v                                        v
//                                 403, 401, 415, 400                 one reply, or a stream
//
//     hub's thread   events of threads to every client      events/event_hub.c
//     host's threads runs of graphs, each on its own, and who follows them   runs/
//     body's thread  telemetry to every client that looks   robot/live_pose.c
//     Foxglove's     the same as topics, over WebSockets     foxglove/foxglove.c
//     Stop's server  a port of its own                      events/stop_port.c
//
// What belongs to a room stands there, with its table of routes; here is only who starts and ends
// in which order. Closing: the main server takes nothing more and its workers finish; Stop stays up
// until the last.
#include "pons/serve.h"

#include "pons/log.h"
#include "pons/random.h"
#include "pons/tools.h"
#include "serve/access/access.h"
#include "serve/access/openapi.h"
#include "serve/access/route.h"
#include "serve/agent/agent_graph.h"
#include "serve/chat/session_threads.h"
#include "serve/events/event_hub.h"
#include "serve/events/stop_port.h"
#include "serve/foxglove/foxglove.h"
#include "serve/langgraph/run_request.h"
#include "serve/langgraph/webhook.h"
#include "serve/mcp/mcp.h"
#include "serve/metrics/metrics.h"
#include "serve/page/static_files.h"
#include "serve/robot/robot.h"
#include "serve/runs/run_host.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NAME_MAX_BYTES 300
#define FILES          4096 // descriptors that are wanted
#define LOGIN_FILES    1024
#define EVENT_MAX      (4UL * 1024UL * 1024UL) // of one event: a thread's whole state

const pons__route *const pons__serve_tables[] = {
    pons__words_routes,          // robot/status_and_commands.c
    pons__live_routes,           // robot/live_pose.c
    pons__manual_control_routes, // robot/manual_control.c
    pons__room_routes,           // robot/map_rooms.c
    pons__past_routes,           // robot/past_states.c
    pons__files_routes,          // robot/workspace_files.c
    pons__camera_routes,         // robot/camera_picture.c
    pons__foxglove_routes,       // foxglove/foxglove.c
    pons__fleet_routes,          // robot/fleet_view.c
    pons__hub_routes,            // events/event_hub.c
    pons__metrics_routes,        // metrics/metrics.c
    pons__mcp_routes,            // mcp/mcp.c
    // langgraph/
    pons__lg_info_routes,
    pons__lg_assistant_routes,
    pons__lg_thread_routes,
    pons__lg_state_routes,
    pons__lg_run_routes,
    pons__lg_store_routes,
    pons__chat_routes, // chat/chat.c
    pons__graph_config_routes,
    pons__openai_routes, // openai/openai.c
    pons__lg_graph_routes,
    pons__lg_cron_routes,
    pons__lg_protocol_routes,
    pons__openapi_routes, // access/openapi.c
    pons__page_routes,    // page/static_files.c
    NULL,
};

static void handle(void *user, pons_http_exchange *x)
{
    pons_serve *s = user;
    pons__request r = {.s = s, .x = x, .openapi = s->openapi};
    const int64_t from = pons_now_ns(&r.s->o.clock);
    pons__door_begin(&r);
    if (strcmp(r.s->http->method(x), "OPTIONS") == 0) {
        pons__door_preflight(&r);
    } else if (pons__door_enter(&r) >= 0) {
        pons__route_request(&r, pons__serve_tables);
    }
    pons_value_unref(r.body);
    pons_value_unref(r.query);
    pons__metrics_request(r.s->metrics, false, r.status, pons_now_ns(&r.s->o.clock) - from);
}

// ---- names --------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static bool put(char **list, size_t *n, const char *fmt, ...)
{
    char text[NAME_MAX_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    list[*n] = strdup(text);
    return list[(*n)++] != NULL;
}

// What a Host header may say, and the origins of pages that this server or Stop's serves. A name
// stands with either port: the page's, and Stop's.
static int names(pons_serve *s, pons_error *err)
{
    const pons_serve_options *o = &s->o;
    const char *address = o->address;
    const char *scheme = o->certificate ? "https" : "http";
    const bool v6 = strchr(address, ':') != NULL;
    const size_t most = 4 * (o->n_hosts + 2);
    size_t n = 0, m = 0;
    bool ok = true;
    s->hosts = calloc(most + 1, sizeof *s->hosts);
    s->origins = calloc(most + o->n_origins + 1, sizeof *s->origins);
    if (!s->hosts || !s->origins) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for names");
    }
    const int ports[] = {s->port, s->stop_port};
    for (size_t p = 0; p < 2; p++) {
        ok = ok && put(s->hosts, &n, v6 ? "[%s]:%d" : "%s:%d", address, ports[p]);
        if (pons__is_loopback(address)) {
            ok = ok && put(s->hosts, &n, "localhost:%d", ports[p]);
        }
        for (size_t i = 0; i < o->n_hosts; i++) {
            ok = ok && put(s->hosts, &n, "%s:%d", o->hosts[i], ports[p]);
            if (ports[p] == (o->certificate ? 443 : 80)) {
                ok = ok && put(s->hosts, &n, "%s", o->hosts[i]);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        ok = ok && put(s->origins, &m, "%s://%s", scheme, s->hosts[i]);
    }
    for (size_t i = 0; i < o->n_origins; i++) {
        ok = ok && put(s->origins, &m, "%s", o->origins[i]);
    }
    return ok ? PONS_OK : pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for names");
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++) {
        free(list[i]);
    }
    free(list);
}

// ---- opening ------------------------------------------------------------------------------------

static int may_listen(const pons_serve_options *o, const char *address, pons_error *err)
{
    if (!pons__is_loopback(address) && !o->certificate) {
        return pons_error_set(err, PONS_EREFUSED, PONS__SERVE,
                              "%s can be reached from other machines: that takes a certificate "
                              "(--cert FILE --key FILE)",
                              address);
    }
    if (!pons__is_loopback(address) && o->open_doors) {
        return pons_error_set(err, PONS_EREFUSED, PONS__SERVE,
                              "without tokens only this machine is served");
    }
    return PONS_OK;
}

// A descriptor of each connection is one of the process's. Half of them may be the main port's, an eighth
// Stop's: however many hold connections, Stop still gets one, and the socket of the body, too. (A login of
// Debian gives 1,024, and may have more for the asking.)
static unsigned share_files(unsigned *ret_stop)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) {
        files.rlim_cur = files.rlim_max = LOGIN_FILES;
    }
    if (files.rlim_cur < FILES && files.rlim_max > files.rlim_cur) {
        struct rlimit more = {files.rlim_max < FILES ? files.rlim_max : FILES, files.rlim_max};
        files = setrlimit(RLIMIT_NOFILE, &more) == 0 ? more : files;
    }
    const rlim_t n = files.rlim_cur < FILES ? files.rlim_cur : FILES;
    *ret_stop = (unsigned)(n / 8);
    return (unsigned)(n / 2);
}

// Stop's port is the next one; where a free one was asked for, any two will do.
static int listen_both(pons_serve *s, pons_error *err)
{
    unsigned stops = 0;
    const pons_http_server_options o = {.address = s->o.address,
                                        .port = (uint16_t)s->o.port,
                                        .certificate = s->o.certificate,
                                        .key = s->o.key,
                                        .workers = 8,
                                        .connections_max = share_files(&stops),
                                        .stream_max = EVENT_MAX,
                                        .handle = handle,
                                        .user = s};
    s->stop_port = s->o.stop_port >= 0 ? s->o.stop_port : s->o.port > 0 ? s->o.port + 1 : 0;
    int rc = pons__stop_open(s, stops, &s->stop, err);
    rc = rc < 0 ? rc : s->http->open(&o, &s->listener, err);
    if (rc >= 0) {
        s->port = s->http->port(s->listener);
        rc = names(s, err);
    }
    if (rc >= 0) {
        atomic_store(&s->ready, true);
    }
    return rc;
}

// The host's graphs, and the agent when the host has one.
static int graphs(pons_serve *s, pons_error *err)
{
    const pons_serve_options *o = &s->o;
    const int rc = s->chat_host ? pons__agent_graph_open(s, &s->agent, err) : PONS_OK;
    s->graphs = rc >= 0 ? calloc(o->n_graphs + 1, sizeof *s->graphs) : NULL;
    if (rc >= 0 && !s->graphs) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for graphs");
    }
    for (size_t i = 0; rc >= 0 && i < o->n_graphs; i++) {
        s->graphs[s->n_graphs++] = o->graphs[i];
    }
    if (rc >= 0 && s->agent) {
        pons__agent_graph_served(s->agent, &s->graphs[s->n_graphs++]);
    }
    return rc;
}

// Without a configuration that can be read nobody knows what is hidden: then no file is shown.
static void open_view(pons_serve *s)
{
    const char *workspace = s->o.workspace;
    char line[512];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue plain =
        workspace ? pons_object("workspace", json_string(workspace), NULL) : NULL;
    if (workspace &&
        pons_tools_view_open(s->o.tools ? s->o.tools : plain, &s->o.clock, &s->view, &err) < 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "no file is shown: %s",
                 pons_error_line(&err, line, sizeof line));
    }
}

int pons_serve_open(const pons_serve_options *opts, pons_serve **ret, pons_error *err)
{
    pons_rand rand;
    pons_serve *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for a server");
    }
    s->o = *opts;
    s->o.address = opts->address ? opts->address : "127.0.0.1";
    s->http = opts->http;
    pons_rand_seed_os(&rand);
    snprintf(s->boot_id, sizeof s->boot_id, "%016" PRIx64 "%016" PRIx64, pons_rand_u64(&rand),
             pons_rand_u64(&rand));
    int rc = may_listen(opts, s->o.address, err);
    rc = rc < 0 ? rc : pons__tokens_load(opts->token_file, &s->tokens, err);
    open_view(s);
    rc = rc < 0 ? rc : pons__openapi_open(&s->openapi, err);
    rc = rc < 0 ? rc : pons__metrics_open(s, &s->metrics, err);
    rc = rc < 0 ? rc : pons__page_open(s, &s->page, err);
    rc = rc < 0 ? rc : pons__hub_open(s, &s->hub, err);
    rc = rc < 0 ? rc : pons__live_open(s, &s->live, err);
    rc = rc < 0 ? rc : pons__foxglove_open(s, &s->foxglove, err);
    rc = rc < 0 ? rc : pons__steering_open(s, &s->steering, err);
    rc = rc < 0 ? rc : pons__mcp_open(s, &s->mcp, err);
    rc = rc < 0 ? rc : pons__chat_host_open(s, &s->chat_host, err);
    rc = rc < 0 ? rc : graphs(s, err);
    rc = rc < 0 ? rc : pons__runhost_open(s, &s->host, err);
    rc = rc < 0 ? rc : pons__webhooks_open(s, &s->webhooks, err);
    rc = rc < 0 ? rc : listen_both(s, err);
    if (rc >= 0) {
        pons__lg_crons_begin(s);
    }
    if (rc < 0) {
        pons_serve_close(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

void pons_serve_close(pons_serve *s)
{
    if (!s) {
        return;
    }
    pons__hub_stop(s->hub);
    pons__live_stop(s->live);
    pons__foxglove_stop(s->foxglove);
    pons__mcp_stop(s->mcp);
    pons__runhost_stop(s->host);
    pons__webhooks_close(s->webhooks);
    pons__chat_host_stop(s->chat_host);
    if (s->listener) {
        s->http->close(s->listener);
    }
    pons__stop_close(s->stop);
    pons__hub_close(s->hub);
    pons__live_close(s->live);
    pons__foxglove_close(s->foxglove);
    pons__steering_close(s->steering);
    pons__mcp_close(s->mcp);
    pons__runhost_close(s->host);
    pons__chat_host_close(s->chat_host);
    pons__agent_graph_close(s->agent);
    free(s->graphs);
    pons_tools_view_close(s->view);
    pons__page_close(s->page);
    pons__metrics_close(s->metrics);
    pons__openapi_close(s->openapi);
    free_list(s->hosts);
    free_list(s->origins);
    free(s);
}

int pons_serve_port(const pons_serve *s)
{
    return s->port;
}

int pons_serve_stop_port(const pons_serve *s)
{
    return s->stop_port;
}

const char *pons_serve_token(const pons_serve *s, const char *role)
{
    for (int r = PONS__VIEWER; r < PONS__ROLES; r++) {
        if (strcmp(role, pons__role_name((pons__role)r)) == 0) {
            return s->tokens.text[r];
        }
    }
    return "";
}

int pons_serve_answer(pons_serve *s, const char *thread, const char *await_id, pons_value *answer)
{
    return pons__runhost_tell(s->host, thread, await_id, PONS__TELL_ANSWER, answer);
}

int pons_serve_message(pons_serve *s, const char *thread, const char *await_id, const char *node,
                       pons_value *chunk)
{
    json_object_set_new(chunk, PONS__TELL_NODE, json_string(node));
    return pons__runhost_tell(s->host, thread, await_id, PONS__TELL_MESSAGE, chunk);
}

static int may_chat(const pons_serve *s, const char *session, pons_error *err)
{
    return s->chat_host
               ? pons__chat_host_name(s->chat_host, session, err)
               : pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "there is no agent here");
}

int pons_serve_chat(pons_serve *s, const char *session, const char *text, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    const char *says = NULL;
    int stop = PONS_OK;
    const int rc = may_chat(s, session, err);
    if (rc >= 0 && pons__chat_stops(s, text, &stop, &says, &why)) {
        pons_error none = PONS_ERROR_INIT;
        (void)pons__chat_host_halt(s->chat_host, session, &none);
        if (stop < 0 && err) {
            *err = why;
        }
        return stop;
    }
    return rc < 0 ? rc : pons__chat_host_say(s->chat_host, session, text, NULL, true, NULL, err);
}

int pons_serve_chat_answer(pons_serve *s, const char *session, const char *question,
                           const pons_value *answer, pons_error *err)
{
    const int rc = may_chat(s, session, err);
    return rc < 0 ? rc : pons__chat_host_answer(s->chat_host, session, question, answer, err);
}

int pons_serve_chat_open(pons_serve *s, const char *session, pons_error *err)
{
    const int rc = may_chat(s, session, err);
    return rc < 0 ? rc : pons__chat_host_join(s->chat_host, session, NULL, err);
}

int pons_serve_chat_stop(pons_serve *s, const char *session, pons_error *err)
{
    const int rc = may_chat(s, session, err);
    return rc < 0 ? rc : pons__chat_host_halt(s->chat_host, session, err);
}

void pons_serve_commit(pons_serve *s, int rc, int64_t ns)
{
    pons__metrics_commit(s->metrics, rc < 0, ns);
}
