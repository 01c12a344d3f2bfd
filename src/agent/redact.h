// redact.h - secrets out of texts.
#ifndef PONS_AGENT_REDACT_H
#define PONS_AGENT_REDACT_H

#include "pons/error.h"
#include "pons/value.h"

typedef struct pons__redact pons__redact;

// more: a list of regular expressions beside the usual ones, or NULL. PONS_EINVAL names the bad one.
int pons__redact_open(const pons_value *more, pons__redact **ret, pons_error *err);
void pons__redact_close(pons__redact *r); // NULL-safe
// The text with every match replaced; NULL when there is none. The caller frees.
char *pons__redacted(const pons__redact *r, const char *text);

#endif
