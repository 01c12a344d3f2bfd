"""Values of the engine's own, read only: Annotated[bool, IsLastStepManager]."""

from typing import Annotated


class IsLastStepManager:
    pass


class RemainingStepsManager:
    pass


IsLastStep = Annotated[bool, IsLastStepManager]
RemainingSteps = Annotated[int, RemainingStepsManager]
