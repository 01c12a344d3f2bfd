// cmd_logs.c - `pons logs [NAME…] [--lines N] [--follow]`: what the processes of a workspace have said:
// run/*.log, of the body, of errands, of servers of tools.
//
// What a robot did is in the store (`pons threads events`); a log is what a process that nobody
// watched printed, to find out why it died. Lines are shown as they are written, with the log's name
// before them where there are several, and without what looks like a key; a private key has many lines, so
// reading begins before the first that is shown.
#include "app/notify/secret_filter.h"
#include "cli/cli.h"
#include "pons/buf.h"
#include "pons/spelling.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOGS_MAX = 64,
    LINES_USUAL = 20,
    LINES_MAX = 100000,
    TAIL_MAX = 4 << 20,
    FOLLOW_EVERY_MS = 200
};

typedef struct log_file {
    char name[64];
    int fd;
    off_t at;       // read so far
    off_t from;     // what lies before it is not shown
    pons_buf begun; // a line without its end
    size_t in_key;  // app_line_without_secrets
} log_file;

// end: the place behind it in the file.
static void show_line(const cli *c, log_file *f, bool named, const char *line, size_t n, off_t end)
{
    const bool shown = end > f->from;
    char *text = strndup(line, n);
    char *clean = text ? app_line_without_secrets(&f->in_key, text) : NULL;
    if (clean && shown && c->json) {
        pons_value *whole = json_string(clean);
        pons_autovalue row = pons_object("type", json_string("log"), "log", json_string(f->name),
                                         "line", whole ? whole : json_string("…"), NULL);
        cli_print_json(row);
    } else if (clean && shown) {
        cli_out("%s%s%s\n", named ? f->name : "", named ? ": " : "", clean);
    }
    free(clean);
    free(text);
}

// What has come, line by line. A file that became shorter is a new one.
static int read_more(const cli *c, log_file *f, bool named, pons_error *err)
{
    char block[8192];
    struct stat st;
    if (fstat(f->fd, &st) == 0 && st.st_size < f->at) {
        f->at = f->from = 0;
        f->in_key = 0;
    }
    for (ssize_t n; (n = pread(f->fd, block, sizeof block, f->at)) > 0;) {
        f->at += n;
        pons_buf_bytes(&f->begun, block, (size_t)n);
        size_t used = 0;
        for (const char *end; used < f->begun.len && (end = memchr(f->begun.data + used, '\n',
                                                                   f->begun.len - used)) != NULL;) {
            const size_t n_line = (size_t)(end - f->begun.data) - used;
            used += n_line + 1;
            show_line(c, f, named, end - n_line, n_line, f->at - (off_t)(f->begun.len - used));
        }
        if (f->begun.failed) {
            return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
        }
        if (f->begun.len - used > TAIL_MAX) { // no line: bytes
            used = f->begun.len;
        }
        memmove(f->begun.data, f->begun.data + used, f->begun.len - used);
        f->begun.len -= used;
    }
    return PONS_OK;
}

// Where the last `lines` of a file begin.
static off_t tail_of(int fd, int64_t lines)
{
    char block[8192];
    const off_t end = lseek(fd, 0, SEEK_END);
    off_t at = end;
    int64_t seen = 0;
    while (at > 0 && end - at < TAIL_MAX) {
        const size_t n = at < (off_t)sizeof block ? (size_t)at : sizeof block;
        if (pread(fd, block, n, at - (off_t)n) != (ssize_t)n) {
            break;
        }
        for (size_t i = n; i-- > 0;) {
            const off_t here = at - (off_t)n + (off_t)i;
            if (block[i] == '\n' && here + 1 < end && ++seen >= lines) {
                return here + 1;
            }
        }
        at -= (off_t)n;
    }
    return at > 0 ? at : 0;
}

static bool wanted(const cli *c, const char *name)
{
    for (int i = 0; i < c->argc; i++) {
        const size_t n = strlen(c->argv[i]);
        if (strncmp(name, c->argv[i], n) == 0 &&
            (name[n] == '\0' || strcmp(name + n, ".log") == 0)) {
            return true;
        }
    }
    return c->argc == 0;
}

static int is_log(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return n > strlen(".log") && strcmp(e->d_name + n - strlen(".log"), ".log") == 0 &&
           e->d_name[0] != '.';
}

// Which there are, beside the one that was meant.
static int no_log(const cli *c, struct dirent **found, int n, pons_error *err)
{
    const char *asked = c->argc ? c->argv[0] : "";
    char all[512] = "";
    pons_meant meant = pons_meant_of(asked, strlen(asked));
    for (int i = 0; i < n; i++) {
        char *name = found[i]->d_name;
        const size_t len = strlen(name) - strlen(".log"), used = strlen(all);
        name[len] = '\0';
        pons_meant_try(&meant, name, len);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", name);
    }
    return !c->argc ? app_lacks(err, "%s has no logs", c->app.run_dir)
           : meant.best
               ? app_lacks(err, "there is no log of %s, did you mean %s?", asked, meant.best)
           : n > 0 ? app_lacks(err, "there is no log of %s; there are: %s", asked, all)
                   : app_lacks(err, "%s has no such log", c->app.run_dir);
}

int cmd_logs(cli *c, pons_error *err)
{
    const char *follow = NULL;
    double lines = LINES_USUAL;
    const cli_option options[] = {
        {"--lines", "N", "the last N of each; default 20", CLI_NUMBER(&lines, 0, LINES_MAX)},
        {"--follow", NULL, "and what comes, until Ctrl-C", &follow},
        {NULL, NULL, NULL, NULL}};
    static log_file logs[LOGS_MAX];
    size_t n = 0;
    struct dirent **found = NULL;
    int rc = cli_parse(c, options, err);
    if (rc < 0) {
        return rc;
    }
    const int all = scandir(c->app.run_dir, &found, is_log, alphasort);
    for (int i = 0; i < all && n < LOGS_MAX; i++) {
        const char *name = found[i]->d_name;
        char path[PATH_MAX + sizeof found[i]->d_name];
        log_file *f = &logs[n];
        if (wanted(c, name)) {
            snprintf(path, sizeof path, "%s/%s", c->app.run_dir, name);
            f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
            snprintf(f->name, sizeof f->name, "%.*s", (int)(strlen(name) - strlen(".log")), name);
            n += f->fd >= 0;
        }
    }
    rc = n > 0 ? PONS_OK : no_log(c, found, all > 0 ? all : 0, err);
    for (int i = 0; i < all; i++) {
        free(found[i]);
    }
    free(found);
    if (rc < 0) {
        return rc;
    }
    if (follow) {
        cli_end_on_signals(SA_RESTART);
    }
    for (size_t i = 0; i < n; i++) {
        logs[i].from =
            lines > 0 ? tail_of(logs[i].fd, (int64_t)lines) : lseek(logs[i].fd, 0, SEEK_END);
        logs[i].at = logs[i].from > APP_KEY_MAX ? logs[i].from - APP_KEY_MAX : 0;
    }
    do {
        for (size_t i = 0; i < n && rc >= 0; i++) {
            rc = read_more(c, &logs[i], n > 1, err);
        }
        cli_flush();
    } while (rc >= 0 && follow && !cli_ended && !cli_out_broken() &&
             (poll(NULL, 0, FOLLOW_EVERY_MS), true));
    for (size_t i = 0; i < n; i++) {
        if (logs[i].begun.len > 0) { // the last one has no end yet
            show_line(c, &logs[i], n > 1, logs[i].begun.data, logs[i].begun.len, logs[i].at);
        }
        pons_buf_fini(&logs[i].begun);
        close(logs[i].fd);
    }
    return rc;
}
