/** Builds the page with the replay in it, once for all tests. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const UI = join(import.meta.dirname, "..");
/** Where it is built, below `ui`. */
export const BUILT = "node_modules/.e2e";

export function setup(): void {
  // In a process of its own: what a test runner sets makes another build of it than people get.
  const { VITEST: _, NODE_ENV: __, MODE: ___, DEV: ____, PROD: _____, ...env } = process.env;
  const build = ["build", "--mode", "fake", "--outDir", BUILT, "--emptyOutDir", "--logLevel", "error"];
  execFileSync(process.execPath, [join(UI, "node_modules/vite/bin/vite.js"), ...build], {
    cwd: UI,
    env,
    stdio: "inherit",
  });
}
