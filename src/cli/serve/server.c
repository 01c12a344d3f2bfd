// server.c - the page and the API beside a brain: opened, announced and closed with its session.
//
//     command -> session (app/session/session.c): the brain's loop
//                    guest: open  -> pons_serve_open, the line that says where
//                           event -> every client
//                           close -> pons_serve_close, while the store is still open
//
// The brain and the server share a process and the store, nothing else: what a client says goes to
// the inbox that `pons say` of another terminal would use.
//
// One process serves a workspace: run/serve.json is locked as long as it does, and says who it is,
// {pid, url, stop_url}. The lock goes with the process, however it ends.
#include "app/serve/robot_tool.h"
#include "app/serve/served_graphs.h"
#include "app/serve/workspace_actions.h"
#include "cli/agent/agent_cli.h"
#include "cli/served.h"
#include "pons/file.h"
#include "pons/proc_stat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMES_MAX  16
#define PEM_MAX    (256L * 1024L)
#define TOKEN_FILE "serve.token"
#define PAGE_FILE  "serve.html" // for --open
#define LOCK_FILE  "serve.json"

typedef struct lists { // of comma-separated words
    char text[1024];
    const char *at[NAMES_MAX];
    size_t n;
} lists;

struct cli_server {
    cli *c;
    const cli_server_words *w;
    cli_server_session session;
    app_host host;
    app_mcp_parts mcp; // what /mcp offers
    lists origins, hosts;
    char address[64], token_file[PATH_MAX + 32];
    int port, stop_port;
    int lock; // run/serve.json; -1: not ours
    char *cert, *key;
    char fingerprint[PONS_HTTP_FINGERPRINT]; // of the certificate; "": there is none
    pons_traces *traces;                     // where the environment wants them; or NULL
    app_graphs graphs;
    pthread_mutex_t mtx;
    pons_serve *serve; // set by the main thread, under mtx
    pid_t browser;     // what --open started; 0: nothing
};

// ---- words --------------------------------------------------------------------------------------

static int split(const char *text, const char *option, lists *ret, pons_error *err)
{
    if (!text) {
        return PONS_OK;
    }
    if ((size_t)snprintf(ret->text, sizeof ret->text, "%s", text) >= sizeof ret->text) {
        return app_bad(err, "%s: that is longer than %zu bytes", option, sizeof ret->text - 1);
    }
    char *rest = NULL;
    for (char *at = strtok_r(ret->text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        if (ret->n >= NAMES_MAX) {
            return app_bad(err, "%s: at most %d", option, NAMES_MAX);
        }
        ret->at[ret->n++] = at;
    }
    return PONS_OK;
}

// "ADDR:PORT", "[::1]:2024", ":2024" or "2024".
static int listen_at(const char *text, cli_server *s, pons_error *err)
{
    const char *option = s->w->tools ? "--listen" : "--serve"; // of `pons serve`, or another's
    const char *colon = strrchr(text, ':');
    const char *port = colon ? colon + 1 : text;
    size_t n = colon ? (size_t)(colon - text) : 0;
    double number = 0.0;
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        text++;
        n -= 2;
    }
    if (n >= sizeof s->address) {
        return app_bad(err, "%s: '%s' is no address", option, text);
    }
    snprintf(s->address, sizeof s->address, "%.*s", n ? (int)n : 9, n ? text : "127.0.0.1");
    if (strcmp(s->address, "localhost") == 0) {
        snprintf(s->address, sizeof s->address, "127.0.0.1");
    }
    struct in6_addr any;
    if (inet_pton(AF_INET, s->address, &any) != 1 && inet_pton(AF_INET6, s->address, &any) != 1) {
        return app_bad(err, "%s: '%s' is no IP address", option, s->address);
    }
    const int rc = cli_number(port, option, 0.0, 65535.0, &number, err);
    s->port = (int)number;
    return rc;
}

static int pem(const char *path, char **ret, pons_error *err)
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

static int check(cli_server *s, pons_error *err)
{
    const cli_server_words *w = s->w;
    double stop_port = -1.0;
    const bool there = w->listen && strcmp(w->listen, "yes") != 0;
    int rc = listen_at(there ? w->listen : "127.0.0.1:2024", s, err);
    rc = rc < 0 ? rc : split(w->origins, "--origin", &s->origins, err);
    rc = rc < 0 ? rc : split(w->hosts, "--host", &s->hosts, err);
    rc = rc >= 0 && w->stop_port
             ? cli_number(w->stop_port, "--stop-port", 0.0, 65535.0, &stop_port, err)
             : rc;
    s->stop_port = (int)stop_port;
    if (rc >= 0 && !w->cert != !w->key) {
        rc = app_bad(err, "--cert and --key go together");
    }
    rc = rc >= 0 && w->cert ? pem(w->cert, &s->cert, err) : rc;
    rc = rc >= 0 && w->key ? pem(w->key, &s->key, err) : rc;
    if (w->token_file) {
        snprintf(s->token_file, sizeof s->token_file, "%s", w->token_file);
    } else {
        snprintf(s->token_file, sizeof s->token_file, "%s/" TOKEN_FILE, s->c->app.run_dir);
    }
    return rc;
}

// ---- one process a workspace --------------------------------------------------------------------

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

static int write_lock(const cli_server *s, const pons_value *who, pons_error *err)
{
    char *text = NULL;
    const long n = pons_value_line(who, &text);
    const bool ok = n > 0 && ftruncate(s->lock, 0) == 0 && pwrite(s->lock, text, (size_t)n, 0) == n;
    free(text);
    return ok ? PONS_OK
              : pons_error_set(err, PONS_EENV, "serve", LOCK_FILE " cannot be written: %s",
                               strerror(errno));
}

int cli_server_claim(cli_server *s, pons_error *err)
{
    char path[PATH_MAX + 32];
    if (!s) {
        return PONS_OK;
    }
    snprintf(path, sizeof path, "%s/" LOCK_FILE, s->c->app.run_dir);
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

// ---- along with the session ---------------------------------------------------------------------

// By way of a file that only its owner reads: everybody of the machine sees a program's words, and the
// address has the token in it.
static void open_page(cli_server *s, const char *url)
{
    char path[PATH_MAX + 32], text[512];
    posix_spawn_file_actions_t quiet;
    snprintf(path, sizeof path, "%s/" PAGE_FILE, s->c->app.run_dir);
    const int n = snprintf(text, sizeof text,
                           "<!doctype html><meta charset=\"utf-8\"><title>pons</title>"
                           "<script>location.replace('%s/#token=%s')</script>\n",
                           url, pons_serve_token(s->serve, "operator"));
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool written = fd >= 0 && write(fd, text, (size_t)n) == n;
    if (fd >= 0) {
        close(fd);
    }
    char program[] = "xdg-open";
    char *argv[] = {program, path, NULL};
    posix_spawn_file_actions_init(&quiet);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_addopen(&quiet, i, "/dev/null", O_RDWR, 0);
    }
    if (!written || posix_spawnp(&s->browser, program, &quiet, NULL, argv, environ) != 0) {
        cli_err("pons: no browser can be opened (xdg-open); the page is %s\n", url);
    }
    posix_spawn_file_actions_destroy(&quiet);
}

// The brain has the body: a client gets its goals done, and no skills beside it.
static int open_tools(cli_server *s, pons_store store, pons_error *err)
{
    const app_goal_tools_options goals = {.host = app_host_of(&s->host),
                                          .store = store,
                                          .clock = s->host.clock,
                                          .thread = s->session.thread};
    s->mcp = (app_mcp_parts){.c = &s->c->app,
                             .clock = s->host.clock,
                             .look_only = true,
                             .instructions = "robot_goal gives the robot a goal in plain words; "
                                             "query_world says what it knows of its world."};
    const char *tools = s->w->tools ? s->w->tools : "robot";
    int rc = PONS_OK;
    if (app_mcp_wants(tools, "robot")) {
        rc = app_goal_tools_open(&goals, &s->mcp.tools[0], err);
        s->mcp.n_tools = rc >= 0;
    }
    return rc < 0 ? rc : app_mcp_parts_open(&s->mcp, tools, "pons serve", err);
}

static int keep_secret(const char *path, const char *text, pons_error *err)
{
    const size_t n = strlen(text);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    const int saved = errno;
    if (fd >= 0) {
        close(fd);
    }
    return ok ? PONS_OK
              : pons_error_set(err, PONS_EENV, "serve", "%s cannot be written: %s", path,
                               strerror(saved));
}

// Beyond this machine it is https: with the certificate that was given, else with one of our own, made
// by the first start and kept, so that who has compared its fingerprint once need not again.
static int certify(cli_server *s, const pons_http_server_ops *http, pons_error *err)
{
    char cert[PATH_MAX + 32], key[PATH_MAX + 32], host[256] = "";
    const char *names[NAMES_MAX + 4] = {"localhost", "127.0.0.1", s->address};
    size_t n = 3;
    const bool near = strncmp(s->address, "127.", 4) == 0 || strcmp(s->address, "::1") == 0;
    if ((near && !s->cert) || !http->certificate) {
        return PONS_OK;
    }
    snprintf(cert, sizeof cert, "%s/serve.cert", s->c->app.run_dir);
    snprintf(key, sizeof key, "%s/serve.key", s->c->app.run_dir);
    const bool given = s->cert != NULL;
    const bool kept = !given && access(cert, F_OK) == 0 && access(key, F_OK) == 0;
    int rc = kept ? pem(cert, &s->cert, err) : PONS_OK;
    rc = rc >= 0 && kept ? pem(key, &s->key, err) : rc;
    if (gethostname(host, sizeof host - 1) == 0 && *host) {
        names[n++] = host;
    }
    for (size_t i = 0; i < s->hosts.n; i++) {
        names[n++] = s->hosts.at[i];
    }
    rc = rc < 0 ? rc : http->certificate(names, n, &s->cert, &s->key, s->fingerprint, err);
    rc = rc >= 0 && !given && !kept ? keep_secret(key, s->key, err) : rc;
    return rc >= 0 && !given && !kept ? keep_secret(cert, s->cert, err) : rc;
}

// Where it is, for a person with the token that the page takes from the address (a browser sends what
// stands behind # to nobody), for a program without it.
static int tell_ready(cli_server *s, pons_error *err)
{
    char url[128], stop_url[128];
    const char *scheme = s->cert ? "https" : "http";
    const bool v6 = strchr(s->address, ':') != NULL;
    snprintf(url, sizeof url, v6 ? "%s://[%s]:%d" : "%s://%s:%d", scheme, s->address,
             pons_serve_port(s->serve));
    snprintf(stop_url, sizeof stop_url, v6 ? "%s://[%s]:%d" : "%s://%s:%d", scheme, s->address,
             pons_serve_stop_port(s->serve));
    pons_autovalue who = pons_object("pid", json_integer(getpid()), "url", json_string(url),
                                     "stop_url", json_string(stop_url), NULL);
    const int rc = write_lock(s, who, err);
    if (rc < 0) {
        return rc;
    }
    if (s->w->open) {
        open_page(s, url);
    }
    if (s->c->json) {
        pons_autovalue ready =
            pons_object("type", json_string("serve.ready"), "url", json_string(url), "stop_url",
                        json_string(stop_url), "token_file", json_string(s->token_file), "pid",
                        json_integer(getpid()), "fingerprint",
                        *s->fingerprint ? json_string(s->fingerprint) : NULL, NULL);
        cli_print_json(ready);
        cli_flush();
        return PONS_OK;
    }
    cli_out("the page   %s/#token=%s\n", url, pons_serve_token(s->serve, "operator"));
    cli_out("Stop       %s/stop\n", stop_url);
    cli_out("tokens     %s (viewer, operator, admin)\n", s->token_file);
    if (*s->fingerprint) {
        cli_out("https      SHA-256 %s\n", s->fingerprint);
    }
    cli_flush();
    return PONS_OK;
}

static int open_server(void *user, pons_store store, pons_error *err)
{
    cli_server *s = user;
    s->host = (app_host){.c = &s->c->app,
                         .store = store,
                         .policy = s->session.policy,
                         .thread = s->session.thread,
                         .llm = s->session.llm,
                         .clock = pons_clock_real()};
    pons_autovalue files = NULL;
    int rc = open_tools(s, store, err);
    rc = rc < 0 ? rc : app_tools_config(&s->c->app, &files, err);
    const pons_mcp_server_options tools = app_mcp_options(&s->mcp);
    pons_serve_options o = {.store = store,
                            .clock = s->host.clock,
                            .host = app_host_of(&s->host),
                            .thread = s->session.thread,
                            .address = s->address,
                            .port = s->port,
                            .stop_port = s->stop_port,
                            .token_file = s->token_file,
                            .open_doors = s->w->open_doors != NULL,
                            .origins = s->origins.at,
                            .n_origins = s->origins.n,
                            .hosts = s->hosts.at,
                            .n_hosts = s->hosts.n,
                            .certificate = s->cert,
                            .key = s->key,
                            .mcp = &tools,
                            .on_chat = s->session.on_chat,
                            .chat_user = s->session.user,
                            .workspace = s->c->app.workspace,
                            .tools = files,
                            .ui_dir = s->w->ui};
    const app_react_options react = {
        .host = o.host, .store = store, .clock = o.clock, .thread = s->session.thread};
    rc = rc < 0 ? rc : app_graphs_open(&s->c->app, &react, &s->graphs, err);
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
        rc = tell_ready(s, err);
    }
    return rc;
}

static void on_event(void *user, const pons_event *ev)
{
    cli_server *s = user;
    if (s->serve) {
        pons_serve_event(s->serve, ev);
        app_graphs_event(&s->graphs, ev);
    }
}

// The store's writer may be the one who commits: it must not be in here when the server goes.
static void on_commit(void *user, int rc, int64_t ns)
{
    cli_server *s = user;
    pthread_mutex_lock(&s->mtx);
    if (s->serve) {
        pons_serve_commit(s->serve, rc, ns);
    }
    pthread_mutex_unlock(&s->mtx);
}

static void close_server(void *user)
{
    cli_server *s = user;
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
    if (s->browser > 0) {
        waitpid(s->browser, NULL, WNOHANG);
    }
}

// ---- public functions ---------------------------------------------------------------------------

int cli_server_create(cli *c, const cli_server_words *w, cli_server **ret, pons_error *err)
{
    *ret = NULL;
    if (!w->listen && !w->tools) { // not `pons serve`, and no --serve
        return w->open || w->token_file ? app_bad(err, "--open and --token-file go with --serve")
                                        : PONS_OK;
    }
    cli_server *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "serve", "no memory for a server");
    }
    *s = (cli_server){.c = c, .w = w, .lock = -1, .mtx = PTHREAD_MUTEX_INITIALIZER};
    const int rc = check(s, err);
    if (rc < 0) {
        cli_server_destroy(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

app_session_guest cli_server_guest(cli_server *s, const cli_server_session *session)
{
    s->session = *session;
    return (app_session_guest){.open = open_server,
                               .event = on_event,
                               .close = close_server,
                               .commit = on_commit,
                               .traces = true,
                               .user = s};
}

pons_serve *cli_server_serve(cli_server *s)
{
    pthread_mutex_lock(&s->mtx);
    pons_serve *serve = s->serve;
    pthread_mutex_unlock(&s->mtx);
    return serve;
}

void cli_server_destroy(cli_server *s)
{
    if (s) {
        pons_traces_close(s->traces);
        free(s->cert);
        free(s->key);
        if (s->lock >= 0) {
            close(s->lock);
        }
        pthread_mutex_destroy(&s->mtx);
        free(s);
    }
}
