// shown_language.c - which language a person is shown, and the catalogue for it (shown_language.h).
//
//     PONS_LANGUAGE = zh, en                 Chinese, or English, whatever else there is
//     LC_ALL, LC_MESSAGES, LANG = zh…        Chinese from the start
//     words that are said with a Chinese     Chinese from here on: of the command line, a goal or a message, no path,
//     character                              id or option; at a prompt, all
//     said words of letters alone            as the environment says
//
// A program for programs (--json) shows none of this: values go out as they are.
#include "app/workspace/shown_language.h"

#include "pons/language.h"
#include "pons/message_catalogue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(const pons_catalogue *) spoken; // NULL: English
static bool environment_is_chinese, fixed;

void app_language_start(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *value = getenv("PONS_LANGUAGE");
    fixed = value && *value;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !(value && *value); i++) {
        value = getenv(names[i]);
    }
    environment_is_chinese = value && strncmp(value, "zh", 2) == 0;
    if (environment_is_chinese) {
        atomic_store(&spoken, pons_catalogue_chinese());
    }
}

void app_language_of(const char *words)
{
    if (fixed) {
        return;
    }
    if (pons_language_chinese(words)) {
        atomic_store(&spoken, pons_catalogue_chinese());
    } else if (!environment_is_chinese && words && strpbrk(words, "abcdefghijklmnopqrstuvwxyz")) {
        atomic_store(&spoken, NULL);
    }
}

const char *app_translated_format(const char *format)
{
    const pons_catalogue *c = atomic_load(&spoken);
    return c ? pons_catalogue_format(c, format) : NULL;
}

char *app_translated(const char *message, bool label)
{
    const pons_catalogue *c = atomic_load(&spoken);
    char key[64];
    snprintf(key, sizeof key, "label: %s", message);
    const char *known = c && label ? pons_catalogue_format(c, key) : NULL;
    if (known) {
        return strdup(known);
    }
    return c && !label ? pons_catalogue_text(c, message) : NULL;
}
