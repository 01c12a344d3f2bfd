// list_page.c - a part of a list, as a client asked for it.
#include "serve/langgraph/list_page.h"

#include "pons/out_of_memory.h"
#include "serve/access/reply.h"
#include "serve/langgraph/langgraph_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 10 };

typedef struct placed {
    pons_value *row;
    const pons_value *by;
    size_t at;
    bool down;
} placed;

static int order(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int c = 0;
    if (json_is_string(x->by) && json_is_string(y->by)) {
        c = strcmp(json_string_value(x->by), json_string_value(y->by));
    } else if (json_is_number(x->by) && json_is_number(y->by)) {
        c = (json_number_value(x->by) > json_number_value(y->by)) -
            (json_number_value(x->by) < json_number_value(y->by));
    }
    c = x->down ? -c : c;
    return c ? c : (x->at > y->at) - (x->at < y->at);
}

static void sort(pons_value *list, const pons__lg_page *p)
{
    const size_t n = json_array_size(list);
    placed *rows = pons_need_zeroed(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        pons_value *row = json_array_get(list, i);
        rows[i] = (placed){pons_value_ref(row), pons_get(row, p->sort_by), i, !p->ascending};
    }
    qsort(rows, n, sizeof *rows, order);
    for (size_t i = 0; i < n; i++) {
        json_array_set_new(list, i, rows[i].row);
    }
    free(rows);
}

bool pons__lg_ascending(const pons_value *body)
{
    return strcmp(pons_get_str(body, "sort_order", "desc"), "asc") == 0;
}

int pons__lg_reply_page(pons__request *r, pons_value *list, const pons__lg_page *p)
{
    char total[64], next[64];
    const char *headers[3] = {total, NULL, NULL};
    const int64_t n = (int64_t)json_array_size(list);
    const int64_t from = p->offset > n ? n : p->offset;
    const int64_t to = n - from > p->limit ? from + p->limit : n;
    if (p->sort_by) {
        sort(list, p);
    }
    pons_value *page = json_array();
    for (int64_t i = from; i < to; i++) {
        json_array_append_new(page, pons_value_ref(json_array_get(list, (size_t)i)));
    }
    page = pons__lg_select(page, p->select);
    snprintf(total, sizeof total, "X-Pagination-Total: %" PRId64, n);
    if (to < n) {
        snprintf(next, sizeof next, "X-Pagination-Next: %" PRId64, to);
        headers[1] = next;
    }
    return pons__reply_value(r, headers, page);
}

int pons__lg_reply_asked(pons__request *r, pons_value *list, const char *sort_by)
{
    if (r->word) {
        return pons__reply_json(r, 200, json_integer((json_int_t)json_array_size(list)));
    }
    return pons__lg_reply_page(
        r, list,
        &(pons__lg_page){.limit = pons_get_int(r->body, "limit", LIMIT),
                         .offset = pons_get_int(r->body, "offset", 0),
                         .sort_by = pons_get_str(r->body, "sort_by", sort_by),
                         .ascending = pons__lg_ascending(r->body),
                         .select = pons_get(r->body, "select")});
}
