// The client with servers that people really run: @modelcontextprotocol/server-everything over
// stdio and streamable HTTP, and @modelcontextprotocol/server-filesystem. They are in
// $PONS_MCP_PEERS, a folder with node_modules; `./dev test --mcp-peers` installs them. Without it
// the tests say so and are skipped.
#include "mcp/mcp_fixture.h"
#include "pons/module.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVERYTHING "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
#define FILESYSTEM "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"

static const char *peers;
static char text[4 * PATH_MAX];

static const char *need_peers(void)
{
    peers = getenv("PONS_MCP_PEERS");
    if (!peers || !*peers) {
        print_message("skipped: no servers from npm; ./dev test --mcp-peers installs them\n");
        skip();
    }
    return peers;
}

static void shows_version(const host *h, const char *server)
{
    pons_autovalue s = host_status(h, server);
    print_message("%s: %s %s, protocol %s, %d tools\n", server,
                  pons_get_str(pons_get(s, "server"), "name", "?"),
                  pons_get_str(pons_get(s, "server"), "version", "?"),
                  pons_get_str(s, "protocol", "?"), (int)pons_get_int(s, "tools", 0));
}

// What both transports of server-everything must show.
static void try_everything(host *h)
{
    host_wait_tool(h, "all.echo");
    shows_version(h, "all");
    char *out = host_output(h, "all.echo", "{\"message\":\"hello 你好\"}");
    assert_string_equal(out, "Echo: hello 你好");
    free(out);
    out = host_output(h, "all.get-sum", "{\"a\":2,\"b\":40}");
    assert_non_null(strstr(out, "42"));
    free(out);
    out = host_output(h, "all.get-tiny-image", "{}");
    assert_non_null(strstr(out, "[image: image/png, "));
    free(out);
    pons_tool_event ev = host_call(h, "all.get-structured-content", "{\"location\":\"Chicago\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_true(json_is_number(pons_get(pons_get(ev.value, "data"), "temperature")));
    pons_tool_event_clear(&ev);
    ev = host_call(h, "all.get-sum", "{\"a\":\"x\",\"b\":1}"); // refused by the server
    assert_int_equal(ev.kind, PONS_TOOL_FAILED);
    pons_tool_event_clear(&ev);
    out = host_output(h, "all.trigger-long-running-operation", "{\"duration\":1,\"steps\":4}");
    assert_true(host_progress >= 3);
    free(out);
    const uint64_t call =
        host_start(h, "all.trigger-long-running-operation", "{\"duration\":600,\"steps\":6000}");
    for (bool running = false; !running;) { // canceled in the middle of it
        host_wait_readable(h);
        while (h->tools.ops->next(h->tools.self, &ev)) {
            assert_int_equal(ev.kind, PONS_TOOL_PROGRESS);
            running = true;
            pons_tool_event_clear(&ev);
        }
    }
    h->tools.ops->cancel(h->tools.self, call);
    out = host_output(h, "all.echo", "{\"message\":\"after\"}");
    assert_string_equal(out, "Echo: after");
    free(out);
}

static void test_everything_stdio(void **state)
{
    host h;
    (void)state;
    snprintf(text, sizeof text,
             "{\"servers\":{\"all\":{\"command\":\"node\",\"args\":[\"%s/" EVERYTHING "\"]}}}",
             need_peers());
    host_open(&h, text);
    try_everything(&h);
    host_close(&h);
}

static void test_filesystem(void **state)
{
    host h;
    char path[2 * PATH_MAX];
    (void)state;
    need_peers();
    char dir[] = "/tmp/pons-mcp-fs-XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(text, sizeof text,
             "{\"servers\":{\"fs\":{\"command\":\"node\",\"args\":[\"%s/" FILESYSTEM
             "\",\"%s\"],\"trust\":true}}}",
             peers, dir);
    host_open(&h, text);
    host_wait_tool(&h, "fs.write_file");
    shows_version(&h, "fs");
    pons_autovalue read = host_tool(&h, "fs.read_text_file");
    assert_string_equal(pons_get_str(read, "risk", ""), "safe"); // its hint, and the file trusts it
    pons_autovalue write = host_tool(&h, "fs.write_file");
    assert_string_equal(pons_get_str(write, "risk", ""), "dangerous");
    snprintf(path, sizeof path, "{\"path\":\"%s/a.txt\",\"content\":\"一二\\n\"}", dir);
    free(host_output(&h, "fs.write_file", path));
    snprintf(path, sizeof path, "{\"path\":\"%s/a.txt\"}", dir);
    char *out = host_output(&h, "fs.read_text_file", path);
    assert_string_equal(out, "一二\n");
    free(out);
    host_fails(&h, "fs.read_text_file", "{\"path\":\"/etc/passwd\"}", PONS_EIO, "ccess denied");
    host_close(&h);
    snprintf(path, sizeof path, "%s/a.txt", dir);
    unlink(path);
    rmdir(dir);
}

// The server by HTTP; returns its pid, and its port in *port (0: a free one).
static pid_t start_http(int *port)
{
    char file[] = "/tmp/pons-mcp-port-XXXXXX", number[16], script[PATH_MAX], line[16] = "";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    unlink(file);
    snprintf(number, sizeof number, "%d", *port);
    snprintf(script, sizeof script, "%s/" EVERYTHING, peers);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("PORT", number, 1);
        setenv("PORT_FILE", file, 1);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execlp("node", "node", "--require", PONS_SOURCE_DIR "/tests/mcp/loopback.cjs", script,
               "streamableHttp", (char *)NULL);
        _exit(1);
    }
    for (int i = 0; i < 60000 && !line[0]; i++) {
        const struct timespec nap = {.tv_nsec = 2000000};
        nanosleep(&nap, NULL);
        FILE *f = fopen(file, "r");
        if (f) {
            if (!fgets(line, sizeof line, f)) {
                line[0] = '\0';
            }
            fclose(f);
        }
    }
    unlink(file);
    *port = (int)strtol(line, NULL, 10);
    assert_true(*port > 0);
    return pid;
}

static void test_everything_http(void **state)
{
    host h;
    int port = 0;
    (void)state;
    need_peers();
    pid_t pid = start_http(&port);
    snprintf(text, sizeof text, "{\"servers\":{\"all\":{\"url\":\"http://127.0.0.1:%d/mcp\"}}}",
             port);
    host_open(&h, text);
    try_everything(&h);
    // The server is started again: it has forgotten the session, and a new one is begun.
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    pid = start_http(&port);
    pons_tool_event ev = host_call(&h, "all.echo", "{\"message\":\"once more\"}");
    for (int i = 0; i < 5 && ev.kind != PONS_TOOL_DONE; i++) { // the first one may find out
        pons_tool_event_clear(&ev);
        ev = host_call(&h, "all.echo", "{\"message\":\"once more\"}");
    }
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_string_equal(pons_get_str(ev.value, "output", ""), "Echo: once more");
    pons_tool_event_clear(&ev);
    pons_autovalue s = host_status(&h, "all");
    assert_true(pons_get_int(s, "starts", 0) >= 2);
    host_close(&h);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_stdio),
        cmocka_unit_test(test_filesystem),
        cmocka_unit_test(test_everything_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
