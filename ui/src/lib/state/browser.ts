/** The person's browser: whether Octo is attached, and how its work in pages is described. Pure. */
import type { BrowserActionKind, BrowserState, BrowserView, CallView, PageElement, PageMark } from "$lib/ipc/types";
import { wholeState } from "./whole-state";
import type { SessionState } from "./session";

/** Applies an update of the subscription. */
export const apply = wholeState<BrowserState>((update) => {
  if (update.type === "browser") return update.state;
  return update.type === "snapshot" && update.snapshot.topic === "browser" ? update.snapshot.state : null;
});

/** Returns whether data sent to a site is encrypted. A page without a site sends nothing. */
export function encrypted(site: string): boolean {
  return site === "" || /^(?:https:\/\/|about:)/i.test(site);
}

/** A part of a step's object: an element of the page, or text that is typed, chosen or opened. */
export type ObjectPart = { type: "element"; element: PageElement } | { type: "text"; text: string };

/** The fields of a view that name a step's object, in the order of mention. */
type ObjectPartKind = "element" | "text" | "place";
const order: Record<BrowserActionKind, readonly ObjectPartKind[]> = {
  look: [],
  open: ["text"],
  tab: ["place"],
  read: ["element"],
  picture: ["element"],
  click: ["element"],
  type: ["element", "text"],
  press: ["text", "element"],
  select: ["text", "element"],
  move: ["element", "text"],
  upload: ["text", "element"],
  dialog: ["text"],
  wait: ["text", "element"],
  script: ["text"],
};
/** Actions on a page: the page is named if nothing else is. */
const ofPage: ReadonlySet<BrowserActionKind> = new Set([
  "open",
  "tab",
  "read",
  "picture",
  "click",
  "move",
  "upload",
  "wait",
]);

/** Returns the parts of a step's object, in the order after its verb. */
export function objectParts(view: BrowserView): readonly ObjectPart[] {
  const title = oneLine(view.title ?? "") || (view.site ?? "");
  const parts = order[view.deed].flatMap((part): ObjectPart[] => {
    if (part === "element") return view.target ? [{ type: "element", element: view.target }] : [];
    const text = part === "place" ? title : oneLine(view.text ?? "");
    return text === "" ? [] : [{ type: "text", text }];
  });
  return parts.length === 0 && title !== "" && ofPage.has(view.deed) ? [{ type: "text", text: title }] : parts;
}

/** The longest page text within a line, in characters. */
const LONGEST = 80;

/** Returns untrusted text for a line: without line breaks, truncated. */
export function oneLine(text: string): string {
  const words = text.replace(/\s+/gu, " ").trim();
  const characters = [...words];
  return characters.length <= LONGEST ? words : `${characters.slice(0, LONGEST - 1).join("")}…`;
}

/**
 * Isolates untrusted text within a sentence, so that its direction ends with it (with Unicode's isolates, like `<bdi>`
 * in markup).
 */
export function isolated(text: string): string {
  return `\u2068${oneLine(text)}\u2069`;
}

/** Roles with a word of their own; any other is an "element". */
const roles = {
  button: "button",
  link: "link",
  textbox: "textbox",
  searchbox: "searchbox",
  checkbox: "checkbox",
  menuitemcheckbox: "checkbox",
  radio: "radio",
  menuitemradio: "radio",
  combobox: "list",
  listbox: "list",
  option: "option",
  menuitem: "menuitem",
  menu: "menu",
  tab: "tab",
  switch: "switch",
  slider: "slider",
  spinbutton: "spinbutton",
  image: "image",
  img: "image",
  heading: "heading",
  row: "row",
  cell: "cell",
  gridcell: "cell",
  listitem: "option",
  treeitem: "option",
  dialog: "dialog",
  alertdialog: "dialog",
  form: "form",
  iframe: "frame",
} as const;
/** The words for roles. */
export type RoleWord = (typeof roles)[keyof typeof roles] | "other";

/** Returns the word for an element's role. */
export function roleWord(role: string): RoleWord {
  const name = role.toLowerCase();
  return Object.hasOwn(roles, name) ? roles[name as keyof typeof roles] : "other";
}

/** A browser call, for the list next to the page's picture. */
export interface PageStep {
  readonly id: string;
  readonly view: BrowserView;
  readonly phase: "done" | "now" | "next" | "asks" | "failed" | "dropped";
  /** Its duration, in milliseconds; null until it ended. */
  readonly milliseconds: number | null;
}

function phase(call: CallView): PageStep["phase"] {
  switch (call.state.type) {
    case "ended":
      if (call.state.status === "done") return "done";
      return call.state.status === "failed" || call.state.status === "interrupted" ? "failed" : "dropped";
    case "asking":
      return "asks";
    case "planned":
      return "next";
    case "started":
      return "now";
    default:
      return call.state satisfies never;
  }
}

/** Returns the calls of the newest turn in pages, oldest first. */
export function pageSteps({ turns, calls }: Pick<SessionState, "turns" | "calls">): readonly PageStep[] {
  const turn = turns.at(-1)?.id;
  return [...calls.values()].flatMap((call) => {
    if (call.turn !== turn || call.view?.type !== "browser") return [];
    const milliseconds = call.state.type === "ended" ? call.state.duration_ms : null;
    return [{ id: call.id, view: call.view, phase: phase(call), milliseconds }];
  });
}

/**
 * Returns whether a session's newest turn works in pages, or tried to: a turn that reached no page has nothing to show.
 */
export function worksInPages({ turns, calls, page }: Pick<SessionState, "turns" | "calls" | "page">): boolean {
  const turn = turns.at(-1)?.id;
  return page !== null || [...calls.values()].some((call) => call.turn === turn && call.tool === "browser");
}

/** Returns a mark that lies within the picture; null otherwise. */
export function visibleMark({ x, y, width, height }: PageMark): PageMark | null {
  if (![x, y, width, height].every(Number.isFinite)) return null;
  const leftEdge = Math.min(1, Math.max(0, x));
  const top = Math.min(1, Math.max(0, y));
  const right = Math.min(1, Math.max(0, x + width));
  const bottom = Math.min(1, Math.max(0, y + height));
  if (right <= leftEdge || bottom <= top) return null;
  return { x: leftEdge, y: top, width: right - leftEdge, height: bottom - top };
}
