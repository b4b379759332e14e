// Fails if the built console is larger than its budget, so that it loads quickly on a slow connection.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MAX_BYTES = 250_000;
const assets = new URL("../src/midcourse/server/dist/assets/", import.meta.url);
const files = readdirSync(assets).map((name) => ({ name, text: readFileSync(new URL(name, assets)) }));
const size = files.reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).length, 0);
console.log(`console: ${files.length} files, ${(size / 1000).toFixed(1)} kB gzipped of ${MAX_BYTES / 1000} kB`);
if (!files.some(({ name }) => name.endsWith(".js"))) throw new Error("the build has no script");
if (size > MAX_BYTES) throw new Error("the console is larger than its budget");
