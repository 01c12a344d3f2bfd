// conversation_match.c - which session a list of messages goes on with.
//
// The protocol has no sessions: a program sends the whole conversation each time. The agent has one,
// with what it did and found, which the messages do not tell. So after each answer the conversation up
// to there is kept under its hash, with the session's name (items of the namespace NS, KEPT_MS); a
// request whose messages before the newest one have that hash goes on in that session. One that has
// another past (an edited message, another program's chat) begins a session of its own and is given
// that past as a text.
//
// Words that are marked (PONS__OPENAI_MARK) are meant: only they may act. A program that repeats them
// (a title made of the first message, a regenerated answer) must not make the robot do it twice: before
// they are said, the conversation with them is kept too, and the same one again is known as done.
#include "serve/openai/conversation_match.h"

#include "pons/items.h"
#include "pons/random.h"
#include "serve/chat/session_lookup.h"
#include "serve/chat/session_threads.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NS        "serve.openai"
#define KEPT_MS   (30LL * 24 * 3600 * 1000)
#define WORDS_MAX (64 * 1024)

static pons_items items_of(const pons_serve *s)
{
    return (pons_items){.store = s->o.store, .clock = s->o.clock};
}

// A text, or a list of parts that are texts.
static void content_of(const pons_value *message, pons_buf *b)
{
    const pons_value *content = pons_get(message, "content");
    if (json_is_string(content)) {
        pons_buf_bytes(b, json_string_value(content), json_string_length(content));
    }
    for (size_t i = 0; i < json_array_size(content); i++) {
        pons_buf_str(b, pons_get_str(json_array_get(content, i), "text", ""));
    }
}

// The parts that are images, of the newest message; those of earlier ones were said before.
static int pictures_of(const pons_serve *s, const pons_value *message, pons_value **ret,
                       pons_error *err)
{
    pons_autovalue urls = json_array();
    pons_each(part,
              json_is_array(pons_get(message, "content")) ? pons_get(message, "content") : NULL) {
        if (strcmp(pons_get_str(part, "type", ""), "image_url") == 0) {
            json_array_append_new(
                urls, json_string(pons_get_str(pons_get(part, "image_url"), "url", "")));
        }
    }
    return pons__chat_pictures(s, urls, ret, err);
}

static bool look_up(const pons_serve *s, const char *kind, const pons_value *said,
                    char ret[PONS_NAME_MAX])
{
    char hash[33], key[64];
    pons_autovalue item = NULL;
    pons_error none = PONS_ERROR_INIT;
    const pons_items items = items_of(s);
    pons_value_hash(said, hash);
    snprintf(key, sizeof key, "%s-%s", kind, hash);
    if (!s->o.store.ops->item_get || pons_items_get(&items, NS, key, &item, &none) < 0) {
        return false;
    }
    snprintf(ret, PONS_NAME_MAX, "%s", pons_get_str(pons_get(item, "value"), "session", ""));
    return ret[0] != '\0';
}

static int keep(const pons_serve *s, const char *kind, const pons_value *said, const char *session,
                pons_error *err)
{
    char hash[33], key[64];
    const pons_items items = items_of(s);
    const pons_item_put put = {.ttl_ms = KEPT_MS, .unsearched = true};
    pons_autovalue value = pons_object("session", json_string(session), NULL);
    if (!s->o.store.ops->items_write) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__SERVE, "this store keeps no items");
    }
    pons_value_hash(said, hash);
    snprintf(key, sizeof key, "%s-%s", kind, hash);
    return pons_items_put(&items, NS, key, value, &put, err);
}

// What people and the agent said; a program's own instructions (system, developer) are not taken: they
// are not the operator's.
static int read_messages(const pons_value *messages, pons__conversation *c, pons_buf *newest,
                         pons_error *err)
{
    const size_t n = json_array_size(messages);
    for (size_t i = 0; i < n; i++) {
        const pons_value *m = json_array_get(messages, i);
        const char *role = pons_get_str(m, "role", "");
        const bool user = strcmp(role, "user") == 0;
        pons_autobuf text = PONS_BUF_INIT;
        content_of(m, &text);
        if (user || strcmp(role, "assistant") == 0) {
            json_array_append_new(
                c->said, pons_object("role", json_string(role), "content",
                                     json_stringn(text.data ? text.data : "", text.len), NULL));
        }
        if (i + 1 == n) {
            if (!user || text.len == 0 || text.len > WORDS_MAX) {
                return pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                                      "the last message is the user's, with 1 to %d bytes",
                                      WORDS_MAX);
            }
            pons_buf_bytes(newest, text.data, text.len);
        }
    }
    pons_buf_byte(newest, 0);
    return newest->failed ? pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory") : PONS_OK;
}

int pons__conversation_read(const pons_serve *s, const pons_value *body, pons__conversation *c,
                            pons_error *err)
{
    pons_rand rand;
    pons_autobuf newest = PONS_BUF_INIT;
    *c = (pons__conversation){.said = json_array()};
    const pons_value *messages = pons_get(body, "messages");
    int rc = read_messages(messages, c, &newest, err);
    rc = rc < 0 ? rc
                : pictures_of(s, json_array_get(messages, json_array_size(messages) - 1),
                              &c->pictures, err);
    if (rc < 0) {
        pons__conversation_fini(c);
        return rc;
    }
    const size_t mark = strlen(PONS__OPENAI_MARK);
    c->acts = strncmp(newest.data, PONS__OPENAI_MARK, mark) == 0;
    pons_autovalue before = json_copy(c->said);
    json_array_remove(before, json_array_size(before) - 1);
    if (json_array_size(before) == 0 || !look_up(s, "after", before, c->session)) {
        pons_rand_seed_os(&rand);
        snprintf(c->session, sizeof c->session, PONS__DESK_LOOKS "%016" PRIx64,
                 pons_rand_u64(&rand));
        pons__chat_past(before, &c->words);
    }
    pons_buf_str(&c->words, newest.data + (c->acts ? mark : 0));
    pons_buf_byte(&c->words, 0);
    return PONS_OK;
}

void pons__conversation_fini(pons__conversation *c)
{
    pons_buf_fini(&c->words);
    pons_value_unref(c->said);
    pons_value_unref(c->pictures);
    *c = (pons__conversation){.said = NULL};
}

int pons__conversation_begin(const pons_serve *s, const pons__conversation *c, pons_error *err)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    char session[PONS_NAME_MAX];
    if (!c->acts) {
        return PONS_OK;
    }
    pthread_mutex_lock(&one_at_a_time);
    const int rc = look_up(s, "once", c->said, session)
                       ? pons_error_set(err, PONS_EEXIST, PONS__SERVE,
                                        "these words were said here already, and are done once: "
                                        "say them anew")
                       : keep(s, "once", c->said, c->session, err);
    pthread_mutex_unlock(&one_at_a_time);
    return rc;
}

void pons__conversation_end(const pons_serve *s, const pons__conversation *c, const char *answer)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue said = json_copy(c->said);
    json_array_append_new(
        said, pons_object("role", json_string("assistant"), "content", json_string(answer), NULL));
    keep(s, "after", said, c->session, &none);
}
