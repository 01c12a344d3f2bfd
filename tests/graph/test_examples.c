// test_examples.c - the tutorial is true: every program of examples/graph is run, and what it
// prints is compared with what its first comment says that it prints.
#include "graph/graph_help.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 8192, LINE_MAX_BYTES = 512 };

// The lines behind "// Prints:", without their "//   ".
static void promised(const char *source, char *ret)
{
    char line[LINE_MAX_BYTES];
    bool prints = false;
    FILE *f = fopen(source, "r");
    assert_non_null(f);
    *ret = '\0';
    while (fgets(line, sizeof line, f)) {
        if (prints && strncmp(line, "//   ", 5) != 0) {
            break;
        }
        if (prints) {
            strncat(ret, line + 5, TEXT_MAX - strlen(ret) - 1);
        }
        prints = prints || strcmp(line, "// Prints:\n") == 0;
    }
    fclose(f);
}

static void printed(const char *program, char *ret)
{
    FILE *p = popen(program, "r");
    assert_non_null(p);
    size_t n = fread(ret, 1, TEXT_MAX - 1, p);
    ret[n] = '\0';
    if (pclose(p) != 0) {
        fail_msg("%s failed", program);
    }
}

static void every_example_prints_what_it_says(void **state)
{
    (void)state;
    static char want[TEXT_MAX], have[TEXT_MAX];
    glob_t found;
    assert_int_equal(glob(PONS_SOURCE_DIR "/examples/graph/*.c", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char program[LINE_MAX_BYTES];
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(program, sizeof program, "'%s/examples/graph/%.*s'", PONS_BINARY_DIR,
                 (int)strcspn(name, "."), name);
        promised(found.gl_pathv[i], want);
        printed(program, have);
        if (!want[0] || strcmp(want, have) != 0) {
            fail_msg("%s prints\n%snot\n%s", name, have, want);
        }
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_prints_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
