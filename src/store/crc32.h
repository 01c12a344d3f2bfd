// crc32.h - CRC-32, the one of Ethernet and of zip files, of short texts.
#pragma once

#include <stddef.h>
#include <stdint.h>

void pons__crc_init(void); // before the first sum; any thread, any number of times
// The sum of what `crc` is the sum of (0: nothing), followed by these bytes.
uint32_t pons__crc(uint32_t crc, const void *bytes, size_t n);
