"""What a service says about when to ask again."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_until_retry(retry_after: str | None) -> float | None:
    """Retry-After in seconds: a number, or the time until a date (RFC 9110, section 10.2.3); None where it is neither."""
    value = (retry_after or "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    at = moment(value)
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at else None


def moment(value: str) -> datetime | None:
    """A date as ISO 8601 or as in mail headers; UTC where it does not say."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = parse(value.strip())
        except (ValueError, OverflowError):
            continue
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None
