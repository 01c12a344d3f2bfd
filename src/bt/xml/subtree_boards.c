// subtree_boards.c - the blackboards of subtrees, and where a key of one ends: known when the tree is
// built, so that a tree at work looks nothing up.
#include "bt/xml/subtree_boards.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

int32_t pons__bt_board_add(pons__bt_loader *l, int32_t parent, bool autoremap)
{
    if (!pons_list_reserve(&l->boards, &l->cap_boards, l->n_boards + 1, sizeof *l->boards)) {
        l->nomem = true;
        return 0;
    }
    l->boards[l->n_boards] = (pons__bt_board){.parent = parent, .autoremap = autoremap};
    return (int32_t)l->n_boards++;
}

// ---- slots --------------------------------------------------------------------------------------

static uint32_t slot_hash(uint32_t on, const char *key)
{
    uint32_t h = 2166136261u ^ (on * 2654435761u);
    for (; *key; key++) {
        h = (h ^ (uint8_t)*key) * 16777619u;
    }
    return h;
}

static bool slots_grow(pons__bt_loader *l)
{
    pons_bt *bt = l->bt;
    const uint32_t cap = bt->cap_slots ? bt->cap_slots * 2 : 32;
    pons__bt_slot_def *grown = realloc(bt->slots, cap * sizeof *grown);
    uint32_t *table = calloc((size_t)cap * 2, sizeof *table);
    bt->slots = grown ? grown : bt->slots;
    if (!grown || !table) {
        free(table);
        l->nomem = true;
        return false;
    }
    free(l->slot_hash);
    l->slot_hash = table;
    l->slot_mask = cap * 2 - 1;
    bt->cap_slots = cap;
    for (uint32_t i = 0; i < bt->n_slots; i++) {
        uint32_t at = slot_hash(bt->slots[i].board, bt->slots[i].key) & l->slot_mask;
        while (table[at]) {
            at = (at + 1) & l->slot_mask;
        }
        table[at] = i + 1;
    }
    return true;
}

// The slot of a board itself, made when it is not there and `make` says so.
int32_t pons__bt_board_local(pons__bt_loader *l, uint32_t on, const char *key, bool make)
{
    pons_bt *bt = l->bt;
    if (bt->n_slots == bt->cap_slots && !slots_grow(l)) {
        return PONS__BT_NONE;
    }
    uint32_t at = slot_hash(on, key) & l->slot_mask;
    for (; l->slot_hash[at]; at = (at + 1) & l->slot_mask) {
        const pons__bt_slot_def *d = &bt->slots[l->slot_hash[at] - 1];
        if (d->board == on && strcmp(d->key, key) == 0) {
            return (int32_t)l->slot_hash[at] - 1;
        }
    }
    if (!make) {
        return PONS__BT_NONE;
    }
    char *copy = pons_pool_text(&bt->arena, key, strlen(key));
    if (!copy) {
        l->nomem = true;
        return PONS__BT_NONE;
    }
    bt->slots[bt->n_slots] = (pons__bt_slot_def){.key = copy, .board = on};
    l->slot_hash[at] = ++bt->n_slots;
    return (int32_t)bt->n_slots - 1;
}

// Where a key of a board ends: its own, the remapped one, the parent's, or its own newly made.
int32_t pons__bt_board_slot(pons__bt_loader *l, int32_t on, const char *key)
{
    if (l->nomem) {
        return PONS__BT_NONE; // the board may not be there
    }
    if (*key == '@') {
        while (l->boards[on].parent != PONS__BT_NONE) {
            on = l->boards[on].parent;
        }
        key++;
    }
    for (;;) {
        const pons__bt_board *b = &l->boards[on];
        for (const pons__bt_remap *r = b->remaps; r; r = r->next) {
            if (strcmp(r->key, key) == 0) {
                return r->slot;
            }
        }
        if (b->parent == PONS__BT_NONE || !b->autoremap || *key == '_' ||
            pons__bt_board_local(l, (uint32_t)on, key, false) >= 0) {
            return pons__bt_board_local(l, (uint32_t)on, key, true);
        }
        on = b->parent;
    }
}

// "{key}" and "{=}": the key, in buf; NULL for a literal.
const char *pons__bt_board_pointer(const pons__bt_loader *l, const char *text, const char *port,
                                   char *buf, size_t cap)
{
    size_t n;
    while (*text == ' ') {
        text++;
    }
    text += l->dollar && text[0] == '$' && text[1] == '{';
    for (n = strlen(text); n > 0 && text[n - 1] == ' ';) {
        n--;
    }
    if (n < 3 || text[0] != '{' || text[n - 1] != '}' || n - 2 >= cap) {
        return NULL;
    }
    if (n == 3 && text[1] == '=') {
        return port;
    }
    memcpy(buf, text + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}
