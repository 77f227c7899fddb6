"""Is a sample Gaussian, of a given mean and covariance? (numpy, scipy)"""

import numpy as np
import pandas as pd
from scipy.stats import norm, normaltest


def image_statistics(
    outputs: np.ndarray, mean: np.ndarray, covariance: np.ndarray, projections: int
) -> pd.DataFrame:
    """One row a test: quantity, measured and expected value, z score or its equivalent.

    outputs (sample, 2). The covariance of the sample's second moments is that of a Gaussian. Each
    `normality` row is D'Agostino and Pearson's test of a projection, on directions evenly spaced
    over a half turn, its p-value turned into a two-sided z score.
    """
    n = len(outputs)
    centred = outputs - mean
    rows = []
    for i in range(2):
        error = np.sqrt(covariance[i, i] / n)
        measured = float(centred[:, i].mean())
        rows.append(("mean", measured + mean[i], mean[i], measured / error))
        for j in range(i + 1):
            product = covariance[i, i] * covariance[j, j] + covariance[i, j] ** 2
            measured = float(np.mean(centred[:, i] * centred[:, j]))
            score = (measured - covariance[i, j]) / np.sqrt(product / n)
            rows.append(("covariance", measured, covariance[i, j], score))
    for angle in np.pi * np.arange(projections) / projections:
        statistic, p = normaltest(outputs @ [np.cos(angle), np.sin(angle)])
        rows.append(("normality", statistic, 2.0, -norm.ppf(max(p, 1e-300) / 2)))
    return pd.DataFrame(rows, columns=["quantity", "measured", "expected", "z_score"])
