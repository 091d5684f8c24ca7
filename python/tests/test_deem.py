"""Tests of the Python package against the real program. DEEM_BINARY names it."""

import asyncio
import dataclasses
import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import deem

ITEMS = [
    {"id": "a", "category": "fr", "question": "Capital of France?", "references": ["Paris"], "response": "It is Paris."},
    {"id": "b", "category": "it", "question": "Capital of Italy?", "references": ["Rome"], "response": "Milan"},
    {"id": "c", "category": "es", "question": "Capital of Spain?", "references": ["Madrid"], "response": "Madrid, I think"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class ModelServer:
    """An OpenAI-compatible server: says INCORRECT of the response Milan."""

    def __init__(self, delay=0.0, broken=()):
        self.calls = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
                outer.calls += 1
                time.sleep(delay)
                text = "no idea" if any(b in prompt for b in broken) else ("INCORRECT" if "Milan" in prompt else "CORRECT")
                body = json.dumps(
                    {
                        "id": "x",
                        "object": "chat.completion",
                        "model": "m",
                        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
                    }
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    s = ModelServer()
    yield s
    s.close()


def test_list():
    run = deem.judge(ITEMS, "contains")
    assert run.score == pytest.approx(2 / 3)
    assert run.interval.low < run.score < run.interval.high
    assert [r.id for r in run.records()] == ["a", "b", "c"]
    assert [r.score for r in run.records()] == [1, 0, 1]
    assert run.categories == {"es": 1, "fr": 1, "it": 0}
    assert run.failures == []
    assert "66.7%" in repr(run)


def test_ids_are_made():
    run = deem.judge([{k: v for k, v in it.items() if k != "id"} for it in ITEMS], "contains")
    assert [r.id for r in run.records()] == ["0", "1", "2"]


def test_dataclasses_and_generators():
    @dataclasses.dataclass
    class Answer:
        question: str
        references: list
        response: str

    answers = (Answer(it["question"], it["references"], it["response"]) for it in ITEMS)
    assert deem.judge(answers, "contains").score == pytest.approx(2 / 3)


def test_file(tmp_path):
    (tmp_path / "answers.jsonl").write_text("\n".join(json.dumps(it) for it in ITEMS))
    assert deem.judge(tmp_path / "answers.jsonl", "contains").score == pytest.approx(2 / 3)
    assert deem.judge("answers.jsonl", "contains").score == pytest.approx(2 / 3)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([{**it, "references": it["references"][0]} for it in ITEMS])
    frame["context"] = [None, "x", float("nan")]
    run = deem.judge(frame, "contains")
    assert run.score == pytest.approx(2 / 3)
    table = run.to_pandas()
    assert list(table["score"]) == [1, 0, 1]
    assert table["id"].tolist() == ["a", "b", "c"]


class Dataset:
    """What deem uses of a Hugging Face dataset: it yields a dict for each row, and more of its
    methods are there only to be mistaken for those of a data frame."""

    column_names = list(ITEMS[0])

    def __len__(self):
        return len(ITEMS)

    def __iter__(self):
        return iter(ITEMS)

    def __getitem__(self, key):
        return [it[key] for it in ITEMS] if isinstance(key, str) else ITEMS[key]

    def to_dict(self):
        return {name: self[name] for name in self.column_names}

    def to_pandas(self):
        raise AssertionError("pandas is not needed")


class PolarsFrame:
    """What deem uses of a polars data frame."""

    columns = list(ITEMS[0])

    def to_dicts(self):
        return [dict(it) for it in ITEMS]

    def to_dict(self):
        raise AssertionError("this is how pandas is read")


@pytest.mark.parametrize("items", [Dataset(), PolarsFrame()], ids=["hugging face", "polars"])
def test_other_tables(items):
    run = deem.judge(items, "contains")
    assert [r.score for r in run.records()] == [1, 0, 1]


def test_model(server):
    run = deem.judge(ITEMS, "universal", "openai:m", base_url=server.url)
    assert run.score == pytest.approx(2 / 3)
    record = next(run.records())
    assert record.calls[0].text == "CORRECT" and record.calls[0].latency > 0
    again = deem.judge(ITEMS, "universal", "openai:m", base_url=server.url)
    assert again.id == run.id and server.calls == 3


def test_failures_are_not_wrong():
    s = ModelServer(broken=["Milan"])
    try:
        run = deem.judge(ITEMS, "universal", "openai:m", base_url=s.url)
    finally:
        s.close()
    assert run.score is None and run.interval is None and run.unjudged == 1
    assert [r.failure.kind for r in run.failures] == ["unparseable"]
    assert "withheld" in repr(run)
    with pytest.raises(deem.UnjudgedError):
        deem.all(run).at_least(0.1)


def test_stream():
    seen = [r.id for r in deem.stream(ITEMS, "contains")]
    assert sorted(seen) == ["a", "b", "c"]


def test_stream_left_early(server):
    records = deem.stream(ITEMS * 1, "universal", "openai:m", base_url=server.url)
    next(records)
    records.close()
    assert deem.judge(ITEMS, "universal", "openai:m", base_url=server.url).judged == 3


def test_async(server):
    async def both():
        return await asyncio.gather(
            deem.ajudge(ITEMS, "contains", db="one.db"),
            deem.ajudge(ITEMS, "universal", "openai:m", base_url=server.url, db="two.db"),
        )

    one, two = asyncio.run(both())
    assert one.score == two.score == pytest.approx(2 / 3)

    async def few():
        return [r.id async for r in deem.astream(ITEMS, "contains", db="three.db")]

    assert sorted(asyncio.run(few())) == ["a", "b", "c"]


def test_function():
    def first_word(item):
        if item["id"] == "c":
            raise RuntimeError("cannot say")
        return item["references"][0] in item["response"], "looked for the reference"

    run = deem.judge(ITEMS, first_word, max_unjudged=0.5)
    assert run.score == 0.5
    assert [r.verdict.reason for r in run.records() if r.verdict] == ["looked for the reference"] * 2
    assert [(r.id, r.failure.kind) for r in run.failures] == [("c", "provider")]
    assert "cannot say" in run.failures[0].failure.detail
    again = deem.judge(ITEMS, first_word, max_unjudged=0.5)
    assert again.id == run.id


@pytest.mark.parametrize(
    "answer, label, score",
    [(True, "yes", 1), (False, "no", 0), (0.25, "no", 0.25), ("correct", "correct", 1), ({"label": "B", "score": 0.5}, "B", 0.5)],
)
def test_answers_of_functions(answer, label, score):
    run = deem.judge(ITEMS[:1], lambda item: answer)
    verdict = next(run.records()).verdict
    assert (verdict.label, verdict.score) == (label, score)


@pytest.mark.parametrize(
    "function, says, cause",
    [
        (lambda item: None, "returned NoneType", TypeError),
        (lambda item: 7, "not between 0 and 1", ValueError),
        (lambda item: "great", 'the label "great"', ValueError),
        (lambda item: item["nothing"], "KeyError: 'nothing'", KeyError),
    ],
)
def test_function_that_never_judges(function, says, cause):
    with pytest.raises(deem.InputError) as e:
        deem.judge(ITEMS, function)
    assert says in e.value.message
    assert isinstance(e.value.__cause__, cause)


def test_function_that_raises_on_many_items():
    items = [dict(ITEMS[0], id=str(n)) for n in range(100)]  # the program stops after twenty
    with pytest.raises(deem.InputError) as e:
        deem.judge(items, lambda item: item.nothing)
    assert isinstance(e.value.__cause__, AttributeError)


def test_async_function_is_refused():
    async def judge(item):
        return True

    with pytest.raises(deem.InputError) as e:
        deem.judge(ITEMS, judge)
    assert "async" in e.value.message


def test_function_may_say_that_it_cannot_judge():
    run = deem.judge(ITEMS[:1], lambda item: {"failure": {"kind": "unsure"}})
    assert run.score is None and run.failures[0].failure.kind == "unsure"


def test_several_judges():
    exact, contains = deem.judge((i for i in ITEMS), ["exact", "contains"], db="two.db")
    assert exact.score == 0 and contains.score == pytest.approx(2 / 3)


def test_progress(capsys):
    deem.judge(ITEMS, "contains", progress=True)
    assert "3 of 3 items" in capsys.readouterr().err
    deem.judge(ITEMS, "contains")
    assert capsys.readouterr().err == ""


def test_units():
    run = deem.judge(ITEMS, "contains")
    assert 0 < run.interval.low < run.score < run.interval.high < 1
    assert str(run.interval).startswith("[0.")
    assert float(run.estimate) == run.score
    assert "66.7%" in repr(run) and "3 items" in repr(run)


def test_options_with_the_name_of_a_keyword():
    assert deem.judge(ITEMS, "f1", pass_=0.9).judged == 3


def test_results_are_objects():
    base = deem.judge(ITEMS * 1, "contains", system="base")
    better = [dict(i, response=i["references"][0]) for i in ITEMS]
    new = deem.judge(better, "contains", system="new")
    comparison = deem.compare(base, new)
    assert comparison.difference.estimate.value == pytest.approx(1 / 3)
    assert comparison.outcome == "undecided" and not comparison.is_better and not comparison.is_worse
    assert [d.name for d in comparison.categories] == ["es", "fr", "it"]
    assert comparison.difference.wins == 1 and comparison.difference.ties == 2
    assert "<table>" in comparison._repr_html_() and "undecided" in repr(comparison)
    assert list(comparison.to_pandas()["category"]) == ["es", "fr", "it", "overall"]
    agreement = deem.agree(base, {"a": "yes", "b": "no", "c": "no"})
    assert agreement.agreement.value == pytest.approx(2 / 3) and agreement.agreement.n == 3
    assert agreement.labelled == 3 and agreement.score.value == pytest.approx(2 / 3)
    assert "<table>" in agreement._repr_html_()


def test_many_better():
    items = [dict(ITEMS[1], id=str(n), category="it") for n in range(40)]
    base = deem.judge(items, "contains", system="base")
    new = deem.judge([dict(i, response="Rome") for i in items], "contains", system="new")
    assert deem.compare(base, new).is_better and deem.compare(new, base).is_worse


def test_plan_probe_export(tmp_path):
    plan = deem.plan(ITEMS, model="openai:gpt-4o-mini")
    assert plan.calls == 3 and 0 < plan.cost < plan.max_cost
    card = deem.probe(ITEMS, "contains", max_unjudged=1.0)
    assert card.false_accepts.n > 0 and card.to_dicts()[0]["probes"] > 0
    run = deem.judge(ITEMS, "contains")
    run.export(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().startswith("run,judge,")
    run.export(tmp_path / "run.deem")
    assert deem.load(str(tmp_path / "run.deem")).score == run.score


def test_hints_speak_python():
    with pytest.raises(deem.InputError) as e:
        deem.judge([{"id": "a", "question": "q"}], "contains")
    assert "item 0" in e.value.message and 'map={"response": "COLUMN"}' in e.value.hint


def test_errors():
    with pytest.raises(deem.InputError) as e:
        deem.judge([{"id": "a", "question": "q"}], "contains")
    assert "response" in str(e.value)
    with pytest.raises(deem.InputError) as e:
        deem.judge(ITEMS, "containz")
    assert "contains" in (e.value.hint or "")
    with pytest.raises(deem.InputError):
        deem.judge({"id": "a"})
    with pytest.raises(deem.InputError):
        deem.judge([1, 2])
    with pytest.raises(deem.DeemError):
        deem.load("last")

    def boom():
        yield ITEMS[0]
        raise LookupError("the user's own")

    with pytest.raises(LookupError):
        deem.judge(boom(), "contains")


def test_budget(server):
    with pytest.raises(deem.DeemError) as e:
        deem.judge(ITEMS, "universal", "openai:gpt-4o", base_url=server.url, max_cost=0.000001)
    assert isinstance(e.value, deem.BudgetError), e.value


def test_gates():
    assert deem.all(ITEMS, "contains").at_least(0.6).run.judged == 3
    with pytest.raises(deem.GateFailed) as e:
        deem.all(ITEMS, "contains").at_least(0.9)
    assert "66.7%" in str(e.value)
    with pytest.raises(AssertionError):
        deem.all(ITEMS, "contains").surely_at_least(0.6)
    with pytest.raises(deem.GateFailed) as e:
        deem.all(ITEMS, "contains").each_at_least(0.5)
    assert "b" in str(e.value)


def test_compare_agree_load():
    base = deem.judge(ITEMS, "contains", system="before")
    better = [dict(it, response=it["references"][0]) for it in ITEMS]
    new = deem.judge(better, "contains", system="after")
    assert deem.compare(base, new)["version"].startswith("deem.compare/")
    assert deem.load(base.id).score == base.score
    assert [r.score for r in deem.load(base.id).records()] == [1, 0, 1]
    assert deem.agree(base, {"a": "yes", "b": "no", "c": "no"})["version"].startswith("deem.agreement/")


def test_claims():
    table = "| system | all (n=10) |\n|---|---|\n| ours | 85.0 |\n"
    found = deem.claims(table)
    assert isinstance(found, deem.TableCheck) and found.impossible == len([f for f in found["findings"] if f["impossible"]])
    assert "85" in json.dumps(found.data)


def test_rejudge(tmp_path):
    rows = [{"id": it["id"], "question": it["question"], "answer": it["references"][0], "response": it["response"], "score": int(it["id"] != "b")} for it in ITEMS]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    found = deem.rejudge("results.json", claimed="90%")
    assert not found.agrees and found.claims[0].claimed == "90%"
    claim = found["systems"][0]["claims"][0]
    assert claim["right"] == 2 and claim["n"] == 3 and not claim["agrees"]


def test_html():
    html = deem.judge([dict(it, category="<b>" + it["category"]) for it in ITEMS], "contains")._repr_html_()
    assert "66.7%" in html and "<td>&lt;b&gt;fr</td>" in html


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_keyboard_interrupt_resumes():
    server = ModelServer(delay=0.3)
    items = [dict(ITEMS[0], id=str(n), response=f"Paris, {n}") for n in range(40)]
    program = textwrap.dedent(
        f"""
        import json, signal, sys
        import deem
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
        items = json.loads(sys.stdin.read())
        try:
            run = deem.judge(items, "universal", "openai:m", base_url={server.url!r}, concurrency=2)
            print("done", run.judged)
        except KeyboardInterrupt as e:
            print("interrupted", e)
        """
    )

    def child():
        return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    try:
        first = child()
        first.stdin.write(json.dumps(items).encode())
        first.stdin.close()
        deadline = time.time() + 60
        while server.calls < 4 and time.time() < deadline:
            time.sleep(0.05)
        first.send_signal(signal.SIGINT)
        assert b"interrupted" in first.stdout.read()
        first.wait()
        kept = server.calls
        second = child()
        out, _ = second.communicate(json.dumps(items).encode())
        assert b"done 40" in out
        assert kept < 40 and server.calls <= 40 + 2, "what was judged before is not asked again"
    finally:
        server.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda name: deem.load(name),
        lambda name: deem.compare(name, name),
        lambda name: deem.agree(name, name),
        lambda name: deem.rejudge(name),
        lambda name: deem.claims(name),
        lambda name: list(deem.stream(ITEMS, "match", benchmark=name)),
    ],
    ids=["load", "compare", "agree", "rejudge", "claims", "stream"],
)
@pytest.mark.parametrize("name", ["--help", "-h", "--no-color"])
def test_names_are_not_flags(call, name):
    """A name that begins with a dash is still a name."""
    deem.judge(ITEMS, "match")
    with pytest.raises(deem.DeemError) as error:
        call(name)
    assert name in str(error.value)


def test_name_reads_no_settings(folder):
    (folder / "secret.yaml").write_text("hunter2: true\n")
    deem.judge(ITEMS, "match")
    with pytest.raises(deem.DeemError) as error:
        deem.load("--config=secret.yaml")
    assert "hunter2" not in str(error.value)
