"""Tasks of tau2 and BFCL: their tools in processes of their own, faults, and the programs that carry the tasks out."""
