// bench_postgres.h - a private PostgreSQL for the benches: Debian's server on a Unix socket below a folder.
#ifndef PONS_BENCH_POSTGRES_H
#define PONS_BENCH_POSTGRES_H

#include "bench.h"

#include <glob.h>
#include <stdarg.h>

static struct bench_server {
    char bin[128], home[300]; // the server's programs; its data and socket
    const char *as;           // root can't be the server
} server;

static inline int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline int shell(const char *format, ...)
{
    char command[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static inline bool server_start(const char *dir)
{
    glob_t found;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0) {
        fprintf(stderr, "bench: no PostgreSQL server here (Debian: postgresql), not measured\n");
        return false;
    }
    snprintf(server.bin, sizeof server.bin, "%s", found.gl_pathv[found.gl_pathc - 1]);
    *strrchr(server.bin, '/') = '\0';
    globfree(&found);
    snprintf(server.home, sizeof server.home, "%.250s/postgres", dir);
    server.as = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : "";
    if (shell("chmod 755 '%s' && mkdir '%s'", dir, server.home) != 0 ||
        (getuid() == 0 && shell("chown postgres:postgres '%s'", server.home) != 0) ||
        shell("cd / && %s%s/initdb -D '%s/data' -U pons -A trust --locale=C -E UTF8 >'%s.log' 2>&1",
              server.as, server.bin, server.home, server.home) != 0 ||
        shell(
            "cd / && %s%s/pg_ctl -D '%s/data' -s -w -l '%s/log' -o \"-k '%s' -c listen_addresses=\""
            " start >'%s.log' 2>&1",
            server.as, server.bin, server.home, server.home, server.home, server.home) != 0) {
        fprintf(stderr, "bench: PostgreSQL does not start, not measured\n");
        shell("cat '%s.log' >&2", server.home);
        return false;
    }
    return true;
}

static inline void server_stop(void)
{
    shell("cd / && %s%s/pg_ctl -D '%s/data' -s -m fast -w stop", server.as, server.bin,
          server.home);
}

static inline const char *server_url_of(const char *database, char *url, size_t cap)
{
    snprintf(url, cap, "postgresql:///%s?host=%s&user=pons", database, server.home);
    return url;
}

// Of its database; static storage.
static inline const char *server_url(void)
{
    static char url[400];
    return server_url_of("postgres", url, sizeof url);
}

static inline void server_database(const char *name) // one more
{
    if (shell("%s/createdb -h '%s' -U pons %s", server.bin, server.home, name) != 0) {
        fprintf(stderr, "bench: no database %s\n", name);
        exit(1);
    }
}

#endif
