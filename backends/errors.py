"""What can go wrong outside the graph, each in a sentence that names the file, service or option, and what to do."""


class PerquireError(ValueError):
    """Base of all errors whose message is meant for a person: it says what to do, and holds no secret."""


class BadRequest(PerquireError):
    """A question or an option that cannot be taken as it is."""


class UnreadableFile(PerquireError):
    """A file that cannot be read; the message says why and what would help."""


class NoWorkspace(PerquireError):
    """There is no workspace in that folder."""


class UnknownSource(BadRequest):
    """A scope or a command names a source that the workspace does not hold."""


class StaleIndex(PerquireError):
    """The index was made by another embedding model than the one configured."""


class WebUnavailable(PerquireError):
    """The web search gave no results that can be used; the message names the cause."""
