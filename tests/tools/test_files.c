// read_file, write_file, list_dir, search_files: what they do, that no path, link or race leads out
// of the workspace, that devices, FIFOs and binary files are refused by their kind, and that what
// is too long is cut and says so. Everything happens in a directory of the test's own, with a
// secret outside of the workspace that must never be seen.
#include "tools/core/config.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SECRET "the secret outside"

static void put(const bench *b, const char *relative, const char *text)
{
    bench_write(b, relative, text, strlen(text));
}

static void join(char *ret, size_t cap, const bench *b, const char *relative)
{
    snprintf(ret, cap, "%s/%s", b->root, relative);
}

static void link_to(const bench *b, const char *target, const char *relative)
{
    char path[PATH_MAX];
    join(path, sizeof path, b, relative);
    assert_int_equal(symlink(target, path), 0);
}

static void test_reads_and_writes(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    char *out =
        bench_output(&b, "write_file", "{\"path\":\"notes/a.md\",\"content\":\"one\\n二\\n\"}");
    assert_string_equal(out, "wrote notes/a.md, 8 bytes");
    free(out);
    out = bench_output(&b, "read_file", "{\"path\":\"notes/a.md\"}");
    assert_string_equal(out, "one\n二\n");
    free(out);
    out = bench_output(&b, "read_file", "{\"path\":\"notes/../notes//./a.md\",\"first_line\":2}");
    assert_string_equal(out, "二\n");
    free(out);
    char args[PATH_MAX + 64]; // the workspace's own absolute path is as good as a relative one
    snprintf(args, sizeof args, "{\"path\":\"%s/notes/a.md\",\"lines\":1}", b.ws);
    out = bench_output(&b, "read_file", args);
    assert_string_equal(out, "one\n");
    free(out);
    out = bench_output(&b, "write_file", "{\"path\":\"notes/a.md\",\"content\":\"\"}");
    assert_non_null(strstr(out, "replaced notes/a.md, 0 bytes\n--- a/notes/a.md"));
    free(out);
    bench_refused(&b, "write_file",
                  "{\"path\":\"notes/a.md\",\"content\":\"x\",\"if_exists\":\"refuse\"}",
                  PONS_EEXIST, "exists already");
    bench_refused(&b, "read_file", "{\"path\":\"none.md\"}", PONS_ENOTFOUND, "there is no none.md");
    bench_refused(&b, "read_file", "{\"path\":\"notes/a.md\",\"first_line\":5}", PONS_EINVAL,
                  "has no line 5");
    bench_refused(&b, "read_file", "{\"path\":\"notes\"}", PONS_EREFUSED, "a directory");
    bench_refused(&b, "write_file", "{\"path\":\"notes\",\"content\":\"x\"}", PONS_EREFUSED,
                  "a directory");
    bench_close(&b);
}

static void test_paths_stay_inside(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "out/secret", SECRET);
    put(&b, "ws/in/file", "inside");
    char out[PATH_MAX];
    join(out, sizeof out, &b, "out");
    link_to(&b, "../out/secret", "ws/link");
    link_to(&b, out, "ws/absolute");
    link_to(&b, "/", "ws/root");
    link_to(&b, "in/file", "ws/good");
    link_to(&b, "loop", "ws/loop");
    static const char *const paths[] = {
        "../out/secret",    "/etc/passwd", "in/../../out/secret", "..",
        "./in/./../../out", "/",           "//etc/passwd"};
    char args[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        snprintf(args, sizeof args, "{\"path\":\"%s\"}", paths[i]);
        bench_refused(&b, "read_file", args, PONS_EREFUSED, "the workspace");
        bench_refused(&b, "list_dir", args, PONS_EREFUSED, "the workspace");
        snprintf(args, sizeof args, "{\"path\":\"%s\",\"content\":\"x\"}", paths[i]);
        bench_refused(&b, "write_file", args, PONS_EREFUSED, "the workspace");
    }
    snprintf(args, sizeof args, "{\"path\":\"%s-not/x\"}",
             b.ws); // a name that only begins the same
    bench_refused(&b, "read_file", args, PONS_EREFUSED, "outside the workspace");
    bench_refused(&b, "read_file", "{\"path\":\"link\"}", PONS_EREFUSED, "leads out");
    bench_refused(&b, "read_file", "{\"path\":\"absolute/secret\"}", PONS_EREFUSED, "leads out");
    bench_refused(&b, "read_file", "{\"path\":\"root/etc/passwd\"}", PONS_EREFUSED, "leads out");
    bench_refused(&b, "list_dir", "{\"path\":\"absolute\"}", PONS_EREFUSED, "leads out");
    bench_refused(&b, "read_file", "{\"path\":\"loop\"}", PONS_EREFUSED, "a link");
    char *text = bench_output(&b, "read_file", "{\"path\":\"good\"}"); // a link that stays inside
    assert_string_equal(text, "inside");
    free(text);
    // Writing follows no link at all.
    bench_refused(&b, "write_file", "{\"path\":\"link\",\"content\":\"x\"}", PONS_EREFUSED,
                  "a link");
    bench_refused(&b, "write_file", "{\"path\":\"good\",\"content\":\"x\"}", PONS_EREFUSED,
                  "a link");
    bench_refused(&b, "write_file", "{\"path\":\"absolute/x\",\"content\":\"x\"}", PONS_EREFUSED,
                  "link");
    bench_refused(&b, "search_files", "{\"path\":\"absolute\",\"name\":\"*\"}", PONS_EREFUSED,
                  "leads out");
    text = bench_output(&b, "search_files", "{\"text\":\"secret\"}"); // links are not walked
    assert_null(strstr(text, "outside"));
    free(text);
    text = bench_read(&b, "out/secret", NULL);
    assert_string_equal(text, SECRET);
    free(text);
    bench_close(&b);
}

typedef struct swapper {
    char folder[PATH_MAX], aside[PATH_MAX], link[PATH_MAX];
    atomic_bool stop;
} swapper;

// A folder that is now itself and now a link to the outside.
static void *swap(void *arg)
{
    swapper *s = arg;
    while (!atomic_load(&s->stop)) {
        rename(s->folder, s->aside);
        rename(s->link, s->folder);
        rename(s->folder, s->link);
        rename(s->aside, s->folder);
    }
    return NULL;
}

static void test_races_do_not_lead_out(void **state)
{
    bench b;
    swapper s = {.stop = false};
    pthread_t thread;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "out/file", SECRET);
    put(&b, "ws/folder/file", "inside");
    link_to(&b, "../out", "ws/link");
    join(s.folder, sizeof s.folder, &b, "ws/folder");
    join(s.aside, sizeof s.aside, &b, "ws/aside");
    join(s.link, sizeof s.link, &b, "ws/link");
    assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
    int inside = 0;
    for (int i = 0; i < 150; i++) {
        pons_tool_event ev = bench_call(&b, "read_file", "{\"path\":\"folder/file\"}");
        if (ev.kind == PONS_TOOL_DONE) {
            assert_string_equal(pons_get_str(ev.value, "output", ""), "inside");
            inside++;
        }
        pons_tool_event_clear(&ev);
        ev = bench_call(&b, "write_file", "{\"path\":\"folder/new\",\"content\":\"x\"}");
        pons_tool_event_clear(&ev);
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
    print_message("read inside %d of 150 times\n", inside);
    char *text = bench_read(&b, "out/new", NULL);
    assert_null(text);
    bench_close(&b);
}

static void test_only_regular_files(void **state)
{
    bench b;
    char path[PATH_MAX];
    (void)state;
    bench_open(&b, NULL);
    join(path, sizeof path, &b, "ws/fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    bench_refused(&b, "read_file", "{\"path\":\"fifo\"}", PONS_EREFUSED, "a FIFO");
    bench_refused(&b, "write_file", "{\"path\":\"fifo\",\"content\":\"x\"}", PONS_EREFUSED,
                  "a FIFO");
    link_to(&b, "/dev/zero", "ws/zero");
    bench_refused(&b, "read_file", "{\"path\":\"zero\"}", PONS_EREFUSED, "leads out");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/sock", b.ws);
    if (n < (int)sizeof address.sun_path) {
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        bench_refused(&b, "read_file", "{\"path\":\"sock\"}", PONS_EREFUSED, "a socket");
        close(fd);
    }
    char *text =
        bench_output(&b, "search_files", "{\"name\":\"*\",\"text\":\"x\"}"); // does not hang
    free(text);
    bench_close(&b);
}

static void test_binary_and_invalid(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    bench_write(&b, "ws/a.png", "\x89PNG\r\n\x1a\n....", 12);
    bench_write(&b, "ws/zero", "abc\0def", 7);
    bench_write(&b, "ws/utf16", "\xff\xfeh\0i\0", 6);
    bench_write(&b, "ws/latin", "caf\xe9 au lait, as it was written long ago\n", 41);
    bench_refused(&b, "read_file", "{\"path\":\"a.png\"}", PONS_EUNSUPPORTED,
                  "a PNG image (12 bytes)");
    bench_refused(&b, "read_file", "{\"path\":\"zero\"}", PONS_EUNSUPPORTED, "a binary file");
    bench_refused(&b, "read_file", "{\"path\":\"utf16\"}", PONS_EUNSUPPORTED, "UTF-16");
    pons_tool_event ev = bench_call(&b, "read_file", "{\"path\":\"latin\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_string_equal(pons_get_str(ev.value, "output", ""),
                        "caf\xef\xbf\xbd au lait, as it was written long ago\n");
    assert_int_equal(pons_get_int(pons_get(ev.value, "data"), "invalid_bytes", 0), 1);
    pons_tool_event_clear(&ev);
    bench_close(&b);
}

static void test_huge_is_cut(void **state)
{
    bench b;
    (void)state;
    bench_open(&b,
               "{\"output_kb\":1,\"write_kb\":1,\"files\":{\"list_entries\":3,\"search_hits\":2}}");
    char big[6001];
    for (int i = 0; i < 600; i++) {
        snprintf(big + 10 * i, 11, "line %04d\n", i + 1);
    }
    bench_write(&b, "ws/big", big, sizeof big - 1);
    pons_tool_event ev = bench_call(&b, "read_file", "{\"path\":\"big\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_true(pons_get_bool(ev.value, "truncated", false));
    const char *text = pons_get_str(ev.value, "output", "");
    assert_non_null(strstr(text, "ask for first_line 103]"));
    assert_true(strlen(text) < 1024 + 128);
    pons_tool_event_clear(&ev);
    char *out = bench_output(&b, "read_file", "{\"path\":\"big\",\"first_line\":103,\"lines\":1}");
    assert_string_equal(out, "line 0103\n");
    free(out);
    // A character is not cut in two.
    char wide[3001];
    for (int i = 0; i < 1000; i++) {
        memcpy(wide + 3 * i, "厨", 3);
    }
    bench_write(&b, "ws/wide", wide, 3000);
    ev = bench_call(&b, "read_file", "{\"path\":\"wide\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_null(strstr(pons_get_str(ev.value, "output", ""), "\xef\xbf\xbd"));
    pons_tool_event_clear(&ev);
    char args[2200] = "{\"path\":\"x\",\"content\":\"";
    memset(args + strlen(args), 'x', 1500);
    strcat(args, "\"}");
    bench_refused(&b, "write_file", args, PONS_EREFUSED, "more than the 1024");
    put(&b, "ws/1", "line here");
    put(&b, "ws/2", "line there");
    ev = bench_call(&b, "list_dir", "{}");
    assert_true(pons_get_bool(ev.value, "truncated", false));
    pons_tool_event_clear(&ev);
    ev = bench_call(&b, "search_files", "{\"text\":\"line\"}");
    assert_true(pons_get_bool(ev.value, "truncated", false));
    assert_int_equal(json_array_size(pons_get(pons_get(ev.value, "data"), "found")), 2);
    pons_tool_event_clear(&ev);
    bench_close(&b);
}

static void test_hidden_and_protected(void **state)
{
    bench b;
    char reason[256], path[PATH_MAX], other[PATH_MAX];
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/mcp.json", "{\"key\":\"sk-secret\"}");
    put(&b, "ws/sub/.env", "KEY=sk-secret");
    put(&b, "ws/config/kernel.yaml", "tick_hz: 10");
    link_to(&b, "mcp.json", "ws/alias");
    join(path, sizeof path, &b, "ws/mcp.json");
    join(other, sizeof other, &b, "ws/hard");
    assert_int_equal(link(path, other), 0);
    put(&b, "ws/run/serve.token", "admin sk-secret");
    put(&b, "ws/sub/.env.local", "KEY=sk-secret");
    join(path, sizeof path, &b, "ws/run/serve.token");
    join(other, sizeof other, &b, "ws/token");
    assert_int_equal(link(path, other), 0);
    static const char *const hidden[] = {"mcp.json", "sub/.env",        "alias",
                                         "hard",     "sub/../mcp.json", "run/serve.token",
                                         "token",    "sub/.env.local"};
    char args[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        snprintf(args, sizeof args, "{\"path\":\"%s\"}", hidden[i]);
        bench_refused(&b, "read_file", args, PONS_EREFUSED, "hidden");
    }
    char *out = bench_output(&b, "search_files", "{\"text\":\"sk-secret\"}");
    assert_string_equal(out, "nothing found\n");
    free(out);
    out = bench_output(&b, "list_dir", "{}");
    assert_null(strstr(out, "mcp.json"));
    free(out);
    static const char *const protected[] = {"mcp.json", "config/kernel.yaml", "run/body.ledger",
                                            "pons.db",  ".git/config",        "sub/.git/hooks/x",
                                            "."};
    for (size_t i = 0; i < sizeof protected / sizeof protected[0]; i++) {
        snprintf(args, sizeof args, "{\"path\":\"%s\",\"content\":\"x\"}", protected[i]);
        bench_refused(&b, "write_file", args, PONS_EREFUSED, "protected");
        pons_autovalue a = bench_json(args);
        if (strcmp(protected[i], ".") != 0) {
            assert_int_equal(
                b.tools.ops->assess(b.tools.self, "write_file", a, reason, sizeof reason),
                PONS_TOOL_BLOCKED);
            assert_non_null(strstr(reason, "protected"));
        }
    }
    bench_close(&b);
}

static void test_search(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a/one.md", "first\nThe Kitchen is north\n");
    put(&b, "ws/a/two.txt", "kitchen\r\nkitchen again");
    bench_write(&b, "ws/a/bin", "kitchen\0", 8);
    char *out = bench_output(&b, "search_files", "{\"text\":\"kitchen\"}");
    assert_string_equal(out, "a/two.txt:1: kitchen\na/two.txt:2: kitchen again\n");
    free(out);
    out = bench_output(
        &b, "search_files",
        "{\"text\":\"KITCHEN\",\"ignore_case\":true,\"name\":\"*.md\",\"path\":\"a\"}");
    assert_string_equal(out, "a/one.md:2: The Kitchen is north\n");
    free(out);
    out = bench_output(&b, "search_files", "{\"name\":\"t*\"}");
    assert_non_null(strstr(out, "a/two.txt\n"));
    free(out);
    bench_refused(&b, "search_files", "{}", PONS_EINVAL, "needs a name, a text");
    bench_close(&b);
}

// One key, one write; after a restart the ledger tells what became of it.
static void test_keys(void **state)
{
    bench b;
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    bench_open(&b, NULL);
    pons_tool_event ev =
        bench_call_key(&b, "write_file", "{\"path\":\"k\",\"content\":\"first\"}", "t1/1");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    put(&b, "ws/k", "changed by a person");
    ev = bench_call_key(&b, "write_file", "{\"path\":\"k\",\"content\":\"first\"}", "t1/1");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_true(pons_get_bool(ev.value, "cached", false));
    pons_tool_event_clear(&ev);
    char *text = bench_read(&b, "ws/k", NULL);
    assert_string_equal(text, "changed by a person");
    free(text);
    // A write whose end was not recorded: the file itself tells.
    put(&b, "ws/run/tools.ledger",
        "{\"key\":\"t1/1\",\"state\":\"begun\",\"what\":{}}\n"
        "{\"key\":\"t1/1\",\"state\":\"ended\",\"result\":{\"output\":\"wrote k\"}}\n"
        "{\"key\":\"t1/2\",\"state\":\"begun\",\"what\":{\"path\":\"m\",\"bytes\":2,\"sha256\":"
        "\"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4\"}}\n"
        "{\"key\":\"t1/3\",\"state\":\"begun\",\"what\":{\"command\":\"x\"}}\n"
        "{\"key\":\"t1/4\",\"sta"); // cut by a crash
    bench_reopen(&b, NULL);
    const pons_tools t = b.tools;
    assert_int_equal(t.ops->adopt(t.self, 100, "write_file", "t1/1", &err), PONS_OK);
    ev = bench_wait(&b, 100);
    assert_string_equal(pons_get_str(ev.value, "output", ""), "wrote k");
    pons_tool_event_clear(&ev);
    assert_int_equal(t.ops->adopt(t.self, 101, "write_file", "t1/2", &err), PONS_ENOTFOUND);
    put(&b, "ws/m", "hi"); // its SHA-256 is the one above
    assert_int_equal(t.ops->adopt(t.self, 102, "write_file", "t1/2", &err), PONS_OK);
    ev = bench_wait(&b, 102);
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    assert_int_equal(t.ops->adopt(t.self, 103, "terminal", "t1/3", &err), PONS_ECLOSED);
    assert_int_equal(t.ops->adopt(t.self, 104, "write_file", "t1/4", &err), PONS_ENOTFOUND);
    assert_int_equal(t.ops->adopt(t.self, 105, "read_file", "t1/5", &err), PONS_ENOTFOUND);
    ev = bench_call_key(&b, "terminal", "{\"command\":\"touch again\"}", "t1/3");
    assert_int_equal(ev.kind, PONS_TOOL_FAILED); // not a second time
    assert_int_equal(ev.error.status, PONS_ECLOSED);
    pons_tool_event_clear(&ev);
    assert_null(bench_read(&b, "ws/again", NULL));
    bench_close(&b);
}

static void test_configuration(void **state)
{
    bench b;
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    (void)state;
    static const struct {
        const char *config, *says;
    } bad[] = {{"{}", "workspace"},
               {"{\"workspace\":\"relative\"}", "/workspace"},
               {"{\"workspace\":\"/\",\"colour\":1}", "colour"},
               {"{\"workspace\":\"/\",\"terminal\":{\"timeout_s\":0}}", "/terminal/timeout_s"},
               {"{\"workspace\":\"/\",\"tools\":[\"fly\"]}", "there is no tool fly"},
               {"{\"workspace\":\"/\",\"risk\":{\"terminal\":\"mild\"}}", "/risk/terminal"},
               {"{\"workspace\":\"/no/such/place\"}", "/no/such/place"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_autovalue c = bench_json(bad[i].config);
        pons_tools t = {0};
        assert_true(pons_core_tools_open(c, &clock, &t, &err) < 0);
        assert_null(t.ops);
        if (!strstr(err.message, bad[i].says)) {
            fail_msg("%s: %s", bad[i].config, err.message);
        }
    }
    bench_open(&b, "{\"tools\":[\"read_file\",\"terminal\"],\"risk\":{\"read_file\":\"warn\"}}");
    pons_autovalue list = NULL;
    assert_int_equal(b.tools.ops->list(b.tools.self, &list, &err), PONS_OK);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(pons_get_str(json_array_get(list, 0), "risk", ""), "warn");
    pons_autovalue args = bench_json("{\"path\":\"x\"}");
    assert_int_equal(b.tools.ops->start(b.tools.self, 1, "list_dir", args, NULL, &err),
                     PONS_ENOTFOUND);
    bench_close(&b);
}

// A person's configuration that lies where the tools work, by either of its names: not read, and not made
// where there is none yet.
static void test_a_persons_configuration(void **state)
{
    bench b;
    char place[PATH_MAX];
    (void)state;
    char *saved = getenv("XDG_CONFIG_HOME") ? strdup(getenv("XDG_CONFIG_HOME")) : NULL;
    bench_open(&b, NULL);
    join(place, sizeof place, &b, "ws/home/.config");
    setenv("XDG_CONFIG_HOME", place, 1);
    bench_reopen(&b, NULL);
    bench_refused(&b, "write_file",
                  "{\"path\":\"home/.config/pons/kernel.yaml\",\"content\":\"{}\"}", PONS_EREFUSED,
                  "protected");
    put(&b, "ws/dots/pons/kernel.yaml", "tick_hz: 10");
    put(&b, "ws/home/mine.md", "mine");
    link_to(&b, "../dots", "ws/home/.config");
    bench_reopen(&b, NULL);
    bench_refused(&b, "read_file", "{\"path\":\"dots/pons/kernel.yaml\"}", PONS_EREFUSED, "hidden");
    bench_refused(&b, "write_file", "{\"path\":\"dots/Pons/tools.yaml\",\"content\":\"{}\"}",
                  PONS_EREFUSED, "protected");
    // It lies elsewhere, but files of it are links, and one of them leads to what is not there yet.
    join(place, sizeof place, &b, "elsewhere");
    setenv("XDG_CONFIG_HOME", place, 1);
    put(&b, "ws/linked/notify.yaml", "url: http://x");
    put(&b, "elsewhere/pons/prompts/own.md", "own");
    link_to(&b, "../../ws/linked/notify.yaml", "elsewhere/pons/notify.yaml");
    link_to(&b, "../../../ws/linked/later.md", "elsewhere/pons/prompts/agent.md");
    bench_reopen(&b, NULL);
    bench_refused(&b, "write_file", "{\"path\":\"linked/notify.yaml\",\"content\":\"{}\"}",
                  PONS_EREFUSED, "protected");
    bench_refused(&b, "read_file", "{\"path\":\"linked/notify.yaml\"}", PONS_EREFUSED, "hidden");
    bench_refused(&b, "write_file", "{\"path\":\"linked/later.md\",\"content\":\"{}\"}",
                  PONS_EREFUSED, "protected");
    char *out = bench_output(&b, "read_file", "{\"path\":\"home/mine.md\"}");
    assert_non_null(strstr(out, "mine"));
    free(out);
    bench_close(&b);
    if (saved) {
        setenv("XDG_CONFIG_HOME", saved, 1);
    } else {
        unsetenv("XDG_CONFIG_HOME");
    }
    free(saved);
}

// Where a hidden name is a link, at any depth, what it leads to is as hidden.
static void test_hidden_behind_links(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/conf/one.md", "# a\nsk-secret");
    put(&b, "ws/conf/two.md", "# b\nsk-secret");
    put(&b, "ws/conf/seen.yaml", "c: plain");
    put(&b, "ws/sub/deep/x", "");
    put(&b, "ws/keys/a/three.md", "sk-secret");
    link_to(&b, "keys", "ws/mcp.json"); // of whatever kind it is
    link_to(&b, "conf/one.md", "ws/.env");
    link_to(&b, "../../conf/two.md", "ws/sub/deep/.env");
    link_to(&b, "conf/seen.yaml", "ws/kernel.yaml"); // is only protected
    bench_refused(&b, "read_file", "{\"path\":\"conf/one.md\"}", PONS_EREFUSED, "hidden");
    bench_refused(&b, "read_file", "{\"path\":\"conf/two.md\"}", PONS_EREFUSED, "hidden");
    bench_refused(&b, "read_file", "{\"path\":\"keys/a/three.md\"}", PONS_EREFUSED, "hidden");
    bench_refused(&b, "write_file", "{\"path\":\"conf/two.md\",\"content\":\"x\"}", PONS_EREFUSED,
                  "");
    char *out = bench_output(&b, "search_files", "{\"text\":\"sk-secret\"}");
    assert_string_equal(out, "nothing found\n");
    free(out);
    out = bench_output(&b, "search_knowledge", "{\"query\":\"secret\"}");
    assert_null(strstr(out, "conf/"));
    free(out);
    out = bench_output(&b, "read_file", "{\"path\":\"conf/seen.yaml\"}");
    assert_non_null(strstr(out, "plain"));
    free(out);
    bench_close(&b);
}

// Configuration that is a link: what it leads to is configuration too, also before it is there.
static void test_configuration_behind_links(void **state)
{
    bench b;
    char path[PATH_MAX];
    (void)state;
    bench_open(&b, NULL);
    bench_write(&b, "ws/real.yaml", "x", 1);
    bench_write(&b, "ws/folder/kernel.yaml", "x", 1);
    snprintf(path, sizeof path, "%s/graph_config.yaml", b.ws);
    assert_int_equal(symlink("real.yaml", path), 0);
    snprintf(path, sizeof path, "%s/config", b.ws);
    assert_int_equal(symlink("folder", path), 0);
    static const char *const rows[] = {"real.yaml", "folder/kernel.yaml", "folder/new.yaml",
                                       "graph_config.yaml", "config/x"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char args[256];
        snprintf(args, sizeof args, "{\"path\":\"%s\",\"content\":\"y\"}", rows[i]);
        bench_refused(&b, "write_file", args, PONS_EREFUSED, "protected");
    }
    bench_close(&b);
    bench_open(&b, NULL);
    snprintf(path, sizeof path, "%s/graph_config.yaml", b.ws);
    assert_int_equal(symlink("later.yaml", path), 0);
    bench_write(&b, "ws/config/x", "x", 1);
    snprintf(path, sizeof path, "%s/config/kernel.yaml", b.ws);
    bench_write(&b, "ws/kept.yaml", "x", 1);
    assert_int_equal(symlink("../kept.yaml", path), 0);
    bench_refused(&b, "write_file", "{\"path\":\"kept.yaml\",\"content\":\"y\"}", PONS_EREFUSED,
                  "protected");
    bench_refused(&b, "write_file", "{\"path\":\"later.yaml\",\"content\":\"y\"}", PONS_EREFUSED,
                  "protected");
    bench_close(&b);
}

// Without what only people read.
static void strip(json_t *v)
{
    static const char *const read[] = {"description", "title", "$schema"};
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        if (json_is_string(json_object_get(v, read[i]))) {
            json_object_del(v, read[i]);
        }
    }
    if (json_object_get(v, "type")) {
        json_object_del(v, "default");
    }
    const char *name;
    json_t *member;
    json_object_foreach(v, name, member) {
        strip(member);
    }
}

static void test_published_schema(void **state)
{
    (void)state;
    pons_autovalue published = json_load_file(PONS_SOURCE_DIR "/schemas/tools.json", 0, NULL);
    pons_autovalue own = json_loads(pons__tools_schema, 0, NULL);
    assert_non_null(published);
    assert_non_null(own);
    strip(published);
    json_object_del(own, "required"); // the host's: where the tools work
    json_object_del(json_object_get(own, "properties"), "workspace");
    json_object_del(json_object_get(own, "properties"), "folder");
    if (!json_equal(published, own)) {
        char *a = json_dumps(published, JSON_SORT_KEYS), *b = json_dumps(own, JSON_SORT_KEYS);
        fail_msg("schemas/tools.json: %s\nthe program: %s", a, b);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_and_writes),
        cmocka_unit_test(test_paths_stay_inside),
        cmocka_unit_test(test_races_do_not_lead_out),
        cmocka_unit_test(test_only_regular_files),
        cmocka_unit_test(test_binary_and_invalid),
        cmocka_unit_test(test_huge_is_cut),
        cmocka_unit_test(test_hidden_and_protected),
        cmocka_unit_test(test_a_persons_configuration),
        cmocka_unit_test(test_hidden_behind_links),
        cmocka_unit_test(test_configuration_behind_links),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_published_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
