/** The languages with translations, in one list: a new one needs an entry here, and its files in `words/`. */
import type { Language } from "$lib/ipc/types";

/** The properties of a language. */
interface Known {
  /** Its name in the language itself, so that its speakers recognise it in any setting. */
  readonly name: string;
  /** The page's `lang` attribute. */
  readonly page: string;
  /** The locale for dates. */
  readonly dates: string;
  /** Loads its words; null for those loaded at start. */
  readonly read: (() => Promise<{ readonly default: Readonly<Record<string, string>> }>) | null;
}

/** A language with translations. */
export type Spoken = Exclude<Language, "system">;

const known: Readonly<Record<Spoken, Known>> = {
  en: { name: "English", page: "en", dates: "en-GB", read: null },
  zh: { name: "中文", page: "zh-CN", dates: "zh-CN", read: () => import("./chinese") },
};

/** All languages, in display order. */
export const languages = Object.entries(known).map(([code, { name }]) => ({ code: code as Spoken, name }));

/** Returns the properties of a language. */
export function languageOf(code: Spoken): Known {
  return known[code];
}

/** Returns the best language for a system language tag; English if there is no match. */
export function languageLike(system: string): Spoken {
  return languages.find(({ code }) => system.toLowerCase().startsWith(code))?.code ?? "en";
}
