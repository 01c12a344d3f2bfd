// test_message_catalogue.c - messages find the format that made them, and come out in the other language.
#include "pons/message_catalogue.h"
#include "pons/value.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// The rows that the page's reader (ui/i18n/say.js, tests/page/store.mjs) is held to as well.
static void messages(void **state)
{
    (void)state;
    pons_autovalue file = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(
        pons_value_load(PONS_SOURCE_DIR "/tests/base/catalogue_rows.json", &file, &err), PONS_OK);
    char *text = json_dumps(pons_get(file, "catalogue"), 0);
    pons_catalogue *c = load(text);
    free(text);
    assert_non_null(c);
    pons_each(row, pons_get(file, "rows")) {
        const char *message = json_string_value(json_array_get(row, 0));
        const char *wanted = json_string_value(json_array_get(row, 1));
        char *said = pons_catalogue_text(c, message);
        assert_true((said == NULL) == (wanted == NULL));
        assert_string_equal(said ? said : "", wanted ? wanted : "");
        free(said);
    }
    pons_catalogue_free(c);
}

static void formats(void **state)
{
    (void)state;
    pons_catalogue *c = load("{\"the %s is at %g m of %s\": \"%3$s 的 %1$s 在 %2$g m\", "
                             "\"%d goal%s waiting\": \"%1$d 个目标在等待\"}");
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
