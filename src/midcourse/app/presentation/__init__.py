"""What a person is shown about runs, as plain values: a terminal, a server or a notebook renders them."""
