"""Pages whose scripts do part of the work: drafts, optimistic display, guards against double clicks, retries with one key."""

import json
import time
from html import escape

from benchmarks.first_contact_sites.layout import BAD_GATEWAY, ask, hide, lay_out, list_rows, wrap
from benchmarks.first_contact_sites.server import App, Reply, Visit, answer_json, redirect


class AutosavedArticle(App):
    """Publishes an article. While it is written, a script saves drafts with fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /api/drafts": self.draft, "POST /articles": self.publish}
        self.routes["GET /articles/1"] = self.show

    def form(self, visit: Visit) -> Reply:
        token = self.make_token(visit)
        script = """<script>
        const f=document.querySelector('#article');let timer;
        f.addEventListener('input',()=>{clearTimeout(timer);timer=setTimeout(()=>{
          document.querySelector('#saved').textContent='Saving draft...';
          fetch('/api/drafts',{method:'POST',headers:{'Content-Type':'application/json'},
            body:JSON.stringify({title:f.title.value,text:f.text.value,at:Date.now()})})
          .then(r=>{document.querySelector('#saved').textContent=r.ok?'Draft saved':'Draft not saved'})
          .catch(()=>{document.querySelector('#saved').textContent='You are offline'})},300)})
        </script>"""
        fields = (
            hide(token=token)
            + wrap("Title", "title")
            + ("<label for=text>Text</label><textarea id=text name=text rows=4></textarea>")
        )
        body = f"<form id=article method=post action=/articles>{fields}<button>Publish</button></form><p id=saved></p>{script}"
        return Reply(body=lay_out("Write an article", body))

    def draft(self, visit: Visit) -> Reply:
        self.other["drafts"] += 1
        return answer_json({"ok": True})

    def publish(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("token", "")):
            return Reply(status=403, body=lay_out("Not allowed", "<p>The form has expired.</p>"))
        self.effects.append(f"{visit.form['title']}: {visit.form['text']}")
        return redirect("/articles/1", 303)

    def show(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Published", f"<p>Your article is online.</p><p>{escape(self.effects[0])}</p>"))


class OptimisticBasket(App):
    """Shows success before the server has answered, and takes it back if the server refuses."""

    def __init__(self, *, stock: int) -> None:
        super().__init__()
        self.stock = stock
        self.routes = {"GET /": self.page, "POST /api/orders": self.order, "GET /orders": self.list}

    def page(self, visit: Visit) -> Reply:
        script = """<script>
        const f=document.querySelector('#order'),s=document.querySelector('#state');
        f.addEventListener('submit',async e=>{e.preventDefault();
          s.textContent='Your order is placed.';f.hidden=true;
          try{const r=await fetch('/api/orders',{method:'POST',headers:{'Content-Type':'application/json',
              'X-CSRF-Token':f.dataset.token},body:JSON.stringify({article:f.article.value,reference:f.reference.value})});
            if(!r.ok)throw new Error((await r.json()).error)}
          catch(error){f.hidden=false;s.textContent='Sorry, that did not work: '+error.message}})
        </script>"""
        form = (
            f"<form id=order data-token='{self.make_token(visit)}'>{ask('Article', 'article')}{ask('Your reference', 'reference')}"
            "<button>Buy now</button></form><p id=state aria-live=polite></p>"
        )
        return Reply(body=lay_out("Quick order", form + script, links={"Quick order": "/", "My orders": "/orders"}))

    def order(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.headers.get("X-CSRF-Token", "")):
            return answer_json({"error": "expired"}, 403)
        if not self.stock:
            return answer_json({"error": "out of stock"}, 409, seconds=1.5)
        self.stock -= 1
        self.effects.append(f"{visit.json['article']} {visit.json['reference']}")
        return answer_json({"id": len(self.effects)}, 201, seconds=1.5)

    def list(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("My orders", list_rows(self.effects)))


class SlowShop(App):
    """Stores every POST, and answers after three seconds. With `guard`, a script disables the button after the first click."""

    def __init__(self, *, guard: bool) -> None:
        super().__init__()
        self._guard = guard
        self.routes = {"GET /": self.form, "POST /orders": self.order, "GET /orders/thanks": self.thanks}
        self.routes["GET /orders"] = self.list

    def form(self, visit: Visit) -> Reply:
        script = (
            "<script>let sent=false;document.querySelector('#o').addEventListener('submit',e=>{if(sent){e.preventDefault();return}"
            "sent=true;const b=e.target.querySelector('button');b.textContent='Please wait...';setTimeout(()=>b.disabled=true)})"
            "</script>"
        )
        fields = hide(csrf=self.make_token(visit)) + ask("Article", "article") + ask("Your reference", "reference")
        body = f"<form id=o method=post action=/orders>{fields}<button>Send order</button></form>"
        page = lay_out("Order", body + (script if self._guard else ""), links={"Order": "/", "My orders": "/orders"})
        return Reply(body=page)

    def order(self, visit: Visit) -> Reply:
        self.effects.append(f"{visit.form['article']} {visit.form['reference']}")
        reply = redirect("/orders/thanks", 302)
        reply.seconds = 3.0
        return reply

    def thanks(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Thank you", "<p>Your order has been received.</p>"))

    def list(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("My orders", list_rows(self.effects)))


class KeyedPayments(App):
    """Pays with an Idempotency-Key in a header. The first answer is a 502 after the payment; the script retries with the same key."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, dict[str, object]] = {}
        self.routes = {"GET /": self.page, "POST /api/payments": self.pay}

    def page(self, visit: Visit) -> Reply:
        script = """<script>
        const key=(self.crypto&&crypto.randomUUID)?crypto.randomUUID():String(Math.random()).slice(2)+Date.now();
        const f=document.querySelector('#pay'),s=document.querySelector('#state');
        f.addEventListener('submit',async e=>{e.preventDefault();f.querySelector('button').disabled=true;
          s.textContent='Paying...';
          for(let i=0;i<3;i++){
            try{const r=await fetch('/api/payments',{method:'POST',headers:{'Content-Type':'application/json','Idempotency-Key':key},
                body:JSON.stringify({payee:f.payee.value,amount:f.amount.value})});
              if(r.ok){const p=await r.json();s.textContent='Payment '+p.id+' succeeded.';return}
            }catch(error){}
            await new Promise(done=>setTimeout(done,700))}
          f.querySelector('button').disabled=false;s.textContent='The payment failed. Please try again.'})
        </script>"""
        form = f"<form id=pay>{wrap('Payee', 'payee')}{wrap('Amount', 'amount')}<button>Pay</button></form><p id=state role=status></p>"
        return Reply(body=lay_out("Pay an invoice", form + script))

    def pay(self, visit: Visit) -> Reply:
        key = visit.headers.get("Idempotency-Key", "")
        if not key:
            return answer_json({"error": "Idempotency-Key is missing"}, 400)
        if key not in self._answers:
            self.effects.append(f"{visit.json['amount']} to {visit.json['payee']}")
            self._answers[key] = {"id": f"pay_{len(self.effects)}"}
            return Reply(status=502, body=BAD_GATEWAY)
        self.other["retries"] += 1
        return answer_json(self._answers[key])


class KeyedForm(App):
    """A donation with a key in a hidden field. The first POST is refused with 503 before anything is stored; then it works."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: set[str] = set()
        self._refused = False
        self.routes = {"GET /": self.form, "POST /donations": self.donate, "GET /donations": self.list}

    def form(self, visit: Visit, key: str = "", note: str = "", values: dict[str, str] | None = None) -> Reply:
        old = values or {}
        fields = hide(idempotency_key=key or self.make_token(visit), started=str(time.time()))
        fields += wrap("Amount", "amount", old.get("amount", "")) + wrap("Message", "message", old.get("message", ""))
        body = f"<p>{note}</p><form method=post action=/donations>{fields}<button>Donate</button></form>"
        return Reply(body=lay_out("Donate", body, links={"Donate": "/", "My donations": "/donations"}))

    def donate(self, visit: Visit) -> Reply:
        key = visit.form.get("idempotency_key", "")
        if not self._refused:
            self._refused = True
            reply = self.form(visit, key, "Our service is busy at the moment. Please try again.", visit.form)
            reply.status = 503
            reply.headers["Retry-After"] = "1"
            return reply
        if key not in self._keys:
            self._keys.add(key)
            self.effects.append(f"{visit.form['amount']}: {visit.form['message']}")
        return redirect("/donations?thanks=1", 303)

    def list(self, visit: Visit) -> Reply:
        note = "Thank you for your donation!" if visit.query.get("thanks") else ""
        return Reply(body=lay_out("My donations", list_rows(self.effects, "You have not donated yet."), flash=note))


class LoudShop(App):
    """A form on a page that reports every visit, click and leave to its own analytics, by fetch and by beacon."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "POST /collect": self.collect, "POST /signup": self.sign_up}
        self.routes["GET /welcome"] = self.welcome

    def form(self, visit: Visit) -> Reply:
        script = (
            "<script>const tell=(what)=>navigator.sendBeacon('/collect',JSON.stringify({what,at:Date.now()}));"
            "fetch('/collect',{method:'POST',body:JSON.stringify({what:'view',r:Math.random()})}).catch(()=>{});"
            "addEventListener('click',()=>tell('click'));addEventListener('pagehide',()=>tell('leave'))</script>"
        )
        fields = hide(csrf=self.make_token(visit)) + ask("E-mail", "email", kind="email") + ask("Company", "company")
        body = f"<form method=post action=/signup>{fields}<button>Request a demo</button></form>"
        return Reply(body=lay_out("See it in action", body, head=script))

    def collect(self, visit: Visit) -> Reply:
        self.other["collected"] += 1
        json.loads(visit.body or b"{}")
        return Reply(status=204)

    def sign_up(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("csrf", "")):
            return Reply(status=403, body=lay_out("Not allowed", "<p>Reload the page.</p>"))
        self.effects.append(f"{visit.form['email']}, {visit.form['company']}")
        return redirect("/welcome", 303)

    def welcome(self, visit: Visit) -> Reply:
        return Reply(body=lay_out("Welcome", "<p>We will call you tomorrow.</p>"))
