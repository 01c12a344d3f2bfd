#include <pons/graph.h>
static int greet(pons_cx *cx, void *user, pons_error *err)
{
    return (void)user, (void)err, pons_cx_put(cx, "text", json_string("hello, world"));
}
int main(void)
{
    pons_graph *g = NULL;
    pons_value *in = json_object(), *s = NULL;
    pons_graph_builder *b = pons_graph_builder_create("hello");
    pons_graph_channel(b, "text", NULL), pons_graph_node(b, "greet", greet, NULL);
    pons_graph_edge(b, PONS_START, "greet"), pons_graph_edge(b, "greet", PONS_END);
    return pons_graph_compile(b, NULL, &g, NULL) ||
           pons_graph_invoke(g, (pons_store){0}, "t1", in, 0, 0, &s, 0) || json_dumpf(s, stdout, 0);
}
