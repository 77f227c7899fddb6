"""What a stage is given: its settings, its wildcards and the paths it may touch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """One call of a stage.

    `settings` holds the sections of the configuration that the rule names, `wildcards` the
    instance (strings), `inputs` lists of paths by name, `outputs` one path by name. `run` is the
    label of the run ("full", or another word for a shortened one), `code` a hash of the code that
    runs. `progress` takes a line of text for whoever waits, passed on at most every few seconds.
    """

    stage: str
    run: str
    code: str
    settings: Mapping[str, Any]
    wildcards: Mapping[str, str]
    inputs: Mapping[str, list[str]]
    outputs: Mapping[str, str]
    progress: Callable[[str], None]

    def input(self, name: str) -> str:
        """The only path of the input `name`."""
        (path,) = self.inputs[name]
        return path
