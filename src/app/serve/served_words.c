// served_words.c - what a run of the robot or the companion begins with: a person's words, said once.
//
// Where the log stood before is recorded first; after a crash the same words after that place, in the log or still in
// the inbox, are ours.
#include "app/serve/store_awaits.h"
#include "pons/messages.h"

#include <string.h>

int app_served_words(pons_cx *cx, const char *where, pons_value **ret, pons_error *err)
{
    const pons_value *messages = pons_cx_get(cx, "messages");
    const size_t n = json_array_size(messages);
    const pons_value *last = n ? json_array_get(messages, n - 1) : NULL;
    const char *who = pons_message_role(last);
    pons_autovalue text = who && strcmp(who, "human") == 0 ? pons_message_text(last) : NULL;
    const char *words = text ? json_string_value(text) : "";
    if (words[strspn(words, " \t\r\n")] == '\0' || strlen(words) >= APP_WORDS_MAX) {
        return pons_error_set(err, PONS_EINVAL, where,
                              "the last message has to be a person's, with 1 to %d bytes of text",
                              APP_WORDS_MAX - 1);
    }
    *ret = pons_value_ref(text);
    return PONS_OK;
}

int app_log_mark(pons_store store, const char *thread, pons_value **ret, pons_error *err)
{
    int64_t last = 0;
    const int rc = store.ops->event_last(store.self, thread, &last, err);
    *ret = json_integer(last);
    return rc;
}

typedef struct wanted {
    const char *kind, *text;
    bool found;
} wanted;

static int see_message(void *user, const pons_inbox_row *row)
{
    wanted *w = user;
    pons_autovalue v = NULL;
    if ((!w->kind || strcmp(row->kind, w->kind) == 0) &&
        pons_value_read(row->value.data, row->value.len, &v, NULL) >= 0) {
        w->found = strcmp(pons_get_str(v, "text", ""), w->text) == 0;
    }
    return w->found;
}

int app_inbox_has(pons_store store, const char *thread, const char *ns, const char *kind,
                  const char *text, bool *ret, pons_error *err)
{
    wanted w = {.kind = kind, .text = text};
    const int rc = store.ops->inbox_read(store.self, thread, ns, 0, see_message, &w, err);
    *ret = w.found;
    return rc;
}
