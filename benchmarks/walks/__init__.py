"""How many files a reader opens to follow one act: four walks through the code, traced in the processes that make them.

    python -m benchmarks.walks               # all four; --walks names some
    python -m benchmarks.walks --entered     # and the functions of each file

act        an order click in a browser: from the planner's answer to the held request, its approval and the next look
step       one step in a world of one's own: from the planner's answer to the next look
do         `midcourse do` from its arguments to its result, with a model server that answers one question
decision   an approval that is sent to the server's API, until the run has written it into its journal

files      the files of the package in which a function is entered, without what is only imported
functions  the functions, methods, lambdas and comprehensions that are entered
returns    how often the walk comes back to a file that it had left

Tasks and threads take turns, so the counts of two traces may differ a little, above all those of `decision`.
"""
