// models.c - the provider of a model that --llm and the environment name.
#include "app/workspace/context.h"
#include "pons/llm.h"

#include <stdlib.h>
#include <string.h>

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

// A URL of a server, or NAME:WHAT of the module llm-NAME. The key is for servers of the first kind
// only: another provider's it is not.
static int server_config(const char *spec, pons_value **ret, pons_error *err)
{
    const bool url = strncmp(spec, "http://", 7) == 0 || strncmp(spec, "https://", 8) == 0;
    const size_t name = url ? 0 : strspn(spec, name_letters);
    if (!url && (name == 0 || spec[name] != ':' || strncmp(spec + name, "://", 3) == 0)) {
        return pons_error_set(err, PONS_EINVAL, "llm",
                              "--llm takes a URL, rules, script:FILE, record:FILE:URL, "
                              "replay:FILE or NAME:… of a module llm-NAME, not '%s'",
                              spec);
    }
    const char *model = getenv("PONS_LLM_MODEL"), *given = getenv("PONS_LLM_TIMEOUTS");
    const char *key = url ? getenv("OPENAI_API_KEY") : NULL;
    pons_value *timeouts = NULL;
    if (given && *given &&
        (pons_value_parse(given, strlen(given), &timeouts, err) != PONS_OK ||
         !json_is_object(timeouts))) {
        pons_value_unref(timeouts);
        return pons_error_set(err, PONS_EINVAL, "llm",
                              "PONS_LLM_TIMEOUTS should be like {\"first_byte_s\": 120}");
    }
    *ret = pons_object("url", json_string(url ? spec : spec + name + 1), "model",
                       json_string(model && *model ? model : "default"), "api_key",
                       key && *key ? json_string(key) : NULL, "timeouts", timeouts, NULL);
    if (*ret && !url) {
        json_object_set_new(*ret, "provider", json_stringn(spec, name));
    }
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "llm", "no memory");
}

// The configuration that the words of --llm stand for.
static int llm_config(const char *spec, pons_value **ret, pons_error *err)
{
    static const char script[] = "script:", replay[] = "replay:", order[] = "replay-order:";
    static const char record[] = "record:";
    if (strncmp(spec, script, strlen(script)) == 0) {
        *ret = pons_object("path", json_string(spec + strlen(script)), NULL);
    } else if (strncmp(spec, replay, strlen(replay)) == 0) {
        *ret = pons_object("provider", json_string("replay"), "path",
                           json_string(spec + strlen(replay)), NULL);
    } else if (strncmp(spec, order, strlen(order)) == 0) {
        *ret = pons_object("provider", json_string("replay"), "compare", json_string("order"),
                           "path", json_string(spec + strlen(order)), NULL);
    } else if (strncmp(spec, record, strlen(record)) == 0) {
        const char *path = spec + strlen(record), *what = strstr(path, ":http");
        what = what ? what : strstr(path, ":script:");
        if (!what || what == path) {
            return pons_error_set(err, PONS_EINVAL, "llm",
                                  "--llm record:FILE:URL needs a file and a URL, not '%s'", spec);
        }
        int rc = llm_config(what + 1, ret, err);
        if (rc == PONS_OK) {
            json_object_set_new(*ret, "record", json_stringn(path, (size_t)(what - path)));
        }
        return rc;
    } else {
        return server_config(spec, ret, err);
    }
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "llm", "no memory");
}

const char *app_llm_spec(const char *typed)
{
    const char *url = getenv("PONS_LLM_URL");
    url = url && *url ? url : getenv("OPENAI_BASE_URL");
    const char *spec = typed ? typed : url;
    return spec && *spec && strcmp(spec, "rules") != 0 ? spec : NULL;
}

int app_llm_config(const char *spec, const pons_value *pictures, pons_value **ret, pons_error *err)
{
    const int rc = llm_config(spec, ret, err);
    if (rc == PONS_OK && pictures) {
        json_object_set_new(*ret, "pictures", pons_value_ref(pictures));
    }
    return rc;
}

bool app_llm_asks(const char *spec, const pons_value *pictures, char *ret, size_t cap)
{
    pons_autovalue config = NULL;
    pons_error none = PONS_ERROR_INIT;
    spec = app_llm_spec(spec);
    return spec && app_llm_config(spec, pictures, &config, &none) == PONS_OK &&
           pons_llm_pictures_need_consent(config, ret, cap);
}

int app_llm(const char *spec, const pons_value *pictures, const pons_clock *clock, pons_llm *ret,
            pons_error *err)
{
    *ret = (pons_llm){0};
    spec = app_llm_spec(spec);
    if (!spec) {
        return PONS_OK;
    }
    pons_autovalue config = NULL;
    pons_llm_factory *factory = NULL;
    int rc = app_llm_config(spec, pictures, &config, err);
    rc = rc == PONS_OK ? pons_llm_factory_create(clock, &factory, err) : rc;
    rc = rc == PONS_OK ? pons_llm_factory_open(factory, config, ret, err) : rc;
    pons_llm_factory_destroy(factory); // the handle keeps what it needs
    return rc;
}
