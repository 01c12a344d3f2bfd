// record_table.h - short words for tables of fields (field_records.h): for the files that have some, and no other.
#pragma once

#include "brain/records/field_records.h"

// clang-format off
#define NEVER PONS_LACKS_NEVER
#define NUL   PONS_LACKS_NULL
#define KEY   PONS_LACKS_KEY
#define TEXT   PONS_KIND_TEXT
#define WORD   PONS_KIND_WORD
#define NAME   PONS_KIND_NAME
#define INT    PONS_KIND_INT
#define NUM    PONS_KIND_NUM
#define BOOL   PONS_KIND_BOOL
#define JSON   PONS_KIND_JSON
#define RECORD PONS_KIND_RECORD
#define LIST   PONS_KIND_LIST
#define TABLE(noun, words)                                                                          \
    const pons__record pons__##noun##_record = {                                                    \
        .name = #noun, .means = (words), .size = sizeof(struct pons__##noun),                       \
        .fields = noun##_fields, .n = sizeof noun##_fields / sizeof noun##_fields[0]}
// clang-format on
