// epoch_file.c - see epoch_file.h.
//
// The state is one line, e.g.
//
//   {"boot_id":"5d…","epoch":3,"latched":true,"origin":"stop","reason":"a person","sum":"9f86…"}\n
//
// and is whole only when every byte is: the checksum covers what is before it, the checksum's own
// frame and the newline are compared. Who reads it takes anything else as damage, never as an older
// version, because a latch may have been in it.
//
//   write NAME.new -> fsync -> rename over NAME -> fsync of the directory -> it is durable
//
// A crash before the rename leaves the old line, one after it the new line. If the directory's sync
// fails, which of the two is there is not known: the caller is told of a failure and writes again.
#include "body/safety/epoch_file.h"

#include "pons/fields.h"
#include "pons/file.h"
#include "pons/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE    "body"
#define FILE_MODE 0600
#define STATE_MAX 4096 // bytes; a longer file is none of ours

#define SUM_HEAD   ",\"sum\":\""
#define SUM_TAIL   "\"}"
#define SUM_DIGITS 16
#define SUM_FRAME  (sizeof SUM_HEAD - 1 + SUM_DIGITS + sizeof SUM_TAIL - 1)
// Characters of the frame that are enough to know it again when some of it is damaged.
#define SUM_KNOWN 6

const char *pons__origin_word(pons__origin o)
{
    static const char *const words[] = {
#define ORIGIN_WORD(sym, word) [sym] = word,
        PONS__ORIGIN_TABLE(ORIGIN_WORD)
#undef ORIGIN_WORD
    };
    return words[o];
}

pons__origin pons__origin_of(const char *word)
{
    for (int o = PONS__ORIGIN_NONE; o <= (int)PONS__ORIGIN_STOP; o++) {
        if (strcmp(word, pons__origin_word((pons__origin)o)) == 0) {
            return (pons__origin)o;
        }
    }
    return PONS__ORIGIN_UNKNOWN;
}

// ---- the state ----------------------------------------------------------------------------------

int pons__durable_load(const char *path, pons__durable *ret, pons_error *err)
{
    char *text = NULL;
    size_t n = 0;
    int rc = pons__read_run_file(path, STATE_MAX, &text, &n, err);
    if (rc == PONS_OK && (rc = pons__durable_parse(text, n, ret, err)) < 0) {
        pons_error_source(err, "%s", path);
    }
    free(text);
    return rc;
}

static int damaged(pons_error *err, const char *why)
{
    return pons_error_set(err, PONS_ECORRUPT, MODULE, "the latch's state is damaged: %s", why);
}

int pons__format_check(const pons_value *line, const char *what, pons_error *err)
{
    const int64_t format = pons_get_int(line, "format", PONS__FORMAT);
    return format <= PONS__FORMAT
               ? PONS_OK
               : pons_error_set(err, PONS_EUNSUPPORTED, MODULE,
                                "%s has format %lld, this program knows up to %d", what,
                                (long long)format, PONS__FORMAT);
}

int pons__durable_parse(const char *text, size_t n, pons__durable *ret, pons_error *err)
{
    if (n == 0 || text[n - 1] != '\n' || pons__sum_check(text, n - 1) != PONS__SUM_GOOD) {
        return damaged(err, n == 0 ? "it is empty" : "its checksum does not fit");
    }
    pons_autovalue v = NULL;
    if (pons_value_parse(text, n - 1, &v, NULL) < 0) {
        return damaged(err, "it is no JSON");
    }
    if (pons__format_check(v, "the latch's state", err) < 0) {
        return PONS_EUNSUPPORTED;
    }
    const int64_t epoch = pons_get_int(v, "epoch", -1);
    const pons_value *latched = pons_get(v, "latched");
    const int64_t taken = pons_get_int(v, "taken_pct", 0); // a body that knew of none wrote none
    if (epoch < 0 || epoch > PONS__EPOCH_MAX || !json_is_boolean(latched) || taken < 0 ||
        taken > 100 - PONS__PACE_LEAST_PCT) {
        return damaged(err, "it lacks what it must have");
    }
    *ret =
        (pons__durable){.epoch = epoch, .latched = json_is_true(latched), .taken_pct = (int)taken};
    ret->origin = pons__origin_of(pons_get_str(v, "origin", "?"));
    snprintf(ret->boot_id, sizeof ret->boot_id, "%s", pons_get_str(v, "boot_id", ""));
    snprintf(ret->reason, sizeof ret->reason, "%s", pons_get_str(v, "reason", ""));
    return PONS_OK;
}

int pons__durable_save(const char *path, const pons__durable *d, pons_error *err)
{
    pons_autovalue v =
        pons_object("epoch", json_integer(d->epoch), "boot_id", json_string(d->boot_id), "latched",
                    json_boolean(d->latched), "origin", json_string(pons__origin_word(d->origin)),
                    "reason", pons_text(d->reason), "taken_pct", json_integer(d->taken_pct), NULL);
    char *text = NULL;
    const long n = v ? pons__sum_line(v, &text) : -1;
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the latch's state");
    }
    const int rc = pons__replace_file(path, text, (size_t)n, true, err);
    free(text);
    return rc;
}

// ---- checksums ----------------------------------------------------------------------------------

static void digest(const char *text, size_t n, char ret[SUM_DIGITS + 1])
{
    uint8_t hash[32];
    pons_sha256(text, n, hash);
    for (size_t i = 0; i < SUM_DIGITS / 2; i++) {
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
    }
}

long pons__sum_line(const pons_value *v, char **ret)
{
    char *plain = NULL, sum[SUM_DIGITS + 1];
    const long n = pons_value_line(v, &plain);
    if (n < 3 || plain[n - 1] != '}') { // an object with a member
        free(plain);
        return -1;
    }
    const size_t body = (size_t)n - 1;
    char *line = malloc(body + SUM_FRAME + 2);
    if (line) {
        memcpy(line, plain, body);
        digest(line, body, sum);
        snprintf(line + body, SUM_FRAME + 2, SUM_HEAD "%s" SUM_TAIL "\n", sum);
    }
    free(plain);
    *ret = line;
    return line ? (long)(body + SUM_FRAME + 1) : -1;
}

// A frame that is damaged itself must not pass as a line that never had one.
pons__sum pons__sum_check(const char *line, size_t n)
{
    if (n < SUM_FRAME) {
        return PONS__SUM_NONE;
    }
    const char *head = line + n - SUM_FRAME, *tail = line + n - (sizeof SUM_TAIL - 1);
    size_t same = 0;
    for (size_t i = 0; i < sizeof SUM_HEAD - 1; i++) {
        same += head[i] == SUM_HEAD[i];
    }
    for (size_t i = 0; i < sizeof SUM_TAIL - 1; i++) {
        same += tail[i] == SUM_TAIL[i];
    }
    if (same < sizeof SUM_HEAD - 1 + sizeof SUM_TAIL - 1) {
        return same >= SUM_KNOWN ? PONS__SUM_BAD : PONS__SUM_NONE;
    }
    char sum[SUM_DIGITS + 1];
    digest(line, n - SUM_FRAME, sum);
    return memcmp(head + sizeof SUM_HEAD - 1, sum, SUM_DIGITS) == 0 ? PONS__SUM_GOOD
                                                                    : PONS__SUM_BAD;
}

// ---- files --------------------------------------------------------------------------------------

int pons__replace_file(const char *path, const char *text, size_t n, bool sync, pons_error *err)
{
    char *fresh = NULL;
    if (asprintf(&fresh, "%s.new", path) < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a path");
    }
    int rc = PONS_OK;
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    if (fd < 0 || pons__write_all(fd, text, n, 0) < 0 || (sync && fsync(fd) < 0) ||
        rename(fresh, path) < 0 || (sync && pons_file_sync_folder(path) < 0)) {
        rc = pons__io_error("cannot write", path, err);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc < 0) {
        unlink(fresh);
    }
    free(fresh);
    return rc;
}

int pons__write_all(int fd, const char *text, size_t n, int64_t at)
{
    while (n > 0) {
        const ssize_t put = pwrite(fd, text, n, at);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            if (put == 0) {
                errno = ENOSPC;
            }
            return -1;
        }
        text += put;
        n -= (size_t)put;
        at += put;
    }
    return 0;
}

int pons__read_run_file(const char *path, size_t most, char **ret, size_t *ret_n, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, most, &n);
    if (text && n <= most) {
        *ret = text;
        *ret_n = n;
        return PONS_OK;
    }
    const int why = text ? EFBIG : errno;
    int rc = text ? PONS_ECORRUPT : PONS_EIO;
    rc = why == ENOENT ? PONS_ENOTFOUND : rc;
    rc = why == ENOMEM ? PONS_ENOMEM : rc;
    free(text);
    pons_error_set(err, rc, MODULE, "cannot read the file");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", pons_file_why(why));
    return rc;
}

int pons__io_error(const char *what, const char *path, pons_error *err)
{
    const int why = errno;
    pons_error_set(err, PONS_EIO, MODULE, "%s the file", what);
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(why));
    return PONS_EIO;
}
