// cluster.c - a PostgreSQL for tests.
//
// initdb and the server refuse to run as root, so root runs them as the user `postgres`. A private server
// is a child that is told to end when its parent does, so that nothing stays behind a test that
// dies. What it waits for is an answer of the server, asked for again and again. A private server's files are a
// copy of the suite's pristine ones where there are any, as that is much faster than initdb.
//
// No test here cuts the power, and the kernel outlives a server that is killed: nothing is synced to the disk.

#include "cluster.h"

#include "pons/module.h"
#include "unit.h"

#include <dlfcn.h>
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

#define START_TRIES 3000 // of TRY_MS each
#define TRY_MS      10

static struct {
    char bin[128];     // of the server's programs
    char dir[64];      // sockets, log, and data below
    char name[64];     // of our database
    char root[192];    // URL of the database that is always there
    char own[256];     // … of ours
    char url[320];     // with what a test adds
    pid_t server;      // a private one
    bool shared;       // the suite's
    void *c;           // our own connection, NULL: none yet
    pons_store lent;   // by cluster_lend
    pons_store_ops as; // … with a close that does nothing
} cluster;

// Of libpq, which the module of the store loads as well.
static struct {
    void *(*connect)(const char *url);
    int (*status)(const void *c); // 0: connected
    void *(*exec)(void *c, const char *sql);
    int (*result)(const void *r); // COMMAND_OK, TUPLES_OK
    char *(*why)(const void *c);
    void (*clear)(void *r);
    void (*finish)(void *c);
} pq;
enum { COMMAND_OK = 1, TUPLES_OK = 2 };

static bool load_libpq(void)
{
    void *lib = pq.finish ? NULL : dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (lib) {
        *(void **)&pq.connect = dlsym(lib, "PQconnectdb");
        *(void **)&pq.status = dlsym(lib, "PQstatus");
        *(void **)&pq.exec = dlsym(lib, "PQexec");
        *(void **)&pq.result = dlsym(lib, "PQresultStatus");
        *(void **)&pq.why = dlsym(lib, "PQerrorMessage");
        *(void **)&pq.clear = dlsym(lib, "PQclear");
        *(void **)&pq.finish = dlsym(lib, "PQfinish");
    }
    return pq.finish != NULL;
}

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
#define SETTINGS "-D", data, "-k", cluster.dir, "-c", "listen_addresses=", "-c", "fsync=off"
    if (getuid() == 0) {
        execlp("setpriv", "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
               "--pdeathsig=QUIT", program, SETTINGS, (char *)NULL);
    } else {
        execl(program, program, SETTINGS, (char *)NULL);
    }
    _exit(127);
}

static void hang_up(void)
{
    if (cluster.c) {
        pq.finish(cluster.c);
        cluster.c = NULL;
    }
}

static bool call(const char *url)
{
    hang_up();
    cluster.c = pq.connect(url);
    return cluster.c && pq.status(cluster.c) == 0;
}

static void await(void)
{
    for (int i = 0; i < START_TRIES; i++) {
        if (call(cluster.own)) {
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

// The suite's files as initdb left them, when they are of these programs: PONS_TEST_POSTGRES names their folder.
static bool copy_files(void)
{
    const char *suite = getenv("PONS_TEST_POSTGRES"), *host = suite ? strstr(suite, "host=") : NULL;
    char from[128];
    struct stat st;
    if (!host) {
        return false;
    }
    snprintf(from, sizeof from, "%.*s/pristine", (int)strcspn(host + 5, "&#"), host + 5);
    return stat(from, &st) == 0 && st.st_uid != 0 &&
           shell("cp -a --reflink=auto '%s' '%s/data'", from, cluster.dir) == 0;
}

static void make_files(void)
{
    snprintf(cluster.dir, sizeof cluster.dir, "/tmp/pons-postgres-XXXXXX");
    assert_non_null(mkdtemp(cluster.dir));
    if (getuid() == 0) {
        assert_int_equal(shell("chown postgres:postgres %s", cluster.dir), 0);
    }
    assert_int_equal(chmod(cluster.dir, 0755), 0);
    if (copy_files()) {
        return;
    }
    if (shell("cd / && %s%s/initdb -D %s/data -U pons --data-checksums -A trust --no-sync "
              "--locale=C -E UTF8"
              " >%s.init 2>&1",
              as_user(), cluster.bin, cluster.dir, cluster.dir) != 0) {
        shell("cat %s.init >&2", cluster.dir);
        fail_msg("initdb failed");
    }
    shell("rm -f %s.init", cluster.dir);
}

bool cluster_start(void)
{
    if (!find_server() || !load_libpq()) {
        print_message("skipped: there is no PostgreSQL server here (Debian: postgresql)\n");
        return false;
    }
    make_files();
    snprintf(cluster.own, sizeof cluster.own, "postgresql:///postgres?host=%s&user=pons",
             cluster.dir);
    launch();
    await();
    return true;
}

// The same server, another database.
static void name_own(const char *url)
{
    const char *rest = strchr(url, '?');
    rest = rest ? rest : url + strlen(url);
    const char *slash = rest;
    while (slash > url && *slash != '/') {
        slash--;
    }
    snprintf(cluster.root, sizeof cluster.root, "%s", url);
    snprintf(cluster.name, sizeof cluster.name, "pons_test_%d", (int)getpid());
    snprintf(cluster.own, sizeof cluster.own, "%.*s/%s%s", (int)(slash - url), url, cluster.name,
             rest);
}

bool cluster_share(void)
{
    const char *url = getenv("PONS_TEST_POSTGRES");
    if (!url || !*url || !load_libpq()) {
        return cluster_start();
    }
    char sql[128];
    name_own(url);
    if (!call(cluster.root)) {
        fail_msg("PONS_TEST_POSTGRES: %s", pq.why(cluster.c));
    }
    cluster_sql("SET client_min_messages=error");
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", cluster.name);
    cluster_sql(sql); // of an earlier process of that number
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", cluster.name);
    cluster_sql(sql);
    assert_true(call(cluster.own));
    cluster.shared = true;
    return true;
}

static void end_server(int how)
{
    int status;
    assert_false(cluster.shared);
    hang_up();
    kill(cluster.server, how);
    waitpid(cluster.server, &status, 0);
}

void cluster_stop(void)
{
    pons_store_close(&cluster.lent);
    if (cluster.shared) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", cluster.name);
        assert_true(call(cluster.root));
        cluster_sql(sql);
        hang_up();
        cluster.shared = false;
        return;
    }
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
    assert_true((cluster.c && pq.status(cluster.c) == 0) || call(cluster.own));
    void *r = pq.exec(cluster.c, sql);
    const int status = pq.result(r);
    if (status != COMMAND_OK && status != TUPLES_OK) {
        fail_msg("%s: %s", sql, pq.why(cluster.c));
    }
    pq.clear(r);
}

static const char *url_with(const char *suffix)
{
    snprintf(cluster.url, sizeof cluster.url, "%s%s", cluster.own, suffix);
    return cluster.url;
}

const char *cluster_empty(const char *suffix)
{
    cluster_sql("SET client_min_messages=error; DROP SCHEMA IF EXISTS pons CASCADE");
    return url_with(suffix);
}

// DELETE: to truncate that many tables costs more than all rows of a test.
const char *cluster_clear(const char *suffix)
{
    cluster_sql("DELETE FROM pons.thread; DELETE FROM pons.ns; DELETE FROM pons.checkpoint;"
                "DELETE FROM pons.record; DELETE FROM pons.inbox; DELETE FROM pons.event;"
                "DELETE FROM pons.effect; DELETE FROM pons.item; DELETE FROM pons.note;"
                "DELETE FROM pons.session; DELETE FROM pons.lane; DELETE FROM pons.runner;"
                "SELECT setval(c.oid,1,false) FROM pg_class c WHERE c.relkind='S'"
                " AND c.relnamespace='pons'::regnamespace");
    return url_with(suffix);
}

int cluster_open(const char *url, pons_store *ret, pons_error *err)
{
    return pons_store_open(url, ret, err);
}

static void keep_open(void *self)
{
    (void)self;
}

int cluster_lend(pons_store *ret, pons_error *err)
{
    if (cluster.lent.ops) {
        cluster_clear("");
    } else {
        const int rc = cluster_open(cluster_empty(""), &cluster.lent, err);
        if (rc < 0) {
            return rc;
        }
        cluster.as = *cluster.lent.ops;
        cluster.as.close = keep_open;
    }
    *ret = (pons_store){.ops = &cluster.as, .self = cluster.lent.self};
    return PONS_OK;
}
