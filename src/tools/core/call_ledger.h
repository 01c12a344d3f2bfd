// call_ledger.h - what became of each key of a call that reaches the world (run/tools.ledger).
#pragma once

#include "tools/core/core.h"

#define PONS__LEDGER_KEY 128 // bytes of a key that the ledger keeps

typedef enum pons__fate { PONS__NEVER, PONS__BEGUN, PONS__ENDED } pons__fate;
int pons__call_ledger_open(const pons__core *c, pons__call_ledger **ret, pons_error *err);
void pons__call_ledger_close(pons__call_ledger *l); // NULL-safe
// *ret_value: of BEGUN, what begin was given; of ENDED, the result ({output…} or {error…}).
pons__fate pons__call_ledger_look(pons__call_ledger *l, const char *key, pons_value **ret_value);
int pons__call_ledger_begin(pons__call_ledger *l, const char *key, const pons_value *what,
                            pons_error *err);
void pons__call_ledger_end(pons__call_ledger *l, const char *key, const pons_value *result);
