// fuzz_yaml.c - no text may crash the YAML reader, leak, or give a value that JSON can't hold.
#include "pons/yaml.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// libfyaml 0.7.12 loses a buffer when it refuses some quoted scalars of many lines; what it
// allocates is not what is looked at here.
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_yaml_parse((const char *)data, size, "fuzz", &y, &err) != PONS_OK) {
        if (y || err.status == PONS_OK || !err.message[0]) {
            abort(); // a failure leaves its output alone and says why
        }
        return 0;
    }
    // What was read can be written and read again, and is the same.
    char *text = NULL;
    pons_value *again = NULL;
    const long n = pons_value_dump(pons_yaml_value(y), &text);
    if (n < 0 || pons_value_parse(text, (size_t)n, &again, &err) != PONS_OK ||
        !json_equal(again, pons_yaml_value(y))) {
        abort();
    }
    char position[64];
    pons_yaml_position(y, "/a/0/b", position, sizeof position);
    pons_value_unref(again);
    free(text);
    pons_yaml_destroy(y);
    return 0;
}
