"""A plain function whose effect happens once for each key, although its answer gets lost."""

from pathlib import Path

from midcourse import guarded


@guarded(key="{reference}", happened=lambda reference, **_: reference in Path("orders.txt").read_text())
def order(product: str, reference: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{reference} {product}\n")
    raise TimeoutError("504 Gateway Timeout")


order("Desk lamp", "PO-1")
print(Path("orders.txt").read_text())
