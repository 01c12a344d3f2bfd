// tab_completion.c - what Tab makes of the words before the cursor.
//
// The words are a list that the prompt was given. What stands before the cursor may end with the
// beginning of one of them; the longest such end counts ("去厨" ends with the beginning of 厨房, "go to
// liv" with that of "living room"). A word of letters begins where a word begins, or after a character
// that is none of ASCII. Small and capital letters are one; what is put in is the list's spelling.
#include "cli/terminal/tab_completion.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0u) == 0x80u;
}

static bool wordy(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '-';
}

// How many words begin with these bytes; *ret_first is the first of them, *ret_common what all share.
static size_t matching(const pons_value *words, const char *part, size_t n, pons_value *matches,
                       size_t *ret_common)
{
    size_t found = 0;
    const char *first = NULL;
    pons_each(word, words) {
        const char *text = json_string_value(word);
        if (!text || strncasecmp(text, part, n) != 0 || strlen(text) < n) {
            continue;
        }
        if (!first) {
            first = text;
            *ret_common = strlen(text);
        }
        size_t same = 0;
        while (same < *ret_common && first[same] == text[same]) {
            same++;
        }
        while (same > 0 && continues(first[same])) {
            same--;
        }
        *ret_common = same;
        json_array_append(matches, word);
        found++;
    }
    return found;
}

cli_completion cli_complete(const pons_value *words, const char *text, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        const bool inside =
            continues(text[at]) || (at > 0 && wordy(text[at]) && wordy(text[at - 1]));
        if (inside || text[at] == ' ') {
            continue;
        }
        cli_completion c = {.matches = json_array()};
        if (matching(words, text + at, n - at, c.matches, &c.common) > 0) {
            c.typed = n - at;
            return c;
        }
        pons_value_unref(c.matches);
    }
    cli_completion none = {.matches = json_array()};
    if (strspn(text, " ") >= n) { // nothing is there yet: whatever may be said
        matching(words, "", 0, none.matches, &none.common);
        none.common = 0;
    }
    return none;
}
