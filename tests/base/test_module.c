// test_module.c - finding and loading modules, and files of the program.
//
// The modules are compiled on the spot into a temporary directory, one for each way in which a
// module can be wrong; without a compiler on this machine those tests are skipped.
#include "pons/module.h"
#include "unit.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/pons-module-XXXXXX";
static bool have_compiler;

#define HEAD "#include \"pons/module.h\"\nstatic const int ops = 7;\n"

static const struct {
    const char *file, *source;
} sources[] = {
    {"driver-good", HEAD "PONS_MODULE_EXPORT(\"driver\", \"good\", &ops);\n"},
    {"driver-short", HEAD "PONS_MODULE_EXPORT(\"driver\", \"short\", &ops);\n"}, // cut short
    {"driver-zeros",
     HEAD "PONS_MODULE_EXPORT(\"driver\", \"zeros\", &ops);\n"}, // from its middle on
    {"driver-twin", HEAD "PONS_MODULE_EXPORT(\"driver\", \"twin\", &ops);\n"},
    {"driver-old", HEAD "#undef PONS_MODULE_ABI\n#define PONS_MODULE_ABI 2\n"
                        "PONS_MODULE_EXPORT(\"driver\", \"old\", &ops);\n"},
    {"driver-later", "#define PONS_VERSION_NUMBER 990001u\n" HEAD
                     "PONS_MODULE_EXPORT(\"driver\", \"later\", &ops);\n"},
    {"driver-llm", HEAD "PONS_MODULE_EXPORT(\"llm\", \"llm\", &ops);\n"},
    {"driver-empty", HEAD "PONS_MODULE_EXPORT(\"driver\", \"empty\", 0);\n"},
    {"driver-foreign", "int something_else = 1;\n"},
    {"driver-needy", "extern int nobody_has_this(void);\nint f(void);\nint f(void) { return "
                     "nobody_has_this(); }\n"},
};

static void path_of(char *path, size_t cap, const char *file, const char *suffix)
{
    snprintf(path, cap, "%s/%s%s", dir, file, suffix);
}

static int set_up(void **state)
{
    (void)state;
    char path[128], command[512];
    if (!mkdtemp(dir)) {
        return -1;
    }
    have_compiler = true;
    for (size_t i = 0; have_compiler && i < sizeof sources / sizeof *sources; i++) {
        path_of(path, sizeof path, sources[i].file, ".c");
        FILE *f = fopen(path, "w");
        fputs(sources[i].source, f);
        fclose(f);
        snprintf(command, sizeof command,
                 "cc -shared -fPIC -I%s/include -o %s/%s.so %s 2>/dev/null", PONS_SOURCE_DIR, dir,
                 sources[i].file, path);
        have_compiler = system(command) == 0;
        unlink(path);
    }
    path_of(path, sizeof path, "driver-short", ".so");
    if (have_compiler && truncate(path, 4096) != 0) {
        return -1;
    }
    path_of(path, sizeof path, "driver-zeros", ".so");
    struct stat st = {0};
    if (have_compiler && (stat(path, &st) != 0 || truncate(path, st.st_size / 2) != 0 ||
                          truncate(path, st.st_size) != 0)) {
        return -1;
    }
    path_of(path, sizeof path, "driver-text", ".so");
    FILE *f = fopen(path, "w");
    fputs("not a library\n", f);
    fclose(f);
    char search[256];
    snprintf(search, sizeof search, "/nowhere::%s/", dir);
    return setenv("PONS_MODULE_PATH", search, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char path[128];
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        path_of(path, sizeof path, sources[i].file, ".so");
        unlink(path);
    }
    path_of(path, sizeof path, "driver-text", ".so");
    unlink(path);
    return rmdir(dir);
}

static void test_a_good_module(void **state)
{
    (void)state;
    if (!have_compiler) {
        skip();
    }
    const void *ops = NULL, *again = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_module_load("driver", "good", &ops, &err) != PONS_OK) {
        fail_msg("%s [%s]: %s", err.message, err.source, err.cause);
    }
    assert_int_equal(*(const int *)ops, 7);
    // Once loaded it needs no file any more.
    assert_int_equal(pons_module_load("driver", "good", &again, &err), PONS_OK);
    assert_ptr_equal(ops, again);
}

static void test_bad_modules(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int status;
        const char *words;
    } cases[] = {
        {"old", PONS_EUNSUPPORTED, "driver 'old' was built for ABI 2, this program has 1"},
        {"later", PONS_EUNSUPPORTED,
         "driver 'later' is of pons 99.0.1, this is " PONS_VERSION
         ": install both of one version and start again"},
        {"llm", PONS_EUNSUPPORTED, "'llm' is of kind llm, not driver"},
        {"empty", PONS_EUNSUPPORTED, "'empty' has no functions"},
        {"foreign", PONS_EUNSUPPORTED, "not a pons module: no pons_module"},
        {"needy", PONS_EENV, "cannot load driver 'needy'"},
        {"text", PONS_EENV, "cannot load driver 'text'"},
        {"short", PONS_EENV,
         "driver 'short' is cut short: its file is not whole, install it again"},
        {"zeros", PONS_EENV,
         "driver 'zeros' is cut short: its file is not whole, install it again"},
    };
    if (!have_compiler) {
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const void *ops = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_module_load("driver", cases[i].name, &ops, &err), cases[i].status);
        assert_null(ops);
        assert_string_equal(err.message, cases[i].words);
        char source[128], file[64];
        snprintf(file, sizeof file, "driver-%s", cases[i].name);
        path_of(source, sizeof source, file, ".so");
        assert_string_equal(err.source, source);
        if (cases[i].status == PONS_EENV && !strstr(cases[i].words, "cut short")) {
            assert_true(err.cause[0]);
        }
        assert_true(pons_module_installed("driver", cases[i].name)); // it is there
        // It fails the same way again.
        assert_int_equal(pons_module_load("driver", cases[i].name, &ops, NULL), cases[i].status);
    }
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_false(pons_module_installed("driver", "absent"));
    assert_int_equal(pons_module_load("driver", "absent", &ops, &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "no driver 'absent'"));
    assert_non_null(strstr(err.message, "/nowhere"));
    assert_non_null(strstr(err.message, dir));
    assert_non_null(strstr(err.message, "lib/pons"));
    // Names come from people: they are names, not paths.
    static const char *const bad[] = {"", "../x", "a/b", "/etc/passwd", ".", "a b", "a.so", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pons_module_load("driver", bad[i], &ops, &err), PONS_EINVAL);
        assert_int_equal(pons_module_load(bad[i], "good", &ops, NULL), PONS_EINVAL);
    }
    char longest[300];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(pons_module_load("driver", longest, &ops, &err), PONS_EINVAL);
    assert_null(ops);
}

static void *load_twin(void *arg)
{
    const void **ops = arg;
    return pons_module_load("driver", "twin", ops, NULL) == PONS_OK ? NULL : arg;
}

static void test_threads_load_together(void **state)
{
    (void)state;
    if (!have_compiler) {
        skip();
    }
    pthread_t threads[4];
    const void *ops[4] = {NULL};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, load_twin, &ops[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(ops[i], ops[0]);
    }
}

static void test_exe_dir(void **state)
{
    (void)state;
    const char *exe = pons_exe_dir();
    struct stat st;
    assert_int_equal(exe[0], '/');
    assert_true(exe[strlen(exe) - 1] != '/');
    assert_int_equal(stat(exe, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_ptr_equal(exe, pons_exe_dir());
}

static void test_share_path(void **state)
{
    (void)state;
    char share[] = "/tmp/pons-share-XXXXXX", file[64], path[128], small[8];
    assert_non_null(mkdtemp(share));
    snprintf(file, sizeof file, "%s/house.yaml", share);
    fclose(fopen(file, "w"));
    pons_error err = PONS_ERROR_INIT;
    char *saved = getenv("PONS_SHARE") ? strdup(getenv("PONS_SHARE")) : NULL;
    setenv("PONS_SHARE", share, 1);
    assert_int_equal(pons_share_path("house.yaml", path, sizeof path, &err), PONS_OK);
    assert_string_equal(path, file);
    assert_int_equal(pons_share_path("house.yaml", small, sizeof small, &err), PONS_EINVAL);
    assert_int_equal(pons_share_path("absent.yaml", path, sizeof path, &err), PONS_ENOTFOUND);
    assert_string_equal(path, file); // untouched
    assert_non_null(strstr(err.message, "absent.yaml is not in"));
    assert_non_null(strstr(err.message, share));
    assert_non_null(strstr(err.message, "share/pons"));
    unsetenv("PONS_SHARE");
    assert_int_equal(pons_share_path("no-such-file-anywhere", path, sizeof path, &err),
                     PONS_ENOTFOUND);
    if (saved) {
        setenv("PONS_SHARE", saved, 1);
    }
    free(saved);
    unlink(file);
    rmdir(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_module),     cmocka_unit_test(test_bad_modules),
        cmocka_unit_test(test_what_is_not_there), cmocka_unit_test(test_threads_load_together),
        cmocka_unit_test(test_exe_dir),           cmocka_unit_test(test_share_path),
    };
    return cmocka_run_group_tests_name("base/module", tests, set_up, tear_down);
}
