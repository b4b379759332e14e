"""Tasks: a goal with inputs, limits and a check for completion."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from midcourse.domain.agreement import Agreement
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Condition
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several
from midcourse.domain.skill import Parameter


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a run is to achieve: a goal in words, the values it needs, how completion is checked, and its limits."""

    goal: str
    """What to do, in words. The planner reads it."""
    world: str = ""
    inputs: Named[Scalar] = NONE
    """Values that steps refer to by name."""
    output: Several[Parameter] = NONE
    """The data to return."""
    done_when: Condition | None = None
    """The check for completion. Without it, and without a probe that found the effect, 'done' is only what the planner claims."""
    sends: bool = False
    """Whether the task must send something. A run that sent nothing but a sign-in then fails, whatever its planner says."""
    secrets: Several[str] = NONE
    """Names only. Values are filled in right before acting and never stored. `NAME@ORIGIN` binds one to an origin."""
    secret_origins: Named[str] = NONE
    """The origin that each bound secret belongs to, by name."""
    files: Several[str] = NONE
    """Paths of files that steps may use, as `$file.NAME`: the name is the last part of the path, or the whole path."""
    key: str = ""
    """Business key: a second run with the same key returns the first."""
    limits: Limits = field(default_factory=Limits)
    """Limits of this task; those not given come from the agent's settings."""
    by: str = ""
    """The name of the requesting user; by default the user of the process that starts the run."""
    by_id: str = ""
    """What identifies that user, whatever the name. Empty: only the name is known."""
    program: str = ""
    """The file of the script that made this guarded call, if its key does not say which program that was."""
    agreement: Agreement = field(default_factory=Agreement)
    """The approval policy, in addition to the limits; if empty, the agent's `approval_policy` applies."""

    def __post_init__(self) -> None:
        keep_named(self, "inputs", "secret_origins")
        keep_several(self, "output", "secrets", "files")
        split = [name.partition("@") for name in self.secrets]
        bound = {**dict(self.secret_origins), **{name: origin for name, _, origin in split if origin}}
        object.__setattr__(self, "secrets", tuple(name for name, _, _ in split))
        object.__setattr__(self, "secret_origins", tuple(bound.items()))

    @property
    def file_paths(self) -> Mapping[str, str]:
        """The path of each file by the name that steps use, without spaces: the end of the path, or all of it if several end so."""
        short = {path: re.sub(r"[^\w.-]+", "_", path.replace("\\", "/").rpartition("/")[2]) for path in self.files}
        alike = Counter(short.values())
        return {name if alike[name] == 1 else path: path for path, name in short.items()}

    def find_file(self, name: str) -> str | None:
        """The path of the file with this name, which may be the path itself."""
        return name if name in self.files else self.file_paths.get(name)

    @property
    def named_files(self) -> frozenset[str]:
        """The texts that may be paths which a person has given: the files, and the values of inputs."""
        return frozenset(self.files) | {value for _, value in self.inputs if isinstance(value, str) and value}
