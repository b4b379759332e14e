"""Controls what leaves a browser: every request is checked, and held unless the policy or an approval lets it leave.

The states of an outgoing request (`outbox.State`), and when it changes from one to the next:

    read ──┬──> (refused)                                origin not in the policy
           ├──> (passed)                                 safe by the policy
           ├──> sent                                     expected by an approved call, a renewed session, or a person attends
           ├──> held ─────┬──> sent                      released after approval
           │   (waits     ├──> dropped                   another act began
           │   on its     └──> gone                      the page stopped waiting
           │   connection)
           ├──> parked ───┬──> claimable ──┬──> sent     released, then claimed by our own navigation
           │   (a navi-   │                └──> dropped  not claimed before the act ended
           │   gation)    └──> dropped                   another act began
           ├──> discarded                                a keep-alive of a WebSocket
           └──> dropped                                  too many wait already
    sent ──┬──> answered                                 the response is recorded and passed on
           ├──> redirected                               307 or 308: a new request, held or parked with `redirected_from`
           └──> unreached                                no connection, or given up before: the server has seen nothing

What is refused, passes or is discarded is not kept, so it has no state. Every transition is a call of `OutgoingRequest.move`, in these places:

| transition | where |
|---|---|
| refused, passed, or else kept in its first state | `proxy.py` asks `outbox.py`, for a message of a WebSocket as well |
| released, claimed, dropped, answered, redirected | `outbox.py` |
| gone, unreached | `proxy.py`, where the connections are |

Which call a held request belongs to and may release, what a call is expected to send, and the outcome of an act: `guard.py`. A
parked request is claimed by `../session.py`. A sign-in with a secret of its origin is released without a question:
`sign_in.py`. What a page may say through a WebSocket by itself: `messages.py`, and how binary messages are read: `binary.py`. Which requests are the page's own and not those of an act, and when one renews a session: `background.py`; when one only says that its page is open: `keep_alive.py`. Which forms only lead on
to the next page of a flow: `flow.py`. Whether a response shows that the server accepted the request: `acceptance.py`.

A page must not take what the gate says for the answer of its server: applications reload, or sign out, on a 403. So a request
that is refused or dropped looks as if the browser were offline, by a response that Chromium does not accept. A navigation by a
page gets 204 instead, so that the page stays with what was typed into it. Only an address that was entered shows the reason (403).

A navigation is parked instead of being held on its connection, because Chromium answers no question about a page while a
navigation is under way: the browser gets 204, stays where it is, and the page can be observed.

What is safe and which origins may be reached: `policy.py`, `address.py`. What a request would send, as a
person is shown it: `request.py`. What has arrived of a response: `response.py`.
"""
