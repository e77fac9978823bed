/**
 * Finds mathematics in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. Formulas are left as marked TeX, to be typeset
 * elsewhere; prices, shell variables and code are not mathematics.
 */
import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

/** The layout of a formula: within a line, or on its own lines. */
export type FormulaKind = "inline" | "display";

/** The delimiters of formulas. A single dollar is last, because two dollars start another kind. */
const SIGNS = [
  { open: "$$", close: "$$", kind: "display" },
  { open: "\\[", close: "\\]", kind: "display" },
  { open: "\\(", close: "\\)", kind: "inline" },
  { open: "$", close: "$", kind: "inline" },
] as const;

/** Returns the index of `close` between `start` and `end`, skipping backslash escapes; -1 if missing. */
function closing(text: string, close: string, start: number, end: number): number {
  for (let index = start; index + close.length <= end; index += 1) {
    if (text.startsWith(close, index)) return index;
    if (text[index] === "\\") index += 1;
  }
  return -1;
}

/** Returns whether delimited text may be TeX: `\[see below\]` and `$5 per month` are words. */
function isTex(text: string): boolean {
  const tex = text.trim();
  return tex !== "" && !tex.includes("`") && !/^[A-Za-z]{2,}(?:\s+[A-Za-z]+)*[.,:;!?]?$/.test(tex);
}

/** Returns whether the dollars before and after `tex` delimit a formula, judged by the text around and between them. */
function isOfDollars(before: string, tex: string, after: string): boolean {
  if (/[\w$\\=/&?#%@.]/.test(before) || /[\w$]/.test(after)) return false;
  // A single word may be a variable name; a number followed by words is a price.
  return tex !== "" && !/^\s|\s$|[\n`]/.test(tex) && !/^\d[\d.,]*\s+(?:[A-Za-z]\s+)?[A-Za-z]{2,}/.test(tex);
}

/** The delimiters with no closing one in the text being parsed, and the range for which that is known. */
const unclosed = new WeakMap<StateInline, Map<string, number>>();

function inlineRule(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const delimiter = SIGNS.find(({ open }) => src.startsWith(open, pos));
  if (!delimiter) return false;
  const positions = unclosed.get(state) ?? new Map<string, number>();
  if (positions.get(delimiter.open) === posMax) return false;
  const from = pos + delimiter.open.length;
  const end = closing(src, delimiter.close, from, posMax);
  if (end < 0) {
    unclosed.set(state, positions.set(delimiter.open, posMax));
    return false;
  }
  const tex = src.slice(from, end);
  const to = end + delimiter.close.length;
  const isFormula = delimiter.open === "$" ? isOfDollars(src[pos - 1] ?? "", tex, src[to] ?? "") : isTex(tex);
  if (!isFormula) return false;
  if (!silent) {
    const token = state.push("formula", "", 0);
    token.content = tex.trim();
    token.info = delimiter.kind;
  }
  state.pos = to;
  return true;
}

function blockRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const begin = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const delimiter = SIGNS.find(({ open, kind }) => kind === "display" && state.src.startsWith(open, begin));
  if (!delimiter) return false;
  for (let line = startLine; line < endLine; line += 1) {
    const first = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    const last = state.eMarks[line] ?? first;
    if (line > startLine && (first >= last || (state.sCount[line] ?? 0) < state.blkIndent)) return false;
    const from = line === startLine ? begin + delimiter.open.length : first;
    const end = closing(state.src, delimiter.close, from, last);
    if (end < 0) continue;
    // More text follows: a formula in the middle of a paragraph.
    if (state.src.slice(end + delimiter.close.length, last).trim() !== "") return false;
    const lines = state.getLines(startLine, line + 1, state.blkIndent, false).trim();
    const tex = lines.slice(delimiter.open.length, -delimiter.close.length).trim();
    if (!isTex(tex)) return false;
    if (silent) return true;
    push(state, "formula_block", tex, startLine, line + 1);
    return true;
  }
  // The text ends inside the formula: until the rest arrives, it must not be parsed as anything else.
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

/** Adds formulas to a parser. They are rendered as `span[data-math]` with the TeX as their text. */
export function findFormulas(engine: MarkdownIt): void {
  const escape = engine.utils.escapeHtml;
  const span = (tex: string, kind: FormulaKind) => `<span data-math="${kind}">${escape(tex)}</span>`;
  engine.inline.ruler.before("escape", "formula", inlineRule);
  engine.block.ruler.before("fence", "formula", blockRule, { alt: ["paragraph", "reference", "blockquote", "list"] });
  engine.renderer.rules["formula"] = (tokens, index) =>
    span(tokens[index]?.content ?? "", tokens[index]?.info === "display" ? "display" : "inline");
  // A wide formula also scrolls by keyboard.
  engine.renderer.rules["formula_block"] = (tokens, index) =>
    `<div class="table-scroll" tabindex="0">${span(tokens[index]?.content ?? "", "display")}</div>\n`;
  engine.renderer.rules["formula_open"] = (tokens, index) =>
    `<p><code>${escape(tokens[index]?.content ?? "")}</code></p>\n`;
}

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": "\u00a0" };

/** Typesets the formulas of sanitised HTML; any that cannot be set, or not yet, are shown as written. */
export function setFormulas(html: string, set: (tex: string, kind: FormulaKind) => string | null): string {
  if (!html.includes("data-math")) return html;
  return html.replace(/<span data-math="(inline|display)">([^<]*)<\/span>/g, (_, kind: FormulaKind, text: string) => {
    const tex = text.replace(/&(?:amp|lt|gt|nbsp);/g, (entity) => entities[entity] ?? entity);
    return set(tex, kind) ?? `<code>${text}</code>`;
  });
}
