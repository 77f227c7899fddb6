"""What a stage is given: its settings, its wildcards and the paths it may touch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """One call of a stage.

    `settings` holds the sections of the configuration that the rule names, `wildcards` the
    instance (strings), `inputs` lists of paths by name, `outputs` one path by name, `run` the
    label of the run ("full", or another word for a shortened one). `progress` takes a line of
    text for whoever waits; it is passed on at most every few seconds.
    """

    stage: str
    run: str
    settings: Mapping[str, Any]
    wildcards: Mapping[str, str]
    inputs: Mapping[str, list[str]]
    outputs: Mapping[str, str]
    progress: Callable[[str], None]

    def input(self, name: str) -> str:
        """The only path of the input `name`."""
        (path,) = self.inputs[name]
        return path
