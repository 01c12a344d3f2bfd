// cluster.c - a private PostgreSQL for tests.
//
// initdb and the server refuse to run as root, so root runs them as the user `postgres`. The server
// is a child that is told to end when its parent does, so that nothing stays behind a test that
// dies. What it waits for is an answer of the server, asked for again and again.

#include "cluster.h"

#include "pons/module.h"
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_TRIES 1500 // of TRY_MS each
#define TRY_MS      20

static struct {
    char bin[128]; // of the server's programs
    char dir[64];  // sockets, log, and data below
    char url[256];
    pid_t server;
} cluster;

static const char *as_user(void)
{
    return getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : "";
}

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static bool find_server(void)
{
    glob_t found;
    bool there = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;
    if (there) {
        snprintf(cluster.bin, sizeof cluster.bin, "%s", found.gl_pathv[found.gl_pathc - 1]);
        *strrchr(cluster.bin, '/') = '\0';
    }
    globfree(&found);
    return there;
}

static void launch(void)
{
    fflush(NULL);
    const pid_t parent = getpid();
    cluster.server = fork();
    assert_true(cluster.server >= 0);
    if (cluster.server > 0) {
        return;
    }
    char program[192], data[128], log[128];
    snprintf(program, sizeof program, "%s/postgres", cluster.bin);
    snprintf(data, sizeof data, "%s/data", cluster.dir);
    snprintf(log, sizeof log, "%s/log", cluster.dir);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) { // nothing of the test is the server's
        close(fd);
    }
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent) {
        _exit(1);
    }
    if (getuid() == 0) {
        execlp("setpriv", "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
               "--pdeathsig=QUIT", program, "-D", data, "-k", cluster.dir, "-c",
               "listen_addresses=", (char *)NULL);
    } else {
        execl(program, program, "-D", data, "-k", cluster.dir, "-c",
              "listen_addresses=", (char *)NULL);
    }
    _exit(127);
}

static void await(void)
{
    for (int i = 0; i < START_TRIES; i++) {
        if (shell("%s/psql -h %s -U pons -d postgres -qAtc 'SELECT 1' >/dev/null 2>&1", cluster.bin,
                  cluster.dir) == 0) {
            return;
        }
        int status;
        if (waitpid(cluster.server, &status, WNOHANG) == cluster.server) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = TRY_MS * 1000000L}, NULL);
    }
    shell("cat %s/log >&2", cluster.dir);
    fail_msg("the server did not start");
}

bool cluster_start(void)
{
    if (!find_server()) {
        print_message("skipped: there is no PostgreSQL server here (Debian: postgresql)\n");
        return false;
    }
    snprintf(cluster.dir, sizeof cluster.dir, "/tmp/pons-postgres-XXXXXX");
    assert_non_null(mkdtemp(cluster.dir));
    if (getuid() == 0) {
        assert_int_equal(shell("chown postgres:postgres %s", cluster.dir), 0);
    }
    assert_int_equal(chmod(cluster.dir, 0755), 0);
    if (shell("cd / && %s%s/initdb -D %s/data -U pons -A trust --no-sync --locale=C -E UTF8"
              " >%s.init 2>&1",
              as_user(), cluster.bin, cluster.dir, cluster.dir) != 0) {
        shell("cat %s.init >&2", cluster.dir);
        fail_msg("initdb failed");
    }
    shell("rm -f %s.init", cluster.dir);
    launch();
    await();
    return true;
}

static void end_server(int how)
{
    int status;
    kill(cluster.server, how);
    waitpid(cluster.server, &status, 0);
}

void cluster_stop(void)
{
    if (!cluster.server) {
        return;
    }
    end_server(SIGINT); // connections are cut
    shell("rm -rf %s", cluster.dir);
    cluster.server = 0;
}

void cluster_restart(void)
{
    cluster_fail();
    cluster_again();
}

void cluster_fail(void)
{
    end_server(SIGQUIT);
}

void cluster_again(void)
{
    launch();
    await();
}

void cluster_sql(const char *sql)
{
    if (shell("%s/psql -h %s -U pons -d postgres -v ON_ERROR_STOP=1 -qAt -c \"%s\" >/dev/null",
              cluster.bin, cluster.dir, sql) != 0) {
        fail_msg("psql failed: %s", sql);
    }
}

const char *cluster_empty(const char *suffix)
{
    cluster_sql("SET client_min_messages=error; DROP SCHEMA IF EXISTS pons CASCADE");
    snprintf(cluster.url, sizeof cluster.url, "postgresql:///postgres?host=%s&user=pons%s",
             cluster.dir, suffix);
    return cluster.url;
}

int cluster_open(const char *url, pons_store *ret, pons_error *err)
{
    return pons_store_open(url, ret, err);
}
