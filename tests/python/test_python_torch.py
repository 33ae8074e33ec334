"""Torch: solve as a differentiable function, checked by torch's own gradcheck. Skipped where torch is not installed."""
import sys
import unittest

import pliant as pl

try:
    import torch
except ImportError:
    print("skipped: torch is not there (python3-torch)")
    sys.exit(77)


class Torch(unittest.TestCase):
    def test_gradcheck(self):
        beam = pl.design("segment_beam")
        x = torch.tensor([[40.0, 20.0, 5.0], [10.0, 30.0, 60.0]], dtype=torch.float64, requires_grad=True)
        y = pl.torch_solve(beam, x)
        self.assertEqual(tuple(y.shape), (2, 1, 3))
        self.assertTrue(torch.autograd.gradcheck(lambda c: pl.torch_solve(beam, c), (x,), eps=1e-3, atol=1e-7, rtol=1e-5))

    def test_second_derivatives_are_refused(self):
        x = torch.tensor([40.0, 20.0, 5.0], dtype=torch.float64, requires_grad=True)
        y = pl.torch_solve(pl.design("segment_beam"), x).sum()
        with self.assertRaisesRegex(NotImplementedError, "first derivatives only"):
            torch.autograd.grad(y, x, create_graph=True)

    def test_descent(self):
        finger = pl.design("bending_finger", size=6, order=1)
        target = torch.tensor(finger.solve(air=12)["tip"].position)
        x = torch.tensor([4.0], dtype=torch.float64, requires_grad=True)
        for _ in range(6):
            y = pl.torch_solve(finger, x, markers=["tip"])[0]
            loss = ((y - target) ** 2).sum()
            (by,) = torch.autograd.grad(loss, x)
            J = torch.tensor(finger.solve(air=float(x)).jacobian("tip", wrt="air"))
            with torch.no_grad():
                x -= by / (2 * (J * J).sum())
        print(f"air = {float(x):.5f} kPa, wanted 12")
        self.assertLess(abs(float(x) - 12), 1e-3)


if __name__ == "__main__":
    unittest.main()
