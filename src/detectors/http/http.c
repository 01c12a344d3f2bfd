// http.c - the detector `http`: a service of one's own, or of somebody else's.
//
//     POST URL, Content-Type: image/jpeg      200 {"detections": [{"label", "score", "box": [left, top, width, height],
//     the picture ------------------------>       "identity"?}]}
//
// The picture leaves for that address, and for no other: a redirect is no answer. Boxes are pixels of the picture.
#include "pons/ext/http.h"

#include "pons/buf.h"
#include "pons/ext/detector.h"
#include "pons/module.h"
#include "pons/picture.h"
#include "pons/redact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "http"
enum { ANSWER_MAX_BYTES = 4 * 1024 * 1024, CONNECT_MS = 5000 };

typedef struct service {
    const pons_http_ops *http;
    void *client;
    char shown[200];    // url, as lines say it
    char *url, *bearer; // bearer: "Authorization: …", NULL: none
    int64_t limit_ms;
    uint64_t calls;
    pons_value *names; // of labels, others
} service;

static void service_close(void *self)
{
    service *s = self;
    if (s) {
        if (s->client) {
            s->http->close(s->client);
        }
        pons_value_unref(s->names);
        free(s->url);
        free(s->bearer);
        free(s);
    }
}

static int service_open(const pons_value *config, void **ret_self, pons_error *err)
{
    const char *url = pons_get_str(config, "url", NULL),
               *env = pons_get_str(config, "token_env", NULL);
    const char *token = env ? getenv(env) : NULL;
    if (!url) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "url is missing: where the picture is sent");
    }
    if (env && !token) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "token_env: there is no environment variable %.60s", env);
    }
    service *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a detector");
    }
    s->limit_ms =
        (int64_t)(900.0 * pons_get_num(config, "limit_s", 10.0)); // before the process is killed
    s->names = json_deep_copy(pons_get(config, "labels"));
    s->url = strdup(url);
    pons_url_redacted(url, s->shown, sizeof s->shown);
    int rc = pons_http_load(&s->http, err);
    rc = rc < 0 ? rc : s->http->open(NULL, NULL, &s->client, err);
    if (rc >= 0 &&
        (!s->url || (token && asprintf(&s->bearer, "Authorization: Bearer %s", token) < 0))) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a detector");
    }
    if (rc < 0) {
        service_close(s);
        return rc;
    }
    *ret_self = s;
    return PONS_OK;
}

static int ask(service *s, const void *jpeg, size_t n, pons_buf *text, pons_error *err)
{
    const char *const headers[] = {"Content-Type: image/jpeg", "Accept: application/json",
                                   s->bearer, NULL};
    const pons_http_request request = {.url = s->url,
                                       .headers = headers,
                                       .body = jpeg,
                                       .body_n = n,
                                       .body_max = ANSWER_MAX_BYTES,
                                       .connect_ms = CONNECT_MS,
                                       .whole_ms = s->limit_ms};
    int status = 0;
    const int rc = pons_http_call(s->http, s->client, ++s->calls, &request, -1, text, &status, err);
    return rc < 0 || status == 200 ? rc
                                   : pons_error_set(err, PONS_EIO, MODULE,
                                                    "%s answers with status %d", s->shown, status);
}

static void read_one(const service *s, pons_value *v, pons_detected *ret)
{
    const char *label = pons_get_str(v, "label", "");
    snprintf(ret->label, sizeof ret->label, "%s", pons_get_str(s->names, label, label));
    snprintf(ret->identity, sizeof ret->identity, "%s", pons_get_str(v, "identity", ""));
    ret->score = pons_get_num(v, "score", NAN);
    for (size_t i = 0; i < 4; i++) {
        const pons_value *side = json_array_get(json_object_get(v, "box"), i);
        ret->box[i] = json_is_number(side) ? json_number_value(side) : NAN;
    }
}

static int service_detect(void *self, const pons_picture_raw *p, const pons_lens *lens,
                          pons_detected ret[PONS_DETECTED_MAX], size_t *ret_n, pons_error *err)
{
    service *s = self;
    void *jpeg = NULL;
    pons_autobuf text = PONS_BUF_INIT;
    size_t n = 0;
    *ret_n = 0;
    int rc = pons_picture_jpeg(p, 0, &jpeg, &n, err);
    rc = rc < 0 ? rc : ask(s, jpeg, n, &text, err);
    pons_autovalue answer =
        rc < 0 ? NULL : json_loadb(text.data ? text.data : "", text.len, 0, NULL);
    const pons_value *list = pons_get(answer, "detections");
    if (rc >= 0 && !json_is_array(list)) {
        rc = pons_error_set(err, PONS_EPROTOCOL, MODULE,
                            "the answer of %s has no list `detections`", s->shown);
    } else if (json_array_size(list) > PONS_DETECTED_MAX) {
        rc = pons_error_set(err, PONS_EPROTOCOL, MODULE,
                            "the answer of %s has %zu detections, more than 256", s->shown,
                            json_array_size(list));
    }
    pons_each(one, rc < 0 ? NULL : list) {
        read_one(s, one, &ret[(*ret_n)++]);
    }
    free(jpeg);
    return rc;
}

static const pons_detector_ops ops = {.abi = PONS_DETECTOR_ABI,
                                      .open = service_open,
                                      .detect = service_detect,
                                      .close = service_close};

PONS_MODULE_EXPORT("detector", "http", &ops);
