// veil.h - a text on its way to somebody, from which a secret is taken out however it is cut.
#ifndef PONS_LLM_VEIL_H
#define PONS_LLM_VEIL_H

#include "pons/buf.h"

// Puts "***" for every occurrence of the secret in a text. NULL-safe.
void pons__redact(char *text, const char *secret);

typedef struct pons__veil { // the caller's storage
    const char *secret;     // outlives the veil; or NULL
    pons_buf held;          // what may be the beginning of the secret
} pons__veil;

void pons__veil_fini(pons__veil *v);
// Adds a piece; appends to `ret` what may now be shown. PONS_OK or PONS_ENOMEM.
int pons__veil_pass(pons__veil *v, const char *piece, pons_buf *ret);
// The text is over: appends what was held.
int pons__veil_end(pons__veil *v, pons_buf *ret);

#endif
