// image.h - pictures of maps, row by row.
#pragma once

#include "pons/error.h"

#include <stdint.h>
#include <stdio.h>

// What a picture is read into. size: once, before any row, and it may refuse (by err). row: y from
// the top; grey 0 black … 255 white, alpha 255 opaque or NULL for all of it.
typedef struct pons__image_sink {
    int (*size)(void *user, uint64_t w, uint64_t h, pons_error *err);
    void (*row)(void *user, int y, const uint8_t *grey, const uint8_t *alpha);
    void *user;
} pons__image_sink;

// Each reads a file that is open at its beginning. PONS_EINVAL says what is wrong and where in it.
int pons__pgm_read(FILE *f, const char *path, const pons__image_sink *sink, pons_error *err);
int pons__png_read(FILE *f, const char *path, const pons__image_sink *sink, pons_error *err);
