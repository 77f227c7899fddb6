"""From what a rule found to a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What a claim's page says."""

    REPRODUCED = "reproduced"
    REPAIRED = "reproduced after repair"
    CONTRADICTED = "contradicted as written"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Control:
    """A variant to which the claim does not apply, judged by the same rule: it must fail."""

    measured: str
    failed: bool


@dataclass(frozen=True)
class Decision:
    """What a decision rule found.

    `holds`: the claim passes its rule (under its repaired reading, if it has one); None if the
    data are not precise enough to tell. `literal_holds`: so does the reading as printed.
    `refuted`: the evidence against it exceeds the error of the measurement.
    """

    measured: str
    allowed: str
    control: Control
    holds: bool | None
    literal_holds: bool = True
    refuted: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict; a control that passes makes every other finding worthless."""
        if not self.control.failed or self.holds is None:
            return Verdict.INCONCLUSIVE
        if self.holds:
            return Verdict.REPRODUCED if self.literal_holds else Verdict.REPAIRED
        return Verdict.CONTRADICTED if self.refuted else Verdict.NOT_REPRODUCED
