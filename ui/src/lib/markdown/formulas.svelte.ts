/** Formulas of TeX as sanitised HTML, by a typesetter that is loaded when the first one is shown. */
import DOMPurify from "dompurify";
import type { FormulaKind } from "./math";
import type Katex from "katex";

/** Longer TeX stays as it is written, in UTF-16 units. */
const LONGEST = 10_000;
/** The largest size a formula may ask for, in em: none covers the window. */
const LARGEST = 30;
/** How many formulas are kept as they were set. A text that streams shows the same ones again and again. */
const KEPT = 500;

let engine = $state.raw<typeof Katex | null>(null);
let asked = false;
// Not reactive: the engine is.
// eslint-disable-next-line svelte/prefer-svelte-reactivity
const set = new Map<string, string | null>();

function want(): void {
  if (asked) return;
  asked = true;
  void import("./katex").then(
    (module) => (engine = module.default),
    // Without it TeX stays as it is written.
    () => undefined,
  );
}

/** The typesetter, once it is there; reading this makes the reader follow its arrival. */
export function typesetter(): typeof Katex | null {
  return engine;
}

/**
 * A formula as HTML; null where it cannot be set, or not yet. It has places and sizes in attributes of style, which no
 * other HTML of an answer may have, so it is sanitised by itself.
 */
export function formula(tex: string, kind: FormulaKind): string | null {
  if (!engine) want();
  if (!engine || tex.length > LONGEST) return null;
  const key = `${kind} ${tex}`;
  const known = set.get(key);
  if (known !== undefined) return known;
  const html = typeset(engine, tex, kind);
  if (set.size >= KEPT) set.clear();
  set.set(key, html);
  return html;
}

function typeset(katex: typeof Katex, tex: string, kind: FormulaKind): string | null {
  try {
    const raw = katex.renderToString(tex, {
      displayMode: kind === "display",
      // What would fetch, link or name elements is shown as its name.
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
