"""What ranks print comes in few messages, whole, and before the rank that printed it is lost."""

import os
import time

import pytest

from course_lib import mpi
from course_lib.machines.ranks import output as ranks_output
from course_lib.machines.ranks.output import AT_ONCE, MOST, Output


@pytest.fixture
def sent():
    return []


def test_ten_thousand_lines_are_a_few_messages(sent, monkeypatch):
    monkeypatch.setattr(ranks_output, "SECONDS", float("inf"))
    output = Output(sent.append, [0])
    lines = [f"line {i}\n" for i in range(10_000)]
    for line in lines:
        output.write(line)
    output.send()
    assert "".join(sent) == "".join(lines)
    assert len(sent) == 2  # of 64,000 characters, and the rest


def test_nothing_is_sent_for_nothing(sent):
    output = Output(sent.append, [0])
    output.write("")
    output.send()
    assert sent == []


def test_two_streams_share_what_a_cell_may_print(sent):
    printed = [0]
    out, err = Output(sent.append, printed), Output(sent.append, printed)
    out.write("x" * (MOST - 1))
    err.write("yz")
    out.write("not shown")
    out.send(), err.send()
    text = "".join(sent)
    assert (
        text.startswith("x") and "y\n... this rank printed more than 1,000,000 characters" in text
    )
    assert "z" not in text.replace("characters", "") and "not shown" not in text


def test_much_text_is_sent_at_once(sent):
    Output(sent.append, [0]).write("x" * AT_ONCE)
    assert [len(text) for text in sent] == [AT_ONCE]


@pytest.fixture(scope="module")
def ranks():
    pytest.importorskip("mpi4py")
    with mpi.cluster(2, timeout=60, progress=False) as cluster:
        yield cluster


def test_lines_of_all_ranks_come_whole(ranks, capsys):
    def talk(comm):
        for i in range(3000):
            print("line", i)

    ranks.run(talk)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"[rank {r}] line {i}" for r in range(2) for i in range(3000)]


def test_cell_that_raises_shows_what_it_printed(ranks, capsys):
    with pytest.raises(mpi.RankError):
        ranks.execute("print('before'); 1 / 0")
    assert capsys.readouterr().out == "[rank 0] before\n[rank 1] before\n"


def test_rank_that_is_stopped_at_its_deadline_shows_what_it_printed(ranks, capsys):
    def waits(comm):
        print("waiting", comm.rank)
        time.sleep(1000)

    with pytest.raises(mpi.RankError, match="had not finished"):
        ranks.run(waits, timeout=2)
    assert "[rank 0] waiting 0\n[rank 1] waiting 1\n" in capsys.readouterr().out


def test_rank_that_dies_shows_what_it_printed_some_time_before(ranks, capsys):
    def dies(comm):
        print("alive", comm.rank)
        time.sleep(5)
        os._exit(3)

    with pytest.raises(mpi.RankError, match="died in this cell"):
        ranks.run(dies)
    assert "[rank 0] alive 0" in capsys.readouterr().out
