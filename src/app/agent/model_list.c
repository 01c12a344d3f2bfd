// model_list.c - the models that a server has: GET …/models, as servers of chat completions answer it.
#include "app/agent/agent_setup.h"
#include "pons/ext/http.h"

#include <stdlib.h>
#include <string.h>

#define BODY_MAX 1048576 // bytes
#define WHOLE_MS 10000

// The reply's body in `body`; an error says why there is none.
static int get(const char *url, pons_buf *body, pons_error *err)
{
    const pons_http_ops *http = NULL;
    void *client = NULL;
    pons_http_url u = {0};
    char bearer[4096];
    const char *key = getenv("OPENAI_API_KEY");
    const char *headers[] = {NULL, NULL};
    int rc = pons_http_load(&http, err);
    rc = rc < 0 ? rc : http->url(url, "/models", &u, err);
    rc = rc < 0 ? rc : http->open(NULL, NULL, &client, err);
    if (key && *key &&
        snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", key) < (int)sizeof bearer) {
        headers[0] = bearer;
    }
    const pons_http_request request = {.url = u.url,
                                       .headers = headers,
                                       .decode = true,
                                       .body_max = BODY_MAX,
                                       .connect_ms = WHOLE_MS,
                                       .whole_ms = WHOLE_MS};
    int status = 0;
    rc = rc < 0 ? rc : pons_http_call(http, client, 1, &request, -1, body, &status, err);
    if (rc >= 0 && status != 200) {
        rc = pons_error_set(err, PONS_EENV, "llm", "%s: HTTP status %d", u.shown, status);
    }
    if (client) {
        http->close(client);
    }
    free(u.url);
    free(u.shown);
    return rc;
}

int app_model_list(const char *llm_spec, pons_value **ret, pons_error *err)
{
    const char *url = app_llm_spec(llm_spec);
    if (!url || strncmp(url, "http", 4) != 0) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "llm",
                              "%s is no server that could be asked for its models",
                              url ? url : "the model");
    }
    pons_autobuf body = PONS_BUF_INIT;
    pons_autovalue reply = NULL;
    int rc = get(url, &body, err);
    rc = rc < 0 ? rc : pons_value_parse(body.data ? body.data : "", body.len, &reply, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *list = pons_get(reply, "data");
    pons_value *names = json_array();
    pons_each(m, list ? list : pons_get(reply, "models")) {
        const char *name = pons_get_str(m, "id", pons_get_str(m, "name", ""));
        if (*name) {
            json_array_append_new(names, json_string(name));
        }
    }
    *ret = names;
    return PONS_OK;
}
