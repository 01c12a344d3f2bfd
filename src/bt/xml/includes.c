// includes.c - trees and models, gathered over a file and all that it includes.
#include "bt/xml/includes.h"

#include "bt/core/source_text.h"
#include "bt/xml/ports.h"
#include "bt/xml/xml_reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A tree or a model by its id: the newest of one id. The id is the arena's, as what is kept.
static void keep_by_id(pons__bt_loader *l, pons_value **all, const char *id, const void *what)
{
    *all = *all ? *all : json_object();
    l->nomem |= json_object_set_new_nocheck(*all, id, json_integer((json_int_t)(intptr_t)what)) < 0;
}

static void *find_by_id(const pons_value *all, const char *id)
{
    return (void *)(intptr_t)json_integer_value(json_object_get(all, id));
}

// One that is alone in its file has the name that BehaviorTree.CPP gives it.
static void add_tree(pons__bt_loader *l, pons__bt_element *e, bool top, bool alone)
{
    const char *id = pons__bt_element_attr(e, "ID");
    if ((!id || !*id) && alone) {
        char name[40];
        snprintf(name, sizeof name, "BehaviorTree_%d", l->n_anonymous++);
        id = pons__bt_loader_keep(l, name);
    } else if (!id || !*id) {
        pons__bt_fault(l->f, e->pos, "<BehaviorTree> needs an ID");
        id = NULL;
    }
    const pons__bt_subtree *same = id ? find_by_id(l->tree_of, id) : NULL;
    if (same) {
        pons__bt_fault(l->f, e->pos, "duplicate tree '%.60s', first at line %u", id,
                       same->e->pos.line);
        return;
    }
    if (e->n != 1) {
        pons__bt_fault(l->f, e->n > 1 ? e->first->next->pos : e->pos,
                       "<BehaviorTree ID=\"%.60s\"> must have exactly one child, not %d",
                       id ? id : "", e->n);
    }
    pons__bt_subtree *tr = id ? pons_pool_take(l->arena, sizeof *tr) : NULL;
    if (!tr) {
        l->nomem |= id != NULL;
        return;
    }
    *tr = (pons__bt_subtree){.id = id, .e = e, .top = top};
    *(l->last_tree ? &l->last_tree->next : &l->trees) = tr;
    l->last_tree = tr;
    l->n_top += top;
    keep_by_id(l, &l->tree_of, id, tr);
}

static void add_models(pons__bt_loader *l, pons__bt_element *list)
{
    for (pons__bt_element *e = list->first; e; e = e->next) {
        const char *id = pons__bt_element_attr(e, "ID");
        pons__bt_node_model *m = pons_pool_take(l->arena, sizeof *m);
        if (!m) {
            l->nomem = true;
            return;
        }
        const bool composite = strcmp(e->tag, "Control") == 0 || strcmp(e->tag, "Decorator") == 0;
        const bool condition = strcmp(e->tag, "Condition") == 0;
        const bool subtree = strncmp(e->tag, "SubTree", 7) == 0;
        if (!id) { // of an element that is no model, nothing is asked
            if (composite || condition || subtree || strcmp(e->tag, "Action") == 0) {
                pons__bt_fault(l->f, e->pos, "<%.60s> in <TreeNodesModel> needs an ID", e->tag);
            }
            continue;
        }
        *m = (pons__bt_node_model){
            .id = id, .e = e, .subtree = subtree, .condition = condition, .composite = composite};
        int ports = 0;
        for (const pons__bt_element *p = e->first; p; p = p->next) {
            const bool port = strstr(p->tag, "_port");
            if (port && !pons__bt_element_attr(p, "name")) {
                pons__bt_fault(l->f, p->pos, "<%.60s> needs a name", p->tag);
            } else if (port && ports++ == PONS__BT_PORTS_MAX) {
                pons__bt_fault(l->f, p->pos, "more than %d ports in the model of %.60s",
                               PONS__BT_PORTS_MAX, id);
            }
        }
        keep_by_id(l, &l->model_of[m->subtree], id, m);
    }
}

static bool is_included(const pons__bt_loader *l, const char *real)
{
    for (int i = 0; i < l->n_files; i++) {
        if (strcmp(l->files[i], real) == 0) {
            return true;
        }
    }
    return false;
}

// Its bytes, *ret_len beyond the largest file where they cannot be read to the end. Takes real.
static char *read_included(pons__bt_loader *l, const pons__bt_element *e, char *real,
                           const char *path, size_t *ret_len)
{
    FILE *f = real ? pons__bt_open(real) : NULL;
    if (!f || l->n_files == PONS__BT_INCLUDES_MAX) {
        pons__bt_fault(l->f, e->pos,
                       l->n_files == PONS__BT_INCLUDES_MAX
                           ? "more than 64 files are included (%.200s)"
                           : "cannot read the included file '%.200s'",
                       path);
        free(real);
        if (f) {
            fclose(f);
        }
        return NULL;
    }
    char *text = malloc(PONS__BT_FILE_MAX + 2);
    if (text) {
        l->files[l->n_files++] = real;
        *ret_len = fread(text, 1, PONS__BT_FILE_MAX + 1, f);
        *ret_len = ferror(f) ? PONS__BT_FILE_MAX + 1 : *ret_len;
    } else {
        l->nomem = true;
        free(real);
    }
    fclose(f);
    return text;
}

static void include(pons__bt_loader *l, const pons__bt_element *e)
{
    const char *path = pons__bt_element_attr(e, "path");
    char full[PATH_MAX];
    if (!path || pons__bt_element_attr(e, "ros_pkg")) {
        pons__bt_fault(l->f, e->pos,
                       path ? "<include>: ros_pkg is not supported" : "<include> needs a path");
        return;
    }
    const char *slash = strrchr(e->pos.file, '/');
    const int n = *path == '/' || !slash ? snprintf(full, sizeof full, "%s", path)
                                         : snprintf(full, sizeof full, "%.*s/%s",
                                                    (int)(slash - e->pos.file), e->pos.file, path);
    char *real = n < (int)sizeof full ? realpath(full, NULL) : NULL;
    if (real && is_included(l, real)) {
        free(real); // once is enough, and a circle ends here
        return;
    }
    size_t len = 0;
    char *text = read_included(l, e, real, path, &len);
    if (!text) {
        return;
    }
    const char *name = pons_pool_text(&l->bt->arena, full, strlen(full));
    l->nomem |= !name;
    if (!name || len > PONS__BT_FILE_MAX) {
        pons__bt_fault(l->f, e->pos,
                       "cannot read the included file '%.200s', or it is larger than 8 MiB", path);
        goto out;
    }
    l->bytes += len;
    if (l->o->bytes_max && l->bytes > l->o->bytes_max) {
        pons__bt_fault(l->f, e->pos, "the file and all that it includes are larger than %zu KiB",
                       l->o->bytes_max >> 10);
        goto out;
    }
    const pons__bt_element *root = pons__bt_elements_parse(l, text, len, name);
    if (root) {
        pons__bt_files_read(l, root, false, true);
    }
out:
    free(text);
}

// ---- finding ------------------------------------------------------------------------------------

pons__bt_subtree *pons__bt_files_tree(const pons__bt_loader *l, const char *id)
{
    return find_by_id(l->tree_of, id);
}

const pons__bt_node_model *pons__bt_files_model(const pons__bt_loader *l, const char *id,
                                                bool subtree)
{
    return find_by_id(l->model_of[subtree], id);
}

// ---- a file -------------------------------------------------------------------------------------

void pons__bt_files_read(pons__bt_loader *l, const pons__bt_element *root, bool top, bool is_file)
{
    const char *format = pons__bt_element_attr(root, "BTCPP_format");
    if (strcmp(root->tag, "root") != 0) {
        pons__bt_fault(l->f, root->pos, "the outermost element must be <root>, not <%.60s>",
                       root->tag);
        return;
    }
    if (format && strcmp(format, "4") != 0) {
        pons__bt_fault(l->f, root->pos, "BTCPP_format is \"%.20s\"; only \"4\" is read", format);
    }
    if (top) {
        l->dollar = !format;
        char *real = is_file ? realpath(l->bt->file, NULL) : NULL;
        l->main_tree = pons__bt_element_attr(root, "main_tree_to_execute");
        if (real) {
            l->files[l->n_files++] = real;
        }
    }
    int trees = 0;
    for (const pons__bt_element *e = root->first; e; e = e->next) {
        trees += strcmp(e->tag, "BehaviorTree") == 0;
    }
    for (pons__bt_element *e = root->first; e; e = e->next) {
        if (strcmp(e->tag, "BehaviorTree") == 0) {
            add_tree(l, e, top, trees == 1);
        } else if (strcmp(e->tag, "TreeNodesModel") == 0) {
            add_models(l, e);
        } else if (strcmp(e->tag, "include") == 0) {
            include(l, e);
        } else {
            pons__bt_fault(l->f, e->pos, "unknown element <%.60s> in <root>", e->tag);
        }
    }
}
