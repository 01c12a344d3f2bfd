// token.c - who a client is, by the token that it shows.
//
// The token file has a line for each role, "operator 3f…": 256 random bits as hexadecimal digits. It
// is made by the first start, readable by its owner alone, and kept, so that a bookmark goes on
// working; whoever deletes it has changed the locks.
#include "serve/access/token.h"

#include "serve/access/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256

static const char *const names[PONS__ROLES] = {"nobody", "viewer", "operator", "admin"};

const char *pons__role_name(pons__role role)
{
    return names[role];
}

static bool fresh(char ret[PONS__TOKEN_TEXT + 1])
{
    unsigned char bytes[PONS__TOKEN_TEXT / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

static int make(const char *path, pons__tokens *ret, pons_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return pons_error_set(err, PONS_EENV, "serve", "%s cannot be made: %s", path,
                              strerror(errno));
    }
    bool ok = true;
    for (int role = PONS__VIEWER; role < PONS__ROLES; role++) {
        char line[LINE_MAX_BYTES];
        ok = ok && fresh(ret->text[role]);
        const int n = snprintf(line, sizeof line, "%s %s\n", names[role], ret->text[role]);
        ok = ok && write(fd, line, (size_t)n) == n;
    }
    ok = ok && fsync(fd) == 0;
    const int saved = errno;
    ok = close(fd) == 0 && ok;
    if (!ok) {
        unlink(path);
        return pons_error_set(err, PONS_EIO, "serve", "%s cannot be written: %s", path,
                              strerror(saved));
    }
    return PONS_OK;
}

static bool read_line(const char *line, pons__tokens *ret)
{
    char role[16], token[PONS__TOKEN_TEXT + 2];
    if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') {
        return true;
    }
    if (sscanf(line, "%15s %65s", role, token) != 2 || strlen(token) != PONS__TOKEN_TEXT) {
        return false;
    }
    for (const char *c = token; *c; c++) {
        if (!isxdigit((unsigned char)*c)) {
            return false;
        }
    }
    const int r = pons__word_at(names, PONS__ROLES, role);
    if (r >= PONS__VIEWER) {
        memcpy(ret->text[r], token, sizeof ret->text[r]);
    }
    return r >= PONS__VIEWER;
}

static int read_file(const char *path, FILE *f, pons__tokens *ret, pons_error *err)
{
    char line[LINE_MAX_BYTES];
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        if (!read_line(line, ret)) {
            return pons_error_set(err, PONS_EINVAL, "serve",
                                  "%s:%d: a line is `viewer`, `operator` or `admin` and 64 "
                                  "hexadecimal digits",
                                  path, n);
        }
    }
    return PONS_OK;
}

int pons__tokens_load(const char *path, pons__tokens *ret, pons_error *err)
{
    struct stat st;
    pons__tokens t = {{{0}}};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        const int made = make(path, &t, err);
        if (made >= 0) {
            *ret = t;
        }
        return made;
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        const int saved = errno;
        if (fd >= 0) {
            close(fd);
        }
        return pons_error_set(err, PONS_EENV, "serve", "%s cannot be read: %s", path,
                              strerror(saved));
    }
    FILE *f = fdopen(fd, "r");
    int rc = PONS_OK;
    if (!f) {
        close(fd);
        return pons_error_set(err, PONS_ENOMEM, "serve", "no memory for %s", path);
    }
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        rc = pons_error_set(err, PONS_EREFUSED, "serve",
                            "%s must be a file of yours that nobody else may read (chmod 600)",
                            path);
    }
    rc = rc < 0 ? rc : read_file(path, f, &t, err);
    fclose(f);
    if (rc >= 0) {
        *ret = t;
    }
    return rc;
}

pons__role pons__tokens_role(const pons__tokens *t, const char *shown)
{
    pons__role role = PONS__NOBODY;
    const size_t n = shown ? strlen(shown) : 0;
    for (int r = PONS__VIEWER; r < PONS__ROLES; r++) {
        unsigned differs = n != PONS__TOKEN_TEXT || t->text[r][0] == '\0';
        for (size_t i = 0; i < PONS__TOKEN_TEXT; i++) {
            const char c = i < n ? shown[i] : '\0';
            differs |= (unsigned)(unsigned char)(c ^ t->text[r][i]);
        }
        role = differs ? role : (pons__role)r;
    }
    return role;
}
