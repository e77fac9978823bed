import { defineConfig } from "vitest/config";

/** The page in a real Chromium, against the replay: `npm run e2e`. */
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["e2e/build.ts"],
    // Each file has its own browser; more of them than cores only wait for each other.
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As patient as every other wait: what is polled for comes when the page has drawn it.
    expect: { poll: { timeout: 15_000 } },
    // What a test measured and reports is read in the gate's output.
    disableConsoleIntercept: true,
  },
});
