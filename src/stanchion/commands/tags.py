"""Tags: tag, untag, tagged, tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import Count, Jid, Tag, Tags
from stanchion.records import JobPage


@dataclass(frozen=True, slots=True)
class AddTags(Command[tuple[str, ...]]):
    """Tag a job; the reply is all its tags. A tag that it bears already changes nothing."""

    name: ClassVar[str] = "tag"

    jid: Jid
    tags: Tags


@dataclass(frozen=True, slots=True)
class RemoveTags(Command[tuple[str, ...]]):
    """Take tags from a job; the reply is the tags left."""

    name: ClassVar[str] = "untag"

    jid: Jid
    tags: Tags


@dataclass(frozen=True, slots=True)
class Tagged(Command[JobPage]):
    """A page of the jobs that bear a tag, in the order in which they got it."""

    name: ClassVar[str] = "tagged"
    reads: ClassVar[bool] = True

    tag: Tag
    offset: Count = 0
    count: Count = 25


@dataclass(frozen=True, slots=True)
class TopTags(Command[tuple[str, ...]]):
    """A page of the tags that two or more jobs bear, most frequent first, equals by name."""

    name: ClassVar[str] = "tags"
    reads: ClassVar[bool] = True

    offset: Count = 0
    count: Count = 25
