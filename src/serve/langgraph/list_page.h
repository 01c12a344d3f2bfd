// list_page.h - a part of a list, as a client asked for it: sorted, cut, with how many there are.
#pragma once

#include "serve/access/server.h"

typedef struct pons__lg_page {
    int64_t limit, offset;
    const char *sort_by; // a member, a text or a number; NULL: as it is
    bool ascending;
    const pons_value *select; // names of members; NULL: all
} pons__lg_page;

// Ends the request with that part of a list, and X-Pagination-Total and -Next. list is borrowed, and
// gets into another order.
int pons__lg_reply_page(pons__request *r, pons_value *list, const pons__lg_page *p);
// The part that the request's body asks for; sort_by: when it names no member. For a row with a word (`count`) only how
// many there are.
int pons__lg_reply_asked(pons__request *r, pons_value *list, const char *sort_by);
bool pons__lg_ascending(const pons_value *body); // sort_order
