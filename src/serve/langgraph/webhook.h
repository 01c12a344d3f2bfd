// webhook.h - who wants to be told by HTTP that a run has ended.
#pragma once

#include "serve/access/server.h"

int pons__webhooks_open(pons_serve *s, pons__webhooks **ret, pons_error *err);
void pons__webhooks_close(
    pons__webhooks *w); // what was not told is told by the next server; NULL-safe
// Whether a run may have this webhook. PONS_EINVAL.
int pons__webhook_check(const pons_serve *s, const char *url, pons_error *err);
