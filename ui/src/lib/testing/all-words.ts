/** Gives a test file all words of both languages, which a view under test finds as if it had loaded them. */
import { addWords } from "$lib/words/words.svelte";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

for (const code of ["en", "zh"] as const) {
  const folder = join(import.meta.dirname, "../../../../words", code);
  for (const name of readdirSync(folder))
    addWords(code, JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, string>);
}
