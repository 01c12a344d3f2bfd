// server.c - the words of `pons serve` and `--serve`, and the line that says where the page is (app/serve/page_server.c).
#include "app/service/service.h"
#include "cli/served.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 1024 };
#define TOKEN_FILE "serve.token"
#define PAGE_FILE  "serve.html" // for --open

struct cli_server {
    cli *c;
    const cli_server_words *w;
    app_server server;
    char origins[NAME_BYTES_MAX], hosts[NAME_BYTES_MAX]; // what the server's lists are cut from
    pid_t browser;                                       // what --open started; 0: nothing
};

// ---- words --------------------------------------------------------------------------------------

static int split(const char *words, const char *option, char text[NAME_BYTES_MAX], const char **ret,
                 size_t *ret_n, pons_error *err)
{
    if (!words) {
        return PONS_OK;
    }
    if (snprintf(text, NAME_BYTES_MAX, "%s", words) >= NAME_BYTES_MAX) {
        return app_bad(err, "%s: that is longer than %d bytes", option, NAME_BYTES_MAX - 1);
    }
    char *rest = NULL;
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        if (*ret_n >= APP_SERVER_NAMES_MAX) {
            return app_bad(err, "%s: at most %d", option, APP_SERVER_NAMES_MAX);
        }
        ret[(*ret_n)++] = at;
    }
    return PONS_OK;
}

// "ADDR:PORT", "[::1]:2024", ":2024" or "2024".
static int listen_at(const char *text, const char *option, app_server *s, pons_error *err)
{
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

static int check(cli_server *s, pons_error *err)
{
    const cli_server_words *w = s->w;
    app_server *to = &s->server;
    const char *usual = w->beside ? "127.0.0.1:0" : "127.0.0.1:2024";
    const char *option = w->tools ? "--listen" : "--serve"; // of `pons serve`, or another's
    double stop_port = -1.0;
    const bool there = w->listen && strcmp(w->listen, "yes") != 0;
    int rc = listen_at(there ? w->listen : usual, option, to, err);
    rc = rc < 0 ? rc : split(w->origins, "--origin", s->origins, to->origins, &to->n_origins, err);
    rc = rc < 0 ? rc : split(w->hosts, "--host", s->hosts, to->hosts, &to->n_hosts, err);
    rc = rc >= 0 && w->stop_port
             ? cli_number(w->stop_port, "--stop-port", 0.0, 65535.0, &stop_port, err)
             : rc;
    to->stop_port = (int)stop_port;
    if (rc >= 0 && !w->cert != !w->key) {
        rc = app_bad(err, "--cert and --key go together");
    }
    rc = rc >= 0 && w->cert ? app_pem_read(w->cert, &to->cert, err) : rc;
    rc = rc >= 0 && w->key ? app_pem_read(w->key, &to->key, err) : rc;
    to->open_doors = w->open_doors != NULL;
    to->ui = w->ui;
    to->tools = w->tools;
    to->may_lack = w->beside;
    if (w->token_file) {
        snprintf(to->token_file, sizeof to->token_file, "%s", w->token_file);
    } else {
        snprintf(to->token_file, sizeof to->token_file, "%s/" TOKEN_FILE, s->c->app.run_dir);
    }
    return rc;
}

// ---- where it is --------------------------------------------------------------------------------

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
                           url, pons_serve_token(s->server.serve, "operator"));
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

// Where it is, for a person with the token that the page takes from the address (a browser sends what
// stands behind # to nobody), for a program without it.
static int tell_ready(void *user, const char *url, const char *stop_url, pons_error *err)
{
    cli_server *s = user;
    const char *print = s->server.fingerprint, *tokens = s->server.token_file;
    if (s->w->open) {
        open_page(s, url);
    }
    if (s->c->json) {
        pons_autovalue ready = pons_object(
            "type", json_string("serve.ready"), "url", json_string(url), "stop_url",
            json_string(stop_url), "token_file", json_string(tokens), "pid", json_integer(getpid()),
            "fingerprint", *print ? json_string(print) : NULL, NULL);
        cli_print_json(ready);
        cli_flush();
        return PONS_OK;
    }
    if (app_service_managed()) { // the journal has more readers than the file of tokens
        cli_out("the page   %s\n", url);
    } else {
        cli_out("the page   %s/#token=%s\n", url, pons_serve_token(s->server.serve, "operator"));
    }
    if (!s->w->beside) {
        cli_out("Stop       %s/stop\n", stop_url);
        cli_out("tokens     %s (viewer, operator, admin)\n", tokens);
    }
    if (*print) {
        cli_out("https      SHA-256 %s\n", print);
    }
    cli_flush();
    return PONS_OK;
}

int cli_server_create(cli *c, const cli_server_words *w, cli_server **ret, pons_error *err)
{
    *ret = NULL;
    if (!w->listen && !w->tools && !w->beside) { // not `pons serve`, and no --serve
        return w->open || w->token_file ? app_bad(err, "--open and --token-file go with --serve")
                                        : PONS_OK;
    }
    cli_server *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "serve", "no memory for a server");
    }
    s->c = c;
    s->w = w;
    app_server_init(&s->server, &c->app);
    s->server.ready = tell_ready;
    s->server.user = s;
    const int rc = check(s, err);
    if (rc < 0) {
        cli_server_destroy(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

int cli_server_claim(cli_server *s, pons_error *err)
{
    const int rc = s ? app_server_claim(&s->server, err) : PONS_OK;
    if (rc >= 0 || !s->w->beside) {
        return rc;
    }
    app_tell_error(&s->c->app, err); // it has the address of the page that is there
    *err = (pons_error)PONS_ERROR_INIT;
    return PONS_OK;
}

app_session_guest cli_server_guest(cli_server *s, const app_server_session *session)
{
    return app_server_guest(&s->server, session);
}

pons_serve *cli_server_serve(cli_server *s)
{
    return app_server_serve(&s->server);
}

void cli_server_destroy(cli_server *s)
{
    if (s) {
        if (s->browser > 0) {
            waitpid(s->browser, NULL, WNOHANG);
        }
        app_server_fini(&s->server);
        free(s);
    }
}
