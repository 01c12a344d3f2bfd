// test_faults.c - damaged definitions of every format: each is refused, with all its faults, each
// with its message and position (faults.jsonl); and what is too large, too deep or circular is
// refused in bounded time and memory.
#include "bt/bt_help.h"
#include "pons/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refused(const pons_value *c)
{
    const char *text = pons_get_str(c, "text", "");
    const pons_value *want = pons_get(c, "faults");
    pons_value *faults = NULL;
    pons_bt *bt = load_text(pons_get_str(c, "file", ""), text, NULL, &faults);
    if (bt || json_array_size(faults) != json_array_size(want)) {
        pons_bt_unref(bt);
        fail_msg("%zu faults, %zu wanted, in\n%s", json_array_size(faults), json_array_size(want),
                 text);
    }
    for (size_t i = 0; i < json_array_size(want); i++) {
        const pons_value *f = json_array_get(faults, i);
        char line[700];
        snprintf(line, sizeof line, "%d:%d: %s", (int)pons_get_int(f, "line", 0),
                 (int)pons_get_int(f, "col", 0), pons_get_str(f, "message", ""));
        assert_string_equal(line, json_string_value(json_array_get(want, i)));
        assert_string_equal(pons_get_str(f, "file", ""), pons_get_str(c, "file", ""));
    }
    pons_value_unref(faults);
}

static void each_damaged_definition(void **state)
{
    (void)state;
    assert_true(each_case("faults.jsonl", refused) >= 200);
}

// n copies of a text between two others.
static char *around(const char *before, const char *each, int n, const char *after)
{
    pons_buf b = PONS_BUF_INIT;
    pons_buf_str(&b, before);
    for (int i = 0; i < n; i++) {
        pons_buf_str(&b, each);
    }
    pons_buf_str(&b, after);
    return pons_buf_take(&b, NULL);
}

static void expect_refused(const char *file, char *text, const char *message)
{
    pons_value *faults = NULL;
    pons_bt *bt = load_text(file, text, NULL, &faults);
    assert_null(bt);
    assert_true(json_array_size(faults) > 0);
    const char *got = pons_get_str(json_array_get(faults, 0), "message", "");
    if (!strstr(got, message)) {
        fail_msg("'%s' is not in '%s'", message, got);
    }
    pons_value_unref(faults);
    free(text);
}

static void bounds(void **state)
{
    (void)state;
    expect_refused("t.mdsl", around("root { ", "flip { ", 100000, ""), "deeper");
    expect_refused("t.xml", around("<root>", "<Inverter>", 100000, ""), "deeper");
    expect_refused("t.json", around("", "[", 100000, ""), "too deep");
    expect_refused("t.mdsl", around("/*", "0123456789abcdef", 9 << 16, "*/"), "larger");
    expect_refused("t.xml", around("<!--", "0123456789abcdef", 9 << 16, "-->"), "larger");
    expect_refused("t.xml",
                   around("<root><BehaviorTree ID=\"M\"><Script code=\"1", "+1", 9000,
                          "\"/></BehaviorTree></root>"),
                   "longer than");
    expect_refused("t.xml",
                   around("<root><BehaviorTree ID=\"M\"><Script code=\"", "(", 1000,
                          "\"/></BehaviorTree></root>"),
                   "too deep");
    expect_refused("t.xml",
                   around("<root><BehaviorTree ID=\"M\"><Script code=\"", "1?1:", 1000,
                          "1\"/></BehaviorTree></root>"),
                   "too deep");
    expect_refused("t.mdsl", around("root { action [A", ",1", 1000, "] }"), "more than 256");
    pons_buf wide = PONS_BUF_INIT;
    pons_buf_str(&wide, "<root><BehaviorTree ID=\"M\"><SubTree ID=\"M\"");
    for (int i = 0; i < 73; i++) {
        pons_buf_printf(&wide, " a%d=\"\"", i);
    }
    pons_buf_str(&wide, "/></BehaviorTree></root>");
    expect_refused("t.xml", pons_buf_take(&wide, NULL), "more than 72 attributes");
    expect_refused("t.xml",
                   around("<root><TreeNodesModel><Action ID=\"a\">", "<input_port name=\"p\"/>", 65,
                          "</Action></TreeNodesModel></root>"),
                   "more than 64 ports in the model of a");
}

// Each tree has the next one twice: 2^40 nodes, if nobody counted.
static void doubling(void **state)
{
    (void)state;
    pons_buf m = PONS_BUF_INIT, x = PONS_BUF_INIT;
    pons_buf_str(&m, "root { branch [T0] }");
    pons_buf_str(&x, "<root main_tree_to_execute=\"T0\">");
    for (int i = 0; i < 40; i++) {
        pons_buf_printf(&m, " root [T%d] { sequence { branch [T%d] branch [T%d] } }", i, i + 1,
                        i + 1);
        pons_buf_printf(&x,
                        "<BehaviorTree ID=\"T%d\"><Sequence><SubTree ID=\"T%d\"/>"
                        "<SubTree ID=\"T%d\"/></Sequence></BehaviorTree>",
                        i, i + 1, i + 1);
    }
    pons_buf_str(&m, " root [T40] { action [A] }");
    pons_buf_str(&x, "<BehaviorTree ID=\"T40\"><AlwaysSuccess/></BehaviorTree></root>");
    expect_refused("t.mdsl", pons_buf_take(&m, NULL), "more than 200000 nodes");
    expect_refused("t.xml", pons_buf_take(&x, NULL), "more than 200000 nodes");
}

// Not more than a hundred faults are kept of a text with thousands.
// What a file of a tree may bring along: circles and pipes of includes, entities.
static void tricks_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; // NULL: it loads
    } rows[] = {
        {"<root><include path=\"a.xml\"/><include path=\"t.xml\"/><BehaviorTree ID=\"M\">"
         "<SubTree ID=\"A\"/></BehaviorTree></root>",
         NULL},
        {"<root><include path=\"pipe.xml\"/><BehaviorTree ID=\"M\"><AlwaysSuccess/>"
         "</BehaviorTree></root>",
         "cannot read the included file 'pipe.xml'"},
        {"<root><include path=\"/dev/zero\"/><BehaviorTree ID=\"M\"><AlwaysSuccess/>"
         "</BehaviorTree></root>",
         "cannot read the included file '/dev/zero'"},
        {"<root><include path=\".\"/></root>", "cannot read the included file '.'"},
        {"<!DOCTYPE r [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\"><!ENTITY c \"&b;&b;\">]>"
         "<root>&c;</root>",
         "document type"},
        {"<!DOCTYPE r [<!ENTITY x SYSTEM \"a.xml\">]><root>&x;</root>", "document type"},
        {"<!DOCTYPE r SYSTEM \"a.xml\"><root/>", "document type"},
        {"<root><BehaviorTree ID=\"M\"><AlwaysSuccess name=\"&a;\"/></BehaviorTree></root>", NULL},
    };
    char dir[] = "/tmp/pons-bt-XXXXXX", path[64], pipe[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.xml", dir);
    FILE *f = fopen(path, "w");
    fputs("<root><include path=\"t.xml\"/><BehaviorTree ID=\"A\"><AlwaysSuccess/></BehaviorTree>"
          "</root>",
          f);
    fclose(f);
    snprintf(pipe, sizeof pipe, "%s/pipe.xml", dir);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    snprintf(path, sizeof path, "%s/t.xml", dir);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_bt *bt = NULL;
        pons_error err = PONS_ERROR_INIT;
        f = fopen(path, "w");
        fputs(rows[i].text, f);
        fclose(f);
        const int rc = pons_bt_load_file(path, NULL, &bt, NULL, &err);
        if ((rc >= 0) != !rows[i].says || (rows[i].says && !strstr(err.message, rows[i].says))) {
            fail_msg("%s\n%s", rows[i].text, err.message);
        }
        pons_bt_unref(bt);
    }
    assert_int_equal(pons_bt_load_file(pipe, NULL, &(pons_bt *){NULL}, NULL, NULL), PONS_ENOTFOUND);
    unlink(path);
    unlink(pipe);
    snprintf(path, sizeof path, "%s/a.xml", dir);
    unlink(path);
    rmdir(dir);
}

// What is quoted in a message may be no text, or be cut in a character.
static void texts_that_are_no_utf8(void **state)
{
    (void)state;
    static const unsigned char water[] = {0xe6, 0xb0, 0xb4};
    char longer[700] = "root { action [a] } }";
    memset(longer + 20, 0xe6, 1); // each three bytes of a character, but the first is doubled
    for (int i = 0; i < 200; i++) {
        memcpy(longer + 21 + sizeof water * (size_t)i, water, sizeof water);
    }
    const struct {
        const char *file, *text;
    } rows[] = {{"t.mdsl", "root { action [a\xff] }"},
                {"t.json", "[{\"type\":\"ro\xc3\"}]"},
                {"t.xml", "<root BTCPP_format=\"4\"><X\xe9/></root>"},
                {"t.mdsl", longer},
                {"t.mdsl", longer + 21}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue faults = NULL;
        assert_null(load_text(rows[i].file, rows[i].text, NULL, &faults));
        const pons_value *f = json_array_get(faults, 0);
        assert_non_null(f);
        assert_true(*pons_get_str(f, "message", "") != '\0');
        assert_true(pons_get_int(f, "line", 0) == 1 && pons_get_int(f, "col", 0) >= 1);
    }
}

static void many_faults(void **state)
{
    (void)state;
    char *text = around("<root><BehaviorTree ID=\"M\"><Sequence>", "<Foo/>\n", 5000,
                        "</Sequence></BehaviorTree></root>");
    pons_value *faults = NULL;
    assert_null(load_text("t.xml", text, NULL, &faults));
    assert_int_equal(json_array_size(faults), 100);
    pons_value_unref(faults);
    free(text);
}

// Every prefix of a good text, and every text with one byte changed, is loaded or refused cleanly.
static void torn_texts(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"t.mdsl",
         "root while(C, 1) { sequence { action [A, \"x\", $p] exit(E) lotto [1, 2] { wait "
         "[1, 2] branch [B] } } } root [B] { retry [2] { condition [D] } } /* end */"},
        {"t.json", "{\"type\":\"root\",\"child\":{\"type\":\"lotto\",\"weights\":[1],\"children\":"
                   "[{\"type\":\"action\",\"call\":\"a\",\"args\":[1.5,null,{\"$\":\"x\"}]}]}}"},
        {"t.xml",
         "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence _while=\"x&lt;1\"><Repeat "
         "num_cycles=\"{n}\"><Script code=\"x:='a'..1; y:=(2+3)*4\"/></Repeat><SubTree "
         "ID=\"S\" k=\"{x}\"/></Sequence></BehaviorTree><BehaviorTree ID=\"S\"><AlwaysSuccess/>"
         "</BehaviorTree></root>"}};
    static const char bytes[] = "{}[](),\"'<>/&;=1a\x80 ";
    for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
        const size_t n = strlen(good[g][1]);
        for (size_t i = 0; i < n; i++) {
            char *text = strndup(good[g][1], i);
            pons_value *faults = NULL;
            pons_bt_unref(load_text(good[g][0], text, NULL, &faults));
            pons_value_unref(faults);
            free(text);
            for (const char *b = bytes; *b; b++) {
                text = strdup(good[g][1]);
                text[i] = *b;
                faults = NULL;
                pons_bt_unref(load_text(good[g][0], text, NULL, &faults));
                pons_value_unref(faults);
                free(text);
            }
        }
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_damaged_definition),
                                       cmocka_unit_test(bounds),
                                       cmocka_unit_test(doubling),
                                       cmocka_unit_test(tricks_of_files),
                                       cmocka_unit_test(texts_that_are_no_utf8),
                                       cmocka_unit_test(many_faults),
                                       cmocka_unit_test(torn_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
