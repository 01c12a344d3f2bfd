// rounds.c - which of the table's numbers is asked for (rounds.h).
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    long usual, full;
} table[] = {
#define X(name, usual, full, what) {#name, usual, full},
    ROUNDS(X)
#undef X
};

// The number that PONS_ROUNDS has for a name; 0: none.
static long asked(const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = getenv("PONS_ROUNDS"); at && *at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            const long n = strtol(at + length + 1, NULL, 10);
            return n > 0 ? n : 1;
        }
    }
    return 0;
}

long rounds(rounds_of of)
{
    const long own = asked(table[of].name), each = asked("each");
    if (own > 0 || each > 0) {
        return own > 0 ? own : each;
    }
    return getenv("PONS_TEST_FULL") ? table[of].full : table[of].usual;
}

bool rounds_take(rounds_of of, long i, long n)
{
    const long wanted = rounds(of);
    return wanted >= n || i == 0 || i == n - 1 || i * wanted / n != (i - 1) * wanted / n;
}
