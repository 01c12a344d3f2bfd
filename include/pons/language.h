// language.h - the language of what a person wrote, so that they are answered in it.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>

PONS_C_BEGIN

// Whether a text, UTF-8 or NULL, has a Chinese character. Everything else is answered in English. From any thread.
bool pons_language_chinese(const char *text);

PONS_C_END
