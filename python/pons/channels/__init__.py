"""Channels by name, for Annotated[type, Channel(type)]. The engine has them; these say which."""


class BaseChannel:
    def __init__(self, typ=None, key=""):
        self.typ, self.key = typ, key


class LastValue(BaseChannel):
    """The one value written."""


class AnyValue(BaseChannel):
    """The last in task order; empty on a step without a write."""


class EphemeralValue(BaseChannel):
    """This step's value."""

    def __init__(self, typ=None, guard=True):
        super().__init__(typ)
        self.guard = guard


class UntrackedValue(BaseChannel):
    """In no checkpoint."""

    def __init__(self, typ=None, guard=True):
        super().__init__(typ)
        self.guard = guard


class Topic(BaseChannel):
    """This step's values as a list, or all of them."""

    def __init__(self, typ=None, accumulate=False):
        super().__init__(typ)
        self.accumulate = accumulate
        self.values = []


class BinaryOperatorAggregate(BaseChannel):
    """Folded by a function."""

    def __init__(self, typ, operator):
        super().__init__(typ)
        self.operator = operator
