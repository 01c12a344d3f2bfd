// test_file.c - files that a person has named: what may be read, and that nothing else is waited for. Without the refusal
// this test does not end; the alarm ends it.
#include "pons/file.h"
#include "pons/value.h"
#include "pons/yaml.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LIMIT_S 60

static void refused(const char *path, int why)
{
    assert_int_equal(pons_file_open(path), -why);
    assert_null(pons_file_read(path));
    assert_int_equal(errno, why);
}

static void says(const char *path, const pons_error *err)
{
    assert_string_equal(err->source, path);
    assert_string_equal(err->cause, "it is no file, but a pipe, a socket or a device");
}

static void what_would_hold_us_is_refused(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-file-XXXXXX", pipe[64], sock[64];
    pons_yaml *y = NULL;
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT, other = PONS_ERROR_INIT;
    assert_non_null(mkdtemp(dir));
    snprintf(pipe, sizeof pipe, "%s/pipe", dir);
    snprintf(sock, sizeof sock, "%s/sock", dir);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", sock);
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
    alarm(LIMIT_S);
    refused(pipe, EMEDIUMTYPE);
    refused(sock, EMEDIUMTYPE);
    refused("/dev/zero", EMEDIUMTYPE);
    refused(dir, EISDIR);
    refused("/nowhere/at/all", ENOENT);
    assert_int_equal(pons_yaml_load(pipe, &y, &err), PONS_EIO);
    says(pipe, &err);
    assert_int_equal(pons_value_load(pipe, &v, &other), PONS_EIO);
    says(pipe, &other);
    alarm(0);
    close(s);
    unlink(pipe);
    unlink(sock);
    rmdir(dir);
}

static void what_a_shell_hands_over_is_read(void **state)
{
    (void)state;
    int ends[2];
    char name[32], text[8] = "";
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "{}", 2), 2);
    close(ends[1]);
    FILE *f = pons_file_read(name);
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    assert_string_equal(text, "{}");
    fclose(f);
    close(ends[0]);
    const int null = pons_file_open("/dev/null");
    assert_true(null >= 0);
    assert_int_equal(fcntl(null, F_GETFL) & O_NONBLOCK, 0);
    close(null);
}

static void a_lock_has_one_holder(void **state)
{
    (void)state;
    char path[] = "/tmp/pons-lock-XXXXXX";
    const int file = mkstemp(path), again = open(path, O_RDONLY);
    assert_true(file >= 0 && again >= 0);
    assert_int_equal(pons_file_lock(file, 0), 0);
    assert_int_equal(pons_file_lock(again, 0), -EWOULDBLOCK);
    assert_int_equal(pons_file_lock(again, 2), -EWOULDBLOCK);
    close(file);
    assert_int_equal(pons_file_lock(again, 0), 0);
    assert_int_equal(pons_file_lock(-1, 0), -EBADF);
    close(again);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_hold_us_is_refused),
        cmocka_unit_test(what_a_shell_hands_over_is_read),
        cmocka_unit_test(a_lock_has_one_holder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
