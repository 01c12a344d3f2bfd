// The wall of the terminal: what a command that nobody is asked about can see, change and reach.
// Attacks are programs of the workspace that the configuration lets run unasked, so that nothing but
// the kernel is in their way; each way of making the wall is tried, as root and as nobody.
#include "pons/ext/tool.h"
#include "tools/sandbox/sandbox.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECRET "c4n4ry-of-the-test"
#define NOBODY 65534

static const char *const allow_attack =
    "{\"terminal\":{\"allow\":[\"sh attack.sh\",\"perl attack.pl\",\"./attack.sh\",\"cat\",\"ls\","
    "\"find\",\"git status\",\"git log\",\"git diff\",\"git show\",\"id\",\"sort\"]},"
    "\"hidden\":[\"private\"]}";

static int listener = -1;

static void secret(const bench *b, const char *path)
{
    bench_write(b, path, SECRET "\n", sizeof SECRET);
}

// A workspace in which everything is that may not be seen.
static void furnish(bench *b, const char *config)
{
    static const char *const secrets[] = {
        "out/secret",         "ws/.env",          "ws/sub/.env",          "ws/mcp.json",
        "ws/config/mcp.json", "ws/config/k.yaml", "ws/graph_config.yaml", "ws/run/token",
        "ws/pons.db",         "ws/pons.db-wal",   "ws/pons.db-locks/t",   "ws/private/deep/file",
        "ws/trees/t.xml",     "ws/worlds/w.yaml", "ws/lib/pons/x.so",     "ws/.git/config"};
    static const char *const links[][2] = {{"../out/secret", "out"},
                                           {"sub/.env", "alias"},
                                           {"mcp.json", "other"},
                                           {"/etc/passwd", "users"},
                                           {"/proc/self/environ", "env"}};
    char path[PATH_MAX + 64], to[PATH_MAX + 64];
    bench_open(b, config);
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        secret(b, secrets[i]);
    }
    bench_write(b, "ws/notes.md", "a note\n", 7);
    bench_write(b, "ws/sub/x", "x\n", 2);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", b->ws, links[i][1]);
        assert_int_equal(symlink(links[i][0], path), 0);
    }
    snprintf(path, sizeof path, "%s/sub/.env", b->ws);
    snprintf(to, sizeof to, "%s/hard", b->ws);
    assert_int_equal(link(path, to), 0);
    snprintf(path, sizeof path, "%s/fifo", b->ws);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, "%s/sub/socket", b->ws);
    assert_true(strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listener, 4), 0);
}

static void clear(bench *b)
{
    assert_int_equal(accept(listener, NULL, NULL), -1); // nobody has called
    close(listener);
    bench_close(b);
}

static void assert_same(const bench *b, const char *path)
{
    char *text = bench_read(b, path, NULL);
    assert_non_null(text);
    assert_string_equal(text, SECRET "\n");
    free(text);
}

static char *command(bench *b, const char *line, pons_tool_risk risk)
{
    char reason[512];
    pons_autovalue args = pons_object("command", json_string(line), NULL);
    const pons_tool_risk here =
        b->tools.ops->assess(b->tools.self, "terminal", args, reason, sizeof reason);
    if (here != risk) {
        fail_msg("%s: risk %d (%s), expected %d", line, here, reason, risk);
    }
    char *text = NULL;
    assert_true(pons_value_dump(args, &text) > 0);
    char *out = bench_output(b, "terminal", text);
    free(text);
    return out;
}

static void shows(bench *b, const char *line, const char *expect)
{
    char *out = command(b, line, PONS_TOOL_SAFE);
    if (!strstr(out, expect) || strstr(out, SECRET)) {
        fail_msg("%s: %s; expected %s", line, out, expect);
    }
    free(out);
}

// Reads everything that it can name, by every name that it has.
static const char reads[] =
    "cat .env sub/.env mcp.json config/mcp.json config/k.yaml graph_config.yaml run/token "
    "pons.db*\n"
    "cat pons.db-locks/t private/deep/file trees/t.xml worlds/w.yaml lib/pons/x.so .git/config\n"
    "cat out alias other users env hard ../out/secret /etc/shadow /etc/hostname /root/.profile\n"
    "grep -r '"
    "c4n4ry"
    "' . .. /etc /dev /tmp /home /root 2>/dev/null\n"
    "cat /proc/*/environ /proc/self/root/etc/passwd /proc/1/cwd/../out/secret /sys/kernel/* \n"
    "ls -la / /home /root /var /work /proc /sys /dev 2>&1\n"
    "cat <fifo &\n"
    "tr a-z A-Z <.env\n"
    "echo read all\n";
// Writes everywhere.
static const char writes[] =
    "for f in .env mcp.json graph_config.yaml notes.md run/token pons.db new sub/new "
    "../out/secret\n"
    "do (echo broken >$f) 2>/dev/null; rm -f $f; mv $f x; ln -f $f y; chmod 777 $f; truncate -s 0 "
    "$f\n"
    "touch $f; done 2>/dev/null\n"
    "(echo x >/usr/bin/evil; echo x >/etc/passwd; echo x >/dev/sda; mknod d c 1 3) 2>/dev/null\n"
    "mkdir deep config/deep; cp /bin/sh /tmp/sh && /tmp/sh -c 'echo ran from tmp'\n"
    "mount -t tmpfs t /tmp; umount .env; unshare -Ur echo unshared; chroot . echo rooted\n"
    "kill -9 -1; echo still here\n";
// Calls that no list of programs would see.
static const char calls[] =
    "use Socket; use strict; no warnings; $| = 1;\n"
    "print \"socket\\n\" if socket(my $s, AF_UNIX, SOCK_STREAM, 0);\n"
    "print \"inet\\n\" if socket(my $t, AF_INET, SOCK_STREAM, 0);\n"
    "print \"pair\\n\" if socketpair(my $u, my $v, AF_UNIX, SOCK_STREAM, 0);\n"
    "connect($s, sockaddr_un('sub/socket')) and print \"connected\\n\";\n"
    "print \"chmod\\n\" if chmod 0777, 'notes.md', '/tmp';\n"
    "print \"truncate\\n\" if truncate('notes.md', 0);\n"
    "print \"link\\n\" if link('notes.md', '/tmp/l') or symlink('x', '/tmp/s');\n"
    "print \"rename\\n\" if rename('notes.md', 'n');\n"
    "print \"utime\\n\" if utime(1, 1, 'notes.md');\n"
    "print \"mkdir\\n\" if mkdir('/tmp/d');\n"
    // x86-64: ptrace, mount, unshare, setns, io_uring_setup, bpf, keyctl, memfd_create, userfaultfd,
    // setxattr, init_module, open_tree, process_vm_readv, perf_event_open, landlock, clone3
    "for my $n (101, 165, 272, 308, 425, 321, 250, 319, 323, 188, 175, 428, 310, 298, 444, 435,\n"
    "           161, 155, 169, 41, 49, 53, 86, 88, 90, 76, 132, 90, 92, 133, 246, 304) {\n"
    "  my $r = syscall($n, 0x10000000, 0, 0, 0, 0); print \"call $n gave $r\\n\" if $r >= 0;\n"
    "}\n"
    "my $new = syscall(56, 0x10000000 | 17, 0, 0, 0, 0); exit(0) if !$new;\n"
    "print \"cloned\\n\" if $new > 0;\n"
    "print \"end\\n\";\n"
    "syscall(0x40000000 + 39) >= 0 and print \"x32\\n\";\n";

static void attack(bench *b, const char *name, const char *text, const char *line, const char *end,
                   const char *const *never, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "ws/%s", name);
    bench_write(b, path, text, strlen(text));
    char *out = command(b, line, PONS_TOOL_SAFE);
    if (getenv("PONS_TEST_SHOW")) {
        print_message("%s\n%s\n", line, out);
    }
    if (!strstr(out, end)) {
        fail_msg("%s did not come to its end: %s", line, out);
    }
    if (strstr(out, SECRET)) {
        fail_msg("%s read what is hidden: %s", line, out);
    }
    for (size_t i = 0; i < n; i++) {
        if (strstr(out, never[i])) {
            fail_msg("%s: %s: %s", line, never[i], out);
        }
    }
    free(out);
}

static void go_against_it(unsigned way)
{
    bench b;
    static const char *const evils[] = {"unshared", "rooted", "ran from tmp"};
    static const char *const done[] = {"socket\n", "inet\n",   "pair\n", "connected\n", "chmod\n",
                                       "truncate", "link\n",   "rename", "utime",       "mkdir\n",
                                       "gave",     "cloned\n", "x32\n"};
    pons__wall_permit(way);
    furnish(&b, allow_attack);
    shows(&b, "cat notes.md", "a note");
    shows(&b, "ls", "notes.md");
    shows(&b, "ls nothing", "No such file");
    shows(&b, "find . -name x", "./sub/x");
    shows(&b, "sort notes.md", "a note");
    shows(&b, "id -un", geteuid() == 0 ? "root" : "nobody");
    attack(&b, "attack.sh", reads, "sh attack.sh", "read all\n", NULL, 0);
    attack(&b, "attack.sh", writes, "sh attack.sh", "still here\n", evils,
           way == PONS__WALL_OWN ? 3 : 2); // bubblewrap has no noexec
    attack(&b, "attack.pl", calls, "perl attack.pl", "end\n", done, sizeof done / sizeof done[0]);
    static const char *const kept[] = {"out/secret",   "ws/.env",    "ws/mcp.json",
                                       "ws/run/token", "ws/pons.db", "ws/graph_config.yaml"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        assert_same(&b, kept[i]);
    }
    char *note = bench_read(&b, "ws/notes.md", NULL);
    assert_string_equal(note, "a note\n");
    free(note);
    assert_null(bench_read(&b, "ws/new", NULL));
    clear(&b);
    pons__wall_permit(PONS__WALL_OWN | PONS__WALL_BWRAP);
}

// The same as another user, in a process of its own; root's tests alone can do that.
static void as_nobody(void (*test)(unsigned), unsigned way)
{
    if (geteuid() != 0) {
        return;
    }
    int status = 0;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) < 0) {
            _exit(9);
        }
        setenv("TMPDIR", "/tmp", 1);
        test(way);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_own_namespaces(void **state)
{
    (void)state;
    go_against_it(PONS__WALL_OWN);
    as_nobody(go_against_it, PONS__WALL_OWN);
}

static void test_bubblewrap(void **state)
{
    (void)state;
    go_against_it(PONS__WALL_BWRAP);
    as_nobody(go_against_it, PONS__WALL_BWRAP);
}

// A program of the workspace is not run by namespaces of our own: they mount it noexec.
static void test_runs_nothing_of_the_workspace(void **state)
{
    bench b;
    (void)state;
    pons__wall_permit(PONS__WALL_OWN);
    furnish(&b, allow_attack);
    bench_write(&b, "ws/attack.sh", "#!/bin/sh\necho ran it\n", 22);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/attack.sh", b.ws);
    assert_int_equal(chmod(path, 0700), 0);
    pons_tool_event ev = bench_call(&b, "terminal", "{\"command\":\"./attack.sh\"}");
    assert_null(strstr(pons_get_str(ev.value, "output", ""), "ran it"));
    pons_tool_event_clear(&ev);
    clear(&b);
    pons__wall_permit(PONS__WALL_OWN | PONS__WALL_BWRAP);
}

static void test_without_a_wall_everything_asks(void **state)
{
    bench b;
    char reason[512];
    (void)state;
    pons__wall_permit(0);
    bench_open(&b, NULL);
    static const char *const lines[] = {"ls", "pwd", "cat notes.md", "git status", "true"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        pons_autovalue args = pons_object("command", json_string(lines[i]), NULL);
        assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason),
                         PONS_TOOL_DANGEROUS);
        assert_non_null(strstr(reason, "no sandbox"));
        assert_non_null(strstr(reason, "outside the sandbox"));
    }
    char *out = bench_output(&b, "terminal", "{\"command\":\"echo approved | cat\"}");
    assert_string_equal(out, "approved\n");
    free(out);
    bench_close(&b);
    pons__wall_permit(PONS__WALL_OWN | PONS__WALL_BWRAP);
}

// What was called safe and is so no longer is not run with the user's rights.
static void test_a_promise_is_kept(void **state)
{
    bench b;
    char path[PATH_MAX], reason[512];
    (void)state;
    furnish(&b, NULL);
    pons_autovalue args = bench_json("{\"command\":\"cat later\"}");
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason),
                     PONS_TOOL_SAFE);
    snprintf(path, sizeof path, "%s/later", b.ws);
    assert_int_equal(symlink("../out/secret", path), 0);
    bench_refused(&b, "terminal", "{\"command\":\"cat later\"}", PONS_EREFUSED, "no longer");
    clear(&b);
}

// A workspace that cannot be looked through has no wall: its commands ask, and can be approved.
static void test_a_workspace_too_deep_asks(void **state)
{
    bench b;
    char path[PATH_MAX] = "ws/", reason[512];
    (void)state;
    bench_open(&b, NULL);
    for (int i = 0; i < 140; i++) {
        strcat(path, "d/");
    }
    strcat(path, "file");
    bench_write(&b, path, "x", 1);
    pons_autovalue args = bench_json("{\"command\":\"pwd\"}");
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason),
                     PONS_TOOL_SAFE);
    bench_refused(&b, "terminal", "{\"command\":\"pwd\"}", PONS_EREFUSED, "deeper than");
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", args, reason, sizeof reason),
                     PONS_TOOL_DANGEROUS);
    assert_non_null(strstr(reason, "deeper than"));
    char *out = bench_output(&b, "terminal", "{\"command\":\"pwd\"}"); // approved
    assert_non_null(strstr(out, b.ws));
    free(out);
    bench_close(&b);
}

// ---- git ----------------------------------------------------------------------------------------

static void in(const bench *b, const char *folder, const char *line)
{
    char text[3 * PATH_MAX];
    snprintf(text, sizeof text,
             "cd '%s/%s' && export HOME=/nonexistent GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
             "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && (%s) >/dev/null 2>&1",
             b->ws, folder, line);
    assert_int_equal(system(text), 0);
}

static void test_git_looks_and_runs_nothing(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    in(&b, ".",
       "git init . && echo one >a.txt && echo " SECRET " >.env && mkdir config && "
       "echo " SECRET " >config/k.yaml && git add -f . && git commit -m first && "
       "echo two >a.txt && echo " SECRET "2 >.env && git commit -am second");
    // Whatever git could be made to run leaves a mark.
    in(&b, ".",
       "for k in core.fsmonitor core.pager core.sshCommand diff.external pager.log "
       "diff.x.textconv diff.x.command filter.x.clean filter.x.smudge gpg.program "
       "core.editor alias.status; do git config $k 'touch ran; cat'; done; "
       "git config filter.x.required true; git config core.hooksPath .githooks; "
       "mkdir .githooks; for h in post-index-change pre-commit fsmonitor; do "
       "printf '#!/bin/sh\\ntouch ran' >.githooks/$h; chmod 755 .githooks/$h; done; "
       "echo '* diff=x filter=x' >.gitattributes; rm -f ran");
    shows(&b, "git log --oneline", "second");
    shows(&b, "git log -p -n 2", "two");
    shows(&b, "git log --stat --all", "a.txt");
    shows(&b, "git show HEAD~1", "first");
    shows(&b, "git diff HEAD~1..HEAD -- a.txt", "two");
    shows(&b, "git diff --stat HEAD~1", "a.txt");
    shows(&b, "git status --short", ".gitattributes");
    shows(&b, "git blame a.txt", "two");
    in(&b, ".", "git cat-file -p HEAD:.env");
    char blob[64] = "", line[128], path[3 * PATH_MAX];
    snprintf(path, sizeof path, "git -C '%s' rev-parse HEAD:.env", b.ws);
    FILE *f = popen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(blob, sizeof blob, f));
    pclose(f);
    blob[strcspn(blob, "\n")] = '\0';
    snprintf(line, sizeof line, "git show %s", blob); // by its hash alone
    shows(&b, line, "exit status");
    assert_null(bench_read(&b, "ws/ran", NULL));
    // What a hidden name leads to, and its hard link, were committed under names that say nothing.
    in(&b, ".",
       "rm -rf conf copy.txt; mkdir conf && echo " SECRET "3 >conf/servers && echo 3 >c.txt && "
       "rm -f mcp.json && ln -s conf/servers mcp.json && ln .env copy.txt && "
       "git -c filter.x.clean=cat add -f conf copy.txt c.txt && "
       "git -c filter.x.clean=cat commit -m third; rm -f ran");
    shows(&b, "git log -p", "third");
    shows(&b, "git show HEAD", "third");
    shows(&b, "git diff HEAD~1", "");
    in(&b, ".", "rm conf/servers"); // nobody knows what it was: asks
    pons_autovalue diff = pons_object("command", json_string("git diff"), NULL);
    assert_int_equal(b.tools.ops->assess(b.tools.self, "terminal", diff, path, sizeof path),
                     PONS_TOOL_DANGEROUS);
    in(&b, ".", "rm mcp.json copy.txt");
    // A bare repository in a folder is none for it.
    in(&b, ".",
       "rm -rf .git; mkdir bare && cd bare && git init --bare . && git config "
       "core.fsmonitor 'touch ran' && git config core.bare false && git config "
       "core.worktree .");
    char *out = bench_output(&b, "terminal", "{\"command\":\"git status\",\"cwd\":\"bare\"}");
    assert_non_null(strstr(out, "not a git repository"));
    free(out);
    assert_null(bench_read(&b, "ws/bare/ran", NULL));
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_namespaces),
        cmocka_unit_test(test_bubblewrap),
        cmocka_unit_test(test_runs_nothing_of_the_workspace),
        cmocka_unit_test(test_without_a_wall_everything_asks),
        cmocka_unit_test(test_a_promise_is_kept),
        cmocka_unit_test(test_a_workspace_too_deep_asks),
        cmocka_unit_test(test_git_looks_and_runs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
