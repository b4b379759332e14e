import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// One script and one style sheet, with relative addresses: the same files are served below any path, and fit into one exported page.
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
    // `midcourse serve --port 8321` answers; its token is swapped for a cookie here, too.
    proxy: { "/api": { target: "http://127.0.0.1:8321", changeOrigin: true } },
  },
});
