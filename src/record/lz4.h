// lz4.h - an LZ4 frame (lz4_Frame_format.md, version 1.6), unpacked: recordings that others wrote have chunks of it.
#ifndef PONS_RECORD_LZ4_H
#define PONS_RECORD_LZ4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exactly n bytes into `into`, from one frame or several; its own checksums are not looked at, for a chunk has one.
bool pons__lz4_unpack(const uint8_t *data, size_t size, uint8_t *into, size_t n);

#endif
