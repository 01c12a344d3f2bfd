// model_list.c - the list of models that a server has, and how many tokens each takes.
//
// OpenAI's list is {data: [{id, …}]}. How large a model's window is has no place in it, and servers
// say it in places of their own: llama.cpp in meta.n_ctx and meta.n_ctx_train, vLLM in max_model_len,
// OpenRouter, Mistral, LM Studio and others in context_length, max_context_length or context_window.
// Ollama's older list is {models: [{name}]}.
#include "llm/chat/chat.h"

#define WHERE      "llm"
#define MODELS_MAX 10000
#define TOKENS_MAX 1000000000

static int64_t window_of(const pons_value *model)
{
    static const char *const keys[] = {
        "n_ctx",          "max_model_len",      "loaded_context_length", "context_length",
        "context_window", "max_context_length", "n_ctx_train",           NULL};
    const pons_value *places[] = {model, pons_get(model, "meta"), pons_get(model, "top_provider")};
    for (size_t k = 0; keys[k]; k++) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            const int64_t n = pons_get_int(places[i], keys[k], 0);
            if (n > 0 && n < TOKENS_MAX) {
                return n;
            }
        }
    }
    return 0;
}

int pons__models_read(const char *text, size_t n, pons_value **ret, pons_error *err)
{
    pons_autovalue v = NULL;
    pons_error why = PONS_ERROR_INIT;
    if (pons_value_parse(text, n, &v, &why) < 0) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE,
                              "the server's list of models is not JSON");
    }
    const pons_value *data = pons_get(v, "data");
    data = json_is_array(data) ? data : json_is_array(v) ? v : pons_get(v, "models");
    if (!json_is_array(data) || json_array_size(data) > MODELS_MAX) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE,
                              "the server's list of models is not {data: [{id}]}");
    }
    pons_value *list = json_array();
    pons_each(m, data) {
        const char *id = pons_get_str(m, "id", pons_get_str(m, "name", NULL));
        const int64_t window = window_of(m);
        if (id) {
            json_array_append_new(list, pons_object("id", json_string(id), "context_tokens",
                                                    window ? json_integer(window) : NULL, NULL));
        }
    }
    *ret = pons_object("models", list, NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the models");
}
