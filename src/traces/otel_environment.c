// otel_environment.c - where traces go, by the names that OpenTelemetry has for it.
//
// Such names are set for a whole machine, by whoever runs its collector; what is wrong with them is a line in
// the log and never the end of a run. What headers hold is often a key: no part of it is shown.
#include "pons/log.h"
#include "pons/traces.h"
#include "traces/otlp_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 16, URL_MAX = 1024, LINE_MAX_BYTES = 512 };

typedef struct place {
    char url[URL_MAX], lines[HEADERS_MAX][LINE_MAX_BYTES];
    const char *headers[HEADERS_MAX + 1];
} place;

static const char *set(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

// name=value,name=value, with %XX and blanks around them, as in W3C's baggage.
static size_t trimmed(const char **s, size_t n)
{
    while (n > 0 && (**s == ' ' || **s == '\t')) {
        (*s)++;
        n--;
    }
    while (n > 0 && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\t')) {
        n--;
    }
    return n;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Behind what is in ret; false: too long, or a byte that would end the header.
static bool decoded(char *ret, const char *s, size_t n)
{
    size_t used = strlen(ret);
    for (size_t i = 0; i < n; i++) {
        const bool coded = i + 2 < n && s[i] == '%' && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;
        const int c = coded ? hex(s[i + 1]) * 16 + hex(s[i + 2]) : (unsigned char)s[i];
        i += coded ? 2 : 0;
        if (used + 1 >= LINE_MAX_BYTES || (c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
        ret[used++] = (char)c;
        ret[used] = '\0';
    }
    return true;
}

static int headers_of(const char *name, place *p, pons_error *err)
{
    size_t n = 0;
    for (const char *text = set(name), *next; text && *text; text = next) {
        const size_t len = strcspn(text, ","), equals = strcspn(text, "=,");
        const char *key = text, *value = text + equals + 1;
        const size_t key_n = trimmed(&key, equals);
        next = text + len + (text[len] == ',');
        if (equals == len && key_n == 0) { // nothing between two commas
            continue;
        }
        const bool whole = equals < len && key_n > 0 && n < HEADERS_MAX;
        const size_t value_n = whole ? trimmed(&value, len - equals - 1) : 0;
        char *line = p->lines[whole ? n : 0];
        if (!whole || !decoded(line, key, key_n) || !decoded(line, ": ", 2) ||
            !decoded(line, value, value_n)) {
            return pons_error_set(err, PONS_EINVAL, PONS__TRACES,
                                  "%s is name=value,… (%d of them at most, of less than %d bytes); "
                                  "number %zu is not",
                                  name, HEADERS_MAX, LINE_MAX_BYTES, n + 1);
        }
        p->headers[n++] = line;
    }
    return PONS_OK;
}

int pons_traces_from_environment(pons_traces **ret, pons_error *err)
{
    const char *own = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *all = set("OTEL_EXPORTER_OTLP_ENDPOINT"), *off = set("OTEL_SDK_DISABLED");
    *ret = NULL;
    if ((!own && !all) || (off && strcasecmp(off, "true") == 0)) {
        return PONS_OK;
    }
    place *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TRACES, "no memory for traces");
    }
    const bool slash = !own && all[strlen(all) - 1] == '/';
    const char *behind = own ? "" : slash ? "v1/traces" : "/v1/traces";
    snprintf(p->url, sizeof p->url, "%s%s", own ? own : all, behind);
    static const char of_traces[] = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
    pons_error why = PONS_ERROR_INIT;
    int rc = headers_of(set(of_traces) ? of_traces : "OTEL_EXPORTER_OTLP_HEADERS", p, &why);
    if (rc >= 0) {
        rc = pons_traces_open(&(pons_traces_options){.clock = pons_clock_real(),
                                                     .url = p->url,
                                                     .headers = p->headers,
                                                     .service = set("OTEL_SERVICE_NAME")},
                              ret, &why);
    }
    free(p);
    if (rc < 0) {
        pons_log(PONS_LOG_WARN, PONS__TRACES, "no traces are sent: %s", why.message);
    }
    return PONS_OK;
}
