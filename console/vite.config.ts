import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// One script and one style sheet with relative addresses, so that the console can be served below any path.
export default defineConfig({
  base: "./",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/midcourse/server/dist",
    emptyOutDir: true,
    chunkSizeWarningLimit: 900,
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: false } },
  },
  server: {
    // Requests go to `midcourse serve --port 8321`. Sign in with the token that it prints.
    proxy: { "/api": { target: "http://127.0.0.1:8321", changeOrigin: true } },
  },
});
