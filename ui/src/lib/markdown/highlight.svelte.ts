/** Code highlighting, loaded with the first code. */
import type { HLJSApi } from "highlight.js";

/** The length limit; longer code stays plain, because highlighting it on every batch of a stream is too expensive. */
const LIMIT = 40_000;

let engine = $state.raw<HLJSApi | null>(null);
let requested = false;

/** Loads the highlighter; code shown plain is highlighted once it has loaded. */
export function wantHighlighter(): void {
  if (requested) return;
  requested = true;
  void import("highlight.js/lib/common").then(
    (module) => (engine = module.default),
    // Without the highlighter code is plain but readable.
    () => undefined,
  );
}

/** Returns the highlighter once loaded; reading it makes the reader reactive to its arrival. */
export function highlighter(): HLJSApi | null {
  return engine;
}

/** Returns the highlighted HTML of `code`; null if the language is unknown or the code too long. */
export function highlight(code: string, language: string): string | null {
  if (!engine || code.length > LIMIT || !engine.getLanguage(language)) return null;
  return engine.highlight(code, { language, ignoreIllegals: true }).value;
}

/** A run of code in one colour; `scope` is the class, empty for plain. */
export interface CodeRun {
  readonly text: string;
  readonly scope: string;
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** Returns the runs of one line of code, for components that lay out lines themselves. */
export function runs(line: string, language: string): readonly CodeRun[] {
  const html = highlight(line, language);
  if (html === null) return [{ text: line, scope: "" }];
  const out: CodeRun[] = [];
  const open: string[] = [];
  for (const part of html.split(/(<[^>]*>)/)) {
    if (part.startsWith("<span")) open.push(/class="([^"]*)"/.exec(part)?.[1] ?? "");
    else if (part === "</span>") open.pop();
    else if (part !== "") {
      const text = part.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity);
      out.push({ text, scope: open.at(-1) ?? "" });
    }
  }
  return out;
}

const byExtension: Record<string, string> = {
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  hpp: "cpp",
  cs: "csharp",
  css: "css",
  go: "go",
  html: "xml",
  htm: "xml",
  svg: "xml",
  xml: "xml",
  svelte: "xml",
  vue: "xml",
  java: "java",
  js: "javascript",
  cjs: "javascript",
  mjs: "javascript",
  jsx: "javascript",
  json: "json",
  kt: "kotlin",
  less: "less",
  lua: "lua",
  md: "markdown",
  php: "php",
  pl: "perl",
  py: "python",
  r: "r",
  rb: "ruby",
  rs: "rust",
  scss: "scss",
  sh: "bash",
  bash: "bash",
  zsh: "bash",
  sql: "sql",
  swift: "swift",
  toml: "ini",
  ini: "ini",
  ts: "typescript",
  mts: "typescript",
  tsx: "typescript",
  yaml: "yaml",
  yml: "yaml",
  diff: "diff",
  patch: "diff",
};

/** Returns the highlighter's name of a file's language; empty if unknown. */
export function languageOf(path: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return byExtension[extension] ?? (/(?:^|[\\/])makefile$/i.test(path) ? "makefile" : "");
}
