// args.c - options of a command, numbers, and the one line that says what was wrong.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int print_usage(const cli_command *self, const cli_option *options);

int cli_parse(cli *c, const cli_command *self, const cli_option *options)
{
    int kept = 0;
    bool ended = false;
    for (int i = 0; i < c->argc; i++) {
        char *word = c->argv[i];
        if (ended || word[0] != '-' || word[1] == '\0') {
            c->argv[kept++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            ended = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            return print_usage(self, options);
        }
        const char *equals = strchr(word, '=');
        const size_t length = equals ? (size_t)(equals - word) : strlen(word);
        const cli_option *found = NULL;
        for (const cli_option *o = options; o && o->name; o++) {
            if (strlen(o->name) == length && strncmp(o->name, word, length) == 0) {
                found = o;
            }
        }
        if (!found) {
            return cli_bad("%s: unknown option %s; `pons help %s` lists them", self->name, word,
                           self->name);
        }
        if (!found->metavar) {
            *found->value = "yes";
        } else if (equals) {
            *found->value = equals + 1;
        } else if (i + 1 < c->argc) {
            *found->value = c->argv[++i];
        } else {
            return cli_bad("%s: %s needs a value: %s", self->name, found->name, found->metavar);
        }
    }
    c->argc = kept;
    return -1;
}

int cli_number(const char *text, const char *option, double low, double high, double *ret)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < low || value > high) {
        return cli_bad("%s takes a number from %g to %g, not '%s'", option, low, high, text);
    }
    *ret = value;
    return -1;
}

int cli_fail(const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    fprintf(stderr, "pons: %s\n", pons_error_line(err, line, sizeof line));
    switch (err->status) {
    case PONS_EINVAL:
    case PONS_ENOTFOUND:
    case PONS_EAMBIGUOUS:
    case PONS_ENOTPENDING:
        return EXIT_BAD_INPUT;
    default:
        return EXIT_ENVIRONMENT;
    }
}

int cli_bad(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("pons: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return EXIT_BAD_INPUT;
}

static int print_usage(const cli_command *self, const cli_option *options)
{
    printf("%s\n  %s\n", self->usage, self->help);
    for (const cli_option *o = options; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", o->name, o->metavar ? o->metavar : "");
        printf("    %-22s %s\n", left, o->help);
    }
    return EXIT_DONE;
}
