// speed_command.c - a person's word about how fast, past the brain to the body, which holds it and keeps it.
//
//     connect --hello--> hello, telemetry: what is in force --pace--> ok, or error: why not
//
// "Slower" is slower than what is in force, so that is heard first, from the same body.
#include "app/operator/speed_command.h"

#include "pons/brain_pace.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <string.h>

enum { HELLO_MS = 2000, ANSWER_MS = 4000 }; // the body gives the disk two seconds

int app_pace_of(const pons_policy *policy, const char *text, bool asked, pons_value **ret,
                pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    char whole[320];
    snprintf(whole, sizeof whole, "set the speed to %s", text);
    int rc = policy->ops->pace ? policy->ops->pace(policy->self, text, ret, &none) : PONS_ENOTFOUND;
    if (rc < 0 && asked && policy->ops->pace) {
        rc = policy->ops->pace(policy->self, whole, ret, &none);
    }
    return rc < 0 ? pons_error_set(err, PONS_ENOTFOUND, "", "no pace") : PONS_OK;
}

int app_pace_begin(const app_context *c, const pons_value *said, app_pace *p, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const pons_message hello = {.type = PONS_MESSAGE_HELLO,
                                .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "pons"}};
    *p = (app_pace){.said = pons_value_ref(said), .until_ms = pons_now_ms(&clock) + HELLO_MS};
    int rc = app_body_link(c, &p->link, err);
    rc = rc < 0 ? rc : pons_message_send(p->link, &hello, err);
    if (rc < 0) {
        app_pace_end(p);
        *err = (pons_error)PONS_ERROR_INIT;
        return app_lacks(err, "no body answers here (`pons body`, or `pons run`)");
    }
    return PONS_OK;
}

static int ask(app_pace *p, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_error why = PONS_ERROR_INIT;
    int64_t percent = p->percent;
    if (pons_pace_wanted(p->said, p->percent, p->top_mps, &percent, &why) < 0) {
        return app_bad(err, "%s", why.message);
    }
    const pons_message wanted = {.type = PONS_MESSAGE_PACE,
                                 .as.pace = {.percent = percent, .from = p->percent}};
    p->percent = percent;
    p->asked = true;
    p->until_ms = pons_now_ms(&clock) + ANSWER_MS;
    return pons_message_send(p->link, &wanted, err);
}

// 1: over.
static int received(app_pace *p, const pons_value *msg, pons_error *err)
{
    pons_report r = {.type = PONS_REPORT_NONE};
    int rc = 0;
    if (pons_report_decode(msg, &r, NULL) != PONS_OK) {
        rc = 0;
    } else if (r.type == PONS_REPORT_HELLO) {
        p->top_mps = pons_get_num(pons_get(msg, "limits"), "speed_max_mps", 0.0);
    } else if (r.type == PONS_REPORT_TELEMETRY && !p->asked) {
        p->percent = pons_get_int(msg, "pace_percent", 0);
        rc = p->percent <= 0 ? app_lacks(err, "this body cannot be told how fast to be")
             : p->said       ? ask(p, err)
                             : 1;
    } else if (r.type == PONS_REPORT_ERROR) {
        rc = app_lacks(err, "the body refuses: %s", r.as.error.message);
    } else if (r.type == PONS_REPORT_OK && p->asked) {
        rc = strcmp(r.as.ok.re, pons_message_word(PONS_MESSAGE_PACE)) == 0;
    }
    pons_report_clear(&r);
    return rc;
}

int app_pace_step(app_pace *p, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    for (;;) {
        pons_autovalue msg = NULL;
        int rc = pons_link_recv(p->link, &msg, err);
        if (rc == 0) {
            break;
        }
        rc = rc < 0 ? rc : received(p, msg, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (pons_now_ms(&clock) < p->until_ms) {
        return 0;
    }
    return p->asked ? app_lacks(err, "the body did not answer the pace")
                    : app_lacks(err, "no body answers here (`pons body`, or `pons run`)");
}

void app_pace_end(app_pace *p)
{
    pons_link_close(p->link);
    pons_value_unref(p->said);
    p->link = NULL;
    p->said = NULL;
}

void app_pace_line(const app_pace *p, char *ret, size_t cap)
{
    if (p->top_mps > 0.0) {
        snprintf(ret, cap, "%lld %% of its speed: at most %.2f m/s%s", (long long)p->percent,
                 p->top_mps * (double)p->percent / 100.0,
                 p->percent < 100 ? ", until somebody says otherwise" : "");
    } else {
        snprintf(ret, cap, "%lld %% of its speed", (long long)p->percent);
    }
}

pons_value *app_pace_row(const app_pace *p)
{
    return pons_object(
        "type", json_string("pace"), "percent", json_integer(p->percent), "speed_max_mps",
        p->top_mps > 0.0 ? json_real(p->top_mps * (double)p->percent / 100.0) : NULL, NULL);
}
