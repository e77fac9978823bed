import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { realCore } from "./core/plugin.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Every web view here reads WOFF2: the two older forms of each of the formulas' fonts stay out of the application. */
const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform: (code, id) =>
    /katex[\\/]dist[\\/][^?]*\.css/.test(id)
      ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, "")
      : null,
};

export default defineConfig({
  plugins: [svelte(), onlyWoff2, realCore()],
  // Relative addresses, so that the page works under any scheme the shell serves it from.
  base: "./",
  resolve: {
    alias: { "@words": at("../words"), $lib: at("./src/lib"), $components: at("./src/components") },
    // Component tests run the browser build of Svelte.
    ...(process.env["VITEST"] ? { conditions: ["browser"] } : {}),
  },
  server: { port: 5173, strictPort: true, fs: { allow: [at("..")] } },
  clearScreen: false,
  build: {
    target: ["es2022", "safari17"],
    outDir: "dist",
    emptyOutDir: true,
    // The CSP forbids `data:` fonts and scripts; small pictures stay files too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The packages in the page, for the About page; the crates are listed next to them.
    license: { fileName: "notices/page.json" },
  },
  test: { environment: "node", include: ["src/**/*.test.ts"], setupFiles: ["src/lib/testing/all-words.ts"] },
});
