// stream_redactor.h - a text on its way to somebody, from which a secret is taken out however it is cut.
#pragma once

#include "pons/buf.h"

// Puts "***" for every occurrence of the secret in a text. NULL-safe.
void pons__redact(char *text, const char *secret);

typedef struct pons__redactor { // the caller's storage
    const char *secret;         // outlives the redactor; or NULL
    pons_buf held;              // what may be the beginning of the secret
} pons__redactor;

void pons__redactor_fini(pons__redactor *v);
// Adds a piece; appends to `ret` what may now be shown. PONS_OK or PONS_ENOMEM.
int pons__redactor_pass(pons__redactor *v, const char *piece, pons_buf *ret);
// The text is over: appends what was held.
int pons__redactor_end(pons__redactor *v, pons_buf *ret);
