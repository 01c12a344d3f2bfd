// yaml_events.c - libfyaml, asked for one event after the other; nothing of it reaches stderr.
#include "base/yaml/yaml_events.h"

#include "pons/error.h"

static void swallow(struct fy_diag *diag, void *user, const char *buf, size_t len)
{
}

static int read_events(const pons__yaml_reader *r, struct fy_parser *parser, struct fy_diag *diag)
{
    int rc = PONS_OK;
    bool ended = false;
    while (rc == PONS_OK && !ended) {
        struct fy_event *ev = fy_parser_parse(parser);
        if (!ev) {
            break;
        }
        ended = ev->type == FYET_STREAM_END;
        rc = r->take(r->user, ev);
        fy_parser_event_free(parser, ev);
    }
    if (rc != PONS_OK || (ended && !fy_parser_get_stream_error(parser))) {
        return rc;
    }
    void *prev = NULL;
    const struct fy_diag_error *e = fy_diag_errors_iterate(diag, &prev);
    const bool said = e && e->msg;
    return r->refuse(r->user, said && e->line > 0 ? (uint32_t)e->line : 1,
                     said && e->column > 0 ? (uint32_t)e->column : 1, said ? e->msg : "not YAML");
}

// ---- public functions ---------------------------------------------------------------------------

int pons__yaml_events(const char *text, size_t len, const pons__yaml_reader *r)
{
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.output_fn = swallow;
    diag_cfg.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parser *parser = NULL;
    if (diag) {
        fy_diag_set_collect_errors(diag, true);
        const struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                                  FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE |
                                                  FYPCF_DISABLE_DEPTH_LIMIT,
                                         .diag = diag};
        parser = fy_parser_create(&cfg);
    }
    const bool set = parser && fy_parser_set_string(parser, text, len) == 0;
    const int rc = set ? read_events(r, parser, diag) : PONS_ENOMEM;
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return rc;
}

pons__span pons__yaml_text(struct fy_token *token)
{
    size_t len = 0;
    const char *s = token ? fy_token_get_text(token, &len) : NULL;
    return s ? (pons__span){s, len} : (pons__span){"", 0};
}

bool pons__yaml_quoted(const struct fy_event *ev)
{
    if (ev->type != FYET_SCALAR || !ev->scalar.value) {
        return false;
    }
    const enum fy_scalar_style style = fy_token_scalar_style(ev->scalar.value);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}
