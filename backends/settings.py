"""What is configured: models, prices, embeddings. From `perquire.toml`, under the environment, which wins.

Keys are never written in the file: it names the environment variable that holds one.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from backends.errors import BadSettings

SETTINGS_FILE = "perquire.toml"
OPENAI = "https://api.openai.com/v1"
PER_TOKENS = 1_000_000  # what prices are quoted for

Role = Literal["planning", "judging", "answering"]
OutputMode = Literal["json_schema", "tool", "json"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Price(_Section):
    """Money per million tokens, in whatever currency the other prices have."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / PER_TOKENS


class ModelSettings(_Section):
    """One role's model. What is absent is taken from the common settings above it."""

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    context_window: int | None = Field(None, ge=1_024)
    max_completion: int | None = Field(None, ge=64)
    timeout_s: float | None = Field(None, gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    structured_output: OutputMode | None = None


class EmbeddingSettings(_Section):
    """`kind` wordllama needs nothing; minilm needs Chroma's ONNX files; openai needs an endpoint and a model's name."""

    kind: Literal["wordllama", "minilm", "openai"] = "wordllama"
    model: str | None = None
    dimension: int | None = Field(None, ge=8)
    base_url: str | None = None
    api_key_env: str | None = None
    timeout_s: float = Field(60, gt=0)


class Endpoint(_Section):
    """A chat model as it will be called. The key is read where it is used and shown nowhere."""

    model: str
    base_url: str
    api_key: SecretStr = Field(exclude=True, repr=False)
    context_window: int
    max_completion: int
    timeout_s: float
    temperature: float | None
    structured_output: OutputMode | None
    price: Price | None

    @property
    def host(self) -> str:
        """For messages: the host alone, since a URL may hold a login."""
        return urlsplit(self.base_url).hostname or "an address without a host"


class Settings(BaseSettings):
    """The common settings, each role's own, prices by model, and the embeddings."""

    model_config = SettingsConfigDict(
        env_prefix="PERQUIRE_", env_nested_delimiter="__", env_ignore_empty=True, extra="forbid"
    )

    model: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    planning_model: str | None = None
    judging_model: str | None = None
    answering_model: str | None = None
    planner: Literal["auto", "rules"] = "auto"  # rules: no model is asked for a plan
    context_window: int = Field(8_192, ge=1_024)
    max_completion: int = Field(1_024, ge=64)
    timeout_s: float = Field(60, gt=0)
    temperature: float | None = Field(0, ge=0, le=2)
    structured_output: OutputMode | None = None
    local_only: bool = False
    models: dict[Role, ModelSettings] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, settings_file())

    def endpoint(self, role: Role) -> Endpoint | None:
        """The model that plays a role; None where none is configured, or where it may not be used (`local_only`)."""
        own = self.models.get(role, ModelSettings())
        model = getattr(self, f"{role}_model") or own.model or self.model
        base_url = own.base_url or self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        if not model or (self.local_only and not on_loopback(base_url)):
            return None
        name = own.api_key_env or self.api_key_env
        return Endpoint(
            model=model,
            base_url=base_url.rstrip("/"),
            api_key=SecretStr(os.environ.get(name, "").strip()),
            context_window=own.context_window or self.context_window,
            max_completion=own.max_completion or self.max_completion,
            timeout_s=own.timeout_s or self.timeout_s,
            temperature=self.temperature if own.temperature is None else own.temperature,
            structured_output=own.structured_output or self.structured_output,
            price=self.prices.get(model),
        )


def settings_file() -> Path:
    return Path(os.environ.get("PERQUIRE_SETTINGS") or SETTINGS_FILE)


def load_settings(**said: Any) -> Settings:
    """The settings of this folder and environment; `said` wins over both. Raises BadSettings, which names the setting."""
    file = settings_file()
    if os.environ.get("PERQUIRE_SETTINGS") and not file.is_file():
        raise BadSettings(f"There is no settings file {file}: correct or unset PERQUIRE_SETTINGS.")
    try:
        return Settings(**said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadSettings(
            f'Setting "{where}": {first["msg"]}. Correct it in {file} or in the environment '
            f"(PERQUIRE_{where.upper().replace('.', '__')})."
        ) from None
    except ValueError as error:  # a file that is not TOML
        raise BadSettings(f"{file} is not a settings file: {error}. Correct it.") from None


def on_loopback(url: str) -> bool:
    """Does the URL lead to this machine, whatever a name server says?"""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
