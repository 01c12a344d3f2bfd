// phrase_patterns.c - what may be said, as flat lists of words and slots, and which of them to try at a place.
//
// A pattern is words, [a|b] for what may be left out, (a|b) for a choice and {slot}; choices are
// multiplied out here, once, so that matching is a walk along flat lists:
//
//     "(go|head) [back] to {zones}"  ->  go back to ZONES | go to ZONES | head back to ZONES | ...
//
// Adjacent words become one folded literal, kept once for a whole set. There is a set of the
// document's patterns (intent_file.c) and one of what the skills' registry says (skill_phrases.c); each has an
// index by the first character, and a place in a text is held against one set and then the other.
#include "intents/phrase_patterns.h"

#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_MAX  4096 // of one pattern; a document is for people, not for machines
#define PATTERN_LEN_MAX 512

static const char *const intent_words[INTENT_COUNT] = {
    "go_to",    "bring", "put",     "pick", "put_down",  "charge", "wait",   "say",   "patrol",
    "do",       "see",   "look_at", "find", "come_back", "repeat", "cancel", "where", "battery",
    "look_for", "state", "help",    "did",  "next",      "doing",  "why"};
static const struct {
    const char *name;
    pons__slot slot;
} slot_names[] = {{"zone", SLOT_ZONE},     {"zones", SLOT_ZONES},       {"object", SLOT_OBJECT},
                  {"place", SLOT_PLACE},   {"duration", SLOT_DURATION}, {"text", SLOT_TEXT},
                  {"number", SLOT_NUMBER}, {"coords", SLOT_COORDS},     {"nth", SLOT_NTH}};

const char *pons__intent_word(pons__intent intent)
{
    return intent_words[intent];
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "rules", "cannot compile the intents");
}

pons__intent pons__intent_of(const char *word)
{
    for (int i = 0; i < INTENT_COUNT; i++) {
        if (strcmp(intent_words[i], word) == 0) {
            return (pons__intent)i;
        }
    }
    return INTENT_NONE;
}

// ---- one pattern, multiplied out ----------------------------------------------------------------

// Expands one source pattern: depth-first over its choices, with the flat text so far in buf and
// the places still to visit on a chain of continuations.
typedef struct expansion {
    pons__patterns *to;
    pons__pattern made_of; // what each flat pattern begins as, without items
    const char *path;
    size_t made;
    pons_error *err;
} expansion;

typedef struct rest { // what follows when the present piece ends
    const char *s, *end;
    const struct rest *next;
} rest;

static int bad_pattern(const expansion *x, const char *why)
{
    return pons_error_set(x->err, PONS_EINVAL, "rules", "intents: %s: %s", x->path, why);
}

// The bracket that closes the one at s; NULL when there is none.
static const char *closing(const char *s, const char *end)
{
    size_t depth = 0;
    for (; s < end; s++) {
        depth += *s == '(' || *s == '[';
        if ((*s == ')' || *s == ']') && --depth == 0) {
            return s;
        }
    }
    return NULL;
}

// How much stands before the next bracket.
static size_t words_len(const char *s, const char *end)
{
    const char *at = s;
    while (at < end && *at != '(' && *at != ')' && *at != '[' && *at != ']') {
        at++;
    }
    return (size_t)(at - s);
}

// The slot of a text, where it is or where it goes; there is room.
static pons__literal *literal_slot(const pons__literals *l, const char *s, size_t len)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)s[i]) * 1099511628211u;
    }
    size_t at = (size_t)(hash >> 32) & (l->room - 1);
    while (l->slot[at].source &&
           (l->slot[at].len != len || memcmp(l->slot[at].source, s, len) != 0)) {
        at = (at + 1) & (l->room - 1);
    }
    return &l->slot[at];
}

static bool literals_grow(pons__literals *l)
{
    pons__literals more = {.room = l->room ? 2 * l->room : 64};
    more.slot = calloc(more.room, sizeof *more.slot);
    if (!more.slot) {
        return false;
    }
    for (size_t i = 0; i < l->room; i++) {
        if (l->slot[i].source) {
            *literal_slot(&more, l->slot[i].source, l->slot[i].len) = l->slot[i];
        }
    }
    more.n = l->n;
    free(l->slot);
    *l = more;
    return true;
}

// The folded form of a piece of a pattern, kept once however many flat patterns it is in: there are
// some hundred pieces in thousands of patterns. NULL on no memory.
static const char *literal_of(pons__literals *l, const char *s, size_t len)
{
    if (2 * l->n >= l->room && !literals_grow(l)) {
        return NULL;
    }
    pons__literal *slot = literal_slot(l, s, len);
    if (!slot->source) {
        pons__fold f;
        if (pons__fold_init(&f, s, len) != PONS_OK) {
            return NULL;
        }
        char *both = malloc(len + f.n + 1); // the source, and behind it the folded form
        if (both) {
            memcpy(both, s, len);
            memcpy(both + len, f.s, f.n + 1);
            *slot = (pons__literal){.source = both, .len = len};
            l->n++;
        }
        pons__fold_fini(&f);
    }
    return slot->source ? slot->source + slot->len : NULL;
}

static int add_literal(const expansion *x, pons__pattern *p, const char *s, size_t len)
{
    if (len == 0) {
        return PONS_OK;
    }
    const char *literal = literal_of(&x->to->literals, s, len);
    if (!literal) {
        return no_memory(x->err);
    }
    if (!*literal) {
        return PONS_OK;
    }
    if (p->n == PONS__PATTERN_ITEMS_MAX) {
        return bad_pattern(x, "too many pieces");
    }
    p->item[p->n++] = (pons__item){SLOT_LITERAL, literal};
    return PONS_OK;
}

static int add_slot(const expansion *x, pons__pattern *p, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof slot_names / sizeof *slot_names; i++) {
        if (strlen(slot_names[i].name) == len && memcmp(slot_names[i].name, name, len) == 0) {
            if (p->n == PONS__PATTERN_ITEMS_MAX) {
                return bad_pattern(x, "too many pieces");
            }
            p->item[p->n++] = (pons__item){slot_names[i].slot, NULL};
            return PONS_OK;
        }
    }
    return bad_pattern(
        x, "unknown slot; there are zone, zones, object, place, duration, number, coords "
           "and text");
}

// Splits a flat text, "go to {zones}", into items.
static int flat_items(const expansion *x, pons__pattern *p, const char *s, size_t len)
{
    const char *end = s + len;
    while (s < end) {
        const char *brace = memchr(s, '{', (size_t)(end - s));
        int rc = add_literal(x, p, s, (size_t)((brace ? brace : end) - s));
        if (rc != PONS_OK || !brace) {
            return rc;
        }
        const char *close = memchr(brace, '}', (size_t)(end - brace));
        if (!close) {
            return bad_pattern(x, "a brace is not closed");
        }
        rc = add_slot(x, p, brace + 1, (size_t)(close - brace - 1));
        if (rc != PONS_OK) {
            return rc;
        }
        s = close + 1;
    }
    return PONS_OK;
}

static int add_flat(expansion *x, const char *s, size_t len)
{
    pons__patterns *to = x->to;
    if (++x->made > EXPANSIONS_MAX) {
        return bad_pattern(x, "too many choices");
    }
    pons__pattern p = x->made_of;
    int rc = flat_items(x, &p, s, len);
    if (rc == PONS_OK && p.n == 0) {
        rc = bad_pattern(x, "everything in it may be left out");
    }
    if (rc == PONS_OK && (to->n & (to->n - 1)) == 0) { // grow at powers of two
        pons__pattern *grown = realloc(to->v, (to->n ? 2 * to->n : 1) * sizeof *grown);
        to->v = grown ? grown : to->v;
        rc = grown ? PONS_OK : no_memory(x->err);
    }
    if (rc == PONS_OK) {
        to->v[to->n++] = p;
    }
    return rc;
}

static int expand(expansion *x, const rest *k, char *buf, size_t len);

// Visits each alternative of the group [s, end), then what follows it.
static int expand_group(expansion *x, const char *s, const char *end, const rest *after, char *buf,
                        size_t len)
{
    size_t depth = 0;
    for (const char *p = s; p <= end; p++) {
        if (p < end) {
            depth += *p == '(' || *p == '[';
            depth -= *p == ')' || *p == ']';
        }
        if (p == end || (*p == '|' && depth == 0)) {
            int rc = expand(x, &(rest){s, p, after}, buf, len);
            if (rc != PONS_OK) {
                return rc;
            }
            s = p + 1;
        }
    }
    return PONS_OK;
}

static int expand(expansion *x, const rest *k, char *buf, size_t len)
{
    while (k && k->s == k->end) {
        k = k->next;
    }
    if (!k) {
        return add_flat(x, buf, len);
    }
    char c = *k->s;
    if (c == ')' || c == ']') {
        return bad_pattern(x, "a bracket is closed that was not opened");
    }
    if (c != '(' && c != '[') { // what stands before the next bracket
        const size_t n = words_len(k->s, k->end);
        memcpy(buf + len, k->s, n);
        return expand(x, &(rest){k->s + n, k->end, k->next}, buf, len + n);
    }
    const char *close = closing(k->s, k->end);
    if (!close || *close != (c == '(' ? ')' : ']')) {
        return bad_pattern(x, "a bracket is not closed");
    }
    rest after = {close + 1, k->end, k->next};
    int rc = expand_group(x, k->s + 1, close, &after, buf, len);
    return rc == PONS_OK && c == '[' ? expand(x, &after, buf, len) : rc;
}

int pons__patterns_add(pons__patterns *p, const pons__meaning *means, const pons_value *text,
                       const char *path, pons_error *err)
{
    const char *s = json_string_value(text);
    const size_t before = p->n;
    expansion x = {.to = p, .made_of = {.means = *means}, .path = path, .err = err};
    if (!s || !*s || strlen(s) > PATTERN_LEN_MAX) {
        return bad_pattern(&x, "expected a pattern of 1 to 512 bytes");
    }
    x.made_of.known_only = *s == '=';
    s += x.made_of.known_only;
    char buf[PATTERN_LEN_MAX + 1];
    const int rc = expand(&x, &(rest){s, s + strlen(s), NULL}, buf, 0);
    p->n = rc == PONS_OK ? p->n : before;
    return rc;
}

void pons__patterns_fini(pons__patterns *p)
{
    for (size_t i = 0; i < p->literals.room; i++) {
        free(p->literals.slot[i].source);
    }
    free(p->literals.slot);
    free(p->v);
    free(p->by_first);
    *p = (pons__patterns){0};
}

// ---- the index ----------------------------------------------------------------------------------

// The bucket of the character at s: itself for ASCII, a mix of its bytes for others.
static unsigned bucket(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    return c[0] < 0xC0 ? c[0] : (c[0] * 7u + c[1] * 31u + (c[1] ? c[2] : 0u)) % PONS__BUCKETS;
}

static unsigned bucket_of(const pons__pattern *p)
{
    return p->item[0].slot == SLOT_LITERAL ? bucket(p->item[0].literal) : PONS__BUCKETS;
}

int pons__patterns_index(pons__patterns *p, pons_error *err)
{
    p->by_first = malloc((p->n + 1) * sizeof *p->by_first);
    if (!p->by_first) {
        return no_memory(err);
    }
    // Counted, then placed, each bucket from its beginning.
    uint32_t at[PONS__BUCKETS + 1] = {0}, n = 0;
    for (size_t i = 0; i < p->n; i++) {
        at[bucket_of(&p->v[i])]++;
    }
    for (unsigned k = 0; k <= PONS__BUCKETS; k++) {
        p->first_at[k] = n;
        n += at[k];
        at[k] = p->first_at[k];
    }
    p->first_at[PONS__BUCKETS + 1] = n;
    for (size_t i = 0; i < p->n; i++) {
        p->by_first[at[bucket_of(&p->v[i])]++] = (uint32_t)i;
    }
    return PONS_OK;
}

// The two buckets of one set.
static void look_in(pons__candidates *c, const pons__patterns *p)
{
    c->in = p;
    c->a = c->a_end = c->b = c->b_end = 0;
    if (p && p->n) {
        c->a = p->first_at[c->bucket];
        c->a_end = p->first_at[c->bucket + 1];
        c->b = p->first_at[PONS__BUCKETS];
        c->b_end = p->first_at[PONS__BUCKETS + 1];
    }
}

pons__candidates pons__candidates_at(const pons__patterns *p, const pons__patterns *then,
                                     const char *s, size_t pos, size_t end)
{
    pos = pons__skip_spaces(s, pos, end);
    pons__candidates c = {.then = then, .bucket = pos < end ? bucket(s + pos) : PONS__BUCKETS - 1};
    look_in(&c, p);
    return c;
}

const pons__pattern *pons__candidates_next(pons__candidates *c)
{
    while (c->a == c->a_end && c->b == c->b_end) {
        if (!c->then) {
            return NULL;
        }
        look_in(c, c->then);
        c->then = NULL;
    }
    const uint32_t *list = c->in->by_first;
    const bool a = c->a < c->a_end && (c->b == c->b_end || list[c->a] < list[c->b]);
    return &c->in->v[list[a ? c->a++ : c->b++]];
}
