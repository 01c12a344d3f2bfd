// lexicon.c - looking up what class a word has.
#include "intents/lexicon.h"

#include "pons/error.h"

#include <stdlib.h>
#include <string.h>

const char *pons__word_class_key(pons__word_class is)
{
    static const char *const keys[WORD_CLASSES] = {[WORD_GO] = "go",
                                                   [WORD_COME_BACK] = "come_back",
                                                   [WORD_BRING] = "bring",
                                                   [WORD_PUT] = "put",
                                                   [WORD_PICK] = "pick",
                                                   [WORD_FIND] = "find",
                                                   [WORD_LOOK] = "look",
                                                   [WORD_PATROL] = "patrol",
                                                   [WORD_CHARGE] = "charge",
                                                   [WORD_WAIT] = "wait",
                                                   [WORD_REPEAT] = "repeat",
                                                   [WORD_WISH] = "wish",
                                                   [WORD_CANCEL] = "cancel",
                                                   [WORD_TO] = "to",
                                                   [WORD_WITHIN] = "within",
                                                   [WORD_FROM] = "from",
                                                   [WORD_VIA] = "via",
                                                   [WORD_RETURNS] = "returns",
                                                   [WORD_TOTAL] = "total",
                                                   [WORD_ME] = "me",
                                                   [WORD_IT] = "it",
                                                   [WORD_TASKS] = "tasks",
                                                   [WORD_ALL] = "all",
                                                   [WORD_YOU] = "you",
                                                   [WORD_OTHERS] = "others",
                                                   [WORD_KIN] = "kin",
                                                   [WORD_FOR] = "for",
                                                   [WORD_SUPPOSES] = "supposes",
                                                   [WORD_COURTESY] = "courtesy",
                                                   [WORD_REASONS] = "reasons",
                                                   [WORD_ASKS] = "asks",
                                                   [WORD_IS] = "is",
                                                   [WORD_LIGHT] = "light",
                                                   [WORD_DUE] = "due",
                                                   [WORD_THERE] = "there",
                                                   [WORD_HEDGES] = "hedges",
                                                   [WORD_TAGS] = "tags",
                                                   [WORD_PAST] = "past",
                                                   [WORD_DENIES] = "denies",
                                                   [WORD_IGNORED] = "ignored"};
    return keys[is];
}

int pons__lexicon_add(pons__lexicon *l, const pons__words *words, pons__word_class is)
{
    struct pons__entry *v = words->n ? realloc(l->v, (l->n + words->n) * sizeof *v) : l->v;
    if (words->n && !v) {
        return PONS_ENOMEM;
    }
    l->v = v;
    for (size_t i = 0; i < words->n; i++) {
        l->v[l->n++] = (struct pons__entry){words->v[i], is};
    }
    return PONS_OK;
}

static int in_order(const void *a, const void *b)
{
    const struct pons__entry *x = a, *y = b;
    const unsigned char c = (unsigned char)*x->word, d = (unsigned char)*y->word;
    const size_t n = strlen(x->word), m = strlen(y->word);
    if (c != d) {
        return (c > d) - (c < d);
    }
    return n != m ? (n < m) - (n > m) : (x->is > y->is) - (x->is < y->is);
}

void pons__lexicon_sort(pons__lexicon *l)
{
    if (l->n) {
        qsort(l->v, l->n, sizeof *l->v, in_order);
    }
    for (size_t c = 0, i = 0; c <= 256; c++) {
        while (i < l->n && (unsigned char)*l->v[i].word < c) {
            i++;
        }
        l->first_at[c] = (uint32_t)i;
    }
}

size_t pons__lexicon_at(const pons__lexicon *l, const char *s, size_t pos, size_t end,
                        pons__word_class *ret)
{
    pos = pons__skip_spaces(s, pos, end);
    const unsigned char first = pos < end ? (unsigned char)s[pos] : 0;
    for (size_t i = l->first_at[first]; pos < end && i < l->first_at[first + 1]; i++) {
        const size_t after = pons__literal_at(s, pos, end, l->v[i].word);
        if (after) {
            *ret = l->v[i].is;
            return after;
        }
    }
    return 0;
}
