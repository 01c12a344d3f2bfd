// runner.h - the program that runs the tests of a module: `graph_tests graph/state/test_channels`. Each test file
// is run by its name, in a process of its own: tests may fork, die and leak on purpose.
#ifndef PONS_TESTS_RUNNER_H
#define PONS_TESTS_RUNNER_H

typedef struct runner_test {
    const char *name; // as ctest's: the file's path below tests/, without .c
    int (*run)(void); // the file's main()
} runner_test;

// The runner's table, which the build writes; ends with a name that is NULL.
extern const runner_test runner_tests[];

// The words behind the test's name on the command line, for tests that start themselves once more; ends with
// NULL.
extern char **runner_words;

// A test file has a main() as a program has; here it gets a name of its own, for a runner has many. The build
// includes this header before each test file's first line.
#ifdef PONS_TEST_MAIN
int PONS_TEST_MAIN(void);
#define main PONS_TEST_MAIN
#endif

#endif
