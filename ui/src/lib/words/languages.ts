/** The languages there are words for, in one list: a further one is an entry here, and its files in `words/`. */
import type { Language } from "$lib/ipc/types";

/** What is known of a language. */
interface Known {
  /** Its name in itself, which whoever speaks it finds whatever is spoken. */
  readonly name: string;
  /** What the page is marked with. */
  readonly page: string;
  /** Whose way of writing dates is used. */
  readonly dates: string;
  /** Reads its words; null for those that are there from the start. */
  readonly read: (() => Promise<{ readonly default: Readonly<Record<string, string>> }>) | null;
}

/** A language there are words for. */
export type Spoken = Exclude<Language, "system">;

const known: Readonly<Record<Spoken, Known>> = {
  en: { name: "English", page: "en", dates: "en-GB", read: null },
  zh: { name: "中文", page: "zh-CN", dates: "zh-CN", read: () => import("./chinese") },
};

/** All of them, as they are offered. */
export const languages = Object.entries(known).map(([code, { name }]) => ({ code: code as Spoken, name }));

/** What is known of a language. */
export function languageOf(code: Spoken): Known {
  return known[code];
}

/** The one a system that says this of its language is best spoken to in; English where there is none of its own. */
export function languageLike(system: string): Spoken {
  return languages.find(({ code }) => system.toLowerCase().startsWith(code))?.code ?? "en";
}
