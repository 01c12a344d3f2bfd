// fuzz_schema.c - no schema and no value may crash the compiler or the checker, or hang them.
//
// The input is a schema, a zero byte, and a value; without the zero byte the text is both.
#include "pons/schema.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *user, const char *pointer, const char *message)
{
    (void)pointer;
    if (!message[0]) {
        abort();
    }
    ++*(int *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *zero = size ? memchr(data, 0, size) : NULL;
    const size_t schema_len = zero ? (size_t)(zero - text) : size;
    const char *value_text = zero ? zero + 1 : text;
    pons_value *source = NULL, *value = NULL;
    pons_schema *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, schema_len, &source, &err) == PONS_OK &&
        pons_value_parse(value_text, size - (size_t)(value_text - text), &value, &err) == PONS_OK &&
        pons_schema_compile(source, &s, &err) == PONS_OK) {
        // One verdict, however it is asked for.
        int faults = 0;
        const int r = pons_schema_check(s, value, &err);
        if (pons_schema_faults(s, value, count, &faults) != r || (r == PONS_OK) != (faults == 0) ||
            faults > 32) {
            abort();
        }
    }
    pons_schema_destroy(s);
    pons_value_unref(source);
    pons_value_unref(value);
    return 0;
}
