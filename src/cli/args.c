// args.c - options of a command, numbers, and the one line that says what was wrong.
#include "app/workspace/shown_language.h"
#include "base/text/utf8.h"
#include "cli/cli.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/language.h"
#include "pons/spelling.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VALUE_BYTES_MAX (16 << 20) // of JSON given on the command line or in a file

// "0", "2024", ":2024", "127.0.0.1:2024", "[::1]:2024", "localhost:2024": nothing that is a goal.
static bool is_address(const char *word)
{
    const size_t local = strncmp(word, "localhost:", strlen("localhost:")) == 0
                             ? strlen("localhost:")
                             : strspn(word, "0123456789abcdefABCDEF.:[]");
    const size_t digits = strspn(word, "0123456789");
    const char *colon = strrchr(word, ':');
    return *word && (word[digits] == '\0' ||
                     (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
                      (word[local] == '\0' || colon + 1 == word + local)));
}

static int unknown(const cli *c, const cli_option *options, const char *word, size_t length,
                   pons_error *err)
{
    static const char *const always[] = {"--json", "--workspace", "--help"};
    const char *of = c->word ? c->word->name : "", *gap = c->word ? " " : "";
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) { // as --json=yes
        if (length == strlen(always[i]) && strncmp(word, always[i], length) == 0) {
            return app_bad(err, "%s%s%s: %s takes no value", c->self->name, gap, of, always[i]);
        }
    }
    pons_meant meant = pons_meant_of(word, length);
    for (const cli_option *o = options; o && o->name; o++) {
        pons_meant_try(&meant, o->name, strlen(o->name));
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        pons_meant_try(&meant, always[i], strlen(always[i]));
    }
    return meant.best ? app_bad(err, "%s%s%s: unknown option %.*s, did you mean %s?", c->self->name,
                                gap, of, (int)length, word, meant.best)
                      : app_bad(err, "%s%s%s: unknown option %.*s; `pons help %s%s%s` lists them",
                                c->self->name, gap, of, (int)length, word, c->self->name, gap, of);
}

int cli_number(const char *text, const char *option, double low, double high, double *ret,
               pons_error *err)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < low || value > high) {
        return app_bad(err, "%s takes a number from %g to %g, not '%s'", option, low, high, text);
    }
    *ret = value;
    return PONS_OK;
}

int cli_duration(const char *text, const char *option, double *ret_s, pons_error *err)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1.0}, {"s", 1.0}, {"m", 60.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    char *end = NULL;
    const double many = strtod(text, &end) * (end == text ? NAN : 1.0);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const double s = many * units[i].seconds;
        if (strcmp(end, units[i].unit) == 0 && s >= 0.001 && s <= 1e9) {
            *ret_s = s;
            return PONS_OK;
        }
    }
    return app_bad(err, "%s needs a time like 90s, 40min, 2h or 3d, not '%s'", option, text);
}

// Sets what the option is for. text: its value, or "yes".
static int take_value(const cli_option *o, const char *text, pons_error *err)
{
    if (o->number) {
        return cli_number(text, o->name, o->low, o->high, o->number, err);
    }
    *o->value = text;
    return PONS_OK;
}

int cli_parse(cli *c, const cli_option *options, pons_error *err)
{
    int kept = 0;
    bool ended = false;
    const cli_command *of = c->word ? c->word : c->self;
    for (int i = 0; i < c->argc; i++) {
        char *word = c->argv[i];
        const bool number = word[1] == '.' || (word[1] >= '0' && word[1] <= '9'); // -1.5 is a word
        if (ended || word[0] != '-' || word[1] == '\0' || number) {
            c->argv[kept++] = word;
            if (of && of->says && pons_language_chinese(word)) {
                app_language_of(word);
            }
            continue;
        }
        if (strcmp(word, "--") == 0) {
            ended = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            return cli_usage(c, options);
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
            return unknown(c, options, word, length, err);
        }
        if (!found->metavar && equals) {
            return app_bad(err, "%s: %s takes no value", c->self->name, found->name);
        }
        const char *text = "yes";
        if (equals) {
            text = equals + 1;
        } else if (found->metavar && i + 1 < c->argc &&
                   (found->metavar[0] != '[' || is_address(c->argv[i + 1]))) {
            text = c->argv[++i];
        } else if (found->metavar && found->metavar[0] != '[') {
            return app_bad(err, "%s: %s needs a value: %s", c->self->name, found->name,
                           found->metavar);
        }
        const int rc = take_value(found, text, err);
        if (rc < 0) {
            return rc;
        }
    }
    c->argc = kept;
    return PONS_OK;
}

int cli_modes(const char *text, uint32_t *ret, pons_error *err)
{
    char words[256];
    char *save = NULL;
    uint32_t modes = 0;
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words) {
        return app_bad(err, "--stream: that is too long");
    }
    for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        const uint32_t mode = pons_stream_mode(word);
        if (!mode) {
            return app_bad(err,
                           "--stream takes values, updates, messages, custom, tasks, checkpoints, "
                           "debug, or several with commas, not '%s'",
                           word);
        }
        modes |= mode;
    }
    if (!modes) {
        return app_bad(err, "--stream takes a mode, as updates or values,messages");
    }
    *ret = modes;
    return PONS_OK;
}

int cli_value(const char *text, const char *option, pons_value **ret, pons_error *err)
{
    pons_autobuf all = PONS_BUF_INIT;
    const char *from = option;
    if (*text == '@' || strcmp(text, "-") == 0) {
        from = *text == '@' ? text + 1 : "standard input";
        FILE *f = *text == '@' ? pons_file_read(text + 1) : stdin;
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
            return app_bad(err, "%s: cannot read %s: %s", option, from, pons_file_why(errno));
        }
    } else {
        pons_buf_str(&all, text);
    }
    if (all.failed) { // what was read is not what was meant
        return pons_error_set(err, PONS_ENOMEM, "cli", "%s: no memory for %s", option, from);
    }
    if (all.len > VALUE_BYTES_MAX) {
        return app_bad(err, "%s: %s is longer than %d MB", option, from, VALUE_BYTES_MAX >> 20);
    }
    if (pons_value_parse(all.len ? all.data : "", all.len, ret, err) < 0) {
        return pons_error_context(err, "%s", from);
    }
    return PONS_OK;
}

int cli_word_or_json(const char *text, const char *option, pons_value **ret, pons_error *err)
{
    static const char *const literals[] = {"true", "false", "null"};
    bool json = *text && strchr("{[\"-0123456789@", *text) != NULL;
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        json = json || strcmp(text, literals[i]) == 0;
    }
    if (json) {
        return cli_value(text, option, ret, err);
    }
    *ret = json_string(text);
    return *ret ? PONS_OK : app_bad(err, "%s: it is not valid UTF-8", option);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral" // of strftime, checked at the call
const char *cli_moment(int64_t ms, char buf[CLI_MOMENT], const char *format)
{
    const time_t s = (time_t)(ms / 1000);
    struct tm local;
    buf[localtime_r(&s, &local) ? strftime(buf, CLI_MOMENT, format, &local) : 0] = '\0';
    return buf;
}

size_t cli_cut(const char *text, size_t most)
{
    const size_t n = strlen(text);
    return n > most ? pons__utf8_cut(text, most) : n;
}

int cli_words(const cli *c, int from, size_t most, pons_buf *ret, pons_error *err)
{
    pons_buf_str(ret, "");
    for (int i = from; i < c->argc; i++) {
        pons_buf_str(ret, i > from ? " " : "");
        pons_buf_str(ret, c->argv[i]);
    }
    if (ret->failed) {
        return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
    }
    if (ret->len <= most) {
        return PONS_OK;
    }
    return app_bad(err, "%s: '%.*s …' is longer than %zu bytes", c->self ? c->self->name : "pons",
                   (int)cli_cut(ret->data, 24), ret->data, most);
}

volatile sig_atomic_t cli_ended;

static void on_signal(int number)
{
    cli_ended = 1;
}

void cli_end_on_signals(int flags)
{
    const struct sigaction act = {.sa_handler = on_signal, .sa_flags = flags};
    cli_ended = 0;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

void cli_tell(const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    cli_err("pons: %-s\n", pons_error_line(err, line, sizeof line));
}
