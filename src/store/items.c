// items.c - what every store does with items: names that can be, and the order in which several are written.
//
// A namespace is a path of labels with '.' between them, so that "begins with these labels" is a
// range of texts: those that are the prefix itself, and those from "prefix." up to "prefix/", since
// '/' comes just after '.'. All stores compare names by their bytes.
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

static int check_name(const char *what, const char *name, pons_error *err)
{
    if (!name || !name[0]) {
        return pons_error_set(err, PONS_EINVAL, "store", "an item needs a %s", what);
    }
    if (strlen(name) >= PONS_ITEM_MAX) {
        return pons_error_set(err, PONS_EINVAL, "store",
                              "an item's %s of %zu bytes is too long (at most %d): %.40s…", what,
                              strlen(name), PONS_ITEM_MAX - 1, name);
    }
    return PONS_OK;
}

// Small letters and digits of ASCII, whatever is beyond it, a space between two. The limits are
// those of PostgreSQL's index (2 KiB a word, 1 MiB in all), with room to spare.
static bool are_words(const char *text)
{
    bool good = text && text[0] != ' ' && strlen(text) <= PONS_ITEM_WORDS_MAX;
    for (const char *c = text; good && *c; c += strcspn(c, " "), c += *c == ' ') {
        good = strcspn(c, " ") <= PONS_ITEM_WORD_MAX;
    }
    for (const char *c = text; good && *c; c++) {
        good = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || (uint8_t)*c >= 0x80 ||
               (*c == ' ' && c[1] != ' ' && c[1]);
    }
    return good;
}

typedef struct placed {
    const pons_item_row *row;
    size_t at;
} placed;

int pons__store_check_item(const char *ns, const char *key, pons_error *err)
{
    int rc = check_name("namespace", ns, err);
    rc = rc ? rc : check_name("key", key, err);
    if (rc) {
        return rc;
    }
    if (ns[0] == '.' || ns[strlen(ns) - 1] == '.' || strstr(ns, "..")) {
        return pons_error_set(err, PONS_EINVAL, "store",
                              "a label of an item's namespace is empty: %.80s", ns);
    }
    return PONS_OK;
}

int pons__store_check_items(const pons_item_write *items, size_t n, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const pons_item_row *row = &items[i].row;
        rc = pons__store_check_item(row->ns, row->key, err);
        if (!rc && items[i].what == PONS_ITEM_PUT && (!row->value.data || !are_words(row->words))) {
            rc = pons_error_set(err, PONS_EINVAL, "store",
                                "an item needs a value, and words of small letters and digits");
        }
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int order = strcmp(x->row->ns, y->row->ns);
    order = order ? order : strcmp(x->row->key, y->row->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

size_t *pons__items_order(const pons_item_write *items, size_t n)
{
    placed *list = malloc((n + 1) * sizeof *list);
    size_t *order = malloc((n + 1) * sizeof *order);
    if (!list || !order) {
        free(list);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        list[i] = (placed){&items[i].row, i};
    }
    qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n; i++) {
        order[i] = list[i].at;
    }
    free(list);
    return order;
}

int pons__item_not_found(pons_error *err, const char *ns, const char *key)
{
    return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no item %.80s in %.80s", key, ns);
}

int pons__note_changed(pons_error *err, const char *thread)
{
    return pons_error_set(err, PONS_EEXIST, "store",
                          "what is noted of thread %s has changed meanwhile", thread);
}
