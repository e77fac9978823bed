import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../..");
const WORDS = join(SRC, "../../words/en");

/** The file of each key; plural keys also without their form suffix. */
const fileOf = new Map<string, string>();
for (const name of readdirSync(WORDS))
  for (const key of Object.keys(JSON.parse(readFileSync(join(WORDS, name), "utf8")) as object)) {
    fileOf.set(key, name.slice(0, -".json".length));
    fileOf.set(key.replace(/\.(?:one|other)$/, ""), name.slice(0, -".json".length));
  }
const keys = [...fileOf.keys()].filter((key) => !key.startsWith("error."));

/** Returns the module an import names; null for packages, styles and data. */
function resolved(name: string, from: string): string | null {
  const path = /^\$(?:lib|components)\//.test(name)
    ? join(SRC, name.slice(1))
    : name.startsWith(".")
      ? join(dirname(from), name)
      : null;
  const match =
    path &&
    [path, `${path}.ts`, join(path, "index.ts")].find((file) => /\.(svelte|ts)$/.test(file) && existsSync(file));
  return match || null;
}

/** Modules whose words come with another view, and why. */
const BROUGHT: Readonly<Record<string, string>> = {
  "lib/app/settings-pages.ts": "the search loads all words, and what displays titles brings those of the settings",
  "components/settings/ProposedSetting.svelte": "displayed with the page of the setting",
};

interface Module {
  readonly imports: readonly string[];
  /** The files whose words it names. */
  readonly files: ReadonlyMap<string, string>;
  /** What it loads later, and the words it loads with it. */
  readonly views: readonly { readonly view: string; readonly brings: readonly string[] }[];
}

const modules = new Map<string, Module>();

function read(path: string): Module {
  const cached = modules.get(path);
  if (cached) return cached;
  const text = readFileSync(path, "utf8");
  const imports = [...text.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)];
  const files = new Map<string, string>();
  for (const [, literal = ""] of text.matchAll(/["'`]([\w.-]+)["'`]/g)) {
    const file = fileOf.get(literal);
    if (file !== undefined) files.set(file, literal);
  }
  // A placeholder replaces exactly one part of a key.
  for (const [, template = ""] of text.matchAll(/`([\w.-]*\.[\w.-]*\$\{[^`]*)`/g)) {
    const parts = template.split(/\$\{[^}]*\}/);
    if (!parts.every((part) => /^[\w.-]*$/.test(part))) continue;
    const pattern = new RegExp(`^${parts.map((part) => part.replaceAll(".", "\\.")).join("[^.]+")}$`);
    for (const key of keys) if (pattern.test(key)) files.set(fileOf.get(key) ?? "", key);
  }
  const views = [...text.matchAll(/(withWords\(\s*)?import\(\s*"([^"]+)"\s*\)((?:,\s*"[\w-]+")*)/g)].flatMap(
    ([, wrapped, name = "", brought = ""]) => {
      const view = resolved(name, path);
      const brings = wrapped ? [...brought.matchAll(/"([\w-]+)"/g)].map(([, file = ""]) => file) : [];
      return view === null || /[\\/](?:ipc|words)[\\/]/.test(view) ? [] : [{ view, brings }];
    },
  );
  const module = { imports: imports.flatMap(([, name = ""]) => resolved(name, path) ?? []), files, views };
  modules.set(path, module);
  return module;
}

/** Returns a module and everything it imports statically. */
function closure(path: string): ReadonlySet<string> {
  const visited = new Set([path]);
  for (const next of visited) for (const imported of read(next).imports) visited.add(imported);
  return visited;
}

/** Returns the words a module displays that are in none of these files: the module, the key and its file. */
function missing(path: string, files: readonly string[]): string[] {
  const parts = [...closure(path)].filter((part) => !(relative(SRC, part).replaceAll("\\", "/") in BROUGHT));
  return parts.flatMap((part) =>
    [...read(part).files]
      // Errors are loaded while the page opens.
      .filter(([file]) => ![...files, "start", "errors", "chats", "native"].includes(file))
      .map(([file, key]) => `${relative(SRC, part)}: ${key} of ${file}.json`),
  );
}

/** Returns every view that loads later, by the module that loads it. */
function views(): { from: string; view: string; brings: readonly string[] }[] {
  const reached = new Set([join(SRC, "main.ts")]);
  const missing = new Map<string, { from: string; view: string; brings: readonly string[] }>();
  for (const entry of reached)
    for (const from of closure(entry))
      for (const { view, brings } of read(from).views) {
        reached.add(view);
        missing.set(`${from} ${view}`, { from: relative(SRC, from), view, brings });
      }
  return [...missing.values()];
}

describe("the words of a view", () => {
  it("shown at startup are loaded at startup", () => {
    expect(missing(join(SRC, "main.ts"), [])).toEqual([]);
  });

  it.each(views().map((view) => [relative(SRC, view.view), view.from, view] as const))(
    "come with %s into %s",
    (_view, _from, { view, brings }) => {
      expect(missing(view, brings)).toEqual([]);
      // None of them is brought for nothing.
      const used = new Set([...closure(view)].flatMap((part) => [...read(part).files.keys()]));
      expect(brings.filter((file) => !used.has(file) && file !== "errors")).toEqual([]);
    },
  );

  it("are checked: missing words of a view are found", () => {
    expect(views().length).toBeGreaterThan(20);
    expect(missing(join(SRC, "components/tasks/TasksView.svelte"), ["shared"]).length).toBeGreaterThan(5);
  });
});
