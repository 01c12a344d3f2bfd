// map_help.h - maps written to a folder of the test's own.
#ifndef PONS_TESTS_MAP_HELP_H
#define PONS_TESTS_MAP_HELP_H

#include <stddef.h>

const char *in_dir(const char *name);                // a path; valid until the fourth next
void write_text(const char *name, const char *text); // a file in the folder
void write_bytes(const char *name, const void *data, size_t n); // likewise
void make_dir(void);                                            // a new, empty folder
void remove_dir(void);
// A YAML beside `image`, of these further lines.
void write_map(const char *name, const char *image, const char *more);
// A PNG of w × h pixels of `channels` (1 grey, 2 with alpha, 3 RGB, 4 with alpha), of 8 or 16 bits.
void write_png(const char *name, int w, int h, int channels, int bits, int interlaced,
               const unsigned char *rows);

#endif
