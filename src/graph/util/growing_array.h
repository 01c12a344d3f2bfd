// growing_array.h - arrays that grow.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Makes room for `need` items of `size` bytes in *items; false on no memory, and nothing changed.
bool pons__reserve(void *items, size_t *cap, size_t need, size_t size);
