// messages.h - the messages reducer.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Makes a new id into ret (PONS_ID_MAX bytes): the task's, so that a replay makes the same.
typedef void (*pons__make_id_fn)(void *ctx, char *ret);

// Gives every message of an update an id, and with chat LangChain's form. Takes v; *ret is v or a
// copy, also on failure.
int pons__messages_prepare(pons__make_id_fn make, void *ctx, bool chat, pons_value *v,
                           pons_value **ret, pons_error *err);
int pons__messages_fold(const pons_value *old, pons_value *const *updates, size_t n,
                        pons_value **ret, size_t *keep, pons_error *err);

typedef struct pons__ids { // message id -> position, for the append path
    uint32_t *slots;       // position + 1
    uint32_t mask;
    size_t n; // messages indexed: a prefix of the list
} pons__ids;
// True when every message of update is new to list, so that it can just be appended.
bool pons__messages_all_new(pons__ids *ids, const pons_value *list, const pons_value *update);
void pons__ids_reset(pons__ids *ids);
