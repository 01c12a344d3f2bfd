// fuzz_mcap.c - whatever a recording's file holds, its reader has an error that says where, or counts that fit what it
// gave.
//
// The corpus is written by PyPI's mcap, without checksums, so that mutations reach what is behind them.
#include "pons/mcap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

typedef struct given {
    uint64_t messages, bytes;
} given;

static int on_message(void *user, const pons_mcap_message *m)
{
    given *g = user;
    g->messages++;
    for (size_t i = 0; i < m->n; i++) { // all of it may be read
        g->bytes += (uint8_t)m->data[i];
    }
    must(m->topic && m->schema && m->encoding);
    return PONS_OK;
}

static void check_file(const char *path)
{
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    given g = {0};
    const int rc = pons_mcap_read(path, on_message, &g, &a, &err);
    uint64_t of_topics = 0;
    for (size_t i = 0; i < json_array_size(a.topics); i++) {
        of_topics += (uint64_t)pons_get_int(json_array_get(a.topics, i), "messages", 0);
    }
    must(rc == PONS_OK || rc == PONS_ECORRUPT || rc == PONS_EINVAL || rc == PONS_EUNSUPPORTED);
    must(rc == PONS_OK || err.source[0]);
    must(g.messages == a.messages && of_topics == a.messages && a.read <= a.bytes);
    must(rc < 0 || a.whole || a.why[0]);
    pons_mcap_about_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    if (fd < 0) {
        fd = memfd_create("recording", MFD_CLOEXEC);
    }
    must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check_file(path);
    return 0;
}
