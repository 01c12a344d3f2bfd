// edit_file, the diffs that people and models see, and undo: that a version is kept before a file is
// written, comes back step by step, and that nothing somebody else wrote is lost.
#include "pons/buf.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const bench *b, const char *relative, const char *text)
{
    bench_write(b, relative, text, strlen(text));
}

static void has(const bench *b, const char *relative, const char *text)
{
    size_t n = 0;
    char *found = bench_read(b, relative, &n);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

static bool there(const bench *b, const char *relative)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", b->root, relative);
    return access(path, F_OK) == 0;
}

static size_t writes(const bench *b, bool changed)
{
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_core_tools_writes(&b->tools, &list, &err), PONS_OK);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        n += !changed || pons_get_bool(json_array_get(list, i), "changed", false);
    }
    return n;
}

static int undo(const bench *b, size_t steps, bool force, pons_value **ret, const char *says)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *done = NULL;
    const int rc = pons_core_tools_undo(&b->tools, steps, force, &done, &err);
    if (says && !strstr(err.message, says)) {
        fail_msg("%s", err.message);
    }
    if (ret) {
        *ret = done;
    } else {
        pons_value_unref(done);
    }
    return rc;
}

static void test_edits_one_place(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a.txt", "one\n\ttwo\nthree\ntwo\n");
    char *out = bench_output(&b, "edit_file",
                             "{\"path\":\"a.txt\",\"old_text\":\"three\",\"new_text\":\"3\"}");
    assert_non_null(strstr(out, "replaced a.txt, 15 bytes"));
    assert_non_null(strstr(out, "@@ -1,4 +1,4 @@\n one\n \ttwo\n-three\n+3\n two\n"));
    free(out);
    has(&b, "ws/a.txt", "one\n\ttwo\n3\ntwo\n");
    bench_refused(&b, "edit_file", "{\"path\":\"a.txt\",\"old_text\":\"two\",\"new_text\":\"2\"}",
                  PONS_EAMBIGUOUS, "2 times");
    bench_refused(&b, "edit_file", "{\"path\":\"a.txt\",\"old_text\":\"four\",\"new_text\":\"2\"}",
                  PONS_ENOTFOUND, "old_text is not in a.txt");
    bench_refused(&b, "edit_file",
                  "{\"path\":\"a.txt\",\"old_text\":\"two\\n 3\",\"new_text\":\"2\"}",
                  PONS_ENOTFOUND, "like line 2");
    bench_refused(&b, "edit_file", "{\"path\":\"a.txt\",\"old_text\":\"\",\"new_text\":\"2\"}",
                  PONS_EINVAL, "old_text is empty");
    bench_refused(&b, "edit_file", "{\"path\":\"a.txt\",\"old_text\":\"3\",\"new_text\":\"3\"}",
                  PONS_EINVAL, "nothing would change");
    bench_refused(&b, "edit_file", "{\"path\":\"no/b.txt\",\"old_text\":\"3\",\"new_text\":\"4\"}",
                  PONS_ENOTFOUND, "there is no no/b.txt");
    assert_false(there(&b, "ws/no")); // an edit makes no folder
    bench_refused(&b, "edit_file", "{\"path\":\"config/x\",\"old_text\":\"3\",\"new_text\":\"4\"}",
                  PONS_EREFUSED, "protected");
    bench_refused(&b, "edit_file", "{\"path\":\"../out\",\"old_text\":\"3\",\"new_text\":\"4\"}",
                  PONS_EREFUSED, "the workspace");
    out = bench_output(
        &b, "edit_file",
        "{\"path\":\"a.txt\",\"old_text\":\"two\",\"new_text\":\"twotwo\",\"all\":true}");
    free(out);
    has(&b, "ws/a.txt", "one\n\ttwotwo\n3\ntwotwo\n");
    bench_close(&b);
}

// A key is edited once, though what it puts in has what it looks for.
static void test_an_edit_is_done_once(void **state)
{
    bench b;
    (void)state;
    static const char args[] =
        "{\"path\":\"a\",\"old_text\":\"x\",\"new_text\":\"xx\",\"all\":true}";
    bench_open(&b, NULL);
    put(&b, "ws/a", "x");
    pons_tool_event ev = bench_call_key(&b, "edit_file", args, "k1");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    ev = bench_call_key(&b, "edit_file", args, "k1");
    assert_true(pons_get_bool(ev.value, "cached", false));
    pons_tool_event_clear(&ev);
    has(&b, "ws/a", "xx");
    // Killed between the write and the ledger's last line: it is begun, and in its file.
    size_t n = 0;
    char *ledger = bench_read(&b, "ws/run/tools.ledger", &n), *line = strchr(ledger, '\n');
    bench_write(&b, "ws/run/tools.ledger", ledger, (size_t)(line - ledger) + 1);
    bench_reopen(&b, NULL);
    ev = bench_call_key(&b, "edit_file", args, "k1");
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    has(&b, "ws/a", "xx");
    // And somebody wrote there since: nobody can say, and it is not done again.
    put(&b, "ws/a", "x y");
    bench_write(&b, "ws/run/tools.ledger", ledger, (size_t)(line - ledger) + 1);
    bench_reopen(&b, NULL);
    ev = bench_call_key(&b, "edit_file", args, "k1");
    assert_int_equal(ev.kind, PONS_TOOL_FAILED);
    assert_int_equal(ev.error.status, PONS_ECLOSED);
    pons_tool_event_clear(&ev);
    has(&b, "ws/a", "x y");
    free(ledger);
    bench_close(&b);
}

static void test_undo_goes_back_step_by_step(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a", "first\n");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/ws/a", b.root);
    assert_int_equal(chmod(path, 0640), 0);
    free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"second\\n\"}"));
    free(bench_output(&b, "write_file", "{\"path\":\"new/b\",\"content\":\"b\"}"));
    free(bench_output(&b, "edit_file",
                      "{\"path\":\"a\",\"old_text\":\"second\",\"new_text\":\"third\"}"));
    assert_int_equal(writes(&b, false), 3);
    assert_int_equal(undo(&b, 4, false, NULL, "only 3"), PONS_ENOTFOUND);
    has(&b, "ws/a", "third\n");
    bench_reopen(&b, NULL); // whoever comes next knows them
    assert_int_equal(undo(&b, 1, false, NULL, NULL), PONS_OK);
    has(&b, "ws/a", "second\n");
    assert_int_equal(undo(&b, 2, false, NULL, NULL), PONS_OK);
    has(&b, "ws/a", "first\n");
    assert_false(there(&b, "ws/new/b"));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(undo(&b, 1, false, NULL, "nothing to undo"), PONS_ENOTFOUND);
    bench_close(&b);
}

static void test_what_somebody_else_wrote_is_not_lost(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a", "mine");
    free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"model's\"}"));
    free(bench_output(&b, "write_file", "{\"path\":\"b\",\"content\":\"b\"}"));
    put(&b, "ws/a", "mine again");
    assert_int_equal(writes(&b, true), 1);
    assert_int_equal(undo(&b, 2, false, NULL, "has been changed"), PONS_EREFUSED);
    assert_true(there(&b, "ws/b")); // all or none
    pons_autovalue done = NULL;
    assert_int_equal(undo(&b, 2, true, &done, NULL), PONS_OK);
    has(&b, "ws/a", "mine");
    const char *lost = pons_get_str(json_array_get(done, 1), "lost", "");
    char at[PATH_MAX];
    snprintf(at, sizeof at, "ws/%s", lost);
    has(&b, at, "mine again");
    bench_close(&b);
}

// Killed before the write: the version is kept, the file is as it was; that is no step.
static void test_a_write_that_did_not_happen_is_no_step(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a", "0");
    free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"1\"}"));
    free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"2\"}"));
    put(&b, "ws/a", "1");
    assert_int_equal(undo(&b, 1, false, NULL, NULL), PONS_OK);
    has(&b, "ws/a", "0");
    assert_int_equal(writes(&b, false), 0);
    bench_close(&b);
}

// Killed inside an undo, behind its mark: the next one finishes it, and takes no other step.
static void test_an_undo_that_was_cut_short_is_finished(void **state)
{
    bench b;
    (void)state;
    static const bool reached[] = {false, true};
    for (size_t i = 0; i < 2; i++) {
        bench_open(&b, NULL);
        put(&b, "ws/a", "0");
        free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"1\"}"));
        free(bench_output(&b, "write_file", "{\"path\":\"a\",\"content\":\"2\"}"));
        size_t n = 0;
        char *meta = bench_read(&b, "ws/run/undo/000000000002.json", &n);
        char marked[1024];
        snprintf(marked, sizeof marked, "{\"undoing\":true,%s", meta + 1);
        put(&b, "ws/run/undo/000000000002.json", marked);
        free(meta);
        if (reached[i]) {
            put(&b, "ws/a", "1");
        }
        assert_int_equal(undo(&b, 1, false, NULL, NULL), PONS_OK);
        has(&b, "ws/a", "1");
        assert_int_equal(undo(&b, 1, false, NULL, NULL), PONS_OK);
        has(&b, "ws/a", "0");
        bench_close(&b);
    }
}

static void test_without_a_kept_version_nothing_is_written(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a", "0");
    put(&b, "ws/run/undo", "in the way");
    bench_refused(&b, "write_file", "{\"path\":\"a\",\"content\":\"1\"}", PONS_EENV, "run/undo");
    has(&b, "ws/a", "0");
    bench_close(&b);
}

static char *preview(const bench *b, const char *tool, const char *args, const char *kind)
{
    pons_autovalue v = bench_json(args);
    pons_autovalue shown = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(b->tools.ops->preview(b->tools.self, tool, v, &shown, &err), PONS_OK);
    assert_string_equal(pons_get_str(shown, "kind", ""), kind);
    return strdup(pons_get_str(shown, "text", ""));
}

static void test_a_question_shows_all_of_it(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/a", "one\n");
    char *text = preview(&b, "terminal",
                         "{\"command\":\"ls\\u001b[2K\\r\\u202e x\\u200b\\necho \\u00e9\","
                         "\"cwd\":\"sub\"}",
                         "command");
    assert_string_equal(text, "in sub: ls\\x1b[2K\\r\\u{202e} x\\u{200b}\necho é");
    free(text);
    text = preview(&b, "write_file", "{\"path\":\"a\",\"content\":\"one\\ntwo\\u0007\"}", "diff");
    assert_string_equal(text, "--- a/a\n+++ b/a\n@@ -1,1 +1,2 @@\n one\n+two\\x07\n"
                              "\\ no newline at the end\n");
    free(text);
    text = preview(&b, "write_file", "{\"path\":\"no/b\",\"content\":\"x\\n\"}", "diff");
    assert_string_equal(text, "--- /dev/null\n+++ b/no/b\n@@ -0,0 +1,1 @@\n+x\n");
    assert_false(there(&b, "ws/no"));
    free(text);
    has(&b, "ws/a", "one\n");
    text = preview(&b, "write_file", "{\"path\":\"config/x\",\"content\":\"x\\n\"}", "");
    free(text);
    bench_close(&b);
}

// Two large texts with nothing in common: as true, and no table of 10^10 cells.
static void test_a_large_diff_ends(void **state)
{
    bench b;
    (void)state;
    enum { LINES = 40000 };
    bench_open(&b, NULL);
    pons_autobuf old = PONS_BUF_INIT, args = PONS_BUF_INIT;
    pons_buf_str(&args, "{\"path\":\"a\",\"content\":\"");
    for (int i = 0; i < LINES; i++) {
        pons_buf_printf(&old, "a%d\n", i);
        pons_buf_printf(&args, "b%d\\n", i);
    }
    pons_buf_str(&args, "\"}");
    bench_write(&b, "ws/a", old.data, old.len);
    char *text = preview(&b, "write_file", args.data, "diff");
    assert_non_null(strstr(text, "@@ -1,40000 +1,40000 @@"));
    free(text);
    char *out = bench_output(&b, "write_file", args.data);
    assert_non_null(strstr(out, "[cut here: the diff has "));
    free(out);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits_one_place),
        cmocka_unit_test(test_an_edit_is_done_once),
        cmocka_unit_test(test_undo_goes_back_step_by_step),
        cmocka_unit_test(test_what_somebody_else_wrote_is_not_lost),
        cmocka_unit_test(test_a_write_that_did_not_happen_is_no_step),
        cmocka_unit_test(test_an_undo_that_was_cut_short_is_finished),
        cmocka_unit_test(test_without_a_kept_version_nothing_is_written),
        cmocka_unit_test(test_a_question_shows_all_of_it),
        cmocka_unit_test(test_a_large_diff_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
