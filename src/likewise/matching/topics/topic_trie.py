"""Topic filters by level: a topic walks down its own levels and the wildcards beside them (MQTT 5.0, section 4.7).

A node has its children by the text of a level, `+` among them, and the numbers of the filters that end there, with or
without `#`. A topic of n levels visits at most two children a level and node, so only filters that share its beginning
are looked at, however many there are.
"""

from __future__ import annotations


class _Node:
    """The filters whose levels so far led here."""

    __slots__ = ("children", "ends", "rest")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.ends = -1  # the filter that ends here
        self.rest = -1  # the one that ends here with `#`


class TopicTrie:
    """Filters, each with a number of the caller's (0 or more).

    >>> trie = TopicTrie()
    >>> for number, text in enumerate(("a/+/c", "a/#", "#", "+/b", "$SYS/#")):
    ...     trie.add(text, number)
    >>> sorted(trie.find("a/b/c")), sorted(trie.find("a/b")), trie.find("$SYS/x"), trie.get("a/#")
    ([0, 1, 2], [1, 2, 3], [4], 1)
    """

    __slots__ = ("_count", "_root")

    def __init__(self) -> None:
        self._root = _Node()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, text: str) -> int | None:
        """The number of a filter that is held, else None."""
        levels, rest = _levels(text)
        node: _Node | None = self._root
        for level in levels:
            node = node.children.get(level) if node is not None else None
        number = -1 if node is None else node.rest if rest else node.ends
        return None if number < 0 else number

    def add(self, text: str, number: int) -> None:
        """Hold a filter under a number."""
        levels, rest = _levels(text)
        node = self._root
        for level in levels:
            node = node.children.setdefault(level, _Node())
        if rest:
            node.rest = number
        else:
            node.ends = number
        self._count += 1

    def remove(self, text: str) -> None:
        """Forget a filter that is held, and the nodes that only led to it."""
        levels, rest = _levels(text)
        path = [self._root]
        for level in levels:
            path.append(path[-1].children[level])
        if rest:
            path[-1].rest = -1
        else:
            path[-1].ends = -1
        self._count -= 1
        for depth in range(len(levels), 0, -1):
            node = path[depth]
            if node.children or node.ends >= 0 or node.rest >= 0:
                break
            del path[depth - 1].children[levels[depth - 1]]

    def find(self, topic: str) -> list[int]:
        """The numbers of the filters a topic meets."""
        levels = topic.split("/")
        numbers: list[int] = []
        wild = not topic.startswith("$")
        pending = [(self._root, 0)]
        while pending:
            node, depth = pending.pop()
            if node.rest >= 0 and (wild or depth):
                numbers.append(node.rest)
            if depth == len(levels):
                if node.ends >= 0:
                    numbers.append(node.ends)
                continue
            level = levels[depth]
            for step in {"+", level} if wild or depth else {level}:
                child = node.children.get(step)
                if child is not None:
                    pending.append((child, depth + 1))
        return numbers


def _levels(text: str) -> tuple[list[str], bool]:
    """The levels of a filter but for a `#` at the end, and whether there is one."""
    levels = text.split("/")
    return (levels[:-1], True) if levels[-1] == "#" else (levels, False)
