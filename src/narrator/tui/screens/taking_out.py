"""Export in the app: in which form, to which place, with what in it; how far it is; what was written (X7-X11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Static

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.engine.exporting import theme_colours
from narrator.engine.story import utc_now
from narrator.exchange import exporting
from narrator.exchange.book.pages import Inputs, Style
from narrator.tui.outside import plain
from narrator.tui.remembered import remember, remembered_folder
from narrator.tui.screens.dialogs import Chooser, Typed
from narrator.tui.screens.picking import spelled_size
from narrator.tui.screens.working import Working
from narrator.tui.widgets.listbox import Entry, ListBox

if TYPE_CHECKING:
    from narrator.exchange.progress import Progress
    from narrator.tui.app import NarratorApp

FORMS: Mapping[str, tuple[str, str]] = {
    "epub": ("a book for a reader (EPUB)", ".epub"),
    "html": ("a page (HTML)", ".html"),
    "markdown": ("a text (Markdown)", ".md"),
    "text": ("a plain text", ".txt"),
    "bundle": ("the whole campaign, to be imported again (bundle)", ".json"),
    "sillytavern": ("a chat for SillyTavern", ".jsonl"),
    "world-info": ("the cards as World Info", ".worldinfo.json"),
    "story-cards": ("the cards as AI Dungeon story cards", ".cards.json"),
}
"""Forms in the order of the list: what they are, and the ending that a name gets."""
BOOKS = ("epub", "html", "markdown", "text")
_INPUTS: tuple[tuple[Inputs, str], ...] = (("apart", "set apart"), ("woven", "woven in"), ("out", "left out"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written and where."""

    place: Path
    form: str = "epub"
    inputs: Inputs = "apart"
    has_branches: bool = False
    has_comments: bool = False
    has_prompts: bool = True
    theme: str = ""
    replaces: bool = False
    colours: Mapping[str, str] = field(default_factory=dict)

    def wish(self) -> exporting.Wish:
        """The same as the exchange takes it."""
        style = Style(self.inputs, self.has_branches, self.has_comments, self.colours)
        return exporting.Wish(self.form, self.has_prompts, style, self.replaces)


def other_ending(place: Path, form: str) -> Path:
    """The place with the ending of another form, where it had one of a form."""
    name = place.name
    endings = sorted((ending for some in exporting.FORMS.values() for ending in some), key=len, reverse=True)
    known = next((ending for ending in endings if name.casefold().endswith(ending)), "")
    return place.with_name((name.removesuffix(name[len(name) - len(known) :]) if known else name) + FORMS[form][1])


class TakingOut(Working[None]):
    """One export of the campaign at ``path``, which may be open and played meanwhile."""

    def __init__(self, path: Path, title: str, folder: Path) -> None:
        super().__init__(f"Export: {title}")
        self._path = path
        self.wanted = Wanted(folder / f"{path.name.removesuffix(paths.SUFFIX)}.epub")
        self._problem = ""
        self._written = ""

    def begin(self) -> None:
        self.show_all()

    def show_all(self) -> None:
        """What is wanted, or what came of it."""
        told = self._problem or self._written or "The story up to where it is being read, in chapters at saved places."
        if not self._problem and not self._written and self.wanted.form not in BOOKS:
            told = FORMS[self.wanted.form][0].capitalize() + "."
        self.query_one("#told", Static).update(plain(told))
        self.query_one(ListBox).show(self._choices())

    def _choices(self) -> list[Entry]:
        want = self.wanted
        if self._written:
            return [Entry("leave", "Back"), Entry("more", "Export in another form")]
        found = [
            Entry("write", "Write it", want.place.name),
            Entry("form", "Form", FORMS[want.form][0]),
            Entry("place", "Place", str(want.place.parent)),
        ]
        if want.form in BOOKS:
            found.append(Entry("inputs", "What you typed", dict(_INPUTS)[want.inputs]))
            found.append(
                Entry("branches", "Other ways the story went", "as an appendix" if want.has_branches else "left out")
            )
            found.append(Entry("comments", "Your private notes", "in it" if want.has_comments else "left out"))
        if want.form == "html":
            found.append(Entry("theme", "Colours", want.theme or "paper"))
        if want.form == "bundle":
            found.append(Entry("prompts", "Prompts of every step", "in it" if want.has_prompts else "left out"))
        found.append(Entry("replaces", "A file of that name", "is replaced" if want.replaces else "is left alone"))
        return found

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        if self.is_working:
            return
        want, key = self.wanted, event.key
        self._problem = ""
        if key == "write":
            self.run_worker(self._write(), group="export", exclusive=True)
            return
        if key == "leave":
            self.dismiss(None)
            return
        if key in ("form", "place", "theme"):
            {"form": self._choose_form, "place": self._type_place, "theme": self._choose_theme}[str(key)]()
            return
        order = [name for name, _ in _INPUTS]
        changed: dict[object, Wanted] = {
            "inputs": replace(want, inputs=order[(order.index(want.inputs) + 1) % len(order)]),
            "branches": replace(want, has_branches=not want.has_branches),
            "comments": replace(want, has_comments=not want.has_comments),
            "prompts": replace(want, has_prompts=not want.has_prompts),
            "replaces": replace(want, replaces=not want.replaces),
        }
        if key == "more":
            self._written = ""
        self.wanted = changed.get(key, want)
        self.show_all()

    def _choose_form(self) -> None:
        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.wanted = replace(self.wanted, form=key, place=other_ending(self.wanted.place, key))
                self.show_all()

        entries = [Entry(form, words[0][0].upper() + words[0][1:], words[1]) for form, words in FORMS.items()]
        self.app.push_screen(Chooser("Export as", entries, at=self.wanted.form), chosen)

    def _type_place(self) -> None:
        def typed(name: str | None) -> None:
            if name is None:
                return
            place = paths.expand(name.strip())
            if name.strip().endswith("/") or place.is_dir():
                place = place / self.wanted.place.name
            self.wanted = replace(self.wanted, place=Path.cwd() / place)
            try:
                form = exporting.form_of(place.name)
            except NarratorError:
                form = self.wanted.form
            if form != self.wanted.form:
                self.wanted = replace(self.wanted, form=form)
            self.show_all()

        self.app.push_screen(Typed("Write to which file?", str(self.wanted.place)), typed)

    def _choose_theme(self) -> None:
        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.wanted = replace(self.wanted, theme=key)
                self.show_all()

        app: NarratorApp = self.app  # type: ignore[assignment]
        entries = [Entry(theme.name, theme.name) for theme in app.own_themes]
        self.app.push_screen(Chooser("Colours of the page", entries, at=self.wanted.theme or "paper"), chosen)

    async def _write(self) -> None:
        want = self.wanted

        def work(progress: Progress) -> int:
            colours = theme_colours(want.theme, paths.theme_folders()) if want.theme and want.form == "html" else {}
            wish = replace(want, colours=colours).wish()
            exporting.export(self._path, want.place, wish, clock=utc_now, progress=progress)
            return want.place.stat().st_size

        self.query_one(ListBox).show([])
        try:
            size = await self.labour(work)
            self._written = f"Written to {want.place} ({want.form}, {spelled_size(size)})."
            remember("export-folder", str(want.place.parent))
        except NarratorError as error:
            self._problem = str(error)
        except Exception as error:
            app: NarratorApp = self.app  # type: ignore[assignment]
            app.log_error(error)
            self._problem = f"{type(error).__name__}: a fault of the program; nothing was written. The log has more."
        if not self.is_gone:
            self.tell_progress("")
            self.show_all()


def take_out(app: NarratorApp, path: Path, title: str) -> None:
    """Ask what to export, and do it."""
    app.push_screen(TakingOut(path, title, remembered_folder("export-folder")))
