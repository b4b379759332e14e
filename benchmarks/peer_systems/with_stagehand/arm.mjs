// Stagehand's agent as its documentation shows it: a local browser, agent.execute(instruction). One JSON object a line, on stdin and stdout.
// Without a checkpoint to continue from, the task is begun again after a crash.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const packages = process.argv[2];
const { Stagehand } = await import(pathToFileURL(join(packages, "@browserbasehq/stagehand/dist/esm/index.js")));
const say = (told) => writeSync(1, JSON.stringify(told) + "\n");
console.log = console.info = console.error; // what libraries print goes to stderr

async function run(job) {
  const stagehand = new Stagehand({
    env: "LOCAL",
    verbose: 0,
    disablePino: true,
    model: { modelName: "openai/gpt-4.1", apiKey: "none", baseURL: job.model, openaiEndpointFormat: "chat" },
    localBrowserLaunchOptions: { executablePath: job.chromium, headless: true, args: ["--no-sandbox"], connectTimeoutMs: 120000 },
    logger: (line) => console.error(line.message),
  });
  await stagehand.init();
  try {
    const agent = stagehand.agent();
    const told = await agent.execute({ instruction: `Go to ${job.url}. ${job.goal}`, maxSteps: 60 });
    return { claimed: told.success === true && told.completed === true, reason: String(told.message) };
  } finally {
    await stagehand.close();
  }
}

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const limit = new Promise((_, fail) => setTimeout(() => fail(new Error("out of time")), 1000 * job.limit).unref());
  say(await Promise.race([run(job), limit]).catch((error) => ({ claimed: false, reason: String(error) })));
}
process.exit(0);
