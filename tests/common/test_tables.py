"""Tables as Markdown, CSV and text."""

from disan_tf.common.tables import csv_table, markdown_table, text_table

LINES = [{"soup": "hot", "bowls": 1200}, {"soup": "cold, thick", "spoons": 0.5, "bowls": None}]


def test_markdown_has_the_columns_of_all_lines_and_leaves_absent_cells_empty():
    assert markdown_table(LINES) == (
        "| soup | bowls | spoons |\n| --- | --- | --- |\n"
        "| hot | 1200 |  |\n| cold, thick | None | 0.5 |\n"
    )


def test_csv_has_the_same_columns_and_cells_with_commas_in_quotes():
    assert csv_table(LINES) == 'soup,bowls,spoons\nhot,1200,\n"cold, thick",,0.5\n'


def test_csv_has_all_line_ends_of_a_cell_in_quotes():
    assert (
        csv_table([{"a": "one\rtwo", "b": "\r\n", "c": "\n"}]) == 'a,b,c\n"one\rtwo","\r\n","\n"\n'
    )


def test_text_has_its_first_column_left_and_the_others_right():
    assert text_table(LINES).splitlines() == [
        "soup         bowls  spoons",
        "hot          1,200",
        "cold, thick      -  0.5000",
    ]


def test_no_lines_give_no_table():
    assert markdown_table([]) == text_table([]) == ""


def test_names_in_a_table_of_text_do_not_steer_a_terminal():
    assert text_table([{"\x1b[2Jname": "\x9bJ"}]).split() == [r"\x1b[2Jname", r"\x9bJ"]
