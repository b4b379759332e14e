"""Replay of a recorded run through the director: as it was, or under other limits. Pure; it never guesses.

The answers in a journal belong to the commands in it. They are valid as long as the same commands are issued. At the first
command that differs, the replay ends with one of these verdicts:

identical        nothing was changed, and every turn led to the same commands
nondeterminism   nothing was changed, and one did not: a bug, or a journal of another version
same_course      the changed limits make no difference
ends_earlier     the run would have ended there: exact, because no answer is needed to end
asks_earlier     a person would have been asked there: exact up to the question
undetermined     the world or the planner would have been asked for something else, and its answer is unknown
not_recorded     the recorded run ended or stopped waiting there, and the changed one would have continued

A different rest of the budget in a request to the planner (`MakePlan.left`) does not count as a difference; a request to wrap
up does.
"""

from midcourse.director.decide import take_turn as take_turn
from midcourse.replay.recorded import Lost as Lost
from midcourse.replay.recorded import RecordedTurn as RecordedTurn
from midcourse.replay.recorded import Replayed as Replayed
from midcourse.replay.recorded import Tally as Tally
from midcourse.replay.recorded import Verdict as Verdict
from midcourse.replay.rerun import count_carried_out as count_carried_out
from midcourse.replay.rerun import list_states as list_states
from midcourse.replay.rerun import replay as replay
