"""Topics by level, looked through with a filter: the other way round than `trie`, for messages that are retained."""

from __future__ import annotations


class _Node:
    """The topics whose levels so far led here; `number` is that of the topic that ends here."""

    __slots__ = ("children", "number")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.number = -1


class TopicTree:
    """Topics, each with a number of the caller's (0 or more).

    >>> tree = TopicTree()
    >>> for number, topic in enumerate(("a/b", "a/c/d", "a", "$SYS/x")):
    ...     tree.put(topic, number)
    >>> sorted(tree.find("a/#")), tree.find("+/b"), sorted(tree.find("#")), tree.find("$SYS/+")
    ([0, 1, 2], [0], [0, 1, 2], [3])
    """

    __slots__ = ("_count", "_root")

    def __init__(self) -> None:
        self._root = _Node()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, topic: str, number: int) -> None:
        """Hold a topic under a number, in place of the one it has."""
        node = self._root
        for level in topic.split("/"):
            node = node.children.setdefault(level, _Node())
        self._count += node.number < 0
        node.number = number

    def remove(self, topic: str) -> None:
        """Forget a topic that is held, and the nodes that only led to it."""
        levels = topic.split("/")
        path = [self._root]
        for level in levels:
            path.append(path[-1].children[level])
        path[-1].number = -1
        self._count -= 1
        for depth in range(len(levels), 0, -1):
            if path[depth].children or path[depth].number >= 0:
                break
            del path[depth - 1].children[levels[depth - 1]]

    def find(self, text: str) -> list[int]:
        """The numbers of the topics that meet a filter (MQTT 5.0, section 4.7)."""
        numbers: list[int] = []
        nodes = [self._root]
        for depth, level in enumerate(text.split("/")):
            if level == "#":
                pending = [node for node in nodes if depth == 0 or node is not self._root]
                while pending:
                    node = pending.pop()
                    if node.number >= 0:
                        numbers.append(node.number)
                    pending += [
                        child
                        for name, child in node.children.items()
                        if node is not self._root or not name.startswith("$")
                    ]
                return numbers
            if level == "+":
                nodes = [
                    child
                    for node in nodes
                    for name, child in node.children.items()
                    if depth or not name.startswith("$")
                ]
            else:
                nodes = [child for node in nodes if (child := node.children.get(level)) is not None]
        return [node.number for node in nodes if node.number >= 0]
