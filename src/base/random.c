// random.c - seeded randomness and ids.
//
// The generator is xoshiro256** 1.0 (Blackman & Vigna, 2018), its state filled from the seed with
// splitmix64, as its authors advise. An id is 128 bits, big end first, in Crockford's base 32: 48
// bits of Unix time in ms, then 80 random bits. Within one millisecond (or while the wall clock
// runs backwards) the 80 bits of the last id plus one are used, so that ids of one source always
// sort in the order they were made.
#include "pons/random.h"

#include <math.h>
#include <stdbool.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 uint128;

enum { ID_DIGITS = PONS_ID_MAX - 1, ID_BITS_A_DIGIT = 5 };

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void pons_rand_seed(pons_rand *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        r->s[i] = splitmix64(&seed);
    }
}

void pons_rand_seed_os(pons_rand *r)
{
    size_t got = 0;
    while (got < sizeof r->s) {
        const ssize_t n = getrandom((char *)r->s + got, sizeof r->s - got, 0);
        if (n < 0) {
            continue; // only EINTR is possible: the buffer is valid and small
        }
        got += (size_t)n;
    }
    if (!(r->s[0] | r->s[1] | r->s[2] | r->s[3])) {
        r->s[0] = 1; // all zeros is the one state that the generator never leaves
    }
}

static uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

uint64_t pons_rand_u64(pons_rand *r)
{
    uint64_t *s = r->s;
    const uint64_t result = rotl(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double pons_rand_unit(pons_rand *r)
{
    return (double)(pons_rand_u64(r) >> 11) * 0x1p-53;
}

double pons_rand_normal(pons_rand *r, double mean, double stddev)
{
    const double u = 1.0 - pons_rand_unit(r); // (0, 1]: its logarithm exists
    const double angle = 2.0 * M_PI * pons_rand_unit(r);
    return mean + stddev * sqrt(-2.0 * log(u)) * cos(angle);
}

uint64_t pons_rand_below(pons_rand *r, uint64_t n)
{
    if (n <= 1) {
        return 0;
    }
    // Lemire, "Fast Random Integer Generation in an Interval", 2019: the high word of x·n is the
    // result; the few low words that would make some results likelier are drawn again.
    uint128 m = (uint128)pons_rand_u64(r) * n;
    if ((uint64_t)m < n) {
        const uint64_t biased = -n % n;
        while ((uint64_t)m < biased) {
            m = (uint128)pons_rand_u64(r) * n;
        }
    }
    return (uint64_t)(m >> 64);
}

void pons_id_source_init(pons_id_source *s, pons_clock clock, pons_rand *rand)
{
    *s = (pons_id_source){.clock = clock, .rand = rand, .last_ms = -1};
}

// Adds one to a big-endian number; false when it wrapped to zero.
static bool increment(uint8_t *bytes, size_t n)
{
    while (n-- > 0) {
        if (++bytes[n]) {
            return true;
        }
    }
    return false;
}

static void fill_random(pons_id_source *s)
{
    const uint64_t a = pons_rand_u64(s->rand), b = pons_rand_u64(s->rand);
    for (int i = 0; i < 8; i++) {
        s->last[i] = (uint8_t)(a >> (56 - 8 * i));
    }
    s->last[8] = (uint8_t)(b >> 56);
    s->last[9] = (uint8_t)(b >> 48);
}

void pons_id_make(pons_id_source *s, char ret[PONS_ID_MAX])
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const int64_t now_ms = pons_wall_ms(&s->clock);
    if (now_ms > s->last_ms) {
        s->last_ms = now_ms;
        fill_random(s);
    } else if (!increment(s->last, sizeof s->last)) {
        s->last_ms++; // 2^80 ids in a millisecond: borrow the next one
    }
    uint128 id = (uint128)((uint64_t)s->last_ms & 0xffffffffffffu) << 80;
    for (size_t i = 0; i < sizeof s->last; i++) {
        id |= (uint128)s->last[i] << (8 * (sizeof s->last - 1 - i));
    }
    for (int i = ID_DIGITS - 1; i >= 0; i--) {
        ret[i] = digits[id & 31];
        id >>= ID_BITS_A_DIGIT;
    }
    ret[ID_DIGITS] = '\0';
}
