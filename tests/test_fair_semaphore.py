"""Connections go to the tenant that had fewest lately, not to the run that came first."""

import asyncio

from midcourse import fair_semaphore
from midcourse.fair_semaphore import FairSemaphore


async def use(semaphore: FairSemaphore, tenant: str, order: list[str]) -> None:
    async with semaphore.acquire(tenant):
        order.append(tenant)
        await asyncio.sleep(0)


async def test_a_tenant_with_few_requests_does_not_wait_for_all_of_one_with_many():
    semaphore, order = FairSemaphore(1), list[str]()
    many = [asyncio.create_task(use(semaphore, "many", order)) for _ in range(100)]
    await asyncio.sleep(0)
    few = [asyncio.create_task(use(semaphore, "few", order)) for _ in range(5)]
    await asyncio.gather(*many, *few)
    assert len(order) == 105
    assert max(at for at, tenant in enumerate(order) if tenant == "few") < 12


async def test_two_busy_tenants_get_equal_shares():
    semaphore, order = FairSemaphore(2), list[str]()
    await asyncio.gather(*(use(semaphore, tenant, order) for tenant in ("a", "b") for _ in range(200)))
    assert 80 <= order[20:220].count("b") <= 120


async def test_past_use_of_a_tenant_is_forgotten():
    now = [0.0]
    semaphore, order = FairSemaphore(1, lambda: now[0]), list[str]()
    for _ in range(50):
        await use(semaphore, "a", order)
    now[0] = 20 * fair_semaphore.HALF_LIFE
    for _ in range(5):
        await use(semaphore, "b", order)
    order.clear()
    async with semaphore.acquire("c"):
        tasks = [asyncio.create_task(use(semaphore, tenant, order)) for tenant in ("b", "a")]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert order == ["a", "b"]


async def test_a_cancelled_wait_loses_no_connection():
    semaphore, order = FairSemaphore(1), list[str]()
    async with semaphore.acquire("a"):
        waiting = [asyncio.create_task(use(semaphore, "b", order)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # it was given to this one already
    async with asyncio.timeout(10):
        await asyncio.gather(*waiting, return_exceptions=True)
        await use(semaphore, "a", order)
    assert order == ["b", "a"]
