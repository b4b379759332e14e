"""Turns commands into port calls and their results into events. `performer.py` maps each command to its function."""

from midcourse.perform.performer import Performer as Performer
from midcourse.perform.ports import Lessons as Lessons
from midcourse.perform.ports import Ports as Ports
