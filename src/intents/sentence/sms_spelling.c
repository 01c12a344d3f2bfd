// sms_spelling.c - turns typed spellings into words that the lists have: "u", "w8", "meeee", "the mug's".
//
// /spellings of the intents has the words. What is in quotes and what is a name stays as it is.
#include "intents/sentence/sms_spelling.h"

#include "intents/sentence/world_names.h"

#include <ctype.h>
#include <string.h>

#define SPELLED_MAX 32 // bytes of what is spelled otherwise, and of what it stands for

static size_t word_end(const pons__fold *f, size_t pos)
{
    while (pos < f->n && (isalnum((unsigned char)f->s[pos]) || f->s[pos] == '\'')) {
        pos++;
    }
    return pos;
}

static const char *listed(const pons__parse_state *s, size_t lo, size_t hi)
{
    char word[SPELLED_MAX];
    if (hi - lo >= sizeof word) {
        return NULL;
    }
    memcpy(word, s->f.s + lo, hi - lo);
    word[hi - lo] = '\0';
    return pons_get_str(pons_get(s->r->doc, "spellings"), word, NULL);
}

static bool is_known(const pons__parse_state *s, const char *word)
{
    const size_t n = strlen(word);
    pons__word_class is;
    bool known = pons__lexicon_at(&s->r->lexicon, word, 0, n, &is) == n;
    for (size_t i = 0; i < s->names_n && !known; i++) {
        known = strcmp(s->names[i].s, word) == 0;
    }
    return known;
}

// "Meeee", "pleeease": a letter that stands three times stands once or twice in a word that is known.
static const char *shortened(const pons__parse_state *s, size_t lo, size_t hi, char *ret)
{
    bool any = false;
    for (size_t most = 1; most <= 2 && hi - lo < SPELLED_MAX; most++) {
        size_t n = 0;
        for (size_t i = lo, run; i < hi; i += run) {
            for (run = 1; i + run < hi && s->f.s[i + run] == s->f.s[i]; run++) {
            }
            const size_t kept = run > 2 ? most : run;
            any = any || run > 2;
            memset(ret + n, s->f.s[i], kept);
            n += kept;
        }
        ret[n] = '\0';
        if (any && n > 1 && is_known(s, ret)) {
            return ret;
        }
    }
    return NULL;
}

static bool name_ends(const pons__parse_state *s, size_t hi)
{
    for (size_t i = 0; i < s->names_n; i++) {
        const size_t n = strlen(s->names[i].s);
        if (n <= hi && strncmp(s->f.s + hi - n, s->names[i].s, n) == 0) {
            return true;
        }
    }
    return false;
}

// What the words from lo stand for, and where they end; NULL: for themselves.
static const char *plain(const pons__parse_state *s, size_t lo, size_t *hi, size_t *from, char *ret)
{
    const size_t two = *hi < s->f.n && s->f.s[*hi] == ' ' ? word_end(&s->f, *hi + 1) : *hi;
    const pons__name *zone;
    const char *word = two > *hi ? listed(s, lo, two) : NULL;
    if (word) {
        *hi = two;
        return word;
    }
    if (*hi > lo + 2 && strncmp(s->f.s + *hi - 2, "'s", 2) == 0 && name_ends(s, *hi - 2)) {
        *from = *hi - 2;
        return " is";
    }
    const bool digit = *hi == lo + 1 && isdigit((unsigned char)s->f.s[lo]); // "go 2 the kitchen"
    word = digit && !pons__zone_here(s, *hi, s->f.n, &zone) ? NULL : listed(s, lo, *hi);
    return word || digit ? word : shortened(s, lo, *hi, ret);
}

int pons__spell(pons__parse_state *s)
{
    int rc = PONS_OK;
    for (size_t lo = 0; rc == PONS_OK && lo < s->f.n;) {
        const pons__name *name;
        char made[SPELLED_MAX];
        size_t hi = s->f.quoted[lo] ? lo : word_end(&s->f, lo), from = lo;
        if (hi == lo) {
            lo += pons__char_len(s->f.s, lo);
            continue;
        }
        const char *word =
            pons__name_here(s, lo, s->f.n, &name) ? NULL : plain(s, lo, &hi, &from, made);
        if (word) {
            rc = pons__fold_put(&s->f, from, hi, word);
            hi = from + strlen(word);
        }
        lo = hi;
    }
    return rc;
}
