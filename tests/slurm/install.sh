#!/usr/bin/env bash
# Debian's SLURM for tests/workflow/test_slurm.py: as root, a minute at most.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
command -v slurmctld && command -v munged && exit
apt-get update -q
apt-get install -y -q --no-install-recommends slurm-wlm munge
