/** All settings and their pages: the index of the settings search. Pure. */
import { type SettingsPage, settingsPages } from "$lib/app/settings-pages";
import type { WordKey } from "$lib/words/words.svelte";

/** A row, a section or a page of settings. */
export interface SettingsEntry {
  readonly page: SettingsPage;
  /** Its title, as displayed on its page. */
  readonly title: WordKey;
  /** Further words that match. */
  readonly also: readonly WordKey[];
}

/** All entries, in the order of the pages. */
export const settingsIndex: readonly SettingsEntry[] = settingsPages.flatMap(({ id, title, also = [], rows }) => [
  { page: id, title, also },
  ...rows.map(([row, ...more]) => ({ page: id, title: row, also: more })),
]);

/** The words of a language by key. */
export type Words = Readonly<Record<string, string>>;

/**
 * Returns the entries that contain all words of a query, in any of the languages: matching titles first, then in the
 * order of the pages. Empty for an empty query.
 */
export function findSettings(query: string, languages: readonly Words[]): readonly SettingsEntry[] {
  const searchParts = query
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== "");
  if (searchParts.length === 0) return [];
  const includes = (text: string): boolean => searchParts.every((part) => text.includes(part));
  const text = (keys: readonly WordKey[]): string =>
    languages
      .flatMap((words) => keys.map((key) => words[key] ?? ""))
      .join("\n")
      .toLowerCase();
  const titled = settingsIndex.filter(({ title }) => includes(text([title])));
  const rest = settingsIndex.filter((entry) => !titled.includes(entry) && includes(text([entry.title, ...entry.also])));
  return [...titled, ...rest];
}
