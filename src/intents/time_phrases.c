// time_phrases.c - the time in what a person says: "every day at 9 go to the kitchen", "每天九点去厨房".
//
// A time stands before the wish or behind it, and says either when the wish is to be done or how often:
//
//     day      every day · daily · every monday and friday · on weekdays · every evening
//              today · tonight · tomorrow morning · on monday · next monday · on february 28 · 2027-02-28
//              每天 · 每晚 · 每周一三五 · 工作日 · 周末 · 今晚 · 明早 · 后天 · 周一 · 下周一 · 2月28日
//     clock    at 9 · at 9:30 pm · half past 9 · at noon · at 9 and 17        九点 · 9点半 · 下午三点一刻 · 21:30
//     span     in 10 minutes · in a week · every 2 hours                      十分钟后 · 每隔两小时 · 每半小时
//
// It becomes a schedule as pons/schedule.h reads it, which knows which days there are. A clock alone is the next one that
// shows so: hours are those of 24 unless am, pm, 上午, 下午 or a part of the day says otherwise. What is no time is left
// to be a wish: "wait 10 minutes" has none. Nor has a sentence with two times that one schedule cannot hold: better none than
// the first of them.
#include "intents/intent_file.h"
#include "pons/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NOBODY = -1,
    WEEK = 127,
    WORKDAYS = 62,
    WEEKEND = 65,
    NOON_H = 12,
    DAY_H = 24,
    WEEK_S = 604800
};

typedef enum part { ANY_PART = 0, MORNING, AFTERNOON, EVENING, NIGHT } part; // of a day

typedef struct said_time {
    bool repeats, has_days; // a day was said
    unsigned days;          // of a week that repeats, a bit each, Sunday first
    char day[16]; // the one day, as a schedule writes it: "+1", "mon", "next-mon", "02-28"
    part part;
    bool has_clock, has_half; // has_half: it was said which half of the day
    int h, m;
    unsigned hours; // with h and others of the same minute, a bit each; 0: h alone
    double span_s;  // > 0: so long from now, or so often
} said_time;

// ---- words --------------------------------------------------------------------------------------

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const char *skip(const char *at)
{
    for (;;) {
        at += strspn(at, " \t,;");
        const size_t wide =
            strncmp(at, "，", 3) == 0 || strncmp(at, "、", 3) == 0 || strncmp(at, "　", 3) == 0 ? 3
                                                                                                : 0;
        if (!wide) {
            return at;
        }
        at += wide;
    }
}

// The word here, small or capital; of Latin letters the whole one.
static bool eat(const char **at, const char *word)
{
    const char *from = *at + strspn(*at, " \t");
    const size_t n = strlen(word);
    if (strncasecmp(from, word, n) != 0 || (letter(word[n - 1]) && letter(from[n]))) {
        return false;
    }
    *at = from + n;
    return true;
}

static const char *const nearly[] = {
    "about", "around", "roughly", "approximately", "exactly", "大概", "差不多", "大约", "约", NULL};

static int eat_one(const char **at, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (eat(at, words[i])) {
            return i;
        }
    }
    return NOBODY;
}

// 0 to 99 in digits, or as Chinese writes it: 九, 十二, 二十, 两, 三十五.
static bool digit_zh(const char **at, int *ret)
{
    static const char *const digits[] = {"零", "一", "二", "三", "四", "五", "六",
                                         "七", "八", "九", "两", "〇", NULL};
    const int d = eat_one(at, digits);
    *ret = d == 10 ? 2 : d == 11 ? 0 : d;
    return d >= 0;
}

// "Seven", "fifteen", "twenty-five", "half an", "a quarter of an".
static bool number_en(const char **at, double *ret)
{
    static const char *const small[] = {"one",     "two",       "three",    "four",     "five",
                                        "six",     "seven",     "eight",    "nine",     "ten",
                                        "eleven",  "twelve",    "thirteen", "fourteen", "fifteen",
                                        "sixteen", "seventeen", "eighteen", "nineteen", NULL};
    static const char *const many[] = {"twenty", "thirty", "forty", "fifty", NULL};
    static const char *const parts[] = {
        "half an", "half a", "a quarter of an", "three quarters of an", "an", "a", NULL};
    static const double worth[] = {0.5, 0.5, 0.25, 0.75, 1, 1};
    const int which = eat_one(at, parts), tens = which < 0 ? eat_one(at, many) : NOBODY;
    if (which >= 0) {
        *ret = worth[which];
        return true;
    }
    const char *from = *at + (tens >= 0 && **at == '-');
    const int word = eat_one(&from, small);
    const bool ones = word >= 0 && (tens < 0 || word < 9);
    if (ones) {
        *at = from;
    }
    *ret = (tens >= 0 ? (tens + 2) * 10 : 0) + (ones ? word + 1 : 0);
    return tens >= 0 || ones;
}

static bool eat_number(const char **at, double *ret)
{
    const char *from = *at + strspn(*at, " \t");
    int d = 0, tens = 0, more = 0;
    if (*from >= '0' && *from <= '9') {
        char *end = NULL;
        *ret = strtod(from, &end);
        if (from[0] == '0' && (from[1] == 'x' || from[1] == 'X')) {
            return false;
        }
        *at = end;
        return *ret < 1e6;
    }
    if (number_en(&from, ret)) {
        *at = from;
        return true;
    }
    const bool has = digit_zh(&from, &tens);
    if (eat(&from, "十")) {
        digit_zh(&from, &d);
        if (digit_zh(&from, &more)) { // 十二三
            return false;
        }
        *ret = (has ? tens : 1) * 10 + (d > 0 ? d : 0);
        *at = from;
        return true;
    }
    if (!has) {
        return false;
    }
    if (digit_zh(&from, &d)) { // 零五; but 两三 is some number between
        if (tens > 0 && d > 0) {
            return false;
        }
        tens = tens * 10 + d;
    }
    *ret = tens;
    *at = from;
    return true;
}

static bool unit(const char **at, double n, double *ret)
{
    static const char *const units[] = {"seconds", "second", "secs",  "sec",  "minutes", "minute",
                                        "mins",    "min",    "hours", "hour", "days",    "day",
                                        "秒钟",    "秒",     "分钟",  "分",   "小时",    "钟头",
                                        "天",      "weeks",  "week",  "星期", "周",      NULL};
    static const double each[] = {1,    1,    1,     1,      60,     60,     60,    60,
                                  3600, 3600, 86400, 86400,  1,      1,      60,    60,
                                  3600, 3600, 86400, WEEK_S, WEEK_S, WEEK_S, WEEK_S};
    eat(at, "个");
    double more = 0.0;
    if (eat(at, "半")) { // 一个半小时
        more = 0.5;
    }
    const int which = eat_one(at, units);
    if (which < 0) {
        return false;
    }
    *ret = (n + more) * each[which];
    return *ret > 0;
}

// ---- clocks -------------------------------------------------------------------------------------

// 七点二十, 三点零五: minutes without a word behind them, which are no amount: not 七点二十米. One digit (三点五) says too little.
static bool bare_minutes(const char *number, const char *from, double n)
{
    static const char *const amounts[] = {"秒", "小时", "米", "公", "厘", "度", "个", "圈", "次",
                                          "遍", "天",   "点", "倍", "号", "月", "日", NULL};
    const char *text = number;
    if (n < 10 && !eat(&text, "零") && !eat(&text, "0")) {
        return false;
    }
    return eat_one(&from, amounts) < 0 && !letter(*from) && *from != '.' && *from != '%';
}

static bool eat_minutes(const char **at, int *m)
{
    double n = 0.0;
    const char *from = *at;
    if (eat(&from, "半")) {
        *m = 30;
    } else if (eat(&from, "一刻")) {
        *m = 15;
    } else if (eat(&from, "三刻")) {
        *m = 45;
    } else if (eat_number(&from, &n) && n >= 0 && n < 60 && n == (int)n &&
               (eat(&from, "分") || bare_minutes(*at, from, n))) {
        *m = (int)n;
        if (strncmp(from, "钟", 3) == 0) { // 九点十分钟 is no clock
            return false;
        }
    } else {
        return false;
    }
    *at = from;
    return true;
}

static bool on_clock(said_time *t, double h, int m, int half)
{
    if (h < 0 || h > DAY_H || h != (int)h || m < 0 || m > 59 ||
        (half >= 0 && (h < 1 || h > NOON_H))) {
        return false;
    }
    t->h = (int)h;
    if (half == 0) {
        t->h %= NOON_H;
    } else if (half == 1) {
        t->h = t->h % NOON_H + NOON_H;
    }
    t->m = m;
    t->has_clock = true;
    t->has_half = half >= 0;
    return t->h < DAY_H || (t->h == DAY_H && m == 0);
}

static bool colon(const char **at, int *m)
{
    const char *from = *at;
    const size_t n = *from == ':' ? 1 : strncmp(from, "：", 3) == 0 ? 3 : 0;
    if (!n || from[n] < '0' || from[n] > '9' || from[n + 1] < '0' || from[n + 1] > '9' ||
        (from[n + 2] >= '0' && from[n + 2] <= '9')) {
        return false;
    }
    *m = (from[n] - '0') * 10 + from[n + 1] - '0';
    *at = from + n + 2;
    return *m < 60;
}

// " past six", " to seven" behind the minutes *h, which becomes the hour.
static bool past_en(const char **from, double *h, int *m)
{
    const char *at = *from;
    const double minutes = *h;
    const bool to = eat(&at, "to");
    double hour = 0.0;
    if ((!to && !eat(&at, "past")) || !eat_number(&at, &hour) || hour < 1 || hour > NOON_H ||
        minutes < 1 || minutes > 59 || minutes != (int)minutes || letter(*at)) {
        return false;
    }
    *m = to ? 60 - (int)minutes : (int)minutes;
    *h = hour - to;
    *h = *h < 1 ? NOON_H : *h;
    *from = at;
    return true;
}

// " fifteen" behind "six": two digits' worth of minutes, and no amount of anything.
static bool minutes_en(const char **from, int *m)
{
    const char *at = *from;
    double n = 0.0, amount = 0.0;
    if (!number_en(&at, &n) || n < 10 || unit(&at, n, &amount)) {
        return false;
    }
    *m = (int)n;
    *from = at;
    return true;
}

// "9", "9:30", "six fifteen", "quarter past 9".
static bool hour_en(const char **from, double *h, int *m, bool *exact)
{
    static const char *const quarters[] = {"half past",  "quarter past", "a quarter past",
                                           "quarter to", "a quarter to", NULL};
    static const int minutes[] = {30, 15, 15, 45, 45};
    const int quarter = eat_one(from, quarters);
    if (!eat_number(from, h)) {
        return false;
    }
    if (quarter < 0 && past_en(from, h, m)) {
        *exact = true;
        return true;
    }
    if (quarter < 0) {
        *exact = colon(from, m) || minutes_en(from, m);
        return true;
    }
    *exact = true;
    *m = minutes[quarter];
    if (quarter >= 3) {
        *h = *h > 1 ? *h - 1 : NOON_H;
    }
    return true;
}

// 0: before noon, 1: after it, or NOBODY.
static int half_en(const char **from)
{
    static const char *const halves[] = {"am", "pm", "a.m.", "p.m.", NULL};
    static const char *const parts[] = {"in the morning", "in the afternoon", "in the evening",
                                        "at night", NULL};
    const int half = eat_one(from, halves);
    if (half >= 0) {
        return half % 2;
    }
    const int in = eat_one(from, parts);
    return in > 0 ? 1 : in;
}

// "at 9", "at 9:30 pm", "at noon"; sure: without `at` only what can be nothing but a clock.
static bool clock_en(const char **at, said_time *t)
{
    const char *from = *at;
    double h = 0.0;
    int m = 0;
    const bool has_at = eat(&from, "at");
    if (has_at) {
        eat_one(&from, nearly);
    }
    if (eat(&from, "noon") || eat(&from, "midday")) {
        *at = from;
        return on_clock(t, NOON_H, 0, NOBODY);
    }
    if (has_at && eat(&from, "midnight")) {
        *at = from;
        return on_clock(t, 0, 0, NOBODY);
    }
    bool exact = false;
    if (!hour_en(&from, &h, &m, &exact)) {
        return false;
    }
    const int half = half_en(&from);
    const bool oclock = !exact && half < 0 && (eat(&from, "o'clock") || eat(&from, "o’clock"));
    const bool ends = !letter(*from) && *from != ':' && (unsigned char)*from < 0x80;
    if (!ends || (!has_at && !exact && half < 0 && !oclock) || !on_clock(t, h, m, half)) {
        return false;
    }
    *at = from;
    return true;
}

// ":30", "点半", "点10分".
static bool behind_hour_zh(const char **from, int of_day, int *m)
{
    if (colon(from, m)) {
        return of_day >= 0; // otherwise it is clock_en's
    }
    if (eat(from, "点钟")) {
        return true;
    }
    if (!eat(from, "点") && !eat(from, "时")) {
        return false;
    }
    eat_minutes(from, m);
    eat(from, "整");
    return strncmp(*from, "点", 3) != 0 && strncmp(*from, "一点", 6) != 0; // 一点点: a little
}

// 差一刻, 差十分: how many minutes before the hour; 0: that is not said.
static int minutes_before(const char **from)
{
    const char *at = *from;
    double n = 15;
    if (!eat(&at, "差") || (!eat(&at, "一刻") && (!eat_number(&at, &n) || !eat(&at, "分"))) ||
        n < 1 || n > 59 || n != (int)n) {
        return 0;
    }
    *from = at;
    return (int)n;
}

// 九点, 三点半, 差一刻八点, 八点差十分.
static bool hour_zh(const char **from, int of_day, double *h, int *m)
{
    int before = minutes_before(from);
    if (!eat_number(from, h) || !behind_hour_zh(from, of_day, m)) {
        return false;
    }
    before = before ? before : minutes_before(from);
    if (before && (*m || *h < 1)) {
        return false;
    }
    if (before) {
        *h = *h > 1 ? *h - 1 : NOON_H;
        *m = 60 - before;
    }
    return true;
}

// "九点", "下午三点半", "晚上8:30", "21点10分".
static bool clock_zh(const char **at, said_time *t)
{
    static const char *const parts[] = {"凌晨", "早上", "早晨", "上午", "中午",
                                        "下午", "傍晚", "晚上", "夜里", NULL};
    const char *from = *at;
    double h = 0.0;
    int m = 0;
    eat(&from, "的");
    eat(&from, "在");
    eat_one(&from, nearly);
    const int of_day = eat_one(&from, parts);
    if (of_day == 4 && strncmp(from, "十", 3) != 0 && (*from < '0' || *from > '9') &&
        strncmp(from, "一点", 6) != 0) { // 中午 alone
        *at = from;
        return on_clock(t, NOON_H, 0, NOBODY);
    }
    if (!hour_zh(&from, of_day, &h, &m)) {
        return false;
    }
    const bool late = of_day >= 5 || (of_day == 4 && h < 10);
    int half = NOBODY;
    if (of_day == 7 && h == NOON_H) { // 晚上十二点 is when the next day begins
        h = DAY_H;
    } else if (of_day >= 0 && h >= 1 && h <= NOON_H && (late || of_day != 4)) {
        half = late;
    }
    if (!on_clock(t, h, m, half)) {
        return false;
    }
    *at = from;
    return true;
}

static bool clock_here(const char **at, said_time *t)
{
    const char *from = skip(*at);
    const char *en = from;
    if (clock_zh(&from, t)) {
        static const char *const about[] = {"左右", "前后", "的时候", "那会儿", "钟左右", NULL};
        while (eat_one(&from, about) >= 0) {
        }
        *at = from;
        return true;
    }
    if (clock_en(&en, t)) {
        *at = en;
        return true;
    }
    return false;
}

// ---- days and spans -----------------------------------------------------------------------------

static bool span(const char **at, double *ret)
{
    double n = 0.0;
    if (eat(at, "半个") || eat(at, "半")) {
        n = 0.5;
    } else if (!eat_number(at, &n)) {
        return false;
    }
    return unit(at, n, ret);
}

// Of "on", only what is said of all of them: on mondays.
static int weekday_en(const char **at, bool on)
{
    static const char *const days[] = {"sundays",   "mondays", "tuesdays",  "wednesdays",
                                       "thursdays", "fridays", "saturdays", NULL};
    static const char *const one[] = {"sunday",   "monday", "tuesday",  "wednesday",
                                      "thursday", "friday", "saturday", NULL};
    const int day = eat_one(at, days);
    return day < 0 && !on ? eat_one(at, one) : day;
}

static bool weekdays_zh(const char **at, unsigned *ret)
{
    static const char *const days[] = {"日", "一", "二", "三", "四", "五", "六", "天", NULL};
    const char *from = *at;
    for (;;) {
        const int day = eat_one(&from, days);
        if (day < 0) {
            return *ret != 0;
        }
        *ret |= 1U << (day == 7 ? 0 : day);
        *at = from;
        eat(&from, "、");
        eat(&from, "和");
        if (!eat(&from, "周")) {
            eat(&from, "星期");
        }
    }
}

static bool eat_part(const char **at, part *ret)
{
    static const char *const parts[] = {"morning", "afternoon", "evening", "night", NULL};
    const int which = eat_one(at, parts);
    *ret = which < 0 ? *ret : (part)(which + 1);
    return which >= 0;
}

static bool days_en(const char **at, said_time *t)
{
    static const char *const work[] = {"weekdays", "weekday", "working day", "workdays", NULL},
                             *const weekend[] = {"weekends", "weekend", NULL};
    const char *from = *at;
    const bool every = eat(&from, "every") || eat(&from, "each"), on = !every && eat(&from, "on");
    if (!every && !on && (eat(&from, "daily") || eat(&from, "everyday"))) {
        t->days = WEEK;
    } else if (every && (eat(&from, "day") || eat_part(&from, &t->part))) {
        t->days = WEEK;
    } else if ((every || on) && eat_one(&from, work) >= 0) {
        t->days = WORKDAYS;
    } else if ((every || on) && eat_one(&from, weekend) >= 0) {
        t->days = WEEKEND;
    } else if (every || on) {
        for (int day; (day = weekday_en(&from, on)) >= 0;) {
            t->days |= 1U << day;
            *at = from;
            from = skip(from);
            eat(&from, "and");
        }
        from = *at;
    }
    if (!t->days) {
        return false;
    }
    *at = from;
    t->repeats = t->has_days = true;
    return true;
}

static bool days_zh(const char **at, said_time *t)
{
    static const char *const daily[] = {"天天", "日日", NULL}, *const day[] = {"天", "日", NULL},
                             *const evening[] = {"晚上", "晚", NULL},
                             *const morning[] = {"早上", "早", NULL},
                             *const work[] = {"工作日", "周一到周五", "周一至周五", NULL},
                             *const week[] = {"周", "星期", "礼拜", NULL};
    const char *from = *at;
    const bool every = eat(&from, "每");
    eat(&from, "个");
    if (eat_one(&from, every ? day : daily) >= 0) {
        t->days = WEEK;
    } else if (every && eat_one(&from, evening) >= 0) {
        t->days = WEEK;
        t->part = EVENING;
    } else if (every && eat_one(&from, morning) >= 0) {
        t->days = WEEK;
        t->part = MORNING;
    } else if (eat_one(&from, work) >= 0) {
        t->days = WORKDAYS;
    } else if (every && eat(&from, "周末")) {
        t->days = WEEKEND;
    } else if (every && eat_one(&from, week) >= 0) {
        if (!weekdays_zh(&from, &t->days)) {
            return false;
        }
    }
    if (!t->days) {
        return false;
    }
    *at = from;
    t->repeats = t->has_days = true;
    return true;
}

// "february 28th", "28th of feb", "2月28日". *which: of the months' list.
static bool month_day(const char **from, int *which, double *day)
{
    static const char *const months[] = {
        "january", "february", "march",    "april", "may", "june", "july", "august", "september",
        "october", "november", "december", "jan",   "feb", "mar",  "apr",  "may",    "jun",
        "jul",     "aug",      "sep",      "oct",   "nov", "dec",  NULL};
    static const char *const ends[] = {"st", "nd", "rd", "th", NULL};
    *which = eat_one(from, months);
    if (*which >= 0) {
        eat(from, "the");
        if (!eat_number(from, day)) {
            return false;
        }
        eat_one(from, ends);
        return true;
    }
    if (!eat_number(from, day)) {
        return false;
    }
    if (eat(from, "月")) {
        *which = (int)*day - 1;
        return eat_number(from, day) && (eat(from, "日") || eat(from, "号"));
    }
    eat_one(from, ends);
    eat(from, "of");
    *which = eat_one(from, months);
    return true;
}

// "on february 28", "28 feb", "2027-02-28", "2月28日".
static bool date(const char **at, said_time *t)
{
    const char *from = *at;
    double day = 0.0;
    int y = 0, mon = 0, d = 0, n = 0;
    eat(&from, "on");
    from += strspn(from, " \t");
    if (sscanf(from, "%4d-%2d-%2d%n", &y, &mon, &d, &n) == 3 && n >= 8 && y >= 1970 && mon > 0 &&
        d > 0 && !letter(from[n]) && from[n] != '-') {
        snprintf(t->day, sizeof t->day, "%04d-%02d-%02d", y % 10000, mon % 100, d % 100);
        *at = from + n;
        return true;
    }
    eat(&from, "the");
    int which;
    if (!month_day(&from, &which, &day)) {
        return false;
    }
    if (which < 0 || which >= 24 || day != (int)day || day < 1 || day > 31 || letter(*from) ||
        *from == ':') {
        return false;
    }
    snprintf(t->day, sizeof t->day, "%02d-%02d", which % 12 + 1, (int)day);
    *at = from;
    return true;
}

// "on monday", "next monday", 周一, 下周一: one day of a week.
static bool weekday(const char **at, said_time *t)
{
    static const char *const names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"};
    static const char *const zh[] = {"日", "一", "二", "三", "四", "五", "六", "天", NULL};
    static const char *const weeks[] = {"周", "星期", "礼拜", NULL};
    const char *from = *at;
    const bool on = eat(&from, "on"),
               following = !on && (eat(&from, "next") || eat(&from, "下个") || eat(&from, "下"));
    int day = NOBODY;
    if (!on && !following && !eat(&from, "this") && !eat(&from, "这个") && !eat(&from, "这")) {
        eat(&from, "本");
    }
    if (eat_one(&from, weeks) >= 0) {
        day = eat_one(&from, zh);
        const char *more = from;
        if (day >= 0 &&
            (eat(&more, "、") || eat(&more, "和") || eat(&more, "到") || eat(&more, "至"))) {
            return false; // several
        }
    } else {
        day = weekday_en(&from, false);
    }
    if (day < 0) {
        return false;
    }
    snprintf(t->day, sizeof t->day, "%s%s", following ? "next-" : "", names[day]);
    *at = from;
    return true;
}

static bool one_day(const char **at, said_time *t)
{
    static const char *const days[] = {"the day after tomorrow",
                                       "today",
                                       "今天",
                                       "tomorrow",
                                       "明天",
                                       "大后天",
                                       "后天",
                                       "tonight",
                                       "this morning",
                                       "this afternoon",
                                       "this evening",
                                       "今晚",
                                       "今早",
                                       "明晚",
                                       "明早",
                                       NULL};
    static const int ahead[] = {2, 0, 0, 1, 1, 3, 2, 0, 0, 0, 0, 0, 0, 1, 1};
    static const part parts[] = {ANY_PART, ANY_PART, ANY_PART, ANY_PART, ANY_PART,
                                 ANY_PART, ANY_PART, NIGHT,    MORNING,  AFTERNOON,
                                 EVENING,  EVENING,  MORNING,  EVENING,  MORNING};
    const int day = eat_one(at, days);
    if (day >= 0) {
        snprintf(t->day, sizeof t->day, "+%d", ahead[day]);
        t->part = parts[day];
        if (t->part == ANY_PART) {
            eat_part(at, &t->part);
        } else if (t->part == EVENING || t->part == MORNING) {
            eat(at, "上");
        }
    } else if (!weekday(at, t) && !date(at, t)) {
        return false;
    }
    t->has_days = true;
    return true;
}

// "every 2 hours", "每隔十分钟".
static bool often(const char **at, said_time *t)
{
    const char *from = *at;
    double s = 0.0;
    const bool zh = eat(&from, "每隔") || eat(&from, "每");
    if (!zh && !eat(&from, "every")) {
        return false;
    }
    const char *bare = from; // every hour, 每小时
    if (!span(&from, &s)) {
        from = bare;
        if (!unit(&from, 1, &s)) {
            return false;
        }
    }
    if (zh && s >= WEEK_S) { // 每周 is before a day
        return false;
    }
    t->span_s = s;
    t->repeats = true;
    *at = from;
    return true;
}

// "in 10 minutes", "十分钟后".
static bool later(const char **at, said_time *t)
{
    static const char *const after[] = {"以后", "之后", "过后", "后", NULL};
    const char *from = *at;
    if (eat(&from, "in") && (eat_one(&from, nearly), span(&from, &t->span_s))) {
        *at = from;
        return true;
    }
    from = *at;
    const bool past = eat(&from, "过"); // 过十分钟
    if (span(&from, &t->span_s) && (eat_one(&from, after) >= 0 || past)) {
        *at = from;
        return true;
    }
    t->span_s = 0;
    return false;
}

// ---- the whole ----------------------------------------------------------------------------------

// The clock of a part of a day: "tonight at 8" is 20:00. false: nobody knows which is meant ("tonight at 2").
static bool in_its_part(said_time *t)
{
    if (t->part == ANY_PART || t->has_half || t->h > NOON_H) {
        return true;
    }
    if (t->part == MORNING) {
        return t->h < NOON_H;
    }
    if (t->part == NIGHT && t->h < 5) {
        return false;
    }
    t->h = t->h < NOON_H ? t->h + NOON_H : t->part == AFTERNOON ? NOON_H : DAY_H;
    return t->h != DAY_H || t->m == 0;
}

// "At 9 and 17", 九点和十七点: more hours of the same minute. false: what stands there is no such time.
static bool other_clocks(const char **at, said_time *t)
{
    static const char *const joins[] = {"and", "or", "和", "、", NULL};
    const char *from = *at;
    t->hours = 0;
    for (;;) {
        const char *next = from;
        double h = 0.0;
        next += strspn(next, " \t");
        const bool comma = *next == ',';
        next += comma;
        if (eat_one(&next, joins) < 0 && !comma) {
            *at = from;
            return true;
        }
        const char *bare = next;
        if (eat(&bare, "at")) {
            next = bare;
        }
        bare = next;
        if (!eat_number(&bare, &h)) { // "at 9 and then …"
            *at = from;
            return true;
        }
        said_time other = {.part = t->part};
        if (!clock_here(&next, &other)) {
            next = bare;
            double span_s = 0.0;
            if (letter(*next) || unit(&bare, 1, &span_s) || (unsigned char)*next >= 0x80 ||
                !on_clock(&other, h, t->m, NOBODY)) {
                return false;
            }
        }
        if (!t->repeats || !in_its_part(&other) || other.m != t->m || other.h >= DAY_H ||
            t->h >= DAY_H) {
            return false;
        }
        t->hours |= 1U << t->h | 1U << other.h;
        from = next;
    }
}

// A time that begins here.
static bool time_here(const char **at, said_time *t)
{
    const char *from = skip(*at);
    *t = (said_time){0};
    if (days_en(&from, t) || days_zh(&from, t) || one_day(&from, t)) {
        const char *behind = from;
        if (clock_here(&behind, t) && in_its_part(t) && other_clocks(&behind, t)) {
            *at = behind;
            return true;
        }
        return false; // a day alone says no time
    }
    if (often(&from, t) || later(&from, t)) {
        *at = from;
        return true;
    }
    if (clock_here(&from, t)) { // and a day behind it: "at 9 every day", "at 9 tomorrow"
        const char *behind = skip(from);
        if (days_en(&behind, t) || one_day(&behind, t)) {
            from = behind;
        }
        if (!in_its_part(t) || !other_clocks(&from, t)) {
            return false;
        }
        *at = from;
        return true;
    }
    return false;
}

static void write_hours(const said_time *t, char *ret, size_t cap)
{
    size_t used = 0;
    const unsigned hours = t->hours ? t->hours : 1U << (t->h % DAY_H);
    for (int h = 0; h < DAY_H; h++) {
        if (hours >> h & 1 && used < cap) {
            used += (size_t)snprintf(ret + used, cap - used, "%s%d", used ? "," : "", h);
        }
    }
}

static void write_schedule(const said_time *t, char *ret, size_t cap)
{
    char hours[80] = "";
    write_hours(t, hours, sizeof hours);
    if (t->span_s > 0) {
        snprintf(ret, cap, "%s %.0fs", t->repeats ? "every" : "in", t->span_s);
    } else if (!t->repeats && t->has_days) {
        snprintf(ret, cap, "at %s %02d:%02d", t->day, t->h, t->m);
    } else if (!t->repeats) {
        snprintf(ret, cap, "at %02d:%02d", t->h % DAY_H, t->m);
    } else if (t->days == WEEK) {
        snprintf(ret, cap, "%d %s * * *", t->m, hours);
    } else {
        // The night of a day ends when the next one has begun.
        const unsigned days = t->h == DAY_H ? (t->days << 1 | t->days >> 6) & WEEK : t->days;
        size_t used = (size_t)snprintf(ret, cap, "%d %s * * ", t->m, hours);
        bool any = false;
        for (int day = 0; day < 7; day++) {
            if (days >> day & 1 && used < cap) {
                used += (size_t)snprintf(ret + used, cap - used, "%s%d", any ? "," : "", day);
                any = true;
            }
        }
    }
}

// What is to be said may end with a time, and what is quoted is not read: "say dinner is at 9".
static bool speaks(const char *text)
{
    static const char *const words[] = {"say", "tell", "speak", "announce", NULL};
    const char *at = text;
    return eat_one(&at, words) >= 0 || strchr(text, '"') != NULL;
}

// The wish without what politeness and punctuation leave at its ends.
static pons_value *wish(const char *from, size_t n)
{
    const char *begin = skip(from);
    const size_t cut = (size_t)(begin - from);
    n = cut > n ? 0 : n - cut;
    while (n > 0 && strchr(" \t,;.!", begin[n - 1])) {
        n--;
    }
    while (n >= 3 &&
           (strncmp(begin + n - 3, "，", 3) == 0 || strncmp(begin + n - 3, "。", 3) == 0)) {
        n -= 3;
    }
    return n ? json_stringn(begin, n) : NULL;
}

// Where a time may stand, too: "please at nine …", 麻烦八点…
static const char *behind_fillers(const pons__rules *rules, const char *text)
{
    for (bool more = true; more;) {
        const pons__words *words = &rules->base->leading;
        const char *from = skip(text);
        more = false;
        for (size_t i = 0; i < words->n && !more; i++) {
            more = eat(&from, words->v[i]);
        }
        text = more ? from : text;
    }
    return text;
}

int pons__policy_when(void *self, const char *text, pons_value **ret, pons_error *err)
{
    said_time t;
    char schedule[PONS_SCHEDULE_TEXT_MAX];
    const char *begin = behind_fillers(self, text), *after = text;
    pons_value *rest = NULL;
    if (time_here(&after, &t)) {
        rest = wish(after, strlen(after));
    } else if (begin != text && time_here((after = begin, &after), &t)) {
        rest = json_sprintf("%.*s%s", (int)(begin - text), text, skip(after));
    } else {
        const char *at = speaks(text) ? "" : text;
        for (; !rest && (at = strchr(at, ' ')); at++) { // or behind it
            const char *end = at + 1;
            if (time_here(&end, &t) && skip(end)[strspn(skip(end), ".! ")] == '\0') {
                rest = wish(text, (size_t)(at - text));
            }
        }
    }
    if (!rest) {
        return pons__watch_said(text, ret, err);
    }
    write_schedule(&t, schedule, sizeof schedule);
    *ret = pons_object("schedule", json_string(schedule), "text", rest, NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for a time");
}
