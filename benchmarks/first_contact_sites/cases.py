"""All cases. They were written, and frozen with their sites and the planner, before the first run."""

from benchmarks.first_contact_sites.case import Case
from benchmarks.first_contact_sites.doubt_cases import DOUBT_CASES
from benchmarks.first_contact_sites.page_cases import PAGE_CASES
from benchmarks.first_contact_sites.script_cases import SCRIPT_CASES

CASES: tuple[Case, ...] = (*PAGE_CASES, *SCRIPT_CASES, *DOUBT_CASES)
