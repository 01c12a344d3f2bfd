// source_text.h - files and bytes before they are read as a tree.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

FILE *pons__bt_open(const char *path); // a regular file; NULL: none, or not to be read
void pons__bt_keep_utf8(char *text);   // what was cut in a character, or never was one, becomes '?'
bool pons__bt_is_utf8(const char *text, size_t len, uint32_t *ret_line,
                      uint32_t *ret_col); // where not
