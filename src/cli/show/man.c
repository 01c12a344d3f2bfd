// man.c - the man page pons(1), made from the table of commands.
#include "cli/commands.h"
#include "pons/buf.h"

#include <string.h>

// Text of a page: what roff would take for its own is escaped.
static void text(pons_buf *b, const char *s)
{
    if (*s == '.' || *s == '\'') {
        pons_buf_str(b, "\\&");
    }
    for (; *s; s++) {
        if (*s == '\\') {
            pons_buf_str(b, "\\(rs");
        } else if (*s == '-') {
            pons_buf_str(b, "\\-");
        } else if (*s == '`') { // an apostrophe's partner is what people type: `pons help`
            pons_buf_str(b, "\\(ga");
        } else {
            pons_buf_bytes(b, s, 1);
        }
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
        for (const char *s = k->args; *s; s++) { // a quotation mark would end the heading
            const char letter[2] = {*s, '\0'};
            text(b, *s == '"' ? "'" : letter);
        }
    }
    pons_buf_str(b, "\"\n");
    text(b, k->help);
    pons_buf_str(b, "\n");
    option_rows(b, &list);
    for (const cli_command *w = k->words; rc >= 0 && w && w->name; w++) {
        pons_buf_printf(b, ".TP\n\\fBpons %s %s\\fR ", k->name, w->name);
        text(b, w->args);
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
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b,
                 ".TH PONS 1 \"\" \"pons " PONS_VERSION "\" \"User Commands\"\n"
                 ".SH NAME\npons \\- the runtime that joins a language model to a robot\n"
                 ".SH SYNOPSIS\n\\fBpons\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...] "
                 "[\\fB\\-\\-json\\fR] [\\fB\\-\\-workspace\\fR \\fIDIR\\fR]\n"
                 ".SH DESCRIPTION\nA person says what they want; a model, or rules, propose; a "
                 "kernel decides; a robot acts. Everything is durable: killed at any moment, "
                 "it goes on without losing or repeating a motion.\n"
                 ".SH OPTIONS\n.TP\n\\fB\\-\\-json\\fR\none JSON object a line on standard output\n"
                 ".TP\n\\fB\\-\\-workspace\\fR \\fIDIR\\fR\nwhere state and configuration are\n"
                 ".SH COMMANDS\n");
    int rc = PONS_OK;
    for (const cli_command *k = cli_commands(); k->name && rc >= 0; k++) {
        rc = one(&b, k, err);
    }
    pons_buf_str(
        &b,
        ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nended without success\n.TP\n2\nbad input\n"
        ".TP\n3\nthe environment\n.TP\n4\nit waits for a person\n"
        ".SH ENVIRONMENT\n.TP\n\\fBPONS_WORKSPACE\\fR\nthe workspace; default ~/.pons where there "
        "is one, else ~/.local/share/pons\n"
        ".TP\n\\fBXDG_CONFIG_HOME\\fR, \\fBXDG_DATA_HOME\\fR\n"
        "in place of ~/.config and ~/.local/share; ignored unless absolute\n"
        ".TP\n\\fBPONS_LLM_URL\\fR, \\fBPONS_LLM_MODEL\\fR, \\fBOPENAI_API_KEY\\fR\n"
        "the model's server; without one a rule policy decides\n"
        ".TP\n\\fBNO_COLOR\\fR\nno colours\n"
        ".SH FILES\n.TP\n~/.config/pons\na person's configuration, in place of what pons ships\n"
        ".TP\nWORKSPACE/config\na workspace's own, in place of both\n"
        ".TP\nWORKSPACE/pons.db\nthe store of threads, events, effects and approvals\n"
        ".TP\nWORKSPACE/run/body.ledger\nevery motion that was asked for, and its end\n");
    if (b.failed) {
        return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
    }
    if (rc >= 0) {
        cli_out_text(b.data, b.len);
    }
    return rc;
}
