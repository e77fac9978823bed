/** Builds the page with the replay in it, once for all tests. */
import { build } from "vite";

/** Where it is built, below `ui`. */
export const BUILT = "node_modules/.e2e";

export async function setup(): Promise<void> {
  await build({ mode: "fake", build: { outDir: BUILT, emptyOutDir: true }, logLevel: "error" });
}
