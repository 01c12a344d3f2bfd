// test_catalogue.c - messages find the format that made them, and come out in the other language.
#include "pons/catalogue.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char catalogue[] = "{\"no way to %s\": \"没有去 %s 的路\","
                                "\"the %s is at %g m of %s\": \"%3$s 的 %1$s 在 %2$g m\","
                                "\"%d goal%s waiting\": \"%1$d 个目标在等待\","
                                "\"%s takes no value\": \"%s 不带值\","
                                "\"task %s: %s\": \"任务 %s：%s\","
                                "\"the battery is at %d%%\": \"电量 %d%%\","
                                "\"queued\": \"排队中\","
                                "\"disk full\": \"磁盘已满\","
                                "\"a stop is in force\": \"停止正在生效\","
                                "\"%s\": \"永不\"}";

static pons_catalogue *load(const char *text)
{
    char path[] = "/tmp/catalogue-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    pons_catalogue *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_catalogue_load(path, &c, &err);
    unlink(path);
    assert_true(rc >= 0 || (err.status == rc && err.message[0]));
    return c;
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *message, *translation; // NULL: it has none
    } rows[] = {
        {"no way to the kitchen", "没有去 the kitchen 的路"},
        {"no way to 厨房", "没有去 厨房 的路"},
        {"the cup is at 1.25 m of the table", "the table 的 cup 在 1.25 m"},
        {"the cup is at nan m of it", "it 的 cup 在 nan m"},
        {"the cup is at some m of it", NULL}, // %g is a number
        {"1 goal waiting", "1 个目标在等待"},
        {"12 goals waiting", "12 个目标在等待"},
        {"the battery is at 5%", "电量 5%"},
        {"--all takes no value", "--all 不带值"},
        {"task t1: no way to x", "任务 t1：没有去 x 的路"}, // what stands in it too
        {"body: no way to x: disk full",
         "body: 没有去 x 的路: 磁盘已满"}, // a cause is no part of it
        {"store: disk full; task 2: queued", "store: 磁盘已满; 任务 2：排队中"},
        {"  a stop is in force", "  停止正在生效"},
        {"one\na stop is in force\nthree", "one\n停止正在生效\nthree"},
        {"anything else", NULL}, // "%s" has no letters of its own
        {"queued up", NULL},
        {"", NULL},
        {" ", NULL},
        {"%s", NULL},
        {"; : . [", NULL},
    };
    pons_catalogue *c = load(catalogue);
    assert_non_null(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = pons_catalogue_text(c, rows[i].message);
        if (strcmp(rows[i].message, "%s") == 0) { // the format itself, whole
            assert_string_equal(text, "永不");
        } else if (rows[i].translation) {
            assert_non_null(text);
            assert_string_equal(text, rows[i].translation);
        } else {
            assert_null(text);
        }
        free(text);
    }
    pons_catalogue_free(c);
}

static void formats(void **state)
{
    (void)state;
    pons_catalogue *c = load(catalogue);
    assert_string_equal(pons_catalogue_format(c, "the %-20s is at %.2f m of %.64s"),
                        "%3$s 的 %1$s 在 %2$g m");
    assert_string_equal(pons_catalogue_format(c, "%lld goal%s waiting"), "%1$d 个目标在等待");
    assert_null(pons_catalogue_format(c, "no such format"));
    assert_null(pons_catalogue_format(c, ""));
    static const char *const texts[] = {"a", "b"};
    char *text =
        pons_catalogue_fill("%2$s %1$s %3$s%%", texts, 2); // a third that is not there: nothing
    assert_string_equal(text, "b a %");
    free(text);
    pons_catalogue_free(c);
}

// Texts that fit many formats in many ways end soon, and no file breaks the reader.
static void hostile(void **state)
{
    (void)state;
    pons_catalogue *c = load(
        "{\"%s aaaa %s aaaa %s aaaa %s aaaa %s aaaa %s aaaa %s bbbb\": \"x\", "
        "\"%s%s%s%s%s%s%s%s%s%s%s%s"
        "%s%s%s%s%s%s%s%s long\": \"y\", \"broken %\": \"%\", \"letters %s\": \"%99$s %0$s %\"}");
    assert_non_null(c);
    char text[4000];
    for (size_t i = 0; i + 5 < sizeof text; i += 5) {
        memcpy(text + i, "aaaa ", 6);
    }
    assert_null(pons_catalogue_text(c, text));
    char *odd = pons_catalogue_text(c, "letters q");
    assert_string_equal(odd, "  %");
    free(odd);
    pons_catalogue_free(c);
    assert_null(load("[1]"));
    assert_null(load("{\"a\": 1}"));
    assert_null(load("{"));
    assert_null(load(""));
    pons_catalogue_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(formats),
                                       cmocka_unit_test(hostile)};
    return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
