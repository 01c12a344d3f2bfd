// cmd_pace.c - how fast the robot may be, from another terminal: a person's word to the body, which holds
// it and keeps it. No brain is needed for it; what a person says to one goes the same way (brain/body_link/speed_request.c).
#include "app/operator/speed_command.h"
#include "cli/cli.h"
#include "pons/rule_policy.h"

#include <poll.h>

#define WORDS_BYTES_MAX 255

// What the words say, by the same policy as all that is said.
static int said_of(cli *c, const char *text, pons_value **ret, pons_error *err)
{
    pons_policy policy = {0};
    int rc = app_policy(&c->app, &policy, err);
    if (rc < 0) {
        return rc;
    }
    rc = app_pace_of(&policy, text, true, ret, err);
    pons_rules_close(&policy);
    if (rc == PONS_ENOTFOUND || (rc >= 0 && (pons_get(*ret, "rest") || pons_get(*ret, "before")))) {
        *err = (pons_error)PONS_ERROR_INIT;
        return app_bad(err,
                       "pace takes slower, faster, normal speed, half speed, 30 %% or 0.2 m/s; "
                       "not \"%.60s\"",
                       text);
    }
    return rc;
}

int cmd_pace(cli *c, pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_autovalue said = NULL;
    app_pace p = {0};
    int rc = cli_parse(c, NULL, err);
    rc = rc < 0 ? rc : cli_words(c, 0, WORDS_BYTES_MAX, &text, err);
    rc = rc < 0 || text.len == 0 ? rc : said_of(c, text.data, &said, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_pace_begin(&c->app, said, &p, err);
    if (rc < 0) {
        return rc;
    }
    const pons_clock clock = pons_clock_real();
    while ((rc = app_pace_step(&p, err)) == 0) {
        struct pollfd fd = {.fd = pons_link_fd(p.link), .events = POLLIN};
        poll(&fd, 1, (int)(p.until_ms - pons_now_ms(&clock)));
    }
    if (rc > 0 && c->json) {
        pons_autovalue row = app_pace_row(&p);
        cli_print_json(row);
    } else if (rc > 0) {
        char line[128];
        app_pace_line(&p, line, sizeof line);
        cli_out("%s\n", line);
    }
    app_pace_end(&p);
    return rc < 0 ? rc : PONS_OK;
}
