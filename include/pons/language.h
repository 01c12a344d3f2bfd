// language.h - the language of what a person wrote, so that they are answered in it.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>

PONS_C_BEGIN

// Whether a text, UTF-8 or NULL, has a Chinese character. Everything else is answered in English. From any thread.
bool pons_language_chinese(const char *text);

// A message or a format of pons's in Chinese, with the same conversions in the same order; as it is where Chinese is not
// wanted, or this copy of pons has no translation (ui/messages.zh.json, read once). From any thread.
const char *pons_translate(bool chinese, const char *english) __attribute__((format_arg(2)));

PONS_C_END
