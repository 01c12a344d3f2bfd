// clock.c - the real clock, and one that a test moves by hand.
#include "pons/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t clock_ns(clockid_t id)
{
    struct timespec ts = {0};
    clock_gettime(id, &ts); // cannot fail for the clocks named here
    return (int64_t)ts.tv_sec * PONS_NS_PER_S + ts.tv_nsec;
}

static int64_t real_now_ns(void *ctx)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int64_t real_wall_ms(void *ctx)
{
    return clock_ns(CLOCK_REALTIME) / PONS_NS_PER_MS;
}

static int64_t real_boot_ns(void *ctx)
{
    return clock_ns(CLOCK_BOOTTIME);
}

pons_clock pons_clock_real(void)
{
    return (pons_clock){real_now_ns, real_wall_ms, real_boot_ns, NULL};
}

static int64_t manual_now_ns(void *ctx)
{
    return ((const pons_clock_manual *)ctx)->now_ns;
}

static int64_t manual_wall_ms(void *ctx)
{
    const pons_clock_manual *m = ctx;
    return m->wall_epoch_ms + m->now_ns / PONS_NS_PER_MS;
}

pons_clock pons_clock_from_manual(pons_clock_manual *m)
{
    return (pons_clock){manual_now_ns, manual_wall_ms, manual_now_ns, m};
}

void pons_utc_text(int64_t wall_ms, char ret[PONS_UTC_TEXT])
{
    struct tm tm;
    const time_t s = (time_t)(wall_ms / 1000);
    if (!gmtime_r(&s, &tm) || strftime(ret, PONS_UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        ret[0] = '\0';
    }
}

const char *pons_age_text(double age_s, bool chinese, char ret[PONS_AGE_TEXT])
{
    static const struct {
        double seconds;
        const char *en, *zh;
    } units[] = {
        {86400.0, "days", "天"}, {3600.0, "h", "小时"}, {60.0, "min", "分钟"}, {1.0, "s", "秒"}};
    size_t u = 0;
    while (u < 3 && age_s < 2.0 * units[u].seconds) {
        u++;
    }
    if (age_s < 5.0) {
        snprintf(ret, PONS_AGE_TEXT, "%s", chinese ? "就在刚才" : "just now");
    } else {
        const char *unit = chinese ? units[u].zh : units[u].en;
        snprintf(ret, PONS_AGE_TEXT, chinese ? "%.0f %s前" : "%.0f %s ago",
                 age_s / units[u].seconds, unit);
    }
    return ret;
}
