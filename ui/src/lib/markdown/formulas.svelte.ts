/** TeX formulas as sanitised HTML, set by a typesetter that is loaded with the first one. */
import DOMPurify from "dompurify";
import type { FormulaKind } from "./math";
import type Katex from "katex";

/** The length limit, in UTF-16 units; longer TeX stays as written. */
const LONGEST = 10_000;
/** The largest size a formula may request, in em, so that none covers the window. */
const LARGEST = 30;
/** The number of typeset formulas kept. Streaming text shows the same ones repeatedly. */
const KEPT = 500;

let engine = $state.raw<typeof Katex | null>(null);
let requested = false;
// eslint-disable-next-line svelte/prefer-svelte-reactivity -- the engine is reactive
const set = new Map<string, string | null>();

function loadTypesetter(): void {
  if (requested) return;
  requested = true;
  void import("./katex").then(
    (module) => (engine = module.default),
    // Without the engine TeX stays as written.
    () => undefined,
  );
}

/** Returns the typesetter once loaded; reading it makes the reader reactive to its arrival. */
export function typesetter(): typeof Katex | null {
  return engine;
}

/**
 * Returns a formula as HTML; null if it cannot be set, or not yet. It needs positions and sizes in style attributes,
 * which no other HTML of an answer may have, so it is sanitised separately.
 */
export function formula(tex: string, kind: FormulaKind): string | null {
  if (!engine) loadTypesetter();
  if (!engine || tex.length > LONGEST) return null;
  const key = `${kind} ${tex}`;
  const ready = set.get(key);
  if (ready !== undefined) return ready;
  const html = typeset(engine, tex, kind);
  if (set.size >= KEPT) set.clear();
  set.set(key, html);
  return html;
}

function typeset(katex: typeof Katex, tex: string, kind: FormulaKind): string | null {
  try {
    const raw = katex.renderToString(tex, {
      displayMode: kind === "display",
      // Commands that would fetch, link or name elements are shown as their name.
      trust: false,
      strict: "ignore",
      throwOnError: true,
      maxSize: LARGEST,
      errorColor: "currentColor",
    });
    return DOMPurify.sanitize(raw, purify);
  } catch {
    return null;
  }
}

const purify = {
  ALLOWED_TAGS: (
    "span svg path line math semantics annotation mrow mi mn mo ms mtext mspace msup msub msubsup mfrac msqrt mroot " +
    "mover munder munderover mtable mtr mtd menclose mstyle mpadded mphantom"
  ).split(" "),
  ALLOWED_ATTR: (
    "class style aria-hidden xmlns width height viewBox preserveAspectRatio d x1 x2 y1 y2 stroke-width display encoding " +
    "accent accentunder columnalign columnlines columnspacing depth displaystyle fence form height linethickness lspace " +
    "mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace " +
    "scriptlevel separator stretchy symmetric voffset"
  ).split(" "),
  ALLOW_DATA_ATTR: false,
};
