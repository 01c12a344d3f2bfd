// driver.c - runs a fuzzer of this folder where there is no libFuzzer: every file of a corpus, then
// mutations of them, as many as are asked for. Its options are spelled as libFuzzer's.
//
//     fuzz_NAME [-runs=N [-full=N]] [-seed=N] [-max_len=N] [-artifact_prefix=PREFIX] FOLDER|FILE…
//
// -full is ours: so many runs instead where PONS_TEST_FULL is set (tests/rounds.h).
//
// The same seed, corpus and number of runs give the same inputs on every machine. Without a folder
// only the files are run, as they are. What crashes is kept in PREFIX and `crash-` and the seed and
// run; how to repeat it is the last line.
//
// This finds less than libFuzzer, which sees which branches an input took: `./dev fuzz`.
#include "pons/buf.h"
#include "pons/random.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUTS_MAX 4096
#define MAX_LEN    4096
#define CHANGES    6 // of one mutation, at most
#define GROWTH     64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

typedef struct input {
    uint8_t *data;
    size_t n;
} input;

static input corpus[INPUTS_MAX];
static size_t n_corpus;

// What a crash is told with.
static const char *program, *prefix = "";
static const uint8_t *now;
static size_t now_len;
static unsigned long long seed = 1, run, runs = 10000, full, max_len = MAX_LEN;
static volatile sig_atomic_t dying;

static void put(const char *text)
{
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void keep_input(void)
{
    char path[512], line[1200];
    if (dying++ || !now) {
        return;
    }
    snprintf(path, sizeof path, "%scrash-%llu-%llu", prefix, seed, run);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool kept = fd >= 0 && write(fd, now, now_len) == (ssize_t)now_len;
    snprintf(line, sizeof line, "\nfuzz: input %s %s\nfuzz: repeat it: %s %s\n",
             kept ? "kept in" : "cannot be kept in", path, program, path);
    put(line);
}

static void on_signal(int s)
{
    keep_input();
    signal(s, SIG_DFL);
    raise(s);
}

// A copy of its own size: a sanitizer sees what is read behind it.
static void try_one(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy) {
        return;
    }
    if (n) {
        memcpy(copy, data, n);
    }
    now = copy;
    now_len = n;
    LLVMFuzzerTestOneInput(copy, n);
    now = NULL;
    free(copy);
}

static bool load(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && n_corpus < INPUTS_MAX && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ok) {
        input *in = &corpus[n_corpus];
        in->data = malloc((size_t)st.st_size + 1);
        const ssize_t n = in->data ? read(fd, in->data, (size_t)st.st_size) : -1;
        ok = n >= 0;
        in->n = ok ? (size_t)n : 0;
        n_corpus++;
    }
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static bool load_folder(const char *path)
{
    struct dirent **list = NULL;
    const int n = scandir(path, &list, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char file[1024];
        snprintf(file, sizeof file, "%s/%s", path, list[i]->d_name);
        load(file);
        free(list[i]);
    }
    free(list);
    return n >= 0;
}

// ---- mutations ----------------------------------------------------------------------------------

static uint8_t odd_byte(pons_rand *r)
{
    static const uint8_t odd[] = {0,    1,    '\n', '\t', '"',  '\\', '{',  '}',  '[',  ']', '<',
                                  '>',  '&',  ';',  ':',  ',',  '-',  '0',  '9',  0x1b, ' ', 0x7f,
                                  0x80, 0xc2, 0xe2, 0xed, 0xf0, 0xf4, 0xfe, 0xff, 'e',  '.'};
    return pons_rand_below(r, 2) ? odd[pons_rand_below(r, sizeof odd)]
                                 : (uint8_t)pons_rand_below(r, 256);
}

static const char *odd_word(pons_rand *r)
{
    static const char *const odd[] = {"9223372036854775808",
                                      "-9223372036854775808",
                                      "1e309",
                                      "0x",
                                      "null",
                                      "true",
                                      "\"\"",
                                      "{}",
                                      "[]",
                                      "\\u0000",
                                      "\\ud800",
                                      "\xe2\x80\xae",
                                      "\xef\xbf\xbd",
                                      "\x1b[2J",
                                      "\r\n",
                                      "../"};
    return odd[pons_rand_below(r, sizeof odd / sizeof odd[0])];
}

static size_t insert(uint8_t *d, size_t n, size_t at, const void *bytes, size_t k)
{
    k = k > max_len - n ? max_len - n : k;
    memmove(d + at + k, d + at, n - at);
    memcpy(d + at, bytes, k);
    return n + k;
}

// One change of n bytes in a buffer of max_len; the new length.
static size_t change(pons_rand *r, uint8_t *d, size_t n)
{
    const size_t at = pons_rand_below(r, n + 1);
    const size_t len = n > at ? 1 + pons_rand_below(r, n - at < GROWTH ? n - at : GROWTH) : 0;
    uint8_t piece[GROWTH];
    switch (pons_rand_below(r, 7)) {
    case 0: // a byte, a bit
        if (at < n) {
            d[at] = pons_rand_below(r, 2) ? odd_byte(r) : d[at] ^ (1U << pons_rand_below(r, 8));
        }
        return n;
    case 1: // a piece less
        memmove(d + at, d + at + len, n - at - len);
        return n - len;
    case 2: // a piece twice, or somewhere else
        memcpy(piece, d + at, len);
        return insert(d, n, pons_rand_below(r, n + 1), piece, len);
    case 3: // bytes
        for (size_t i = 0; i < sizeof piece; i++) {
            piece[i] = odd_byte(r);
        }
        return insert(d, n, at, piece, 1 + pons_rand_below(r, 8));
    case 4: { // a word that is a trap somewhere
        const char *w = odd_word(r);
        return insert(d, n, at, w, strlen(w));
    }
    case 5: { // a piece of another input
        const input *o = &corpus[pons_rand_below(r, n_corpus)];
        if (o->n == 0) {
            return n;
        }
        const size_t from = pons_rand_below(r, o->n);
        const size_t most = o->n - from < 4 * GROWTH ? o->n - from : 4 * GROWTH;
        return insert(d, n, at, o->data + from, 1 + pons_rand_below(r, most));
    }
    default: // an end
        return pons_rand_below(r, 4) ? n : at;
    }
}

static void mutate_all(void)
{
    uint8_t *d = malloc(max_len);
    pons_rand r;
    pons_rand_seed(&r, seed);
    if (!d || n_corpus == 0) {
        free(d);
        return;
    }
    for (run = 1; run <= runs; run++) {
        const input *from = &corpus[pons_rand_below(&r, n_corpus)];
        size_t n = from->n < max_len ? from->n : max_len;
        memcpy(d, from->data, n);
        for (uint64_t i = 1 + pons_rand_below(&r, CHANGES); i > 0; i--) {
            n = change(&r, d, n);
        }
        try_one(d, n);
    }
    free(d);
}

static bool option(const char *arg, const char *name, unsigned long long *ret)
{
    const size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0) {
        return false;
    }
    *ret = strtoull(arg + n, NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    bool folders = false;
    program = argv[0];
    if (LLVMFuzzerInitialize) {
        LLVMFuzzerInitialize(&argc, &argv);
    }
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
    }
    signal(SIGABRT, on_signal);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (option(argv[i], "-runs=", &runs) || option(argv[i], "-full=", &full) ||
            option(argv[i], "-seed=", &seed) || option(argv[i], "-max_len=", &max_len)) {
            continue;
        }
        if (strncmp(argv[i], "-artifact_prefix=", 17) == 0) {
            prefix = argv[i] + 17;
            continue;
        }
        const bool folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        folders |= folder;
        if (*argv[i] == '-' || !(folder ? load_folder(argv[i]) : load(argv[i]))) {
            fprintf(stderr, "fuzz: cannot read %s\n", argv[i]);
            return 2;
        }
    }
    if (full && getenv("PONS_TEST_FULL")) {
        runs = full;
    }
    if (n_corpus == 0 || max_len == 0) {
        fprintf(stderr, "fuzz: no input to begin with\n");
        return 2;
    }
    printf("fuzz: %zu inputs, %llu mutations, seed %llu\n", n_corpus, folders ? runs : 0ULL, seed);
    fflush(stdout);
    for (size_t i = 0; i < n_corpus; i++) {
        try_one(corpus[i].data, corpus[i].n);
    }
    if (folders) {
        mutate_all();
    }
    for (size_t i = 0; i < n_corpus; i++) {
        free(corpus[i].data);
    }
    return 0;
}
