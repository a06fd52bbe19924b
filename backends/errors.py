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


class EmbeddingsUnavailable(PerquireError):
    """The embedding model cannot be reached or loaded; what was indexed by words can still be searched."""


class WebUnavailable(PerquireError):
    """The web search gave no results that can be used; the message names the cause."""


class BadSettings(PerquireError):
    """A setting, in the file or the environment, that cannot be taken as it is."""


class ModelUnavailable(PerquireError):
    """A model gave no reply that can be used. `kind` says why, `retry` whether asking again may help.

    `retry_after` is what the service asked to wait, in seconds.
    """

    def __init__(self, message: str, kind: str = "unusable", retry: bool = False, retry_after: float | None = None):
        super().__init__(message)
        self.kind = kind
        self.retry = retry
        self.retry_after = retry_after
