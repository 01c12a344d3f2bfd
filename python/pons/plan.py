"""Plans: what a planner hands to an executor (docs/reference/plans.md).

    from pons.plan import Plan

    plan = Plan.create_new("see the kitchen", source="rule_engine")
    plan.add("navigate_to_pose", {"zone": "kitchen"}, preconditions={"battery_pct_above": 20})
    plan.add("say", {"text": "I am here"}, tool_call_type="speak")
    plan.write("plan.json")                      # pons run --plan plan.json
    plan.run({"navigate_to_pose": go, "speak": say})

Names, fields and dicts are those of the protocol's Python module; what is checked, read, written and run is the
engine's, so a plan of Python and one of C are the same bytes and take the same steps.
"""

import dataclasses
import json
import time
import uuid
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ._library import NULL, PARKED, check, ffi, lib, new_error, taken, text_by, unref

__all__ = ["ExecutionResult", "Plan", "PlanStatus", "PlanStep", "RiskLevel", "StepStatus", "ToolCallType", "create_plan_from_llm_response"]


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


def _value(v):
    """As JSON has it: what it has not (a set, NaN, an object) is refused. A new reference."""
    text, ret, err = json.dumps(v, allow_nan=False, ensure_ascii=False).encode(), ffi.new("pons_value **"), new_error()
    check(lib.pons_value_read(text, len(text), ret, err), err)
    return ret[0]


def _new_id():
    return f"plan_{uuid.uuid4().hex[:8]}"


def _dict(v):
    """The fields as JSON has them: enumerations by their words."""
    out = {f.name: getattr(v, f.name) for f in dataclasses.fields(v) if f.init}
    return {k: x.value if isinstance(x, Enum) else [_dict(s) for s in x] if k == "steps" else x for k, x in out.items()}


def _words(v):
    """Words of enumerations are taken as they are written in JSON, too."""
    for f in dataclasses.fields(v):
        if isinstance(f.type, type) and issubclass(f.type, Enum):
            setattr(v, f.name, f.type(getattr(v, f.name)))


def _checked(v, from_value, destroy, *more):
    """What the engine says of it: a ValueError with the path of what is wrong."""
    made, ret, err = _value(v), ffi.new(f"{from_value[1]} **"), new_error()
    try:
        check(from_value[0](made, *more, ret, err), err)
    finally:
        unref(made)
    return ffi.gc(ret[0], destroy)


def _c_step(v):
    return _checked(v, (lib.pons_plan_step_from_value, "pons_plan_step"), lib.pons_plan_step_destroy)


def _c_plan(v):
    return _checked(v, (lib.pons_plan_from_value, "pons_plan"), lib.pons_plan_destroy, time.time())


def _c_result(v):
    return _checked(v, (lib.pons_execution_result_from_value, "pons_execution_result"), lib.pons_execution_result_destroy, time.time())


def _back(to_value, c):
    ret, err = ffi.new("pons_value **"), new_error()
    check(to_value(c, ret, err), err)
    return taken(ret[0])


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

    def __post_init__(self):
        _words(self)
        _c_step(self.to_dict())

    def update_status(self, new_status):
        self.status = StepStatus(new_status)

    def to_dict(self):
        return _dict(self)

    @classmethod
    def from_dict(cls, data):
        return cls(**_back(lib.pons_plan_step_to_value, _c_step(data)))


@dataclass
class Plan:
    plan_id: str
    goal: str
    reasoning: str = ""
    risk_level: RiskLevel = RiskLevel.LOW
    requires_confirmation: bool = False
    confirmation_message: str | None = None
    steps: list = field(default_factory=list)
    status: PlanStatus = PlanStatus.CREATED
    created_at: float = field(default_factory=time.time)
    source: str = "llm"
    metadata: dict = field(default_factory=dict)
    repairs: list = field(default_factory=list, init=False, repr=False, compare=False)  # what read() mended
    _cursor: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self):
        _words(self)
        self.steps = [s if isinstance(s, PlanStep) else PlanStep.from_dict(s) for s in self.steps]
        _c_plan(self.to_dict())

    @classmethod
    def create_new(cls, goal, reasoning="", risk_level=RiskLevel.LOW, source="llm"):
        return cls(_new_id(), goal, reasoning, risk_level, source=source)

    def add_step(self, step):
        if any(s.step_id == step.step_id for s in self.steps):
            raise ValueError(f"steps[{len(self.steps)}].step_id: {step.step_id} already exists, use a unique id")
        self.steps.append(step)

    def add(self, action, parameters=None, **fields):
        """A step with the next id, which is returned."""
        self.add_step(PlanStep(self.next_step_id(), action, parameters or {}, **fields))
        return self.steps[-1]

    def _of(self, *statuses):
        return [s for s in self.steps if s.status in statuses]

    def get_pending_steps(self):
        return self._of(StepStatus.PENDING)

    def get_current_step(self):
        return next(iter(self._of(StepStatus.RUNNING)), None)

    def get_waiting_confirmation_steps(self):
        return self._of(StepStatus.WAIT_CONFIRMATION)

    def get_failed_steps(self):
        return self._of(StepStatus.FAILED)

    def is_finished(self):
        return not self._of(StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAIT_CONFIRMATION)

    def is_success(self):
        return bool(self.steps) and len(self._of(StepStatus.SUCCESS)) == len(self.steps)

    def next_step_id(self):
        return max((s.step_id for s in self.steps), default=0) + 1

    def to_dict(self):
        return _dict(self)

    @classmethod
    def from_dict(cls, data):
        return cls(**_back(lib.pons_plan_to_value, _c_plan(data)))

    def to_json(self):
        """The canonical text, as `pons plan check` prints it."""
        return text_by(lib.pons_plan_text, _c_plan(self.to_dict()))

    def write(self, path):
        """A file for `pons plan check|show|run` and `pons run --plan`."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.to_json() + "\n")

    @classmethod
    def read(cls, text, goal=None):
        """A plan of a text as models write them, repaired as `pons plan check` does it; `repairs` tells each."""
        told = []

        @ffi.callback("void(void *, pons_plan_repair *)")
        def repaired(_, r):
            told.append(f"{r.line}:{r.column}: {ffi.string(lib.pons_repair_word(r.kind)).decode()}: {ffi.string(r.what).decode()}")

        data, rand = text.encode(), ffi.new("pons_rand *")
        lib.pons_rand_seed(rand, uuid.uuid4().int & ((1 << 64) - 1))
        name = ffi.new("char[]", goal.encode()) if goal is not None else NULL
        o = ffi.new("pons_plan_read_options *", {"goal": name, "from": {"now_s": time.time(), "rand": rand}, "fn": repaired})
        ret, err = ffi.new("pons_plan **"), new_error()
        check(lib.pons_plan_read(data, len(data), o, ret, err), err)
        plan = cls(**_back(lib.pons_plan_to_value, ffi.gc(ret[0], lib.pons_plan_destroy)))
        plan.repairs = told
        return plan

    def run(self, executors, *, look=None, confirm=None, fallback_recovers=False):
        """Runs it to its end, or to where a person is waited for, and returns the results of the steps.

        executors: {name: function}, name an action, else a tool_call_type. The function is called with the step's
        parameters by name; what it returns is the output (a dict, or {"result": it}), what it raises fails the step.
        look: a function of a precondition's name, or a dict. confirm: a function of (question, step or None) that
        returns whether a person agrees; without it the run stops there (`status` is "wait_confirmation"), and goes on
        with the next run().
        """
        return _Run(self, executors, look, confirm, fallback_recovers).go()


def create_plan_from_llm_response(llm_output, source="llm"):
    made = {**llm_output, "plan_id": llm_output.get("plan_id") or _new_id(), "source": source, "status": "created", "created_at": time.time()}
    seen = set()
    for i, step in enumerate(made.get("steps", [])):
        if step.get("step_id") in seen:
            raise ValueError(f"steps[{i}].step_id: {step['step_id']} already exists, use a unique id")
        seen.add(step.get("step_id"))
    return Plan.from_dict(made)


@dataclass
class ExecutionResult:
    plan_id: str
    step_id: int
    success: bool
    status: StepStatus
    message: str = ""
    output: dict = field(default_factory=dict)
    timestamp: float = field(default_factory=time.time)

    def __post_init__(self):
        _words(self)
        _c_result(self.to_dict())

    def to_dict(self):
        return _dict(self)

    @classmethod
    def from_dict(cls, data):
        return cls(**_back(lib.pons_execution_result_to_value, _c_result(data)))

    @classmethod
    def success_result(cls, plan_id, step_id, message="", output=None):
        return cls(plan_id, step_id, True, StepStatus.SUCCESS, message or "执行成功", output or {})

    @classmethod
    def failure_result(cls, plan_id, step_id, message, output=None):
        return cls(plan_id, step_id, False, StepStatus.FAILED, message, output or {})

    @classmethod
    def skipped_result(cls, plan_id, step_id, message="步骤已跳过"):
        return cls(plan_id, step_id, True, StepStatus.SKIPPED, message)


class _Run:
    """One run of the engine: what it calls, and what one of these raised that is no step's failure."""

    def __init__(self, plan, executors, look, confirm, fallback_recovers):
        self.plan, self.executors, self.raised, self.results = plan, executors, None, []
        self.look = look.get if isinstance(look, dict) else look
        self.confirm = confirm
        made = ffi.new("pons_plan_ops *", {"fallback_recovers": fallback_recovers})
        self.c, self.kept = made, []
        execute = self._callback("int(void *, pons_plan_call *, pons_plan_outcome *, pons_error *)", self._execute)
        for kind in ToolCallType:
            if kind is not ToolCallType.NOOP and self._any(kind):
                made.executors[lib.pons_tool_call_find(kind.value.encode())] = execute
        made.look = self._callback("int(void *, char *, pons_value **, pons_error *)", self._look)
        if confirm:
            made.confirm = self._callback("int(void *, pons_plan *, pons_plan_step *, char *, bool *, pons_error *)", self._confirm)
        made.result = self._callback("void(void *, pons_execution_result *)", self._result, None)
        made.now_s = self._callback("double(void *)", lambda _: time.time(), 0.0)

    def _callback(self, kind, fn, error=lib.PONS_ECANCELED):
        def lost(_, exc, __):
            self.raised = self.raised or exc
            return error

        made = ffi.callback(kind, fn, onerror=lost, **({} if error is None else {"error": error}))
        self.kept.append(made)
        return made

    def _any(self, kind):
        return kind.value in self.executors or any(s.tool_call_type is kind and (s.action in self.executors or s.fallback in self.executors) for s in self.plan.steps)

    def _step(self, c):
        return next((s for s in self.plan.steps if s.step_id == c.step_id), None) if c != NULL else None

    def _execute(self, _, call, out, __):
        action, step = ffi.string(call.action).decode(), self._step(call.step)
        fn = self.executors.get(action) or (None if call.is_fallback else self.executors.get(step.tool_call_type.value))
        if fn is None:
            self._say(out, f"no executor for {action} is here")
            return lib.PONS_OK
        try:
            made = fn(**{} if call.is_fallback else step.parameters)
            made = made if isinstance(made, dict) else {} if made is None else {"result": made}
            out.output = _value(made)
            out.success = True
        except Exception as exc:
            self._say(out, str(exc) or type(exc).__name__)
        return lib.PONS_OK

    @staticmethod
    def _say(out, text):
        data = text.encode()[: lib.PONS_PLAN_MESSAGE_MAX - 1].decode(errors="ignore").encode()
        ffi.memmove(out.message, data + b"\0", len(data) + 1)

    def _look(self, _, name, ret, err):
        found = self.look(ffi.string(name).decode()) if self.look else None
        if found is None:
            return lib.PONS_ENOTFOUND
        ret[0] = _value(found)
        return lib.PONS_OK

    def _confirm(self, _, __, step, question, ret, ___):
        ret[0] = bool(self.confirm(ffi.string(question).decode(), self._step(step)))
        return lib.PONS_OK

    def _result(self, _, r):
        self.results.append(ExecutionResult(**_back(lib.pons_execution_result_to_value, r)))

    def go(self):
        plan, err = self.plan, new_error()
        plan._cursor = plan._cursor or ffi.new("pons_plan_cursor *")
        c = _c_plan(plan.to_dict())
        status = lib.pons_plan_run(c, plan._cursor, self.c, err)
        now = _back(lib.pons_plan_to_value, c)
        plan.status = PlanStatus(now["status"])
        for step, was in zip(plan.steps, now["steps"]):
            step.status = StepStatus(was["status"])
        if self.raised:
            raise self.raised
        if status != PARKED:
            check(status, err)
        return self.results
