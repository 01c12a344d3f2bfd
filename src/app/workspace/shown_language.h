// shown_language.h - the language in which a person is shown what pons says (pons/message_catalogue.h).
#pragma once

#include <stdbool.h>

// By PONS_LANGUAGE, LC_ALL, LC_MESSAGES or LANG, the first that is set.
void app_language_start(void);
// A person has said these words: from here on they are answered in their language, as far as pons has it.
void app_language_of(const char *words);

const char *app_translated_format(const char *format); // NULL: it is shown as it is
// The same; the caller frees it. A label, as of a column: the entry "label: WORD", if there is one.
char *app_translated(const char *message, bool label);
