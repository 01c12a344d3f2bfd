// test_terminal_output.c - what reaches a person's terminal when everything that pons keeps or is given is
// hostile: every control character, every mark of direction, what has no width, tags, bytes that
// are no UTF-8.
//
// A workspace is filled through the program itself: a brain's thread with a question, an agent's
// session with a plan and a question, MCP servers, questions of MCP clients, a companion's life, plans,
// trees, a configuration with faults. Then each command that reads is run twice, with its output on a
// pipe and on a terminal, and each byte of both is looked at. That the hostile words did come is
// seen by a mark at their start.
#include "cli_bench.h"
#include "pons/buf.h"
#include "pons/ext/store.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MARK     "Zq7"
#define SHOWN    (1 << 18)                              // bytes of what a command prints, at most
#define NOT_TEXT "\x9b\xc3\xed\xa0\x80\xff\xc0\x8a\xf8" // raw C1, a cut, a surrogate, overlong

// What may not reach a terminal. The program has a table of its own: this one is the promise.
static const uint32_t forbidden[][2] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},    {0x180B, 0x180F},
    {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},   {0xD800, 0xDFFF},  {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}, {0xE0100, 0xE01EF}};

// One of each kind, and all of C0 and C1 but zero.
static const uint32_t also[] = {0xAD,   0x61C,  0x180E,  0x200B, 0x200C, 0x200D, 0x200E,
                                0x200F, 0x2028, 0x2029,  0x202A, 0x202B, 0x202C, 0x202D,
                                0x202E, 0x2060, 0x2066,  0x2067, 0x2068, 0x2069, 0xFE0F,
                                0xFEFF, 0xFFF9, 0xE0001, 0xE0041};

static char raw[512];      // as a word of a command line
static char name[128];     // as a thread's name: no C0
static char escaped[2048]; // as a JSON string's content

static void encode(pons_buf *b, uint32_t cp)
{
    const int more = cp < 0x80 ? 0 : cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    pons_buf_byte(b, (uint8_t)(lead[more] | cp >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) {
        pons_buf_byte(b, (uint8_t)(0x80 | ((cp >> (6 * i)) & 0x3F)));
    }
}

static void add(pons_buf *text, pons_buf *json, uint32_t cp)
{
    encode(text, cp);
    if (cp < 0x10000) {
        pons_buf_printf(json, "\\u%04x", (unsigned)cp);
    } else {
        pons_buf_printf(json, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((cp - 0x10000) >> 10)),
                        (unsigned)(0xDC00 + ((cp - 0x10000) & 0x3FF)));
    }
}

static int make_words(void **state)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_autobuf json = PONS_BUF_INIT;
    pons_autobuf thread = PONS_BUF_INIT;
    (void)state;
    pons_buf_str(&text, MARK "\033[2J\033]0;t\a");
    pons_buf_str(&json, MARK "\\u001b[2J\\u001b]0;t\\u0007");
    pons_buf_str(&thread, MARK);
    for (size_t i = 0; i < sizeof also / sizeof also[0]; i++) {
        add(&text, &json, also[i]);
        if (i % 2 == 0) {
            encode(&thread, also[i]);
        }
    }
    encode(&thread, 0x9B);
    for (uint32_t cp = 1; cp < 0xA0; cp = cp == 0x1F ? 0x7F : cp + 1) {
        add(&text, &json, cp);
    }
    snprintf(raw, sizeof raw, "%s", text.data);
    snprintf(name, sizeof name, "%s", thread.data);
    snprintf(escaped, sizeof escaped, "%s", json.data);
    return 0;
}

// ---- what was shown -----------------------------------------------------------------------------

static bool is_forbidden(uint32_t cp)
{
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (cp >= forbidden[i][0] && cp <= forbidden[i][1]) {
            return true;
        }
    }
    return false;
}

// Commands of pons's own that redraw a line, whole.
static size_t own_command(const char *s)
{
    static const char *const own[] = {"\r\033[K", "\033[2m", "\033[0m", "\033[2A\r"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strncmp(s, own[i], strlen(own[i])) == 0) {
            return strlen(own[i]);
        }
    }
    return 0;
}

static void must_be_plain(const char *command, const char *where, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        const size_t own = own_command(s + i), k = pons_utf8_sequence(s + i, n - i);
        uint32_t cp = k <= 1 ? (unsigned char)s[i] : (unsigned char)s[i] & (0x7FU >> k);
        for (size_t b = 1; b < k; b++) {
            cp = cp << 6 | ((unsigned char)s[i + b] & 0x3FU);
        }
        if (own == 0 && (k == 0 || (is_forbidden(cp) && cp != '\n' && cp != '\t'))) {
            fail_msg("`pons %s` showed %s U+%04X on the %s, behind: %.*s", command,
                     k ? "" : "the byte", (unsigned)cp, where, (int)(i < 60 ? i : 60),
                     s + (i < 60 ? 0 : i - 60));
        }
        i += own ? own : k;
    }
}

// Output and errors on one terminal, as a person has them.
static size_t on_terminal(bench *b, const char *words, char *shown)
{
    char all[4096],
        *argv[BENCH_ARGS_MAX + 4] = {(char *)"pons", (char *)"--workspace", b->workspace};
    size_t argc = 3, n = 0;
    int tty = -1, status = 0;
    struct termios plain;
    cfmakeraw(memset(&plain, 0, sizeof plain)); // what is written comes as it is
    snprintf(all, sizeof all, "%s", words);
    bench_split(all, argv, &argc);
    const pid_t pid = forkpty(&tty, NULL, &plain, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("TERM", "dumb", 1);
        setenv("PONS_SHARE", b->share[0] ? b->share : PONS_SOURCE_DIR, 1);
        setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 1);
        unsetenv("PONS_LLM_URL");
        execv(PONS_BINARY_DIR "/pons", argv);
        _exit(127);
    }
    for (ssize_t got = 1; got > 0 && n + 1 < SHOWN;) {
        struct pollfd p = {.fd = tty, .events = POLLIN};
        assert_true(poll(&p, 1, BENCH_LIMIT_S * 1000) > 0);
        got = read(tty, shown + n, SHOWN - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    close(tty);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 5);
    return n;
}

// Both ways. marks: the hostile words come, so the look is not at nothing.
static void look(bench *b, const char *words, bool marks)
{
    static char shown[SHOWN];
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int status = bench_finish(&p);
    char *err = bench_stderr(&p);
    const char *text = p.length ? p.text : "";
    const bool marked = strstr(text, MARK) || strstr(err, MARK);
    if (status > 4 || marked != marks) {
        fail_msg("`pons %s`: status %d, %s: %s%s", words, status, marks ? "no mark" : "a mark",
                 text, err);
    }
    must_be_plain(words, "pipe", text, p.length);
    must_be_plain(words, "error stream", err, strlen(err));
    free(err);
    bench_free(&p);
    const size_t n = on_terminal(b, words, shown);
    must_be_plain(words, "terminal", shown, n);
    assert_int_equal(memmem(shown, n, MARK, strlen(MARK)) != NULL, marks);
}

static void lookf(bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void lookf(bench *b, const char *fmt, ...)
{
    char words[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    look(b, words, true);
}

// A plan's canonical bytes are for a program: on a pipe they are as they are.
static void look_json(bench *b, const char *words)
{
    static char shown[SHOWN];
    const size_t n = on_terminal(b, words, shown);
    must_be_plain(words, "terminal", shown, n);
    shown[n] = '\0';
    const char *json = strstr(shown, "\n{\"c"); // behind what was repaired
    assert_non_null(json);
    pons_autovalue v = NULL; // the same plan
    assert_int_equal(pons_value_parse(json + 1, strcspn(json + 1, "\n"), &v, NULL), PONS_OK);
    assert_string_equal(pons_get_str(v, "goal", ""), raw);
}

static void run(bench *b, const char *input, int status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void run(bench *b, const char *input, int status, const char *fmt, ...)
{
    char words[4096];
    proc p = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    bench_start(b, &p, input, words);
    bench_must_exit(&p, status);
    must_be_plain(words, "pipe", p.length ? p.text : "", p.length);
    bench_free(&p);
}

static const char *file(bench *b, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static const char *file(bench *b, const char *path, const char *fmt, ...)
{
    static char text[32768];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return bench_file(b, path, text);
}

// ---- the commands -------------------------------------------------------------------------------

// pons takes no such name for a new thread, but a program with the store in its hands can give one.
static void rename_thread(bench *b, const char *from)
{
    char path[128];
    pons_store s = {0};
    snprintf(path, sizeof path, "%s/pons.db", b->workspace);
    assert_int_equal(pons_store_sqlite_open(path, &s, NULL), 0);
    assert_int_equal(s.ops->thread_copy(s.self, from, name, NULL), 0);
    assert_int_equal(s.ops->thread_delete(s.self, from, NULL), 0);
    pons_store_close(&s);
}

// A thread with a hostile name, decisions with hostile reasons, and a question about hostile words.
static void a_brain(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    bench_share(&b, BENCH_ASKS);
    file(
        &b, "s.yaml",
        "replies:\n- decision: {type: CONTINUE, reason: \"%s\", ops: [{op: dispatch, skill: speak, "
        "args: {text: \"%s\"}}]}\n"
        "- decision: {type: CONTINUE, reason: \"%s\", ops: [{op: dispatch, skill: "
        "navigate_to_pose, args: {zone: kitchen}}]}\n  repeat: true\n",
        escaped, escaped, escaped);
    run(&b, NULL, 4, "run --thread t --llm script:%s/s.yaml " FAST " 去厨房", b.dir);
    rename_thread(&b, "t");
    lookf(&b, "run --thread '%sy' --llm script:%s/s.yaml " FAST " 去厨房", name, b.dir);
    lookf(&b, "status '%s'", name);
    look(&b, "status", true);
    look(&b, "approve", true);
    look(&b, "threads", true);
    lookf(&b, "threads show '%s'", name);
    lookf(&b, "threads events '%s'", name);
    lookf(&b, "threads history '%s'", raw);
    lookf(&b, "threads fork '%s' '%sx'", name, name);
    lookf(&b, "threads prune '%s'", name);
    lookf(&b, "approve '%s' reject '%s'", name, raw);
    lookf(&b, "say '%s'", raw);
    bench_close(&b);
}

// Plans, answers, questions and lessons of a model.
static void an_agent(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    file(&b, "s.yaml",
         "replies:\n"
         "- tool_calls: [{name: plan_create, arguments: {title: \"%s\", steps: [\"%s\"]}}]\n"
         "- content: \"%s\"\n- content: \"%s\"\n",
         escaped, escaped, escaped, escaped);
    lookf(&b, "agent --folder %s --session s1 --llm script:%s/s.yaml '%s'", b.workspace, b.dir,
          "a plan");
    file(&b, "t.yaml",
         "replies:\n- tool_calls: [{name: terminal, arguments: {command: \"rm x %s\"}}]\n"
         "  repeat: true\n",
         escaped);
    run(&b, NULL, 4, "agent --session s2 --llm script:%s/t.yaml remove", b.dir);
    lookf(&b, "approve s2");
    lookf(&b, "threads show s2");
    lookf(&b, "threads show s1");
    look(&b, "threads events s1", false);
    run(&b, NULL, 4, "resume s2 --llm script:%s/t.yaml", b.dir);
    run(&b, "\n", 0, "agent --session s1 --llm script:%s/s.yaml", b.dir);
    bench_close(&b);
}

// Servers' names, descriptions and errors, and what a client's question says.
static void mcp(void **state)
{
    bench b;
    char input[8192];
    (void)state;
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    file(&b, "good",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\","
         "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"%s\",\"version\":\"%s\"}}}\n"
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"%s\",\"description\":"
         "\"%s\",\"inputSchema\":{\"type\":\"object\"}}]}}\n",
         escaped, escaped, escaped, escaped);
    file(&b, "bad", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"%s\"}}\n",
         escaped);
    file(&b, "ws/mcp.json",
         "{\"mcpServers\":{\"good\":{\"command\":\"sh\",\"args\":[\"-c\",\"cat %s/good; exec cat "
         ">/dev/null\"]},\"bad\":{\"command\":\"sh\",\"args\":[\"-c\",\"cat %s/bad; exec cat "
         ">/dev/null\"]}}}",
         b.dir, b.dir);
    look(&b, "mcp tools", true);
    look(&b, "doctor", true);
    snprintf(
        input, sizeof input,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"%s\","
        "\"version\":\"%s\"}}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
        "\"params\":{\"name\":\"terminal\",\"arguments\":{\"command\":\"touch %s\"}}}\n",
        escaped, escaped, escaped);
    proc p = {0};
    bench_start(&b, &p, input, "mcp serve --tools core");
    bench_must_exit(&p, 0);
    char *err = bench_stderr(&p);
    must_be_plain("mcp serve", "error stream", err, strlen(err));
    assert_non_null(strstr(err, MARK));
    free(err);
    bench_free(&p);
    look(&b, "mcp questions", true);
    file(&b, "ws/mcp.json", "{\"mcpServers\":{\"%s\":{\"command\":5}}}", escaped);
    look(&b, "mcp tools", true);
    bench_close(&b);
}

static void a_companion(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    run(&b, NULL, 0, "companion message '%s' --sender '%s'", raw, raw);
    run(&b, NULL, 0, "companion run --days 1 --from 2026-03-02 --seed 1");
    look(&b, "companion log --from 2026-03-02 --all", true);
    look(&b, "companion status", false);
    lookf(&b, "companion why '%s'", raw);
    bench_close(&b);
}

// Files that a person was given: plans, trees, scripts, worlds, scenarios; and their names.
static void files(void **state)
{
    bench b;
    char path[128];
    (void)state;
    bench_open(&b);
    file(&b, "p.json",
         "{\"goal\":\"%s\",\"reasoning\":\"%s\",\"steps\":[{\"step_id\":1,\"action\":\"speak\","
         "\"description\":\"%s\",\"tool_call_type\":\"speak\",\"parameters\":{\"text\":\"%s\"},"
         "\"fallback\":\"%s\"}]}",
         escaped, escaped, escaped, escaped, escaped);
    lookf(&b, "plan show %s/p.json", b.dir);
    lookf(&b, "plan run %s/p.json", b.dir);
    snprintf(path, sizeof path, "plan check %s/p.json", b.dir);
    look_json(&b, path);
    file(&b, "q.json", "{\"goal\":\"g\",\"%s\":1,\"steps\":[]}", escaped);
    lookf(&b, "plan check %s/q.json", b.dir);
    file(&b, "t.mdsl", "root { branch [%s] }", MARK "\xe2\x80\xae\xc2\x9b");
    lookf(&b, "bt check %s/t.mdsl", b.dir);
    file(&b, "t.xml",
         "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Action ID=\"a\" name=\"" MARK
         "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8\xef\xbb\xbf\"/></BehaviorTree></root>");
    lookf(&b, "bt show %s/t.xml", b.dir);
    lookf(&b, "bt show --format dot %s/t.xml", b.dir);
    file(&b, "l.json", "{\"ticks\":1,\"leaves\":{\"a\":\"S\",\"%s\":\"F\"},\"watch\":true}",
         escaped);
    lookf(&b, "bt run %s/t.xml --script %s/l.json --watch", b.dir, b.dir);
    lookf(&b, "scenario run '%s'", raw);
    lookf(&b, "run --world '%s' 去厨房", raw);
    lookf(&b, "run '%s'", raw);
    look(&b, "run '" MARK NOT_TEXT "'", false);
    lookf(&b, "'" MARK NOT_TEXT "'");
    lookf(&b, "'%s'", raw);
    lookf(&b, "status --'%s'", raw);
    lookf(&b, "status --%s", raw);
    lookf(&b, "plan show '" MARK NOT_TEXT "'");
    lookf(&b, "bt check '%s'", raw);
    lookf(&b, "graph run '%s'", raw);
    lookf(&b, "graph show '%s'", raw);
    lookf(&b, "run --speed '%s' 去厨房", raw);
    look(&b, "help", false);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_brain, bench_teardown),
        cmocka_unit_test_teardown(an_agent, bench_teardown),
        cmocka_unit_test_teardown(mcp, bench_teardown),
        cmocka_unit_test_teardown(a_companion, bench_teardown),
        cmocka_unit_test_teardown(files, bench_teardown),
    };
    make_words(NULL);
    return bench_together("plain", tests, sizeof tests / sizeof tests[0]);
}
