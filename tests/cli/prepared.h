// prepared.h - a workspace that is made once, in which the tests of a file begin: each takes a copy.
#ifndef CLI_PREPARED_H
#define CLI_PREPARED_H

#include "cli_bench.h"

// Ends its body as a person does, and until it is gone: nothing of this workspace runs then, and it can be copied.
void bench_rests(bench *b);
// Opens b with a copy of that workspace, and with its share directory. `of` stays open for as long as b.
void bench_open_copy(bench *b, const bench *of);

#endif
