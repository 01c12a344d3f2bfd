// args.c - options of a command, numbers, and the one line that says what was wrong.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pons/buf.h"

#define HELP_COLUMNS     22
#define THREAD_ID_LENGTH 6
#define VALUE_BYTES_MAX  (16 << 20) // of JSON given on the command line or in a file

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

int cli_modes(const char *text, uint32_t *ret)
{
    char words[256];
    char *save = NULL;
    uint32_t modes = 0;
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words) {
        return cli_bad("--stream: that is too long");
    }
    for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        const uint32_t mode = pons_stream_mode(word);
        if (!mode) {
            return cli_bad("--stream takes values, updates, messages, custom, tasks, checkpoints, "
                           "debug, or several with commas, not '%s'",
                           word);
        }
        modes |= mode;
    }
    if (!modes) {
        return cli_bad("--stream takes a mode, as updates or values,messages");
    }
    *ret = modes;
    return -1;
}

int cli_value(const char *text, const char *option, pons_value **ret)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf all = PONS_BUF_INIT;
    const char *from = option;
    if (*text == '@' || strcmp(text, "-") == 0) {
        from = *text == '@' ? text + 1 : "standard input";
        FILE *f = *text == '@' ? fopen(text + 1, "re") : stdin;
        char chunk[4096];
        size_t n = 0;
        while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0 && all.len <= VALUE_BYTES_MAX) {
            pons_buf_bytes(&all, chunk, n);
        }
        const bool bad = !f || ferror(f);
        if (f && f != stdin) {
            fclose(f);
        }
        if (bad) {
            return cli_bad("%s: cannot read %s: %s", option, from, strerror(errno));
        }
    } else {
        pons_buf_str(&all, text);
    }
    if (all.len > VALUE_BYTES_MAX) {
        return cli_bad("%s: %s is longer than %d MB", option, from, VALUE_BYTES_MAX >> 20);
    }
    if (pons_value_parse(all.len ? all.data : "", all.len, ret, &err) < 0) {
        pons_error_context(&err, "%s", from);
        return cli_fail(&err);
    }
    return -1;
}

int cli_word_or_json(const char *text, const char *option, pons_value **ret)
{
    static const char *const literals[] = {"true", "false", "null"};
    bool json = *text && strchr("{[\"-0123456789@", *text) != NULL;
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        json = json || strcmp(text, literals[i]) == 0;
    }
    if (json) {
        return cli_value(text, option, ret);
    }
    *ret = json_string(text);
    return *ret ? -1 : cli_bad("%s: it is not valid UTF-8", option);
}

void cli_new_thread(char ret[PONS_NAME_MAX])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    pons_rand r;
    pons_rand_seed_os(&r);
    char word[THREAD_ID_LENGTH + 1] = "";
    for (int i = 0; i < THREAD_ID_LENGTH; i++) {
        word[i] = letters[pons_rand_below(&r, sizeof letters - 1)];
    }
    snprintf(ret, PONS_NAME_MAX, "t-%s", word);
}

int cli_thread_name(const char *name, pons_error *err)
{
    const size_t n = strlen(name);
    pons_autovalue text = json_string(name);
    if (!text) {
        return pons_error_set(err, PONS_EINVAL, "threads", "a thread's name is valid UTF-8");
    }
    if (n == 0 || n >= PONS_NAME_MAX) {
        return pons_error_set(err, PONS_EINVAL, "threads", "a thread's name has 1 to %d bytes",
                              PONS_NAME_MAX - 1);
    }
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == '/' || *p == 127) {
            return pons_error_set(
                err, PONS_EINVAL, "threads",
                "a thread's name has no spaces, slashes or control characters, as '%s' has", name);
        }
    }
    return PONS_OK;
}

size_t cli_cut(const char *text, size_t most)
{
    size_t n = strlen(text);
    if (n > most) {
        for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--) {
        }
    }
    return n;
}

int cli_fail(const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    fprintf(stderr, "pons: %s\n", pons_error_line(err, line, sizeof line));
    switch (err->status) {
    case PONS_EINVAL:
    case PONS_EEXIST:
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
        int extra = 0; // bytes that take no column of their own: the … of a list
        for (const char *c = left; *c; c++) {
            extra += (*c & 0xC0) == 0x80;
        }
        printf("    %-*s %s\n", HELP_COLUMNS + extra, left, o->help);
    }
    return EXIT_DONE;
}
