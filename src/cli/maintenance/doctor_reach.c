// doctor_reach.c - what `pons doctor` says is reachable is reached: the model's server answers, the broker of VDA 5050
// takes a connection. Each within REACH_MS, one after the other.
#include "cli/maintenance/doctor.h"
#include "pons/config_file.h"
#include "pons/ext/http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REACH_MS = 5000, REPLY_MAX = 1 << 20 };

// ---- a model ------------------------------------------------------------------------------------

// The status of a GET; 0: none, and why.
static int get(const char *url, const char *key, char *why, size_t cap)
{
    const pons_http_ops *http = NULL;
    void *client = NULL;
    char bearer[4096];
    pons_error err = PONS_ERROR_INIT;
    int status = 0;
    bool over = false;
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", key ? key : "");
    const char *const headers[] = {key && *key ? bearer : NULL, NULL};
    const pons_http_request r = {.url = url,
                                 .headers = headers,
                                 .body_max = REPLY_MAX,
                                 .connect_ms = REACH_MS,
                                 .whole_ms = REACH_MS};
    int rc = pons_http_load(&http, &err);
    rc = rc < 0 ? rc : http->open(NULL, NULL, &client, &err);
    rc = rc < 0 ? rc : http->start(client, 1, &r, &err);
    snprintf(why, cap, "%s", err.message);
    while (rc >= 0 && !over) {
        struct pollfd p = {.fd = http->event_fd(client), .events = POLLIN};
        pons_http_event ev;
        if (poll(&p, 1, 2 * REACH_MS) <= 0) {
            snprintf(why, cap, "it says nothing");
            break;
        }
        while (http->next(client, &ev)) {
            if (ev.kind == PONS_HTTP_HEAD) {
                status = ev.status;
            } else if (ev.kind == PONS_HTTP_FAILED && status == 0) {
                snprintf(why, cap, "%s", ev.data ? ev.data : "it cannot be reached");
            }
            over = over || ev.kind == PONS_HTTP_END || ev.kind == PONS_HTTP_FAILED;
            pons_http_event_clear(&ev);
        }
    }
    if (client) {
        http->close(client);
    }
    return status;
}

void doctor_model(doctor *d)
{
    const char *url = app_llm_spec(NULL), *key = getenv("OPENAI_API_KEY");
    const pons_http_ops *http = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_http_url split = {0};
    char why[512] = "", detail[1024];
    if (!url) {
        doctor_say(d, "model", "absent", "none is configured: the rules decide",
                   "set PONS_LLM_URL to use one");
        return;
    }
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        doctor_say(d, "model", "note", "a module's or a file: not asked", NULL);
        return;
    }
    if (pons_http_load(&http, &err) < 0 || http->url(url, "/models", &split, &err) < 0) {
        doctor_say(d, "model", "absent", err.message, "the rules decide until then");
        return;
    }
    const int status = get(split.url, key, why, sizeof why);
    if (status == 401 || status == 403) {
        snprintf(detail, sizeof detail, "%s refuses the key (%d)", split.shown, status);
        doctor_say(d, "model", "absent", detail, "set OPENAI_API_KEY");
    } else if (status > 0 && status < 500) {
        snprintf(detail, sizeof detail, "%s answers (%d)", split.shown, status);
        doctor_say(d, "model", "ok", detail, NULL);
    } else {
        if (status) {
            snprintf(why, sizeof why, "it answers %d", status);
        }
        snprintf(detail, sizeof detail, "%s: %s", split.shown, why);
        doctor_say(d, "model", "absent", detail,
                   "start it, or mend PONS_LLM_URL; the rules decide until then");
    }
    free(split.url);
    free(split.shown);
}

// ---- a broker -----------------------------------------------------------------------------------

static int try_one(const struct addrinfo *a) // 0, or errno
{
    int fault = 0;
    socklen_t n = sizeof fault;
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return errno;
    }
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        fault = errno;
        if (fault == EINPROGRESS) {
            fault = poll(&p, 1, REACH_MS) > 0 ? 0 : ETIMEDOUT;
            if (!fault) {
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &n);
            }
        }
    }
    close(fd);
    return fault;
}

static const char *connects(const char *host, const char *port) // NULL, or why not
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    const int looked = getaddrinfo(host, port, &want, &all);
    int fault = looked ? 0 : EHOSTUNREACH;
    for (const struct addrinfo *a = all; a && fault; a = a->ai_next) {
        fault = try_one(a);
    }
    if (all) {
        freeaddrinfo(all);
    }
    return looked ? gai_strerror(looked) : fault ? strerror(fault) : NULL;
}

// Of a workspace or a person that has the file: who has none speaks to no master control.
void doctor_broker(doctor *d)
{
    char path[PATH_MAX], host[256] = "", port[8] = "", detail[512];
    pons_autovalue config = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_config_place place = PONS_CONFIG_SHIPPED;
    const int found = pons_config_find(d->c->app.workspace, "config/vda5050.yaml", path,
                                       sizeof path, &place, &err);
    if (found == PONS_ENOTFOUND || (found >= 0 && place == PONS_CONFIG_SHIPPED)) {
        return;
    }
    err = (pons_error)PONS_ERROR_INIT;
    if (app_yaml(&d->c->app, "config/vda5050.yaml", "schemas/vda5050.json", &config, &err) < 0) {
        doctor_say(d, "vda5050 broker", "missing", err.message, "`pons config check vda5050.yaml`");
        return;
    }
    const char *url = pons_get_str(config, "broker", "");
    const bool tls = strncmp(url, "mqtts://", 8) == 0;
    const char *at = strstr(url, "://");
    at = at ? at + 3 : url;
    const char *end = *at == '[' ? strchr(at, ']') : NULL;
    const size_t length = end ? (size_t)(end - at - 1) : strcspn(at, ":/");
    snprintf(host, sizeof host, "%.*s", (int)length, end ? at + 1 : at);
    const char *colon = strchr(end ? end : at, ':');
    snprintf(port, sizeof port, "%.5s", colon ? colon + 1 : tls ? "8883" : "1883");
    port[strspn(port, "0123456789")] = '\0';
    const char *why = connects(host, port);
    snprintf(detail, sizeof detail, "%s port %s: %s", host, port, why ? why : "takes a connection");
    doctor_say(d, "vda5050 broker", why ? "absent" : "ok", detail,
               why ? "start it, or mend `broker` in config/vda5050.yaml" : NULL);
}
