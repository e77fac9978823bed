/**
 * The displayed words, in the chosen language. Rust uses the same catalogue; its keys are typed from the English files,
 * so that a missing word does not compile.
 */
import enErrors from "@words/en/errors.json";
import enUi from "@words/en/ui.json";
import type { ApiError } from "$lib/ipc/types";
import { type Spoken, languageLike, languageOf } from "./languages";

/** A key of the catalogue. */
export type WordKey = keyof typeof enUi | keyof typeof enErrors;
/** Keys with a singular and a plural form. */
export type CountKey = { [K in WordKey]: K extends `${infer Base}.one` ? Base : never }[WordKey];
/** The values of placeholders. */
export type WordArgs = Record<string, string | number>;

/** The words of a language by key. */
type Catalogue = Readonly<Record<string, string>>;

const english: Catalogue = { ...enErrors, ...enUi };
// English is loaded from the start, as the fallback until another language has loaded.
const catalogues: Partial<Record<Spoken, Catalogue>> = { en: english };

let spoken = $state<Spoken>("en");
let wanted: Spoken = "en";

/** Returns the current language. */
export function language(): Spoken {
  return spoken;
}

/** Returns the system's language. */
export function systemLanguage(): Spoken {
  return languageLike(navigator.language);
}

/** Returns the words of a language by key, whichever is in use. */
export async function wordsOf(wanted: Spoken): Promise<Catalogue> {
  return (await languageOf(wanted).read?.())?.default ?? english;
}

/** Changes the language of the page at once; loads its words the first time. */
export async function speak(next: Spoken): Promise<void> {
  wanted = next;
  if (!catalogues[next]) {
    catalogues[next] = await wordsOf(next);
    // Another language was chosen in the meantime.
    if (wanted !== next) return;
  }
  spoken = next;
  document.documentElement.lang = languageOf(next).page;
}

function words(): Catalogue {
  return catalogues[spoken] ?? english;
}

/** The separator of list items from the core; each language replaces it with its own. */
const BETWEEN = "\u001f";

/** Replaces `{name}` placeholders; unknown ones stay. */
export function fill(template: string, args: WordArgs): string {
  const filled = template.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole));
  return filled.replaceAll(BETWEEN, words()["list.comma"] ?? ", ");
}

/** Returns the words for a key. */
export function t(key: WordKey, args: WordArgs = {}): string {
  return fill(words()[key] ?? key, args);
}

/** Returns the English words for a key, which also match searches. */
export function inEnglish(key: WordKey): string {
  return english[key] ?? key;
}

/** Returns the words for a number of things; `{n}` is the number formatted for the language. */
export function tn(key: CountKey, n: number, args: WordArgs = {}): string {
  const form = new Intl.PluralRules(spoken).select(n) === "one" ? "one" : "other";
  const written = new Intl.NumberFormat(spoken).format(n);
  return fill(words()[`${key}.${form}`] ?? key, { n: written, ...args });
}

/** Returns the words for a key from the core; null if the catalogue lacks it. */
export function lookUp(key: string, args: WordArgs = {}): string | null {
  const template = words()[key];
  return template === undefined ? null : fill(template, args);
}

/** Joins sentences with the language's separator, leaving out nulls. */
export function sentences(...said: readonly (string | null)[]): string {
  return said.filter((sentence) => sentence !== null && sentence !== "").join(t("list.sentence"));
}

/** Returns the message of an error. An unknown error says so and shows its key. */
export function explain(error: ApiError): string {
  return lookUp(`error.${error.key}`, error.args) ?? t("error.unknown", { key: error.key });
}

/** Returns only the first part of an error's message, without the consequences and the advice, for a single row. */
export function explainBriefly(error: ApiError): string {
  const text = explain(error);
  return /^.+?(?:\.(?=\s|$)|。)/.exec(text)?.[0] ?? text;
}
