"""Training by plain SGD on fresh prompts: the protocol of the experiments (paper, section 6).

Prompts are drawn token by token and differentiated by torch, as the paper does it;
`sgd_fast.train_fast` trains with the same law several times faster.
"""

from collections.abc import Callable, Mapping

import numpy as np
import torch

from largeprompt.errors import InputError
from largeprompt.heads import Arrays, products
from largeprompt.regression import Prompts, RegressionTask, sample_prompts, token_covariance
from largeprompt.sgd_run import (
    TrainingRun,
    TrainingSettings,
    check_attention,
    check_request,
    run_setup,
    run_steps,
)


def predict(
    weights: Mapping[str, torch.Tensor], attention: str, task: RegressionTask, prompts: Prompts
) -> torch.Tensor:
    """Prediction (prompt,) of the head; infinite attention knows Gamma_w and reads no tokens.

    The operators of `attention.py` for one query a prompt, without their chunks and checks, which
    would cost a third of a training step. Raises InputError for an unknown attention.
    """
    check_attention(attention)
    U, v = products(weights)
    tokens, row = prompts.tokens, (prompts.query @ U.mT)[:, None, :]  # (prompt, 1, D)
    if attention == "softmax":
        pooled = torch.softmax(row @ tokens.mT, -1) @ tokens
    elif attention == "linear":
        pooled = row @ (tokens.mT @ tokens) / tokens.shape[-2]
    else:
        pooled = row @ token_covariance(prompts.weights, task.Sigma, task.noise_variance)
    return pooled[:, 0, :] @ v


def train(
    weights: Mapping[str, np.ndarray],
    task: RegressionTask,
    L: float,
    attention: str,
    settings: TrainingSettings,
    rng: np.random.Generator,
    resume: Arrays | None = None,
    checkpoint: Callable[[Arrays], None] | None = None,
    progress: Callable[[int, float], None] | None = None,
    device: str = "cpu",
) -> TrainingRun:
    """Train a head from `weights`, one fresh batch a step, mean squared error, float32.

    attention is softmax, linear or infinite, the last with L = inf. The prompts depend on rng,
    task, L, batch size and device (cpu or cuda) alone: softmax and linear heads see the same.
    `checkpoint` is given the state as flat arrays; passed back as `resume`, all other arguments
    unchanged (only more steps are allowed), the run goes on as if uninterrupted.
    `progress(step, loss)` is called at the end of each loss window. Raises InputError for arguments
    that do not fit together, a GPU that is not there, a foreign `resume`, and a loss that diverges.
    """
    check_request(weights, task, L, attention)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device = cuda: torch {torch.__version__} finds no GPU; must be cpu")
    steps = _LiteralSteps(weights, task, L, attention, settings, rng, torch.device(device))
    return run_steps(steps, settings, resume, checkpoint, progress)


class _LiteralSteps:
    """Steps on prompts that are drawn in full."""

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        task: RegressionTask,
        L: float,
        attention: str,
        settings: TrainingSettings,
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        # Prompts come from torch's generator: numpy's would double a step's time at L = 1000.
        seed = int(rng.integers(2**32))
        self._torch_generator = torch.Generator(device).manual_seed(seed)
        sampler = {"sampler": "literal", "device": device.type, "seed": seed}
        self.setup = run_setup(task, L, attention, settings, **sampler)
        self.weights = {name: np.array(value, np.float32) for name, value in weights.items()}
        self._task, self._attention, self._settings = task, attention, settings
        self._tokens = 0 if attention == "infinite" else int(L)

    @property
    def generator(self) -> np.ndarray:
        return self._torch_generator.get_state().numpy()

    @generator.setter
    def generator(self, state: np.ndarray) -> None:
        self._torch_generator.set_state(torch.from_numpy(state.copy()))

    def advance(self, step: int, count: int) -> list[float]:
        tensors = {
            name: torch.tensor(value, device=self._torch_generator.device, requires_grad=True)
            for name, value in self.weights.items()
        }
        optimizer = torch.optim.SGD(tensors.values(), lr=self._settings.learning_rate)
        losses = [self._step(tensors, optimizer) for _ in range(count)]
        for name, tensor in tensors.items():
            self.weights[name][...] = tensor.detach().cpu().numpy()
        return torch.stack(losses).tolist()

    def _step(
        self, tensors: Mapping[str, torch.Tensor], optimizer: torch.optim.SGD
    ) -> torch.Tensor:
        """Take one step; the loss before it, left on the device, which need not be waited for."""
        prompts = sample_prompts(
            self._torch_generator,
            self._task,
            self._settings.batch_size,
            self._tokens,
            dtype=torch.float32,
        )
        prediction = predict(tensors, self._attention, self._task, prompts)
        loss = torch.nn.functional.mse_loss(prediction, prompts.target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()
