"""Replay of a recorded run through the director: as it was, or under other limits. Pure; it never guesses.

The answers in a journal were given to the commands in it. They stay true for as long as the same commands go out; where
others would, the replay ends and says which of these is the case:

identical        nothing was changed, and every turn led to the same commands
nondeterminism   nothing was changed, and one did not: a bug, or a journal of another version
same_course      the changed limits make no difference
ends_earlier     the run would have ended there: exact, because no answer is needed to end
asks_earlier     a person would have been asked there: exact up to the question
undetermined     the world or the planner would have been asked for something else, and its answer is unknown
not_recorded     the recorded run ended or stopped waiting there, and the changed one would have gone on

What a planner makes of a smaller or larger remainder of the budget (`MakePlan.left`) is not taken for a difference; that
it is told to wrap up is.
"""

from midcourse.replay.recorded import Lost as Lost
from midcourse.replay.recorded import Replayed as Replayed
from midcourse.replay.recorded import Row as Row
from midcourse.replay.recorded import Tally as Tally
from midcourse.replay.recorded import Verdict as Verdict
from midcourse.replay.recorded import take_turn as take_turn
from midcourse.replay.rerun import count_carried_out as count_carried_out
from midcourse.replay.rerun import list_states as list_states
from midcourse.replay.rerun import replay as replay
