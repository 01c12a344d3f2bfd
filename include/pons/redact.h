// redact.h - secrets out of texts.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef struct pons_redact pons_redact;

// more: a list of regular expressions beside those of the usual services' keys, or NULL. PONS_EINVAL names the bad one.
int pons_redact_open(const pons_value *more, pons_redact **ret, pons_error *err);
void pons_redact_close(pons_redact *r); // NULL-safe
// The text with every match replaced; NULL when there is none. The caller frees.
char *pons_redact_text(const pons_redact *r, const char *text);
// The text without what looks like a key: of the usual services, or behind a telling name (`token: …`). For
// people's eyes; the middleware "redact" is what guards a model. The caller frees; a text that could not
// be searched is hidden as a whole.
char *pons_redacted(const char *text);
// An address as it may be shown: without user, password, query and fragment. Cut to cap bytes with its NUL.
void pons_url_redacted(const char *url, char *ret, size_t cap);

PONS_C_END
