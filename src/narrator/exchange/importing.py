"""Import: files to campaigns, or to cards and knowledge of one that is there (X1-X6, S43).

Everything is read and checked before the first write. ``import_files`` is what the command line and other front ends
call; it returns a report for each campaign. Who shows the report first calls ``prepare_files`` and then ``write_all``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrator.core.campaign import parse_definition
from narrator.core.conditions import parse_condition
from narrator.core.errors import BadImport
from narrator.exchange import detect, prose
from narrator.exchange.bundle_import import BundleFile
from narrator.exchange.campaign_file import file_name, make_campaign
from narrator.exchange.detect import Found
from narrator.exchange.growth import Batch
from narrator.exchange.plan import Plan, card_rows, kept_rows, plan_rows, renamed
from narrator.exchange.progress import Progress, silent
from narrator.exchange.report import Notes, Report
from narrator.exchange.sillytavern import read_chats
from narrator.store import commit, reads, rows, sources
from narrator.store.open import Clock, Store, open_store

Ask = Callable[[str, str], str]
"""Asked (placeholder of a scenario, its usual answer); gives the answer."""


def take_usual(question: str, usual: str) -> str:
    """Answer every placeholder with what is usual, or leave it named."""
    return usual or question


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an import needs from outside: where campaigns lie, the clock, ids and seeds, the player's answers."""

    folder: Path
    clock: Clock
    new_id: Callable[[], str]
    new_seed: Callable[[], int]
    ask: Ask = take_usual
    progress: Progress = silent


def import_files(
    paths: Sequence[Path],
    around: Surroundings,
    *,
    as_format: str | None = None,
    into: Path | None = None,
    is_dry: bool = False,
    condition: str = "",
) -> list[Report]:
    """Import these files (and the files of these folders); a report for each campaign made or added to.

    ``as_format`` overrules what a file is taken for (``detect.FORMATS``). ``is_dry``: nothing is written.
    ``condition`` says of knowledge when it may be quoted (W14). Raises ``BadImport`` with the place, ``BadValue`` (also
    for a condition that does not parse), ``StoreError``; a file that cannot be read is found before any is
    written.
    """
    prepared = prepare_files(paths, around, as_format=as_format, into=into, condition=condition)
    if not is_dry:
        write_all(prepared, around)
    return [one.report for one in prepared]


def prepare_files(
    paths: Sequence[Path],
    around: Surroundings,
    *,
    as_format: str | None = None,
    into: Path | None = None,
    condition: str = "",
) -> list[Prepared]:
    """Read and check these files and write nothing; the arguments and errors are those of ``import_files``."""
    if condition:
        parse_condition(condition)
    found = [each for path in paths for each in _recognised(path, as_format)]
    if not found:
        raise BadImport("There is no file to import.")
    chats: dict[str, list[Found]] = {}
    prepared: list[Prepared] = []
    for each in found:
        if each.format == detect.CHAT:
            chats.setdefault(_chat_key(each), []).append(each)
        elif each.format == detect.BUNDLE:
            prepared.append(_prepare_bundle(each, around, into))
        else:
            assert each.read is not None
            plan = each.read()
            plan.knowledge = [replace(source, condition=condition) for source in plan.knowledge]
            prepared.append(_prepare(plan, each.notes, around, into))
    for group in chats.values():
        report = group[0].notes.report
        plan = read_chats([(each.text, Notes(report, each.path.name)) for each in group])
        prepared.append(_prepare(plan, group[0].notes, around, into))
    return prepared


def write_all(prepared: Sequence[Prepared], around: Surroundings) -> None:
    """Write what was prepared. What goes wrong with one, a stop among it, takes back the campaigns made before it."""
    try:
        for one in prepared:
            one.write(around)
    except BaseException:
        for one in prepared:
            for made in one.report.campaigns:
                Path(made).unlink(missing_ok=True)
            one.report.campaigns.clear()
        raise


def _recognised(path: Path, as_format: str | None) -> list[Found]:
    """What a file is; of a folder, what its files are. A folder of chats is read for its chats alone."""
    if not path.is_dir():
        return [detect.recognise(path, Notes(Report(), path.name), as_format)]
    files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    found: list[Found] = []
    failed: list[tuple[Path, BadImport]] = []
    for file in files:
        try:
            found.append(detect.recognise(file, Notes(Report(), file.name), as_format))
        except BadImport as error:
            failed.append((file, error))
    chats = [each for each in found if each.format == detect.CHAT]
    if failed and not chats:
        raise failed[0][1]
    if chats:
        others = [each.path for each in found if each.format != detect.CHAT] + [file for file, _ in failed]
        for file in others:
            chats[0].notes.report.note("dropped", file.name, "", "", "it is no chat, as the others of the folder are")
    return chats or found


def _chat_key(found: Found) -> str:
    """Files of one chat begin with the same message."""
    lines = [line for line in found.text.split("\n") if '"mes"' in line]
    return lines[0].partition('"mes"')[2].partition('"extra"')[0] if lines else str(found.path)


@dataclass(slots=True)
class Prepared:
    """An import that was read and checked. ``batches`` starts its rows; ``addition`` is for the campaign ``into``.

    ``into`` may be open in this process: then ``add_to`` its store, which is one short transaction.
    """

    report: Report
    name: str
    batches: Callable[[], Iterable[Batch]] | None = None
    bundle: BundleFile | None = None
    into: Path | None = None
    addition: rows.Addition | None = None
    progress: Progress = silent

    def write(self, around: Surroundings) -> None:
        """Make the campaign, or add to the one it is for. ``report`` says then what was made."""
        if self.into is not None and self.addition is not None:
            store = open_store(self.into, clock=around.clock)
            try:
                self.add_to(store)
                commit.index_passages(store)
            finally:
                store.close()
            return
        now = around.clock()
        batches: Iterable[Batch] = self.bundle.rows(now=now) if self.bundle is not None else ()
        if self.batches is not None:
            batches = _told(self.batches(), self.progress, "import", self.report.nodes)
        path = make_campaign(around.folder, self.name, batches, clock=around.clock)
        self.report.campaigns.append(str(path))

    def listen(self, progress: Progress) -> None:
        """Another hears how far the writing is: what was heard while reading may have ended with it."""
        self.progress = progress
        if self.bundle is not None:
            self.bundle.progress = progress

    def add_to(self, store: Store) -> None:
        """Add cards and knowledge to an open campaign."""
        assert self.addition is not None
        rows.add(store, self.addition)
        self.report.into = str(self.into)


def _prepare_bundle(found: Found, around: Surroundings, into: Path | None) -> Prepared:
    if into is not None:
        raise BadImport("A bundle is a whole campaign; it cannot be added to another.")
    report, bundle = found.notes.report, BundleFile(found.path, found.notes, around.progress)
    survey = bundle.survey()
    campaign, shape = survey.campaign, survey.skeleton
    assert campaign is not None
    if not survey.has_prompts:
        found.notes.changed("", "prompts", "the bundle holds no prompts; those of its steps cannot be rebuilt")
    report.format, report.title = "narrator-campaign-v1", campaign.title
    report.steps_on_path, report.nodes, report.branches = shape.depths[campaign.tip], shape.count, len(shape.forks)
    report.cards = len(parse_definition(bundle.definition_source).cards) + len(survey.cards)
    report.memories, report.knowledge = bundle.counts.get("memories", 0), bundle.counts.get("knowledge", 0)
    report.checkpoints = [each.name for each in survey.checkpoints]
    report.keep(shape.count + report.cards + report.memories + len(report.checkpoints))
    return Prepared(report, file_name(campaign.title), bundle=bundle)


def _prepare(plan: Plan, notes: Notes, around: Surroundings, into: Path | None) -> Prepared:
    report = notes.report
    report.settle()
    if not plan.title.strip():
        plan.title = prose.title_of("", notes.file)
    _answer(plan, around.ask)
    if into is not None:
        return _prepare_addition(plan, notes, around, into)
    found = plan_rows(
        plan, report, campaign_id=around.new_id(), seed=around.new_seed(), now=around.clock(), notes=notes
    )
    total = len(plan.steps)
    batches = [(table, [tuple(row) for row in some]) for table, some in _told(found, around.progress, "check", total)]
    return Prepared(report, file_name(plan.title), batches=lambda: batches, progress=around.progress)


def _told(batches: Iterable[Batch], progress: Progress, what: str, total: int) -> Iterator[Batch]:
    """The batches, and how far they are, in steps; what ``progress`` raises stops them (U8, X11)."""
    done = 0
    for table, some in batches:
        if table == "nodes":
            progress(what, done, total)
            done += len(some)
        yield table, some
    progress(what, total, total)


def _answer(plan: Plan, ask: Ask) -> None:
    """Put the player's answers where a scenario asks (AI Dungeon, NovelAI: ``${question}``)."""
    for question, usual in plan.placeholders.items():
        answer = ask(question, usual)
        mark = f"${{{question}}}"
        for step in plan.steps:
            step.text = step.text.replace(mark, answer)
        plan.premise, plan.note = plan.premise.replace(mark, answer), plan.note.replace(mark, answer)
        plan.instructions = plan.instructions.replace(mark, answer)


def _prepare_addition(plan: Plan, notes: Notes, around: Surroundings, into: Path) -> Prepared:
    """Cards and knowledge for a campaign that is there; a story in the file is left out, and that is said."""
    if not plan.cards and not plan.knowledge:
        raise BadImport(f"{notes.file} holds no cards.", "Without --into it becomes a campaign of its own.")
    if plan.steps:
        notes.dropped("", "story", f"only cards are added; {len(plan.steps)} steps are left out")
    store = open_store(into, clock=around.clock, read_only=True)
    try:
        taken = {card.name for card in sources.written(store).cards}
        title = reads.campaign(store).title
    finally:
        store.close()
    plan.cards = [replace(each, card=renamed(each.card, taken)) for each in plan.cards]
    report = notes.report
    report.format, report.title = plan.format, title
    report.cards, report.knowledge = len(plan.cards), len(plan.knowledge)
    report.keep(len(plan.cards) + len(plan.knowledge))
    knowledge = [(each.title, each.kind, each.condition, each.passages) for each in plan.knowledge]
    return Prepared(report, "", into=into, addition=rows.Addition(card_rows(plan), kept_rows(plan), knowledge))
