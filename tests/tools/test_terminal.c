// terminal: what a command gives and what it gets (no input, no terminal, nobody's keys), that it
// is ended as a whole by its time, by cancel and by close, that its output is bounded and clean,
// and the table of what runs unasked, what is asked about and what never runs.
#include "pons/proc_stat.h"
#include "runner.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void test_runs(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    bench_write(&b, "ws/sub/file", "x", 1);
    char *out = bench_output(&b, "terminal", "{\"command\":\"echo out; echo err >&2; pwd\"}");
    char expect[PATH_MAX + 16];
    snprintf(expect, sizeof expect, "out\nerr\n%s\n", b.ws);
    assert_string_equal(out, expect);
    free(out);
    out = bench_output(&b, "terminal", "{\"command\":\"ls\",\"cwd\":\"sub\"}");
    assert_string_equal(out, "file\n");
    free(out);
    pons_tool_event ev = bench_call(&b, "terminal", "{\"command\":\"echo no; exit 3\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_string_equal(pons_get_str(ev.value, "output", ""), "no\n\n[exit status 3]");
    assert_int_equal(pons_get_int(pons_get(ev.value, "data"), "exit", -1), 3);
    pons_tool_event_clear(&ev);
    ev = bench_call(&b, "terminal", "{\"command\":\"kill -SEGV $$\"}");
    assert_int_equal(pons_get_int(pons_get(ev.value, "data"), "signal", -1), SIGSEGV);
    pons_tool_event_clear(&ev);
    bench_refused(&b, "terminal", "{\"command\":\"ls\",\"cwd\":\"../out\"}", PONS_EREFUSED,
                  "the workspace");
    bench_refused(&b, "terminal", "{\"command\":\"ls; rm -rf /\"}", PONS_EREFUSED, "below /");
    bench_close(&b);
}

static void test_has_nothing_of_the_host(void **state)
{
    bench b;
    (void)state;
    setenv("OPENAI_API_KEY", "sk-secret-123", 1);
    setenv("PONS_TEST_PASSED", "passed on", 1);
    bench_open(&b, "{\"terminal\":{\"pass_env\":[\"PONS_TEST_PASSED\"]}}");
    char *out = bench_output(&b, "terminal", "{\"command\":\"env\"}");
    assert_null(strstr(out, "sk-secret"));
    assert_non_null(strstr(out, "PONS_TEST_PASSED=passed on"));
    assert_non_null(strstr(out, "PATH="));
    free(out);
    out =
        bench_output(&b, "terminal",
                     "{\"command\":\"cat; test -t 0 || echo no terminal; (: </dev/tty) 2>/dev/null "
                     "|| echo none at all; ls /proc/self/fd | wc -l\"}");
    assert_non_null(strstr(out, "no terminal\n"));
    assert_non_null(strstr(out, "none at all\n"));
    assert_non_null(strstr(out, "\n4\n")); // 0, 1, 2, and the folder that ls reads
    free(out);
    unsetenv("OPENAI_API_KEY");
    unsetenv("PONS_TEST_PASSED");
    bench_close(&b);
}

// Whether the process whose number a file holds is gone, or dead and only not yet reaped.
static bool is_gone(const bench *b, const char *relative)
{
    char path[64], line[512] = "";
    char *text = bench_read(b, relative, NULL);
    assert_non_null(text);
    const long pid = strtol(text, NULL, 10);
    free(text);
    assert_true(pid > 1);
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f) {
        return true;
    }
    const size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    const char *paren = n ? strrchr(line, ')') : NULL;
    return !paren || paren[2] == 'Z' || paren[2] == 'X';
}

static void wait_until(bool (*there)(const bench *, const char *), const bench *b, const char *name)
{
    for (int i = 0; i < 60000; i++) {
        if (there(b, name)) {
            return;
        }
        const struct timespec nap = {.tv_nsec = 2000000};
        nanosleep(&nap, NULL);
    }
    fail_msg("%s: it did not happen", name);
}

static bool has_pid(const bench *b, const char *relative)
{
    char *text = bench_read(b, relative, NULL);
    const bool there = text && strchr(text, '\n');
    free(text);
    return there;
}

static void test_is_ended_by_time(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    pons_tool_event ev = bench_call(
        &b, "terminal",
        "{\"timeout_s\":4,\"command\":\"trap '' TERM; echo begun; echo $$ >pid; sleep 1000 & sleep "
        "1000\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "begun\n"));
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "[ended after 4 s"));
    assert_true(pons_get_bool(pons_get(ev.value, "data"), "timed_out", false));
    pons_tool_event_clear(&ev);
    wait_until(is_gone, &b, "ws/pid");
    bench_close(&b);
}

static void test_leaves_nothing_behind(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    char *out =
        bench_output(&b, "terminal", "{\"command\":\"sleep 1000 & echo $! >a; echo done\"}");
    assert_string_equal(out, "done\n"); // although the pipe is still held
    free(out);
    wait_until(is_gone, &b, "ws/a");
    // One that leaves the group and the session.
    out =
        bench_output(&b, "terminal",
                     "{\"command\":\"setsid sh -c 'echo $$ >b; exec sleep 1000' >/dev/null 2>&1 & "
                     "while [ ! -s b ]; do :; done\"}");
    free(out);
    wait_until(is_gone, &b, "ws/b");
    // One whose parent has ended and that has no environment.
    out = bench_output(&b, "terminal",
                       "{\"command\":\"(env -i setsid sh -c 'echo $$ >e; exec sleep 1000' "
                       ">/dev/null 2>&1 &) & wait; while [ ! -s e ]; do :; done; echo over\"}");
    assert_string_equal(out, "over\n");
    free(out);
    wait_until(is_gone, &b, "ws/e");
    // One that ends whoever watches over it is not waited for, and the command is over.
    pons_tool_event ev =
        bench_call(&b, "terminal", "{\"command\":\"echo $$ >f; kill -9 $PPID; sleep 1000\"}");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_int_equal(pons_get_int(pons_get(ev.value, "data"), "signal", 0), SIGKILL);
    pons_tool_event_clear(&ev);
    wait_until(is_gone, &b, "ws/f");
    bench_close(&b);
}

static void test_is_ended_by_cancel_and_close(void **state)
{
    bench b;
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    bench_open(&b, NULL);
    const pons_tools t = b.tools;
    pons_autovalue args = bench_json("{\"command\":\"echo $$ >c; sleep 1000\"}");
    assert_int_equal(t.ops->start(t.self, 500, "terminal", args, "k/500", &err), PONS_OK);
    wait_until(has_pid, &b, "ws/c");
    t.ops->cancel(t.self, 500);
    wait_until(is_gone, &b, "ws/c");
    char *out = bench_output(&b, "terminal", "{\"command\":\"echo after\"}"); // the only event
    assert_string_equal(out, "after\n");
    free(out);
    pons_autovalue more = bench_json("{\"command\":\"echo $$ >d; sleep 1000\"}");
    assert_int_equal(t.ops->start(t.self, 501, "terminal", more, NULL, &err), PONS_OK);
    wait_until(has_pid, &b, "ws/d");
    bench_reopen(&b, NULL);
    wait_until(is_gone, &b, "ws/d");
    // What was canceled is known to be over.
    assert_int_equal(b.tools.ops->adopt(b.tools.self, 1, "terminal", "k/500", &err), PONS_OK);
    pons_tool_event ev = bench_wait(&b, 1);
    assert_int_equal(ev.kind, PONS_TOOL_FAILED);
    assert_int_equal(ev.error.status, PONS_ECANCELED);
    pons_tool_event_clear(&ev);
    bench_close(&b);
}

static void test_many_wait_their_turn(void **state)
{
    bench b;
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    bench_open(&b, "{\"workers\":2}");
    const pons_tools t = b.tools;
    pons_autovalue args = bench_json("{\"command\":\"echo x >>count\"}");
    for (uint64_t i = 1; i <= 20; i++) {
        assert_int_equal(t.ops->start(t.self, i, "terminal", args, NULL, &err), PONS_OK);
    }
    for (uint64_t done = 0; done < 20;) {
        pons_tool_event ev;
        struct pollfd p = {.fd = t.ops->event_fd(t.self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 120000), 1);
        while (t.ops->next(t.self, &ev)) {
            assert_int_equal(ev.kind, PONS_TOOL_DONE);
            pons_tool_event_clear(&ev);
            done++;
        }
    }
    size_t n = 0;
    char *text = bench_read(&b, "ws/count", &n);
    assert_int_equal(n, 40);
    free(text);
    int rc = PONS_OK; // a queue without end is refused
    pons_autovalue slow = bench_json("{\"command\":\"sleep 1000\"}");
    uint64_t call = 1000;
    while (rc >= 0 && call < 3000) {
        rc = t.ops->start(t.self, call++, "terminal", slow, NULL, &err);
    }
    assert_int_equal(rc, PONS_EBUSY);
    bench_close(&b);
}

static void test_output_is_bounded_and_clean(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, "{\"output_kb\":4}");
    pons_tool_event ev = bench_call(
        &b, "terminal", "{\"command\":\"echo first; yes 厨 | head -c 3000000; echo; echo last\"}");
    const char *text = pons_get_str(ev.value, "output", "");
    assert_int_equal(strncmp(text, "first\n", 6), 0);
    assert_string_equal(text + strlen(text) - 5, "last\n");
    assert_non_null(strstr(text, "[cut here: "));
    assert_null(strstr(text, "\xef\xbf\xbd"));
    assert_true(strlen(text) < 4096 + 128);
    assert_true(pons_get_bool(ev.value, "truncated", false));
    pons_tool_event_clear(&ev);
    char *out =
        bench_output(&b, "terminal",
                     "{\"command\":\"printf '\\\\033[31mred\\\\033[0m\\\\r\\\\n\\\\000\\\\377'\"}");
    assert_string_equal(out, "red\n\xef\xbf\xbd\xef\xbf\xbd");
    free(out);
    bench_close(&b);
}

static void test_risks(void **state)
{
    bench b;
    (void)state;
    static const struct {
        const char *command;
        pons_tool_risk risk;
    } rows[] = {
        // plainly harmless
        {"ls", PONS_TOOL_SAFE},
        {"ls -la sub", PONS_TOOL_SAFE},
        {"head -n 3 notes.md", PONS_TOOL_SAFE},
        {"head -n3 notes.md", PONS_TOOL_SAFE},
        {"tail -3 notes.md", PONS_TOOL_SAFE},
        {"git status", PONS_TOOL_SAFE},
        {"git log -n 3 --oneline", PONS_TOOL_SAFE},
        {"git log --since=yesterday --author 'a b' -- notes.md", PONS_TOOL_SAFE},
        {"git diff HEAD~2..HEAD -- sub", PONS_TOOL_SAFE},
        {"grep -n \"a b\" 'notes.md'", PONS_TOOL_SAFE},
        {"grep -e -- notes.md", PONS_TOOL_DANGEROUS}, // an option or a value?
        {"grep -n -A3 --max-count=2 -e x notes.md", PONS_TOOL_SAFE},
        {"cat -- -n", PONS_TOOL_SAFE},
        {"cat '文件.md' 文件.md", PONS_TOOL_SAFE},
        {"sort -k 2,2n -t ',' notes.md", PONS_TOOL_SAFE},
        {"date +%s", PONS_TOOL_SAFE},
        {"test -f notes.md", PONS_TOOL_SAFE},
        {"find sub -type f -maxdepth 2 ! -name '*.md' -size +3k", PONS_TOOL_SAFE},
        {"find . -name '*.md'", PONS_TOOL_SAFE},
        {"echo 'rm -rf /'", PONS_TOOL_SAFE},
        {"cat no-such-file", PONS_TOOL_SAFE},
        // more than one program, or a shell's words
        {"cat notes.md | head -n 3", PONS_TOOL_DANGEROUS},
        {"git status && git log", PONS_TOOL_DANGEROUS},
        {"cat notes.md 2>&1; pwd", PONS_TOOL_DANGEROUS},
        {"ls 2>/dev/null", PONS_TOOL_DANGEROUS},
        {"ls # all", PONS_TOOL_DANGEROUS},
        // to be asked about
        {"python3 x.py", PONS_TOOL_DANGEROUS},
        {"rm notes.md", PONS_TOOL_DANGEROUS},
        {"rm -rf sub", PONS_TOOL_DANGEROUS},
        {"rm -rf /tmp/x/y", PONS_TOOL_DANGEROUS},
        {"cat /etc/passwd", PONS_TOOL_DANGEROUS},
        {"cat ../out/secret", PONS_TOOL_DANGEROUS},
        {"cat sub/../../out/secret", PONS_TOOL_DANGEROUS},
        {"cat link", PONS_TOOL_DANGEROUS},
        {"cat mcp.json", PONS_TOOL_DANGEROUS},
        {"cat alias", PONS_TOOL_DANGEROUS},
        {"cat ~/.ssh/id_rsa", PONS_TOOL_DANGEROUS},
        {"cat $HOME/x", PONS_TOOL_DANGEROUS},
        {"cat \"$HOME/x\"", PONS_TOOL_DANGEROUS},
        {"cat *", PONS_TOOL_DANGEROUS},
        {"grep -r key .", PONS_TOOL_DANGEROUS},
        {"grep -f/etc/passwd x", PONS_TOOL_DANGEROUS},
        {"diff --from-file=/etc/passwd x", PONS_TOOL_DANGEROUS},
        {"ls > files", PONS_TOOL_DANGEROUS},
        {"ls >> notes.md", PONS_TOOL_DANGEROUS},
        {"cat < /etc/passwd", PONS_TOOL_DANGEROUS},
        {"ls $(touch x)", PONS_TOOL_DANGEROUS},
        {"ls `touch x`", PONS_TOOL_DANGEROUS},
        {"ls & ", PONS_TOOL_DANGEROUS},
        {"find . -exec rm {} +", PONS_TOOL_DANGEROUS},
        {"find . -delete", PONS_TOOL_DANGEROUS},
        {"sort -o notes.md notes.md", PONS_TOOL_DANGEROUS},
        {"git diff --output=x", PONS_TOOL_DANGEROUS},
        {"git push", PONS_TOOL_DANGEROUS},
        {"LD_PRELOAD=./x.so ls", PONS_TOOL_DANGEROUS},
        {"./ls", PONS_TOOL_DANGEROUS},
        {"l\\s; (ls)", PONS_TOOL_DANGEROUS},
        {"cat 'open", PONS_TOOL_DANGEROUS},
        {"echo mkfs | sh", PONS_TOOL_DANGEROUS},
        // never
        {"rm -rf /", PONS_TOOL_BLOCKED},
        {"rm -fr /*", PONS_TOOL_BLOCKED},
        {"rm -r -f //", PONS_TOOL_BLOCKED},
        {"rm -rf /usr/../", PONS_TOOL_BLOCKED},
        {"rm -rf /home", PONS_TOOL_BLOCKED},
        {"rm -rf ~", PONS_TOOL_BLOCKED},
        {"rm -rf \"$HOME\"", PONS_TOOL_BLOCKED},
        {"'rm' \"-rf\" '/'", PONS_TOOL_BLOCKED},
        {"r\\m -rf /", PONS_TOOL_BLOCKED},
        {"ls; sudo rm -rf /", PONS_TOOL_BLOCKED},
        {"echo $(rm -rf /)", PONS_TOOL_BLOCKED},
        {"echo \"`rm -rf /`\"", PONS_TOOL_BLOCKED},
        {"(cd x && rm -rf /)", PONS_TOOL_BLOCKED},
        {"{ rm -rf /; }", PONS_TOOL_BLOCKED},
        {"if true; then rm -rf /; fi", PONS_TOOL_BLOCKED},
        {"sh -c 'rm -rf /'", PONS_TOOL_BLOCKED},
        {"bash -c \"bash -c 'shutdown now'\"", PONS_TOOL_BLOCKED},
        {"env X=1 nohup timeout 5 mkfs.ext4 /dev/sda1", PONS_TOOL_BLOCKED},
        {"/sbin/mkfs /dev/sda", PONS_TOOL_BLOCKED},
        {"X=1 /sbin/reboot", PONS_TOOL_BLOCKED},
        {"systemctl poweroff", PONS_TOOL_BLOCKED},
        {"init 0", PONS_TOOL_BLOCKED},
        {"dd if=/dev/zero of=/dev/sda bs=1M", PONS_TOOL_BLOCKED},
        {"echo x > /dev/sda", PONS_TOOL_BLOCKED},
        {"chmod -R 777 /", PONS_TOOL_BLOCKED},
        {"kill -9 -1", PONS_TOOL_BLOCKED},
        {":(){ :|:& };:", PONS_TOOL_BLOCKED},
        {"git push --force origin", PONS_TOOL_BLOCKED}, // by this configuration
    };
    bench_open(&b, "{\"terminal\":{\"deny\":[\"git push --force\"]}}");
    bench_write(&b, "out/secret", "x", 1);
    bench_write(&b, "ws/notes.md", "x", 1);
    bench_write(&b, "ws/sub/x", "x", 1);
    bench_write(&b, "ws/mcp.json", "{}", 2);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/link", b.ws);
    assert_int_equal(symlink("../out/secret", path), 0);
    snprintf(path, sizeof path, "%s/alias", b.ws);
    assert_int_equal(symlink("mcp.json", path), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char reason[256] = "";
        pons_autovalue args = pons_object("command", json_string(rows[i].command), NULL);
        const pons_tool_risk risk =
            b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason);
        if (risk != rows[i].risk || !reason[0]) {
            fail_msg("%s: risk %d (%s), expected %d", rows[i].command, risk, reason, rows[i].risk);
        }
    }
    bench_close(&b);
    bench_open(&b, "{\"terminal\":{\"allow\":[\"make test\"]},\"risk\":{\"terminal\":\"warn\"}}");
    char reason[256];
    pons_autovalue make = bench_json("{\"command\":\"make test\"}");
    pons_autovalue ls = bench_json("{\"command\":\"ls\"}");
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", make, reason, sizeof reason),
                     PONS_TOOL_SAFE);
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", ls, reason, sizeof reason),
                     PONS_TOOL_WARN);
    assert_string_equal(reason,
                        "approved, it runs outside the sandbox: ls is not on the list of safe "
                        "commands");
    bench_close(&b);
}

// Each of these would read, write or run what nobody was asked about, if it ran unasked; the first
// ones did.
static void test_spellings_that_ask(void **state)
{
    static const char *const lines[] = {
        "find . \"-ex\\\nec\" sh -c 'touch x' ;",
        "find . -ex\\ec sh",
        "grep x --from-file=.env",
        "grep -f.env notes.md",
        "grep -f .env notes.md",
        "grep --file=.env notes.md",
        "diff --from-file=.env notes.md",
        "grep --directories=recurse x .",
        "grep -d recurse x .",
        "wc --files0-from=.env",
        "wc --files0-from .env",
        "sort --files0-from=.env",
        "du --files0-from=.env",
        "sort --o=notes.md notes.md",
        "sort --outp=x notes.md",
        "sort --compress-prog=sh notes.md",
        "grep --dir=recurse x .",
        "diff sub .",
        "diff . sub",
        "grep x sub",
        "grep -r x sub",
        "git diff --no-index notes.md .env",
        "git diff --no-inde a b",
        "grep -flink notes.md",
        "sort -Tlink notes.md",
        "grep --file=link notes.md",
        // others of the kind
        "env",
        "env ls",
        "xargs cat",
        "awk '{print}' notes.md",
        "sed -n 'w x' notes.md",
        "sed p x",
        "tar -cf x --to-command=sh notes.md",
        "tar tf x",
        "sort -T /tmp notes.md",
        "sort -S 1 notes.md",
        "date -f .env",
        "date -s now",
        "date 010100002030",
        "date --fil=.env",
        "date -r .env",
        "file -m .env notes.md",
        "file -f .env",
        "file -z notes.md",
        "file --magic-file=x notes.md",
        "rg --pre sh x",
        "less notes.md",
        "more notes.md",
        "cat *",
        "cat not?s.md",
        "cat [n]otes.md",
        "cat {notes.md,.env}",
        "cat ~/.bashrc",
        "cat ~root/.bashrc",
        "cat$IFS.env",
        "cat${IFS}.env",
        "cat <<< x",
        "cat <<X",
        "cat <notes.md",
        "cat /proc/self/environ",
        "cat /proc/self/cwd/.env",
        "ls /proc/self/fd",
        "cat /dev/sda",
        "cat /dev/stdin",
        "cat link",
        "cat alias",
        "cat hard",
        "cat fifo",
        "cat sub/../.env",
        "cat ./.env",
        "cat .ENV",
        "cat ./sub//.env",
        "cat MCP.json",
        "cat mcp.jſon",
        "cat .e\xe2\x80\x8b"
        "nv",
        "cat \xef\xbc\x8e"
        "env",
        "c\xd0\xb0"
        "t notes.md",
        "cat 'no\ntes'",
        "cat\nnotes.md",
        "cat notes.md\n",
        "cat notes.md\rls",
        "cat\tnotes.md",
        "cat \x01",
        "cat notes\\.md",
        "\"cat\" notes.md",
        "c'a't notes.md",
        "ls '-l'",
        "ls -\"l\"",
        "ls --al",
        "ls --color=always",
        "head --lin=3 notes.md",
        "head -n notes.md",
        "head -c1e9x .env",
        "tail -f notes.md",
        "tail --follow notes.md",
        "tail -F notes.md",
        "tail --pid=1 notes.md",
        "cat graph_config.yaml",
        "cat config/kernel.yaml",
        "ls run",
        "ls -l config",
        "cat pons.db",
        "cat pons.db-wal",
        "cat .git/config",
        "ls .git",
        "cat trees/x.xml",
        "find .git",
        "find run",
        "find . -newer .env",
        "find . -samefile .env",
        "find . -fprint x",
        "find . -fls x",
        "find . -execdir sh",
        "find . -files0-from .env",
        "find -L .",
        "find . notes.md -exec x",
        "find / -name x",
        "find .. -name x",
        "git -c core.pager=sh log",
        "git --git-dir=x log",
        "git -C sub log",
        "git log --output=x",
        "git log --ext-diff",
        "git log --textconv",
        "git show HEAD:.env",
        "git show :.env",
        "git show :/x",
        "git log -- .env",
        "git log -- ':!x'",
        "git log -- '*.md'",
        "git log -O.env",
        "git diff -Gx --no-index a b",
        "git blame .env",
        "git blame --contents .env notes.md",
        "git blame --ignore-revs-file=.env x",
        "git log --show-signature",
        "git log --format=%x",
        "git log --encoding=x",
        "git grep x",
        "git config -l",
        "git remote -v",
        "git stash",
        "git fetch",
        "git log -S x",
        "git log --no-walk",
        "git show --stdin",
        "git log --exec=x",
        "git log --all-match-es",
        "git log --gr x",
        "test -f .env",
        "test notes.md -nt .env",
        "stat .env",
        "stat -f .env",
        "readlink /etc/x",
        "which -a ../x --read-alias",
        "nl .env",
        "cut -f1 .env",
        "cut --fields=1 .env",
        "comm .env x",
        "cmp notes.md .env",
        "md5sum -c .env",
        "sha256sum --check .env",
        "printf %s $HOME",
        "echo `id`",
        "echo $(id)",
        "echo !!",
        "time ls",
        "exec ls",
        "! ls",
        "ls;",
        "ls &",
        "(ls)",
        "A=1 ls",
        "./ls",
        "/bin/ls",
        "../ls",
        "ls\\",
        "ls ..",
        "ls ../out",
        "ls sub/..",
        "cat '",
        "cat \"",
        "busybox ls",
        "sh -c ls",
        "ls -l;ls",
        "ls\x7f",
        "du -X .env",
        "ls -I x",
        "tr a b <.env",
        "uniq .env out",
        "tee x",
        "python3 -c 1",
        "perl -e 1",
        "vi",
        "id root",
        "",
        " ",
        "\xff\xfe",
        "cat \xc0\xae\xc0\xae/out",
    };
    bench b;
    char path[PATH_MAX];
    (void)state;
    bench_open(&b, NULL);
    bench_write(&b, "out/secret", "x", 1);
    bench_write(&b, "ws/notes.md", "x", 1);
    bench_write(&b, "ws/.env", "x", 1);
    bench_write(&b, "ws/sub/.env", "x", 1);
    static const char *const links[][2] = {{"../out/secret", "link"}, {"sub/.env", "alias"}};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", b.ws, links[i][1]);
        assert_int_equal(symlink(links[i][0], path), 0);
    }
    char to[PATH_MAX];
    snprintf(path, sizeof path, "%s/sub/.env", b.ws);
    snprintf(to, sizeof to, "%s/hard", b.ws);
    assert_int_equal(link(path, to), 0);
    snprintf(path, sizeof path, "%s/fifo", b.ws);
    assert_int_equal(mkfifo(path, 0600), 0);
    int safe = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char reason[512] = "";
        pons_autovalue args = json_object();
        json_object_set_new(args, "command", json_string_nocheck(lines[i]));
        if (b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason) <
            PONS_TOOL_DANGEROUS) {
            print_message("runs unasked: %s\n", lines[i]);
            safe++;
        } else if (!strstr(reason, "outside the sandbox")) {
            fail_msg("%s: the question does not say where it runs: %s", lines[i], reason);
        }
    }
    assert_int_equal(safe, 0);
    // A long word pushes nothing out of the question.
    char text[2000], reason[128];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    pons_autovalue args = pons_object("command", json_string(text), NULL);
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason),
                     PONS_TOOL_DANGEROUS);
    assert_non_null(strstr(reason, "outside the sandbox"));
    // Nor does a folder make a command safe.
    static const char *const folders[] = {"run", "config", ".git", "sub/.git"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        pons_autovalue in =
            pons_object("command", json_string("ls"), "cwd", json_string(folders[i]), NULL);
        assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", in, reason, sizeof reason),
                         PONS_TOOL_DANGEROUS);
    }
    bench_close(&b);
}

// What stays in the workspace of a command with a key in it: nothing of its words.
static void test_leaves_no_word_in_the_ledger(void **state)
{
    bench b;
    size_t n = 0;
    (void)state;
    bench_open(&b, NULL);
    pons_tool_event ev = bench_call_key(
        &b, "terminal",
        "{\"command\":\"KEY=sk-written-0123456789abcdef; echo $KEY; ls $KEY; echo done\"}", "k1");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    char *ledger = bench_read(&b, "ws/run/tools.ledger", &n);
    assert_non_null(strstr(ledger, "k1"));
    assert_null(strstr(ledger, "sk-written"));
    free(ledger);
    bench_close(&b);
}

// ---- the host's own environment -----------------------------------------------------------------

#define HOST_KEY "OPENAI_API_KEY=sk-of-the-host-4711"

// The test once more, as a program that was started with a key: what every process of the user that a
// command may look into says of it. The key itself still works there.
static int host_with_a_key(void)
{
    bench b;
    pons_process_seal();
    const char *key = getenv("OPENAI_API_KEY");
    const bool sealed = prctl(PR_GET_DUMPABLE) == 0;
    bench_open(&b, NULL);
    char *out = bench_output(&b, "terminal",
                             "{\"command\":\"p=$$; while [ $p -gt 1 ]; do tr '\\\\0' '\\\\n' "
                             "< /proc/$p/environ; echo seen $p; "
                             "p=$(sed 's/.*) . //;s/ .*//' /proc/$p/stat); done; true\"}");
    char self[32];
    snprintf(self, sizeof self, "seen %d", (int)getpid());
    const bool looked = strstr(out, self) != NULL, reported = strstr(out, HOST_KEY + 15) != NULL;
    if (reported || !looked) {
        fprintf(stderr, "%s\n", out);
    }
    free(out);
    bench_close(&b);
    return sealed && key && strcmp(key, HOST_KEY + 15) == 0 && looked && !reported ? 0 : 1;
}

static void test_reads_no_key_of_the_hosts(void **state)
{
    (void)state;
    int status = 0;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char program[] = "/proc/self/exe", name[] = "tools/test_terminal", word[] = "key",
             key[] = HOST_KEY, path[] = "PATH=/usr/bin:/bin";
        char *argv[] = {program, name, word, NULL}, *env[] = {path, key, NULL};
        execve(program, argv, env);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    pons_value_init();
    if (runner_words[0]) {
        return host_with_a_key();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_has_nothing_of_the_host),
        cmocka_unit_test(test_reads_no_key_of_the_hosts),
        cmocka_unit_test(test_leaves_no_word_in_the_ledger),
        cmocka_unit_test(test_is_ended_by_time),
        cmocka_unit_test(test_leaves_nothing_behind),
        cmocka_unit_test(test_is_ended_by_cancel_and_close),
        cmocka_unit_test(test_many_wait_their_turn),
        cmocka_unit_test(test_output_is_bounded_and_clean),
        cmocka_unit_test(test_risks),
        cmocka_unit_test(test_spellings_that_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
