#include "mcp/mcp_fixture.h"

#include "unit.h"

#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed

int host_progress;

pons_value *mcp_json(const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return v;
}

void host_open(host *h, const char *config)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    const char *tmp = getenv("TMPDIR");
    *h = (host){.calls = 0};
    snprintf(h->ws, sizeof h->ws, "%s/pons-mcp-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(h->ws));
    pons_autovalue c = mcp_json(config);
    json_object_set_new(c, "workspace", json_string(h->ws));
    if (pons_mcp_open(c, &clock, &h->tools, &err) < 0) {
        fail_msg("open: %s", err.message);
    }
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void host_close(host *h)
{
    h->tools.ops->close(h->tools.self);
    nftw(h->ws, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *host_read(const host *h, const char *relative)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", h->ws, relative);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    const size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

void host_wait_readable(const host *h)
{
    struct pollfd p = {.fd = h->tools.ops->event_fd(h->tools.self), .events = POLLIN};
    if (poll(&p, 1, HANG_MS) == 0) {
        fail_msg("the servers said nothing");
    }
}

pons_value *host_tool(const host *h, const char *name)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue list = NULL;
    assert_int_equal(h->tools.ops->list(h->tools.self, &list, &err), PONS_OK);
    size_t i;
    json_t *t;
    json_array_foreach(list, i, t) {
        if (strcmp(pons_get_str(t, "name", ""), name) == 0) {
            return pons_value_ref(t);
        }
    }
    return NULL;
}

static void wait_listed(host *h, const char *name, bool listed)
{
    for (;;) {
        pons_autovalue t = host_tool(h, name);
        if ((t != NULL) == listed) {
            return;
        }
        host_wait_readable(h);
        pons_tool_event ev;
        while (h->tools.ops->next(h->tools.self, &ev)) {
            pons_tool_event_clear(&ev);
        }
    }
}

void host_wait_tool(host *h, const char *name)
{
    wait_listed(h, name, true);
}

void host_wait_gone(host *h, const char *name)
{
    wait_listed(h, name, false);
}

uint64_t host_start(host *h, const char *tool, const char *args)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue a = mcp_json(args);
    const uint64_t call = ++h->calls;
    if (h->tools.ops->start(h->tools.self, call, tool, a, "t1/7", &err) < 0) {
        fail_msg("%s: %s", tool, err.message);
    }
    return call;
}

pons_tool_event host_wait(host *h, uint64_t call)
{
    host_progress = 0;
    for (;;) {
        pons_tool_event ev;
        host_wait_readable(h);
        while (h->tools.ops->next(h->tools.self, &ev)) {
            if (ev.call == call && ev.kind != PONS_TOOL_PROGRESS) {
                return ev;
            }
            host_progress += ev.call == call;
            pons_tool_event_clear(&ev);
        }
    }
}

pons_tool_event host_call(host *h, const char *tool, const char *args)
{
    return host_wait(h, host_start(h, tool, args));
}

char *host_output(host *h, const char *tool, const char *args)
{
    pons_tool_event ev = host_call(h, tool, args);
    if (ev.kind != PONS_TOOL_DONE) {
        fail_msg("%s %s: %s", tool, args, ev.error.message);
    }
    char *text = strdup(pons_get_str(ev.value, "output", ""));
    pons_tool_event_clear(&ev);
    return text;
}

void host_fails(host *h, const char *tool, const char *args, int status, const char *says)
{
    pons_tool_event ev = host_call(h, tool, args);
    if (ev.kind != PONS_TOOL_FAILED || ev.error.status != status ||
        !strstr(ev.error.message, says)) {
        fail_msg("%s %s: %s (%s), expected %s with \"%s\"", tool, args, ev.error.message,
                 pons_status_word(ev.error.status), pons_status_word(status), says);
    }
    pons_tool_event_clear(&ev);
}

pons_value *host_status(const host *h, const char *server)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue list = NULL;
    assert_int_equal(pons_mcp_status(&h->tools, &list, &err), PONS_OK);
    size_t i;
    json_t *s;
    json_array_foreach(list, i, s) {
        if (strcmp(pons_get_str(s, "name", ""), server) == 0) {
            return pons_value_ref(s);
        }
    }
    fail_msg("no server %s", server);
    return NULL;
}
