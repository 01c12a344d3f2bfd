// test_conformance.c - each HTTP client that pons has is one as the contract wants it.
#include "http/conformance.h"
#include "pons/module.h"
#include "unit.h"

#include <stdlib.h>

static const char *const clients[] = {"curl"}; // modules http-NAME.so; another one goes here

int main(void)
{
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    int failed = 0;
    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        const void *ops = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_module_load("http", clients[i], &ops, &err) < 0) {
            print_error("%s\n", err.message);
            failed++;
            continue;
        }
        failed += http_conformance(clients[i], ops);
    }
    return failed > 0;
}
