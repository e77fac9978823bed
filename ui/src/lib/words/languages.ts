/** The languages with translations, in one list: a new one needs an entry here, and its files in `words/`. */
import type { Language } from "$lib/ipc/types";

/** The properties of a language. */
interface LanguageInfo {
  /** Its name in the language itself, so that its speakers recognise it in any setting. */
  readonly name: string;
  /** The page's `lang` attribute. */
  readonly page: string;
  /** The locale for dates. */
  readonly dates: string;
}

/** A language with translations. */
export type LanguageCode = Exclude<Language, "system">;

const languageInfos: Readonly<Record<LanguageCode, LanguageInfo>> = {
  en: { name: "English", page: "en", dates: "en-GB" },
  zh: { name: "中文", page: "zh-CN", dates: "zh-CN" },
};

/** All languages, in display order. */
export const languages = Object.entries(languageInfos).map(([code, { name }]) => ({
  code: code as LanguageCode,
  name,
}));

/** Returns the properties of a language. */
export function languageOf(code: LanguageCode): LanguageInfo {
  return languageInfos[code];
}

/** Returns the best language for a system language tag; English if there is no match. */
export function matchLanguage(system: string): LanguageCode {
  return languages.find(({ code }) => system.toLowerCase().startsWith(code))?.code ?? "en";
}
