"""Connections are lent to the tenant that had fewest lately, not to the run that came first."""

import asyncio

from midcourse import lending
from midcourse.lending import Lending


async def borrow(lent: Lending, tenant: str, order: list[str]) -> None:
    async with lent.lend(tenant):
        order.append(tenant)
        await asyncio.sleep(0)


async def test_a_tenant_with_few_requests_does_not_wait_for_all_of_one_with_many():
    lent, order = Lending(1), list[str]()
    many = [asyncio.create_task(borrow(lent, "many", order)) for _ in range(100)]
    await asyncio.sleep(0)
    few = [asyncio.create_task(borrow(lent, "few", order)) for _ in range(5)]
    await asyncio.gather(*many, *few)
    assert len(order) == 105
    assert max(at for at, tenant in enumerate(order) if tenant == "few") < 12


async def test_two_busy_tenants_get_equal_shares():
    lent, order = Lending(2), list[str]()
    await asyncio.gather(*(borrow(lent, tenant, order) for tenant in ("a", "b") for _ in range(200)))
    assert 80 <= order[20:220].count("b") <= 120


async def test_past_use_of_a_tenant_is_forgotten():
    now = [0.0]
    lent, order = Lending(1, lambda: now[0]), list[str]()
    for _ in range(50):
        await borrow(lent, "a", order)
    now[0] = 20 * lending.HALF_LIFE
    for _ in range(5):
        await borrow(lent, "b", order)
    order.clear()
    async with lent.lend("c"):
        tasks = [asyncio.create_task(borrow(lent, tenant, order)) for tenant in ("b", "a")]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert order == ["a", "b"]


async def test_a_cancelled_wait_loses_no_connection():
    lent, order = Lending(1), list[str]()
    async with lent.lend("a"):
        waiting = [asyncio.create_task(borrow(lent, "b", order)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # it was lent to this one already
    async with asyncio.timeout(10):
        await asyncio.gather(*waiting, return_exceptions=True)
        await borrow(lent, "a", order)
    assert order == ["b", "a"]
