// tools_fixture.h - a workspace in a directory of its own, with the core tools on it, and a host
// that asks one call at a time.
#ifndef PONS_TESTS_TOOLS_FIXTURE_H
#define PONS_TESTS_TOOLS_FIXTURE_H

#include "pons/tools.h"

#include <limits.h>

typedef struct bench {
    char root[PATH_MAX - 512]; // mkdtemp; the workspace is root/ws, what is outside root/out
    char ws[PATH_MAX - 256];
    pons_tools tools;
    uint64_t calls;
} bench;

void bench_open(bench *b, const char *config); // JSON without the workspace; NULL: defaults
void bench_reopen(bench *b, const char *config);
void bench_close(bench *b); // removes everything
void bench_write(const bench *b, const char *relative, const char *bytes, size_t n); // to root
char *bench_read(const bench *b, const char *relative, size_t *ret_n);
pons_value *bench_json(const char *text);

// Starts a call and waits for its last event.
pons_tool_event bench_call_key(bench *b, const char *tool, const char *args, const char *key);
pons_tool_event bench_call(bench *b, const char *tool, const char *args);
pons_tool_event bench_wait(bench *b, uint64_t call);
pons_tool_event bench_wait_any(bench *b); // of whichever call
// The output of a call that must work; the caller frees.
char *bench_output(bench *b, const char *tool, const char *args);
// A call that must fail with this status, and with a message that has `says` in it.
void bench_refused(bench *b, const char *tool, const char *args, int status, const char *says);

#endif
