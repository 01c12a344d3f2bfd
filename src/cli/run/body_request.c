// body_request.c - something that the body is asked to do by a person, and its yes: a reset, a place.
#include "cli/cli.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <poll.h>
#include <string.h>

#define ANSWER_TIMEOUT_MS 4000 // the body gives the disk two seconds
#define LOOK_TIMEOUT_MS   1000

// The body's own yes; or why there is none.
static int await_ok(pons_link *link, const pons_message *what, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + ANSWER_TIMEOUT_MS;
    const char *word = pons_message_word(what->type);
    int rc = pons_message_send(link, what, err);
    while (rc >= 0 && pons_now_ms(&clock) < until) {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, err);
        if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
            poll(&p, 1, (int)(until - pons_now_ms(&clock)));
        }
        pons_report r = {.type = PONS_REPORT_NONE};
        const bool heard = rc > 0 && pons_report_decode(msg, &r, NULL) == PONS_OK;
        const bool done = heard && r.type == PONS_REPORT_OK && strcmp(r.as.ok.re, word) == 0;
        const bool refused = heard && r.type == PONS_REPORT_ERROR;
        if (refused) {
            rc = cli_lacks(err, "the body refuses: %s", r.as.error.message);
        }
        pons_report_clear(&r);
        if (done || refused) {
            return done ? PONS_OK : rc;
        }
    }
    return cli_lacks(err, "the body did not answer the %s", word);
}

static int reach(const cli *c, pons_link **ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    return pons_link_connect(path, ret, err) < 0 ? cli_unreached(err) : PONS_OK;
}

int cli_ask_body(cli *c, const pons_message *what, pons_error *err)
{
    pons_link *link = NULL;
    int rc = reach(c, &link, err);
    if (rc == PONS_OK) {
        rc = await_ok(link, what,
                      err); // without a hello: the body knows by the socket whose process this is
        pons_link_close(link);
    }
    return rc;
}

// It is meant for the stop that is in force now: one that comes while this is under way stays, and so does one of
// another body, for this one is asked on the link on which it was seen. A body that does not number its stops is asked
// without a number.
int cli_reset_body(cli *c, pons_error *err)
{
    pons_link *link = NULL;
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    int rc = reach(c, &link, err);
    if (rc < 0) {
        return rc;
    }
    cli_observe_on(link, LOOK_TIMEOUT_MS, &hello, &telemetry);
    const pons_value *stop = pons_get(telemetry, "stop");
    const pons_message reset = {.type = PONS_MESSAGE_RESET,
                                .as.reset = {.number = pons_get_int(stop, "number", 0)}};
    rc = stop ? await_ok(link, &reset, err)
              : cli_lacks(err, "the body does not say which stop is in force: nothing was lifted");
    pons_link_close(link);
    return rc;
}
