import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { router } from "./router";
import { redeemToken, RequireSignIn } from "./signin";
import "./style.css";
import { applyTheme } from "./ui/theme";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Retry only if the server could not be reached: it would refuse the same request again.
      retry: (failures, error) => error instanceof ApiError && error.problem.status === 0 && failures < 2,
      refetchOnWindowFocus: true,
      staleTime: 500,
    },
  },
});

applyTheme();
void redeemToken().then(() => {
  const root = document.getElementById("root");
  if (!root) throw new Error("the page has no element #root");
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RequireSignIn>
          <RouterProvider router={router} />
        </RequireSignIn>
      </QueryClientProvider>
    </StrictMode>,
  );
});
