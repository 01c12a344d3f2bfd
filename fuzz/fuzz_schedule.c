// fuzz_schedule.c - whatever a schedule says, it is read or one line says what is wrong; what is read is due later than
// it was asked, at whole minutes where it has fields, and not before the time that was found. An input that begins with
// "TZif" is a time zone: what it shows can be told, and found again.
#include "pons/schedule.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 4, MINUTE_MS = 60000, OFFSET_MAX_S = 26 * 3600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t made_ms = 1774746000123; // a day before clocks go forward in Berlin
static pons_zone *berlin;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void times_of(const pons_schedule *s, const pons_zone *z)
{
    int64_t after = made_ms;
    for (int i = 0; i < TIMES; i++) {
        char shown[32];
        const int64_t next = pons_schedule_next(s, z, after);
        if (next == 0) {
            return;
        }
        must(next > after && (s->kind != PONS_SCHEDULE_FIELDS || next % MINUTE_MS == 0));
        must(pons_schedule_next(s, z, next - 1) == next || s->kind == PONS_SCHEDULE_ONCE);
        pons_schedule_show(next, z, shown, sizeof shown);
        must(shown[0] != 0);
        after = next;
    }
}

static void read_zone(const uint8_t *data, size_t n)
{
    static const int64_t at[] = {-60000000000, -1, 0, 1774746000, 4102444800, 220000000000};
    pons_zone *z = NULL;
    pons_schedule s;
    pons_error err = PONS_ERROR_INIT;
    if (pons_zone_read(data, n, &z, &err) < 0) {
        must(!z && err.message[0]);
        return;
    }
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const int32_t offset = pons_zone_offset_s(z, at[i]);
        must(offset >= -OFFSET_MAX_S && offset <= OFFSET_MAX_S);
        pons_zone_unix_s(z, at[i]);
    }
    must(pons_schedule_read("30 2 * * *", made_ms, z, &s, &err) == PONS_OK);
    int64_t after = made_ms;
    for (int i = 0; i < TIMES && after; i++) { // 0: a zone that goes back by more than a day
        const int64_t next = pons_schedule_next(&s, z, after);
        must(next == 0 || next > after);
        after = next;
    }
    pons_zone_close(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!berlin && pons_zone_open("Europe/Berlin", &berlin, NULL) < 0) {
        abort();
    }
    if (size >= 4 && memcmp(data, "TZif", 4) == 0) {
        read_zone(data, size);
        return 0;
    }
    char *text = strndup((const char *)data, size);
    for (int i = 0; text && i < 2; i++) {
        const pons_zone *z = i ? berlin : NULL;
        pons_schedule s;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_schedule_read(text, made_ms, z, &s, &err);
        if (rc < 0) {
            must(rc == PONS_EINVAL && err.message[0]);
        } else {
            times_of(&s, z);
        }
    }
    free(text);
    return 0;
}
