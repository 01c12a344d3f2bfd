// vectors.h - the vectors of items, and what an item's life has to do with being read.
#pragma once

#include "pons/buf.h"
#include "pons/items.h"

// Appends the vectors of the texts that the fields lead to, as they are stored.
int pons__item_embed(const pons_items_options *opts, const pons_value *value,
                     const char *const *fields, pons_buf *ret, pons_error *err);
// The vector of one text: (dims), freed with free().
int pons__item_embed_text(const pons_items_options *opts, const char *text, float **ret,
                          pons_error *err);
// The greatest cosine of a vector (dims) and those of an item; false when it has none of that length.
bool pons__item_nearness(const float *vector, size_t dims, pons_bytes stored, double *ret);
// Gives an item that was read (as JSON) its time to live anew.
int pons__item_keep(const pons_items *it, pons_value *item, int64_t ttl_ms, int64_t now_ms,
                    pons_error *err);
