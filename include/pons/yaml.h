// yaml.h - YAML 1.2 to values, with the position of every node kept.
//
// Configuration, worlds and scenarios are written in YAML by people, so every complaint about them
// must name file:line:col. A pons_yaml keeps the positions by JSON pointer ("/zones/0/id").
// Refused: aliases and anchors, duplicate keys, more than one document, tags other than the core
// schema, files over 4 MiB, nesting over 64, and what its parser needs the square of its length for: more than
// 256 blank lines one after another, 16 directives, or a directive of 256 bytes.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

#include <stdarg.h>

PONS_C_BEGIN

typedef struct pons_yaml pons_yaml;

// name is what messages call the text (a file name). Errors: PONS_EINVAL with source name:line:col.
int pons_yaml_parse(const char *text, size_t len, const char *name, pons_yaml **ret,
                    pons_error *err);
// Reads and parses a file; PONS_ENOTFOUND or PONS_EIO with the path as the source when unreadable.
int pons_yaml_load(const char *path, pons_yaml **ret, pons_error *err);
void pons_yaml_destroy(pons_yaml *y); // NULL-safe

const pons_value *pons_yaml_value(const pons_yaml *y); // borrowed; lives as long as y unless ref'd
// Writes "name:line:col" of the node at a JSON pointer (of its nearest known ancestor when the
// pointer names nothing) into buf; returns buf.
char *pons_yaml_position(const pons_yaml *y, const char *pointer, char *buf, size_t cap);
// PONS_EINVAL, with a message, and that position as its source. Returns PONS_EINVAL.
int pons_yaml_fault(const pons_yaml *y, const char *pointer, const char *module, pons_error *err,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int pons_yaml_vfault(const pons_yaml *y, const char *pointer, const char *module, pons_error *err,
                     const char *fmt, va_list args);

PONS_C_END
