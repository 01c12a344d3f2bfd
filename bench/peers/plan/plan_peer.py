"""plan_peer.py FILE - the work of bench_plan.c in Python: json and dataclasses, as seed and users have it.

Reads the plan that bench_plan wrote, then, best of many rounds: json.loads, dataclasses filled with
the checks that `pons plan check` makes (types, enumerations, empty texts, ids twice: one set, in
linear time), json.dumps with sorted keys. Prints one line a figure, as bench/run.sh joins them.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

ROUNDS = 40


class RiskLevel(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class StepStatus(Enum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    WAIT_CONFIRMATION = "wait_confirmation"


class PlanStatus(Enum):
    CREATED = "created"
    APPROVED = "approved"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WAIT_CONFIRMATION = "wait_confirmation"


class ToolCallType(Enum):
    EXECUTE = "execute"
    ASK_USER = "ask_user"
    SPEAK = "speak"
    QUERY_WORLD = "query_world"
    QUERY_KNOWLEDGE = "query_knowledge"
    NOOP = "noop"


def typed(value: Any, kind: Any, path: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{path}: expected {kind}, found {value!r}")
    return value


def text_or_none(value: Any, path: str) -> Any:
    if value is not None and type(value) is not str:
        raise ValueError(f"{path}: expected a string or null, found {value!r}")
    return value


@dataclass
class PlanStep:
    step_id: int
    action: str
    parameters: dict = field(default_factory=dict)
    preconditions: dict = field(default_factory=dict)
    fallback: str | None = None
    status: StepStatus = StepStatus.PENDING
    description: str = ""
    tool_call_type: ToolCallType = ToolCallType.EXECUTE
    requires_confirmation: bool = False
    confirmation_message: str | None = None
    metadata: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.action or not self.action.strip():
            raise ValueError("action is empty")
        if self.step_id < 0:
            raise ValueError("step_id is negative")

    def to_dict(self) -> dict[str, Any]:
        return {
            "step_id": self.step_id,
            "action": self.action,
            "tool_call_type": self.tool_call_type.value,
            "parameters": self.parameters,
            "preconditions": self.preconditions,
            "fallback": self.fallback,
            "status": self.status.value,
            "description": self.description,
            "requires_confirmation": self.requires_confirmation,
            "confirmation_message": self.confirmation_message,
            "metadata": self.metadata,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PlanStep:
        return cls(
            step_id=typed(data["step_id"], int, "step_id"),
            action=typed(data["action"], str, "action"),
            tool_call_type=ToolCallType(data.get("tool_call_type", "execute")),
            parameters=typed(data.get("parameters", {}), dict, "parameters"),
            preconditions=typed(data.get("preconditions", {}), dict, "preconditions"),
            fallback=text_or_none(data.get("fallback"), "fallback"),
            status=StepStatus(data.get("status", "pending")),
            description=typed(data.get("description", ""), str, "description"),
            requires_confirmation=typed(
                data.get("requires_confirmation", False), bool, "requires_confirmation"
            ),
            confirmation_message=text_or_none(
                data.get("confirmation_message"), "confirmation_message"
            ),
            metadata=typed(data.get("metadata", {}), dict, "metadata"),
        )


@dataclass
class Plan:
    plan_id: str
    goal: str
    reasoning: str = ""
    risk_level: RiskLevel = RiskLevel.LOW
    requires_confirmation: bool = False
    confirmation_message: str | None = None
    steps: list[PlanStep] = field(default_factory=list)
    status: PlanStatus = PlanStatus.CREATED
    created_at: float = field(default_factory=time.time)
    source: str = "llm"
    metadata: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.plan_id or not self.plan_id.strip():
            raise ValueError("plan_id is empty")
        if not self.goal or not self.goal.strip():
            raise ValueError("goal is empty")
        seen: set[int] = set()
        for step in self.steps:
            if step.step_id in seen:
                raise ValueError(f"step_id {step.step_id} already exists")
            seen.add(step.step_id)

    def to_dict(self) -> dict[str, Any]:
        return {
            "plan_id": self.plan_id,
            "goal": self.goal,
            "reasoning": self.reasoning,
            "risk_level": self.risk_level.value,
            "requires_confirmation": self.requires_confirmation,
            "confirmation_message": self.confirmation_message,
            "steps": [s.to_dict() for s in self.steps],
            "status": self.status.value,
            "created_at": self.created_at,
            "source": self.source,
            "metadata": self.metadata,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        return cls(
            plan_id=typed(data["plan_id"], str, "plan_id"),
            goal=typed(data["goal"], str, "goal"),
            reasoning=typed(data.get("reasoning", ""), str, "reasoning"),
            risk_level=RiskLevel(data.get("risk_level", "low")),
            requires_confirmation=typed(
                data.get("requires_confirmation", False), bool, "requires_confirmation"
            ),
            confirmation_message=text_or_none(
                data.get("confirmation_message"), "confirmation_message"
            ),
            steps=[PlanStep.from_dict(s) for s in typed(data.get("steps", []), list, "steps")],
            status=PlanStatus(data.get("status", "created")),
            created_at=data.get("created_at", time.time()),
            source=typed(data.get("source", "llm"), str, "source"),
            metadata=typed(data.get("metadata", {}), dict, "metadata"),
        )


def round_trip(text: str) -> str:
    plan = Plan.from_dict(json.loads(text))
    return json.dumps(plan.to_dict(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        out = round_trip(text)
        best = min(best, time.perf_counter() - started)
    if len(sys.argv) > 2:  # what came out, for a comparison byte for byte
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(out)
    print(json.dumps({"peer": "python-dataclasses", "key": "plan", "value": 1 / best, "unit": "plans/s"}))


if __name__ == "__main__":
    main()
