#include "tools/tools_fixture.h"

#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed

pons_value *bench_json(const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return v;
}

static void open_tools(bench *b, const char *config)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    pons_autovalue c = bench_json(config ? config : "{}");
    json_object_set_new(c, "workspace", json_string(b->ws));
    if (pons_core_tools_open(c, &clock, &b->tools, &err) < 0) {
        fail_msg("open: %s", err.message);
    }
}

void bench_open(bench *b, const char *config)
{
    char out[PATH_MAX];
    *b = (bench){.calls = 0};
    const char *tmp = getenv("TMPDIR");
    snprintf(b->root, sizeof b->root, "%s/pons-tools-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(b->root));
    snprintf(b->ws, sizeof b->ws, "%s/ws", b->root);
    snprintf(out, sizeof out, "%s/out", b->root);
    assert_int_equal(mkdir(b->ws, 0700), 0);
    assert_int_equal(mkdir(out, 0700), 0);
    open_tools(b, config);
}

void bench_reopen(bench *b, const char *config)
{
    b->tools.ops->close(b->tools.self);
    open_tools(b, config);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void bench_close(bench *b)
{
    b->tools.ops->close(b->tools.self);
    nftw(b->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void bench_write(const bench *b, const char *relative, const char *bytes, size_t n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", b->root, relative);
    for (char *slash = strchr(path + strlen(b->root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

char *bench_read(const bench *b, const char *relative, size_t *ret_n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", b->root, relative);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    const size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    if (ret_n) {
        *ret_n = n;
    }
    return text;
}

pons_tool_event bench_wait(bench *b, uint64_t call)
{
    for (;;) {
        pons_tool_event ev = bench_wait_any(b);
        if (ev.call == call) {
            return ev;
        }
        pons_tool_event_clear(&ev);
    }
}

pons_tool_event bench_wait_any(bench *b)
{
    pons_tool_event ev;
    for (;;) {
        struct pollfd p = {.fd = b->tools.ops->event_fd(b->tools.self), .events = POLLIN};
        if (poll(&p, 1, HANG_MS) == 0) {
            fail_msg("no call says anything");
        }
        while (b->tools.ops->next(b->tools.self, &ev)) {
            if (ev.kind != PONS_TOOL_PROGRESS) {
                return ev;
            }
            pons_tool_event_clear(&ev);
        }
    }
}

pons_tool_event bench_call_key(bench *b, const char *tool, const char *args, const char *key)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue a = bench_json(args);
    const uint64_t call = ++b->calls;
    if (b->tools.ops->start(b->tools.self, call, tool, a, key, &err) < 0) {
        fail_msg("%s %s: %s", tool, args, err.message);
    }
    return bench_wait(b, call);
}

pons_tool_event bench_call(bench *b, const char *tool, const char *args)
{
    return bench_call_key(b, tool, args, NULL);
}

char *bench_output(bench *b, const char *tool, const char *args)
{
    pons_tool_event ev = bench_call(b, tool, args);
    if (ev.kind != PONS_TOOL_DONE) {
        fail_msg("%s %s: %s", tool, args, ev.error.message);
    }
    char *text = strdup(pons_get_str(ev.value, "output", ""));
    pons_tool_event_clear(&ev);
    return text;
}

void bench_refused(bench *b, const char *tool, const char *args, int status, const char *says)
{
    pons_tool_event ev = bench_call(b, tool, args);
    if (ev.kind != PONS_TOOL_FAILED) {
        fail_msg("%s %s: must fail, gave %s", tool, args, pons_get_str(ev.value, "output", ""));
    }
    if (ev.error.status != status || !strstr(ev.error.message, says)) {
        fail_msg("%s %s: %s (%s), expected %s with \"%s\"", tool, args, ev.error.message,
                 pons_status_word(ev.error.status), pons_status_word(status), says);
    }
    pons_tool_event_clear(&ev);
}
