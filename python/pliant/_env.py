"""An environment for reinforcement learning: reach a target with a marker. Works alone; registers itself with gymnasium
where that is installed."""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from ._robot import Robot
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

        @property
        def unwrapped(self) -> Any:
            return self

        @property
        def np_random(self) -> Any:
            """The generator of targets."""
            return self._rng  # type: ignore[attr-defined]

        @np_random.setter
        def np_random(self, generator: Any) -> None:
            self._rng = generator

        def has_wrapper_attr(self, name: str) -> bool:
            return hasattr(self, name)

        def get_wrapper_attr(self, name: str) -> Any:
            return getattr(self, name)

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
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(
        self,
        robot: Union[Robot, str],
        marker: Optional[str] = None,
        target: Any = None,
        step: float = 0.1,
        tolerance: float = 1.0,
        limit: int = 50,
        render_mode: Optional[str] = None,
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
        low = np.concatenate([np.zeros(n), np.full(6, -np.inf)])
        high = np.concatenate([np.ones(n), np.full(6, np.inf)])
        self.observation_space = _Box(low, high, dtype=np.float64)
        self._rng = np.random.default_rng()
        self.state: Optional[State] = None
        self.target: Any = np.zeros(3)
        self._count = 0

    def _go(self, values: Any, start: Optional[State]) -> State:
        return self.robot.solve(dict(zip(self.robot.commands, map(float, values))), start=start, beyond_range=True)

    def _observation(self) -> Any:
        assert self.state is not None
        fraction = (self._values - self._low) / np.where(self._high > self._low, self._high - self._low, 1)
        return np.concatenate([np.clip(fraction, 0, 1), self.state[self.marker].position, self.target])

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Any, dict[str, Any]]:
        """Back to the middle of the ranges, with a new target unless one is fixed (options: {"target": ...})."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        given = (options or {}).get("target", self.fixed_target)
        if given is None:
            drawn = self._go(self._rng.uniform(self._low, self._high), None)
            given = drawn[self.marker].position
        self.target = np.array(given, dtype=float)
        self._values = 0.5 * (self._low + self._high)
        self.state = self._go(self._values, None)
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
        state = self._go(self._values, self.state)
        if state.converged:
            self.state = state
        else:
            self._values = before
        self._count += 1
        info = self._info()
        info["converged"] = state.converged
        reward = -info["distance"] - (0.0 if state.converged else 10.0)
        return self._observation(), reward, info["distance"] <= self.tolerance, self._count >= self.limit, info

    def render(self) -> Any:
        """A picture of the robot, (height, width, 3) bytes; needs Pillow or imageio, otherwise the PNG as bytes."""
        assert self.state is not None
        png = self.state.plot(width=600, height=400).png
        try:
            import io

            from PIL import Image  # type: ignore[import]

            return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
        except ImportError:
            return png

    def close(self) -> None:
        """Nothing to close."""


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
