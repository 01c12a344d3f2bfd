// normalize.h - text made comparable, and what stands at a place of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Text made comparable: ASCII lower case, full-width forms narrowed, every white space and
// underscore one space, no space next to a CJK character, the quotes of all scripts '"', and
// sentence ends ';'. at[i] is the offset in the source of folded byte i; at[n] is the source's
// length.
typedef struct pons__fold {
    char *s;      // (n + 1) with a zero
    uint32_t *at; // (n + 1); owns the block that all three are in
    bool *quoted; // (n) inside a pair of quotes
    size_t n;
} pons__fold;

int pons__fold_init(pons__fold *f, const char *text, size_t len); // PONS_OK or PONS_ENOMEM
void pons__fold_fini(pons__fold *f);                              // NULL-safe parts
// Takes the bytes [lo, hi) out of the folded text.
void pons__fold_cut(pons__fold *f, size_t lo, size_t hi);
// Puts a folded word in their place, which comes from where they did. PONS_OK or PONS_ENOMEM.
int pons__fold_put(pons__fold *f, size_t lo, size_t hi, const char *word);

// Folded words, longest first.
typedef struct pons__words {
    char **v;
    size_t n;
} pons__words;

// Whether the folded literal stands at s[pos..end), as a word of its own where it is ASCII: 0, or
// the position after it. Spaces before it are skipped.
size_t pons__literal_at(const char *s, size_t pos, size_t end, const char *literal);
// The longest of the words at pos: 0, or the position after it. *ret_index may be NULL.
size_t pons__word_at(const pons__words *w, const char *s, size_t pos, size_t end,
                     size_t *ret_index);
// A number in digits, Chinese numerals or English words: 0, or the position after it.
size_t pons__number_at(const char *s, size_t pos, size_t end, double *ret);
// Whether 两三, 四五十 or the like begins at pos, which is no number.
bool pons__approximate_at(const char *s, size_t pos, size_t end);
size_t pons__skip_spaces(const char *s, size_t pos, size_t end);
size_t pons__char_len(const char *s, size_t pos); // bytes of the UTF-8 character at pos, ≥ 1
