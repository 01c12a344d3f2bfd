// search_knowledge.h - search_knowledge, and the index of the documents that it asks.
#pragma once

#include "tools/core/core.h"

int pons__search_knowledge(pons__work *w, pons_error *err);

int pons__knowledge_open(pons__core *c, pons__knowledge **ret, pons_error *err);
void pons__knowledge_close(pons__knowledge *k); // NULL-safe
