// The classifier against the machine: command lines are generated, and what it calls safe is run, in a
// workspace full of canaries. None may be shown, changed or called.
//
//     PONS_ROUNDS=tools_lines=100000 PONS_COMMAND_SEED=1 ctest --test-dir build/asan -R tools/test_command_risk
//
// 1,000 lines and a fixed seed without these. A canary's text, its length and its sums would betray
// it in an output; every file's times and modes, a socket that listens and a FIFO with something in
// it would betray a change.
#include "pons/random.h"
#include "rounds.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SEED     1
#define TOGETHER 4 // calls at a time
#define TEXT_MAX 600
#define UNIT     "QZXJ"
#define BYTES    48612 // of a canary: a number that nothing else has
#define SIZE     "48612"

#define N(list) (sizeof(list) / sizeof(list)[0])

static bench b;
static int listener = -1, fifo = -1;
static char sums[2][80]; // of a canary: sha256, md5
static pons_rand dice;

// ---- the workspace ------------------------------------------------------------------------------

static const char *const canaries[] = {
    "out/secret",         "out/deep/secret",      "ws/.env",
    "ws/sub/.env",        "ws/mcp.json",          "ws/config/kernel.yaml",
    "ws/config/mcp.json", "ws/graph_config.yaml", "ws/run/token",
    "ws/pons.db",         "ws/pons.db-wal",       "ws/pons.db-locks/t",
    "ws/trees/t.xml",     "ws/worlds/w.yaml",     "ws/lib/pons/x.so",
    "ws/private/file",    "ws/sub/.git/config",   "ws/tools.yaml"};

static void build(void)
{
    static const char *const links[][2] = {
        {"../out/secret", "link"}, {"../out", "outdir"},
        {"sub/.env", "alias"},     {"..", "up"},
        {"/proc/self", "proc"},    {"/", "slash"},
        {"mcp.json", "json"},      {"../../out/secret", "sub/link"}};
    char *text = malloc(BYTES), path[PATH_MAX], to[PATH_MAX];
    assert_non_null(text);
    for (size_t i = 0; i < BYTES; i++) {
        text[i] = i % 60 == 59 ? '\n' : UNIT[i % 4];
    }
    bench_open(&b, "{\"hidden\":[\"private\"],\"terminal\":{\"timeout_s\":20}}");
    for (size_t i = 0; i < N(canaries); i++) {
        bench_write(&b, canaries[i], text, BYTES);
    }
    uint8_t digest[32];
    pons_sha256(text, BYTES, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(sums[0] + 2 * i, 3, "%02x", digest[i]);
    }
    free(text);
    bench_write(&b, "ws/notes.md", "# A note\none\ntwo three\n", 23);
    bench_write(&b, "ws/data.csv", "a,1\nb,2\nc,3\n", 12);
    bench_write(&b, "ws/two words.txt", "w\n", 2);
    bench_write(&b, "ws/-n", "named like an option\n", 21);
    bench_write(&b, "ws/sub/x", "x\n", 2);
    bench_write(&b, "ws/sub/deep/y.md", "y\n", 2);
    for (size_t i = 0; i < N(links); i++) {
        snprintf(path, sizeof path, "%s/%s", b.ws, links[i][1]);
        assert_int_equal(symlink(links[i][0], path), 0);
    }
    snprintf(path, sizeof path, "%s/sub/.env", b.ws);
    snprintf(to, sizeof to, "%s/hard", b.ws);
    assert_int_equal(link(path, to), 0);
    // What git could be made to run leaves a file behind.
    char line[4 * PATH_MAX];
    snprintf(
        line, sizeof line,
        "cd '%s' && export HOME=/nonexistent && (git init . && git add -f notes.md .env mcp.json "
        "config && git -c user.name=a -c user.email=a@b commit -m first && echo more >>notes.md && "
        "for k in core.fsmonitor core.pager diff.external diff.x.textconv filter.x.clean "
        "alias.status pager.log; do git config $k 'touch ran;cat'; done; git config "
        "core.hooksPath hooks && echo '* diff=x filter=x' >.gitattributes) >/dev/null 2>&1; rm -f "
        "ran; md5sum .env",
        b.ws);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    assert_non_null(fgets(sums[1], 33, f));
    pclose(f);
    assert_int_equal(strlen(sums[1]), 32);
    snprintf(path, sizeof path, "%s/fifo", b.ws);
    assert_int_equal(mkfifo(path, 0600), 0);
    fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(write(fifo, UNIT, 4), 4);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, "%s/sub/sock", b.ws);
    assert_true(strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listener, 4), 0);
}

// ---- what would betray --------------------------------------------------------------------------

static uint64_t seen; // a sum over everything that a change would change

static int look_at(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)flag;
    (void)ftw;
    const uint64_t parts[] = {st->st_ino,
                              st->st_mode,
                              (uint64_t)st->st_size,
                              st->st_uid,
                              st->st_nlink,
                              (uint64_t)st->st_mtim.tv_nsec,
                              (uint64_t)st->st_ctim.tv_sec,
                              (uint64_t)st->st_ctim.tv_nsec};
    uint64_t h = 14695981039346656037U;
    for (const char *at = path; *at; at++) {
        h = (h ^ (unsigned char)*at) * 1099511628211U;
    }
    for (size_t i = 0; i < N(parts); i++) {
        h = (h ^ parts[i]) * 1099511628211U;
    }
    seen += h; // the order of a folder does not count
    return 0;
}

static uint64_t snapshot(void)
{
    seen = 0;
    assert_int_equal(nftw(b.root, look_at, 16, FTW_PHYS), 0);
    return seen;
}

// Why a text may not come out, or NULL.
static const char *betrayed(const char *out)
{
    static const char *const turns[] = {"QZXJ", "ZXJQ", "XJQZ",  "JQZX",           "qzxj",
                                        "JXZQ", SIZE,   "BEGIN", "root:x:0:0:root"};
    for (size_t i = 0; i < N(turns); i++) {
        if (strstr(out, turns[i])) {
            return turns[i];
        }
    }
    if (strstr(out, " 121 ") && strstr(out, " 132 ") && strstr(out, " 130 ")) {
        return "octal"; // cmp -l
    }
    return strstr(out, sums[0]) ? sums[0] : strstr(out, sums[1]) ? sums[1] : NULL;
}

// ---- the generator ------------------------------------------------------------------------------

static unsigned roll(unsigned n)
{
    return (unsigned)(pons_rand_u64(&dice) % n);
}

#define ONE(list) ((list)[roll(N(list))])

static const char *const programs[] = {
    "ls",        "cat",      "head", "tail",       "wc",      "nl",       "pwd",      "echo",
    "printf",    "true",     "date", "uname",      "whoami",  "id",       "basename", "dirname",
    "realpath",  "readlink", "stat", "du",         "which",   "file",     "grep",     "egrep",
    "fgrep",     "cut",      "tr",   "sort",       "diff",    "cmp",      "comm",     "md5sum",
    "sha256sum", "test",     "find", "git status", "git log", "git diff", "git show", "git blame"};
static const char *const wild[] = {"env",
                                   "xargs",
                                   "awk",
                                   "sed",
                                   "tar",
                                   "less",
                                   "sh",
                                   "perl",
                                   "rg",
                                   "tee",
                                   "dd",
                                   "cp",
                                   "mv",
                                   "ln",
                                   "python3",
                                   "git grep",
                                   "git config",
                                   "git -c x=y log",
                                   "git --git-dir=sub log",
                                   "nohup ls",
                                   "busybox cat",
                                   "/bin/cat",
                                   "./notes.md",
                                   "X=1 ls",
                                   "uniq",
                                   "base64",
                                   "xxd",
                                   "od",
                                   "strings",
                                   "git cat-file -p",
                                   "git archive",
                                   "df",
                                   "free",
                                   "command cat",
                                   "exec cat",
                                   "git ls-tree",
                                   "ls|cat"};
static const char *const names[] = {"notes.md",     "data.csv",        "sub",      "sub/x",
                                    "sub/deep",     "sub/deep/y.md",   ".",        "./notes.md",
                                    "nothing",      "'two words.txt'", "-- -n",    "./-n",
                                    "\"notes.md\"", "sub//x",          "./sub/./x"};
static const char *const traps[] = {".env",
                                    "sub/.env",
                                    "./.env",
                                    "sub/../.env",
                                    "mcp.json",
                                    "MCP.JSON",
                                    ".ENV",
                                    "config",
                                    "config/kernel.yaml",
                                    "config/mcp.json",
                                    "graph_config.yaml",
                                    "run",
                                    "run/token",
                                    "pons.db",
                                    "pons.db-wal",
                                    "trees/t.xml",
                                    "worlds/w.yaml",
                                    "lib/pons/x.so",
                                    "private",
                                    "private/file",
                                    "link",
                                    "outdir",
                                    "outdir/secret",
                                    "alias",
                                    "up",
                                    "up/out/secret",
                                    "proc/environ",
                                    "slash/etc/passwd",
                                    "json",
                                    "sub/link",
                                    "hard",
                                    "fifo",
                                    "sub/sock",
                                    "../out/secret",
                                    "..",
                                    "/",
                                    "/etc/passwd",
                                    "/proc/self/environ",
                                    "/dev/stdin",
                                    "~",
                                    "~root",
                                    "$HOME",
                                    "*",
                                    ".e*",
                                    "?env",
                                    "[.]env",
                                    "{.env,x}",
                                    "`cat .env`",
                                    "$(cat .env)",
                                    ".git",
                                    ".git/config",
                                    "sub/.git/config",
                                    "<.env",
                                    "<(cat .env)",
                                    "'.env'",
                                    "\".env\"",
                                    ".e''nv",
                                    ".\\env",
                                    "\xe2\x80\x8b.env",
                                    ".env\xe2\x80\x8b",
                                    "\xef\xbc\x8e"
                                    "env",
                                    "tools.yaml",
                                    "./tools.yaml",
                                    "pons.db-locks/t",
                                    "--",
                                    "-",
                                    "''",
                                    "sub/.",
                                    "sub/..",
                                    "./..",
                                    "HEAD:.env",
                                    "HEAD:mcp.json",
                                    ":.env",
                                    "HEAD^{tree}",
                                    ":/first",
                                    "@{u}",
                                    "HEAD -- .env",
                                    "-- .env",
                                    "-- mcp.json",
                                    "-- config",
                                    "-- ':(top).env'",
                                    "-- '*'",
                                    "HEAD"};
static const char *const options[] = {"-a",
                                      "-l",
                                      "-la",
                                      "-R",
                                      "-n",
                                      "-n3",
                                      "-n 3",
                                      "-c",
                                      "-c 5",
                                      "-c5",
                                      "-c1-4",
                                      "-1",
                                      "-5",
                                      "-q",
                                      "-v",
                                      "-L",
                                      "-s",
                                      "-h",
                                      "-d",
                                      "-d ,",
                                      "-d 1",
                                      "-f1",
                                      "-f 2",
                                      "-k2",
                                      "-k 1,2",
                                      "-t ,",
                                      "-r",
                                      "-u",
                                      "-z",
                                      "-i",
                                      "-o",
                                      "-w",
                                      "-x",
                                      "-E",
                                      "-F",
                                      "-e Q",
                                      "-e .",
                                      "-m2",
                                      "-A1",
                                      "-B 2",
                                      "-C1",
                                      "-H",
                                      "-b",
                                      "-y",
                                      "-U3",
                                      "-U 1",
                                      "-p",
                                      "--stat",
                                      "--oneline",
                                      "--all",
                                      "--cached",
                                      "--name-only",
                                      "--name-status",
                                      "--patch",
                                      "--reverse",
                                      "--lines=2",
                                      "--bytes=9",
                                      "--count",
                                      "--number",
                                      "--recursive",
                                      "--brief",
                                      "--max-count=1",
                                      "--regexp=Q",
                                      "--summarize",
                                      "--utc",
                                      "--short",
                                      "--porcelain",
                                      "--numstat",
                                      "-name x",
                                      "-name '*'",
                                      "-type f",
                                      "-type d",
                                      "-maxdepth 3",
                                      "-mindepth 1",
                                      "-size +1k",
                                      "-ls",
                                      "-printf %p",
                                      "-printf '%s %p'",
                                      "-print",
                                      "! -empty",
                                      "-path '*'",
                                      "-links +1",
                                      "-perm 644",
                                      "-c %s",
                                      "--format=%s",
                                      "--format=%n",
                                      "-f notes.md",
                                      "-e sub",
                                      "-s .env",
                                      "-z x",
                                      "+%s",
                                      "+%F",
                                      "--merges",
                                      "--graph",
                                      "--decorate",
                                      "-L 1,2",
                                      "--show-name",
                                      "--author=a",
                                      "--since=2000-01-01",
                                      "HEAD",
                                      "HEAD~1",
                                      "HEAD..HEAD",
                                      "HEAD^",
                                      "master",
                                      "-- notes.md",
                                      "-- sub",
                                      "--mime",
                                      "--key=1"};
static const char *const bad_options[] = {"-f .env",
                                          "-f.env",
                                          "--file=.env",
                                          "--fil=.env",
                                          "--from-file=.env",
                                          "--to-file=.env",
                                          "--files0-from=.env",
                                          "--files0-from .env",
                                          "--directories=recurse",
                                          "-d recurse",
                                          "-drecurse",
                                          "-r .",
                                          "-exec cat {} +",
                                          "-exec cat {} ;",
                                          "-ex\\ec",
                                          "\"-ex\\\nec\" sh",
                                          "-execdir sh",
                                          "-ok sh",
                                          "-delete",
                                          "-fprint new",
                                          "-fls new",
                                          "-fprintf new x",
                                          "-newer .env",
                                          "-samefile .env",
                                          "-files0-from x",
                                          "-L",
                                          "-follow",
                                          "--output=new",
                                          "-o new",
                                          "-onew",
                                          "--o=new",
                                          "--outp=new",
                                          "-T .",
                                          "-T/tmp",
                                          "--compress-program=sh",
                                          "-S 1",
                                          "--no-index",
                                          "--no-inde",
                                          "--ext-diff",
                                          "--textconv",
                                          "-O.env",
                                          "-G Q",
                                          "--contents .env",
                                          "--contents=.env",
                                          "--ignore-revs-file=.env",
                                          "--help",
                                          "--version",
                                          "-m .env",
                                          "-C",
                                          "--pre=sh",
                                          "-s",
                                          "-s now",
                                          "--set=now",
                                          "-r .env",
                                          "-f",
                                          "-F",
                                          "--follow",
                                          "--pid=1",
                                          "-X .env",
                                          "-X.env",
                                          "--exclude-from=.env",
                                          "--dereference",
                                          "-I x",
                                          "--color=always",
                                          "--dired",
                                          "--hyperlink",
                                          "-Z",
                                          "-D",
                                          "--to-command=sh",
                                          "--stdin",
                                          "-z",
                                          "--check",
                                          "-c .env",
                                          "--batch-size=2",
                                          "--random-source=.env",
                                          "--debug",
                                          "--parallel=9",
                                          "'-n'",
                                          "\"-l\"",
                                          "-\\n",
                                          "--a",
                                          "--al",
                                          "--re",
                                          "--num",
                                          "--fo=%n",
                                          "--format=%N",
                                          "-c %N",
                                          "--use-compress-program=sh",
                                          "-P",
                                          "-P .",
                                          "--include=*",
                                          "--exclude=x",
                                          "--line-buffered"};
static const char *const joints[] = {"; ",  " && ",           " || ",  " | ",    " & ", "\n",
                                     " > ", " >> ",           " < ",   " 2>&1 ", " # ", "\r",
                                     "\t",  " 2>/dev/null; ", " <<< ", " <<X\n"};

typedef struct line {
    char text[TEXT_MAX];
    size_t n;
} line;

static void say(line *l, const char *text)
{
    const size_t n = strlen(text);
    if (l->n + n + 1 < sizeof l->text) {
        memcpy(l->text + l->n, text, n + 1);
        l->n += n;
    }
}

// A word with quotes, escapes or a stranger's letter put into it.
static void twist(line *l)
{
    static const char *const into[] = {
        "\\", "\"", "'",    "''",   "\"\"",     "\\\n",         "\n",   "$",
        "$@", "*",  "\x01", "\x7f", "\xc2\xa0", "\xe2\x80\xae", "\xff", "~",
        "{",  ",",  "=",    "/",    "..",       "../",          "-",    "--",
        " ",  ":",  "%",    "^",    "!",        "\xd0\xb5",     "(",    "\t"};
    const char *what = ONE(into);
    const size_t n = strlen(what), at = roll((unsigned)l->n + 1);
    if (l->n + n + 1 < sizeof l->text) {
        memmove(l->text + at + n, l->text + at, l->n - at + 1);
        memcpy(l->text + at, what, n);
        l->n += n;
    }
}

static void generate(line *l)
{
    const bool tame = roll(10) < 6; // else there would be little to run
    *l = (line){.n = 0};
    say(l, tame || roll(3) ? ONE(programs) : ONE(wild));
    for (unsigned i = roll(tame ? 3 : 4); i > 0; i--) {
        say(l, " ");
        say(l, tame || roll(2) ? ONE(options) : ONE(bad_options));
    }
    if (roll(4) == 0) {
        static const char *const patterns[] = {" Q", " ''", " .", " 'Q.*J'", " x", " a-z", " %s"};
        say(l, ONE(patterns));
    }
    for (unsigned i = roll(4); i > 0; i--) {
        say(l, " ");
        say(l, (tame && roll(6)) || roll(3) == 0 ? ONE(names) : ONE(traps));
    }
    if (!tame && roll(3) == 0) {
        say(l, ONE(joints));
        say(l, roll(2) ? ONE(programs) : ONE(traps));
    }
    for (unsigned i = tame ? roll(12) == 0 : roll(3); i > 0; i--) {
        twist(l);
    }
}

// ---- the trial ----------------------------------------------------------------------------------

static bool is_safe(const pons_value *args)
{
    char reason[512];
    return b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason) ==
           PONS_TOOL_SAFE;
}

static void run_together(const line *lines, size_t n, uint64_t before)
{
    pons_error err = PONS_ERROR_INIT;
    const uint64_t first = b.calls + 1;
    for (size_t i = 0; i < n; i++) {
        pons_autovalue args = pons_object("command", json_string(lines[i].text), NULL);
        assert_int_equal(b.tools.ops->start(b.tools.self, ++b.calls, "terminal", args, NULL, &err),
                         PONS_OK);
    }
    for (size_t done = 0; done < n; done++) {
        pons_tool_event ev = bench_wait_any(&b);
        const char *text =
            ev.kind == PONS_TOOL_DONE ? pons_get_str(ev.value, "output", "") : ev.error.message;
        const char *why = betrayed(text);
        // What it was asked to say is no secret.
        if (why && !strstr(lines[ev.call - first].text, why)) {
            fail_msg("shows %s: %s\n%s", why, lines[ev.call - first].text, text);
        }
        if (strstr(text, "it did not come to an end")) {
            print_message("waits: %s\n", lines[ev.call - first].text);
        }
        pons_tool_event_clear(&ev);
    }
    int held = 0;
    const bool called = accept(listener, NULL, NULL) >= 0;
    assert_int_equal(ioctl(fifo, FIONREAD, &held), 0);
    if (snapshot() != before || called || held != 4) {
        for (size_t i = 0; i < n; i++) {
            print_message("one of: %s\n", lines[i].text);
        }
        fail_msg("%s", called      ? "the socket was called"
                       : held != 4 ? "the FIFO was read"
                                   : "a file was changed");
    }
}

// Approved commands, outside the wall: the trial would see what they do.
static void test_the_trial_sees(void **state)
{
    static const char *const shown[] = {"cat .env",        "cut -c 3-9 .env",
                                        "wc -c .env",      "md5sum hard",
                                        "sha256sum alias", "cmp -l .env notes.md | head",
                                        "ls -l .env",      "cat proc/../../out/secret link",
                                        "rev mcp.json"};
    static const char *const changed[] = {"touch notes.md", "chmod 644 notes.md", "ln notes.md n2",
                                          "touch sub/new",  "mv data.csv d",      "echo >>.env"};
    (void)state;
    build();
    for (size_t i = 0; i < N(shown); i++) {
        pons_autovalue args = pons_object("command", json_string(shown[i]), NULL);
        char *text = NULL;
        assert_true(pons_value_dump(args, &text) > 0);
        char *out = bench_output(&b, "terminal", text);
        if (!betrayed(out)) {
            fail_msg("not seen: %s: %s", shown[i], out);
        }
        free(out);
        free(text);
    }
    for (size_t i = 0; i < N(changed); i++) {
        const uint64_t before = snapshot();
        pons_autovalue args = pons_object("command", json_string(changed[i]), NULL);
        char *text = NULL;
        assert_true(pons_value_dump(args, &text) > 0);
        free(bench_output(&b, "terminal", text));
        free(text);
        assert_true(snapshot() != before);
    }
    close(fifo);
    close(listener);
    bench_close(&b);
}

static uint64_t number(const char *name, uint64_t initial)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : initial;
}

static void test_lines(void **state)
{
    const uint64_t lines = (uint64_t)rounds(ROUNDS_tools_lines);
    const uint64_t seed = number("PONS_COMMAND_SEED", SEED);
    static line batch[TOGETHER];
    size_t n = 0;
    uint64_t safe = 0;
    (void)state;
    pons_rand_seed(&dice, seed);
    build();
    const uint64_t before = snapshot();
    for (uint64_t i = 0; i < lines; i++) {
        generate(&batch[n]);
        pons_autovalue args = json_object();
        json_object_set_new(args, "command", json_string(batch[n].text));
        if (pons_get(args, "command") && is_safe(args)) { // what is no UTF-8 reaches no tool
            safe++;
            n++;
        }
        if (n == TOGETHER || (n > 0 && i + 1 == lines)) {
            run_together(batch, n, before);
            n = 0;
        }
        if ((i + 1) % 10000 == 0) {
            print_message("%" PRIu64 " lines, %" PRIu64 " run\n", i + 1, safe);
        }
    }
    print_message("seed %" PRIu64 ": %" PRIu64 " lines, %" PRIu64 " called safe and run\n", seed,
                  lines, safe);
    assert_true(safe * 20 > lines); // else nothing was tried
    close(fifo);
    close(listener);
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_trial_sees),
                                       cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
