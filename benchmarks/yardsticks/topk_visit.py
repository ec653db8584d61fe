"""Yardsticks for top-k over the last n points: visiting every subscription, in Python and vectorised in NumPy.

Both keep the window once and each subscription's k nearest points. An arriving point is compared with every
subscription's k-th distance; when a point among a subscription's k nearest leaves the window, that
subscription looks through the window again. A point is delivered to a subscription once, when it first is
among its k nearest.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections import deque

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]


class PythonVisit:
    """Plain Python: a loop over all subscriptions."""

    def __init__(self, centres: list[Point], k: int, window: int) -> None:
        self.centres, self.k, self.size = centres, k, window
        self.window: deque[tuple[int, Point]] = deque()
        self.best: list[list[tuple[float, int]]] = [[] for _ in centres]  # (distance, -number), nearest first
        self.delivered: list[set[int]] = [set() for _ in centres]
        self.number = 0

    def publish(self, point: Point) -> int:
        """How many deliveries a point causes."""
        number = self.number
        self.number += 1
        self.window.append((number, point))
        gone, count = -1, 0
        if len(self.window) > self.size:
            gone, _ = self.window.popleft()
        x, y = point
        for index, (cx, cy) in enumerate(self.centres):
            best = self.best[index]
            distance = math.sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy))
            if any(-n == gone for _, n in best):
                best[:] = heapq.nsmallest(
                    self.k,
                    ((math.sqrt((a - cx) * (a - cx) + (b - cy) * (b - cy)), -n) for n, (a, b) in self.window),
                )
            elif len(best) < self.k or (distance, -number) < best[-1]:
                insort(best, (distance, -number))
                del best[self.k :]
            else:
                continue
            seen = self.delivered[index]
            seen.discard(gone)
            for _, n in best:
                if -n not in seen:
                    seen.add(-n)
                    count += 1
        return count


class NumpyVisit:
    """NumPy: all subscriptions' distances at once; a loop only over those that change.

    Points at exactly the same distance as the k-th are taken as they come: random points have none.
    """

    def __init__(self, centres: NDArray[np.float64], k: int, window: int) -> None:
        self.x, self.y = np.ascontiguousarray(centres[:, 0]), np.ascontiguousarray(centres[:, 1])
        self.k, self.size = k, window
        self.points = np.full((window, 2), np.nan)
        self.numbers = np.full(window, -1, np.int64)
        self.best_distance = np.full((len(centres), k), np.inf)
        self.best_number = np.full((len(centres), k), -1, np.int64)
        self.kth = np.full(len(centres), np.inf)
        self.delivered: list[set[int]] = [set() for _ in range(len(centres))]
        self.number = 0

    def publish(self, point: Point) -> int:
        """How many deliveries a point causes."""
        number, place = self.number, self.number % self.size
        self.number += 1
        gone = self.numbers[place]
        self.points[place], self.numbers[place] = point, number
        dx, dy = self.x - point[0], self.y - point[1]
        distance = np.sqrt(dx * dx + dy * dy)
        count = 0
        if gone >= 0:
            for index in np.flatnonzero((self.best_number == gone).any(axis=1)).tolist():
                dx, dy = self.points[:, 0] - self.x[index], self.points[:, 1] - self.y[index]
                all_distances = np.sqrt(dx * dx + dy * dy)
                near = np.argpartition(all_distances, self.k - 1)[: self.k]
                near = near[np.lexsort((-self.numbers[near], all_distances[near]))]
                self.delivered[index].discard(int(gone))
                count += self._keep(index, all_distances[near], self.numbers[near])
        for index in np.flatnonzero(distance <= self.kth).tolist():
            if number in self.best_number[index]:
                continue
            distances = np.append(self.best_distance[index], distance[index])
            numbers = np.append(self.best_number[index], number)
            near = np.lexsort((-numbers, distances))[: self.k]
            count += self._keep(index, distances[near], numbers[near])
        return count

    def _keep(self, index: int, distances: NDArray[np.float64], numbers: NDArray[np.int64]) -> int:
        self.best_distance[index], self.best_number[index] = distances, numbers
        self.kth[index] = distances[-1]
        seen, count = self.delivered[index], 0
        for number in numbers.tolist():
            if number >= 0 and number not in seen:
                seen.add(number)
                count += 1
        return count
