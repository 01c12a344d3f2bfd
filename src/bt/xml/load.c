// load.c - BehaviorTree.CPP v4 XML into a definition.
//
// expat gives elements with their positions; no DTD is read, so there are no entities but XML's own
// five. Trees and models are collected over all included files, then the main tree is built node by
// node, each SubTree in place with its blackboard. Remapping is known by then: a key of a subtree
// is resolved to the slot of the board where it ends, so a tree at work looks nothing up.
//
// Trees that the main one does not reach are built too, and dropped, to find their faults.
#include "bt/xml/load.h"

#include "bt/xml/build.h"
#include "bt/xml/includes.h"
#include "bt/xml/subtree_boards.h"
#include "bt/xml/xml_reader.h"

#include <stdlib.h>
#include <string.h>

static pons__bt_subtree *find_main(const pons__bt_loader *l, const char *name)
{
    pons__bt_subtree *found = NULL;
    for (pons__bt_subtree *tr = l->trees; tr; tr = tr->next) {
        if (name ? strcmp(tr->id, name) == 0
                 : tr->top && !found && (l->n_top == 1 || l->o->any_tree)) {
            found = tr;
        }
    }
    return found;
}

static void no_main(pons__bt_loader *l, const pons__bt_element *root, const char *name)
{
    if (!l->trees) {
        pons__bt_fault(l->f, root->pos, "there is no <BehaviorTree>");
    } else if (name) {
        pons__bt_fault(l->f, root->pos, "missing tree: there is no <BehaviorTree ID=\"%.60s\">",
                       name);
    } else {
        pons__bt_fault(l->f, root->pos, "there are several trees and no main_tree_to_execute");
    }
}

// Builds what the main tree does not reach, for its faults alone.
static void check_others(pons__bt_loader *l)
{
    const uint32_t n_nodes = l->bt->n_nodes, n_slots = l->bt->n_slots, n_names = l->bt->n_names;
    for (pons__bt_subtree *tr = l->trees; tr && !l->full && !l->nomem; tr = tr->next) {
        if (!tr->seen) {
            pons__bt_build_xml(l, tr, 0, 1, pons__bt_board_add(l, PONS__BT_NONE, false),
                               tr->e->pos);
        }
    }
    l->bt->n_nodes = n_nodes;
    l->bt->n_slots = n_slots;
    l->bt->n_names = n_names;
}

int pons__bt_load_xml(const char *text, size_t len, const char *file, bool is_file,
                      const pons_bt_load_options *o, pons__bt_faults *f, pons_bt **ret)
{
    pons_pool arena = {0};
    pons__bt_loader l = {
        .arena = &arena, .f = f, .o = o, .bt = pons__bt_create(PONS_BT_XML, file), .bytes = len};
    int rc = PONS_ENOMEM;
    if (!l.bt) {
        goto out;
    }
    const pons__bt_element *root = pons__bt_elements_parse(&l, text, len, l.bt->file);
    if (root) {
        pons__bt_files_read(&l, root, true, is_file);
    }
    const char *name = o->tree ? o->tree : l.main_tree;
    pons__bt_subtree *main_tree = find_main(&l, name);
    if (root && !main_tree && (f->n == 0 || name)) {
        no_main(&l, root, name);
    }
    if (main_tree) {
        l.bt->main_id = pons_pool_text(&l.bt->arena, main_tree->id, strlen(main_tree->id));
        l.nomem |= !l.bt->main_id;
        pons__bt_build_xml(&l, main_tree, 0, 1, pons__bt_board_add(&l, PONS__BT_NONE, false),
                           main_tree->e->pos);
    }
    check_others(&l);
    if (l.nomem || f->nomem || arena.failed || l.bt->arena.failed) {
        goto out;
    }
    rc = f->n == 0 ? pons__bt_finish(l.bt) : PONS_OK;
    if (rc == PONS_OK && f->n == 0) {
        *ret = l.bt;
        l.bt = NULL;
    }
out:
    for (int i = 0; i < l.n_files; i++) {
        free(l.files[i]);
    }
    free(l.boards);
    free(l.slot_hash);
    pons_value_unref(l.tree_of);
    pons_value_unref(l.model_of[0]);
    pons_value_unref(l.model_of[1]);
    pons_bt_unref(l.bt);
    pons_pool_fini(&arena);
    return rc;
}
