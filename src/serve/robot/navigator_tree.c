// navigator_tree.c - the navigator's tree as it stands, put together from what the body tells of it.
//
// The body tells a watcher the outline of a tree, in pieces, and then what changed (docs/reference/link.md). A
// page that comes later wants all of it at once, so it is kept here as one value:
//
//     {tree, goal_id, file, of, nodes: [{path, state}, …]}     a node's place in the list is its number
#include "serve/robot/robot.h"

#define NODES_MAX 4096

static json_t *place(json_t *nodes, int64_t at)
{
    if (at < 0 || at >= NODES_MAX) {
        return NULL;
    }
    while ((int64_t)json_array_size(nodes) <= at) {
        json_array_append_new(nodes,
                              pons_object("path", json_string(""), "state", json_string(""), NULL));
    }
    return json_array_get(nodes, (size_t)at);
}

static void put(json_t *node, const char *key, const pons_value *value)
{
    if (node && value) {
        json_object_set(node, key, (json_t *)(uintptr_t)value);
    }
}

bool pons__tree_hear(pons_value **tree, const pons_value *said)
{
    const pons_value *outline = pons_get(said, "nodes"), *changes = pons_get(said, "changes");
    if (!*tree || pons_get_int(*tree, "tree", -1) != pons_get_int(said, "tree", -2)) {
        pons_value_unref(*tree);
        *tree = pons_object("tree", json_integer(pons_get_int(said, "tree", 0)), "nodes",
                            json_array(), NULL);
    }
    json_t *nodes = json_object_get(*tree, "nodes");
    if (!nodes) {
        return false;
    }
    put(*tree, "goal_id", pons_get(said, "goal_id"));
    put(*tree, "file", pons_get(said, "file"));
    put(*tree, "of", pons_get(said, "of"));
    pons_each(n, outline) {
        json_t *node = place(nodes, pons_get_int(n, "node", -1));
        put(node, "path", pons_get(n, "path"));
        put(node, "state", pons_get(n, "state"));
    }
    pons_each(c, changes) {
        json_t *node = place(nodes, pons_get_int(c, "node", -1));
        put(node, "path", pons_get(c, "path"));
        put(node, "state", pons_get(c, "to"));
    }
    return true;
}
