// xml_reader.c - XML as elements with their positions, by expat. No DTD is read, so there are no
// entities but XML's own five; `<` and `&` may stand for themselves in attributes, as for BehaviorTree.CPP.
#include "bt/xml/xml_reader.h"

#include "pons/xml_text.h"

#include <expat.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if XML_MINOR_VERSION < 9 // expat's newer names
#define XML_GetCurrentLineNumber64            XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64          XML_GetCurrentColumnNumber
#define XML_SetHashSalt16Bytes(parser, bytes) XML_SetHashSalt(parser, 0x706f6e73UL)
#endif

typedef struct parse {
    pons__bt_loader *l;
    XML_Parser p;
    pons__bt_element *root, *at;
    const char *file;
    const char *text;       // as the file has it
    const char *soft, *end; // as it is parsed, from the bare character on that comes next
    int depth;
    bool stopped;
} parse;

// ---- while it is read ---------------------------------------------------------------------------

static pons__bt_pos where(const parse *p)
{
    return (pons__bt_pos){p->file, (uint32_t)XML_GetCurrentLineNumber64(p->p),
                          (uint32_t)XML_GetCurrentColumnNumber64(p->p) + 1};
}

// A value as the file has it: what stood bare in it again.
static char *keep_value(parse *p, const char *value)
{
    char *ret = pons__bt_loader_keep(p->l, value);
    for (char *c = ret; (c = strchr(c, PONS_XML_BARE)); c++) {
        const char *bare = memchr(p->soft, PONS_XML_BARE, (size_t)(p->end - p->soft));
        p->text += bare ? bare - p->soft : 0;
        p->soft = bare ? bare : p->end;
        if (bare) {
            *c = *p->text++;
            p->soft++;
        }
    }
    return ret;
}

// Version 3 had other names for the ports of Parallel.
static const char *new_name(const char *tag, const char *name)
{
    static const char *const old[][2] = {{"success_threshold", "success_count"},
                                         {"failure_threshold", "failure_count"}};
    for (size_t i = 0; tag[0] == 'P' && i < 2; i++) {
        if (strcmp(name, old[i][0]) == 0 && strcmp(tag, "Parallel") == 0) {
            return old[i][1];
        }
    }
    return name;
}

static void on_start(void *user, const XML_Char *tag, const XML_Char **attrs)
{
    parse *p = user;
    pons__bt_loader *l = p->l;
    pons__bt_element *e = p->stopped ? NULL : pons_pool_take(l->arena, sizeof *e);
    if (!e) {
        l->nomem |= !p->stopped;
        p->stopped = true;
        XML_StopParser(p->p, XML_FALSE);
        return;
    }
    e->tag = pons__bt_loader_keep(l, tag);
    e->pos = where(p);
    e->parent = p->at;
    e->free = strcmp(tag, "TreeNodesModel") == 0 || (p->at && p->at->free);
    pons__bt_attribute **tail = &e->attrs;
    for (int n = 0; *attrs; attrs += 2, n++) {
        if (n == PONS__BT_ATTRIBUTES_MAX) {
            pons__bt_fault(l->f, e->pos, "<%.60s> has more than %d attributes", e->tag,
                           PONS__BT_ATTRIBUTES_MAX);
            break;
        }
        pons__bt_attribute *a = pons_pool_take(l->arena, sizeof *a);
        if (!a) {
            l->nomem = true;
            break;
        }
        a->name = pons__bt_loader_keep(l, new_name(tag, attrs[0]));
        a->value = keep_value(p, attrs[1]);
        *tail = a;
        tail = &a->next;
    }
    if (p->at) {
        *(p->at->last ? &p->at->last->next : &p->at->first) = e;
        p->at->last = e;
        p->at->n++;
    } else {
        p->root = e;
    }
    p->at = e;
    if (++p->depth > PONS__BT_DEPTH_MAX + 2) { // <root> and <BehaviorTree> do not count
        pons__bt_fault(l->f, e->pos, "nodes are nested deeper than %d", PONS__BT_DEPTH_MAX);
        p->stopped = true;
        XML_StopParser(p->p, XML_FALSE);
    }
}

static void on_end(void *user, const XML_Char *tag)
{
    parse *p = user;
    if (!p->stopped) {
        p->at = p->at->parent;
        p->depth--;
    }
}

static void on_text(void *user, const XML_Char *s, int n)
{
    parse *p = user;
    int i = 0;
    while (i < n && isspace((unsigned char)s[i])) {
        i++;
    }
    if (i < n && !p->stopped && p->at && !p->at->said && !p->at->free) {
        pons__bt_fault(p->l->f, where(p), "unexpected text '%.*s' in <%.60s>",
                       n - i > 40 ? 40 : n - i, s + i, p->at->tag);
        p->at->said = true;
    }
}

// A document type could declare entities; none is needed for a tree.
static void on_doctype(void *user, const XML_Char *name, const XML_Char *sysid,
                       const XML_Char *pubid, int internal)
{
    parse *p = user;
    pons__bt_fault(p->l->f, where(p), "a document type (DTD) is not allowed, nor are entities");
    p->stopped = true;
    XML_StopParser(p->p, XML_FALSE);
}

// ---- elements -----------------------------------------------------------------------------------

char *pons__bt_loader_keep(pons__bt_loader *l, const char *s)
{
    char *c = pons_pool_text(l->arena, s, strlen(s));
    l->nomem |= !c;
    return c ? c : (char *)"";
}

void pons__bt_loader_fault(pons__bt_loader *l, pons__bt_element *e, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!e->said) {
        pons__bt_fault(l->f, e->pos, "%s", text);
    }
}

// ---- a text -------------------------------------------------------------------------------------

// NULL, and a fault, when the text is no XML.
pons__bt_element *pons__bt_elements_parse(pons__bt_loader *l, const char *text, size_t len,
                                          const char *file)
{
    char *soft = malloc(len + 1);
    parse p = {.l = l, .p = soft ? XML_ParserCreate(NULL) : NULL, .file = file, .text = text};
    if (!p.p) {
        l->nomem = true;
        free(soft);
        return NULL;
    }
    memcpy(soft, text, len);
    pons_xml_soften(soft, len, true);
    p.soft = soft;
    p.end = soft + len;
    XML_SetUserData(p.p, &p);
    XML_SetHashSalt16Bytes(p.p, (const uint8_t *)"pons, and no more");
    XML_SetElementHandler(p.p, on_start, on_end);
    XML_SetCharacterDataHandler(p.p, on_text);
    XML_SetStartDoctypeDeclHandler(p.p, on_doctype);
    const enum XML_Status s = XML_Parse(p.p, soft, (int)len, 1);
    if (s == XML_STATUS_ERROR && XML_GetErrorCode(p.p) == XML_ERROR_NO_MEMORY) {
        l->nomem = true;
    } else if (s == XML_STATUS_ERROR && !p.stopped) {
        pons__bt_fault(l->f, where(&p), "XML: %s", XML_ErrorString(XML_GetErrorCode(p.p)));
    }
    XML_ParserFree(p.p);
    free(soft);
    return s == XML_STATUS_ERROR || p.stopped ? NULL : p.root;
}
