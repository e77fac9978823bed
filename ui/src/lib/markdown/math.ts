/**
 * Where a Markdown text holds mathematics: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. What is found is left as marked TeX, to be
 * set elsewhere; prices, variables of a shell and code are no mathematics.
 */
import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

/** How a formula stands: within a line, or on lines of its own. */
export type FormulaKind = "inline" | "display";

/** The signs around formulas. A dollar of its own comes last: two of them begin another kind. */
const SIGNS = [
  { open: "$$", close: "$$", kind: "display" },
  { open: "\\[", close: "\\]", kind: "display" },
  { open: "\\(", close: "\\)", kind: "inline" },
  { open: "$", close: "$", kind: "inline" },
] as const;

/** Where `close` is from `at` on, before `end`; what a backslash stands before is no sign. -1 where it is not. */
function closing(text: string, close: string, at: number, end: number): number {
  for (let place = at; place + close.length <= end; place += 1) {
    if (text.startsWith(close, place)) return place;
    if (text[place] === "\\") place += 1;
  }
  return -1;
}

/** Whether what is between the signs may be TeX: `\[see below\]` and `$5 per month` are words. */
function isTex(text: string): boolean {
  const tex = text.trim();
  return tex !== "" && !tex.includes("`") && !/^[A-Za-z]{2,}(?:\s+[A-Za-z]+)*[.,:;!?]?$/.test(tex);
}

/** Whether a dollar before and one after `tex` are the signs of a formula, by what stands around and within them. */
function isOfDollars(before: string, tex: string, after: string): boolean {
  if (/[\w$\\=/&?#%@.]/.test(before) || /[\w$]/.test(after)) return false;
  // A word may be the name of something here; a number with words behind it is a price.
  return tex !== "" && !/^\s|\s$|[\n`]/.test(tex) && !/^\d[\d.,]*\s+(?:[A-Za-z]\s+)?[A-Za-z]{2,}/.test(tex);
}

/** Which signs are not closed any more in a text that is being read, and up to where that is known. */
const unclosed = new WeakMap<StateInline, Map<string, number>>();

function inlineRule(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const sign = SIGNS.find(({ open }) => src.startsWith(open, pos));
  if (!sign) return false;
  const known = unclosed.get(state) ?? new Map<string, number>();
  if (known.get(sign.open) === posMax) return false;
  const from = pos + sign.open.length;
  const end = closing(src, sign.close, from, posMax);
  if (end < 0) {
    unclosed.set(state, known.set(sign.open, posMax));
    return false;
  }
  const tex = src.slice(from, end);
  const to = end + sign.close.length;
  const found = sign.open === "$" ? isOfDollars(src[pos - 1] ?? "", tex, src[to] ?? "") : isTex(tex);
  if (!found) return false;
  if (!silent) {
    const token = state.push("formula", "", 0);
    token.content = tex.trim();
    token.info = sign.kind;
  }
  state.pos = to;
  return true;
}

function blockRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const begin = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const sign = SIGNS.find(({ open, kind }) => kind === "display" && state.src.startsWith(open, begin));
  if (!sign) return false;
  for (let line = startLine; line < endLine; line += 1) {
    const first = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    const last = state.eMarks[line] ?? first;
    if (line > startLine && (first >= last || (state.sCount[line] ?? 0) < state.blkIndent)) return false;
    const from = line === startLine ? begin + sign.open.length : first;
    const end = closing(state.src, sign.close, from, last);
    if (end < 0) continue;
    // More stands behind it: a formula in the midst of a paragraph.
    if (state.src.slice(end + sign.close.length, last).trim() !== "") return false;
    const lines = state.getLines(startLine, line + 1, state.blkIndent, false).trim();
    const tex = lines.slice(sign.open.length, -sign.close.length).trim();
    if (!isTex(tex)) return false;
    if (silent) return true;
    push(state, "formula_block", tex, startLine, line + 1);
    return true;
  }
  // The text ends in it: more may be to come, which is none of the things it looks like meanwhile.
  if (silent) return true;
  push(state, "formula_open", state.getLines(startLine, endLine, state.blkIndent, false).trim(), startLine, endLine);
  return true;
}

function push(state: StateBlock, type: string, content: string, from: number, to: number): void {
  const token = state.push(type, "", 0);
  token.content = content;
  token.block = true;
  token.map = [from, to];
  state.line = to;
}

/** Teaches a parser to find formulas. They come out as `span[data-math]` with the TeX as their text. */
export function findFormulas(engine: MarkdownIt): void {
  const escape = engine.utils.escapeHtml;
  const span = (tex: string, kind: FormulaKind) => `<span data-math="${kind}">${escape(tex)}</span>`;
  engine.inline.ruler.before("escape", "formula", inlineRule);
  engine.block.ruler.before("fence", "formula", blockRule, { alt: ["paragraph", "reference", "blockquote", "list"] });
  engine.renderer.rules["formula"] = (tokens, at) =>
    span(tokens[at]?.content ?? "", tokens[at]?.info === "display" ? "display" : "inline");
  // A wide one scrolls by keyboard too.
  engine.renderer.rules["formula_block"] = (tokens, at) =>
    `<div class="table-scroll" tabindex="0">${span(tokens[at]?.content ?? "", "display")}</div>\n`;
  engine.renderer.rules["formula_open"] = (tokens, at) => `<p><code>${escape(tokens[at]?.content ?? "")}</code></p>\n`;
}

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": "\u00a0" };

/** Sets the formulas of sanitised HTML; what cannot be set, or not yet, is shown as it was written. */
export function setFormulas(html: string, set: (tex: string, kind: FormulaKind) => string | null): string {
  if (!html.includes("data-math")) return html;
  return html.replace(/<span data-math="(inline|display)">([^<]*)<\/span>/g, (_, kind: FormulaKind, text: string) => {
    const tex = text.replace(/&(?:amp|lt|gt|nbsp);/g, (entity) => entities[entity] ?? entity);
    return set(tex, kind) ?? `<code>${text}</code>`;
  });
}
