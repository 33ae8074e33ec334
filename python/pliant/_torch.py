"""A solve inside PyTorch: exact vector-Jacobian products by the adjoint."""
from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
import torch  # type: ignore[import]

from ._robot import Robot
from ._state import State


class _Solve(torch.autograd.Function):  # type: ignore[misc,name-defined]
    @staticmethod
    def forward(ctx: Any, commands: Any, robot: Robot, markers: tuple[str, ...], start: Any) -> Any:
        rows = commands.detach().cpu().double().reshape(-1, len(robot.commands)).numpy()
        states: list[State] = []
        for row in rows:
            state = robot.solve(dict(zip(robot.commands, map(float, row))), start=start, check=True)
            states.append(state)
        ctx.states, ctx.markers, ctx.robot, ctx.shape = states, markers, robot, commands.shape
        place = np.array([[s[m].position for m in markers] for s in states])
        out = torch.from_numpy(place.reshape(*commands.shape[:-1], len(markers), 3))
        return out.to(dtype=commands.dtype, device=commands.device)

    @staticmethod
    def backward(ctx: Any, by: Any) -> Any:
        # a backward pass that is itself recorded asks for second derivatives: the adjoint does not have them, and
        # zeros in their place would be a silent error
        if torch.is_grad_enabled():
            raise NotImplementedError(
                "torch_solve has first derivatives only: without create_graph=True, or with differences of gradients"
            )
        rows = by.detach().cpu().double().reshape(len(ctx.states), len(ctx.markers), 3).numpy()
        gradient = np.zeros((len(ctx.states), len(ctx.robot.commands)))
        for k, state in enumerate(ctx.states):
            weights = np.zeros((len(ctx.robot.markers), 3))
            for m, w in zip(ctx.markers, rows[k]):
                weights[ctx.robot._index("marker", m)] += w
            gradient[k] = list(state.vjp(weights).values())
        out = torch.from_numpy(gradient.reshape(ctx.shape)).to(dtype=by.dtype, device=by.device)
        return out, None, None, None


def torch_solve(robot: Robot, commands: Any, markers: Optional[Sequence[str]] = None, start: Optional[State] = None) -> Any:
    """Marker positions at commands, differentiable: (..., commands) -> (..., markers, 3), mm.

    commands: a tensor, the last axis in the order of ``robot.commands`` and in their units. The backward pass solves
    one adjoint system per row, exact; second derivatives (``create_graph=True``) raise NotImplementedError. Raises NotSolvedError where there is no equilibrium.

    >>> x = torch.tensor([2.0, 0, 1], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> pliant.torch_solve(pliant.testing.arm(), x)[0, 2].backward(); x.grad    # doctest: +SKIP
    """
    names = tuple(robot.markers) if markers is None else tuple(markers)
    for name in names:
        robot.markers[name]
    if commands.shape[-1] != len(robot.commands):
        from . import _core

        raise _core.InputError(f"commands: expected {len(robot.commands)} values in the last axis, found {commands.shape[-1]}")
    return _Solve.apply(commands, robot, names, start)
