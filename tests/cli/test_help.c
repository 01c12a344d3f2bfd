// test_help.c - what the command line says of itself: help of every command and word within 80
// columns, twenty slips and what was meant, the man page, and the shells' completions.
#include "cli_bench.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 80 };

// Runs it; what it printed is the caller's to free.
static char *said(bench *b, const char *line)
{
    proc p = {0};
    bench_start(b, &p, NULL, line);
    bench_must_exit(&p, 0);
    char *text = strndup(p.text ? p.text : "", p.length);
    bench_free(&p);
    assert_non_null(text);
    return text;
}

static const char *the_program(void)
{
    const char *program = getenv("PONS_PROGRAM");
    return program ? program : PONS_BINARY_DIR "/pons";
}

static void fits(const char *of, const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t columns = 0; // none of it is wide
        for (size_t i = 0; i < strcspn(line, "\n"); i++) {
            columns += ((unsigned char)line[i] & 0xc0) != 0x80;
        }
        if (columns > WIDTH) {
            fail_msg("help %s: %zu columns: %.*s", of, columns, (int)strcspn(line, "\n"), line);
        }
    }
}

// Help of what is named in a help: two blanks, the name, more. At least `least` of them.
static void each_named(bench *b, const char *of, const char *text, size_t least)
{
    size_t n = 0;
    char before[64];
    snprintf(before, sizeof before, *of ? "\n  pons %s " : "\n  ", of);
    for (const char *at = strstr(text, before); at; at = strstr(at + 1, before)) {
        const char *name = at + strlen(before);
        const size_t length = strcspn(name, " \n");
        char line[128];
        if (length == 0) { // the next row of the one before
            continue;
        }
        snprintf(line, sizeof line, "help %s%s%.*s", of, *of ? " " : "", (int)length, name);
        char *help = said(b, line);
        char head[128];
        snprintf(head, sizeof head, "pons %s", of);
        assert_ptr_equal(strstr(help, *of ? head : "pons "), help);
        fits(line, help);
        if (!*of && strstr(help, "\n  pons ")) {
            char whole[64];
            snprintf(whole, sizeof whole, "%.*s", (int)length, name);
            each_named(b, whole, help, 1);
        }
        free(help);
        n++;
    }
    assert_true(n >= least);
}

static void all_help_fits(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    char *text = said(&b, "help");
    fits("", text);
    each_named(&b, "", text, 30);
    free(text);
    char *bare = said(&b, "mcp"), *asked = said(&b, "mcp --help");
    assert_string_equal(bare, asked);
    assert_non_null(strstr(bare, "pons mcp serve"));
    free(bare);
    free(asked);
    bench_close(&b);
}

static void twenty_slips(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"rnu x", "did you mean 'run'"},
        {"statsu", "did you mean 'status'"},
        {"thread", "did you mean 'threads'"},
        {"stpo", "did you mean 'stop'"},
        {"cancle", "did you mean 'cancel'"},
        {"aprove", "did you mean 'approve'"},
        {"companoin run", "did you mean 'companion'"},
        {"worksapce check", "did you mean 'workspace'"},
        {"bt shwo x", "did you mean 'show'"},
        {"fleet asign x", "did you mean 'assign'"},
        {"threads hsitory x", "did you mean 'history'"},
        {"body camrea x", "did you mean 'camera'"},
        {"mcp serv", "did you mean 'serve'"},
        {"plan chekc x", "did you mean 'check'"},
        {"run --sped 3 x", "did you mean --speed"},
        {"agent --sesion x", "did you mean --session"},
        {"bt --fromat svg show x", "did you mean --format"},
        {"fleet simulate --robot 3", "did you mean --robots"},
        {"status --jsno", "did you mean --json"},
        {"serve --tokenfile x", "did you mean --token-file"},
        {"schedule ad", "did you mean 'add'"},
        {"schedule remvoe s-1", "did you mean 'remove'"},
        {"schedule contniue s-1", "did you mean 'continue'"},
        {"schedule add --corn x y", "did you mean --cron"},
        {"places forgte x", "did you mean 'forget'"},
        {"body --worl house", "did you mean --world"},
        {"body rso2", "'rso2'"},
        {"run --drvier gazebo x", "did you mean --driver"},
        {"run --rso2 x", "did you mean --ros2"},
        {"map sdff x", "did you mean 'sdf'"},
        {"resum t", "did you mean 'resume'"},
        {"statu", "did you mean 'status'"},
        {"STOP", "did you mean 'stop'"},
        {"helpp", "did you mean 'help'"},
        {"--hlep", "option '--hlep', did you mean '--help'"},
        {"--verison", "did you mean '--version'"},
        {"--workspcae /tmp status", "did you mean '--workspace'"},
        {"RESET", "command 'RESET'; `pons help` lists them"},
        {"rest", "command 'rest'; `pons help` lists them"}, // no slip is told to lift a latch,
        {"resett", "command 'resett'; `pons help` lists them"},
        {"threads rn t", "threads: there is no 'rn'; it takes"}, // or to remove
        {"frobnicate", "`pons help` lists them"},
        {"fleet run --xyzzy", "`pons help fleet run` lists them"},
        {"halt", "did you mean 'stop'"}, // said where a command stands
        {"停", "did you mean 'stop'"},
        {"急停", "did you mean 'stop'"},
        {"emergency stop", "did you mean 'stop'"},
        {"hold on", "did you mean 'pause'"},
        {"取消", "did you mean 'cancel'"},
        {"go to the kitchen", "pons run \"go to the kitchen\""},
        {"去厨房", "pons run \"去厨房\""},
        {"slower", "did you mean 'pace \"slower\"'"},
        {"慢一点", "did you mean 'pace"},
        {"fork t new", "did you mean 'threads fork'"},
        {"history t", "did you mean 'threads history'"},
        {"list", "there are 'threads list', 'places list'"},
        {"rm t", "`pons help` lists them"},
        {"run --world hosue 去厨房", "there is no world 'hosue', did you mean 'house'"},
        {"run --driver kinematc 去厨房", "there is no driver 'kinematc', did you mean 'kinematic'"},
        {"map show tabeltop", "did you mean 'tabletop'"},
        {"graph show raect", "did you mean 'react'"},
        {"config show kernel.yml", "did you mean 'kernel.yaml'"},
        {"config show kernel", "did you mean 'kernel.yaml'"},
        {"help --mna", "--man"},
        {"run --json=yes x", "--json takes no value"},
        {"run --new=no x", "--new takes no value"},
        {"watchdog cat", "it takes hal, runtime or policy"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i][0], 2, rows[i][1]);
    }
    bench_close(&b);
}

static void the_man_page_has_all(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    char *page = said(&b, "help --man");
    static const char *const parts[] = {
        ".TH PONS 1",  ".SS \"pons run ",   "\\fBpons fleet assign\\fR",
        "\\-\\-stops", ".SH EXIT STATUS\n", "\\fB\\-\\-token\\-file\\fR"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_non_null(strstr(page, parts[i]));
    }
    for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        assert_true(length > 0 && line[length - 1] != ' ');
        assert_true(length <= WIDTH || strncmp(line, ".SS", 3) == 0 || line[0] == '\\');
        for (size_t i = 0; i < length; i++) { // roff alone reads no UTF-8
            assert_in_range(line[i], ' ', '~');
        }
        if (*line == '.') { // a request of roff, and one that is meant
            static const char *const known[] = {".TH", ".SH", ".SS", ".TP", ".RS", ".RE"};
            bool meant = false;
            for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
                meant = meant || strncmp(line, known[i], 3) == 0;
            }
            assert_true(meant);
        }
    }
    free(page);
    bench_close(&b);
}

// What a shell prints that runs the text, a line each; false: there is no such shell here.
static bool shell_says(bench *b, const char *shell, const char *text, const char *const rows[][2],
                       size_t n)
{
    char path[32];
    snprintf(path, sizeof path, "/usr/bin/%s", shell);
    if (access(path, X_OK) != 0) {
        return false;
    }
    proc p = {0};
    bench_start_program(b, &p, path, bench_file(b, "complete", text));
    for (size_t i = 0; i < n; i++) {
        const char *line = bench_line(&p);
        if (strcmp(line, rows[i][1]) != 0) {
            fail_msg("%s completes \"%s\" as \"%s\", not \"%s\"", shell, rows[i][0], line,
                     rows[i][1]);
        }
    }
    bench_must_exit(&p, 0);
    bench_free(&p);
    return true;
}

// Names that are there: of threads, places with blanks, worlds; in the workspace that the line names.
static void names_are_completed(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"pons threads show ", "t-one"},       {"pons threads show t", "t-one"},
        {"pons resume --thread ", "t-one"},    {"pons --json threads s", "show"},
        {"pons config show k", "kernel.yaml"}, {"pons run --world tab", "tabletop"},
        {"pons graph show re", "react"},       {"pons help fleet se", "settle"},
        {"pons scenario run al", "all"},       {"pons resume --thread x --ll", "--llm"},
    };
    bench b;
    bench_open(&b);
    proc p = {0};
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    bench_start(&b, &p, NULL, "threads");
    bench_must_exit(&p, 0);
    char *reported = bench_stderr(&p);
    assert_non_null(strstr(reported, "there is no thread yet"));
    free(reported);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "run --thread t-one " FAST " 等1秒"), 0);
    char text[131072];
    const char *program = the_program();
    char *script = said(&b, "help --completion bash");
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "export PONS_WORKSPACE='%s'\n%s\n"
                                   "t() { COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=(''); "
                                   "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pons '%s'; "
                                   "echo \"${COMPREPLY[*]}\"; }\n",
                                   b.workspace, script, program);
    free(script);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "t '%s'\n", rows[i][0]);
    }
    assert_true(used < sizeof text);
    assert_true(shell_says(&b, "bash", text, rows, sizeof rows / sizeof rows[0]));
    script = said(&b, "help --completion fish");
    used = (size_t)snprintf(text, sizeof text,
                            "set -x PONS_WORKSPACE '%s'\nset -x PATH (dirname '%s') $PATH\n%s\n",
                            b.workspace, program, script);
    free(script);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "string join ' ' -- (complete -C '%s' | string replace -r '\\t.*' "
                                 "'')\n",
                                 rows[i][0]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "true\n");
    assert_true(used < sizeof text);
    shell_says(&b, "fish", text, rows, sizeof rows / sizeof rows[0]);
    bench_close(&b);
}

// What bash completes, by the script it is given.
static void bash_completes(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"pons st", "status stop"},
        {"pons bt ''", "check show run watch"},
        {"pons bt --f", "--format"},
        {"pons fleet s", "status settle simulate"},
        {"pons fleet run --s", "--standby --speed"},
        {"pons help fl", "fleet"},
        {"pons run --token", "--token-file"},
        {"pons doctor --re", "--repair"}, // and not do's
        {"pons --json st", "status stop"},
        {"pons --workspace /tmp bt sh", "show"},
        {"pons --ver", "--version"},
    };
    bench b;
    bench_open(&b);
    char *script = said(&b, "help --completion bash");
    char text[65536];
    const int n = snprintf(text, sizeof text,
                           "%s\nt() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _pons; "
                           "echo \"${COMPREPLY[*]}\"; }\n",
                           script);
    assert_true(n > 0 && n < 60000);
    free(script);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        strcat(strcat(strcat(text, "t "), rows[i][0]), "\n");
    }
    char line[256];
    proc p = {0};
    snprintf(line, sizeof line, "%s", bench_file(&b, "complete.bash", text));
    bench_start_program(&b, &p, "/bin/bash", line);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(bench_line(&p), rows[i][1]);
    }
    bench_must_exit(&p, 0);
    bench_free(&p);
    char *zsh = said(&b, "help --completion zsh"), *fish = said(&b, "help --completion fish");
    assert_non_null(strstr(zsh, "#compdef pons"));
    assert_non_null(strstr(fish, "complete -c pons -f -n __pons_at -a run"));
    assert_non_null(strstr(fish, "__pons_at help fleet"));
    free(zsh);
    free(fish);
    bench_must_fail(&b, "help --completion tcsh", 2, "bash, zsh or fish");
    bench_close(&b);
}

// Half a page on a full disk is no success; what somebody closed is nobody's loss.
static void a_full_disk_is_told(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"help --man >/dev/full 2>e; echo $? $(cat e)",
         "3 pons: standard output: No space left on device"},
        {"map sdf house >/dev/full 2>e; echo $? $(cat e)",
         "3 pons: standard output: No space left on device"},
        {"graph list --json >/dev/full 2>e; echo $? $(cat e)",
         "3 pons: standard output: No space left on device"},
        {"help --man 2>e | head -1 >/dev/null; echo ${PIPESTATUS[0]} $(cat e)", "0"},
        {"help >&- 2>e; echo $? $(cat e)", "0"},
        {"--workspace '' status 2>&1; echo $?", "pons: --workspace needs a directory"},
    };
    bench b;
    bench_open(&b);
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "cd '%s'\n", b.dir);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "'%s' %s\n", the_program(),
                                 rows[i][0]);
    }
    assert_true(used < sizeof text);
    proc p = {0};
    bench_start_program(&b, &p, "/bin/bash", bench_file(&b, "full.bash", text));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(bench_line(&p), rows[i][1]);
    }
    assert_string_equal(bench_line(&p), "2");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_help_fits, bench_teardown),
        cmocka_unit_test_teardown(twenty_slips, bench_teardown),
        cmocka_unit_test_teardown(the_man_page_has_all, bench_teardown),
        cmocka_unit_test_teardown(bash_completes, bench_teardown),
        cmocka_unit_test_teardown(names_are_completed, bench_teardown),
        cmocka_unit_test_teardown(a_full_disk_is_told, bench_teardown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("cli/help", tests, NULL, NULL);
}
