"""What several benchmarks share: reports, baselines, pools of processes and browsers."""
