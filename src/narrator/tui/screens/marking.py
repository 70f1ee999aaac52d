"""Verbs about what has a name or a number: saved places, branches, takes, places found; by list or rail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import on

from narrator.core.titles import full_title
from narrator.engine import events as e
from narrator.engine.commands import BranchRef, Command, StepRef, TakeRef
from narrator.engine.state_views import outline_of
from narrator.engine.verbs import COMMANDS
from narrator.tui.actions import reason_for_typed
from narrator.tui.screens.choices import branch_choices, checkpoint_choices, match_choices, take_choices
from narrator.tui.screens.dialogs import Chooser, Typed
from narrator.tui.screens.performing import Performing
from narrator.tui.widgets.rail import Rail


class Marking(Performing):
    """Owns the places that a search found, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._matches: Sequence[e.Match] = ()
        self._match_at = -1
        self._searched = ""

    def save(self) -> None:
        """Name this place, or the selected step."""
        from narrator.engine.handlers import proposed_name

        position = self.transcript.selected

        def typed(name: str | None) -> None:
            if name is None:
                return
            if position is None:
                self.perform(Command("save", {"name": name}))
            else:
                self.perform(Command("save-at", {"step": StepRef(position=position), "name": name}))

        where = "this place" if position is None else f"step {position}"
        self.app.push_screen(Typed(f"Save {where} as", proposed_name(self.story), "Enter saves · Esc leaves"), typed)

    def restore(self) -> None:
        """Go to a saved place, from a list."""
        entries = checkpoint_choices(self.story)
        if not entries:
            self.say("Nothing is saved yet; Ctrl+S saves this place under a name.")
            return

        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.transcript.selected = None
                self.perform(Command("restore", {"name": key}))

        self.app.push_screen(Chooser("Go to a saved place", entries), chosen)

    def with_checkpoint(self, verb: str) -> None:
        """A verb about a checkpoint that is chosen from a list."""
        entries = checkpoint_choices(self.story)
        if not entries:
            self.say("Nothing is saved yet.")
            return

        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.do_with_checkpoint(verb, key)

        self.app.push_screen(Chooser(COMMANDS[verb].title, entries), chosen)

    def do_with_checkpoint(self, verb: str, name: str) -> None:
        """Rename (after a new name was typed), delete or restore."""
        if verb != "rename-checkpoint":
            self.perform(Command(verb, {"name": name}))
            return

        def typed(new: str | None) -> None:
            if new is not None:
                self.perform(Command(verb, {"old": name, "new": new}))

        self.app.push_screen(Typed("Rename the saved place", name), typed)

    def with_branch(self, verb: str) -> None:
        """A verb about a branch that is chosen from a list."""

        def chosen(key: object) -> None:
            if isinstance(key, int):
                self.do_with_branch(verb, key)

        self.app.push_screen(Chooser(COMMANDS[verb].title, branch_choices(self.story), is_wide=True), chosen)

    def do_with_branch(self, verb: str, branch_id: int) -> None:
        """Switch, delete, or name it after a name was typed."""
        reference = BranchRef(branch_id=branch_id)
        if verb != "rename-branch":
            self.transcript.selected = None
            self.perform(Command(verb, {"branch": reference}))
            return
        name = next((b.name or "" for b in self.story.branches() if b.id == branch_id), "")

        def typed(new: str | None) -> None:
            if new is not None:
                self.perform(Command(verb, {"branch": reference, "name": new}))

        self.app.push_screen(Typed("Name the branch", name), typed)

    def with_take(self, verb: str) -> None:
        """A verb about a take of the selected step, chosen from a list."""
        step = self.acting_step()
        if step is None:
            return

        def chosen(key: object) -> None:
            if isinstance(key, int):
                self._kept_place = self._held(step.position)
                self.perform(Command(verb, {"n": TakeRef(node_id=key)}))

        entries = take_choices(self.story, step.id)
        self.app.push_screen(Chooser(f"{COMMANDS[verb].title}: step {step.position}", entries, is_wide=True), chosen)

    # -- rail -------------------------------------------------------------------------------------------------------

    @on(Rail.Wanted)
    def _rail_wants(self, event: Rail.Wanted) -> None:
        event.stop()
        kind, key, what = event.kind, event.key, event.what
        if what == "unfold" and isinstance(key, int):
            self.rail.unfold(key)
            self.show_rail()
            return
        verbs: Mapping[tuple[str, str], str] = {
            ("go", "save"): "restore", ("rename", "save"): "rename-checkpoint", ("delete", "save"): "delete-checkpoint",
            ("go", "branch"): "switch", ("rename", "branch"): "rename-branch", ("delete", "branch"): "delete-branch",
            ("go", "take"): "take", ("delete", "take"): "delete-take",
        }  # fmt: skip
        verb = {"undelete": "undelete", "save": "save"}.get(what) or verbs.get((what, kind), "")
        if not verb:
            self.say("There is nothing to do that with.")
            return
        reason = reason_for_typed(verb, self.now())
        if reason:
            self.say(reason)
        elif verb == "save":
            self.save()
        elif verb == "undelete":
            self.perform(Command("undelete"))
        elif kind == "save":
            self.do_with_checkpoint(verb, str(key))
        elif isinstance(key, int) and kind == "take":
            self.transcript.selected = None
            self.perform(Command(verb, {"n": TakeRef(node_id=key)}))
        elif isinstance(key, int):
            self.do_with_branch(verb, key)

    def known_names(self) -> Mapping[str, Sequence[str]]:
        """What commands can be completed with."""
        saved = [each.name for each in self.story.checkpoints()]
        branches = [each.name or each.label for each in self.story.branches()[:500]]
        names = dict.fromkeys(("restore", "delete-checkpoint", "rename-checkpoint"), saved)
        names |= dict.fromkeys(("switch", "delete-branch", "rename-branch"), branches)
        state = self.story.state()
        fields = outline_of(self.story.definition, state)
        titles = [full_title(self.story.definition, state, each.path) for each in fields if each.title]
        names |= dict.fromkeys(("state", "audit"), titles)
        names["correct"] = [f'"{each}" ' if " " in each else f"{each} " for each in titles]
        names["card"] = [card.name for card in self.story.definition.cards]
        return names

    # -- search -----------------------------------------------------------------------------------------------------

    def ask_search(self) -> None:
        """Ask for the words."""

        def typed(words: str | None) -> None:
            if words is None:
                self.transcript.highlight("")
            else:
                self.search(words)

        self.app.push_screen(Typed("Search the story", self._searched, "Enter searches · Esc ends the search"), typed)

    def search(self, words: str) -> None:
        """Find words on the path."""
        self._searched = words
        self.perform(Command("search", {"words": words}))

    def found(self, answer: e.Found) -> None:
        """Show the place nearest above the end, and say how to go on."""
        self._matches = answer.found
        if not self._matches:
            self.transcript.highlight("")
            self.say(f"“{self._searched}” is not on the way the story went.")
            return
        self._match_at = len(self._matches)
        self.transcript.focus()
        self.next_match(-1)

    def next_match(self, by: int) -> None:
        """The next or previous place found, in the order of the story."""
        if not self._matches:
            self.say("Nothing was searched; Ctrl+F searches.")
            return
        self._match_at = (self._match_at + by) % len(self._matches)
        match = self._matches[self._match_at]
        self.transcript.show_match(match.position, self._searched)
        self.say(f"{self._match_at + 1} of {len(self._matches)}: step {match.position}. n: next, N: previous.")

    def choose_match(self) -> None:
        """All places found, as a list."""
        self.app.push_screen(Chooser("Found", match_choices(self._matches), is_wide=True), None)
