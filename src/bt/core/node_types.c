// node_types.c - the kinds of nodes: their words, and how many children each may have.
#include "bt/core/node_types.h"

const pons__bt_type_info pons__bt_types[PONS__BT_TYPE_COUNT] = {
#define PONS__BT_TYPE_INFO(sym, word, least, most) [sym] = {word, least, most},
    PONS__BT_TYPES(PONS__BT_TYPE_INFO)
#undef PONS__BT_TYPE_INFO
};

const char *const pons__bt_attr_words[AT_COUNT] = {"while", "until", "entry", "step", "exit"};
