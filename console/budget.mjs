// Fails if the console grows beyond what a slow connection loads in a moment, or names an address that is not its own.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST = 250_000;
const assets = new URL("../src/midcourse/server/dist/assets/", import.meta.url);
const files = readdirSync(assets).map((name) => ({ name, text: readFileSync(new URL(name, assets)) }));
const size = files.reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).length, 0);
console.log(`console: ${files.length} files, ${(size / 1000).toFixed(1)} kB gzipped of ${MOST / 1000} kB`);
if (!files.some(({ name }) => name.endsWith(".js"))) throw new Error("there is no script");
if (size > MOST) throw new Error("the console is larger than its budget");
