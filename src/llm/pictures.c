// pictures.c - which of a conversation's pictures a server gets, and what the model is told of the others.
//
//     messages: pictures [{sha256, caption}] --newest first--> may it go?  --yes--> the file --> images [data URL]
//                                                               |  no                 | gone
//                                                               +---------------------+--> a line of text
//
// A conversation names pictures and has none of their bytes; these are put into the copy of a request that goes to the
// provider, and into nothing else. A server that says it takes no pictures is not sent any more: that is remembered for
// the model and its address, in a file, so that it is found out once.
#include "llm/pictures.h"

#include "pons/buf.h"
#include "pons/file.h"
#include "pons/log.h"
#include "pons/picture.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define WHERE    "llm"
#define MOST     2   // pictures of a request
#define FROM_MAX 512 // bytes of an address, and of a model's name

typedef struct gate {
    pons_llm_ops ops; // those below, under the inner one's name
    pons_llm inner;
    pons_value *config, *known; // known: {"MODEL at URL": false}
} gate;

// ---- where a server is --------------------------------------------------------------------------

// Its host and port, without what stands around them; *ret_host without the port.
static void address_of(const char *url, char *ret, size_t cap, char *ret_host, size_t host_cap)
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    const size_t n = strcspn(from, "/?#");
    const char *at = memrchr(from, '@', n), *end = from + n;
    from = at ? at + 1 : from;
    const bool bracket = *from == '[';
    const size_t host = bracket ? strcspn(from + 1, "]/?#") : strcspn(from, ":/?#");
    snprintf(ret, cap, "%.*s", (int)(end - from), from);
    snprintf(ret_host, host_cap, "%.*s", (int)host, from + bracket);
}

// Whether what is said to it stays on this machine: only by names that no proxy gets, either (http/curl). A module of
// somebody else's may go anywhere.
static bool is_here(const pons_value *config)
{
    char address[FROM_MAX], host[FROM_MAX];
    struct in_addr v4;
    const char *url = pons_get_str(config, "url", NULL);
    if (!url) {
        return pons_get(config, "path") || pons_get(config, "replies");
    }
    if (strcmp(pons_get_str(config, "provider", "openai"), "openai") != 0) {
        return false;
    }
    address_of(url, address, sizeof address, host, sizeof host);
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET);
}

static const char *sends(const pons_value *config)
{
    return pons_get_str(pons_get(config, "pictures"), "send", is_here(config) ? "allowed" : "ask");
}

// How a person is told the server, and how a yes names it.
static void server_of(const pons_value *config, char *ret, size_t cap)
{
    char host[FROM_MAX];
    address_of(pons_get_str(config, "url", pons_get_str(config, "provider", "?")), ret, cap, host,
               sizeof host);
}

bool pons_llm_pictures_need_consent(const pons_value *config, char *ret, size_t cap)
{
    const char *model = pons_get_str(pons_get(config, "pictures"), "model", "auto");
    if (!pons_get(config, "pictures") || strcmp(sends(config), "ask") != 0 ||
        strcmp(model, "no") == 0) {
        return false;
    }
    server_of(config, ret, cap);
    return true;
}

// ---- what a model takes -------------------------------------------------------------------------

static void key_of(const pons_value *config, const char *model, char ret[2 * FROM_MAX])
{
    char address[FROM_MAX], host[FROM_MAX]; // without user and password
    address_of(pons_get_str(config, "url", "?"), address, sizeof address, host, sizeof host);
    snprintf(ret, (size_t)2 * FROM_MAX, "%s at %s", model, address);
}

// Whether each model of a server does, as far as it was found out.
static pons_value *known_of(const pons_value *config)
{
    const char *path = pons_get_str(pons_get(config, "pictures"), "memory", NULL);
    pons_value *known = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!path || pons_value_load(path, &known, &none) < 0 || !json_is_object(known)) {
        pons_value_unref(known); // what is damaged is found out anew
        known = json_object();
    }
    return known;
}

static bool takes_pictures(const pons_value *config, const pons_value *known, const char *model)
{
    char from[2 * FROM_MAX];
    const char *says = pons_get_str(pons_get(config, "pictures"), "model", "auto");
    key_of(config, model ? model : pons_get_str(config, "model", "default"), from);
    return strcmp(says, "auto") == 0 ? pons_get_bool(known, from, true) : strcmp(says, "yes") == 0;
}

// ---- a request ----------------------------------------------------------------------------------

// Why no picture may go to this model; NULL: it may.
static const char *reason_of(const pons_value *config, const pons_value *known, const char *model,
                             const char *agreed)
{
    const char *send = sends(config);
    char server[FROM_MAX];
    server_of(config, server, sizeof server);
    const struct {
        bool is;
        const char *why;
    } reasons[] = {
        {strcmp(send, "never") == 0, "not sent: pictures stay on this machine (send: never)"},
        {!takes_pictures(config, known, model), "not sent: this model takes no pictures"},
        {strcmp(send, "ask") == 0 && (!agreed || !*server || strcmp(agreed, server) != 0),
         "not sent: no person has allowed that pictures go to this server"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].is) {
            return reasons[i].why;
        }
    }
    return NULL;
}

const char *pons_llm_pictures_withheld(const pons_value *config, const char *agreed)
{
    pons_autovalue known = known_of(config);
    return reason_of(config, known, NULL, agreed);
}

static pons_value *data_url(const gate *g, const char *name)
{
    void *bytes = NULL;
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    char line[512];
    const char *folder = pons_get_str(pons_get(g->config, "pictures"), "folder", "");
    if (pons_picture_get(folder, name, &bytes, &n, &err) < 0) {
        pons_log(PONS_LOG_WARN, WHERE, "%s", pons_error_line(&err, line, sizeof line));
        return NULL;
    }
    pons_autobuf url = PONS_BUF_INIT;
    pons_buf_str(&url, "data:image/jpeg;base64,");
    pons_buf_base64(&url, bytes, n);
    free(bytes);
    return url.failed ? NULL : json_string(url.data);
}

// A message with its pictures as images, or as words. *most: how many may still be sent; it goes down.
static pons_value *dressed(const gate *g, const pons_value *message, const char *why, int64_t *most)
{
    const pons_value *pictures = pons_get(message, "pictures");
    pons_value *images = json_array(), *all = json_copy((pons_value *)(uintptr_t)message);
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_str(&text, pons_get_str(message, "content", ""));
    for (size_t i = json_array_size(pictures); i-- > 0;) { // the newest is the last
        const pons_value *p = json_array_get(pictures, i);
        const char *fate = why || *most > 0 ? why : "not sent again";
        pons_value *url = fate ? NULL : data_url(g, pons_get_str(p, "sha256", ""));
        if (!fate) {
            fate = url ? "here" : "its file is gone";
        }
        *most -= url != NULL;
        pons_buf_printf(&text, "%s(picture: %s, %s)", text.len ? "\n" : "",
                        pons_get_str(p, "caption", "something"), fate);
        if (url) {
            json_array_append_new(images, url);
        }
    }
    json_object_del(all, "pictures");
    json_object_set_new(all, "content", json_string(text.failed ? "" : text.data));
    if (json_array_size(images) > 0) {
        json_object_set(all, "images", images);
    }
    json_decref(images);
    return all;
}

static bool has_pictures(const pons_value *messages)
{
    pons_each(m, messages) {
        if (json_array_size(pons_get(m, "pictures")) > 0) {
            return true;
        }
    }
    return false;
}

static int gate_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    gate *g = self;
    const pons_value *messages = pons_get(request, "messages");
    if (!has_pictures(messages)) {
        return g->inner.ops->start(g->inner.self, call, request, err);
    }
    pons_autovalue full = json_copy((pons_value *)(uintptr_t)request);
    pons_value *list = json_copy((pons_value *)(uintptr_t)messages);
    const char *why = reason_of(g->config, g->known, pons_get_str(request, "model", NULL),
                                pons_get_str(request, "pictures_allowed", NULL));
    int64_t most = pons_get_int(pons_get(g->config, "pictures"), "most", MOST);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const pons_value *m = json_array_get(list, i);
        if (json_array_size(pons_get(m, "pictures")) > 0) {
            json_array_set_new(list, i, dressed(g, m, why, &most));
        }
    }
    json_object_set_new(full, "messages", list);
    json_object_del(full, "pictures_allowed");
    return g->inner.ops->start(g->inner.self, call, full, err);
}

// ---- a reply ------------------------------------------------------------------------------------

static void learn(gate *g, const char *model)
{
    char from[2 * FROM_MAX];
    key_of(g->config, model, from);
    const char *path = pons_get_str(pons_get(g->config, "pictures"), "memory", NULL);
    json_object_set_new(g->known, from, json_false());
    char *text = path ? json_dumps(g->known, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    if (path && (!text || pons_file_replace(path, text, strlen(text), 0600) < 0)) {
        pons_log(PONS_LOG_WARN, WHERE, "cannot remember in %s that %s takes no pictures", path,
                 from);
    }
    free(text);
}

static bool gate_next(void *self, pons_llm_event *ret)
{
    gate *g = self;
    if (!g->inner.ops->next(g->inner.self, ret)) {
        return false;
    }
    const char *model =
        ret->kind == PONS_LLM_DONE ? pons_get_str(ret->value, "pictures_refused", NULL) : NULL;
    if (model) {
        learn(g, model);
    }
    return true;
}

static void gate_close(void *self)
{
    gate *g = self;
    if (g) {
        g->inner.ops->close(g->inner.self);
        pons_value_unref(g->config);
        pons_value_unref(g->known);
        free(g);
    }
}

static void gate_cancel(void *self, uint64_t call)
{
    const gate *g = self;
    g->inner.ops->cancel(g->inner.self, call);
}

static int gate_event_fd(void *self)
{
    const gate *g = self;
    return g->inner.ops->event_fd(g->inner.self);
}

static int gate_reopen(const pons_value *config, const pons_clock *clock, void **ret_self,
                       pons_error *err)
{
    return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "a provider is opened by its factory");
}

int pons__llm_pictures(pons_llm inner, const pons_value *config, pons_llm *ret, pons_error *err)
{
    gate *g = calloc(1, sizeof *g);
    if (!g) {
        inner.ops->close(inner.self);
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the model");
    }
    *g = (gate){.ops = {.abi = PONS_LLM_ABI,
                        .name = inner.ops->name,
                        .open = gate_reopen,
                        .close = gate_close,
                        .start = gate_start,
                        .cancel = gate_cancel,
                        .event_fd = gate_event_fd,
                        .next = gate_next},
                .inner = inner,
                .config = pons_value_ref(config),
                .known = known_of(config)};
    *ret = (pons_llm){.ops = &g->ops, .self = g};
    return PONS_OK;
}
