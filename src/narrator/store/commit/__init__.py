"""THE atomic commit: the only writer of story rows (S12, S46).

Every function here is one synchronous transaction and moves head and tip by compare-and-swap. Which node a move leads
to is decided above (engine/story.py); which coordinate a node takes is decided here (S14), since it depends on the
rows as they are inside the transaction.
"""

from narrator.store.commit.accepting import Acceptance, accept, create, restore
from narrator.store.commit.marking import (
    add_played,
    agree_to_host,
    change_memory,
    choose_narrator,
    comment,
    delete_checkpoint,
    edit_card,
    index_memories,
    index_passages,
    keep_context_checkpoint,
    keep_draft,
    keep_memory,
    keep_vectors,
    pin,
    remember,
    remove_knowledge,
    rename_branch,
    rename_checkpoint,
    save_checkpoint,
    send_draft,
    set_tracking,
    spend,
    switch_knowledge,
)
from narrator.store.commit.moving import fork_at, move, move_along_places
from narrator.store.commit.removing import drop_loose_parts, erase, erase_rows, finalize, hide, unhide

__all__ = [
    "Acceptance",
    "accept",
    "add_played",
    "agree_to_host",
    "change_memory",
    "choose_narrator",
    "comment",
    "create",
    "delete_checkpoint",
    "drop_loose_parts",
    "edit_card",
    "erase",
    "erase_rows",
    "finalize",
    "fork_at",
    "hide",
    "index_memories",
    "index_passages",
    "keep_context_checkpoint",
    "keep_draft",
    "keep_memory",
    "keep_vectors",
    "move",
    "move_along_places",
    "pin",
    "remember",
    "remove_knowledge",
    "rename_branch",
    "rename_checkpoint",
    "restore",
    "save_checkpoint",
    "send_draft",
    "set_tracking",
    "spend",
    "switch_knowledge",
    "unhide",
]
