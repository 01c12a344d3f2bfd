// test_stop_socket.c - who asks a body that does not read to stop is told so in time, also when the socket is full of
// what came before.
#include "pons/body.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST 100000 // datagrams that a socket has no room for

static void a_body_that_does_not_read(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-stop-XXXXXX";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    pons_error err = PONS_ERROR_INIT;
    assert_non_null(mkdtemp(dir));
    snprintf(a.sun_path, sizeof a.sun_path, "%s/stop.sock", dir);
    const int body = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
              other = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(body >= 0 && other >= 0);
    assert_int_equal(bind(body, (const struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(pons_stop_send(dir, "nobody reads", 20, &err), PONS_ETIMEOUT);
    assert_int_equal(connect(other, (const struct sockaddr *)&a, sizeof a), 0);
    int n = 0;
    while (n < MOST && send(other, "junk", 4, MSG_DONTWAIT | MSG_NOSIGNAL) == 4) {
        n++;
    }
    assert_true(n < MOST && errno == EAGAIN);
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(pons_stop_send(dir, "it is full", 20, &err), PONS_ETIMEOUT);
    assert_non_null(strstr(err.message, "has not read the stops before this one"));
    close(other);
    close(body);
    unlink(a.sun_path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_does_not_read),
    };
    return cmocka_run_group_tests_name("body/stop_socket", tests, NULL, NULL);
}
