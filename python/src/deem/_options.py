"""The options of each function: the flags of its command, with "_" for "-".

This file is written by "go test ./internal/cli -run TestPythonOptions -update".
"""

from __future__ import annotations

from typing import Mapping, Sequence, TypedDict, Union


class RunOptions(TypedDict, total=False):
    """The flags of "deem run"."""

    anyway: bool
    arm: str
    ask_above: float
    base_url: str
    batch: bool
    batch_only: bool
    batch_poll: str
    batch_size: int
    benchmark: str
    ca_file: str
    concurrency: int
    context_tokens: int
    contexts: Union[str, Sequence[str]]
    corrected: bool
    db: str
    embeddings: str
    errata: str
    exclude: Union[str, Sequence[str]]
    fresh: bool
    gate: Union[str, Sequence[str]]
    header: Union[str, Sequence[str]]
    limit: int
    lock: str
    log: str
    log_level: str
    map: Mapping[str, str]
    max_cost: float
    max_tokens: int
    max_unjudged: Union[str, float]
    metrics: str
    model_option: Mapping[str, str]
    other: Union[str, Sequence[str]]
    pass_: float
    prices: str
    priority: str
    proxy: str
    queue: str
    reader: str
    reader_model: str
    reading: str
    record: str
    repeat: int
    require_all: bool
    responses: Union[str, Sequence[str]]
    retries: int
    retry_unjudged: bool
    rpm: int
    run_timeout: str
    sample: int
    seed: int
    system: str
    system_model: str
    temperature: float
    thinking: str
    tie: str
    timeout: str
    tpm: int
    trials: int
    until: str
    with_: Mapping[str, str]


class PlanOptions(TypedDict, total=False):
    """The flags of "deem plan"."""

    arm: str
    ask_above: float
    base_url: str
    batch: bool
    batch_only: bool
    batch_poll: str
    batch_size: int
    ca_file: str
    concurrency: int
    context_tokens: int
    contexts: Union[str, Sequence[str]]
    corrected: bool
    db: str
    dry_run: bool
    embeddings: str
    errata: str
    exclude: Union[str, Sequence[str]]
    fresh: bool
    from_: str
    gate: Union[str, Sequence[str]]
    header: Union[str, Sequence[str]]
    item_cost: float
    limit: int
    map: Mapping[str, str]
    margin: Union[str, float]
    max_cost: float
    max_tokens: int
    max_unjudged: Union[str, float]
    model_option: Mapping[str, str]
    other: Union[str, Sequence[str]]
    pass_: float
    prices: str
    proxy: str
    queue: str
    reader: str
    reader_model: str
    reading: str
    record: str
    repeat: int
    require_all: bool
    responses: Union[str, Sequence[str]]
    retries: int
    retry_unjudged: bool
    rpm: int
    run_timeout: str
    sample: int
    seed: int
    split: int
    system: str
    system_model: str
    temperature: float
    thinking: str
    tie: str
    timeout: str
    tpm: int
    trials: int
    with_: Mapping[str, str]


class CompareOptions(TypedDict, total=False):
    """The flags of "deem compare"."""

    anyway: bool
    baseline: str
    db: str
    flips: str
    gate: Union[str, Sequence[str]]
    html: str
    label_pass: float
    labels: Union[str, Sequence[str]]
    labels_format: str
    labels_from_store: bool
    map: Mapping[str, str]
    margin: Union[str, float]
    max_unjudged: Union[str, float]
    no_word: Union[str, Sequence[str]]
    scale: float
    seed: int
    show: int
    yes_word: Union[str, Sequence[str]]


class AgreeOptions(TypedDict, total=False):
    """The flags of "deem agree"."""

    annotator: Union[str, Sequence[str]]
    anyway: bool
    bind: bool
    criteria: bool
    db: str
    known: str
    label_pass: float
    labels_format: str
    labels_from_store: bool
    map: Mapping[str, str]
    max_unjudged: Union[str, float]
    no_word: Union[str, Sequence[str]]
    output: str
    own_family: str
    plan: int
    rebind: bool
    scale: float
    seed: int
    system_model: str
    width: Union[str, float]
    write_known: str
    yes_word: Union[str, Sequence[str]]


class ProbeOptions(TypedDict, total=False):
    """The flags of "deem probe"."""

    arm: str
    ask_above: float
    base_url: str
    batch: bool
    batch_only: bool
    batch_poll: str
    batch_size: int
    ca_file: str
    card: Union[str, Sequence[str]]
    concurrency: int
    context_tokens: int
    contexts: Union[str, Sequence[str]]
    corrected: bool
    db: str
    embeddings: str
    errata: str
    exclude: Union[str, Sequence[str]]
    fresh: bool
    gate: Union[str, Sequence[str]]
    header: Union[str, Sequence[str]]
    kinds: Union[str, Sequence[str]]
    limit: int
    log: str
    log_level: str
    map: Mapping[str, str]
    max_cost: float
    max_tokens: int
    max_unjudged: Union[str, float]
    metrics: str
    model_option: Mapping[str, str]
    other: Union[str, Sequence[str]]
    pass_: float
    per_kind: int
    prices: str
    probes: Union[str, Sequence[str]]
    proxy: str
    queue: str
    reader: str
    reader_model: str
    reading: str
    record: str
    repeat: int
    require_all: bool
    responses: Union[str, Sequence[str]]
    retries: int
    retry_unjudged: bool
    rpm: int
    run_timeout: str
    seed: int
    system: str
    system_model: str
    temperature: float
    thinking: str
    tie: str
    timeout: str
    tpm: int
    trials: int
    with_: Mapping[str, str]


class RejudgeOptions(TypedDict, total=False):
    """The flags of "deem rejudge"."""

    ask_above: float
    base_url: str
    batch: bool
    batch_only: bool
    batch_poll: str
    batch_size: int
    benchmark: str
    ca_file: str
    claimed: Union[str, Sequence[str]]
    concurrency: int
    data: Union[str, Sequence[str]]
    db: str
    embeddings: str
    format: str
    fresh: bool
    header: Union[str, Sequence[str]]
    html: str
    judge: Union[str, Sequence[str]]
    lint: bool
    log: str
    log_level: str
    map: Mapping[str, str]
    max_cost: float
    max_tokens: int
    max_unjudged: Union[str, float]
    metrics: str
    model: str
    model_option: Mapping[str, str]
    only: Union[str, Sequence[str]]
    pass_: float
    pick: str
    prices: str
    proxy: str
    quotes: str
    reading: str
    record: str
    retries: int
    retry_unjudged: bool
    right: Union[str, Sequence[str]]
    rpm: int
    run_timeout: str
    scale: float
    skip_broken: bool
    split: str
    temperature: float
    thinking: str
    timeout: str
    together: bool
    tpm: int
    trials: int
    with_: Mapping[str, str]
    wrong: Union[str, Sequence[str]]


class ClaimsOptions(TypedDict, total=False):
    """The flags of "deem claims"."""

    benchmark: str
    db: str
    runs: int


class ExportOptions(TypedDict, total=False):
    """The flags of "deem export"."""

    anchor: bool
    bootstrap: bool
    db: str
    draws: int
    items: int
    max_unjudged: Union[str, float]
    organization: str
    redact: bool
    relationship: str
    seed: int
    sign: str
    spreadsheet: bool
