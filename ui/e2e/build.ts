/** Builds the page with the replay, once for all tests. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const UI = join(import.meta.dirname, "..");
/** The output folder, below `ui`. */
export const BUILT = "node_modules/.e2e";

export function setup(): void {
  // Builds in a separate process: variables set by a test runner would change the build.
  const { VITEST: _, NODE_ENV: __, MODE: ___, DEV: ____, PROD: _____, ...env } = process.env;
  const build = ["build", "--mode", "fake", "--outDir", BUILT, "--emptyOutDir", "--logLevel", "error"];
  execFileSync(process.execPath, [join(UI, "node_modules/vite/bin/vite.js"), ...build], {
    cwd: UI,
    env,
    stdio: "inherit",
  });
}
