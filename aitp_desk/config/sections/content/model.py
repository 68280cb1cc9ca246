"""Settings of the models that answer, and of their budget."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url

API_KEY = "ANTHROPIC_API_KEY"
API_URL = "ANTHROPIC_BASE_URL"
"""Environment variables with the API key and URL of Anthropic's models."""
_OPENAI_KEY = "OPENAI_API_KEY"


class _DefaultModel(msgspec.Struct, frozen=True):
    """The model of a desk whose owner chose none, with its list prices."""

    name: str
    prices: tuple[float, float, float]


_DEFAULT = msgspec.json.decode(
    files(__package__).joinpath("default_model.json").read_bytes(), type=_DefaultModel
)

Name = Annotated[str, Meta(max_length=100, pattern=r"\A[\w.:@/-]*\Z")]
Tokens = Annotated[int, Meta(le=1_000_000_000, extra={"unit": "tokens"})]
Price = Annotated[float, Meta(ge=0, le=10_000, extra={"unit": "US dollars per million tokens"})]


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is called if those before it fail. Repeatable, in order."""

    provider: Annotated[
        Literal["anthropic", "openai"],
        Meta(
            description=(
                "The API: Anthropic's Messages, or Chat Completions as OpenAI, Azure, vLLM,"
                " llama.cpp, Ollama, LM Studio and OpenRouter serve it (extra openai)."
            ),
        ),
    ] = "anthropic"
    name: Annotated[
        Name,
        Meta(
            extra={"unit": "a name"},
            description=(
                f"Name of the model at its provider. By default {_DEFAULT.name}; openai has no"
                " default."
            ),
        ),
    ] = ""
    url: Annotated[
        Url,
        Meta(
            description=(
                "The API's base URL, such as http://127.0.0.1:11434/v1; empty for the provider's"
                " own."
            ),
        ),
    ] = ""
    key_env: Annotated[
        Variable,
        Meta(
            description=(
                "The environment variable with the API key. By default ANTHROPIC_API_KEY;"
                " for openai OPENAI_API_KEY without url, and none with it."
            ),
        ),
    ] = ""
    thinking: Annotated[
        Literal["disabled", "between_tools", "adaptive"],
        Meta(
            description=(
                "Whether the model thinks before it answers, which needs more tokens. Not every"
                " model accepts every value: see models.md."
            ),
        ),
    ] = "disabled"
    price_in: Annotated[Price, Meta(description="The price of input tokens, for the log.")] = (
        _DEFAULT.prices[0]
    )
    price_cached: Annotated[Price, Meta(description="The price of cached input tokens.")] = (
        _DEFAULT.prices[1]
    )
    price_out: Annotated[Price, Meta(description="The price of output tokens.")] = _DEFAULT.prices[
        2
    ]

    def __post_init__(self) -> None:
        """Name the default model."""
        if self.provider == "anthropic" and not self.name:
            msgspec.structs.force_setattr(self, "name", _DEFAULT.name)

    @property
    def key_variable(self) -> str:
        """The environment variable with the key; empty if the model needs none."""
        if self.key_env:
            return self.key_env
        if self.provider == "anthropic":
            return API_KEY
        return "" if self.url else _OPENAI_KEY

    @property
    def has_batches(self) -> bool:
        """Whether its API takes batches, at half the price."""
        return self.provider == "anthropic"

    @property
    def is_default(self) -> bool:
        """Whether no model was chosen."""
        return (self.provider, self.name, self.url) == ("anthropic", _DEFAULT.name, "")

    @property
    def has_foreign_prices(self) -> bool:
        """Whether the prices are the default ones, which are of another model."""
        prices = (self.price_in, self.price_cached, self.price_out)
        return self.name != _DEFAULT.name and prices == _DEFAULT.prices


class Model(ModelChoice, frozen=True, kw_only=True):
    """The model that answers, of any provider, and its cost limits.

    The default, Claude, needs ANTHROPIC_API_KEY alone.
    """

    max_tokens: Annotated[
        Tokens, Meta(ge=16, description="The longest answer; a caller may request a shorter one.")
    ] = 600
    passage_tokens: Annotated[
        Tokens, Meta(ge=16, description="The approximate amount of content sent with one question.")
    ] = 640
    reply_calls: Annotated[
        int,
        Meta(
            ge=1,
            le=100,
            extra={"unit": "calls"},
            description="The most calls of models for one reply.",
        ),
    ] = 5
    reply_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=600,
            extra={"unit": "seconds"},
            description="The time limit of one reply.",
        ),
    ] = 30
    reply_tokens: Annotated[
        Tokens,
        Meta(ge=256, description="The most tokens that one reply may use, input and output."),
    ] = 20_000
    day_tokens: Annotated[
        Tokens,
        Meta(ge=0, description="The most tokens per day (UTC); 0 for no limit."),
    ] = 0
    fallbacks: tuple[ModelChoice, ...] = ()

    @property
    def chain(self) -> tuple[ModelChoice, ...]:
        """The models in the order in which they are called."""
        return (self, *self.fallbacks)
