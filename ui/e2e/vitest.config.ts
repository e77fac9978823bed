import { defineConfig } from "vitest/config";

/** Runs the page in a real Chromium against the replay: `npm run e2e`. */
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["e2e/build.ts"],
    // Each file starts its own browser; more of them than cores would only slow each other down.
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As long as every other timeout: a polled element appears once the page has rendered it.
    expect: { poll: { timeout: 15_000 } },
    // Prints measurements directly to the gate's output.
    disableConsoleIntercept: true,
  },
});
