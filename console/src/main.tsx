import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Refusal } from "./api/client";
import { router } from "./router";
import { redeemToken, SignedIn } from "./signin";
import "./style.css";
import { applyTheme } from "./ui/theme";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one; a server that is away comes back.
      retry: (failures, error) => error instanceof Refusal && error.problem.status === 0 && failures < 2,
      refetchOnWindowFocus: true,
      staleTime: 500,
    },
  },
});

applyTheme();
void redeemToken().then(() => {
  const root = document.getElementById("root");
  if (!root) throw new Error("there is no place for the console");
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <SignedIn>
          <RouterProvider router={router} />
        </SignedIn>
      </QueryClientProvider>
    </StrictMode>,
  );
});
