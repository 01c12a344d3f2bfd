// merge_notices.c - what the user of a place is told: commands of a merge, once it is there, and notices, which are in
// LOG.md as well.
#include "pons/clock.h"
#include "pons/out_of_memory.h"
#include "workspace/shared_files/shared_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOG_FILE "LOG.md"

static void log_line(const pons_ws_place *p, const char *file, const char *text)
{
    pons_autobuf line = PONS_BUF_INIT;
    char path[PATH_MAX], when[PONS_UTC_TEXT];
    pons_utc_text((int64_t)time(NULL) * 1000, when);
    pons_buf_printf(&line, "- %s %s: %s", when, file, text);
    for (size_t i = 0; i < line.len; i++) { // whoever's words it has, it is one line
        const unsigned char c = (unsigned char)line.data[i];
        line.data[i] = c < ' ' || c == 0x7f ? ' ' : line.data[i];
    }
    pons_buf_str(&line, "\n");
    snprintf(path, sizeof path, "%s/" LOG_FILE, p->dir);
    const int fd = // a pipe that nobody reads would hold us
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0) {
        const ssize_t ignored = write(fd, line.data, line.len); // what it tells is in the store too
        (void)ignored;
        close(fd);
    }
}

void pons__ws_notice(pons_ws_place *p, const char *file, const char *fmt, ...)
{
    pons_autobuf text = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    pons_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    log_line(p, file, text.data);
    if (p->o.notice) {
        p->o.notice(p->o.user, file, text.data);
    }
}

void pons_ws_place_log(pons_ws_place *p, pons_ws_file file, const char *text)
{
    log_line(p, pons_ws_file_name(file), text);
}

void pons__ws_on_command(void *user, const pons_ws_command *c)
{
    pons_ws_place *p = user;
    p->commands = pons_need_more(p->commands, (p->n_commands + 1) * sizeof *p->commands);
    ws_reported *to = &p->commands[p->n_commands++];
    to->kind = pons_need_text(c->kind);
    to->id = pons_need_text(c->id);
    to->before = pons_value_ref((pons_value *)(uintptr_t)c->before);
    to->after = pons_value_ref((pons_value *)(uintptr_t)c->after);
    to->refused = c->refused;
    snprintf(to->why, sizeof to->why, "%s", c->why);
}

void pons__ws_tell(pons_ws_place *p, pons_ws_file file, bool really)
{
    for (size_t i = 0; i < p->n_commands; i++) {
        ws_reported *is = &p->commands[i];
        pons_ws_command c = {.kind = is->kind,
                             .id = is->id,
                             .before = is->before,
                             .after = is->after,
                             .refused = is->refused};
        snprintf(c.why, sizeof c.why, "%s", is->why);
        if (really && c.refused) {
            pons__ws_notice(p, pons_ws_file_name(file), "an edit of %s %s is put back: %s", c.kind,
                            c.id, c.why);
        }
        if (really && p->o.command) {
            p->o.command(p->o.user, file, &c);
        }
        free(is->kind);
        free(is->id);
        pons_value_unref(is->before);
        pons_value_unref(is->after);
    }
    p->n_commands = 0;
}
