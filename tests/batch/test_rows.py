"""Rows of a CSV file become typed inputs, or are refused with row and column before anything runs."""

from pathlib import Path

import pytest

from midcourse.batch.rows import read_rows, rows_text
from midcourse.domain.argument import Pairs
from midcourse.errors import TaskInvalid

INPUTS: Pairs = (("number", "INV-1"), ("amount", 12.5), ("copies", 1), ("urgent", False))


def test_each_column_has_the_type_of_its_input():
    rows = read_rows("number,amount,copies,urgent\nINV-7,3,2,yes\n0012, 4.25 ,-1,FALSE\n", INPUTS)
    assert rows == (
        (("number", "INV-7"), ("amount", 3.0), ("copies", 2), ("urgent", True)),
        (("number", "0012"), ("amount", 4.25), ("copies", -1), ("urgent", False)),
    )
    assert [type(value) for _, value in rows[0]] == [str, float, int, bool]


def test_columns_may_be_left_out_and_stand_in_any_order():
    assert read_rows("amount,number\n1,INV-7\n", INPUTS) == ((("amount", 1.0), ("number", "INV-7")),)


def test_an_empty_cell_is_empty_text_and_not_the_tasks_own_value():
    assert read_rows("number,copies\n,3\n", INPUTS) == ((("number", ""), ("copies", 3)),)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate_columns(separator: str):
    text = "number,amount\nINV-7,1.5\n".replace(",", separator)
    assert read_rows(text, INPUTS) == ((("number", "INV-7"), ("amount", 1.5)),)


def test_quotes_are_removed_and_empty_lines_skipped():
    text = 'number,amount\r\n"a, ""b""\nc",1\r\n\r\n , \r\n"d",2\r\n'
    assert [dict(row)["number"] for row in read_rows(text, INPUTS)] == ['a, "b"\nc', "d"]


def test_the_mark_of_excel_is_no_part_of_the_first_column(tmp_path: Path):
    path = tmp_path / "rows.csv"
    path.write_bytes("\ufeffnumber\nGrüße\n".encode())
    assert read_rows(rows_text(path), INPUTS) == ((("number", "Grüße"),),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "rows: is empty; its first line names the inputs, such as number,amount,copies,urgent"),
        ("number\n", "rows: there are no rows under number"),
        ("numbr\nx\n", "rows: no such input: 'numbr'; did you mean 'number'?"),
        ("number,number\nx,y\n", "rows: there are 2 columns 'number'"),
        ("number,amount\nx\n", "rows: row 1 (line 2): has 1 cells, and there are 2 columns"),
        ("number\nx,1\n", "rows: row 1 (line 2): has 2 cells, and there are 1 columns"),
        ("amount\n1\n\n1,5\n", "rows: row 2 (line 4): has 2 cells, and there are 1 columns"),
        ("amount;copies\n1,5;1\n", "rows: row 1 (line 2): column 'amount': '1,5' has to be a number such as 12.5"),
        ("amount,copies\nnan,1\n", "rows: row 1 (line 2): column 'amount': 'nan' has to be a number such as 12.5"),
        ("amount,copies\n1_0,1\n", "rows: row 1 (line 2): column 'amount': '1_0' has to be a number such as 12.5"),
        ("copies\n1\n2.5\n", "rows: row 2 (line 3): column 'copies': '2.5' has to be a whole number (if it may have"),
        ("copies,number\n,x\n", "rows: row 1 (line 2): column 'copies': '' has to be a whole number"),
        ("urgent\nmaybe\n", "rows: row 1 (line 2): column 'urgent': 'maybe' has to be true or false"),
        ('number\n"x\n', "rows: line 2: unexpected end of data"),
    ],
)
def test_what_is_wrong_is_said_with_row_and_column(text: str, complaint: str):
    with pytest.raises(TaskInvalid) as refused:
        read_rows(text, INPUTS)
    assert str(refused.value).startswith(complaint)
