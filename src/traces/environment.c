// environment.c - where traces go, by the names that OpenTelemetry has for it.
#include "pons/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// name=value,name=value
static int headers_of(const char *text, place *p, pons_error *err)
{
    size_t n = 0;
    while (text && *text) {
        const size_t len = strcspn(text, ",");
        const size_t name = strcspn(text, "=,");
        if (n == HEADERS_MAX || len >= LINE_MAX_BYTES - 2 || name == len) {
            return pons_error_set(
                err, PONS_EINVAL, "traces",
                "OTEL_EXPORTER_OTLP_HEADERS is name=value,… (%d of them at most), "
                "not '%.*s'",
                HEADERS_MAX, (int)(len < 60 ? name : 60), text);
        }
        snprintf(p->lines[n], LINE_MAX_BYTES, "%.*s: %.*s", (int)name, text, (int)(len - name - 1),
                 text + name + 1);
        p->headers[n] = p->lines[n];
        n++;
        text += len + (text[len] == ',');
    }
    return PONS_OK;
}

int pons_traces_from_environment(pons_traces **ret, pons_error *err)
{
    const char *own = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *all = set("OTEL_EXPORTER_OTLP_ENDPOINT"), *off = set("OTEL_SDK_DISABLED");
    *ret = NULL;
    if ((!own && !all) || (off && strcmp(off, "true") == 0)) {
        return PONS_OK;
    }
    place *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, "traces", "no memory for traces");
    }
    const bool slash = !own && all[strlen(all) - 1] == '/';
    snprintf(p->url, sizeof p->url, "%s%s", own ? own : all,
             own     ? ""
             : slash ? "v1/traces"
                     : "/v1/traces");
    int rc = headers_of(set("OTEL_EXPORTER_OTLP_HEADERS"), p, err);
    if (rc >= 0) {
        rc = pons_traces_open(&(pons_traces_options){.clock = pons_clock_real(),
                                                     .url = p->url,
                                                     .headers = p->headers,
                                                     .service = set("OTEL_SERVICE_NAME")},
                              ret, err);
    }
    free(p);
    return rc;
}
