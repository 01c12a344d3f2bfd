// value.c - JSON values: sharing them between threads, reading text, writing text.
//
// Sharing. jansson counts references atomically, but its decrement only releases. The thread that
// takes a count to zero must also *acquire*, or its free may be ordered before another thread's
// last reads. pons_value_unref does so, and it walks what it is about to free: a child that others
// also hold is first taken out of its container and released by the same rule.
//
// Writing. Dumps are on the hot path of the store, so text is written by a small writer of our own
// instead of jansson's callbacks. The writer fills a block; when it is full the block either grows
// (a dump) or is fed to SHA-256 (a hash, which therefore needs no memory and cannot fail).
// Numbers: integers as they are; doubles in the shortest form that reads back as the same double,
// always with a '.' or an 'e' so that they stay doubles.
//
// Memory. jansson's reader drops bytes of a token whose buffer could not grow, and then reads beyond
// it. So its allocator here has a reserve for the time of a parse, large enough for the longest
// token of the text: when malloc fails, the token's buffer grows in there, everything else is
// refused, and whatever comes out is thrown away.
#include "pons/value.h"

#include "base/sha256.h"
#include "pons/buf.h"
#include "pons/file.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define IMMORTAL ((size_t)-1) // jansson's count of null, true and false

enum {
    PARSE_DEPTH_MAX = 256, // containers in each other in a text
    DUMP_DEPTH_MAX = 2048, // the same for a value built in memory: a cycle ends here
    SORT_STACK = 32,       // keys sorted without heap
    BLOCK_MIN = 512,       // bytes of a dump's first allocation
    HASH_BLOCK = 1024,     // bytes between two feeds of the hash
    NUMBER_MAX = 40,       // bytes of the longest number, and of the longest escape
    LOAD_MAX = 16 << 20,   // bytes of a file
    TOKEN_FIRST = 16,      // bytes of jansson's token buffer before it grows
    RESERVE_MORE = 4096,   // bytes for what has such a size by chance
    HASH_BYTES = 16        // of SHA-256 that a value's hash keeps
};

__extension__ typedef unsigned __int128 uint128;

typedef struct writer {
    char *at, *end;     // free room of the block
    char *block;        // heap for a dump, stack for a hash
    pons__sha256 *hash; // NULL for a dump
    int status;         // the first failure; then nothing more is written
    bool sorted;
} writer;

typedef struct member {
    const char *key;
    size_t len;
    const json_t *value;
} member;

// ---- sharing ------------------------------------------------------------------------------------

static _Thread_local struct {
    bool lost;              // malloc has failed since the parse began
    char *block, *at, *end; // the reserve; NULL: no parse, or no long token
} parsing;

// jansson's token buffers have a size that is a power of two; most of what else it asks for has not.
static void *allocate(size_t n)
{
    const bool buffer = n >= TOKEN_FIRST && (n & (n - 1)) == 0;
    void *p = parsing.lost && parsing.block && !buffer ? NULL : malloc(n);
    parsing.lost = parsing.lost || !p;
    if (!p && buffer && (size_t)(parsing.end - parsing.at) >= n) {
        p = parsing.at;
        parsing.at += n;
    }
    return p;
}

static void release(void *p)
{
    const char *at = p;
    if (!parsing.block || at < parsing.block || at >= parsing.end) {
        free(p);
    }
}

static void seed_once(void)
{
    json_malloc_t have;
    json_free_t have_free;
    json_get_alloc_funcs(&have, &have_free);
    if (have == malloc && have_free == free) { // not what the program itself has set
        json_set_alloc_funcs(allocate, release);
    }
    size_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed || seed == 0) {
        seed = 0; // jansson then finds a seed by itself
    }
    json_object_seed(seed);
}

void pons_value_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, seed_once);
}

pons_value *pons_value_ref(const pons_value *v)
{
    json_t *m = (json_t *)v;
    if (m && __atomic_load_n(&m->refcount, __ATOMIC_RELAXED) != IMMORTAL) {
        __atomic_add_fetch(&m->refcount, 1, __ATOMIC_RELAXED);
    }
    return m;
}

static void settle_child(json_t *container, size_t i, void *iter, json_t *child);

// Takes every shared child out of a tree that is about to be deleted, so that jansson's own
// decrements meet only what no other thread can reach.
static void settle(json_t *v)
{
    if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            settle_child(v, i, NULL, json_array_get(v, i));
        }
    } else if (json_is_object(v)) {
        for (void *it = json_object_iter(v); it; it = json_object_iter_next(v, it)) {
            settle_child(v, 0, it, json_object_iter_value(it));
        }
    }
}

void pons_value_unref(const pons_value *v)
{
    json_t *m = (json_t *)v;
    if (!m || __atomic_load_n(&m->refcount, __ATOMIC_RELAXED) == IMMORTAL) {
        return;
    }
    if (__atomic_sub_fetch(&m->refcount, 1, __ATOMIC_ACQ_REL) != 0) {
        return;
    }
    settle(m);
    json_delete(m);
}

static void settle_child(json_t *container, size_t i, void *iter, json_t *child)
{
    const size_t count = __atomic_load_n(&child->refcount, __ATOMIC_ACQUIRE);
    if (count == IMMORTAL) {
        return;
    }
    if (count == 1) { // ours alone: what others did to it happened before
        settle(child);
        return;
    }
    pons_value_ref(child); // jansson's decrement below is then never the last
    if (iter) {
        json_object_iter_set_new(container, iter, json_null());
    } else {
        json_array_set_new(container, i, json_null());
    }
    pons_value_unref(child);
}

// ---- reading ------------------------------------------------------------------------------------

// Refuses a text whose brackets nest too deep before anything recurses over it. *ret_longest: no
// string or word of it has more bytes.
static int check_depth(const char *text, size_t len, int depth_max, size_t *ret_longest,
                       pons_error *err)
{
    int depth = 0, line = 1;
    bool in_string = false;
    size_t line_start = 0, token = 0, longest = 0; // token: where the one at hand began, at most
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
            continue;
        }
        if (c == '"') {
            in_string = true;
        } else if (c == '\n') {
            line++;
            line_start = i + 1;
        } else if (c == ',' || c == ':') {
            longest = i - token > longest ? i - token : longest;
            token = i + 1;
        } else if (c == ']' || c == '}') {
            depth--;
        } else if ((c == '[' || c == '{') && ++depth > depth_max) {
            pons_error_set(err, PONS_EINVAL, "json", "nested deeper than %d", depth_max);
            pons_error_source(err, "%d:%zu", line, i - line_start + 1);
            return PONS_EINVAL;
        }
    }
    *ret_longest = len > token && len - token > longest ? len - token : longest;
    return PONS_OK;
}

static int parse(const char *text, size_t len, int depth_max, size_t flags, pons_value **ret,
                 pons_error *err)
{
    size_t longest = 0;
    const size_t mark = pons_utf8_mark(text, len);
    text += mark;
    len -= mark;
    const int r = check_depth(text, len, depth_max, &longest, err);
    if (r < 0) {
        return r;
    }
    json_error_t why;
    parsing.lost = false;
    if (longest + 2 >= TOKEN_FIRST) { // its buffer will grow: to twice its size, again and again
        const size_t room = 4 * (longest + TOKEN_FIRST) + RESERVE_MORE;
        parsing.block = parsing.at = malloc(room);
        if (!parsing.block) {
            return pons_error_set(err, PONS_ENOMEM, "json", "out of memory");
        }
        parsing.end = parsing.at + room;
    }
    json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &why);
    const bool lost = parsing.lost || (!v && json_error_code(&why) == json_error_out_of_memory);
    if (lost) {
        json_decref(v);
    }
    free(parsing.block);
    parsing.block = parsing.at = parsing.end = NULL;
    if (lost) {
        return pons_error_set(err, PONS_ENOMEM, "json", "out of memory");
    }
    if (!v) {
        const bool zero = json_error_code(&why) == json_error_null_character;
        pons_error_set(err, PONS_EINVAL, "json", "%s",
                       zero ? "a zero character in a string" : why.text);
        pons_error_source(err, "%d:%d", why.line > 0 ? why.line : 1,
                          why.column > 0 ? why.column : 1);
        return PONS_EINVAL;
    }
    *ret = v;
    return PONS_OK;
}

int pons_value_parse(const char *text, size_t len, pons_value **ret, pons_error *err)
{
    return parse(text, len, PARSE_DEPTH_MAX, 0, ret, err);
}

int pons_value_read(const char *text, size_t len, pons_value **ret, pons_error *err)
{
    return parse(text, len, DUMP_DEPTH_MAX, JSON_ALLOW_NUL, ret, err);
}

const pons_value *pons_get(const pons_value *obj, const char *key)
{
    return json_object_get(obj, key);
}

const char *pons_get_str(const pons_value *obj, const char *key, const char *fallback)
{
    const char *s = json_string_value(json_object_get(obj, key));
    return s ? s : fallback;
}

const pons_value *pons_find(const pons_value *list, const char *key, const char *text)
{
    pons_each(one, list) {
        if (strcmp(pons_get_str(one, key, ""), text) == 0) {
            return one;
        }
    }
    return NULL;
}

double pons_get_num(const pons_value *obj, const char *key, double fallback)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_number(v) ? json_number_value(v) : fallback;
}

int64_t pons_get_int(const pons_value *obj, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(obj, key);
    if (json_is_integer(v)) {
        return json_integer_value(v);
    }
    const double d = json_real_value(v); // 0 for anything but a real
    if (json_is_real(v) && d == floor(d) && d >= -0x1p63 && d < 0x1p63) {
        return (int64_t)d;
    }
    return fallback;
}

bool pons_get_bool(const pons_value *obj, const char *key, bool fallback)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_boolean(v) ? json_is_true(v) : fallback;
}

static bool list_has(const pons_value *list, const char *text,
                     int (*compare)(const char *, const char *))
{
    pons_each(item, list) {
        if (json_is_string(item) && compare(json_string_value(item), text) == 0) {
            return true;
        }
    }
    return false;
}

bool pons_list_has(const pons_value *list, const char *text)
{
    return list_has(list, text, strcmp);
}

bool pons_list_has_word(const pons_value *list, const char *word)
{
    return list_has(list, word, strcasecmp);
}

pons_value *pons_string(const char *text)
{
    const size_t len = strlen(text);
    size_t good = 0;
    while (good < len) {
        const size_t n = pons_utf8_sequence(text + good, len - good);
        if (n == 0) {
            break;
        }
        good += n;
    }
    if (good == len) {
        return json_stringn(text, len);
    }
    char *copy = malloc(len);
    for (size_t i = 0; copy && i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        memcpy(copy + i, n ? text + i : "?", n ? n : 1);
        i += n ? n : 1;
    }
    pons_value *v = copy ? json_stringn(copy, len) : NULL;
    free(copy);
    return v;
}

// The object that takes these members, or NULL. A NULL value is a loss, or is absent.
static json_t *with_members(const char *key, va_list ap, bool null_is_lost)
{
    json_t *obj = json_object();
    for (; key; key = va_arg(ap, const char *)) {
        json_t *value = va_arg(ap, json_t *);
        if (value == PONS_ABSENT || (!value && !null_is_lost)) {
            continue;
        }
        if (!obj || !value) {
            pons_value_unref(value);
            json_decref(obj);
            obj = NULL;
        } else if (json_object_set_new(obj, key, value) != 0) { // which released the value
            json_decref(obj);
            obj = NULL;
        }
    }
    return obj;
}

pons_value *pons_object(const char *key, ...)
{
    va_list ap;
    va_start(ap, key);
    json_t *obj = with_members(key, ap, false);
    va_end(ap);
    return obj;
}

pons_value *pons_object_whole(const char *key, ...)
{
    va_list ap;
    va_start(ap, key);
    json_t *obj = with_members(key, ap, true);
    va_end(ap);
    return obj;
}

pons_value pons__absent = {JSON_NULL, IMMORTAL};

// ---- writing ------------------------------------------------------------------------------------

int pons_value_load(const char *path, pons_value **ret, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, LOAD_MAX, &n);
    if (!text || n > LOAD_MAX) {
        const int why = text ? EFBIG : errno;
        const int rc = why == ENOENT ? PONS_ENOTFOUND : why == ENOMEM ? PONS_ENOMEM : PONS_EIO;
        free(text);
        pons_error_set(err, rc, "value", "cannot read the file");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", pons_file_why(why));
        return rc;
    }
    const int rc = pons_value_parse(text, n, ret, err);
    free(text);
    if (rc < 0 && err) {
        char where[PONS_ERROR_SOURCE_MAX];
        snprintf(where, sizeof where, "%s%s%.32s", path, err->source[0] ? ":" : "", err->source);
        pons_error_source(err, "%s", where);
    }
    return rc;
}

// Makes room for n bytes (for a hash: at most HASH_BLOCK); false when writing has failed.
static bool make_room(writer *w, size_t n)
{
    if (w->status < 0) {
        return false;
    }
    if ((size_t)(w->end - w->at) >= n) {
        return true;
    }
    const size_t used = (size_t)(w->at - w->block);
    if (w->hash) {
        pons__sha256_feed(w->hash, w->block, used);
        w->at = w->block;
        return true;
    }
    size_t cap = 2 * (size_t)(w->end - w->block);
    if (cap - used < n) {
        cap = used + n;
    }
    char *block = realloc(w->block, cap);
    if (!block) {
        w->status = PONS_ENOMEM;
        return false;
    }
    w->block = block;
    w->at = block + used;
    w->end = block + cap;
    return true;
}

static void put_char(writer *w, char c)
{
    if (w->at < w->end || make_room(w, 1)) {
        *w->at++ = c;
    }
}

static void put(writer *w, const char *s, size_t n)
{
    if (w->hash && n > HASH_BLOCK) {
        make_room(w, HASH_BLOCK); // empties the block
        pons__sha256_feed(w->hash, s, n);
    } else if (make_room(w, n)) {
        memcpy(w->at, s, n);
        w->at += n;
    }
}

// The length of the run at s that needs no escape and is plain ASCII.
static size_t plain_run(const char *s, size_t len)
{
    size_t i = 0;
    // Eight bytes at a time: a byte is special when it is below 0x20, '"', '\\' or has its top bit.
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    for (; i + 8 <= len; i += 8) {
        uint64_t x;
        memcpy(&x, s + i, sizeof x);
        const uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\';
        const uint64_t low = x - ones * 0x20;
        if ((((quote - ones) | (slash - ones) | low) | x) & tops) {
            break;
        }
    }
    for (; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80) {
            break;
        }
    }
    return i;
}

static void put_escaped(writer *w, unsigned char c)
{
    static const char hex[] = "0123456789abcdef", shorts[] = "btn\0fr"; // from 8 on
    char e[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    size_t n = sizeof e;
    if (c == '"' || c == '\\') {
        e[1] = (char)c;
        n = 2;
    } else if (c >= '\b' && c <= '\r' && shorts[c - '\b']) {
        e[1] = shorts[c - '\b'];
        n = 2;
    }
    put(w, e, n);
}

static void put_string(writer *w, const char *s, size_t len)
{
    const char *const end = s + len;
    put_char(w, '"');
    while (s < end) {
        const char *start = s;
        s += plain_run(s, (size_t)(end - s));
        while (s < end && (unsigned char)*s >= 0x80) {
            const size_t n = pons_utf8_sequence(s, (size_t)(end - s));
            if (n == 0) {
                break;
            }
            s += n;
        }
        if (s > start) {
            put(w, start, (size_t)(s - start));
        }
        if (s == end) {
            break;
        }
        if ((unsigned char)*s >= 0x80) {
            put(w, "\xef\xbf\xbd", 3); // U+FFFD: only unchecked strings can hold broken UTF-8
            s++;
        } else if ((unsigned char)*s < 0x20 || *s == '"' || *s == '\\') {
            put_escaped(w, (unsigned char)*s++);
        }
    }
    put_char(w, '"');
}

// Writes the digits of u so that they end before `end`; returns their start.
static char *digits_before(char *end, uint64_t u)
{
    do {
        *--end = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    return end;
}

static void put_integer(writer *w, json_int_t v)
{
    char text[NUMBER_MAX], *end = text + sizeof text;
    char *p = digits_before(end, v < 0 ? -(uint64_t)v : (uint64_t)v);
    if (v < 0) {
        *--p = '-';
    }
    put(w, p, (size_t)(end - p));
}

// n/10^decimals, without zeros at the end.
static void put_decimal(writer *w, uint64_t n, int decimals, bool negative)
{
    char text[NUMBER_MAX], *const end = text + sizeof text;
    char *p = end;
    for (; decimals > 1 && n % 10 == 0; decimals--) {
        n /= 10;
    }
    if (decimals == 0) {
        *--p = '0';
    }
    for (; decimals > 0; decimals--) {
        *--p = (char)('0' + n % 10);
        n /= 10;
    }
    *--p = '.';
    p = digits_before(p, n);
    if (negative) {
        *--p = '-';
    }
    put(w, p, (size_t)(end - p));
}

// Most doubles that people and sensors make have few decimals. When d·10⁶ is a whole number r of
// at most 15 digits and r/10⁶ is d again, the decimal r/10⁶ reads back as d (both operands are
// exact, so the division rounds as a reader does), and no other decimal of 15 digits does.
static bool put_short_decimal(writer *w, double d)
{
    const double scale = 1e6;
    const double m = fabs(d);
    if (!(m < 1e9) || (m < 1e-4 && m != 0.0)) {
        return false;
    }
    const uint64_t r = (uint64_t)(m * scale + 0.5);
    if ((double)r / scale != m) {
        return false;
    }
    put_decimal(w, r, 6, signbit(d));
    return true;
}

static uint128 power_of_10(int n) // ≤ 10^38
{
    uint128 p = 1;
    for (; n >= 4; n -= 4) {
        p *= 10000;
    }
    for (; n > 0; n--) {
        p *= 10;
    }
    return p;
}

// The shortest decimal of 15 to 17 digits for a double of everyday size, in exact arithmetic. Such
// a double is m/2^k with m < 2^53, 3 ≤ k ≤ 66; its decimal with q decimals is n = m·10^q/2^k,
// rounded, and reads back as the double when n·2^k is less than half of 10^q away from m·10^q: half
// the distance to the next double (a quarter, below a power of two). All fits 128 bits.
static bool put_exact_decimal(writer *w, double d)
{
    static const double powers[] = {1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4,  1e5, 1e6,
                                    1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const double a = fabs(d);
    if (!(a >= 1e-4 && a < 1e15)) {
        return false;
    }
    int exponent, e10 = -4; // a is between 10^e10 and ten times that
    const uint64_t m = (uint64_t)ldexp(frexp(a, &exponent), DBL_MANT_DIG);
    const int k = DBL_MANT_DIG - exponent;
    while (a >= powers[e10 + 4]) {
        e10++;
    }
    const int share = m == UINT64_C(1) << (DBL_MANT_DIG - 1) ? 4 : 2;
    const uint128 half = (uint128)1 << (k - 1);
    for (int digits = 15;; digits++) {
        const int q = digits - 1 - e10;
        const uint128 unit = power_of_10(q), scaled = m * unit;
        uint64_t n = (uint64_t)(scaled >> k);
        const uint128 rest = scaled - ((uint128)n << k);
        const bool up = rest > half || (rest == half && n % 2 == 1);
        const uint128 off = up ? ((uint128)1 << k) - rest : rest;
        if (off * share >= unit && digits < 17) {
            continue;
        }
        put_decimal(w, n + up, q, signbit(d));
        return true;
    }
}

static void put_real(writer *w, double d)
{
    if (!isfinite(d)) { // jansson makes no such value; JSON has no word for one
        put(w, "null", 4);
        return;
    }
    if (d == 0.0 && w->sorted) {
        d = fabs(d); // -0.0 equals 0.0, and equal values give equal bytes
    }
    if (put_short_decimal(w, d) || put_exact_decimal(w, d)) {
        return;
    }
    char text[NUMBER_MAX];
    // 15 digits hold what any shorter decimal says; near zero doubles have fewer digits than that.
    for (int precision = fabs(d) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, d);
        if (precision == 17 || strtod(text, NULL) == d) {
            break;
        }
    }
    char *comma = strchr(text, ','); // the decimal point of some locales
    if (comma) {
        *comma = '.';
    }
    if (!strpbrk(text, ".e")) {
        strcat(text, ".0");
    }
    put(w, text, strlen(text));
}

static void put_array(writer *w, const json_t *v, int depth);
static void put_object(writer *w, json_t *v, int depth);

static void put_value(writer *w, const json_t *v, int depth)
{
    if (depth > DUMP_DEPTH_MAX && w->status == PONS_OK) {
        w->status = PONS_EINVAL;
    }
    if (w->status < 0) {
        return;
    }
    switch (v ? json_typeof(v) : JSON_NULL) {
    case JSON_OBJECT:
        put_object(w, (json_t *)v, depth);
        break;
    case JSON_ARRAY:
        put_array(w, v, depth);
        break;
    case JSON_STRING:
        put_string(w, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        put_integer(w, json_integer_value(v));
        break;
    case JSON_REAL:
        put_real(w, json_real_value(v));
        break;
    case JSON_TRUE:
        put(w, "true", 4);
        break;
    case JSON_FALSE:
        put(w, "false", 5);
        break;
    case JSON_NULL:
        put(w, "null", 4);
        break;
    }
}

static long dump(const pons_value *v, bool sorted, char **ret)
{
    char *block = malloc(BLOCK_MIN);
    if (!block) {
        return PONS_ENOMEM;
    }
    writer w = {.at = block, .end = block + BLOCK_MIN, .block = block, .sorted = sorted};
    put_value(&w, v, 0);
    put_char(&w, '\0');
    if (w.status < 0) {
        free(w.block);
        return w.status;
    }
    *ret = w.block;
    return (long)(w.at - w.block) - 1;
}

long pons_value_dump(const pons_value *v, char **ret)
{
    return dump(v, true, ret);
}

long pons_value_line(const pons_value *v, char **ret)
{
    return dump(v, false, ret);
}

static bool fits(const json_t *v, int room)
{
    bool ok = room > 0;
    if (json_is_array(v)) {
        for (size_t i = 0; ok && i < json_array_size(v); i++) {
            const json_t *item = json_array_get(v, i);
            ok = !(json_is_array(item) || json_is_object(item)) || fits(item, room - 1);
        }
        return ok;
    }
    for (void *it = json_object_iter((json_t *)v); ok && it;
         it = json_object_iter_next((json_t *)v, it)) {
        const json_t *item = json_object_iter_value(it);
        ok = !(json_is_array(item) || json_is_object(item)) || fits(item, room - 1);
    }
    return ok;
}

bool pons_value_fits(const pons_value *v)
{
    return !(json_is_array(v) || json_is_object(v)) || fits(v, PONS_VALUE_DEPTH_MAX);
}

void pons_value_hash(const pons_value *v, char ret[33])
{
    static const char hex[] = "0123456789abcdef";
    char block[HASH_BLOCK];
    pons__sha256 sha;
    pons__sha256_init(&sha);
    writer w = {
        .at = block, .end = block + sizeof block, .block = block, .hash = &sha, .sorted = true};
    put_value(&w, v, 0);
    pons__sha256_feed(&sha, block, (size_t)(w.at - block));
    uint8_t digest[32];
    pons__sha256_done(&sha, digest);
    for (int i = 0; i < HASH_BYTES; i++) {
        ret[2 * i] = hex[digest[i] >> 4];
        ret[2 * i + 1] = hex[digest[i] & 15];
    }
    ret[2 * HASH_BYTES] = '\0';
}

static void put_array(writer *w, const json_t *v, int depth)
{
    const size_t n = json_array_size(v);
    put_char(w, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            put_char(w, ',');
        }
        put_value(w, json_array_get(v, i), depth + 1);
    }
    put_char(w, ']');
}

static member member_at(void *iter)
{
    return (member){json_object_iter_key(iter), json_object_iter_key_len(iter),
                    json_object_iter_value(iter)};
}

static void put_member(writer *w, const member *m, bool first, int depth);
static void put_sorted(writer *w, json_t *v, int depth);

static void put_object(writer *w, json_t *v, int depth)
{
    put_char(w, '{');
    if (w->sorted && json_object_size(v) > 1) {
        put_sorted(w, v, depth);
    } else {
        bool first = true;
        for (void *it = json_object_iter(v); it; it = json_object_iter_next(v, it)) {
            const member m = member_at(it);
            put_member(w, &m, first, depth);
            first = false;
        }
    }
    put_char(w, '}');
}

// Bytes order: for UTF-8 that is the order of code points.
static int by_key(const void *a, const void *b)
{
    const member *x = a, *y = b;
    const int c = memcmp(x->key, y->key, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void put_in_rounds(writer *w, json_t *v, int depth);

static void put_sorted(writer *w, json_t *v, int depth)
{
    member on_stack[SORT_STACK], *members = on_stack;
    const size_t n = json_object_size(v);
    if (n > SORT_STACK) {
        members = malloc(n * sizeof *members);
        if (!members) {
            put_in_rounds(w, v, depth);
            return;
        }
    }
    size_t i = 0;
    for (void *it = json_object_iter(v); it; it = json_object_iter_next(v, it)) {
        members[i++] = member_at(it);
    }
    if (members != on_stack) {
        qsort(members, n, sizeof *members, by_key);
    } else {
        for (i = 1; i < n; i++) { // few and mostly in order already: insertion is the quickest
            const member m = members[i];
            size_t j = i;
            for (; j > 0 && by_key(&members[j - 1], &m) > 0; j--) {
                members[j] = members[j - 1];
            }
            members[j] = m;
        }
    }
    for (i = 0; i < n; i++) {
        put_member(w, &members[i], i == 0, depth);
    }
    if (members != on_stack) {
        free(members);
    }
}

// Sorted order without memory: each round looks for the next key after the last one.
static void put_in_rounds(writer *w, json_t *v, int depth)
{
    const size_t n = json_object_size(v);
    member last = {0};
    for (size_t i = 0; i < n; i++) {
        member next = {0};
        for (void *it = json_object_iter(v); it; it = json_object_iter_next(v, it)) {
            const member m = member_at(it);
            const bool later = !last.key || by_key(&m, &last) > 0;
            if (later && (!next.key || by_key(&m, &next) < 0)) {
                next = m;
            }
        }
        put_member(w, &next, i == 0, depth);
        last = next;
    }
}

static void put_member(writer *w, const member *m, bool first, int depth)
{
    if (!first) {
        put_char(w, ',');
    }
    put_string(w, m->key, m->len);
    put_char(w, ':');
    put_value(w, m->value, depth + 1);
}
