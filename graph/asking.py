"""How a node asks a model: retries that the budgets cover, and JSON by whichever way the endpoint knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from backends.chat import ChatModel, ChatReply
from backends.errors import ModelUnavailable
from backends.settings import OutputMode, Role
from graph.context import Step
from graph.seam import OverBudget
from retrieval.json_reply import parse_reply
from retrieval.tokens import estimate_messages
from retrieval.types import Json, Message

ATTEMPTS = 3
BACKOFF_S = 0.5
LONGEST_WAIT_S = 20.0  # a service that asks for more is not waited for
SHOWN = 2_000  # characters of a broken reply that the model is shown to repair
TRUNCATED = 0.5  # ⚙ of the estimated prompt; estimates run high, but not by half

Shape = TypeVar("Shape", bound=BaseModel)


async def chat_model(step: Step, role: Role) -> ChatModel | None:
    """The model of a role, if one is configured. In a thread: the settings are read from a file at first use."""
    return await asyncio.to_thread(step.library.chat, role)


async def ask_text(
    step: Step, model: ChatModel, messages: Sequence[Message], on_token: Callable[[str], None] | None = None
) -> ChatReply:
    """The reply to a prompt, streamed to `on_token` where given. Raises ModelUnavailable or OverBudget.

    Once a part has been streamed, a further attempt is not: nobody is told the beginning twice.
    """
    streamed = False

    def tell(token: str) -> None:
        nonlocal streamed
        streamed = True
        if on_token:
            on_token(token)

    async def attempt() -> ChatReply:
        return await step.attempt(model, messages, **({"on_token": tell} if on_token and not streamed else {}))

    return await _retrying(step)(attempt)


async def ask_json(step: Step, model: ChatModel, messages: Sequence[Message], shape: type[Shape]) -> Shape:
    """A reply of a given shape: by JSON schema, by a tool's arguments, or as text, whichever this endpoint knows.

    A reply that cannot be read is sent back once with what is wrong. Raises ModelUnavailable or OverBudget.
    """
    modes: list[OutputMode] = await asyncio.to_thread(step.call, "reads", model.output_modes)
    for mode in modes:
        proven = len(modes) == 1
        asked = list(messages)
        try:
            reply = await _in_mode(step, model, asked, shape, mode, patient=proven or mode == modes[-1])
        except ModelUnavailable as error:
            if mode == modes[-1] or error.kind not in {"bad_request", "server", "malformed"}:
                raise
            step.tell(event="structured_output", mode=mode, refused=error.kind)
            continue
        value, problem = _read(reply, shape)
        if value is None:
            if reply["finish"] == "refusal":
                raise ModelUnavailable(f"The model {model.name} declined to reply.", "refusal")
            asked += _repair(reply["text"], problem)
            value, problem = _read(await _in_mode(step, model, asked, shape, mode, patient=True), shape)
        if value is None:
            raise ModelUnavailable(f"The model {model.name} gave no usable reply, also when asked again: {problem}.")
        if not proven:
            await asyncio.to_thread(step.call, "reads", model.works, mode)
        return value
    raise ModelUnavailable(f"The model {model.name} offers no way to ask for JSON.")


def truncation(model: ChatModel, messages: Sequence[Message], reply: ChatReply) -> str | None:
    """A warning where the endpoint reports far fewer prompt tokens than were sent: it cut the prompt without saying so."""
    sent = estimate_messages(messages)
    if not reply["reported"] or reply["input_tokens"] >= TRUNCATED * sent:
        return None
    return (
        f"The endpoint of {model.name} read {reply['input_tokens']:,} of about {sent:,} prompt tokens: it cuts long prompts "
        "silently. Raise its context (Ollama: num_ctx), or set context_window in perquire.toml to what it has."
    )


async def _in_mode(
    step: Step,
    model: ChatModel,
    messages: Sequence[Message],
    shape: type[BaseModel],
    mode: OutputMode,
    *,
    patient: bool,
) -> ChatReply:
    """One reply; `patient` says whether a server error may be the server's passing trouble rather than the mode."""

    async def attempt() -> ChatReply:
        return await step.attempt(model, messages, schema=_strict(shape.model_json_schema()), mode=mode)

    return await _retrying(step, but_not=() if patient else ("server",))(attempt)


def _strict(schema: Json) -> Json:
    """The schema as strict endpoints take it: every property required, none beside them, no defaults."""
    out = {k: v for k, v in schema.items() if k not in {"default", "title"}}
    for key in ("anyOf", "allOf"):
        if key in out:
            out[key] = [_strict(part) for part in out[key]]
    for key in ("properties", "$defs"):
        if key in out:
            out[key] = {name: _strict(part) for name, part in out[key].items()}
    if "items" in out:
        out["items"] = _strict(out["items"])
    if "properties" in out:
        out |= {"required": list(out["properties"]), "additionalProperties": False}
    return out


def _retrying(step: Step, but_not: tuple[str, ...] = ()) -> AsyncRetrying:
    def worth_it(error: BaseException) -> bool:
        if not isinstance(error, ModelUnavailable) or not error.retry or error.kind in but_not:
            return False
        return (error.retry_after or 0) <= LONGEST_WAIT_S

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, ModelUnavailable) else None
        return asked if asked is not None else float(BACKOFF_S * 2 ** (state.attempt_number - 1))

    async def sleep(seconds: float) -> None:
        if step.model_calls_left() < 1:
            raise OverBudget("max_model_calls")  # waited for in vain
        if step.late(seconds):
            raise OverBudget("deadline_s")
        await step.context.clock.sleep(seconds)

    return AsyncRetrying(
        retry=retry_if_exception(worth_it),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )


def _read(reply: ChatReply, shape: type[Shape]) -> tuple[Shape | None, str]:
    try:
        return shape.model_validate(parse_reply(reply["text"])), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the reply"
        return None, f"{where}: {first['msg']}"
    except ValueError as error:
        cut = ", since it was cut at the limit of its length" if reply["finish"] == "length" else ""
        return None, f"{error}{cut}"


def _repair(said: str, problem: str) -> list[Message]:
    return [
        {"role": "assistant", "content": said[:SHOWN] or "(nothing)"},
        {
            "role": "user",
            "content": f"That cannot be used: {problem}. Reply with one JSON object of the shape asked for, nothing else.",
        },
    ]
