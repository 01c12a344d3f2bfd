// static_files.c - the page's files: index.html, and modules, styles and pictures below it.
//
// They are read once, from ui/ beside the other shared data, without what only their readers need (a sixth of what goes over the wire), packed (gzip)
// where that helps, and named by a hash of what they are (ETag), so a browser asks and is told that it
// has them. With `--ui DIR` each request reads DIR anew, as it is, for whoever works on the page. A file is found by its name
// in the list that was read, never by a path that a client wrote.
//
//     GET /        GET /ui/NAME        GET /ui/FOLDER/NAME        GET /v1/stop: {port}, of Stop
#include "serve/page/static_files.h"

#include "pons/file.h"
#include "pons/module.h"
#include "pons/random.h"
#include "serve/access/reply.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILES_MAX  128
#define FILE_BYTES (2 * 1024 * 1024)
#define DEPTH_MAX  2 // folders in ui/

typedef struct file {
    char name[128]; // from ui/, "views/now.js"
    const char *type;
    char etag[40]; // with its quotation marks
    char *data, *packed;
    size_t n, packed_n; // packed_n 0: it would not be smaller
} file;

struct pons__page {
    char dir[1024];
    file files[FILES_MAX];
    size_t n;
    bool as_is; // --ui
};

// ---- reading ------------------------------------------------------------------------------------

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".json", "application/json"},
        {".png", "image/png"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(dot, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return NULL;
}

static void pack(file *f)
{
    z_stream z = {.next_in = (Bytef *)f->data, .avail_in = (uInt)f->n};
    f->packed = malloc(f->n + 64);
    if (!f->packed || deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        return;
    }
    z.next_out = (Bytef *)f->packed;
    z.avail_out = (uInt)f->n + 64;
    if (deflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out < f->n) {
        f->packed_n = z.total_out;
    }
    deflateEnd(&z);
}

static void clear(file *f)
{
    free(f->data);
    free(f->packed);
    *f = (file){.data = NULL};
}

// Behind the comment that begins at `at`; n: it does not end.
static size_t behind(const char *text, size_t n, size_t at, bool *ret_lines)
{
    *ret_lines = false;
    for (size_t i = at + 2; i + 1 < n; i++) {
        *ret_lines = *ret_lines || text[i] == '\n';
        if (text[i] == '*' && text[i + 1] == '/') {
            return i + 2;
        }
    }
    return n;
}

// Takes comments and indentation out of a module or a style of the page, in place; the new length. Comments are
// lines that begin with // and what stands between "/* " or "/**" and the next end of one, which is how ui/ writes
// them; a text or a pattern with these signs in it, and a text over several lines, would be changed, and ui/ has none.
static size_t slim_down(char *text, size_t n)
{
    size_t to = 0;
    bool begins = true; // a line, so far
    for (size_t i = 0; i < n;) {
        bool lines = false;
        const bool opens = n - i > 3 && text[i] == '/' && text[i + 1] == '*';
        if (opens && (text[i + 2] == ' ' || (text[i + 2] == '*' && text[i + 3] != '/'))) {
            i = behind(text, n, i, &lines);
            if (lines && !begins) { // it has ended a line where one may matter
                text[to++] = '\n';
                begins = true;
            }
        } else if (begins && n - i > 1 && text[i] == '/' && text[i + 1] == '/') {
            while (i < n && text[i] != '\n') {
                i++;
            }
        } else if (begins && (text[i] == ' ' || text[i] == '\n')) {
            i++;
        } else {
            begins = text[i] == '\n';
            text[to++] = text[i++];
        }
    }
    return to;
}

static int load(const char *dir, const char *name, bool slim, file *ret, pons_error *err)
{
    char path[1200];
    uint8_t hash[32];
    file f = {.type = type_of(name)};
    snprintf(f.name, sizeof f.name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f.data = pons_file_text(path, FILE_BYTES, &f.n);
    if (!f.data || f.n > FILE_BYTES) {
        free(f.data);
        return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "the page's %s cannot be read",
                              path);
    }
    if (slim && strncmp(f.type, "text/", 5) == 0) {
        f.n = slim_down(f.data, f.n);
    }
    pons_sha256(f.data, f.n, hash);
    snprintf(f.etag, sizeof f.etag, "\"%02x%02x%02x%02x%02x%02x%02x%02x\"", hash[0], hash[1],
             hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]);
    pack(&f);
    *ret = f;
    return PONS_OK;
}

static int load_folder(pons__page *p, const char *below, int depth, pons_error *err)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", p->dir, below);
    DIR *d = opendir(path);
    int rc = d ? PONS_OK
               : pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE,
                                "the page's folder %s is not there", path);
    for (const struct dirent *e = d ? readdir(d) : NULL; e && rc >= 0; e = readdir(d)) {
        char name[512];
        snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", e->d_name);
        if (e->d_name[0] == '.' || strlen(name) >= sizeof p->files[0].name) {
            continue;
        }
        if (e->d_type == DT_DIR && depth < DEPTH_MAX) {
            rc = load_folder(p, name, depth + 1, err);
        } else if (type_of(name) && p->n < FILES_MAX) {
            rc = load(p->dir, name, !p->as_is, &p->files[p->n], err);
            p->n += rc >= 0;
        }
    }
    if (d) {
        closedir(d);
    }
    return rc;
}

int pons__page_open(pons_serve *s, pons__page **ret, pons_error *err)
{
    pons__page *p = calloc(1, sizeof *p);
    int rc = p ? PONS_OK : pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for the page");
    if (rc >= 0 && s->o.ui_dir) {
        snprintf(p->dir, sizeof p->dir, "%s", s->o.ui_dir);
        p->as_is = true;
    } else if (rc >= 0) {
        char index[1024];
        rc = pons_share_path("ui/index.html", index, sizeof index, err);
        if (rc >= 0) {
            *strrchr(index, '/') = '\0';
            snprintf(p->dir, sizeof p->dir, "%s", index);
        }
    }
    rc = rc < 0 ? rc : load_folder(p, "", 0, err);
    if (rc < 0) {
        pons__page_close(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

void pons__page_close(pons__page *p)
{
    for (size_t i = 0; p && i < p->n; i++) {
        clear(&p->files[i]);
    }
    free(p);
}

// ---- the routes: workers ------------------------------------------------------------------------

static int send_file(pons__request *r, const file *f)
{
    char etag[64];
    const char *had = r->s->http->header(r->x, "If-None-Match");
    const char *packs = r->s->http->header(r->x, "Accept-Encoding");
    const bool packed = f->packed_n > 0 && packs && strstr(packs, "gzip");
    snprintf(etag, sizeof etag, "ETag: %s", f->etag);
    const char *headers[] = {etag, "Cache-Control: no-cache", "Vary: Accept-Encoding",
                             packed ? "Content-Encoding: gzip" : NULL, NULL};
    if (had && strstr(had, f->etag)) {
        headers[3] = NULL;
        return pons__reply_bytes(r, 304, f->type, headers, "", 0);
    }
    return pons__reply_bytes(r, 200, f->type, headers, packed ? f->packed : f->data,
                             packed ? f->packed_n : f->n);
}

static int send_named(pons__request *r, const char *name)
{
    const pons__page *p = r->s->page;
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->files[i].name, name) != 0) {
            continue;
        }
        if (!r->s->o.ui_dir) {
            return send_file(r, &p->files[i]);
        }
        file fresh = {.data = NULL};
        int rc = load(p->dir, p->files[i].name, false, &fresh, &r->err);
        rc = rc < 0 ? rc : send_file(r, &fresh);
        clear(&fresh);
        return rc;
    }
    return pons__reply_error(r, 404, "there is no such path");
}

// The row's file, or NAME, or FOLDER/NAME of the path.
static int in_ui(pons__request *r)
{
    char name[300];
    const char *first = r->word ? r->word : r->args[0];
    const char *below = r->n_args > 1 ? r->args[1] : "";
    const int n = snprintf(name, sizeof name, "%s%s%s", first, *below ? "/" : "", below);
    return send_named(r, n < (int)sizeof name ? name : "");
}

// Whoever may connect may stop, so where Stop is, is nobody's secret.
static int where_stop_is(pons__request *r)
{
    return pons__reply_json(r, 200, pons_object("port", json_integer(r->s->stop_port), NULL));
}

const pons__route pons__page_routes[] = {
    {"GET", "/", PONS__NOBODY, in_ui, .word = "index.html"},
    {"GET", "/v1/stop", PONS__NOBODY, where_stop_is},
    {"GET", "/ui/*", PONS__NOBODY, in_ui},
    {"GET", "/ui/*/*", PONS__NOBODY, in_ui},
    {NULL, NULL, PONS__NOBODY, NULL},
};
