// time_zone.c - time zones: what clocks of a place show.
//
//     TZif file (tzfile(5))                          rule, as POSIX has it for $TZ
//     transitions: from this second on, that type    CET-1CEST,M3.5.0,M10.5.0/3
//     types:       so many seconds east of UTC       for all that is later than the last transition
//
// The C library knows one zone a process, $TZ, which threads cannot change; here each zone is a value. A file's
// first part is for old readers and is left when there is a second, which has times of 64 bits.
#include "pons/file.h"
#include "pons/out_of_memory.h"
#include "pons/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 44,
    COUNTS = 20,
    FILE_MAX = 1 << 20,
    RULE_MAX = 256,
    S_PER_H = 3600,
    S_PER_DAY = 86400,
    OFFSET_MAX_S = 26 * S_PER_H // farther from UTC nobody is
};

typedef struct
    change {  // a day of each year, and the second of it by the clock that was shown until then
    char how; // 'M', 'J', 'N' (days from 0 on), 0: none
    int month, week, day;
    int32_t at_s;
} change;

typedef struct rule {
    bool known, has_summer;
    int32_t offset_s, summer_s; // east of UTC
    change begins, ends;        // summer
} rule;

struct pons_zone {
    size_t n;
    int64_t *from;     // (n) Unix s, rising
    int32_t *offset_s; // (n) from there on
    int32_t first_s;   // before the first
    rule then;         // after the last
};

// ---- numbers of a file --------------------------------------------------------------------------

static uint32_t u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t i64(const unsigned char *at)
{
    return (int64_t)((uint64_t)u32(at) << 32 | u32(at + 4));
}

// ---- the rule -----------------------------------------------------------------------------------

static bool name(const char **at)
{
    const char *p = *at;
    const bool quoted = *p == '<';
    p += quoted;
    const char *from = p;
    while (quoted ? *p && *p != '>' : (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')) {
        p++;
    }
    const bool good = p - from >= 3 && (!quoted || *p == '>');
    *at = p + (quoted && *p == '>');
    return good;
}

static bool number(const char **at, int most, int *ret)
{
    char *end = NULL;
    if (**at < '0' || **at > '9') {
        return false;
    }
    const long n = strtol(*at, &end, 10);
    *at = end;
    *ret = (int)n;
    return n >= 0 && n <= most;
}

// [+-]h[h][:mm[:ss]] in seconds.
static bool clock_s(const char **at, int hours_most, int32_t *ret)
{
    const int sign = **at == '-' ? -1 : 1;
    int h = 0, m = 0, s = 0;
    *at += **at == '-' || **at == '+';
    bool good = number(at, hours_most, &h);
    if (good && **at == ':') {
        (*at)++;
        good = number(at, 59, &m);
    }
    if (good && **at == ':') {
        (*at)++;
        good = number(at, 59, &s);
    }
    *ret = good ? sign * (h * S_PER_H + m * 60 + s)
                : 0; // what is no number of hours may be beyond all
    return good;
}

static bool read_change(const char **at, change *c)
{
    bool good = **at == ',';
    *at += good;
    *c = (change){.how = **at == 'M' || **at == 'J' ? **at : 'N', .at_s = 2 * S_PER_H};
    *at += c->how != 'N';
    if (c->how == 'M') {
        good = good && number(at, 12, &c->month) && c->month > 0 && *(*at)++ == '.' &&
               number(at, 5, &c->week) && c->week > 0 && *(*at)++ == '.' && number(at, 6, &c->day);
    } else {
        good = good && number(at, 365, &c->day) && (c->how == 'N' || c->day > 0);
    }
    if (good && **at == '/') {
        (*at)++;
        good = clock_s(at, 167, &c->at_s);
    }
    return good;
}

static bool read_rule(const char *text, rule *r)
{
    const char *at = text;
    *r = (rule){.known = true};
    if (!name(&at) || !clock_s(&at, 24, &r->offset_s)) {
        return false;
    }
    r->offset_s = -r->offset_s; // POSIX counts west
    if (!*at) {
        return true;
    }
    r->has_summer = true;
    r->summer_s = r->offset_s + S_PER_H;
    if (!name(&at)) {
        return false;
    }
    if (*at && *at != ',') {
        if (!clock_s(&at, 24, &r->summer_s)) {
            return false;
        }
        r->summer_s = -r->summer_s;
    }
    const char *changes = *at ? at : ",M3.2.0,M11.1.0"; // as POSIX leaves it to be chosen
    return read_change(&changes, &r->begins) && read_change(&changes, &r->ends) && !*changes;
}

static int64_t day_of(int64_t year, int month, int day) // since 1970-01-01
{
    const int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400, m = (month + 9) % 12;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 -
           719468;
}

static bool leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

// When clocks that are `offset_s` east of UTC show what the change says.
static int64_t change_s(const change *c, int64_t year, int32_t offset_s)
{
    int64_t day = day_of(year, 1, 1) + c->day;
    if (c->how == 'J') { // the 29th of February is never counted
        day -= 1 - (leap(year) && c->day >= 60);
    } else if (c->how == 'M') {
        const int64_t first = day_of(year, c->month, 1);
        const int64_t next =
            c->month == 12 ? day_of(year + 1, 1, 1) : day_of(year, c->month + 1, 1);
        const int64_t weekday = ((first + 4) % 7 + 7) % 7; // 1970-01-01 was a Thursday
        day = first + (c->day - weekday + 7) % 7 + (c->week - 1) * 7;
        day -= day >= next ? 7 : 0; // the fifth is the last
    }
    return day * S_PER_DAY + c->at_s - offset_s;
}

static int32_t by_rule(const rule *r, int64_t unix_s)
{
    if (!r->has_summer) {
        return r->offset_s;
    }
    const int64_t days =
        unix_s >= 0 ? unix_s / S_PER_DAY : -((-unix_s + S_PER_DAY - 1) / S_PER_DAY);
    int64_t year = 1970 + days / 366;
    while (day_of(year + 1, 1, 1) * S_PER_DAY <= unix_s + r->offset_s) {
        year++;
    }
    while (day_of(year, 1, 1) * S_PER_DAY > unix_s + r->offset_s) {
        year--;
    }
    const int64_t begins = change_s(&r->begins, year, r->offset_s);
    const int64_t ends = change_s(&r->ends, year, r->summer_s);
    const bool summer =
        begins < ends ? unix_s >= begins && unix_s < ends : unix_s >= begins || unix_s < ends;
    return summer ? r->summer_s : r->offset_s;
}

// ---- files --------------------------------------------------------------------------------------

static int broken(pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, "zone", "that is no time zone as tzfile(5) has it");
}

typedef struct part { // one of the two of a file
    size_t times, types, letters, leaps, standard, utc, wide, whole;
} part;

static bool read_part(const unsigned char *at, size_t n, size_t wide, part *p)
{
    if (n < HEADER || memcmp(at, "TZif", 4) != 0) {
        return false;
    }
    const unsigned char *c = at + COUNTS;
    *p = (part){.utc = u32(c),
                .standard = u32(c + 4),
                .leaps = u32(c + 8),
                .times = u32(c + 12),
                .types = u32(c + 16),
                .letters = u32(c + 20),
                .wide = wide};
    if (p->times > n || p->types > 256 || p->types == 0 || p->letters > n || p->leaps > n ||
        p->standard > n || p->utc > n) {
        return false;
    }
    p->whole = HEADER + p->times * (wide + 1) + p->types * 6 + p->letters + p->leaps * (wide + 4) +
               p->standard + p->utc;
    return p->whole <= n;
}

static bool take(pons_zone *z, const unsigned char *at, const part *p)
{
    const unsigned char *times = at + HEADER, *index = times + p->times * p->wide;
    const unsigned char *types = index + p->times;
    z->n = p->times;
    z->from = pons_need_zeroed(z->n + 1, sizeof *z->from);
    z->offset_s = pons_need_zeroed(z->n + 1, sizeof *z->offset_s);
    for (size_t i = 0; i < p->types; i++) {
        const int32_t offset = (int32_t)u32(types + i * 6);
        if (offset < -OFFSET_MAX_S || offset > OFFSET_MAX_S) {
            return false;
        }
    }
    for (size_t i = 0; i < z->n; i++) {
        z->from[i] = p->wide == 8 ? i64(times + i * 8) : (int32_t)u32(times + i * 4);
        if (index[i] >= p->types || (i && z->from[i] <= z->from[i - 1])) {
            return false;
        }
        z->offset_s[i] = (int32_t)u32(types + (size_t)index[i] * 6);
    }
    z->first_s = (int32_t)u32(types);
    return true;
}

int pons_zone_read(const void *bytes, size_t n, pons_zone **ret, pons_error *err)
{
    const unsigned char *at = bytes;
    part p;
    if (!read_part(at, n, 4, &p)) {
        return broken(err);
    }
    const bool second = at[4] >= '2';
    if (second) {
        at += p.whole;
        n -= p.whole;
        if (!read_part(at, n, 8, &p)) {
            return broken(err);
        }
    }
    pons_zone *z = pons_need_zeroed(1, sizeof *z);
    bool good = take(z, at, &p);
    char text[RULE_MAX];
    if (good && second && n > p.whole && at[p.whole] == '\n') {
        const char *from = (const char *)at + p.whole + 1;
        const char *end = memchr(from, '\n', n - p.whole - 1);
        good = end && end - from < RULE_MAX;
        snprintf(text, sizeof text, "%.*s", good ? (int)(end - from) : 0, from);
        good = good && (!*text || read_rule(text, &z->then));
    }
    if (!good) {
        pons_zone_close(z);
        return broken(err);
    }
    *ret = z;
    return PONS_OK;
}

static int load(const char *path, pons_zone **ret, pons_error *err)
{
    size_t n = 0;
    char *all = pons_file_text(path, FILE_MAX, &n);
    if (!all) {
        return errno == ENOENT ? PONS_ENOTFOUND : PONS_EENV;
    }
    const int rc = pons_zone_read(all, n, ret, err);
    free(all);
    return rc;
}

// Names of the database, and nothing that leads out of its folder.
static bool proper(const char *word)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
    return *word && *word != '/' && word[strspn(word, letters)] == '\0' && strlen(word) < 64;
}

static int of_database(const char *word, pons_zone **ret, pons_error *err)
{
    char path[512];
    const char *dir = getenv("TZDIR");
    snprintf(path, sizeof path, "%s/%s", dir && *dir ? dir : "/usr/share/zoneinfo", word);
    const int rc = proper(word) ? load(path, ret, err) : PONS_ENOTFOUND;
    if (rc >= 0) {
        return rc;
    }
    return pons_error_set(err, PONS_EINVAL, "zone",
                          "there is no time zone '%.60s' (as Europe/Berlin, Asia/Shanghai or UTC; "
                          "the package tzdata has them)",
                          word);
}

int pons_zone_open(const char *word, pons_zone **ret, pons_error *err)
{
    const bool own = !word || !*word;
    const char *tz = own ? getenv("TZ") : word;
    tz = tz && *tz == ':' ? tz + 1 : tz;
    if (!own && strcmp(word, "UTC") != 0) {
        return of_database(word, ret, err);
    }
    pons_error none = PONS_ERROR_INIT;
    if (own && (!tz || *tz == '/') && load(tz ? tz : "/etc/localtime", ret, &none) >= 0) {
        return PONS_OK;
    }
    if (own && tz && proper(tz) && of_database(tz, ret, &none) >= 0) {
        return PONS_OK;
    }
    pons_zone *z = pons_need_zeroed(1, sizeof *z);
    if (!own || !tz || !read_rule(tz, &z->then)) { // as the C library: what it does not know is UTC
        z->then = (rule){.known = true};
    }
    *ret = z;
    return PONS_OK;
}

void pons_zone_close(pons_zone *z)
{
    if (z) {
        free(z->from);
        free(z->offset_s);
        free(z);
    }
}

// ---- looking ------------------------------------------------------------------------------------

int32_t pons_zone_offset_s(const pons_zone *z, int64_t unix_s)
{
    if (!z) {
        return 0;
    }
    if (z->n == 0 || unix_s >= z->from[z->n - 1]) {
        return z->then.known ? by_rule(&z->then, unix_s)
               : z->n        ? z->offset_s[z->n - 1]
                             : z->first_s;
    }
    size_t low = 0, high = z->n; // the first that is later
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (z->from[mid] <= unix_s) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low ? z->offset_s[low - 1] : z->first_s;
}

int64_t pons_zone_unix_s(const pons_zone *z, int64_t shown_s)
{
    const int32_t before = pons_zone_offset_s(z, shown_s - S_PER_DAY);
    const int32_t after = pons_zone_offset_s(z, shown_s + S_PER_DAY);
    const int64_t first = shown_s - (before > after ? before : after);
    const int64_t second = shown_s - (before > after ? after : before);
    return pons_zone_offset_s(z, first) == shown_s - first     ? first
           : pons_zone_offset_s(z, second) == shown_s - second ? second
                                                               : shown_s - before; // skipped
}
