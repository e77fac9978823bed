/** A step in a page as words. Names and texts of pages stand in isolates and are cut. */
import type { BrowserView, PageElement } from "$lib/ipc/types";
import { type DeedPart, deedParts, isolated, oneLine, roleWord } from "$lib/state/browser";
import { type Tense, doing } from "$lib/state/step";
import { t } from "$lib/words/words.svelte";

/** The word of an element's kind. */
export function roleName(element: PageElement): string {
  return t(`role.${roleWord(element.role)}`);
}

/** An element by its kind and its name in the page. */
export function elementWords(element: PageElement): string {
  const name = oneLine(element.name);
  return `${roleName(element)} ${name === "" ? t("browser.unnamed") : isolated(name)}`;
}

/** What is said where a view names nothing it is done to. */
export function unnamedObject(view: BrowserView): string {
  if (view.deed === "type") return t("browser.focused");
  return view.deed === "wait" ? t("browser.the_page") : "";
}

/** The parts of a step, with what is said in the place of one that has no name. */
export function deedWords(view: BrowserView): readonly DeedPart[] {
  const parts = deedParts(view);
  const instead = unnamedObject(view);
  const named = parts.length > 0 && !(view.deed === "type" && view.target === null);
  return named || instead === "" ? parts : [{ type: "text", text: instead }, ...parts];
}

/** What a step is done to, as one text: for a tooltip and what is spoken. */
export function deedObject(view: BrowserView): string {
  return deedWords(view)
    .map((part) => (part.type === "element" ? elementWords(part.element) : isolated(part.text)))
    .join(t("list.comma"));
}

/** A whole step as one text. */
export function deedLine(view: BrowserView, tense: Tense): string {
  const verb = t(`step.${doing({ type: "browser", ...view })}.${tense}`);
  const object = deedObject(view);
  return object === "" ? verb : `${verb} ${object}`;
}
