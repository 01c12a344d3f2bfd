// thread_ttl.h - threads that go by themselves after a while without news.
#pragma once

#include "serve/access/server.h"

// ttl of a request: minutes, or {ttl: minutes, strategy: "delete" | "keep_latest"}; NULL, JSON's null:
// nothing changes.
int pons__ttl_set(pons_serve *s, const char *thread, const pons_value *ttl, pons_error *err);
void pons__ttl_forget(pons_serve *s, const char *thread);     // it has gone
pons_value *pons__ttl_get(pons_serve *s, const char *thread); // {strategy, ttl_minutes}, or NULL
void pons__ttl_sweep(pons_serve *s);                          // now and then, on one thread
