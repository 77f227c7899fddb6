"""What a target cost: the jobs behind it, from Snakemake's records, and their benchmarks."""

import base64
import csv
import json
from dataclasses import dataclass
from pathlib import Path

# Snakemake samples a job now and then; what is shorter shows no processor or memory use.
_SAMPLED = "cpu_time"


def duration(seconds: float) -> str:
    """Whole seconds, or whole minutes from 100 seconds on."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time, largest memory of one job (MB), size of all outputs (MB)."""

    seconds: float
    memory: float
    disk: float


@dataclass(frozen=True)
class Records:
    """The finished jobs of a run directory: per output file, its record."""

    directory: Path
    records: dict[str, dict]

    def behind(self, targets: list[str]) -> list[str]:
        """Every recorded file that `targets` need, themselves included, sorted.

        Raises LookupError if a target has no record: it was not made by a run here.
        """
        found, todo = set(), list(targets)
        for target in targets:
            if target not in self.records:
                raise LookupError(f"{target}: no record of it in {self.directory}/.snakemake")
        while todo:
            file = todo.pop()
            if file in self.records and file not in found:
                found.add(file)
                todo.extend(self.records[file]["input"])
        return sorted(found)

    def cost(self, targets: list[str]) -> Cost:
        """What it took to make `targets` from nothing."""
        files = self.behind(targets)
        logs = {log for file in files for log in self.records[file]["log"]}
        measured = [self._benchmark(log) for log in sorted(logs)]
        sizes = [(self.directory / file).stat().st_size for file in files]
        return Cost(
            sum(float(row[_SAMPLED]) or float(row["s"]) for row in measured),
            max(float(row["max_rss"]) for row in measured),
            sum(sizes) / 1e6,
        )

    def _benchmark(self, log: str) -> dict[str, str]:
        """Every rule keeps its benchmark beside its log, under the same name."""
        path = Path(log.replace("logs/", "results/benchmarks/", 1)).with_suffix(".tsv")
        with (self.directory / path).open(encoding="utf-8", newline="") as file:
            return next(csv.DictReader(file, delimiter="\t"))


def read_records(directory: Path) -> Records:
    """The records that Snakemake keeps in `directory`."""
    folder = directory / ".snakemake/metadata"
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        # A long name is cut into directories, each but the last marked with @.
        name = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
        file = base64.urlsafe_b64decode(name).decode()
        if (directory / file).is_file():
            found[file] = json.loads(path.read_text(encoding="utf-8"))
    return Records(directory, found)
