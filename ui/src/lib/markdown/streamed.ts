/**
 * Markdown that streams in, with bounded work for each piece: blocks that no further text can change are rendered once,
 * and what is still open is rendered again only when it has grown by a part of itself or some time has passed.
 */
import { type MarkdownOptions, type References, parseBlocks } from "./markdown";

/** So much open text is rendered with every piece, in UTF-16 units: it costs less than a millisecond. */
const FREE = 4_000;
/** Longer open text (one long code block or list) waits until it has grown by this part of itself … */
const GROWTH = 1 / 16;
/** … or for so long, in milliseconds. */
export const PATIENCE = 1_000;

/** How blocks are rendered; see [`parseBlocks`]. */
export type Parse = typeof parseBlocks;

export class StreamedMarkdown {
  readonly #options: MarkdownOptions;
  readonly #parse: Parse;
  /** The HTML of the blocks that are settled, and the text they are of. */
  #settled: string[] = [];
  #before = "";
  #references: References = {};
  /** The HTML of the rest, as it was rendered last; how long the text was, and when that was. */
  #rest: readonly string[] = [];
  #length = -1;
  #at = -Infinity;
  /** What of the rest is sanitised already. */
  #clean = new Map<string, string>();
  #behind = false;

  constructor(options: MarkdownOptions, parse: Parse = parseBlocks) {
    this.#options = options;
    this.#parse = parse;
  }

  /** Whether text has come that is not shown yet; it is after [`PATIENCE`], when it is rendered again. */
  get behind(): boolean {
    return this.#behind;
  }

  /** The blocks of the text so far, at a moment in milliseconds. */
  render(text: string, now: number): readonly string[] {
    // Another text: it was begun again.
    if (text.length < this.#length || !text.startsWith(this.#before)) this.#forget();
    if (text.length !== this.#length) {
      this.#behind = !this.#due(text, now);
      if (!this.#behind) this.#renderRest(text, now);
    }
    return [...this.#settled, ...this.#rest];
  }

  #due(text: string, now: number): boolean {
    const open = text.length - this.#before.length;
    return open <= FREE || text.length - this.#length >= open * GROWTH || now - this.#at >= PATIENCE;
  }

  #forget(): void {
    this.#settled = [];
    this.#before = "";
    this.#references = {};
    this.#rest = [];
    this.#clean = new Map();
    this.#length = -1;
  }

  #renderRest(text: string, now: number): void {
    const rest = text.slice(this.#before.length);
    const clean = new Map<string, string>();
    const known = this.#clean;
    // A link's address may still be growing: what is open leaves the references as they are.
    const blocks = this.#parse(
      rest,
      this.#options,
      { ...this.#references },
      {
        get: (raw) => {
          const html = known.get(raw);
          if (html !== undefined) clean.set(raw, html);
          return html;
        },
        set: (raw, html) => clean.set(raw, html),
      },
    );
    this.#clean = clean;
    this.#length = text.length;
    this.#at = now;
    // The last line may still become something else, and with it the block it would end: the one before the last.
    const last = blocks[blocks.length - 2];
    const from = last === undefined ? 0 : offsetOf(rest, last.line);
    if (from === 0) {
      this.#rest = blocks.map(({ html }) => html);
      return;
    }
    const done = rest.slice(0, from);
    // Once more, for its references alone.
    if (/^ {0,3}\[/m.test(done)) this.#parse(done, this.#options, this.#references, clean);
    this.#before += done;
    this.#settled.push(...blocks.slice(0, -2).map(({ html }) => html));
    this.#rest = blocks.slice(-2).map(({ html }) => html);
  }
}

/** Where a line begins, as the parser counts lines. */
function offsetOf(text: string, line: number): number {
  const ends = /\r\n|\r|\n/g;
  let from = 0;
  for (let at = 0; at < line; at += 1) {
    if (!ends.exec(text)) return from;
    from = ends.lastIndex;
  }
  return from;
}
