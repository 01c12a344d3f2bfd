// scaled_rows.h - the rows of a picture as they are read, made smaller on the way.
#pragma once

#include "pons/picture.h"

#include <stdio.h> // libjpeg's header takes it for granted

#define PONS__PICTURE "picture"

typedef struct pons__scaled_rows {
    pons_picture_raw to; // rgb: the caller's, when all are in
    int edge_max, w, h;  // 0: as it is; what comes
    int in, out;         // rows that came, rows that are whole
    int orientation;     // Exif's, 1 … 8; 0: it says nothing
    uint64_t *sum;       // of the row that is being made
} pons__scaled_rows;

// Whether a picture of this size is read. whole: its kind is decoded as a whole. PONS_EINVAL.
int pons__scaled_rows_allowed(uint64_t w, uint64_t h, bool whole, pons_error *err);
// edge_max is set, all else zero. PONS_ENOMEM.
int pons__scaled_rows_begin(pons__scaled_rows *r, int w, int h, pons_error *err);
void pons__scaled_rows_add(pons__scaled_rows *r, const uint8_t *rgb);
void pons__scaled_rows_end(pons__scaled_rows *r);

// Each gives the rows of one kind; on failure r->to.rgb may be there.
int pons__jpeg_rows(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err);
int pons__png_rows(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err);

// Exif's Orientation of a JPEG, 1 … 8; 1 (upright) where it has none, or one that makes no sense.
int pons__jpeg_orientation(const void *bytes, size_t n);
// Turned and mirrored as that says, in new memory. PONS_ENOMEM: as it was.
int pons__turn_upright(pons_picture_raw *p, int orientation, pons_error *err);
