"""Which embedding model a workspace gets: the one that made its index, unless the settings name another outright."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from backends.catalog import Catalog
from backends.embeddings.base import Embedder
from backends.embeddings.registry import embedder_for, how_to_reopen, settings_named
from backends.errors import NoWorkspace, StaleIndex
from backends.settings import EmbeddingSettings, Settings

NAME, HOW = "embedder", "embedder_settings"  # under which the catalog remembers it


def embedder_of(folder: Path, settings: Settings) -> Embedder:
    """The model for a workspace that may not exist yet. Nothing is loaded. Raises BadSettings."""
    return embedder_for(settings_of(folder, settings), settings.local_only)


def settings_of(folder: Path, settings: Settings) -> EmbeddingSettings:
    """The embedding settings that hold for a workspace, with the common endpoint and key where they name none."""
    try:
        catalog = Catalog(folder)
    except NoWorkspace:
        own = settings.embeddings
    else:
        own = _chosen(remembered(catalog), settings.embeddings)
    common = {
        "base_url": own.base_url or settings.base_url,
        "api_key_env": own.api_key_env or settings.api_key_env,
    }
    return own.model_copy(update=common)


def _chosen(made_by: EmbeddingSettings | None, configured: EmbeddingSettings) -> EmbeddingSettings:
    """The remembered model; the configured one where it was named and differs: an index refuses it, an empty one not."""
    if made_by is None:
        return configured
    telling = {"kind", "model", "dimension"} if made_by.kind == "openai" else {"kind"}
    said = configured.model_fields_set & telling
    if any(getattr(configured, field) != getattr(made_by, field) for field in said):
        return configured if "kind" in said else configured.model_copy(update={"kind": made_by.kind})
    return configured.model_copy(update={f: getattr(made_by, f) for f in ("kind", "model", "dimension")})


def remember(catalog: Catalog, embedder: Embedder) -> None:
    """Notes in the catalog which model makes the index."""
    if catalog.setting(NAME) != embedder.name:
        how = how_to_reopen(embedder)
        catalog.set(HOW, how.model_dump_json(include={"kind", "model", "dimension"}) if how else "")
        catalog.set(NAME, embedder.name)


def remembered(catalog: Catalog) -> EmbeddingSettings | None:
    """The model that made the index; None where there is no index, or its model is not known here."""
    name = catalog.setting(NAME)
    if not name or (embedded := settings_named(name)):
        return embedded if name else None
    try:
        how = EmbeddingSettings.model_validate_json(catalog.setting(HOW) or "{}")
        return how if embedder_for(how).name == name else None
    except (ValidationError, ValueError):  # of a later version, or changed by hand
        return None


def check_made_by(catalog: Catalog, embedder: Embedder) -> None:
    """Raises StaleIndex where another model than this one made the index; an empty workspace takes any."""
    made_by = catalog.setting(NAME)
    if made_by and made_by != embedder.name and catalog.count("chunks"):
        raise StaleIndex(
            f"The index of {catalog.folder} was made by {made_by}, the configured model is {embedder.name}: set the "
            "old model again (unset kind, model and dimension under [embeddings] and PERQUIRE_EMBEDDINGS__…, and a "
            "workspace uses its own), or ingest into a new workspace."
        )


def check_dimension(catalog: Catalog, embedder: Embedder, dimension: int) -> None:
    """Raises StaleIndex where a model of the same name makes vectors of another length than it did."""
    held = catalog.dimension()
    if held and held != dimension:
        raise StaleIndex(
            f"The index of {catalog.folder} has vectors of {held} dimensions, {embedder.name} makes {dimension} now: "
            "serve the old model again, or ingest into a new workspace."
        )
