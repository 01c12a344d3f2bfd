// picture.h - pictures of cameras and of people: from a file's bytes to pixels and back, made smaller, made unreadable
// in part, and kept in a folder by what they contain.
//
// Pixels are RGB of 8 bits, rows from the top (ext/arm.h); `depth` is touched by blurring alone. Any thread, no state.
#pragma once

#include "pons/error.h"
#include "pons/ext/arm.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_PICTURE_PIXELS_MAX 50000000 // of one that is read
#define PONS_PICTURE_WHOLE_MAX  16000000 // of one that comes in passes: interlaced, progressive
#define PONS_PICTURE_BYTES_MAX  (32 * 1024 * 1024) // of its file
#define PONS_PICTURE_NAME       65                 // SHA-256 in hex, and a zero

// Reads a JPEG or a PNG, scaled so that its longer edge has at most edge_max pixels (0: as it is); what is transparent
// becomes white, and a JPEG is turned upright as its Exif block says. ret->rgb is the caller's (free()); the stamp is 0.
// PONS_EINVAL: neither of both, damaged, cut short, or more than PONS_PICTURE_PIXELS_MAX (_WHOLE_MAX) by its header,
// which is looked at before memory is taken. PONS_EENV: a JPEG, and pons was built without libjpeg.
int pons_picture_decode(const void *bytes, size_t n, int edge_max, pons_picture_raw *ret,
                        pons_error *err);
// Scales it by averages over areas, so that its longer edge has at most edge_max pixels, 1 or more; never up.
int pons_picture_scale(pons_picture_raw *p, int edge_max, pons_error *err);
// Makes a part unreadable: the mean of cells, at most 4 in each direction and none smaller than a sixteenth of the
// longer edge; its depth is INFINITY. rect: x0, y0, x1, y1 as fractions 0 … 1 of width and height; what is outside is
// cut off.
void pons_picture_blur(pons_picture_raw *p, const double rect[4]);
// A JPEG of it (*ret: free()), of at most max_bytes (0: any): of quality 90, or what lower one fits. PONS_EINVAL: none
// does. PONS_EENV: built without libjpeg.
int pons_picture_jpeg(const pons_picture_raw *p, size_t max_bytes, void **ret, size_t *ret_n,
                      pons_error *err);

// A folder of pictures, each a file NAME.jpg whose name is the SHA-256 of its bytes. Several processes may use one.
//
// Keeps one; it is durable on return, and is there once however often it is put. The folder is made where it is
// missing, for its owner alone; the one above it is there. PONS_EIO.
int pons_picture_put(const char *folder, const void *bytes, size_t n, char ret[PONS_PICTURE_NAME],
                     pons_error *err);
// *ret: free(). PONS_ENOTFOUND: it is not (any more) there, or `name` is none; PONS_ECORRUPT: the bytes are not those.
int pons_picture_get(const char *folder, const char *name, void **ret, size_t *ret_n,
                     pons_error *err);
// How many there are, and their bytes; none where there is no folder.
void pons_picture_usage(const char *folder, size_t *ret_n, uint64_t *ret_bytes);
// Removes those that nobody holds and that were put before this time (wall clock, ms): a new one's holder may not have
// been written yet. What a write that was cut short left goes too. The number; PONS_EIO.
int pons_picture_prune(const char *folder, int64_t before_wall_ms,
                       bool (*held)(void *user, const char *name), void *user, pons_error *err);

PONS_C_END
