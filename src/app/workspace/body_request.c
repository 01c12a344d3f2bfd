// body_request.c - something that the body is asked to do by a person, and its yes: a reset, a place.
#include "app/workspace/context.h"
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
        const bool received = rc > 0 && pons_report_decode(msg, &r, NULL) == PONS_OK;
        const bool done = received && r.type == PONS_REPORT_OK && strcmp(r.as.ok.re, word) == 0;
        const bool refused = received && r.type == PONS_REPORT_ERROR;
        if (refused) {
            rc = app_lacks(err, "the body refuses: %s", r.as.error.message);
        }
        pons_report_clear(&r);
        if (done || refused) {
            return done ? PONS_OK : rc;
        }
    }
    return app_lacks(err, "the body did not answer the %s", word);
}

static int observe_on(pons_link *link, int timeout_ms, pons_value **ret_hello,
                      pons_value **ret_telemetry)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + timeout_ms;
    int rc = PONS_OK;
    *ret_hello = *ret_telemetry = NULL;
    pons_message_send(link,
                      &(pons_message){.type = PONS_MESSAGE_HELLO,
                                      .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "pons"}},
                      &err);
    while ((!*ret_hello || !*ret_telemetry) && pons_now_ms(&clock) < until) {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, &err);
        if (rc < 0) {
            break;
        }
        if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
            poll(&p, 1, (int)(until - pons_now_ms(&clock)));
            continue;
        }
        pons_report r;
        const bool good = pons_report_decode(msg, &r, NULL) == PONS_OK;
        pons_value **into = r.type == PONS_REPORT_HELLO       ? ret_hello
                            : r.type == PONS_REPORT_TELEMETRY ? ret_telemetry
                                                              : NULL;
        if (good && into && !*into) {
            *into = pons_value_ref(msg);
        }
        pons_report_clear(&r);
    }
    return *ret_hello && *ret_telemetry ? PONS_OK : PONS_EAGAIN;
}

int app_body_link(const app_context *c, pons_link **ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    return pons_link_connect(path, ret, err);
}

int app_observe(const app_context *c, int timeout_ms, pons_value **ret_hello,
                pons_value **ret_telemetry)
{
    pons_error err = PONS_ERROR_INIT;
    pons_link *link = NULL;
    *ret_hello = *ret_telemetry = NULL;
    int rc = app_body_link(c, &link, &err);
    if (rc < 0) {
        return rc;
    }
    rc = observe_on(link, timeout_ms, ret_hello, ret_telemetry);
    pons_link_close(link);
    return rc;
}

static int reach(const app_context *c, pons_link **ret, pons_error *err)
{
    return app_body_link(c, ret, err) < 0 ? app_unreached(err) : PONS_OK;
}

int app_ask_body(const app_context *c, const pons_message *what, pons_error *err)
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
int app_reset_body(const app_context *c, pons_error *err)
{
    pons_link *link = NULL;
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    int rc = reach(c, &link, err);
    if (rc < 0) {
        return rc;
    }
    observe_on(link, LOOK_TIMEOUT_MS, &hello, &telemetry);
    const pons_value *stop = pons_get(telemetry, "stop");
    const pons_message reset = {.type = PONS_MESSAGE_RESET,
                                .as.reset = {.number = pons_get_int(stop, "number", 0)}};
    rc = stop ? await_ok(link, &reset, err)
              : app_lacks(err, "the body does not say which stop is in force: nothing was lifted");
    pons_link_close(link);
    return rc;
}
