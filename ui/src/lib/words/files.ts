/** Reads the files of words. Loaded with the first view that needs one, so that no file weighs on the start. */
import type { LanguageCode } from "./languages";
import type { WordFile } from "./catalogue";
import type { Catalogue } from "./words.svelte";

const read = import.meta.glob<Catalogue>(
  ["@words/*/*.json", "!@words/*/chats.json", "!@words/*/native.json", "!@words/en/start.json"],
  { import: "default" },
);
const byName = new Map(Object.entries(read).map(([path, words]) => [path.split("/").slice(-2).join("/"), words]));

/** The names of all files. */
export const files = [...byName.keys()]
  .filter((name) => name.startsWith("zh/"))
  .map((name) => name.slice("zh/".length, -".json".length) as WordFile | "start");

/** Returns the words of a file. */
export async function readFile(code: LanguageCode, file: WordFile | "start"): Promise<Catalogue> {
  return (await byName.get(`${code}/${file}.json`)?.()) ?? {};
}
