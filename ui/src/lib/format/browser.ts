/** A browser step as text. Names and texts of pages are bidi-isolated and truncated. */
import type { BrowserView, PageElement } from "$lib/ipc/types";
import { type ObjectPart, objectParts, isolated, oneLine, roleWord } from "$lib/state/browser";
import { type Tense, actionOf } from "$lib/state/step";
import { t } from "$lib/words/words.svelte";

/** Returns the word for an element's role. */
export function roleName(element: PageElement): string {
  return t(`role.${roleWord(element.role)}`);
}

/** Describes an element by its role and its name in the page. */
export function elementWords(element: PageElement): string {
  const name = oneLine(element.name);
  return `${roleName(element)} ${name === "" ? t("browser.unnamed") : isolated(name)}`;
}

/** Returns the words for a step that names no object. */
export function unnamedObject(view: BrowserView): string {
  if (view.deed === "type") return t("browser.focused");
  return view.deed === "wait" ? t("browser.the_page") : "";
}

/** Returns the parts of a step; parts without a name are replaced by words. */
export function stepWords(view: BrowserView): readonly ObjectPart[] {
  const parts = objectParts(view);
  const instead = unnamedObject(view);
  const showsObject = parts.length > 0 && !(view.deed === "type" && view.target === null);
  return showsObject || instead === "" ? parts : [{ type: "text", text: instead }, ...parts];
}

/** Returns the object of a step as one text, for a tooltip and for speech. */
export function stepObject(view: BrowserView): string {
  return stepWords(view)
    .map((part) => (part.type === "element" ? elementWords(part.element) : isolated(part.text)))
    .join(t("list.comma"));
}

/** Returns a whole step as one text. */
export function stepText(view: BrowserView, tense: Tense): string {
  const verb = t(`step.${actionOf({ type: "browser", ...view })}.${tense}`);
  const object = stepObject(view);
  return object === "" ? verb : `${verb} ${object}`;
}
