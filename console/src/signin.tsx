import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { address, get, Refusal, send } from "./api/client";
import { meQuery } from "./api/queries";
import type { Me, SignInWays } from "./api/types";
import { Mark } from "./shell";
import { Field } from "./ui/dialog";
import { Button } from "./ui/parts";
import { Trouble } from "./ui/trouble";

/** Swaps a token in the address for a cookie, and takes it out of the address and the history. */
export async function redeemToken(): Promise<void> {
  const found = /^#token=([\w.~-]+)(.*)$/.exec(location.hash);
  if (!found?.[1]) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#${found[2] || "/"}`);
  try {
    await send<Me>("POST", "session", { token: found[1] });
  } catch {
    // an old link: the page asks for a token if there is no session either
  }
}

export function SignedIn({ children }: { children: ReactNode }) {
  const me = useQuery(meQuery());
  const refused = me.error instanceof Refusal && me.error.problem.status === 401;
  if (refused) return <SignIn />;
  if (me.data) return children;
  return (
    <Alone>
      {me.error ? <Trouble error={me.error} /> : <p className="text-soft">Opening…</p>}
      {me.error && <Button onClick={() => void me.refetch()}>Try again</Button>}
    </Alone>
  );
}

function Alone({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-5">
      <div className="flex items-center gap-2 text-lg font-semibold">
        <Mark className="size-7 text-accent" />
        Midcourse
      </div>
      {children}
    </main>
  );
}

function SignIn() {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const ways = useQuery({ queryKey: ["ways"], queryFn: ({ signal }) => get<SignInWays>("session/ways", signal), staleTime: Infinity });
  const open = useMutation({
    mutationFn: () => send<Me>("POST", "session", { token: token.trim() }),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <Alone>
      <h1 className="text-xl font-semibold">Sign in to see your runs.</h1>
      {ways.data?.oidc && (
        <a
          href={address("session/oidc")}
          className="inline-flex min-h-10 items-center justify-center rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent hover:brightness-110"
        >
          Sign in with your organization
        </a>
      )}
      <p className="text-sm text-soft">{ways.data?.oidc && "Or: "}Open the address that midcourse serve printed, or paste the token from it. An API key works, too.</p>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          open.mutate();
        }}
      >
        <Field label="Token or key">
          {(className) => <input type="password" autoComplete="off" className={className} value={token} onChange={(event) => setToken(event.target.value)} />}
        </Field>
        <Trouble error={open.error} />
        <Button type="submit" look="primary" disabled={!token.trim() || open.isPending}>
          Sign in
        </Button>
      </form>
    </Alone>
  );
}
