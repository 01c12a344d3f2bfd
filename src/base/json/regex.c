// regex.c - regular expressions by PCRE2, for schemas that come from anywhere.
//
// JSON Schema's patterns are ECMAScript's; PCRE2 reads those as they are meant, as far as its options
// go. It backtracks, so a few characters can ask for an eternity; what bounds that is its own count of
// steps. The count begins anew at each place where a match might begin, so the search is made part of
// the expression (".*?" before it) and the one count is for all places. A match that needs more than a
// little for the length of its text is tried once more with patience, of which a caller has so much;
// so the time of many texts is bounded by their length and that patience.
#include "base/json/regex.h"

#include "pons/error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pons__pattern {
    pcre2_code *code;
};

enum {
    PATTERN_MAX = 20000,     // bytes
    STEPS_MIN = 500,         // of any match,
    STEPS_PER_BYTE = 30,     // and for each byte of its text
    STEPS_PATIENT = 2000000, // of one that takes long
    HEAP_KIB = 16 * 1024
};
#define SEARCH_OPEN  "(?s:.*?)(?:"
#define SEARCH_CLOSE ")"

static int compile(const char *text, pcre2_code **ret, char why[PONS__PATTERN_WHY_MAX])
{
    // As ECMAScript: \u0041, [] is empty, $ is the very end. Texts that are no UTF-8 match nothing there.
    const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_ALT_BSUX |
                             PCRE2_ALLOW_EMPTY_CLASS | PCRE2_DOLLAR_ENDONLY |
                             PCRE2_NEVER_BACKSLASH_C;
    int error = 0;
    PCRE2_SIZE at = 0;
    *ret = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &error, &at, NULL);
    if (!*ret && error != PCRE2_ERROR_HEAP_FAILED) {
        PCRE2_UCHAR message[PONS__PATTERN_WHY_MAX - 32];
        pcre2_get_error_message(error, message, sizeof message);
        snprintf(why, PONS__PATTERN_WHY_MAX, "%s (at %zu)", (const char *)message, (size_t)at);
        return PONS_EINVAL;
    }
    return *ret ? PONS_OK : PONS_ENOMEM;
}

int pons__pattern_compile(const char *text, pons__pattern **ret, char why[PONS__PATTERN_WHY_MAX])
{
    const size_t len = strlen(text);
    pcre2_code *alone = NULL;
    if (len > PATTERN_MAX) {
        snprintf(why, PONS__PATTERN_WHY_MAX, "longer than %d bytes", PATTERN_MAX);
        return PONS_EINVAL;
    }
    int st = compile(text, &alone, why); // "a)|(b" is not made whole by what stands around it
    pcre2_code_free(alone);
    if (st != PONS_OK) {
        return st;
    }
    const size_t cap = len + sizeof SEARCH_OPEN SEARCH_CLOSE;
    pons__pattern *p = calloc(1, sizeof *p);
    char *search = malloc(cap);
    st = p && search ? PONS_OK : PONS_ENOMEM;
    if (st == PONS_OK) {
        snprintf(search, cap, SEARCH_OPEN "%s" SEARCH_CLOSE, text);
        st = compile(search, &p->code, why);
    }
    free(search);
    if (st != PONS_OK) {
        free(p);
        return st;
    }
    *ret = p;
    return PONS_OK;
}

void pons__pattern_destroy(pons__pattern *p)
{
    if (p) {
        pcre2_code_free(p->code);
        free(p);
    }
}

pons__match pons__pattern_match(const pons__pattern *p, const char *text, size_t len, int *patience)
{
    const size_t few = STEPS_MIN + len * STEPS_PER_BYTE;
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *bounds = pcre2_match_context_create(NULL);
    int found = PCRE2_ERROR_NOMEMORY;
    if (data && bounds) {
        pcre2_set_heap_limit(bounds, HEAP_KIB);
        pcre2_set_match_limit(bounds, few < UINT32_MAX ? (uint32_t)few : UINT32_MAX);
        found = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, PCRE2_ANCHORED, data, bounds);
        if (found == PCRE2_ERROR_MATCHLIMIT && few<STEPS_PATIENT && * patience> 0) {
            --*patience;
            pcre2_set_match_limit(bounds, STEPS_PATIENT);
            found = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, PCRE2_ANCHORED, data, bounds);
        }
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(bounds);
    return found >= 0                      ? PONS__MATCH_YES
           : found == PCRE2_ERROR_NOMATCH  ? PONS__MATCH_NO
           : found == PCRE2_ERROR_NOMEMORY ? PONS__MATCH_NOMEM
                                           : PONS__MATCH_TOO_MUCH;
}
