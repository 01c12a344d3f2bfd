"""Names of nodes and tags."""

START = "__start__"
END = "__end__"
INTERRUPT = "__interrupt__"
OVERWRITE = "__overwrite__"
TAG_HIDDEN = "langsmith:hidden"
TAG_NOSTREAM = "nostream"  # of a model: what it says is not streamed
