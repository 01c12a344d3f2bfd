"""The place that LangGraph has it at."""

from . import IsLastStep, IsLastStepManager, RemainingSteps, RemainingStepsManager

__all__ = ["IsLastStep", "IsLastStepManager", "RemainingSteps", "RemainingStepsManager"]
