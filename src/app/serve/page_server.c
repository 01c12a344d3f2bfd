// page_server.c - the page and the API beside a brain: opened, announced and closed with its session.
//
//     session (app/session/session.c): the brain's loop
//                    guest: open  -> pons_serve_open
//                           event -> every client; before the first one `ready` is told where it is: the thread
//                                    is there, and whoever comes is answered
//                           close -> pons_serve_close, while the store is still open
//
// The brain and the server share a process and the store, nothing else: what a client says goes to
// the inbox that `pons say` of another terminal would use.
//
// One process serves a workspace: run/serve.json is locked as long as it does, and says who it is,
// {pid, url, stop_url}. The lock goes with the process, however it ends.
#include "app/serve/page_server.h"

#include "app/serve/robot_tool.h"
#include "pons/file.h"
#include "pons/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PEM_MAX   (256L * 1024L)
#define LOCK_FILE "serve.json"

int app_pem_read(const char *path, char **ret, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, PEM_MAX, &n);
    if (!text) {
        return app_bad(err, "%s cannot be read: %s", path, pons_file_why(errno));
    }
    if (n > PEM_MAX || !strstr(text, "-----BEGIN ")) {
        free(text);
        return app_bad(err, "%s is no PEM file", path);
    }
    *ret = text;
    return PONS_OK;
}

// Who has it, as its file says; before it is ready, there is no address in it.
static pons_value *holder(int fd)
{
    char text[1024];
    pons_value *who = NULL;
    const ssize_t n = pread(fd, text, sizeof text, 0);
    return n > 0 && pons_value_parse(text, (size_t)n, &who, NULL) >= 0 ? who : NULL;
}

static int taken(const pons_value *who, pons_error *err)
{
    if (!who) {
        return pons_error_set(err, PONS_EBUSY, "serve", "another process serves this workspace");
    }
    const char *url = pons_get_str(who, "url", "");
    return pons_error_set(err, PONS_EBUSY, "serve",
                          "process %lld serves this workspace%s%s; one process does",
                          (long long)pons_get_int(who, "pid", 0), *url ? " at " : "", url);
}

static int write_lock(const app_server *s, const pons_value *who, pons_error *err)
{
    char *text = NULL;
    const long n = pons_value_line(who, &text);
    const bool ok = n > 0 && ftruncate(s->lock, 0) == 0 && pwrite(s->lock, text, (size_t)n, 0) == n;
    free(text);
    return ok ? PONS_OK
              : pons_error_set(err, PONS_EENV, "serve", LOCK_FILE " cannot be written: %s",
                               strerror(errno));
}

int app_server_claim(app_server *s, pons_error *err)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/" LOCK_FILE, s->c->run_dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return pons_error_set(err, PONS_EENV, "serve", "%s cannot be opened: %s", path,
                              strerror(errno));
    }
    int left = 0, why = 0;
    pons_autovalue has = NULL;
    do {
        why = flock(fd, LOCK_EX | LOCK_NB) < 0 ? errno : 0;
        pons_value_unref(has);
        has = why == EWOULDBLOCK ? holder(fd) : NULL;
    } while (has && pons_process_left_lock(pons_get_int(has, "pid", 0), &left));
    if (why) {
        const int rc = why == EWOULDBLOCK
                           ? taken(has, err)
                           : pons_error_set(err, PONS_EENV, "serve", "%s cannot be locked: %s",
                                            path, strerror(why));
        close(fd);
        return rc;
    }
    s->lock = fd;
    pons_autovalue who = pons_object("pid", json_integer(getpid()), NULL);
    return write_lock(s, who, err);
}

// The brain has the body: a client gets its goals done, and no skills beside it.
static int open_tools(app_server *s, pons_store store, pons_error *err)
{
    const app_goal_tools_options goals = {.host = app_host_of(&s->host),
                                          .store = store,
                                          .clock = s->host.clock,
                                          .thread = s->session.thread};
    s->mcp = (app_mcp_parts){.c = s->c,
                             .clock = s->host.clock,
                             .look_only = true,
                             .instructions = "robot_goal gives the robot a goal in plain words; "
                                             "query_world says what it knows of its world."};
    const char *tools = s->tools ? s->tools : "robot";
    int rc = PONS_OK;
    if (app_mcp_wants(tools, "robot")) {
        rc = app_goal_tools_open(&goals, &s->mcp.tools[0], err);
        s->mcp.n_tools = rc >= 0;
    }
    return rc < 0 ? rc : app_mcp_parts_open(&s->mcp, tools, "pons serve", err);
}

static int keep_secret(const char *path, const char *text, pons_error *err)
{
    const int why = pons_file_replace(path, text, strlen(text), 0600);
    return why == 0 ? PONS_OK
                    : pons_error_set(err, PONS_EENV, "serve", "%s cannot be written: %s", path,
                                     strerror(-why));
}

// Beyond this machine it is https: with the certificate that was given, else with one of our own, made
// by the first start and kept, so that who has compared its fingerprint once need not again.
static int certify(app_server *s, const pons_http_server_ops *http, pons_error *err)
{
    char cert[PATH_MAX + 32], key[PATH_MAX + 32], host[256] = "";
    const char *names[APP_SERVER_NAMES_MAX + 4] = {"localhost", "127.0.0.1", s->address};
    size_t n = 3;
    const bool near = strncmp(s->address, "127.", 4) == 0 || strcmp(s->address, "::1") == 0;
    if ((near && !s->cert) || !http->certificate) {
        return PONS_OK;
    }
    snprintf(cert, sizeof cert, "%s/serve.cert", s->c->run_dir);
    snprintf(key, sizeof key, "%s/serve.key", s->c->run_dir);
    const bool given = s->cert != NULL;
    const bool kept = !given && access(cert, F_OK) == 0 && access(key, F_OK) == 0;
    int rc = kept ? app_pem_read(cert, &s->cert, err) : PONS_OK;
    rc = rc >= 0 && kept ? app_pem_read(key, &s->key, err) : rc;
    if (gethostname(host, sizeof host - 1) == 0 && *host) {
        names[n++] = host;
    }
    for (size_t i = 0; i < s->n_hosts; i++) {
        names[n++] = s->hosts[i];
    }
    rc = rc < 0 ? rc : http->certificate(names, n, &s->cert, &s->key, s->fingerprint, err);
    rc = rc >= 0 && !given && !kept ? keep_secret(key, s->key, err) : rc;
    return rc >= 0 && !given && !kept ? keep_secret(cert, s->cert, err) : rc;
}

static void url_of(const app_server *s, int port, char *ret, size_t cap)
{
    const bool v6 = strchr(s->address, ':') != NULL;
    snprintf(ret, cap, v6 ? "%s://[%s]:%d" : "%s://%s:%d", s->cert ? "https" : "http", s->address,
             port);
}

static int tell_ready(void *user, pons_error *err)
{
    app_server *s = user;
    char url[128], stop_url[128];
    if (!s->serve || s->announced) {
        return PONS_OK;
    }
    s->announced = true;
    url_of(s, pons_serve_port(s->serve), url, sizeof url);
    url_of(s, pons_serve_stop_port(s->serve), stop_url, sizeof stop_url);
    pons_autovalue who = pons_object("pid", json_integer(getpid()), "url", json_string(url),
                                     "stop_url", json_string(stop_url), NULL);
    const int rc = write_lock(s, who, err);
    return rc < 0 ? rc : s->ready(s->user, url, stop_url, err);
}

static int open_all(app_server *s, pons_store store, pons_error *err)
{
    s->host = (app_host){.c = s->c,
                         .store = store,
                         .policy = s->session.policy,
                         .thread = s->session.thread,
                         .llm = s->session.llm,
                         .clock = pons_clock_real()};
    pons_autovalue files = NULL;
    int rc = open_tools(s, store, err);
    rc = rc < 0 ? rc : app_tools_config(s->c, &files, err);
    const pons_mcp_server_options tools = app_mcp_options(&s->mcp);
    pons_serve_options o = {.store = store,
                            .clock = s->host.clock,
                            .host = app_host_of(&s->host),
                            .thread = s->session.thread,
                            .address = s->address,
                            .port = s->port,
                            .stop_port = s->stop_port,
                            .token_file = s->token_file,
                            .open_doors = s->open_doors,
                            .origins = s->origins,
                            .n_origins = s->n_origins,
                            .hosts = s->hosts,
                            .n_hosts = s->n_hosts,
                            .certificate = s->cert,
                            .key = s->key,
                            .mcp = &tools,
                            .on_chat = s->session.on_chat,
                            .chat_user = s->session.user,
                            .workspace = s->c->workspace,
                            .tools = files,
                            .ui_dir = s->ui};
    const app_react_options react = {
        .host = o.host, .store = store, .clock = o.clock, .thread = s->session.thread};
    rc = rc < 0 ? rc : app_graphs_open(s->c, &react, &s->graphs, err);
    o.graphs = s->graphs.list;
    o.n_graphs = s->graphs.n;
    app_agent_host(&o.host);
    rc = rc < 0 ? rc : pons_traces_from_environment(&s->traces, err);
    o.traces = s->traces;
    rc = rc < 0 ? rc : pons_http_server_load(&o.http, err);
    pons_error none = PONS_ERROR_INIT;
    if (pons_http_load(&o.client, &none) < 0) {
        o.client = NULL; // who asks for a webhook is told
    }
    rc = rc < 0 ? rc : certify(s, o.http, err);
    o.certificate = s->cert;
    o.key = s->key;
    pons_serve *serve = NULL;
    rc = rc < 0 ? rc : pons_serve_open(&o, &serve, err);
    if (rc >= 0) {
        app_graphs_serve(&s->graphs, serve);
        pthread_mutex_lock(&s->mtx);
        s->serve = serve;
        pthread_mutex_unlock(&s->mtx);
    }
    return rc;
}

static int open_server(void *user, pons_store store, pons_error *err)
{
    app_server *s = user;
    int rc = s->lock < 0 ? PONS_OK : open_all(s, store, err); // -1: another process serves
    if (rc < 0 && s->may_lack) {
        app_tell_error(s->c, err);
        *err = (pons_error)PONS_ERROR_INIT;
        rc = PONS_OK;
    }
    return rc;
}

static void on_event(void *user, const pons_event *ev)
{
    app_server *s = user;
    if (s->serve) {
        tell_ready(s, &(pons_error)PONS_ERROR_INIT);
        pons_serve_event(s->serve, ev);
        app_graphs_event(&s->graphs, ev);
    }
}

// The store's writer may be the one who commits: it must not be in here when the server goes.
static void on_commit(void *user, int rc, int64_t ns)
{
    app_server *s = user;
    pthread_mutex_lock(&s->mtx);
    if (s->serve) {
        pons_serve_commit(s->serve, rc, ns);
    }
    pthread_mutex_unlock(&s->mtx);
}

static void close_server(void *user)
{
    app_server *s = user;
    pons_serve *serve = s->serve;
    pthread_mutex_lock(&s->mtx);
    s->serve = NULL;
    pthread_mutex_unlock(&s->mtx);
    app_graphs_serve(&s->graphs, NULL);
    pons_serve_close(serve);
    pons_traces_close(s->traces);
    s->traces = NULL;
    app_mcp_parts_close(&s->mcp);
    app_graphs_close(&s->graphs);
}

app_session_guest app_server_guest(app_server *s, const app_server_session *session)
{
    s->session = *session;
    return (app_session_guest){.open = open_server,
                               .ready = tell_ready,
                               .event = on_event,
                               .close = close_server,
                               .commit = on_commit,
                               .traces = true,
                               .user = s};
}

pons_serve *app_server_serve(app_server *s)
{
    pthread_mutex_lock(&s->mtx);
    pons_serve *serve = s->serve;
    pthread_mutex_unlock(&s->mtx);
    return serve;
}

void app_server_init(app_server *s, const app_context *c)
{
    *s = (app_server){.c = c, .lock = -1, .mtx = PTHREAD_MUTEX_INITIALIZER};
}

void app_server_fini(app_server *s)
{
    pons_traces_close(s->traces);
    free(s->cert);
    free(s->key);
    if (s->lock >= 0) {
        close(s->lock);
    }
    pthread_mutex_destroy(&s->mtx);
}
