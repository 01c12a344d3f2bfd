// test_schedule.c - when something is due: fields, spans and days, in time zones whose clocks jump, and what is refused.
// Wanted times are those that people would read off a clock of the zone.
#include "pons/schedule.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BERLIN   "Europe/Berlin"
#define SHANGHAI "Asia/Shanghai"

static int64_t utc(const char *text) // "2026-11-22 21:22:35"
{
    struct tm tm = {0};
    assert_true(sscanf(text, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                       &tm.tm_min, &tm.tm_sec) >= 5);
    tm.tm_year -= 1900;
    tm.tm_mon--;
    return (int64_t)timegm(&tm) * 1000;
}

// What comes after a time (UTC), as UTC shows it; "never", or "bad".
static void due(const char *zone, const char *schedule, const char *after, const char *want)
{
    pons_schedule when;
    pons_zone *z = NULL;
    pons_error err = PONS_ERROR_INIT;
    char got[32] = "never";
    assert_int_equal(pons_zone_open(zone, &z, &err), PONS_OK);
    if (pons_schedule_read(schedule, utc(after), z, &when, &err) < 0) {
        assert_string_not_equal(err.message, "");
        snprintf(got, sizeof got, "bad");
    } else {
        const int64_t at = pons_schedule_next(&when, z, utc(after));
        assert_true(at == 0 || at > utc(after));
        if (at > 0) {
            char shown[32];
            pons_schedule_show(at, NULL, shown, sizeof shown);
            snprintf(got, sizeof got, "%s", shown + 4); // without the weekday
        }
    }
    pons_zone_close(z);
    if (strcmp(got, want) != 0) {
        print_error("%s, %s, after %s: %s, not %s\n", zone, schedule, after, got, want);
    }
    assert_string_equal(got, want);
}

static void fields(void **state)
{
    (void)state;
    due("UTC", "* * * * *", "2026-11-22 21:22:35", "2026-11-22 21:23");
    due("UTC", "*/15 * * * *", "2026-11-22 21:45:00", "2026-11-22 22:00");
    due("UTC", "0 8 * * mon-fri", "2026-11-20 08:00:00", "2026-11-23 08:00"); // a Friday
    due("UTC", "0 8 * * 7", "2026-11-20 08:00:00", "2026-11-22 08:00");
    due("UTC", "30 23 31 12 *", "2026-12-31 23:30:00", "2027-12-31 23:30");
    due("UTC", "0 0 29 2 *", "2026-03-01 00:00:00", "2028-02-29 00:00");
    due("UTC", "0 0 13 * fri", "2026-11-14 00:00:00", "2026-11-20 00:00"); // either will do
    due("UTC", "5,10-12 3 1 jan,jul *", "2026-07-01 03:10:59", "2026-07-01 03:11");
    due("UTC", "0 0 30 2 *", "2026-01-01 00:00:00", "never");
    static const char *const bad[] = {
        "60 * * * *", "* * * *", "* * * * * *", "*/0 * * * *", "5-1 * * * *",
        "1, * * * *", "",        "sometimes"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        due("UTC", bad[i], "2026-01-01 00:00:00", "bad");
    }
}

// Nine o'clock is nine o'clock for those who live there, in summer and in winter, also in years that no list of
// transitions has.
static void nine_o_clock_where_people_live(void **state)
{
    (void)state;
    due(SHANGHAI, "0 9 * * *", "2026-11-22 12:00:00", "2026-11-23 01:00");
    due(SHANGHAI, "0 9 * * mon", "2026-11-22 12:00:00", "2026-11-23 01:00");
    due(BERLIN, "0 9 * * *", "2026-11-22 12:00:00", "2026-11-23 08:00");
    due(BERLIN, "0 9 * * *", "2026-07-22 12:00:00", "2026-07-23 07:00");
    due(BERLIN, "0 9 * * *", "2071-07-22 12:00:00", "2071-07-23 07:00");
    due(BERLIN, "0 9 * * *", "2071-12-22 12:00:00", "2071-12-23 08:00");
    due("America/St_Johns", "0 9 * * *", "2026-11-22 20:00:00", "2026-11-23 12:30");
    due("Australia/Sydney", "0 9 * * *", "2070-01-01 00:00:00", "2070-01-01 22:00"); // summer there
    due("Asia/Kathmandu", "0 9 * * *", "2026-11-22 12:00:00", "2026-11-23 03:15");
}

// 2026-03-29: from 2:00 to 3:00 no clock of Berlin shows anything; 2026-10-25: 2:00 to 3:00 comes twice.
static void an_hour_that_is_skipped_and_one_that_comes_twice(void **state)
{
    (void)state;
    due(BERLIN, "30 2 * * *", "2026-03-28 12:00:00", "2026-03-29 01:30"); // 3:30 there
    due(BERLIN, "30 2 * * *", "2026-03-29 01:10:00", "2026-03-29 01:30"); // asked at 3:10
    due(BERLIN, "30 2 * * *", "2026-03-29 01:30:00", "2026-03-30 00:30");
    due("Australia/Lord_Howe", "15,40 2 * * *", "2026-10-03 15:35:00", // half an hour: 2:15 is 2:45
        "2026-10-03 15:40");
    due(BERLIN, "*/30 * * * *", "2026-03-29 00:30:00", "2026-03-29 01:00");
    due(BERLIN, "*/30 * * * *", "2026-03-29 01:00:00", "2026-03-29 01:30");
    due(BERLIN, "30 2 * * *", "2026-10-24 12:00:00", "2026-10-25 00:30"); // the first half past two
    due(BERLIN, "30 2 * * *", "2026-10-25 00:30:00", "2026-10-26 01:30"); // and not the second
    due(BERLIN, "30 2 * * *", "2026-10-25 01:10:00", "2026-10-26 01:30");
    due(BERLIN, "*/30 * * * *", "2026-10-25 00:30:00", "2026-10-25 02:00");
    due("Pacific/Apia", "0 9 30 12 *", "2011-12-28 00:00:00",
        "2011-12-30 19:00"); // a day that never was
}

static void once(void **state)
{
    (void)state;
    due(BERLIN, "at 9:00", "2026-11-22 07:00:00", "2026-11-22 08:00");
    due(BERLIN, "at 09:00", "2026-11-22 08:00:00", "2026-11-23 08:00"); // that one is over
    due(BERLIN, "at tomorrow 9:00", "2026-11-22 22:30:00", "2026-11-23 08:00");
    due(BERLIN, "at tomorrow 9:00", "2026-11-22 23:30:00",
        "2026-11-24 08:00"); // it is the 23rd there
    due(SHANGHAI, "at today 23:59", "2026-11-22 12:00:00", "2026-11-22 15:59");
    due(SHANGHAI, "at +2 8:00", "2026-11-22 12:00:00", "2026-11-24 00:00");
    due(SHANGHAI, "at 2027-01-31 9:00", "2026-11-22 12:00:00", "2027-01-31 01:00");
    due("UTC", "at mon 9:00", "2026-11-22 12:00:00", "2026-11-23 09:00"); // a Sunday
    due("UTC", "at sun 13:00", "2026-11-22 12:00:00", "2026-11-22 13:00");
    due("UTC", "at sun 12:00", "2026-11-22 12:00:00", "2026-11-29 12:00");
    due("UTC", "at next-mon 9:00", "2026-11-22 12:00:00", "2026-11-23 09:00");
    due("UTC", "at next-mon 9:00", "2026-11-23 08:00:00", "2026-11-30 09:00");
    due("UTC", "at next-sun 9:00", "2026-11-25 08:00:00", "2026-12-06 09:00");
    due(BERLIN, "at mon 0:30", "2026-11-22 23:20:00", "2026-11-22 23:30"); // it is Monday there
    due(BERLIN, "at sun 2:30", "2027-03-27 12:00:00", "2027-03-28 01:30"); // skipped that night
    due("UTC", "at 02-28 9:00", "2026-11-22 12:00:00", "2027-02-28 09:00");
    due("UTC", "at 11-22 13:00", "2026-11-22 12:00:00", "2026-11-22 13:00");
    due("UTC", "at 11-22 12:00", "2026-11-22 12:00:00", "2027-11-22 12:00");
    due("UTC", "at 02-29 9:00", "2026-11-22 12:00:00", "2028-02-29 09:00");
    due("UTC", "in 10m", "2026-11-22 12:00:00", "2026-11-22 12:10");
    due("UTC", "in 1.5h", "2026-11-22 12:00:00", "2026-11-22 13:30");
    static const char *const bad[] = {"at",
                                      "at ",
                                      "at 25:00",
                                      "at 9",
                                      "at 9:60",
                                      "at 24:01",
                                      "at yesterday 9:00",
                                      "at today 8:00",
                                      "at 2027-02-30 9:00",
                                      "at 02-30 9:00",
                                      "at 13-01 9:00",
                                      "at 00-10 9:00",
                                      "at moon 9:00",
                                      "at next-week 9:00",
                                      "at 2020-01-01 9:00",
                                      "at 9:00 sharp",
                                      "at -1 9:00",
                                      "in",
                                      "in ",
                                      "in 10y",
                                      "in -5m",
                                      "in nan",
                                      "in inf",
                                      "in 1e30d",
                                      "in 0",
                                      "at 99999-01-01 9:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        due("UTC", bad[i], "2026-11-22 12:00:00", "bad");
    }
}

static void every_so_often(void **state)
{
    (void)state;
    due("UTC", "every 90m", "2026-11-22 12:00:30", "2026-11-22 13:30");
    due("UTC", "every 59s", "2026-11-22 12:00:00", "bad");
    due("UTC", "every", "2026-11-22 12:00:00", "bad");
    pons_schedule s;
    pons_error err = PONS_ERROR_INIT;
    const int64_t made = utc("2026-11-22 12:00:00");
    assert_int_equal(pons_schedule_read("every 7m", made, NULL, &s, &err), PONS_OK);
    assert_int_equal(pons_schedule_next(&s, NULL, made + 7 * 60000), made + 14 * 60000);
    assert_int_equal(pons_schedule_next(&s, NULL, made + 7 * 60000 * 1000 + 5),
                     made + 7 * 60000 * 1001);
    assert_int_equal(pons_schedule_next(&s, NULL, made - 86400000),
                     made + 7 * 60000); // a clock went back
}

static void zones_that_there_are_not(void **state)
{
    (void)state;
    static const char *const bad[] = {"Europe/Atlantis", "../../../etc/passwd", "/etc/passwd",
                                      "Europe", "Europe/Berlin\nx"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_zone *z = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_zone_open(bad[i], &z, &err), PONS_EINVAL);
        assert_null(z);
    }
    setenv("TZ", "XYZ-3:30XSU,J60/1,J300/2", 1); // a rule of one's own: summer is an hour more
    pons_zone *z = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_zone_open(NULL, &z, &err), PONS_OK);
    assert_int_equal(pons_zone_offset_s(z, utc("2026-01-01 00:00") / 1000), 12600);
    assert_int_equal(pons_zone_offset_s(z, utc("2026-02-28 21:29") / 1000), 12600);
    assert_int_equal(pons_zone_offset_s(z, utc("2026-02-28 21:31") / 1000),
                     16200); // 1st of March, 1:00
    assert_int_equal(pons_zone_offset_s(z, utc("2028-02-29 21:29") / 1000), 12600); // leap or not
    assert_int_equal(pons_zone_offset_s(z, utc("2028-02-29 21:31") / 1000), 16200);
    pons_zone_close(z);
    unsetenv("TZ");
}

// Cut short at each byte, and with each byte changed: refused or read, and never more than the file.
static void a_broken_file(void **state)
{
    (void)state;
    static unsigned char all[8192], other[8192];
    FILE *f = fopen("/usr/share/zoneinfo/" BERLIN, "rb");
    assert_non_null(f);
    const size_t n = fread(all, 1, sizeof all, f);
    fclose(f);
    for (size_t i = 0; i <= n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_zone *z = NULL;
        unsigned char *cut = malloc(i + 1);
        memcpy(cut, all, i);
        if (pons_zone_read(cut, i, &z, &err) >= 0) {
            pons_zone_offset_s(z, INT64_C(1) << 40);
        }
        assert_true(i < n || z);
        pons_zone_close(z);
        free(cut);
    }
    for (size_t i = 0; i < n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_zone *z = NULL;
        memcpy(other, all, n);
        other[i] ^= 0xff;
        if (pons_zone_read(other, n, &z, &err) >= 0) {
            pons_zone_offset_s(z, 0);
            pons_zone_close(z);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),
        cmocka_unit_test(nine_o_clock_where_people_live),
        cmocka_unit_test(an_hour_that_is_skipped_and_one_that_comes_twice),
        cmocka_unit_test(once),
        cmocka_unit_test(every_so_often),
        cmocka_unit_test(zones_that_there_are_not),
        cmocka_unit_test(a_broken_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
