// language.h - the language of what a person wrote, so that they are answered in it.
#ifndef PONS_LANGUAGE_H
#define PONS_LANGUAGE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether a text, UTF-8 or NULL, has a Chinese character. Everything else is answered in English. From any thread.
bool pons_language_chinese(const char *text);

#ifdef __cplusplus
}
#endif

#endif
