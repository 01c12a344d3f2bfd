// fetch_url.c - fetch_url: the page by http_get.c, then what a model can read of it.
//
// Text is brought to UTF-8 from what the server says it is (a page in GBK as well), web pages lose
// their markup, and what is not text is refused by its kind.
#include "tools/fetch_url.h"

#include "pons/buf.h"
#include "tools/command/command_risk.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/web/http_get.h"

#include <ctype.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TIMEOUT_S   20
#define MAX_KB      1024
#define REDIRECTS   5
#define CHARSET_MAX 40
#define META_BYTES  2048 // of a page that are searched for its charset
#define HTTP_ERROR  400

// The charset of "text/html; charset=gbk", or of a page's own <meta>.
static void find_charset(const char *text, size_t n, char ret[CHARSET_MAX])
{
    static const char name[] = "charset=";
    ret[0] = '\0';
    for (size_t i = 0; i + sizeof name <= n; i++) {
        if (strncasecmp(text + i, name, sizeof name - 1) != 0) {
            continue;
        }
        const char *at = text + i + sizeof name - 1;
        size_t len = 0;
        at += *at == '"' || *at == '\'';
        while (at + len < text + n && len + 1 < CHARSET_MAX &&
               (isalnum((unsigned char)at[len]) || strchr("-_.:", at[len]))) {
            ret[len] = at[len];
            len++;
        }
        ret[len] = '\0';
        return;
    }
}

// To UTF-8; what can't be converted is left out. An unknown charset leaves the bytes as they are.
static int convert(const char *charset, pons_buf *body)
{
    iconv_t cd = iconv_open("UTF-8", strcasecmp(charset, "gb2312") == 0 ? "GBK" : charset);
    if (cd == (iconv_t)-1) {
        return PONS_OK;
    }
    char out[4096], *in = body->data;
    size_t left = body->len;
    pons_buf text = PONS_BUF_INIT;
    while (left > 0) {
        char *to = out;
        size_t room = sizeof out;
        const size_t before = left;
        iconv(cd, &in, &left, &to, &room);
        pons_buf_bytes(&text, out, sizeof out - room);
        if (left == before && room == sizeof out) {
            in++;
            left--;
        }
    }
    iconv_close(cd);
    if (text.failed) {
        pons_buf_fini(&text);
        return PONS_ENOMEM;
    }
    pons_buf_fini(body);
    *body = text;
    return PONS_OK;
}

static bool is_page(const char *type, const pons_buf *body)
{
    const char *at = body->data;
    size_t n = body->len;
    while (n > 0 && isspace((unsigned char)*at)) {
        at++;
        n--;
    }
    return strncasecmp(type, "text/html", 9) == 0 ||
           strncasecmp(type, "application/xhtml", 17) == 0 ||
           (n > 9 && strncasecmp(at, "<!doctype", 9) == 0);
}

static int present(pons__work *w, pons__fetch_reply *reply, pons_error *err)
{
    char charset[CHARSET_MAX];
    pons_buf *body = &reply->body;
    find_charset(reply->type, strlen(reply->type), charset);
    const bool page = body->len > 0 && is_page(reply->type, body);
    if (!charset[0] && page) {
        find_charset(body->data, body->len < META_BYTES ? body->len : META_BYTES, charset);
    }
    if (charset[0] && strcasecmp(charset, "utf-8") != 0 && body->len > 0 &&
        convert(charset, body) < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the page");
    }
    const char *kind = body->len > 0 ? pons__binary_kind(body->data, body->len) : NULL;
    if (kind) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS, "%s is %s (%s), not text",
                              reply->url, kind, reply->type[0] ? reply->type : "no type");
    }
    pons_autobuf text = PONS_BUF_INIT;
    if (page) {
        pons__html_text(&text, body->data, body->len);
    } else {
        pons_buf_bytes(&text, body->data ? body->data : "", body->len);
    }
    const size_t room = pons__conf_output(w->core);
    const size_t n = text.len > room ? pons__text_cut(text.data, room) : text.len;
    pons__text_append(&w->out, text.data ? text.data : "", n, NULL);
    w->truncated = reply->truncated || n < text.len;
    if (w->truncated) {
        pons_buf_str(&w->out, "\n[cut here: the page goes on]");
    }
    if (reply->status >= HTTP_ERROR) {
        pons_buf_printf(&w->out, "\n[HTTP status %ld]", reply->status);
    }
    w->data = pons_object("url", json_string(reply->url), "status", json_integer(reply->status),
                          "type", json_string(reply->type), NULL);
    return PONS_OK;
}

int pons__fetch_url(pons__work *w, pons_error *err)
{
    char reason[PONS__LINE_MAX];
    const pons__core *c = w->core;
    const char *url = pons_get_str(w->args, "url", "");
    if (pons__url_risk(c, url, reason, sizeof reason) == PONS_TOOL_BLOCKED) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s", reason);
    }
    const pons_value *conf = pons_get(c->config, "fetch");
    const pons__fetch_request request = {
        .url = url,
        .max_bytes = (size_t)pons_get_int(conf, "max_kb", MAX_KB) * PONS__KIB,
        .timeout_ms = (long)pons_get_int(conf, "timeout_s", TIMEOUT_S) * 1000L,
        .redirects = (long)pons_get_int(conf, "redirects", REDIRECTS),
        .private_ok = pons_get_bool(conf, "private", false),
        .proxy = pons_get_str(conf, "proxy", ""),
        .cancel_fd = w->cancel_fd};
    pons__fetch_reply reply = {.status = 0};
    int rc = pons__fetch(&request, &reply, err);
    rc = rc < 0 ? rc : present(w, &reply, err);
    pons_buf_fini(&reply.body);
    return rc;
}
