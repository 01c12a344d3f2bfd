#include "cli_bench.h"

#include "cli/commands.h"
#include "pons/clock.h"
#include "unit.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <poll.h>
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

#define READ_BYTES      65536
#define BENCH_TESTS_MAX 32
#define BENCH_AT_ONCE   6 // each is a run, its robot, and whoever looks on
#define BENCH_PROCS_MAX 8

// What is open now, for the teardown of a test that failed.
static struct {
    bench bench; // dir "": none
    pid_t pids[BENCH_PROCS_MAX];
    size_t n;
} still;

static void begin(bench *b, proc *p, const char *path, const char *words, bool with_input);
static bool is_plain(const char *words);
static bool read_some(proc *p, int64_t until_ms);
static void forget(pid_t pid);

static void show(const proc *p);

static int64_t now_ms(void)
{
    const pons_clock c = pons_clock_real();
    return pons_now_ms(&c);
}

void bench_rest(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) < 0 && errno == EINTR) {
    }
}

void bench_again(int64_t *since, const char *awaited)
{
    const int64_t now = now_ms();
    *since = *since ? *since : now;
    if (now - *since > (int64_t)BENCH_LIMIT_S * 1000) {
        fail_msg("waited for %s", awaited);
    }
    bench_rest(20);
}

// ---- workspace ----------------------------------------------------------------------------------

void bench_open(bench *b)
{
    *b = (bench){0};
    snprintf(b->dir, sizeof b->dir, "/tmp/pons-cli-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->workspace, sizeof b->workspace, "%s/ws", b->dir);
    still.bench = *b;
    still.n = 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void bench_close(bench *b)
{
    bench_end_body(b);
    nftw(b->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    still.bench.dir[0] = '\0';
}

int bench_teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < still.n; i++) {
        kill(still.pids[i], SIGKILL);
        waitpid(still.pids[i], NULL, 0);
    }
    still.n = 0;
    if (still.bench.dir[0]) {
        bench_close(&still.bench);
    }
    return 0;
}

// One that was waited for may be somebody else's pid by now.
static void forget(pid_t pid)
{
    for (size_t i = 0; i < still.n; i++) {
        if (still.pids[i] == pid) {
            still.pids[i--] = still.pids[--still.n];
        }
    }
}

const char *bench_file(bench *b, const char *name, const char *text)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

void bench_put(const bench *b, const char *name, const char *text)
{
    char path[160], temp[160];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    snprintf(temp, sizeof temp, "%s/temp", b->workspace);
    FILE *f = fopen(temp, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(temp, path), 0);
}

void bench_edit(const bench *b, const char *name, const char *was, const char *is)
{
    char path[256], text[16384], to[sizeof text + 512];
    snprintf(path, sizeof path, "%.96s/%.120s", b->workspace, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *at = strstr(text, was);
    assert_non_null(at);
    snprintf(to, sizeof to, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
    bench_put(b, name, to);
}

void bench_fleet(bench *b)
{
    bench_open(b);
    assert_int_equal(bench_run(b, "onboard --fleet"), 0);
    bench_edit(b, "map.yaml", "  - {id: p1,",
               "  - {id: p4, kind: park, x: 9.0, y: 4.65, at: corridor-3}\n  - {id: p1,");
    bench_edit(b, "fleet.yaml", "start: p1", "start: p4");
}

void bench_share(bench *b, const char *replace, const char *with)
{
    static const char *const linked[] = {"worlds", "schemas", "scenarios", "trees", "ui"},
                             *const settings[] = {"intents.yaml", "notify.yaml", "sight.yaml",
                                                  "vision.yaml"};
    char from[256], to[256];
    snprintf(b->share, sizeof b->share, "%s/share", b->dir);
    assert_int_equal(mkdir(b->share, 0700), 0);
    snprintf(to, sizeof to, "%s/config", b->share);
    assert_int_equal(mkdir(to, 0700), 0);
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        snprintf(from, sizeof from, "%s/%s", PONS_SOURCE_DIR, linked[i]);
        snprintf(to, sizeof to, "%s/%s", b->share, linked[i]);
        assert_int_equal(symlink(from, to), 0);
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        snprintf(from, sizeof from, "%s/config/%s", PONS_SOURCE_DIR, settings[i]);
        snprintf(to, sizeof to, "%s/config/%s", b->share, settings[i]);
        assert_int_equal(symlink(from, to), 0);
    }
    FILE *in = fopen(PONS_SOURCE_DIR "/config/kernel.yaml", "r");
    assert_non_null(in);
    static char text[1 << 16];
    const size_t n = fread(text, 1, sizeof text - 1, in);
    text[n] = '\0';
    fclose(in);
    char *at = strstr(text, replace);
    assert_non_null(at);
    static char changed[sizeof text + 256];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, with,
             at + strlen(replace));
    bench_file(b, "share/config/kernel.yaml", changed);
}

// ---- programs -----------------------------------------------------------------------------------

// Whether this process has no thread but this one: what is forked beside others is not whole.
static bool is_alone(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3; // ., .. and one thread
}

void bench_start(bench *b, proc *p, const char *input, const char *words)
{
    char all[4096];
    snprintf(all, sizeof all, "--workspace %s %s", b->workspace, words);
    int in[2] = {-1, -1};
    if (input) {
        assert_int_equal(pipe2(in, O_CLOEXEC), 0);
        assert_int_equal(write(in[1], input, strlen(input)), (ssize_t)strlen(input));
        close(in[1]);
    }
    const int keep = input ? dup(STDIN_FILENO) : -1;
    if (input) { // the child takes over what is standard input here
        dup2(in[0], STDIN_FILENO);
        close(in[0]);
    }
    const char *program = getenv("PONS_PROGRAM"); // an optimised one, for long figures
    program = program ? program : is_plain(words) && is_alone() ? NULL : PONS_BINARY_DIR "/pons";
    begin(b, p, program, all, input != NULL);
    if (input) {
        dup2(keep, STDIN_FILENO);
        close(keep);
    }
}

void bench_start_program(bench *b, proc *p, const char *path, const char *words)
{
    begin(b, p, path, words, p->mark == 1);
}

// Whether all it does is in one process. The start of a sanitized program takes 35 ms of the processor, a fork 3 ms.
static bool is_plain(const char *words)
{
    static const char *const plain[] = {
        "approve", "backup",  "cancel",   "config", "continue", "doctor",  "fleet",    "help",
        "items",   "lessons", "logs",     "map",    "onboard",  "pace",    "pause",    "places",
        "reset",   "say",     "schedule", "status", "stop",     "threads", "workspace"};
    const size_t n = strcspn(words, " ");
    bool is = false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        is = is || (strncmp(plain[i], words, n) == 0 && !plain[i][n]);
    }
    return is && strncmp(words, "fleet run", strlen("fleet run")) != 0;
}

// The program itself, in a child that has nothing open of the test's.
static _Noreturn void be_program(int argc, char **argv)
{
    for (int s = 1; s < NSIG; s++) { // cmocka's
        struct sigaction is;
        if (sigaction(s, NULL, &is) == 0 && is.sa_handler != SIG_IGN) {
            signal(s, SIG_DFL);
        }
    }
    close_range(STDERR_FILENO + 1, ~0U, 0);
    exit(cli_main(argc, argv));
}

// path NULL: the program's own entry.
static void begin(bench *b, proc *p, const char *path, const char *words, bool with_input)
{
    char text[4096];
    char *argv[BENCH_ARGS_MAX + 2] = {(char *)(path ? path : "pons")};
    size_t argc = 1;
    int out[2];
    snprintf(text, sizeof text, "%s", words);
    bench_split(text, argv, &argc);
    *p = (proc){.events = json_array()};
    snprintf(p->err_path, sizeof p->err_path, "%s/err.%d", b->dir, b->procs++);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int err = open(p->err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int null = open("/dev/null", O_RDONLY);
        dup2(out[1], STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        if (!with_input) {
            dup2(null, STDIN_FILENO);
        }
        setenv("PONS_SHARE", b->share[0] ? b->share : PONS_SOURCE_DIR, 1);
        setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 1);
        setenv("PONS_LANGUAGE", "en", 0); // test_language.c has its own
        setenv("NO_PROXY", "127.0.0.1", 1);
        setenv("no_proxy", "127.0.0.1", 1);
        unsetenv("PONS_LLM_URL");
        unsetenv("PONS_LLM_MODEL");
        unsetenv("OPENAI_BASE_URL");
        unsetenv("OPENAI_API_KEY");
        unsetenv("PONS_WORKSPACE");
        char person[96]; // whoever runs the tests may have a configuration
        snprintf(person, sizeof person, "%s/person", b->dir);
        setenv("XDG_CONFIG_HOME", person, 1);
        if (!path) {
            be_program((int)argc, argv);
        }
        execv(path, argv);
        _exit(127);
    }
    close(out[1]);
    assert_true(still.n < BENCH_PROCS_MAX);
    still.pids[still.n++] = pid;
    p->pid = pid;
    p->out = out[0];
}

// At spaces; '…' keeps them.
void bench_split(char *words, char **argv, size_t *argc)
{
    for (char *at = words; *at && *argc < BENCH_ARGS_MAX;) {
        at += strspn(at, " ");
        if (!*at) {
            break;
        }
        const bool quoted = *at == '\'';
        at += quoted;
        argv[(*argc)++] = at;
        at += strcspn(at, quoted ? "'" : " ");
        if (*at) {
            *at++ = '\0';
        }
    }
}

// Takes what is there, or waits for it; false at the end of the output. New lines become events.
static bool read_some(proc *p, int64_t until_ms)
{
    struct pollfd fd = {.fd = p->out, .events = POLLIN};
    const int64_t left = until_ms - now_ms();
    if (p->out < 0) {
        return false;
    }
    if (left <= 0 || poll(&fd, 1, (int)left) == 0) {
        show(p);
        kill(p->pid, SIGKILL);
        fail_msg("nothing came within %d s", BENCH_LIMIT_S);
    }
    p->text = realloc(p->text, p->length + READ_BYTES + 1);
    assert_non_null(p->text);
    p->text[p->length] = '\0'; // also when nothing comes
    const ssize_t n = read(p->out, p->text + p->length, READ_BYTES);
    if (n <= 0) {
        if (n < 0 && errno == EINTR) {
            return true;
        }
        close(p->out);
        p->out = -1;
        return false;
    }
    p->length += (size_t)n;
    p->text[p->length] = '\0';
    for (char *end; (end = strchr(p->text + p->taken, '\n'));) {
        pons_value *v = NULL;
        const char *start = p->text + p->taken;
        if (*start == '{' && pons_value_parse(start, (size_t)(end - start), &v, NULL) >= 0) {
            json_array_append_new(p->events, v);
        }
        p->taken = (size_t)(end - p->text) + 1;
    }
    return true;
}

// Strings as they are, booleans by their words.
static bool is_value(const pons_value *v, const char *value)
{
    return json_is_boolean(v) ? strcmp(json_is_true(v) ? "true" : "false", value) == 0
                              : strcmp(json_is_string(v) ? json_string_value(v) : "", value) == 0;
}

static bool fits(const pons_value *ev, const char *type, const char *key, const char *value)
{
    return strcmp(pons_get_str(ev, "type", ""), type) == 0 &&
           (!key || is_value(pons_get(ev, key), value) ||
            is_value(pons_get(pons_get(ev, "decision"), key), value));
}

const pons_value *bench_await(proc *p, const char *type, const char *key, const char *value)
{
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    for (;;) {
        while (p->mark < json_array_size(p->events)) {
            const pons_value *ev = json_array_get(p->events, p->mark++);
            if (fits(ev, type, key, value)) {
                return ev;
            }
        }
        if (!read_some(p, until)) {
            show(p);
            fail_msg("it ended without %s %s %s", type, key ? key : "", key ? value : "");
        }
    }
}

int bench_count(const proc *p, const char *type, const char *key, const char *value)
{
    int n = 0;
    size_t i;
    json_t *ev;
    json_array_foreach(p->events, i, ev) {
        n += fits(ev, type, key, value);
    }
    return n;
}

const char *bench_line(proc *p)
{
    static char line[512];
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    while (!p->text || !strchr(p->text + p->mark, '\n')) {
        assert_true(read_some(p, until));
    }
    const size_t n = strcspn(p->text + p->mark, "\n");
    snprintf(line, sizeof line, "%.*s", (int)n, p->text + p->mark);
    p->mark += n + 1;
    return line;
}

int bench_finish(proc *p)
{
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    while (read_some(p, until)) {
    }
    while (p->pid && bench_alive(p)) {
        if (now_ms() > until) {
            kill(p->pid, SIGKILL);
            fail_msg("it did not end within %d s", BENCH_LIMIT_S);
        }
        bench_rest(5);
    }
    return p->status;
}

bool bench_alive(proc *p)
{
    int status = 0;
    if (p->pid && waitpid(p->pid, &status, WNOHANG) == p->pid) {
        forget(p->pid);
        p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        p->pid = 0;
    }
    return p->pid != 0;
}

void bench_waited(proc *p)
{
    forget(p->pid);
    p->pid = 0;
}

void bench_signal(proc *p, int number)
{
    if (p->pid) {
        assert_int_equal(kill(p->pid, number), 0);
    }
}

void bench_free(proc *p)
{
    if (p->pid) {
        forget(p->pid);
        kill(p->pid, SIGKILL);
        waitpid(p->pid, NULL, 0);
    }
    if (p->out >= 0) {
        close(p->out);
    }
    free(p->text);
    pons_value_unref(p->events);
    *p = (proc){.out = -1};
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    if (f) {
        text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

char *bench_stderr(const proc *p)
{
    return read_file(p->err_path);
}

void bench_err_await(proc *p, const char *words)
{
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    for (bool said = false; !said;) {
        char *err = bench_stderr(p);
        said = strstr(err, words) != NULL;
        if (!said && now_ms() > until) {
            fail_msg("it said “%s”, and not “%s”", err, words);
        }
        free(err);
        poll(NULL, 0, 20);
    }
}

// What it said, without the telemetry between: a run's first word is often the one that tells.
static void show(const proc *p)
{
    char *err = bench_stderr(p), *rest = p->text ? strdup(p->text) : NULL, *save = NULL;
    fprintf(stderr, "--- stdout:\n");
    for (char *l = rest ? strtok_r(rest, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
        if (!strstr(l, "\"type\":\"telemetry\"")) {
            fprintf(stderr, "%.1500s\n", l);
        }
    }
    fprintf(stderr, "--- stderr:\n%s\n", err); // cmocka's own words end after a kilobyte
    free(rest);
    free(err);
}

void bench_must_exit(proc *p, int status)
{
    const int got = bench_finish(p);
    if (got != status) {
        show(p);
        fail_msg("exit status %d, not %d", got, status);
    }
}

void bench_must_fail(bench *b, const char *words, int status, const char *says)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int got = bench_finish(&p);
    char *err = bench_stderr(&p);
    size_t lines = 0;
    for (const char *c = err; *c; c++) {
        lines += *c == '\n';
    }
    if (got != status || lines != 1 || strncmp(err, "pons: ", 6) != 0 || !strstr(err, says) ||
        p.length > 0) {
        fail_msg("pons %s: exit %d (expected %d), %zu bytes of output, and “%s” (expected one line "
                 "with “%s”)",
                 words, got, status, p.length, err, says);
    }
    free(err);
    bench_free(&p);
}

int bench_run(bench *b, const char *words)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int status = bench_finish(&p);
    bench_free(&p);
    return status;
}

int bench_run_json(bench *b, const char *words, pons_value **ret)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int status = bench_finish(&p);
    *ret = NULL;
    if (p.text && p.length > 0) {
        pons_error err = PONS_ERROR_INIT;
        if (pons_value_parse(p.text, strcspn(p.text, "\n"), ret, &err) < 0) {
            show(&p);
            fail_msg("not JSON: %s", err.message);
        }
    }
    bench_free(&p);
    return status;
}

// ---- the body and its ledger --------------------------------------------------------------------

void bench_name_robot(const bench *b, const char *words)
{
    static const char *const options[] = {"--driver ", "--world "}, *const members[] = {"driver",
                                                                                        "world"};
    char path[160], value[160];
    pons_value *config = NULL;
    pons_error none = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/config.json", b->workspace);
    if (pons_value_load(path, &config, &none) < 0) {
        config = json_object();
    }
    pons_value *copy = json_deep_copy(config), *robot = json_object_get(copy, "robot");
    if (!robot) {
        robot = json_object();
        json_object_set_new(copy, "robot", robot);
    }
    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(words, options[i]);
        if (at && sscanf(at + strlen(options[i]), "%150s", value) == 1) {
            json_object_set_new(robot, members[i], json_string(value));
        }
    }
    char *text = json_dumps(copy, JSON_INDENT(2));
    mkdir(b->workspace, 0700);
    bench_put(b, "config.json", text);
    free(text);
    pons_value_unref(config);
    json_decref(copy);
}

void bench_start_body(bench *b, proc *body, const char *words)
{
    char all[256];
    bench_name_robot(b, words);
    snprintf(all, sizeof all, "body %s", words);
    bench_start(b, body, NULL, all);
    while (bench_body_pid(b) != body->pid) {
        assert_true(bench_alive(body));
        bench_rest(10);
    }
}

pid_t bench_body_pid(bench *b)
{
    char path[160];
    pons_value *v = NULL;
    snprintf(path, sizeof path, "%s/run/body.json", b->workspace);
    char *text = read_file(path);
    const size_t n = strcspn(text, "\n");
    const int rc = *text ? pons_value_parse(text, n, &v, NULL) : -1;
    free(text);
    const pid_t pid = rc < 0 ? 0 : (pid_t)pons_get_int(v, "pid", 0);
    pons_value_unref(v);
    return pid;
}

pid_t bench_child(pid_t parent, const char *word)
{
    DIR *d = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        char path[300], text[512];
        int its = 0;
        if (!isdigit((unsigned char)e->d_name[0])) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/%.100s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        const bool mine = f && fscanf(f, "%*d (%*[^)]) %*c %d", &its) == 1 && its == parent;
        if (f) {
            fclose(f);
        }
        snprintf(path, sizeof path, "/proc/%.100s/cmdline", e->d_name);
        f = mine ? fopen(path, "r") : NULL;
        const size_t n = f ? fread(text, 1, sizeof text, f) : 0;
        if (n && memmem(text, n, word, strlen(word) + 1)) {
            found = atoi(e->d_name);
        }
        if (f) {
            fclose(f);
        }
    }
    if (d) {
        closedir(d);
    }
    return found;
}

void bench_killed_run(bench *b)
{
    proc p = {0};
    bench_start(b, &p, NULL, "run --json --thread t " FAST " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_end_body(b);
}

void bench_shell(const char *fmt, ...)
{
    char command[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    assert_int_equal(system(command), 0);
}

void bench_end_body(bench *b)
{
    const pid_t pid = bench_body_pid(b);
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    char path[160];
    if (pid <= 1 || kill(pid, SIGKILL) < 0) {
        return;
    }
    for (;;) { // gone, or dead and waiting for its parent
        char word[64] = "", state = 'X';
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        FILE *f = fopen(path, "r");
        const int n = f ? fscanf(f, "%*d %63s %c", word, &state) : 0;
        if (f) {
            fclose(f);
        }
        if (!f || n != 2 || state == 'Z' || state == 'X') {
            return;
        }
        assert_true(now_ms() < until);
        bench_rest(5);
    }
}

pons_value *bench_ledger(bench *b)
{
    char path[160];
    snprintf(path, sizeof path, "%s/run/body.ledger", b->workspace);
    char *text = read_file(path);
    pons_value *rows = json_array();
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        pons_value *v = NULL;
        assert_true(pons_value_parse(line, (size_t)(end - line), &v, NULL) >= 0);
        json_array_append_new(rows, v);
    }
    free(text);
    return rows;
}

int bench_ledger_count(bench *b, const char *goal_id, const char *state)
{
    pons_autovalue rows = bench_ledger(b);
    int n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        n += strcmp(pons_get_str(row, "state", ""), state) == 0 &&
             (!goal_id || strcmp(pons_get_str(row, "goal_id", ""), goal_id) == 0);
    }
    return n;
}

int bench_fleet_count(const bench *b, const char *skill, int s, const char *state)
{
    char pattern[256], line[8192], hash[33];
    int n = 0;
    glob_t found;
    pons_autovalue named = json_pack("{ss,s{si}}", "skill", skill, "args", "s", s);
    pons_value_hash(named, hash);
    snprintf(pattern, sizeof pattern, "%s/robots/*/run/body.ledger", b->workspace);
    const bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++) {
        FILE *f = fopen(found.gl_pathv[i], "r");
        while (f && fgets(line, sizeof line, f)) {
            pons_autovalue v = json_loads(line, 0, NULL);
            n += strcmp(pons_get_str(v, "skill", ""), skill) == 0 &&
                 strcmp(pons_get_str(v, "state", ""), state) == 0 &&
                 (s == 0 || strcmp(pons_get_str(v, "args_hash", ""), hash) == 0);
        }
        if (f) {
            fclose(f);
        }
    }
    globfree(&found);
    return n;
}

int bench_ledger_in(bench *b, const char *skill, const char *state)
{
    pons_autovalue rows = bench_ledger(b);
    int n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        n += strcmp(pons_get_str(row, "state", ""), state) == 0 &&
             strcmp(pons_get_str(row, "skill", ""), skill) == 0;
    }
    return n;
}

int bench_ledger_skill(bench *b, const char *skill)
{
    return bench_ledger_in(b, skill, "started");
}

void bench_ledger_await(bench *b, const char *state, int n)
{
    const int64_t until = now_ms() + BENCH_LIMIT_S * 1000;
    while (bench_ledger_count(b, NULL, state) < n) {
        if (now_ms() > until) {
            fail_msg("the ledger has no %d lines %s", n, state);
        }
        bench_rest(20);
    }
}

void bench_ledger_check(bench *b)
{
    pons_autovalue rows = bench_ledger(b);
    pons_autovalue started = json_object();
    const char *open_goal = "", *open_boot = "";
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const char *goal = pons_get_str(row, "goal_id", ""),
                   *state = pons_get_str(row, "state", "");
        const char *boot = pons_get_str(row, "boot_id", "");
        if (strcmp(state, "started") == 0 &&
            strcmp(pons_get_str(row, "skill", ""), "navigate_to_pose") == 0) {
            if (pons_get(started, goal)) {
                fail_msg("goal %s started twice", goal);
            }
            if (*open_goal && strcmp(open_boot, boot) == 0) {
                fail_msg("goal %s started while %s was under way", goal, open_goal);
            }
            json_object_set_new(started, goal, json_true());
            open_goal = goal;
            open_boot = boot;
        } else if (strcmp(goal, open_goal) == 0 &&
                   (strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
                    strcmp(state, "canceled") == 0)) {
            open_goal = "";
        }
    }
    assert_true(json_object_size(started) > 0);
}

// ---- a model ------------------------------------------------------------------------------------

int bench_start_model(bench *b, proc *model, const char *words)
{
    bench_start_program(b, model, PONS_BINARY_DIR "/tests/scripted_model", words);
    const int port = atoi(bench_line(model));
    assert_in_range(port, 1, 65535);
    return port;
}

bool bench_no_model_module(void)
{
    return access(PONS_BINARY_DIR "/lib/pons/llm-openai.so", F_OK) < 0;
}

// ---- tests at once ------------------------------------------------------------------------------

// What it says.
static FILE *begin_one(const char *group, const struct CMUnitTest *test)
{
    fflush(NULL);
    FILE *said = tmpfile();
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(said), STDOUT_FILENO);
        dup2(fileno(said), STDERR_FILENO);
        exit(_cmocka_run_group_tests(group, test, 1, NULL, NULL) != 0);
    }
    assert(pid > 0);
    return said;
}

int bench_together(const char *group, const struct CMUnitTest *tests, size_t n)
{
    FILE *said[BENCH_TESTS_MAX];
    int failed = 0;
    assert(n <= BENCH_TESTS_MAX);
    size_t begun = 0;
    for (size_t over = 0; over < n; over++) {
        for (; begun < n && begun - over < BENCH_AT_ONCE; begun++) {
            said[begun] = begin_one(group, tests + begun);
        }
        int status = -1;
        failed += wait(&status) < 0 || status != 0;
    }
    for (size_t i = 0; i < n; i++) {
        char text[4096];
        size_t got;
        rewind(said[i]);
        while ((got = fread(text, 1, sizeof text, said[i])) > 0) {
            fwrite(text, 1, got, stdout);
        }
        fclose(said[i]);
    }
    return failed;
}
