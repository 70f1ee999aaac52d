"""Import in the app: files are chosen, the report of a dry run is shown, and only then something is written (X1-X6).

What the files are taken for, where it goes and what a scenario asks can be changed before; each change reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Static

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.engine.bringing import surroundings
from narrator.exchange.detect import FORMATS
from narrator.exchange.importing import Prepared, prepare_files, write_all
from narrator.exchange.report import Report, told_lines
from narrator.tui.outside import plain
from narrator.tui.remembered import remember, remembered_folder
from narrator.tui.screens.dialogs import Chooser, Page, Typed
from narrator.tui.screens.picking import PickFiles
from narrator.tui.screens.working import Working
from narrator.tui.widgets.listbox import Entry, ListBox

if TYPE_CHECKING:
    from narrator.exchange.progress import Progress
    from narrator.tui.app import NarratorApp

_SHOWN = 8
_LINES = 2000


class Bringing(Working[Hashable]):
    """One import. ``path`` is the campaign that is being played, if any, and ``add`` adds to it while it is open.

    Gives the path of a campaign to open, ``"again"`` for other files, or None.
    """

    def __init__(
        self, files: Sequence[Path], path: Path | None = None, add: Callable[[Sequence[Prepared]], None] | None = None
    ) -> None:
        names = ", ".join(file.name or str(file) for file in files[:3])
        super().__init__(f"Import: {names}{f' and {len(files) - 3:,} more' if len(files) > 3 else ''}")
        self._files = tuple(files)
        self._path, self._add = path, add
        self._format: str | None = None
        self._into: Path | None = None
        self._answers: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._prepared: list[Prepared] = []
        self._problem = ""
        self._is_written = False

    def begin(self) -> None:
        self.read()

    @property
    def reports(self) -> list[Report]:
        return [one.report for one in self._prepared]

    # -- reading ----------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read the files as they are to be read now; nothing is written."""
        self.query_one("#told", Static).update(plain("Reading …"))
        self.query_one(ListBox).show([])
        self.run_worker(self._read(), group="import", exclusive=True)

    async def _read(self) -> None:
        self._problem, self._prepared, self._asked = "", [], {}

        def work(progress: Progress) -> list[Prepared]:
            around = surroundings(paths.campaigns_folder(), ask=self._ask, progress=progress)
            return prepare_files(self._files, around, as_format=self._format, into=self._into)

        await self._try(work)

    async def _try(self, work: Callable[[Progress], list[Prepared]]) -> bool:
        """Do it; a failure is one line, a fault of the program goes to the log."""
        try:
            self._prepared = await self.labour(work)
        except NarratorError as error:
            self._problem = str(error)
        except Exception as error:
            app: NarratorApp = self.app  # type: ignore[assignment]
            app.log_error(error)
            self._problem = f"{type(error).__name__}: a fault of the program; nothing was written. The log has more."
        if not self.is_gone:
            self.tell_progress("")
            self.show_all()
        return not self._problem

    def _ask(self, question: str, usual: str) -> str:
        """Placeholders of a scenario: in the thread, so they are noted, and asked on the screen."""
        self._asked[question] = usual
        return self._answers.get(question, usual or question)

    # -- showing ----------------------------------------------------------------------------------------------------

    def show_all(self) -> None:
        """The report and what can be done with it."""
        self.query_one("#told", Static).update(plain("\n".join(self._told())))
        self.query_one(ListBox).show(self._choices())

    def _told(self) -> list[str]:
        if self._problem:
            return [self._problem]
        reports = self.reports
        lines = [report.headline(("line", "lines")) for report in reports[:_SHOWN]]
        if len(reports) > _SHOWN:
            lines.append(f"and {len(reports) - _SHOWN:,} more")
        if self._is_written:
            lines += [f"Made: {path}" for report in reports[:_SHOWN] for path in report.campaigns]
            return [*lines, *(f"Added to {report.into}" for report in reports[:1] if report.into)]
        counts = [sum(report.counts[kind] for report in reports) for kind in ("kept", "changed", "dropped")]
        lines.append("Kept {:,}, changed {:,}, dropped {:,}.".format(*counts))
        details = told_lines(reports)
        lines += [f"  {each}" for each in details[: max(1, _SHOWN - len(reports))]]
        return lines

    def _choices(self) -> list[Entry]:
        if self._is_written:
            made = [(report.title, path) for report in self.reports for path in report.campaigns]
            found = [Entry(("open", path), f"Open “{title}”", Path(path).name) for title, path in made[:50]]
            return [*found, Entry("again", "Import more"), Entry("leave", "Back")]
        found = []
        if self._prepared:
            found.append(Entry("import", "Import", self._where()))
        found += [
            Entry(("ask", each), f"{each}:", self._answers.get(each, usual)) for each, usual in self._asked.items()
        ]
        found.append(Entry("as", "Read as", self._format or "what it is by its content"))
        found.append(Entry("into", "Into", self._where()))
        if details := told_lines(self.reports):
            found.append(Entry("lines", "The whole report", f"{len(details):,} lines"))
        return [*found, Entry("again", "Other files")]

    def _where(self) -> str:
        if self._into is None:
            return "a new campaign"
        return "this campaign" if self._into == self._path else self._into.name.removesuffix(paths.SUFFIX)

    # -- choosing ---------------------------------------------------------------------------------------------------

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        key = event.key
        if self.is_working:
            return
        if key == "import":
            self.run_worker(self._write(), group="import", exclusive=True)
        elif key == "as":
            self._choose_format()
        elif key == "into":
            self._choose_campaign()
        elif key == "lines":
            lines = told_lines(self.reports)
            more = [f"and {len(lines) - _LINES:,} more lines; `narrator import --json` lists all"] * (
                len(lines) > _LINES
            )
            self.app.push_screen(Page("The report", [*lines[:_LINES], *more]))
        elif key == "again":
            self.dismiss("again")
        elif key == "leave":
            self.dismiss(None)
        elif isinstance(key, tuple) and key[0] == "ask":
            self._type_answer(str(key[1]))
        elif isinstance(key, tuple):
            self.dismiss(Path(key[1]))

    def _choose_format(self) -> None:
        def chosen(key: object) -> None:
            if isinstance(key, str):
                self._format = key or None
                self.read()

        entries = [Entry("", "what it is by its content"), *(Entry(name, name) for name in FORMATS)]
        self.app.push_screen(Chooser("Read as", entries, at=self._format or ""), chosen)

    def _choose_campaign(self) -> None:
        def chosen(key: object) -> None:
            if key == "new" or isinstance(key, Path):
                self._into = key if isinstance(key, Path) else None
                self.read()

        others = sorted(paths.campaigns_folder().glob(f"*{paths.SUFFIX}"))
        entries = [Entry("new", "A new campaign")]
        if self._path is not None and self._add is not None:
            entries.append(Entry(self._path, "This campaign", "cards and knowledge alone"))
        entries += [Entry(path, path.name.removesuffix(paths.SUFFIX), "") for path in others if path != self._path]
        self.app.push_screen(Chooser("Into", entries, at=self._into or "new"), chosen)

    def _type_answer(self, question: str) -> None:
        def typed(answer: str | None) -> None:
            if answer is not None:
                self._answers[question] = answer
                self.read()

        self.app.push_screen(Typed(question, self._answers.get(question, self._asked.get(question, ""))), typed)

    # -- writing ----------------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        prepared = self._prepared
        if self._into is not None and self._into == self._path and self._add is not None:
            try:
                self._add(prepared)
            except NarratorError as error:
                self._problem = str(error)
            self._is_written = not self._problem
            self.show_all()
            return

        def work(progress: Progress) -> list[Prepared]:
            # What was prepared holds the progress of its reading; a bundle is read a second time while it is written.
            around = surroundings(paths.campaigns_folder(), ask=self._ask, progress=progress)
            for one in prepared:
                one.listen(progress)
            write_all(prepared, around)
            return prepared

        self.query_one(ListBox).show([])
        self._is_written = await self._try(work)
        if not self.is_gone:
            self.show_all()


async def bring(
    app: NarratorApp, path: Path | None = None, add: Callable[[Sequence[Prepared]], None] | None = None
) -> Path | None:
    """From choosing files to the report of what was made; the campaign to open, or None."""
    begin = remembered_folder("import-folder")
    while True:
        picker = PickFiles("Import: which files?", begin)
        files = await app.push_screen_wait(picker)
        if not files:
            return None
        begin = picker.folder
        remember("import-folder", str(begin))
        outcome = await app.push_screen_wait(Bringing(files, path, add))
        if outcome != "again":
            return outcome if isinstance(outcome, Path) else None


async def bring_and_play(app: NarratorApp, path: Path | None, add: Callable[[Sequence[Prepared]], None] | None) -> None:
    """``bring``, and show the campaign that was made where the player wants to open it."""
    made = await bring(app, path, add)
    if made is not None:
        if app.play_screens():
            await app.to_library()
        app.play(made)
