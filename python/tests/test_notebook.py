"""Runs the cells of the example notebook, in the order in which a reader runs them."""

import ast
import json
import pathlib
import shutil

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def test_notebook(tmp_path, monkeypatch, capsys):
    for file in (EXAMPLES / "quickstart").iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "python" / "first-evaluation.ipynb").read_text())
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = ast.parse("".join(cell["source"]))
        last = code.body[-1]
        shown = None
        if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):
            code.body.pop()
            shown = last.value
        exec(compile(code, "cell", "exec"), names)
        if shown is not None:  # A notebook shows what a cell ends with.
            value = eval(compile(ast.Expression(shown), "cell", "eval"), names)
            assert value._repr_html_().startswith("<div>")
    printed = capsys.readouterr().out
    assert "better" in printed and "agreement 1.000" in printed and "[0." in printed
