import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { apiUrl, get, ApiError, send } from "./api/client";
import { meQuery } from "./api/queries";
import type { Me, SignInMethods } from "./api/types";
import { Logo } from "./shell";
import { Field } from "./ui/dialog";
import { Button } from "./ui/components";
import { ErrorNotice } from "./ui/error-notice";

/** Exchanges a token in the address for a session cookie, and removes it from the address and the history. */
export async function redeemToken(): Promise<void> {
  const match = /^#token=([\w.~-]+)(.*)$/.exec(location.hash);
  if (!match?.[1]) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#${match[2] || "/"}`);
  try {
    await send<Me>("POST", "session", { token: match[1] });
  } catch {
    // The token is no longer valid. Without a session the page asks for another one.
  }
}

/** Shows its children once the user is signed in, and the sign-in form before that. */
export function RequireSignIn({ children }: { children: ReactNode }) {
  const me = useQuery(meQuery());
  const refused = me.error instanceof ApiError && me.error.problem.status === 401;
  if (refused) return <SignIn />;
  if (me.data) return children;
  return (
    <CenteredPage>
      {me.error ? <ErrorNotice error={me.error} /> : <p className="text-soft">Loading…</p>}
      {me.error && <Button onClick={() => void me.refetch()}>Try again</Button>}
    </CenteredPage>
  );
}

function CenteredPage({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-5">
      <div className="flex items-center gap-2 text-lg font-semibold">
        <Logo className="size-7 text-accent" />
        Midcourse
      </div>
      {children}
    </main>
  );
}

function SignIn() {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const methods = useQuery({ queryKey: ["sign-in methods"], queryFn: ({ signal }) => get<SignInMethods>("session/ways", signal), staleTime: Infinity });
  const signIn = useMutation({
    mutationFn: () => send<Me>("POST", "session", { token: token.trim() }),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <CenteredPage>
      <h1 className="text-xl font-semibold">Sign in to see your runs.</h1>
      {methods.data?.oidc && (
        <a
          href={apiUrl("session/oidc")}
          className="inline-flex min-h-10 items-center justify-center rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent hover:brightness-110"
        >
          Sign in with your organization
        </a>
      )}
      <p className="text-sm text-soft">{methods.data?.oidc && "Or: "}Open the address that midcourse serve printed, or paste the token from it. An API key works too.</p>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Field label="Token or key">
          {(className) => <input type="password" autoComplete="off" className={className} value={token} onChange={(event) => setToken(event.target.value)} />}
        </Field>
        <ErrorNotice error={signIn.error} />
        <Button type="submit" look="primary" disabled={!token.trim() || signIn.isPending}>
          Sign in
        </Button>
      </form>
    </CenteredPage>
  );
}
