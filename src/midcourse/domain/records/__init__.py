"""Records that stores keep beside a run: ledger, audit log, answers, lessons, cached plans."""
