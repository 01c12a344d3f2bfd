// test_memory.c - the store in memory passes the suite of all stores (conformance.c).

#include "conformance.h"

#include <stddef.h>

int main(void)
{
    const conformance_backend memory = {
        .name = "memory", .open = pons_store_memory_open, .gives_back = true};
    return conformance_run(&memory);
}
