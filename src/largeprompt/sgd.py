"""Training by plain SGD on fresh prompts: the protocol of the experiments (paper, section 6).

Prompts are drawn token by token and differentiated by torch, as the paper does it;
`sgd_fast.train_fast` trains with the same law several times faster.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

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
) -> TrainingRun:
    """Train a head from `weights`, one fresh batch a step, mean squared error, float32.

    attention is softmax, linear or infinite, the last with L = inf. The prompts depend on rng,
    task, L and batch size alone: softmax and linear heads see the same. `checkpoint` is given the
    state as flat arrays; passed back as `resume`, all other arguments unchanged (only more steps
    are allowed), the run goes on as if uninterrupted. `progress(step, loss)` is called at the
    end of each loss window. Raises InputError for arguments that do not fit together, a foreign
    `resume`, and a loss that diverges.
    """
    check_request(weights, task, L, attention)
    steps = _LiteralSteps(weights, task, L, attention, settings, rng)
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
    ) -> None:
        # Prompts come from torch's generator: numpy's would double a step's time at L = 1000.
        seed = int(rng.integers(2**32))
        self._torch_generator = torch.Generator().manual_seed(seed)
        self.setup = run_setup(task, L, attention, settings, sampler="literal", seed=seed)
        self.weights = {name: np.array(value, np.float32) for name, value in weights.items()}
        self._tensors = {
            name: torch.from_numpy(value).requires_grad_() for name, value in self.weights.items()
        }
        self._task, self._attention, self._batch_size = task, attention, settings.batch_size
        self._tokens = 0 if attention == "infinite" else int(L)
        self._optimizer = torch.optim.SGD(self._tensors.values(), lr=settings.learning_rate)

    @property
    def generator(self) -> np.ndarray:
        return self._torch_generator.get_state().numpy()

    @generator.setter
    def generator(self, state: np.ndarray) -> None:
        self._torch_generator.set_state(torch.from_numpy(state.copy()))

    def advance(self, step: int, count: int) -> Iterator[float]:
        for _ in range(count):
            prompts = sample_prompts(
                self._torch_generator,
                self._task,
                self._batch_size,
                self._tokens,
                dtype=torch.float32,
            )
            prediction = predict(self._tensors, self._attention, self._task, prompts)
            loss = torch.nn.functional.mse_loss(prediction, prompts.target)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            yield loss.item()
