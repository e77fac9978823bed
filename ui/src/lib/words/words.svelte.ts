/**
 * The words a person sees, in the chosen language. The catalogue is the one Rust uses too; its keys are typed
 * from the English files, so that a missing word does not compile.
 */
import enErrors from "@words/en/errors.json";
import enUi from "@words/en/ui.json";
import type { ApiError } from "$lib/ipc/types";
import { type Spoken, languageLike, languageOf } from "./languages";

/** A key of the catalogue. */
export type WordKey = keyof typeof enUi | keyof typeof enErrors;
/** Keys that come in a form for one and a form for more. */
export type CountKey = { [K in WordKey]: K extends `${infer Base}.one` ? Base : never }[WordKey];
/** What placeholders stand for. */
export type WordArgs = Record<string, string | number>;

/** The words of a language by their keys. */
type Catalogue = Readonly<Record<string, string>>;

const english: Catalogue = { ...enErrors, ...enUi };
// English is there from the start, as what there is until another language has come.
const catalogues: Partial<Record<Spoken, Catalogue>> = { en: english };

let spoken = $state<Spoken>("en");
let wanted: Spoken = "en";

/** The language in use. */
export function language(): Spoken {
  return spoken;
}

/** The language of this system. */
export function systemLanguage(): Spoken {
  return languageLike(navigator.language);
}

/** The words of a language by their keys, whichever is spoken. */
export async function wordsOf(wanted: Spoken): Promise<Catalogue> {
  return (await languageOf(wanted).read?.())?.default ?? english;
}

/** Changes the language of everything that is shown, at once; the first time its words are loaded. */
export async function speak(next: Spoken): Promise<void> {
  wanted = next;
  if (!catalogues[next]) {
    catalogues[next] = await wordsOf(next);
    // Meanwhile another one was chosen.
    if (wanted !== next) return;
  }
  spoken = next;
  document.documentElement.lang = languageOf(next).page;
}

function words(): Catalogue {
  return catalogues[spoken] ?? english;
}

/** Stands between the items of a list the core names: the reader's language has its own separator. */
const BETWEEN = "\u001f";

/** Fills `{name}` placeholders; unknown ones stay as they are. */
export function fill(template: string, args: WordArgs): string {
  const filled = template.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole));
  return filled.replaceAll(BETWEEN, words()["list.comma"] ?? ", ");
}

/** The words for a key. */
export function t(key: WordKey, args: WordArgs = {}): string {
  return fill(words()[key] ?? key, args);
}

/** The words for a key in English, by which it is found too. */
export function inEnglish(key: WordKey): string {
  return english[key] ?? key;
}

/** The words for a number of things, `{n}` being the number as it is written in the language. */
export function tn(key: CountKey, n: number, args: WordArgs = {}): string {
  const form = new Intl.PluralRules(spoken).select(n) === "one" ? "one" : "other";
  const written = new Intl.NumberFormat(spoken).format(n);
  return fill(words()[`${key}.${form}`] ?? key, { n: written, ...args });
}

/** The words for a key that comes from the core; null when the catalogue does not know it. */
export function lookUp(key: string, args: WordArgs = {}): string | null {
  const template = words()[key];
  return template === undefined ? null : fill(template, args);
}

/** Sentences one after the other, with between them what the language has there. What is not said is left out. */
export function sentences(...said: readonly (string | null)[]): string {
  return said.filter((sentence) => sentence !== null && sentence !== "").join(t("list.sentence"));
}

/** What an error says. An unknown one says so and shows its key. */
export function explain(error: ApiError): string {
  return lookUp(`error.${error.key}`, error.args) ?? t("error.unknown", { key: error.key });
}

/** What an error says happened, without what was kept and what to do: for a line that has room for no more. */
export function explainBriefly(error: ApiError): string {
  const text = explain(error);
  return /^.+?(?:\.(?=\s|$)|。)/.exec(text)?.[0] ?? text;
}
