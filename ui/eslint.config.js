import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

/** Methods of a locator that read a page once. */
const OF_A_LOCATOR =
  "/^(count|innerText|textContent|inputValue|getAttribute|allInnerTexts|allTextContents|innerHTML|is[A-Z].*)$/";

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/lib/ipc/generated/"] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig } },
  },
  {
    rules: {
      "no-console": "error",
      eqeqeq: "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["@tauri-apps/*"], message: "Only src/lib/ipc/tauri.ts speaks to the shell." }] },
      ],
      // Routes are state, not addresses.
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  { files: ["src/lib/ipc/tauri.ts"], rules: { "no-restricted-imports": "off" } },
  { files: ["scripts/**", "e2e/**"], rules: { "no-console": "off" } },
  {
    files: ["e2e/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: `CallExpression[callee.name="expect"] > AwaitExpression > CallExpression:matches([callee.property.name=${OF_A_LOCATOR}], [callee.name=/^(asked|focused)$/])`,
          message: "The page may not have rendered it yet: use `await expect.poll(() => …)`.",
        },
        {
          selector: 'MemberExpression[property.name="setViewportSize"]',
          message: "The page learns of its size later: use `resize`, which waits for it.",
        },
      ],
    },
  },
  { files: ["e2e/stage.ts"], rules: { "no-restricted-syntax": "off" } },
);
