// runner.c - the main() of the runners (runner.h). PONS_TEST_CASES=PATTERN: only the cases so named.
#include "runner.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char **runner_words;

int main(int argc, char **argv)
{
    if (argc < 2) {
        for (const runner_test *t = runner_tests; t->name; t++) {
            puts(t->name);
        }
        return 0;
    }
    runner_words = argv + 2;
    if (getenv("PONS_TEST_CASES")) {
        cmocka_set_test_filter(getenv("PONS_TEST_CASES"));
    }
    for (const runner_test *t = runner_tests; t->name; t++) {
        if (strcmp(t->name, argv[1]) == 0) {
            return t->run();
        }
    }
    fprintf(stderr, "%s: there is no test %s\n", argv[0], argv[1]);
    return 2;
}
