// out_of_memory.c - the one way in which a process ends without memory.
//
// No allocation, no stdio, no atexit handlers: a handler might need memory itself. Files are safe,
// for what was promised has been written and synced before it was promised.
#include "pons/out_of_memory.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_ENVIRONMENT = 3 };

static void say(const char *text)
{
    const ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n; // there is nobody else to tell
}

__attribute__((noreturn)) void pons_end_no_memory(const char *what)
{
    say("pons: out of memory (");
    say(what ? what : "unknown");
    say("); nothing that was confirmed is lost\n");
    _exit(EXIT_ENVIRONMENT);
}

void *pons_need(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) {
        pons_end_no_memory("an object");
    }
    return p;
}

void *pons_need_zeroed(size_t count, size_t n)
{
    void *p = calloc(count ? count : 1, n ? n : 1);
    if (!p) {
        pons_end_no_memory("an object");
    }
    return p;
}

void *pons_need_more(void *old, size_t n)
{
    void *p = realloc(old, n ? n : 1);
    if (!p) {
        pons_end_no_memory("a list that grows");
    }
    return p;
}

char *pons_need_text(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) {
        pons_end_no_memory("a text");
    }
    return copy;
}

void pons_memory_of_a_process(void)
{
    json_set_alloc_funcs(pons_need, free);
}
