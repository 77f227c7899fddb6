"""Results that came without Snakemake's records: nobody can tell whether they are stale."""

from pathlib import Path


def unrecorded(directory: Path) -> bool:
    """Whether `directory` holds results but no record of any job that made them.

    Snakemake would take such results for current whatever the configuration says.
    """
    records = directory / ".snakemake"
    kept = any(_has_files(records / name) for name in ("metadata", "incomplete"))
    return not kept and _has_files(directory / "results")


def _has_files(directory: Path) -> bool:
    """Whether there is a file below `directory` other than the remains of one half written."""
    return any(path.is_file() and path.suffix != ".part" for path in directory.rglob("*"))
