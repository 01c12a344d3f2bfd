// route.c - which handler a request is for.
//
// A path is taken apart before it is decoded, so that an encoded slash stays inside its segment;
// then each segment is decoded. What decodes to a dot, two dots or a control character, or does not
// decode to UTF-8, is no path of ours. Rows of a table are compared segment by segment.
#include "serve/access/route.h"

#include "pons/buf.h"
#include "serve/access/openapi.h"
#include "serve/access/reply.h"

#include <stdio.h>
#include <string.h>

enum { SEGMENTS_MAX = 12 };

typedef struct segments {
    char *at[SEGMENTS_MAX];
    size_t n;
} segments;

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool plain(const char *s)
{
    const size_t n = strlen(s);
    if (strcmp(s, ".") == 0 || strcmp(s, "..") == 0) {
        return false;
    }
    for (size_t i = 0; i < n;) {
        const size_t k = pons_utf8_sequence(s + i, n - i);
        if (k == 0 || (unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
            return false;
        }
        i += k;
    }
    return true;
}

static bool take_apart(pons__request *r, segments *ret)
{
    const char *p = r->s->http->path(r->x);
    size_t used = 0;
    ret->n = 0;
    if (*p != '/') {
        return false;
    }
    while (*p == '/') {
        p++;
        if (*p == '\0' && ret->n > 0) {
            break; // a slash at the end
        }
        if (ret->n >= SEGMENTS_MAX) {
            return false;
        }
        ret->at[ret->n] = r->path + used;
        while (*p && *p != '/') {
            const bool encoded = *p == '%';
            const int high = encoded ? hex(p[1]) : 0;
            const int low = encoded && high >= 0 ? hex(p[2]) : 0;
            const int c = encoded ? high * 16 + low : *p;
            if (high < 0 || low < 0 || c == 0 || used + 2 > sizeof r->path) {
                return false;
            }
            r->path[used++] = (char)c;
            p += encoded ? 3 : 1;
        }
        r->path[used++] = '\0';
        if (used >= sizeof r->path || !plain(ret->at[ret->n])) {
            return false;
        }
        ret->n++;
    }
    return true;
}

static bool matches(const char *pattern, const segments *path, char **args, size_t *ret_n)
{
    size_t i = 0;
    *ret_n = 0;
    for (; *pattern == '/'; i++) {
        pattern++;
        const size_t n = strcspn(pattern, "/");
        if (i >= path->n) {
            return false;
        }
        const char *segment = path->at[i];
        if (n == 1 && *pattern == '*') {
            if (*segment == '\0' || *ret_n >= PONS__ARGS_MAX) {
                return false;
            }
            args[(*ret_n)++] = path->at[i];
        } else if (strlen(segment) != n || strncmp(segment, pattern, n) != 0) {
            return false;
        }
        pattern += n;
    }
    return i == path->n;
}

static void handle(pons__request *r, const pons__route *row)
{
    int rc = PONS_OK;
    r->word = row->word;
    if (r->role == PONS__NOBODY && row->role > PONS__NOBODY) {
        rc = pons__reply_error(r, 401, "a token is needed here (%s or more)",
                               pons__role_name(row->role));
    } else if (r->role < row->role) {
        rc = pons__reply_error(r, 403, "the %s's token may not do that; it takes the %s's",
                               pons__role_name(r->role), pons__role_name(row->role));
    } else if (r->openapi) {
        rc = pons__openapi_admits(r, row);
    }
    rc = rc < 0 ? rc : row->handle(r);
    if (rc < 0 && !r->status) {
        pons__reply_fault(r);
    }
}

void pons__route_request(pons__request *r, const pons__route *const *tables)
{
    segments path;
    char allow[128] = "";
    size_t used = 0;
    const char *method = r->s->http->method(r->x);
    if (!take_apart(r, &path)) {
        pons__reply_error(r, 400, "the path cannot be read");
        return;
    }
    for (; *tables; tables++) {
        for (const pons__route *row = *tables; row->path; row++) {
            if (!matches(row->path, &path, r->args, &r->n_args)) {
                continue;
            }
            if (strcmp(row->method, method) == 0 ||
                (strcmp(method, "HEAD") == 0 && strcmp(row->method, "GET") == 0)) {
                handle(r, row);
                return;
            }
            if (used < sizeof allow) {
                used += (size_t)snprintf(allow + used, sizeof allow - used, "%s%s",
                                         used ? ", " : "", row->method);
            }
        }
    }
    if (used > 0) {
        pons__reply_error(r, 405, "%s is not for this path; there is %s", method, allow);
    } else {
        pons__reply_error(r, 404, "there is no such path");
    }
}
