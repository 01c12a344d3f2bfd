"""What an agent's user interface is asked, as dicts of these shapes."""

from typing import Any, Literal

from typing_extensions import TypedDict


class HumanInterruptConfig(TypedDict):
    """What a person may do: ignore it, answer with words, change it, accept it."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class ActionRequest(TypedDict):
    """What would be done, and with what."""

    action: str
    args: dict


class HumanInterrupt(TypedDict):
    """A question: what would be done, what may be answered, and words for the person."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str | None


class HumanResponse(TypedDict):
    """The answer."""

    type: Literal["accept", "ignore", "response", "edit"]
    args: Any
