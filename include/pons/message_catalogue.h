// message_catalogue.h - translations of the messages that pons shows.
//
// pons makes and stores its messages in English; whoever shows them to a person translates them with a
// catalogue: a JSON object from an English format to the other language's, {"no way to %s": "没有去 %s 的路"}.
// A format's placeholders are written %s (text), %d (integer), %g (number), %c (character) and %%, whatever
// width, precision or length the source has. A translation takes them in their order, or by number: %2$s.
//
// A message that has been made is found again by the format that made it: its literal parts are looked for, and
// what stands between them is translated in turn. tools/check-messages fails on a message of the program without a
// translation in ui/messages.zh.json. One that pons says in Chinese itself (pons_translate, pons/language.h) has the source's
// own width and precision there.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stddef.h>

PONS_C_BEGIN

typedef struct pons_catalogue pons_catalogue;

// From a file of a JSON object of strings. PONS_ENOTFOUND, PONS_EIO; PONS_EINVAL names the place.
int pons_catalogue_load(const char *path, pons_catalogue **ret, pons_error *err);
// The Chinese one that this copy of pons has, loaded once for the process; NULL: none that can be read.
const pons_catalogue *pons_catalogue_chinese(void);
void pons_catalogue_free(pons_catalogue *c); // NULL-safe

// The translation of a format as printf takes it, with its placeholders; NULL: there is none. Borrowed from c.
const char *pons_catalogue_format(const pons_catalogue *c, const char *format);

// The translation of a message; NULL: no part of it has one, or memory is short. The caller frees it.
char *pons_catalogue_text(const pons_catalogue *c, const char *message);

// The n texts in the places of a translation's placeholders, into a string that the caller frees; NULL without memory.
char *pons_catalogue_fill(const char *translation, const char *const *texts, size_t n);

// A catalogue does not change: these may be called on any thread.

PONS_C_END
