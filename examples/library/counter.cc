// counter.cc - a graph in C++17: a node that counts until a router ends the run, with a store, so that a
// second run of the program goes on from where the first one ended.
//
//     c++ -std=c++17 counter.cc $(pkg-config --cflags --libs pons) -o counter
//     ./counter count.db; ./counter count.db
#include <cstdio>
#include <memory>
#include <pons/graph.h>

namespace
{

struct Steps { // a node's own data, which outlives the graph
    json_int_t by, until;
};

int add(pons_cx *cx, void *user, pons_error *)
{
    const auto *steps = static_cast<const Steps *>(user);
    const json_int_t have = json_integer_value(pons_cx_get(cx, "count"));
    return pons_cx_put(cx, "count", json_integer(have + steps->by));
}

int again(pons_cx *cx, void *user, pons_error *)
{
    const auto *steps = static_cast<const Steps *>(user);
    const json_int_t have = json_integer_value(pons_cx_get(cx, "count"));
    pons_cx_goto(cx, have % steps->until ? "add" : PONS_END);
    return PONS_OK;
}

using Builder = std::unique_ptr<pons_graph_builder, decltype(&pons_graph_builder_destroy)>;
using Graph = std::unique_ptr<pons_graph, decltype(&pons_graph_destroy)>;

int fail(const pons_error &err)
{
    char line[1200];
    std::fprintf(stderr, "%s\n", pons_error_line(&err, line, sizeof line));
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    pons_value_init();
    pons_error err{};
    Steps steps{1, 5};
    const char *const ways[] = {"add", PONS_END, nullptr};

    Builder b(pons_graph_builder_create("counter"), pons_graph_builder_destroy);
    pons_graph_channel(b.get(), "count", nullptr);
    pons_graph_node(b.get(), "add", add, &steps);
    pons_graph_edge(b.get(), PONS_START, "add");
    pons_graph_router(b.get(), "add", again, &steps, ways);
    pons_graph *made = nullptr;
    if (pons_graph_compile(b.get(), nullptr, &made, &err) < 0) {
        return fail(err);
    }
    const Graph graph(made, pons_graph_destroy);

    pons_store store;
    if (pons_store_open(argc > 1 ? argv[1] : "memory:", &store, &err) < 0) {
        return fail(err);
    }
    pons_value *state = nullptr,
               *input = json_object(); // an input, even an empty one, is a new run
    const int rc =
        pons_graph_invoke(graph.get(), store, "t1", input, nullptr, nullptr, &state, &err);
    if (rc == PONS_OK) {
        std::printf("count: %lld\n", static_cast<long long>(pons_get_int(state, "count", 0)));
    }
    pons_value_unref(input);
    pons_value_unref(state);
    pons_store_close(&store);
    return rc < 0 ? fail(err) : 0;
}
