"""The tables on rehearsals in docs/mpi.md say what the code has and does."""

import json

import pytest
from mpi4py import MPI

from course_lib import mpi
from course_tools.maintenance import rank_verdicts
from course_tools.maintenance import rehearsal_tables as tables

PAGE = tables.PAGE.read_text(encoding="utf-8")


def between(name):
    return PAGE.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0]


def test_the_calls_are_those_of_the_code():
    assert between("rehearsed calls").split("\n")[2:-2] == tables.calls_table()


def test_every_program_of_the_corpus_has_its_row():
    rows = between("faults")
    for program in tables.programs():
        line = f"| {program.kind} | {program.name.replace('_', ' ')} | {program.n} | "
        assert line in rows, f"{program.name}: rehearsal_tables --write"
        told = rows.partition(line)[2].partition("\n")[0]
        tool = told.partition(":")[0]
        assert tool in program.finds or (not program.finds and told.startswith("nothing"))


def test_the_record_knows_programs_of_the_corpus_only():
    record = json.loads(tables.RECORD.read_text(encoding="utf-8"))
    names = {program.name for program in tables.programs()}
    assert set(record) == {"first", "real"}
    assert set(record["first"]) <= names and set(record["real"]) <= names


def test_real_ranks_were_asked_about_every_program():
    real = json.loads(tables.RECORD.read_text(encoding="utf-8"))["real"]
    assert set(real) == {program.name for program in tables.programs()}, "rank_verdicts --write"
    assert set(real.values()) <= {word for _, word in rank_verdicts.KINDS}
    assert all(real[p.name] == "nothing" for p in tables.programs() if not p.finds)


@pytest.mark.alone
@pytest.mark.slow
def test_a_verdict_of_real_ranks_and_the_next_cell():
    """Over 20 s of processor: ranks are started anew after most of the programs."""
    chosen = {"both_receive_first", "an_irecv_is_forgotten", "a_rank_below_zero", "both_send_first"}
    said, faults = rank_verdicts.all_verdicts([p for p in tables.programs() if p.name in chosen])
    real = json.loads(tables.RECORD.read_text(encoding="utf-8"))["real"]
    assert faults == [] and said == {name: real[name] for name in chosen}


def test_a_column_appears_once_it_is_recorded(monkeypatch, tmp_path):
    name = tables.programs()[0].name
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"first": {}, "real": {name: "hangs for ever"}}))
    monkeypatch.setattr(tables, "RECORD", record)
    said = {program.name: "nothing" for program in tables.programs()}
    lines = tables.faults_table(said)
    assert lines[2].endswith("| real ranks |") and any("hangs for ever" in line for line in lines)


@pytest.mark.parametrize("name", ["Create_graph", "Neighbor_alltoall", "Spawn", "Isendrecv"])
def test_a_call_that_is_not_there_says_so(name):
    assert name in {n for _, absent in tables.calls().values() for n in absent}
    error = mpi.rehearse(lambda comm: getattr(comm, name)(), 1).errors[0]
    words = "it may exist on real ranks, which run the same function"
    assert error["tool"] == "exception" and words in error["message"]


@pytest.mark.parametrize("name", ["Win", "File"])
def test_a_class_that_is_not_there_says_so(name):
    error = mpi.rehearse(lambda comm: getattr(MPI, name).Create(), 1).errors[0]
    assert f"no '{name}': it may exist on real ranks" in error["message"]
