"""Names of nodes and tags."""

START = "__start__"
END = "__end__"
INTERRUPT = "__interrupt__"
OVERWRITE = "__overwrite__"
