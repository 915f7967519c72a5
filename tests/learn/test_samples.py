"""Files of samples: what is read is what was written, and nothing else is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obscuro.learn.learn_error import LearnError
from obscuro.learn.samples import (
    SampleFile,
    joined,
    no_samples,
    read_all,
    read_samples,
    write_samples,
)
from tests.learn.made_samples import GAMES, ORIGIN, sample_file, samples


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    write_samples(path, sample_file())
    return path


def test_a_file_is_read_as_it_was_written(file: Path) -> None:
    written, found = sample_file(), read_samples(file)
    assert found.origin == ORIGIN and found.fingerprint == written.fingerprint
    assert (found.followed == written.followed).all()
    for mine, theirs in zip(found.samples, written.samples, strict=True):
        assert mine.dtype == theirs.dtype and (mine == theirs).all()
    assert list(file.parent.iterdir()) == [file]


def test_a_fingerprint_depends_on_every_column_and_on_the_origin() -> None:
    plain = sample_file()
    changed = [SampleFile(plain.samples, {**ORIGIN, "network": "another"})]
    for name, column in plain.samples._asdict().items():
        other = column.copy()
        other[0] = ~other[0] if other.dtype == bool else other[0] + 1
        changed.append(SampleFile(plain.samples._replace(**{name: other}), ORIGIN))
    prints = {each.fingerprint for each in [plain, *changed]}
    assert len(prints) == 1 + len(changed) == 10


def test_a_game_of_two_files_counts_once(file: Path) -> None:
    more = samples(seed=2)
    more = more._replace(game=more.game + np.uint64(GAMES // 2))
    other = file.with_name("more.npz")
    write_samples(other, SampleFile(more, ORIGIN))
    both = read_all([file, other])
    assert both.facts["games"] == GAMES + GAMES // 2
    assert len(both.samples.leaf) == len(samples().leaf) * 3 // 2
    assert both.facts["fingerprint"] != read_all([file]).facts["fingerprint"]


def test_no_samples_are_joined_to_no_samples() -> None:
    assert len(joined([]).leaf) == 0
    joined([no_samples(), samples()]).check()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"no archive", "is no file of `obscuro learn collect`, or damaged"),
        (b"", "is no file of `obscuro learn collect`, or damaged"),
        (None, "No such file or directory"),
    ],
)
def test_what_is_no_file_of_samples_is_refused(
    tmp_path: Path, content: bytes | None, fault: str
) -> None:
    path = tmp_path / "data.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LearnError, match=fault):
        read_samples(path)


def test_other_archives_and_changed_columns_are_refused(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, header=np.array('{"format": "something"}'), followed=np.zeros(0))
    with pytest.raises(LearnError, match="not of the format"):
        read_samples(other)
    with np.load(file) as stored:
        columns = dict(stored)
    np.savez(other, **{**columns, "result": -columns["result"]})
    with pytest.raises(LearnError, match="another fingerprint"):
        read_samples(other)
    np.savez(other, **{**columns, "leaf": columns["leaf"][1:]})
    with pytest.raises(LearnError, match="or damaged"):
        read_samples(other)


def test_values_of_two_networks_are_not_mixed(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    write_samples(other, SampleFile(samples(), {**ORIGIN, "network": "another"}))
    with pytest.raises(LearnError, match=r"another, and .* of made up"):
        read_all([file, other])
