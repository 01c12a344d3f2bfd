// language.c - a text with a Han character is Chinese: pons itself speaks Chinese and English.
#include "pons/language.h"

bool pons_language_chinese(const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    for (; *at; at++) {
        // U+3400 to U+9FFF are three bytes, from E3 90 80 to E9 BF BF.
        const bool three =
            at[0] >= 0xE3 && at[0] <= 0xE9 && (at[1] & 0xC0) == 0x80 && (at[2] & 0xC0) == 0x80;
        if (three && (at[0] > 0xE3 || at[1] >= 0x90)) {
            return true;
        }
    }
    return false;
}
