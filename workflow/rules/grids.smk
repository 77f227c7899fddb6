"""The models of each grid, and which files of them a rule of Section 6 reads.

REQUIRED INPUTS  none
OUTPUTS          none: no rule is defined here
"""

# Time of the gradient flow that the last step of SGD corresponds to.
HORIZON = config["sgd"]["steps"] * config["sgd"]["learning_rate"]

# The models that each grid trains: by SGD, and by exact flow, which goes with every SGD.
SGD_MODELS = {name: models(grid["sgd"]) for name, grid in config["grids"].items()}
FLOW_MODELS = {
    name: models(grid["sgd"] + grid["flow"]) for name, grid in config["grids"].items()
}

SGD = f"results/train/finite/{FINITE}.npz"
SGD_INFINITE = f"results/train/infinite/method=sgd/{INFINITE}.npz"
FLOW = f"results/train/flow/{FINITE}.npz"
FLOW_INFINITE = f"results/train/infinite/method=flow/{INFINITE}.npz"
LIMIT = f"results/train/limit/{FINITE}.csv"
LIMIT_INFINITE = f"results/train/limit/infinite/{INFINITE}.csv"


def sgd_runs(grid):
    """Every training by SGD of a grid."""
    chosen = SGD_MODELS[grid]
    return finite_paths(SGD, chosen) + infinite_paths(SGD_INFINITE, chosen)


def flows(grid):
    """Every exact flow of a grid."""
    chosen = FLOW_MODELS[grid]
    return finite_paths(FLOW, chosen) + infinite_paths(FLOW_INFINITE, chosen)


def case_models(chosen, wildcards):
    """The models of a grid on the data that the wildcards name."""
    return of_case(chosen[wildcards.grid], wildcards.variant, wildcards.covariance)


def case_sgd(wildcards):
    return finite_paths(SGD, case_models(SGD_MODELS, wildcards))


def case_sgd_infinite(wildcards):
    return infinite_paths(SGD_INFINITE, case_models(SGD_MODELS, wildcards))


def case_flows(wildcards):
    return finite_paths(FLOW, case_models(FLOW_MODELS, wildcards))


def case_flows_infinite(wildcards):
    return infinite_paths(FLOW_INFINITE, case_models(FLOW_MODELS, wildcards))


def case_limits(wildcards):
    chosen = case_models(FLOW_MODELS, wildcards)
    return finite_paths(LIMIT, chosen) + infinite_paths(LIMIT_INFINITE, chosen)


def case_trainings(wildcards):
    return (
        case_sgd(wildcards)
        + case_sgd_infinite(wildcards)
        + case_flows(wildcards)
        + case_flows_infinite(wildcards)
    )


def case_finite(wildcards):
    return case_sgd(wildcards) + case_flows(wildcards)


def case_lengths(longest=math.inf):
    """Setting: the prompt lengths of the models of a case, up to `longest`."""
    return lambda wildcards: settings(
        *REGRESSION_KEYS,
        lengths=sorted(
            {m.L for m in case_models(FLOW_MODELS, wildcards) if m.L <= longest}
        ),
        covariance=covariance_of(wildcards),
    )


def cases_of(part, grid):
    """The cases (variant and covariance) that a part of a table covers."""
    chosen = SGD_MODELS[grid] if part == "test_loss" else FLOW_MODELS[grid]
    if part == "ridge":
        chosen = [m for m in chosen if m.L <= config["regression"]["max_length"]]
    return sorted({(m.variant, m.covariance) for m in chosen})


def grid_tables(wildcards):
    """The tables that a summary of a grid puts together."""
    grid = wildcards.grid
    if wildcards.table == "sgd_on_flow":
        pattern = f"results/evaluate/sgd_minus_flow/{FINITE}.csv"
        return finite_paths(pattern, SGD_MODELS[grid])
    return [
        f"results/evaluate/{grid}/{part}/variant={variant}/covariance={covariance}.csv"
        for part in TABLES[wildcards.table]
        for variant, covariance in cases_of(part, grid)
    ]


def grid_target(grid):
    """Everything that a grid says: its figures, verdicts and trainings."""
    return [
        *expand(
            "figures/{grid}/{figure}.{format}",
            grid=grid,
            figure=GRID_FIGURES,
            format=["pdf", "png"],
        ),
        f"results/summary/{grid}/claims.csv",
        *sgd_runs(grid),
        *flows(grid),
    ]


def claim_on_grid(wildcards):
    """The entry of a claim with the tables of the grid that the wildcards name."""
    return on_grid(REGISTRY[wildcards.claim], wildcards.grid)


def rule_code(wildcards):
    """Hash of the code that decides a claim."""
    return code("stages.decide_claim", f"claims.{REGISTRY[wildcards.claim]['module']}")


def verdicts_of(target):
    """The verdicts of the grid that a target compares: `verify`, or `verify_paper`."""
    grid = target.removeprefix("verify").lstrip("_")
    if not grid:
        return expand("results/claims/{claim}.json", claim=CLAIMS)
    return expand("results/claims/{grid}/{claim}.json", grid=grid, claim=GRID_CLAIMS)


def drawn():
    """Rule, figure, folder of its table and its own, category in the report."""
    for figure, statement in FIGURES.items():
        grid = "default/" if figure in GRID_FIGURES else ""
        yield f"plot_{figure}", figure, grid, "", statement
    for grid in ("paper", "paper_all"):
        for figure in GRID_FIGURES:
            category = f"{FIGURES[figure]}, {grid}"
            yield f"plot_{grid}_{figure}", figure, f"{grid}/", f"{grid}/", category
