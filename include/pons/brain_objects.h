// brain_objects.h - words about things that a robot has seen, or may see, beside those of its world.
#pragma once

#include "pons/ext/policy.h"
#include "pons/items.h"
#include "pons/linkage.h"

PONS_C_BEGIN

typedef struct pons_seen_words {
    pons_items items;        // store.ops NULL: nothing was seen yet
    const char *ns;          // of the memory (pons/object_memory.h); NULL: none
    const pons_value *kinds; // [[word…]…] of what may be seen; NULL: none
} pons_seen_words;

// As the policy parses; but words that only ask for a thing may name one that is not in the world. Reads the store where the
// policy does not understand. Errors are the policy's; *ret is the caller's, as the policy leaves it.
int pons_seen_parse(const pons_seen_words *of, const pons_policy *policy, const char *text,
                    const pons_value *world, pons_value **ret, pons_error *err);

PONS_C_END
