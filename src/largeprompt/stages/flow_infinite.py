"""Gradient flow on the infinite-prompt risk: the path that SGD on sampled tasks follows."""

import numpy as np

from largeprompt.flow import gradient_flow
from largeprompt.heads import flat, unflat
from largeprompt.regression import VARIANTS  # noqa: F401
