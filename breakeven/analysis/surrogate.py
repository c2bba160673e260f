"""What a curve probably looks like between its probed points: a Gaussian process that knows what sawtooths are made of.

The cost of a copy or checksum along size is a level and a slope, jumps at the thresholds where a routine changes its
algorithm, and teeth that come back with the block (64 bytes, with the word's 8 within them). Each of these is a
covariance below; how much each counts is what the probed points make most likely. The sum predicts every other point
and says how sure that is. Nothing here is fitted to a machine: the periods are powers of two, as blocks are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

#: bytes after which teeth come back
PERIODS = (4, 8, 16, 32, 64, 128)
#: the block within which a tooth's neighbours are alike, and over how many bytes they are
_BLOCK, _ALIKE = 64, 8.0
#: bytes over which what is not periodic is alike: tails, thresholds
_NEAR = (6.0, 60.0)
#: standard deviation (cycles) of what no component explains
_NOISE = 0.5
#: share of each component's variance before anything is known (of the probed points' variance)
_START = (0.3, 1.0, 1e-3, 1e-3, *[5e-4] * len(PERIODS), 1e-3)
_LEAST, _MOST = 1e-9, 100.0


class Covariances:
    """The components between the points of a grid; columns are made for the probed points as they come."""

    def __init__(self, grid: Array) -> None:
        self.grid = grid
        self._span = max(float(grid[-1] - grid[0]), 1.0)
        #: (component, grid point, probed point)
        self.columns = np.empty((len(_START), len(grid), 0), np.float32)

    def of(self, points: Array) -> np.ndarray:
        """Every component between the whole grid and `points`."""
        x = (self.grid - self.grid[0]) / self._span
        distance = np.abs(self.grid[:, None] - points[None, :])
        far = np.exp(-distance / (self._span / 2))
        made = [np.exp(-distance / (1.5 * self._span)), x[:, None] * ((points - self.grid[0]) / self._span)[None, :]]
        made += [np.exp(-distance / near) for near in _NEAR]
        made += [(distance % period == 0) * far for period in PERIODS]
        phase = distance % _BLOCK
        made.append(np.exp(-np.minimum(phase, _BLOCK - phase) / _ALIKE) * far)
        return np.array(made, np.float32)

    def add(self, indices: list[int]) -> None:
        """More probed points."""
        self.columns = np.concatenate([self.columns, self.of(self.grid[indices])], axis=2)


class Surrogate:
    """One curve: fitted to its probed points, it predicts the rest with a standard deviation."""

    def __init__(self, covariances: Covariances) -> None:
        self._parts = covariances
        self._shares = np.array(_START)
        self.mean = np.zeros(len(covariances.grid))
        self._variance = np.zeros(len(covariances.grid))
        self._scale = 1.0
        self._whitened: Array = np.zeros((0, len(covariances.grid)))
        self._conditioned: list[Array] = []

    @property
    def deviation(self) -> Array:
        """Standard deviation of each grid point, with what has been `planned` since."""
        return np.sqrt(self._variance)

    def fit(self, indices: list[int], values: Array, learn: bool) -> None:
        """Takes the values at the probed `indices` (in the order of the covariances' columns).

        `learn`: the components' shares anew too, which takes most of the time.
        """
        middle, self._scale = float(values.mean()), max(float(values.std()), 1e-6)
        z = (values - middle) / self._scale
        noise = max((_NOISE / self._scale) ** 2, 1e-7)
        if learn:
            self._learn(self._parts.columns[:, indices, :].astype(float), z, noise)
        columns = np.tensordot(self._shares, self._parts.columns, 1)
        lower = _cholesky(columns[indices], noise)
        inverse = np.asarray(np.linalg.inv(lower), np.float64)
        self._whitened = inverse @ columns.T
        self.mean = (inverse @ z) @ self._whitened * self._scale + middle
        self.mean[indices] = values
        x = (self._parts.grid - self._parts.grid[0]) / max(float(self._parts.grid[-1] - self._parts.grid[0]), 1.0)
        prior = self._shares.sum() - self._shares[1] + self._shares[1] * x**2
        self._variance = np.maximum(prior - (self._whitened**2).sum(0), 1e-12) * self._scale**2
        self._conditioned = []

    def plan(self, index: int) -> None:
        """The deviations as they will be when grid point `index` has been probed too."""
        column = np.tensordot(self._shares, self._parts.of(self._parts.grid[index : index + 1]), 1)[:, 0]
        column = column - self._whitened.T @ self._whitened[:, index]
        for earlier in self._conditioned:
            column = column - earlier * earlier[index]
        column = column / math.sqrt(max(float(column[index]), 1e-12))
        self._conditioned.append(column)
        self._variance = np.maximum(self._variance - (column * self._scale) ** 2, 1e-12)

    def _learn(self, parts: Array, z: Array, noise: float) -> None:
        """The shares that make the probed values most likely: one after the other, up and down by factors."""
        best = _neg_log_likelihood(self._shares, parts, z, noise)
        for _ in range(2):
            before = best
            for i in range(len(self._shares)):
                for factor in (0.1, 0.33, 3.0, 10.0):
                    tried = self._shares.copy()
                    tried[i] = min(max(tried[i] * factor, _LEAST), _MOST)
                    value = _neg_log_likelihood(tried, parts, z, noise)
                    if value < best - 0.1:
                        best, self._shares = value, tried
            if before - best < 1.0:
                break


def _neg_log_likelihood(shares: Array, parts: Array, z: Array, noise: float) -> float:
    """The negative logarithm of the marginal likelihood, but for a constant."""
    n = len(z)
    whole = np.empty((n + 1, n + 1))
    whole[:n, :n] = np.tensordot(shares, parts, 1)
    whole[np.arange(n), np.arange(n)] += noise
    # The values as one more row: its part of the factor is the whitened values, with no triangular solve.
    whole[n, :n] = whole[:n, n] = z
    whole[n, n] = 1e15
    try:
        lower = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        return math.inf
    white = lower[n, :n]
    return float(0.5 * white @ white + np.log(np.diag(lower)[:n]).sum())


def _cholesky(matrix: Array, noise: float) -> Array:
    """The lower factor; more noise where rounding has left the matrix indefinite."""
    where = np.diag_indices(len(matrix))
    while True:
        noisy = matrix.copy()
        noisy[where] += noise
        try:
            return np.asarray(np.linalg.cholesky(noisy), np.float64)
        except np.linalg.LinAlgError:
            noise *= 10


def normal(z: Array) -> Array:
    """The normal distribution's cumulative function (to 2e-4)."""
    return 0.5 * (1 + np.tanh(0.7978845608 * (z + 0.044715 * z**3)))
