// test_undo.c - what a person takes back and what they allow for good, in a chat on a terminal and on the
// command line: an undo never throws away what somebody else wrote, and an "always" is for what was
// shown, here.
#include "cli_bench.h"
#include "terminal.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];
static terminal term;

static void open_in(bench *b, const char *script, const char *where)
{
    static char llm[256], own[256];
    bench_file(b, "script.yaml", script);
    snprintf(llm, sizeof llm, "script:%s/script.yaml", b->dir);
    snprintf(own, sizeof own, "%s", b->workspace);
    snprintf(folder, sizeof folder, "%s/%s", b->dir, where);
    mkdir(folder, 0700);
    const char *argv[] = {PONS_BINARY_DIR "/pons",
                          "--workspace",
                          own,
                          "agent",
                          "--llm",
                          llm,
                          "--folder",
                          folder,
                          NULL};
    terminal_open(&term, folder, 100, 50, argv, NULL);
    terminal_await(&term, "agent >");
}

static void leave(void)
{
    terminal_type(&term, "\004");
    assert_int_equal(terminal_end(&term), 0);
    assert_string_equal(term.bad, "");
    terminal_close(&term);
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void must_have(const char *name, const char *text)
{
    char path[512], found[256] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!text) {
        assert_null(f);
        return;
    }
    assert_non_null(f);
    found[fread(found, 1, sizeof found - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(found, text);
}

#define WRITES                                                                                     \
    "replies:\n"                                                                                   \
    "- tool_calls: [{name: write_file, arguments: {path: a.txt, content: \"new a\\n\"}}]\n"        \
    "- tool_calls: [{name: write_file, arguments: {path: b.txt, content: \"new b\\n\"}}]\n"        \
    "- content: both are written\n"

static void write_both(bench *b)
{
    bench_open(b);
    snprintf(folder, sizeof folder, "%s/repo", b->dir);
    mkdir(folder, 0700);
    put("a.txt", "old a\n");
    open_in(b, WRITES, "repo");
    terminal_type(&term, "write\r");
    terminal_await(&term, "both are written");
    must_have("a.txt", "new a\n");
    must_have("b.txt", "new b\n");
}

// In the chat: listed, taken back, refused where somebody has changed the file, forced by a word.
static void undo_in_the_chat(void **state)
{
    (void)state;
    bench b;
    write_both(&b);
    terminal_type(&term, "/undo list\r");
    terminal_await(&term, "write_file b.txt (new)");
    put("b.txt", "by hand\n");
    terminal_type(&term, "/undo\r");
    terminal_await(&term, "b.txt has been changed since write_file wrote it: nothing was undone");
    must_have("b.txt", "by hand\n");
    terminal_type(&term, "/undo 2\r"); // all or none
    terminal_type(&term, "/undo frce\r");
    terminal_await(&term, "/undo [N] [force]");
    must_have("a.txt", "new a\n");
    terminal_type(&term, "/undo list\r");
    terminal_await(&term, "(changed since: force)");
    terminal_type(&term, "/undo 2 force\r");
    terminal_await(&term, "restored a.txt");
    terminal_await(&term, "removed b.txt (what it had is in run/undo");
    must_have("a.txt", "old a\n");
    must_have("b.txt", NULL);
    terminal_type(&term, "/undo\r");
    terminal_await(&term, "there is nothing to undo");
    leave();
    bench_close(&b);
}

// On the command line: by folder or by the session that worked there.
static void undo_on_the_command_line(void **state)
{
    (void)state;
    bench b;
    char words[600];
    pons_value *list = NULL;
    write_both(&b);
    leave();
    assert_int_equal(bench_run_json(&b, "agent undo --list agent --json", &list), 0);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(pons_get_str(json_array_get(list, 0), "path", ""), "b.txt");
    pons_value_unref(list);
    put("b.txt", "by hand\n");
    bench_must_fail(&b, "agent undo agent", 3, "b.txt has been changed since write_file wrote it");
    must_have("b.txt", "by hand\n");
    assert_int_equal(bench_run(&b, "agent undo agent --force"), 0);
    must_have("b.txt", NULL);
    snprintf(words, sizeof words, "agent undo --folder %s", folder);
    assert_int_equal(bench_run(&b, words), 0);
    must_have("a.txt", "old a\n");
    bench_must_fail(&b, "agent undo agent", 2, "nothing to undo");
    bench_must_fail(&b, "agent undo agent --steps 0", 2, "from 1 to 500");
    bench_must_fail(&b, "agent undo agent --list --force", 2, "only looks");
    bench_must_fail(&b, "agent undo nobody", 2, "no session nobody");
    bench_must_fail(&b, "agent undo what you did", 2, "in quotes");
    bench_must_fail(&b, "agent --force hello", 2, "`pons agent undo`");
    bench_close(&b);
}

#define TOUCH "- tool_calls: [{name: terminal, arguments: {command: 'touch x; rm x'}}]\n"
#define MORE  "- tool_calls: [{name: terminal, arguments: {command: 'touch x; rm x y'}}]\n"

// Always is for these words, in this session, in this folder; it is listed, and taken back.
static void always_is_for_what_was_shown(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    open_in(&b,
            "replies:\n" TOUCH "- content: first done\n" TOUCH "- content: second done\n" MORE
            "- content: third done\n" TOUCH "- content: fourth done\n",
            "repo");
    terminal_type(&term, "/always\r");
    terminal_await(&term, "nothing is allowed for good");
    terminal_type(&term, "go\r");
    terminal_await(&term, "y, n REASON, always, or edit");
    terminal_type(&term, "always tool\r"); // of commands there is no such thing
    terminal_await(&term, "allowed word for word");
    terminal_type(&term, "always rm\r");
    terminal_await(&term, "these very arguments");
    terminal_type(&term, "always\r");
    terminal_await(&term, "first done");
    terminal_type(&term, "\014again\r");
    terminal_await(&term, "second done");
    assert_null(strstr(terminal_screen(&term), "may it call"));
    terminal_type(&term, "\014more\r");
    terminal_await(&term, "agent > more"); // the screen is a new one
    terminal_await(&term, "may it call");
    terminal_type(&term, "/always\r"); // also while a question is open
    terminal_await(&term, "1  terminal {\"command\":\"touch x; rm x\"}");
    terminal_type(&term, "/always drop 2\r");
    terminal_await(&term, "a number of /always");
    terminal_type(&term, "/always drop 1\r");
    terminal_await(&term, "terminal is asked about again");
    terminal_type(&term, "n\r");
    terminal_await(&term, "third done");
    terminal_type(&term, "\014once more\r");
    terminal_await(&term, "agent > once more"); // the screen is a new one
    terminal_await(&term, "may it call");
    terminal_type(&term, "总是\r");
    terminal_await(&term, "fourth done");
    leave();

    // The same session in another folder: the same words are another deed.
    open_in(&b, "replies:\n" TOUCH "- content: fifth done\n", "other");
    terminal_type(&term, "go\r");
    terminal_await(&term, "may it call");
    terminal_type(&term, "/always\r");
    terminal_await(&term, "/repo");
    terminal_type(&term, "n\r");
    terminal_await(&term, "fifth done");
    leave();

    // The session is deleted: one of its name begins without its agreements.
    assert_int_equal(bench_run(&b, "threads rm agent"), 0);
    open_in(&b, "replies:\n" TOUCH "- content: sixth done\n", "repo");
    terminal_type(&term, "/always\r");
    terminal_await(&term, "nothing is allowed for good");
    terminal_type(&term, "go\r");
    terminal_await(&term, "may it call");
    terminal_type(&term, "n\r");
    terminal_await(&term, "sixth done");
    leave();
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(undo_in_the_chat, bench_teardown),
        cmocka_unit_test_teardown(undo_on_the_command_line, bench_teardown),
        cmocka_unit_test_teardown(always_is_for_what_was_shown, bench_teardown),
    };
    pons_value_init();
    return bench_together("undo", tests, sizeof tests / sizeof tests[0]);
}
