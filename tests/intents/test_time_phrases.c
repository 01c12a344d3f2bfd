// test_time_phrases.c - the time in what a person says, in English and in Chinese: which schedule it is, and what is left to do.
// What has no time is left alone.
#include "llm/llm_fixture.h"
#include "pons/rule_policy.h"
#include "pons/schedule.h"
#include "unit.h"

#include <string.h>

static pons_policy policy;

static int open_policy(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue none = fixture_intents();
    const int rc = pons_rules_open(none, &policy, &err);
    return rc < 0 ? rc : 0;
}

static int close_policy(void **state)
{
    (void)state;
    pons_rules_close(&policy);
    return 0;
}

static void said(const char *text, const char *schedule, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue got = NULL;
    const int rc = policy.ops->when(policy.self, text, &got, &err);
    if (rc < 0 ? schedule != NULL
               : !schedule || strcmp(pons_get_str(got, "schedule", ""), schedule)) {
        print_error("%s: %s, not %s\n", text, pons_get_str(got, "schedule", "none"),
                    schedule ? schedule : "none");
    }
    if (!schedule) {
        assert_int_equal(rc, PONS_ENOTFOUND);
        assert_null(got);
        return;
    }
    assert_int_equal(rc, PONS_OK);
    assert_string_equal(pons_get_str(got, "schedule", ""), schedule);
    assert_string_equal(pons_get_str(got, "text", ""), rest);
    pons_schedule read; // and it is one
    assert_int_equal(pons_schedule_read(schedule, 1795306560000, NULL, &read, &err), PONS_OK);
}

static void english(void **state)
{
    (void)state;
    const char *k = "go to the kitchen";
    said("every day at 9 go to the kitchen", "0 9 * * *", k);
    said("Every day at 9:05, go to the kitchen.", "5 9 * * *", k);
    said("go to the kitchen every day at 9", "0 9 * * *", k);
    said("go to the kitchen at 9 every day.", "0 9 * * *", k);
    said("daily at noon go to the kitchen", "0 12 * * *", k);
    said("every day at 12 am go to the kitchen", "0 0 * * *", k);
    said("every day at 12:30 pm go to the kitchen", "30 12 * * *", k);
    said("on weekdays at 8:30pm go to the kitchen", "30 20 * * 1,2,3,4,5", k);
    said("every weekend at midnight go to the kitchen", "0 0 * * 0,6", k);
    said("every monday and friday at 17:45 go to the kitchen", "45 17 * * 1,5", k);
    said("on sundays at 9 o'clock go to the kitchen", "0 9 * * 0", k);
    said("tomorrow at 9 go to the kitchen", "at +1 09:00", k);
    said("go to the kitchen tomorrow at 9am", "at +1 09:00", k);
    said("at 9 tomorrow go to the kitchen", "at +1 09:00", k);
    said("today at 18:00 go to the kitchen", "at +0 18:00", k);
    said("at 9 go to the kitchen", "at 09:00", k);
    said("go to the kitchen at 9:15", "at 09:15", k);
    said("tonight at 8 go to the kitchen", "at +0 20:00", k);
    said("go to the kitchen at 8 tonight", "at +0 20:00", k);
    said("tonight at 8:30 pm go to the kitchen", "at +0 20:30", k);
    said("this afternoon at 3 go to the kitchen", "at +0 15:00", k);
    said("tomorrow morning at 8 go to the kitchen", "at +1 08:00", k);
    said("tomorrow evening at 20:15 go to the kitchen", "at +1 20:15", k);
    said("the day after tomorrow at 9 go to the kitchen", "at +2 09:00", k);
    said("every evening at 8 go to the kitchen", "0 20 * * *", k);
    said("every morning at 8 go to the kitchen", "0 8 * * *", k);
    said("at 8 in the evening go to the kitchen", "at 20:00", k);
    said("every day at 9 and 17 go to the kitchen", "0 9,17 * * *", k);
    said("every day at 9, at 12 and 17 go to the kitchen", "0 9,12,17 * * *", k);
    said("every day at 9:30 am and 5:30 pm go to the kitchen", "30 9,17 * * *", k);
    said("go to the kitchen every monday at 9 and 12", "0 9,12 * * 1", k);
    said("every day at 9 and then go to the kitchen", "0 9 * * *", "and then go to the kitchen");
    said("at half past 9 go to the kitchen", "at 09:30", k);
    said("go to the kitchen at quarter to ten", "at 09:45", k);
    said("on monday at 9 go to the kitchen", "at mon 09:00", k);
    said("go to the kitchen on Friday at 9", "at fri 09:00", k);
    said("next monday at 9 go to the kitchen", "at next-mon 09:00", k);
    said("on february 28 at 9 go to the kitchen", "at 02-28 09:00", k);
    said("go to the kitchen on the 3rd of march at 9 pm", "at 03-03 21:00", k);
    said("on 2027-02-28 at 9 go to the kitchen", "at 2027-02-28 09:00", k);
    said("in a week go to the kitchen", "in 604800s", k);
    said("in 10 minutes go to the kitchen", "in 600s", k);
    said("go to the kitchen in half an hour", "in 1800s", k);
    said("in an hour, go to the kitchen", "in 3600s", k);
    said("every 2 hours go to the kitchen", "every 7200s", k);
    said("go to the kitchen every hour", "every 3600s", k);
    said("every minute go to the kitchen", "every 60s", k);
}

static void chinese(void **state)
{
    (void)state;
    const char *k = "去厨房";
    said("每天九点去厨房", "0 9 * * *", k);
    said("每天9点半去厨房", "30 9 * * *", k);
    said("每天早上九点，去厨房。", "0 9 * * *", k);
    said("每天晚上8:30去厨房", "30 20 * * *", k);
    said("每天下午三点一刻去厨房", "15 15 * * *", k);
    said("每日中午去厨房", "0 12 * * *", k);
    said("每天中午一点去厨房", "0 13 * * *", k);
    said("每天二十一点十分去厨房", "10 21 * * *", k);
    said("每周一三五九点去厨房", "0 9 * * 1,3,5", k);
    said("每周日早上十点去厨房", "0 10 * * 0", k);
    said("每星期二和周四晚上七点去厨房", "0 19 * * 2,4", k);
    said("工作日早上八点去厨房", "0 8 * * 1,2,3,4,5", k);
    said("每个周末上午十点零五分去厨房", "5 10 * * 0,6", k);
    said("明天九点去厨房", "at +1 09:00", k);
    said("后天下午2点去厨房", "at +2 14:00", k);
    said("今天晚上十二点去厨房", "at +0 24:00", k);
    said("每周六晚上十二点去厨房", "0 0 * * 0", k); // the night of Saturday ends on Sunday
    said("九点去厨房", "at 09:00", k);
    said("今晚八点去厨房", "at +0 20:00", k);
    said("明早八点去厨房", "at +1 08:00", k);
    said("明晚8点半去厨房", "at +1 20:30", k);
    said("明天早上八点去厨房", "at +1 08:00", k);
    said("大后天九点去厨房", "at +3 09:00", k);
    said("每晚八点去厨房", "0 20 * * *", k);
    said("每天九点和十七点去厨房", "0 9,17 * * *", k);
    said("每天九点、十二点去厨房", "0 9,12 * * *", k);
    said("周一九点去厨房", "at mon 09:00", k);
    said("星期天晚上八点去厨房", "at sun 20:00", k);
    said("下周一九点去厨房", "at next-mon 09:00", k);
    said("2月28日九点去厨房", "at 02-28 09:00", k);
    said("二月二十八号九点去厨房", "at 02-28 09:00", k);
    said("一周后去厨房", "in 604800s", k);
    said("十分钟后去厨房", "in 600s", k);
    said("半小时后去厨房", "in 1800s", k);
    said("一个半小时之后去厨房", "in 5400s", k);
    said("两个小时后去厨房", "in 7200s", k);
    said("每隔两小时去厨房", "every 7200s", k);
    said("每小时去厨房", "every 3600s", k);
    said("每半小时去厨房", "every 1800s", k);
}

static void no_time_at_all(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "go to the kitchen",
        "wait 10 minutes",
        "等十分钟",
        "去厨房等5秒",
        "stop",
        "停",
        "every day go to the kitchen", // when?
        "tomorrow go to the kitchen",
        "每天去厨房",
        "every day at 9", // what?
        "每天九点",
        "at 9",
        "at 25 go to the kitchen",
        "at 9:60 go to the kitchen",
        "every day at 13 pm go to the kitchen",
        "go to room 9",
        "patrol the kitchen and 9",
        "say dinner is at 9",
        "tell them it begins at 9:30",
        "say \"be here at 9\"",
        "慢一点",
        "一点点往前走",
        "every elephant at 9 dance",
        "一二三",
        "每",
        "every",
        "in",
        "at",
        "go to the kitchen at 9 or at 10 or so",
        "at 9 and 10 go to the kitchen", // two times of one
        "every day at 9 and 17:30 go to the kitchen",
        "every day at 9 and 10 minutes later go to the kitchen",
        "tonight at 2 go to the kitchen", // which night's?
        "every morning at 12 go to the kitchen",
        "on monday go to the kitchen",
        "on the 45th of march at 9 go to the kitchen",
        "march to the kitchen",
        "周一、三九点去厨房",
        "每周九点去厨房",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        said(texts[i], NULL, NULL);
    }
}

// No text leads past its end: each of these cut short at every byte.
static void cut_short(void **state)
{
    (void)state;
    static const char *const texts[] = {"every monday and friday at 17:45 go to the kitchen",
                                        "每星期二和周四晚上七点三刻去厨房", "in half an hour go",
                                        "一个半小时之后去厨房", "at 9 o’clock：，、"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t n = strlen(texts[i]) + 1; n-- > 0;) {
            pons_error err = PONS_ERROR_INIT;
            pons_autovalue got = NULL;
            char *cut = strndup(texts[i], n);
            policy.ops->when(policy.self, cut, &got, &err);
            free(cut);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english),
        cmocka_unit_test(chinese),
        cmocka_unit_test(no_time_at_all),
        cmocka_unit_test(cut_short),
    };
    return cmocka_run_group_tests(tests, open_policy, close_policy);
}
