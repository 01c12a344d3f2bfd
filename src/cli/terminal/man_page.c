// man_page.c - the man page pons(1), made from the table of commands.
#include "cli/commands.h"
#include "pons/buf.h"

#include <string.h>

enum { WRAP_FROM = 60 }; // bytes of a row, after which the next blank ends it

// One letter of a text: what roff would take for its own is escaped, and so is what is not ASCII, which
// roff reads by code points alone. Returns its bytes.
static size_t inbox_message(pons_buf *b, const char *s)
{
    static const struct {
        char c;
        const char *roff;
    } own[] = {{'\\', "\\(rs"},
               {'-', "\\-"},
               {'"', "\\(dq"},
               {'`', "\\(ga"}}; // its partner is what people type: `pons help`
    const size_t n = pons_utf8_sequence(s, strlen(s));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (*s == own[i].c) {
            pons_buf_str(b, own[i].roff);
            return 1;
        }
    }
    if (n < 2) {
        pons_buf_bytes(b, s, 1);
        return 1;
    }
    unsigned code = (unsigned char)s[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        code = code << 6 | ((unsigned char)s[i] & 0x3fU);
    }
    pons_buf_printf(b, "\\[u%04X]", code);
    return n;
}

static void text(pons_buf *b, const char *s)
{
    for (size_t n = 0; *s; n++) {
        if (*s == ' ' && n > WRAP_FROM) {
            pons_buf_str(b, "\n");
            s++;
            n = 0;
        }
        if (n == 0 && (*s == '.' || *s == '\'')) {
            pons_buf_str(b, "\\&");
        }
        s += inbox_message(b, s);
    }
}

static void option_rows(pons_buf *b, const cli_options *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const cli_option *o = &list->at[i];
        pons_buf_str(b, ".TP\n\\fB");
        text(b, o->name);
        pons_buf_str(b, "\\fR");
        if (o->metavar) {
            pons_buf_str(b, " \\fI");
            text(b, o->metavar);
            pons_buf_str(b, "\\fR");
        }
        pons_buf_str(b, "\n");
        text(b, o->help);
        pons_buf_str(b, "\n");
    }
}

static int one(pons_buf *b, const cli_command *k, pons_error *err)
{
    cli_options list;
    int rc = cli_options_of(k, NULL, &list, err);
    pons_buf_printf(b, ".SS \"pons %s", k->name);
    if (k->args && *k->args) {
        pons_buf_str(b, " ");
        for (const char *s = k->args; *s;) { // on one row
            s += inbox_message(b, s);
        }
    }
    pons_buf_str(b, "\"\n");
    text(b, k->help);
    pons_buf_str(b, "\n");
    option_rows(b, &list);
    for (const cli_command *w = k->words; rc >= 0 && w && w->name; w++) {
        pons_buf_printf(b, ".TP\n\\fBpons %s %s\\fR%s", k->name, w->name, *w->args ? " " : "");
        for (const char *s = w->args; *s;) {
            s += inbox_message(b, s);
        }
        pons_buf_str(b, "\n");
        text(b, w->help);
        pons_buf_str(b, "\n");
        rc = cli_options_of(k, w, &list, err);
        if (list.n > 0) {
            pons_buf_str(b, ".RS\n");
            option_rows(b, &list);
            pons_buf_str(b, ".RE\n");
        }
    }
    return rc;
}

int cli_help_man(pons_error *err)
{
    static const char page[] = {
#include "cli/terminal/man_page.roff.h"
    };
    pons_autobuf b = PONS_BUF_INIT;
    static const char line[] = ".\\\" the commands\n";
    const char *commands = strstr(page, line);
    pons_buf_str(&b, ".TH PONS 1 \"\" \"pons " PONS_VERSION "\" \"User Commands\"\n");
    pons_buf_bytes(&b, page, (size_t)(commands - page));
    int rc = PONS_OK;
    for (const cli_command *k = cli_commands(); k->name && rc >= 0; k++) {
        rc = one(&b, k, err);
    }
    pons_buf_printf(&b, "%s\n", commands + strlen(line));
    if (b.failed) {
        return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
    }
    if (rc >= 0) {
        cli_out_text(b.data, b.len);
    }
    return rc;
}
