"""An environment for reinforcement learning: reach a target with a marker. Works alone; registers itself with gymnasium
where that is installed."""
from __future__ import annotations

import zlib
from typing import Any, Optional, Union

import numpy as np

from ._core import InputError
from ._robot import Robot
from ._simulate import Motion, Time, seconds
from ._state import State
from ._table import unknown

try:
    import gymnasium  # type: ignore[import]

    _Base: Any = gymnasium.Env
    _Box: Any = gymnasium.spaces.Box
except ImportError:

    class _OwnEnv:
        """What gymnasium.Env offers besides reset and step, so that code written for it runs without it."""

        spec: Any = None
        reward_range = (-float("inf"), float("inf"))
        _np_random: Any = None
        _np_random_seed: Optional[int] = None

        def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> Any:
            if seed is not None:
                self._np_random, self._np_random_seed = np.random.default_rng(seed), seed

        @property
        def np_random_seed(self) -> int:
            """The seed of the generator of targets; -1: not known."""
            if self._np_random is None:
                self._np_random_seed = int(np.random.SeedSequence().entropy or 0)  # type: ignore[arg-type]
                self._np_random = np.random.default_rng(self._np_random_seed)
            return -1 if self._np_random_seed is None else self._np_random_seed

        @property
        def unwrapped(self) -> Any:
            return self

        @property
        def np_random(self) -> Any:
            """The generator of targets."""
            self.np_random_seed
            return self._np_random

        @np_random.setter
        def np_random(self, generator: Any) -> None:
            self._np_random, self._np_random_seed = generator, None

        def has_wrapper_attr(self, name: str) -> bool:
            return hasattr(self, name)

        def get_wrapper_attr(self, name: str) -> Any:
            return getattr(self, name)

        def set_wrapper_attr(self, name: str, value: Any) -> None:
            setattr(self, name, value)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            self.close()  # type: ignore[attr-defined]

        def __str__(self) -> str:
            return f"<{type(self).__name__} instance>"

    _Base = _OwnEnv

    class _OwnBox:
        """A box of numbers, with what gymnasium.spaces.Box offers of it."""

        def __init__(self, low: Any, high: Any, dtype: Any = np.float64) -> None:
            self.low = np.asarray(low, dtype=dtype)
            self.high = np.asarray(high, dtype=dtype)
            self.shape = self.low.shape
            self.dtype = np.dtype(dtype)
            self._random = np.random.default_rng()

        def seed(self, seed: Optional[int] = None) -> list[int]:
            self._random = np.random.default_rng(seed)
            return [] if seed is None else [seed]

        def is_bounded(self, manner: str = "both") -> bool:
            below, above = bool(np.all(np.isfinite(self.low))), bool(np.all(np.isfinite(self.high)))
            return {"both": below and above, "below": below, "above": above}[manner]

        def __eq__(self, other: object) -> bool:
            same = isinstance(other, _OwnBox) and self.shape == other.shape and self.dtype == other.dtype
            return same and bool(np.all(self.low == other.low) and np.all(self.high == other.high))  # type: ignore[attr-defined]

        def __hash__(self) -> int:
            return hash((self.low.tobytes(), self.high.tobytes()))

        def __repr__(self) -> str:
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

        def sample(self) -> Any:
            low = np.where(np.isfinite(self.low), self.low, -1e3)
            high = np.where(np.isfinite(self.high), self.high, 1e3)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, x: Any) -> bool:
            x = np.asarray(x)
            return bool(x.shape == self.shape and np.all(x >= self.low) and np.all(x <= self.high))

        __contains__ = contains

    _Box = _OwnBox


class Env(_Base):  # type: ignore[misc]
    """Bring a marker to a target within a number of steps.

    Action: change of every command, as a fraction (-1 to 1) of `step` times its range. Observation: commands scaled
    to 0 to 1, marker position (mm), target (mm). Reward: minus the distance in mm, minus 10 when no equilibrium was
    found. Terminated: within `tolerance` mm. A target of None draws a reachable one at every reset.

    With `dt` a step is a motion in time of that length (full bodies with densities): the commands go linearly to their new values, the body swings, and
    velocities of the marker (mm/s) follow in the observation. A reset begins at rest.

    >>> env = pliant.Env(pliant.testing.arm(), tolerance=0.5)
    >>> observation, info = env.reset(seed=3)
    >>> observation.shape, info["distance"] > 0
    ((9,), True)
    >>> observation, reward, terminated, truncated, info = env.step([0.1, 0, 0])
    >>> bool(reward < 0)
    True
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(
        self,
        robot: Union[Robot, str],
        marker: Optional[str] = None,
        target: Any = None,
        step: float = 0.1,
        tolerance: float = 1.0,
        limit: int = 50,
        render_mode: Optional[str] = None,
        dt: Optional[Time] = None,
    ) -> None:
        from ._robot import load

        self.robot = load(robot) if isinstance(robot, str) else robot
        self.marker = self.robot._marker(marker)
        self.fixed_target = None if target is None else np.asarray(target, dtype=float)
        if not self.robot.commands:
            raise unknown("command", "any", [])
        self.step_size, self.tolerance, self.limit = step, tolerance, limit
        self.render_mode = render_mode
        spans = np.array([c.span for c in self.robot.commands.values()])
        self._low, self._high = spans[:, 0], spans[:, 1]
        n = len(spans)
        self.action_space = _Box(-np.ones(n), np.ones(n), dtype=np.float64)
        self.dt = None if dt is None else seconds(dt, "dt")  #: s
        if self.dt is not None and not self.dt > 0:
            raise InputError(f"dt is {self.dt:g} s, must be positive")
        free = 6 if self.dt is None else 9
        low = np.concatenate([np.zeros(n), np.full(free, -np.inf)])
        high = np.concatenate([np.ones(n), np.full(free, np.inf)])
        self.observation_space = _Box(low, high, dtype=np.float64)
        self.state: Optional[State] = None
        self.motion: Optional[Motion] = None  #: of the last step, with `dt`
        self.target: Any = np.zeros(3)
        self._count = 0

    def _go(self, values: Any, start: Optional[State]) -> State:
        return self.robot.solve(dict(zip(self.robot.commands, map(float, values))), start=start, beyond_range=True)

    def _observation(self) -> Any:
        assert self.state is not None
        fraction = (self._values - self._low) / np.where(self._high > self._low, self._high - self._low, 1)
        seen = [np.clip(fraction, 0, 1), self.state[self.marker].position, self.target]
        if self.dt is not None:
            seen.append(np.zeros(3) if self.motion is None else self.motion.velocities[self.marker][-1])
        return np.concatenate(seen)

    def _move(self) -> tuple[State, bool]:
        """The motion of one step, from the end of the last one; the shape it leads to, and whether it got there."""
        assert self.dt is not None and self.state is not None
        start: Any = self.state if self.motion is None else self.motion
        end = (0.0 if self.motion is None else float(self.motion.time[-1])) + self.dt
        motion = self.robot.simulate(
            end, dict(zip(self.robot.commands, map(float, self._values))), start=start, ramp=self.dt, every=self.dt, beyond_range=True
        )
        if motion.outcome == "done":
            self.motion = motion
        return motion.state, motion.outcome == "done"

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Any, dict[str, Any]]:
        """Back to the middle of the ranges, with a new target unless one is fixed (options: {"target": ...})."""
        super().reset(seed=seed)
        given = (options or {}).get("target", self.fixed_target)
        if given is None:
            drawn = self._go(self.np_random.uniform(self._low, self._high), None)
            given = drawn[self.marker].position
        self.target = np.array(given, dtype=float)
        self._values = 0.5 * (self._low + self._high)
        self.state = self._go(self._values, None)
        self.motion = None
        self._count = 0
        return self._observation(), self._info()

    def _info(self) -> dict[str, Any]:
        assert self.state is not None
        distance = float(np.linalg.norm(self.state[self.marker].position - self.target))
        return {"distance": distance, "converged": self.state.converged, "commands": self.state.commands}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Changes the commands; returns observation, reward, terminated, truncated, info."""
        if self.state is None:
            self.reset()
        action = np.clip(np.asarray(action, dtype=float).reshape(self._low.shape), -1, 1)
        before = self._values
        self._values = np.clip(before + self.step_size * (self._high - self._low) * action, self._low, self._high)
        if self.dt is None:
            state = self._go(self._values, self.state)
            converged = state.converged
        else:
            state, converged = self._move()
        if converged:
            self.state = state
        else:
            self._values = before
        self._count += 1
        info = self._info()
        info["converged"] = converged
        reward = -info["distance"] - (0.0 if converged else 10.0)
        return self._observation(), reward, info["distance"] <= self.tolerance, self._count >= self.limit, info

    def render(self) -> Any:
        """A picture of the robot, (400, 600, 3) bytes; None without ``render_mode="rgb_array"``.

        >>> e = pliant.Env(pliant.testing.arm(), render_mode="rgb_array")
        >>> _ = e.reset(seed=1)
        >>> e.render().shape
        (400, 600, 3)
        """
        if self.render_mode is None:
            return None
        assert self.state is not None
        return _pixels(self.state.plot(width=600, height=400).png)

    def close(self) -> None:
        """Nothing to close."""


def _pixels(png: bytes) -> Any:
    """The colours of a PNG with 8 bits per channel and without interlacing, (height, width, 3)."""
    at, parts, width, height, channels = 8, [], 0, 0, 4
    while at < len(png):
        size, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        data = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
            channels = {2: 3, 6: 4}[data[9]]
        elif kind == b"IDAT":
            parts.append(data)
        at += size + 12
    rows = np.frombuffer(zlib.decompress(b"".join(parts)), np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height, width, channels), np.uint8)
    above = np.zeros((width, channels), np.uint8)
    for y in range(height):
        out[y] = above = _unfiltered(int(rows[y, 0]), rows[y, 1:].reshape(width, channels), above)
    return out[:, :, :3].copy()


def _unfiltered(kind: int, row: Any, above: Any) -> Any:
    """A row of a PNG from its differences: to the left pixel (1), the one above (2), their mean (3), the nearest of three (4)."""
    if kind in (0, 2):
        return row + above if kind == 2 else row
    if kind == 1:
        return np.cumsum(row, axis=0, dtype=np.uint8)
    out = np.zeros_like(row)
    left, corner = np.zeros(row.shape[1], int), np.zeros(row.shape[1], int)
    for x, (value, up) in enumerate(zip(row.astype(int), above.astype(int))):
        if kind == 3:
            guess = (left + up) // 2
        else:
            p = left + up - corner
            a, b, c = abs(p - left), abs(p - up), abs(p - corner)
            guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
        left, corner = (value + guess) & 255, up
        out[x] = left
    return out


def register() -> bool:
    """Registers "Pliant-v0" with gymnasium; False where it is not installed."""
    try:
        import gymnasium
    except ImportError:
        return False
    if "Pliant-v0" not in gymnasium.envs.registry:
        gymnasium.register("Pliant-v0", entry_point="pliant._env:Env")
    return True


register()
