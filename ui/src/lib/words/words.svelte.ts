/**
 * The displayed words, in the chosen language. Rust uses the same catalogue; its keys are typed from the English files,
 * so that a missing word does not compile. The start has only the words of `start.json`: a view that loads later brings
 * its own (see {@link withWords}).
 */
import start from "@words/en/start.json";
import type { ApiError } from "$lib/ipc/types";
import { type LanguageCode, languageOf, matchLanguage } from "./languages";
import type { WordFile, WordKey } from "./catalogue";

export type { WordKey } from "./catalogue";
/** Keys with a singular and a plural form. */
export type CountKey = { [K in WordKey]: K extends `${infer Base}.one` ? Base : never }[WordKey];
/** The values of placeholders. */
export type WordArgs = Record<string, string | number>;

/** The words of a language by key. */
export type Catalogue = Readonly<Record<string, string>>;

// English is also the fallback of other languages.
const catalogues: Record<LanguageCode, Record<string, string>> = { en: { ...start }, zh: {} };
/** The files that views have needed so far; a change of language loads them all. */
let needed: readonly (WordFile | "start")[] = ["start"];
/** The files being loaded or loaded, by language and name. */
const loads: Record<string, Promise<void> | undefined> = { "en/start": Promise.resolve() };

let current = $state<LanguageCode>("en");
let requestedLanguage: LanguageCode = "en";

/** Returns the current language. */
export function language(): LanguageCode {
  return current;
}

/** Returns the system's language. */
export function systemLanguage(): LanguageCode {
  return matchLanguage(navigator.language);
}

/** Adds words to a language. */
export function addWords(code: LanguageCode, words: Catalogue): void {
  Object.assign(catalogues[code], words);
}

function load(code: LanguageCode, file: WordFile | "start"): Promise<void> {
  const id = `${code}/${file}`;
  const load = loads[id];
  if (load) return load;
  // The table of all files is not part of the startup bundle.
  const loading = import("./files").then(({ readFile }) => readFile(code, file)).then((words) => addWords(code, words));
  loads[id] = loading;
  // A failed load is tried again by the next view.
  loading.catch(() => (loads[id] = undefined));
  return loading;
}

async function loadNeeded(): Promise<void> {
  let code;
  do {
    code = requestedLanguage;
    await Promise.all(needed.flatMap((file) => [load("en", file), load(requestedLanguage, file)]));
    // Another language may have been chosen in the meantime.
  } while (code !== requestedLanguage);
}

/** Loads files of words, in English and in the current language. */
export async function loadWords(...files: readonly WordFile[]): Promise<void> {
  needed = [...needed, ...files.filter((file) => !needed.includes(file))];
  await loadNeeded();
}

/** Returns a view that is being loaded once the words it displays are loaded too. */
export async function withWords<View>(view: Promise<View>, ...files: readonly WordFile[]): Promise<View> {
  const [loaded] = await Promise.all([view, loadWords(...files)]);
  return loaded;
}

/** Returns all words of a language by key, whichever is in use. */
export async function wordsOf(code: LanguageCode): Promise<Catalogue> {
  const { files } = await import("./files");
  await Promise.all(files.map((file) => load(code, file)));
  return catalogues[code];
}

/** Changes the language of the page; loads its words the first time. If they cannot be loaded, the language stays. */
export async function setLanguage(next: LanguageCode): Promise<void> {
  requestedLanguage = next;
  try {
    await loadNeeded();
  } catch (error) {
    if (requestedLanguage === next) requestedLanguage = current;
    throw error;
  }
  // Another language was chosen in the meantime.
  if (requestedLanguage !== next) return;
  current = next;
  document.documentElement.lang = languageOf(next).page;
}

function template(key: string): string | undefined {
  return catalogues[current][key] ?? catalogues.en[key];
}

/** The separator of list items from the core; each language replaces it with its own. */
const BETWEEN = "\u001f";

/** Replaces `{name}` placeholders; unknown ones stay. */
export function fill(text: string, args: WordArgs): string {
  const filled = text.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole));
  return filled.replaceAll(BETWEEN, template("list.comma") ?? ", ");
}

/** Returns the words for a key. */
export function t(key: WordKey, args: WordArgs = {}): string {
  return fill(template(key) ?? key, args);
}

/** Returns the English words for a key, which also match searches. */
export function inEnglish(key: WordKey): string {
  return catalogues.en[key] ?? key;
}

/** Returns the words for a number of things; `{n}` is the number formatted for the language. */
export function tn(key: CountKey, n: number, args: WordArgs = {}): string {
  const form = new Intl.PluralRules(current).select(n) === "one" ? "one" : "other";
  const number = new Intl.NumberFormat(current).format(n);
  return fill(template(`${key}.${form}`) ?? key, { n: number, ...args });
}

/** Returns the words for a key from the core; null if the catalogue lacks it. */
export function lookUp(key: string, args: WordArgs = {}): string | null {
  const text = template(key);
  return text === undefined ? null : fill(text, args);
}

/** Joins sentences with the language's separator, leaving out nulls. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((sentence) => sentence !== null && sentence !== "").join(t("list.sentence"));
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
