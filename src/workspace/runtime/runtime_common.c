// runtime_common.c - what the watchdog's files use of each other's state: time, descriptors, bodies, rows.
#include "workspace/runtime/runtime_common.h"

#include "pons/out_of_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

int64_t pons__rt_now(const pons_runtime *r)
{
    return pons_now_ms(&r->o.clock);
}

void pons__rt_watch(pons_runtime *r, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};
    if (fd >= 0) {
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e); // closing it takes it out again
    }
}

void pons__rt_copy(session_copy *ret, const pons_session_row *row)
{
    const size_t id = strlen(row->id) + 1, lane = strlen(row->lane) + 1;
    const size_t owner = strlen(row->owner) + 1;
    char *at = pons_need(id + lane + owner + row->data.len + row->note.len + 1);
    *ret = (session_copy){.row = *row, .text = at};
    ret->row.id = memcpy(at, row->id, id);
    ret->row.lane = memcpy(at += id, row->lane, lane);
    ret->row.owner = memcpy(at += lane, row->owner, owner);
    at += owner;
    ret->row.data.data = at;
    if (row->data.len) {
        memcpy(at, row->data.data, row->data.len);
    }
    at += row->data.len;
    ret->row.note.data = at;
    if (row->note.len) {
        memcpy(at, row->note.data, row->note.len);
    }
}

void pons__rt_copy_free(session_copy *c)
{
    free(c->text);
}

rt_body *pons__rt_body(pons_runtime *r, const char *target, const pons_value *record,
                       pons_error *err)
{
    for (rt_body *b = r->bodies; b; b = b->next) {
        if (strcmp(b->target, target) == 0) {
            return b;
        }
    }
    rt_body *b = pons_need_zeroed(1, sizeof *b);
    strncpy(b->target, target, sizeof b->target - 1);
    if (r->o.body(r->o.user, target, record, &b->tools, err) < 0) {
        free(b);
        return NULL;
    }
    b->record = pons_value_ref(record);
    b->next = r->bodies;
    r->bodies = b;
    pons__rt_watch(r, b->tools.ops->event_fd(b->tools.self));
    return b;
}

void pons__rt_refuse(rt_refusal *r, const char *code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, ap);
    va_end(ap);
    r->code = code;
}

const pons_value *pons__rt_tool(const pons_value *tools, const char *name)
{
    return pons_find(tools, "name", name);
}
