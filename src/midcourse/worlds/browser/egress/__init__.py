"""Controls what leaves a browser: every request is checked, and held unless the policy or an approval lets it leave.

The states of an outgoing request, and the module that owns each transition:

    Chromium ──> read ──┬──> refused                                    origin not in the policy
                        ├──> passed                                     safe by the policy
                        ├──> sent                                       expected by an approved call, or a person attends
                        ├──> held ────┬──> sent                         released after approval
                        │   (waits    ├──> dropped                      another act began
                        │   on the    └──> gone                         the page stopped waiting
                        │   connection)
                        └──> parked ──┬──> claimable ──┬──> sent        released, then claimed by our own navigation
                            (a navi-  │                └──> dropped     not claimed before the act ended
                            gation)   └──> dropped                      another act began
    sent ──┬──> answered                                                the response is recorded and passed on
           ├──> redirected ──> held or parked again                     307 or 308: a new request with `redirected_from`
           └──> unreached                                               no connection: the server has seen nothing

| transition | module |
|---|---|
| read, refused, passed on, answered | `connection.py` (one connection; WebSocket messages: `websocket.py`), `proxy.py` (policy, connect) |
| passed, held, parked, claimable, sent, dropped, redirected | `outbox.py` |
| expected; which call a held request belongs to and may release; the outcome of an act | `guard.py` |
| released, and claimed by the navigation that fetches a parked request | `../session.py` |
| approved without a question: a sign-in with a secret of that origin | `sign_in.py` |
| whether a response shows that the server accepted it | `acceptance.py` |

A page must not take what the gate says for the answer of its server: applications reload, or sign out, on a 403. So a request
that is refused or dropped looks as if the browser were offline, by a response that Chromium does not accept. A navigation by a
page gets 204 instead, so that the page stays with what was typed into it. Only an address that was entered shows the reason (403).

A navigation is parked instead of being held on its connection, because Chromium answers no question about a page while a
navigation is under way: the browser gets 204, stays where it is, and the page can be observed.

What is safe and which origins may be reached: `policy.py`, `bounds.py`, `address.py`. What a request would send, as a
person is shown it: `request.py`.
"""
