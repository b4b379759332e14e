"""Commands into port calls, and what comes of them into events. `performer.py` says which goes where."""

from midcourse.perform.performer import Performer as Performer
from midcourse.perform.ports import Lessons as Lessons
from midcourse.perform.ports import Ports as Ports
