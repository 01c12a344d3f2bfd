// cmd_pace.c - how fast the robot may be, from another terminal: a person's word to the body, which holds
// it and keeps it. No brain is needed for it; what a person says to one goes the same way (brain/tempo.c).
#include "cli/cli.h"
#include "pons/brain_pace.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/policy.h"

#include <string.h>

#define OBSERVE_TIMEOUT_MS 500

static int words_of(const cli *c, char *ret, size_t cap, pons_error *err)
{
    size_t used = 0;
    for (int i = 0; i < c->argc; i++) {
        used += (size_t)snprintf(ret + used, cap - used, "%s%s", i ? " " : "", c->argv[i]);
        if (used >= cap) {
            return cli_bad(err, "pace: that is longer than %zu bytes", cap - 1);
        }
    }
    return PONS_OK;
}

// What the words say, by the same policy as all that is said.
static int said_of(cli *c, const char *text, pons_value **ret, pons_error *err)
{
    pons_policy policy = {0};
    int rc = cli_policy(c, &policy, err);
    if (rc < 0) {
        return rc;
    }
    pons_error none = PONS_ERROR_INIT;
    char whole[320];
    snprintf(whole, sizeof whole, "set the speed to %s", text); // here "30 %" can be nothing else
    rc = policy.ops->pace(policy.self, text, ret, &none);
    rc = rc < 0 ? policy.ops->pace(policy.self, whole, ret, &none) : rc;
    pons_rules_close(&policy);
    if (rc < 0 || pons_get(*ret, "rest") || pons_get(*ret, "before")) {
        return cli_bad(err,
                       "pace takes slower, faster, normal speed, half speed, 30 %% or 0.2 m/s; "
                       "not \"%.60s\"",
                       text);
    }
    return PONS_OK;
}

static void show(cli *c, int64_t percent, double top_mps)
{
    if (c->json) {
        pons_autovalue out = pons_object(
            "type", json_string("pace"), "percent", json_integer(percent), "speed_max_mps",
            top_mps > 0.0 ? json_real(top_mps * (double)percent / 100.0) : NULL, NULL);
        cli_print_json(out);
    } else if (top_mps > 0.0) {
        cli_out("%lld %% of its speed: at most %.2f m/s%s\n", (long long)percent,
                top_mps * (double)percent / 100.0,
                percent < 100 ? ", until somebody says otherwise" : "");
    } else {
        cli_out("%lld %% of its speed\n", (long long)percent);
    }
}

int cmd_pace(cli *c, pons_error *err)
{
    char text[256] = "";
    pons_autovalue said = NULL;
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    int rc = cli_parse(c, NULL, err);
    rc = rc < 0 ? rc : words_of(c, text, sizeof text, err);
    rc = rc < 0 || !*text ? rc : said_of(c, text, &said, err);
    rc = rc < 0 ? rc : cli_workspace(c, false, err);
    if (rc < 0) {
        return rc;
    }
    cli_observe(c, OBSERVE_TIMEOUT_MS, &hello, &telemetry);
    const int64_t now = pons_get_int(telemetry, "pace_percent", 0);
    const double top = pons_get_num(pons_get(hello, "limits"), "speed_max_mps", 0.0);
    if (now <= 0) {
        return telemetry ? cli_lacks(err, "this body cannot be told how fast to be")
                         : cli_lacks(err, "no body answers here (`pons body`, or `pons run`)");
    }
    if (!said) {
        show(c, now, top);
        return PONS_OK;
    }
    int64_t percent = now;
    pons_error why = PONS_ERROR_INIT;
    if (pons_pace_wanted(said, now, top, &percent, &why) < 0) {
        return cli_bad(err, "%s", why.message);
    }
    const pons_message ask = {.type = PONS_MESSAGE_PACE,
                              .as.pace = {.percent = percent, .from = now}};
    rc = cli_ask_body(c, &ask, err);
    if (rc >= 0) {
        show(c, percent, top);
    }
    return rc;
}
