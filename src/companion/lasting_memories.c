// lasting_memories.c - lasting memories: whoever's message was read is remembered, for as long as the store is.
//
//   companion.THREAD.memories   FROM   {from, text, at, since, messages}
//   companion.THREAD.simulated  FROM   the same, of a simulation; a new one begins without
//
// The state of a life holds messages until they are read; then only this is left of them: who it
// was, what they said last and when, how often. The items go into the commit of the minute that
// read them, with the state that has the messages no more, so a kill neither loses nor counts a
// message twice. The model is told of the newest ones. An item's time is the life's, as its
// events': the same life writes the same items.
#include "companion/lasting_memories.h"

#include "pons/items.h"
#include "pons/printable.h"

#include <stdlib.h>
#include <string.h>

enum {
    PEOPLE_MAX = 200, // whoever wrote longest ago is forgotten
    TOLD_MAX = 5,     // to the model
    TOLD_TEXT = 200,  // bytes of what they said
    KEY_BYTES = 120
};

static pons_items items_of(const pons_companion *c, char ns[PONS_ITEM_MAX])
{
    snprintf(ns, PONS_ITEM_MAX, "companion.%s", c->thread);
    for (char *dot = strchr(strchr(ns, '.') + 1, '.'); dot; dot = strchr(dot, '.')) {
        *dot = '%'; // a thread's name is one label
    }
    const size_t n = strlen(ns);
    snprintf(ns + n, PONS_ITEM_MAX - n, ".%s", c->simulated ? "simulated" : "memories");
    return (pons_items){.store = c->store, .clock = c->id_clock};
}

static bool keeps_items(const pons_companion *c)
{
    return c->store.ops && c->store.ops->items_write;
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot keep a memory");
}

// Takes the block.
static int add(pons__co_memories *m, pons_item_write *block, pons_error *err)
{
    if (m->n == m->cap) {
        const size_t cap = m->cap ? 2 * m->cap : 8;
        pons_item_write *rows = realloc(m->rows, cap * sizeof *rows);
        m->rows = rows ? rows : m->rows;
        pons_item_write **blocks = rows ? realloc(m->blocks, cap * sizeof *blocks) : NULL;
        if (!blocks) {
            free(block);
            return no_memory(err);
        }
        m->blocks = blocks;
        m->cap = cap;
    }
    m->rows[m->n] = *block;
    m->blocks[m->n++] = block;
    return PONS_OK;
}

void pons__co_memories_fini(pons__co_memories *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->blocks[i]);
    }
    free(m->blocks);
    free(m->rows);
    *m = (pons__co_memories){0};
}

// Deletes all but so many of the newest.
static int forget_oldest(const pons_items *it, const char *ns, int64_t but, pons__co_memories *m,
                         pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_query q = {.prefix = ns, .limit = -1, .offset = but};
    int rc = pons_items_search(it, &q, &list, err);
    for (size_t i = 0; rc >= 0 && i < json_array_size(list); i++) {
        pons_item_write *block = NULL;
        const char *key = pons_get_str(json_array_get(list, i), "key", "");
        rc = pons_items_write_delete(ns, key, &block, err);
        rc = rc < 0 ? rc : add(m, block, err);
    }
    return rc;
}

int pons__co_memories_begin(pons_companion *c, pons_error *err)
{
    if (!c->simulated || !keeps_items(c)) {
        return PONS_OK;
    }
    char ns[PONS_ITEM_MAX];
    pons__co_memories m = {0};
    const pons_items it = items_of(c, ns);
    int rc = forget_oldest(&it, ns, 0, &m, err);
    if (rc >= 0 && m.n > 0) {
        rc = c->store.ops->items_write(c->store.self, m.rows, m.n, PONS_SYNC_NORMAL, err);
    }
    pons__co_memories_fini(&m);
    return rc;
}

// ---- what was read ------------------------------------------------------------------------------

static void key_of(const pons__co_message *m, char ret[KEY_BYTES + 1])
{
    const char *from = m->from && *m->from ? m->from : "unknown";
    const size_t n = pons_text_whole(from, KEY_BYTES);
    memcpy(ret, from, n);
    ret[n] = '\0';
}

// The memory of one sender with all that was read of them now; the first of these is `first`.
static int remember(const pons_companion *c, const pons_items *it, const char *ns, const char *key,
                    size_t first, pons__co_memories *m, pons_error *err)
{
    char each[KEY_BYTES + 1], at[32], since[32];
    const pons__co_message *last = &c->read[first];
    int64_t count = 1;
    for (size_t i = first + 1; i < c->n_read; i++) {
        key_of(&c->read[i], each);
        if (strcmp(each, key) == 0) {
            last = &c->read[i];
            count++;
        }
    }
    pons_autovalue old = NULL;
    int rc = pons_items_get(it, ns, key, &old, err);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        return rc;
    }
    const pons_value *was = pons_get(old, "value");
    pons_world_view_time(c->view, c->read[first].at, since, sizeof since);
    pons_autovalue value =
        pons_object_whole("from", json_string(key), "text", json_string(last->text), "at",
                          json_string(pons_world_view_time(c->view, last->at, at, sizeof at)),
                          "since", json_string(pons_get_str(was, "since", since)), "messages",
                          json_integer(pons_get_int(was, "messages", 0) + count), NULL);
    pons_item_write *block = NULL;
    if (!value) {
        return no_memory(err);
    }
    rc = pons_items_write_put(&it->opts, pons_wall_ms(&it->clock), ns, key, value, NULL, &block,
                              err);
    return rc < 0 ? rc : add(m, block, err);
}

int pons__co_memories_make(pons_companion *c, pons__co_memories *ret, pons_error *err)
{
    if (c->n_read == 0 || !keeps_items(c)) {
        return PONS_OK;
    }
    char ns[PONS_ITEM_MAX], key[KEY_BYTES + 1], before[KEY_BYTES + 1];
    pons_error why = PONS_ERROR_INIT;
    const pons_items it = items_of(c, ns);
    int rc = forget_oldest(&it, ns, PEOPLE_MAX, ret, &why);
    for (size_t i = 0; rc >= 0 && i < c->n_read; i++) {
        bool had = false;
        key_of(&c->read[i], key);
        for (size_t j = 0; j < i && !had; j++) {
            key_of(&c->read[j], before);
            had = strcmp(before, key) == 0;
        }
        rc = had ? PONS_OK : remember(c, &it, ns, key, i, ret, &why);
    }
    if (rc < 0 && err) {
        *err = why;
    }
    return rc;
}

// ---- for the model ------------------------------------------------------------------------------

pons_value *pons__co_memories_newest(const pons_companion *c)
{
    if (!keeps_items(c)) {
        return NULL;
    }
    char ns[PONS_ITEM_MAX], text[TOLD_TEXT + 1];
    pons_autovalue list = NULL;
    pons_error ignored = PONS_ERROR_INIT; // without memories it lives on
    const pons_items it = items_of(c, ns);
    const pons_items_query q = {.prefix = ns, .limit = TOLD_MAX};
    if (pons_items_search(&it, &q, &list, &ignored) < 0 || json_array_size(list) == 0) {
        return NULL;
    }
    pons_value *reported = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *v = pons_get(json_array_get(list, i), "value");
        const char *said = pons_get_str(v, "text", "");
        const size_t n = pons_text_whole(said, TOLD_TEXT);
        memcpy(text, said, n);
        text[n] = '\0';
        json_array_append_new(
            reported, pons_object("from", json_string(pons_get_str(v, "from", "")), "text",
                                  json_string(text), "at", json_string(pons_get_str(v, "at", "")),
                                  "messages", json_integer(pons_get_int(v, "messages", 0)), NULL));
    }
    return reported;
}
