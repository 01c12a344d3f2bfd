// crc32.c - CRC-32 (ISO 3309, reflected), eight bytes a step.
//
// A row of a store is mostly shorter than two hundred bytes, and zlib takes what is shorter than 47 of
// them one by one. Eight tables say what eight bytes, each at its distance from the end of the step,
// do to the sum ("slicing", Kounavis and Berry, 2005); they are made from the polynomial, once.
#include "store/crc32.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0xedb88320u // reflected
#define SLICES     8           // bytes a step

static uint32_t table[SLICES][256]; // [k][byte]: what a byte does to the sum k bytes later

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        table[0][byte] = crc;
    }
    for (int k = 1; k < SLICES; k++) {
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = table[k - 1][byte];
            table[k][byte] = before >> 8 ^ table[0][before & 0xff];
        }
    }
}

void pons__crc_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
}

uint32_t pons__crc(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    crc = ~crc;
    for (; n >= SLICES; at += SLICES, n -= SLICES) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        word = le64toh(word) ^ crc;
        crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^ table[5][word >> 16 & 0xff] ^
              table[4][word >> 24 & 0xff] ^ table[3][word >> 32 & 0xff] ^
              table[2][word >> 40 & 0xff] ^ table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
    }
    for (; n > 0; at++, n--) {
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    }
    return ~crc;
}
