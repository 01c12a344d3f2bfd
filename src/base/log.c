// log.c - which modules may speak, and where their words go.
//
// The selection is a small table that is written once, before threads start, and only read
// afterwards. A program that never configures it gets the environment's on first use.
#include "pons/log.h"

#include "base/utf8.h"
#include "pons/printable.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RULES_MAX = 64,      // entries of a specification; more are ignored
    NAME_MAX_BYTES = 32, // of a module, with its zero
    MESSAGE_MAX = 2048   // bytes of a record, with its zero; longer ones are cut
};

typedef struct rule {
    char module[NAME_MAX_BYTES];
    bool shown;
} rule;

static struct {
    pthread_once_t once;
    bool configured;
    rule rules[RULES_MAX];
    int n_rules;
    bool all; // what a module without a rule does
    pons_log_sink sink;
    void *sink_user;
} state = {.once = PTHREAD_ONCE_INIT};

void pons_log_set_sink(pons_log_sink sink, void *user)
{
    state.sink = sink;
    state.sink_user = user;
}

static void add_rule(const char *name, size_t n)
{
    const bool shown = n == 0 || name[0] != '-';
    if (n > 0 && (name[0] == '-' || name[0] == '+')) {
        name++;
        n--;
    }
    if (n == 0 || n >= NAME_MAX_BYTES) {
        return;
    }
    if (n == strlen("all") && memcmp(name, "all", n) == 0) {
        state.all = shown;
        return;
    }
    if (state.n_rules == RULES_MAX) {
        return;
    }
    rule *r = &state.rules[state.n_rules++];
    memcpy(r->module, name, n);
    r->module[n] = '\0';
    r->shown = shown;
}

void pons_log_configure(const char *spec)
{
    if (!spec) {
        spec = getenv("PONS_LOG");
    }
    state.configured = true;
    state.n_rules = 0;
    state.all = false;
    if (!spec) {
        return;
    }
    while (*spec) {
        const size_t n = strcspn(spec, ", ");
        add_rule(spec, n);
        spec += n + (spec[n] != '\0');
    }
}

static void configure_once(void)
{
    if (!state.configured) {
        pons_log_configure(NULL);
    }
}

int pons_log_enabled(pons_log_level level, const char *module)
{
    pthread_once(&state.once, configure_once);
    for (int i = state.n_rules - 1; i >= 0; i--) { // the last word on a module counts
        if (strcmp(state.rules[i].module, module) == 0) {
            return state.rules[i].shown;
        }
    }
    return state.all || level >= PONS_LOG_WARN;
}

static void sink_stderr(void *user, const pons_log_record *r)
{
    static const char *const words[] = {"debug", "info", "warning", "error"};
    pons_autobuf line = PONS_BUF_INIT; // what libraries and models say may be in the message
    pons_plain(&line, r->message, SIZE_MAX, false);
    // One call, so that lines of several threads do not mix: stdio locks the stream for it.
    fprintf(stderr, "%s: %s: %s\n", r->module, words[r->level], line.data ? line.data : "");
}

void pons_log(pons_log_level level, const char *module, const char *fmt, ...)
{
    if (!pons_log_enabled(level, module)) {
        return;
    }
    char message[MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
    va_end(ap);
    const pons_log_record record = {level, module, message};
    if (state.sink) {
        state.sink(state.sink_user, &record);
    } else {
        sink_stderr(NULL, &record);
    }
}
