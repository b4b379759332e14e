"""Single-page applications: a JSON API with a bearer token, GraphQL, FormData with a token from a cookie, and a typeahead."""

import secrets
from html import escape

from benchmarks.first_contact_sites.layout import ask, lay_out
from benchmarks.first_contact_sites.server import App, Reply, Visit, answer_json


class JsonLeave(App):
    """Requests days off. The script renders every view, signs in with JSON, and keeps the token in memory."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: set[str] = set()
        self.routes = {"GET /": self.shell, "POST /api/session": self.sign_in, "POST /api/leave": self.request}

    def shell(self, visit: Visit) -> Reply:
        script = """<script>
        let token='';const app=document.getElementById('app');
        const api=(path,body)=>fetch('/api/'+path,{method:'POST',headers:{'Content-Type':'application/json',
          ...(token?{Authorization:'Bearer '+token}:{})},body:JSON.stringify(body)});
        function show(html,submit){app.innerHTML=html;const f=app.querySelector('form');
          if(f)f.onsubmit=async e=>{e.preventDefault();await submit(Object.fromEntries(new FormData(f)))}}
        function signIn(note=''){history.pushState({},'','#/sign-in');document.title='Sign in - Leave';
          show(`<h2>Sign in</h2><p>${note}</p><form><label>User <input name=user></label>
            <label>Password <input type=password name=password></label><button>Sign in</button></form>`,
            async v=>{const r=await api('session',v);if(!r.ok)return signIn('Wrong password');token=(await r.json()).token;leave()})}
        function leave(){history.pushState({},'','#/leave');document.title='Request leave';
          show(`<h2>Request leave</h2><form><label>From <input name=from></label><label>To <input name=to></label>
            <label>Reason <input name=reason></label><button>Send request</button></form>`,
            async v=>{const r=await api('leave',v);const b=await r.json();
              if(r.ok)show('<h2>Sent</h2><p>Request '+b.number+' was sent to your manager.</p>');
              else app.insertAdjacentHTML('beforeend','<p role=alert>'+b.error+'</p>')})}
        signIn();
        </script>"""
        return Reply(body=lay_out("Leave", "<div id=app>Loading...</div>" + script))

    def sign_in(self, visit: Visit) -> Reply:
        self.other["sign-ins"] += 1
        if visit.json.get("password") != "turing":
            return answer_json({"error": "wrong password"}, 401)
        token = secrets.token_hex(16)
        self._tokens.add(token)
        return answer_json({"token": token})

    def request(self, visit: Visit) -> Reply:
        if visit.headers.get("Authorization", "").removeprefix("Bearer ") not in self._tokens:
            return answer_json({"error": "sign in first"}, 401)
        sent = visit.json
        self.effects.append(f"{sent['from']} to {sent['to']}: {sent['reason']}")
        return answer_json({"number": f"L-{len(self.effects)}"}, 201)


class GraphQLShop(App):
    """Reads its articles and orders them with POSTs to one address, as GraphQL clients do."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.shell, "POST /graphql": self.execute}

    def shell(self, visit: Visit) -> Reply:
        script = """<script>
        const app=document.getElementById('app');
        const run=(operationName,query,variables)=>fetch('/graphql',{method:'POST',headers:{'Content-Type':'application/json'},
          body:JSON.stringify({operationName,query,variables})}).then(r=>r.json());
        run('Articles','query Articles { articles { id name price } }',{}).then(({data})=>{
          app.innerHTML='<form><label>Article <select name=id>'+data.articles.map(a=>`<option value=${a.id}>${a.name}</option>`).join('')
            +'</select></label><label>Pieces <input name=pieces value=1></label><button>Order</button></form><p role=status></p>';
          const f=app.querySelector('form'),s=app.querySelector('p');
          f.onsubmit=async e=>{e.preventDefault();s.textContent='...';
            const r=await run('PlaceOrder','mutation PlaceOrder($id: ID!, $pieces: Int!) { placeOrder(id: $id, pieces: $pieces) { number } }',
              {id:f.id.value||f.elements.id.value,pieces:Number(f.pieces.value),clientMutationId:Math.random().toString(36)});
            s.textContent=r.errors?r.errors[0].message:'Order '+r.data.placeOrder.number+' is on its way.'}})
        </script>"""
        return Reply(body=lay_out("Tea", "<div id=app>Loading articles...</div>" + script))

    def execute(self, visit: Visit) -> Reply:
        articles = {"t1": "Assam", "t2": "Sencha", "t3": "Rooibos"}
        if visit.json["operationName"] == "Articles":
            self.other["queries"] += 1
            listed = [{"id": key, "name": name, "price": 9} for key, name in articles.items()]
            return answer_json({"data": {"articles": listed}})
        variables = visit.json["variables"]
        name = articles.get(variables["id"])
        if name is None:
            return answer_json({"data": None, "errors": [{"message": "There is no such article."}]})
        self.effects.append(f"{variables['pieces']} x {name}")
        return answer_json({"data": {"placeOrder": {"number": f"G-{len(self.effects)}"}}})


class FormDataReviews(App):
    """Sends a review as FormData, with a token that the script reads from a cookie (as axios and Angular do)."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.page, "POST /reviews": self.review}

    def page(self, visit: Visit) -> Reply:
        token = visit.cookies.get("XSRF-TOKEN") or secrets.token_hex(12)
        stars = "".join(f"<label><input type=radio name=stars value={n}> {n} stars</label>" for n in (1, 3, 5))
        script = """<script>
        const f=document.querySelector('#review');
        f.onsubmit=e=>{e.preventDefault();const x=new XMLHttpRequest();x.open('POST','/reviews');
          x.setRequestHeader('X-XSRF-TOKEN',(document.cookie.match(/XSRF-TOKEN=([^;]+)/)||[])[1]||'');
          x.onload=()=>{if(x.status===201)f.outerHTML='<p role=status>Thanks, your review will appear soon.</p>';
            else document.querySelector('#problem').textContent='Error '+x.status};x.send(new FormData(f))}
        </script>"""
        form = (
            f"<form id=review><fieldset><legend>Rating</legend>{stars}</fieldset>{ask('Headline', 'headline')}"
            "<div role=button tabindex=0 class=btn onclick=\"this.closest('form').requestSubmit()\">Post review</div></form>"
            "<p id=problem></p>"
        )
        return Reply(body=lay_out("Review the desk lamp", form + script), cookies={"XSRF-TOKEN": token})

    def review(self, visit: Visit) -> Reply:
        token = visit.headers.get("X-XSRF-TOKEN") or visit.headers.get("X-Xsrf-Token", "")
        if not token or token != visit.cookies.get("XSRF-TOKEN"):
            return answer_json({"error": "token"}, 403)
        self.effects.append(f"{visit.form.get('stars')} stars: {visit.form['headline']}")
        return answer_json({"id": len(self.effects)}, 201)


class TypeaheadTrips(App):
    """Books a trip to a station that has to be picked from suggestions. What is only typed is refused with 422."""

    def __init__(self) -> None:
        super().__init__()
        self.routes = {"GET /": self.form, "GET /api/stations": self.suggest, "POST /trips": self.book}

    def form(self, visit: Visit, note: str = "") -> Reply:
        script = """<script>
        const i=document.querySelector('#to'),l=document.querySelector('#list'),h=document.querySelector('#code');let t;
        i.addEventListener('input',()=>{h.value='';clearTimeout(t);t=setTimeout(async()=>{
          const r=await (await fetch('/api/stations?q='+encodeURIComponent(i.value))).json();
          l.innerHTML='';l.hidden=!r.length;i.setAttribute('aria-expanded',String(!!r.length));
          for(const s of r){const o=document.createElement('li');o.role='option';o.textContent=s.name;
            o.onmousedown=e=>{e.preventDefault();i.value=s.name;h.value=s.code;l.hidden=true;i.setAttribute('aria-expanded','false')};
            l.append(o)}},200)})
        </script>"""
        alert = f"<p role=alert>{escape(note)}</p>" if note else ""
        token = self.make_token(visit)
        form = (
            f"{alert}<form method=post action=/trips><input type=hidden name=token value={token}>"
            "<label for=to>Destination</label><input id=to name=to role=combobox aria-autocomplete=list aria-controls=list "
            "aria-expanded=false autocomplete=off><ul id=list role=listbox hidden></ul><input type=hidden id=code name=code>"
            "<button>Book trip</button></form>"
        )
        return Reply(body=lay_out("Book a trip", form + script), status=422 if note else 200)

    def suggest(self, visit: Visit) -> Reply:
        stations = {"BGO": "Bergen", "BGP": "Bergen op Zoom", "OSL": "Oslo S"}
        typed = visit.query.get("q", "").lower()
        found = [
            {"code": code, "name": name} for code, name in stations.items() if typed and name.lower().startswith(typed)
        ]
        return answer_json(found, seconds=0.2)

    def book(self, visit: Visit) -> Reply:
        if not self.take_token(visit, visit.form.get("token", "")) or not visit.form.get("code"):
            return self.form(visit, "Please pick a station from the list.")
        self.effects.append(f"to {visit.form['code']}")
        return Reply(body=lay_out("Trip booked", "<p>Have a good journey.</p>"))
