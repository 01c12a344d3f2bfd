"""Says that nodes with a cache policy have their results kept, in the compiled graph."""


class InMemoryCache:
    def __init__(self):
        self.graphs = []

    def clear(self, namespaces=None):
        if namespaces is not None:
            raise NotImplementedError("clear(namespaces=...) is not there: all of it is cleared (docs/reference/python.md)")
        for g in self.graphs:
            g.clear_cache()
