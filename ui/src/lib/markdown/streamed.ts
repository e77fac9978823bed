/**
 * Streaming Markdown with bounded work per piece: blocks that no further text can change are rendered once, and the
 * open rest is rerendered only after it has grown by a fraction or some time has passed.
 */
import { type MarkdownOptions, type References, parseBlocks } from "./markdown";

/** The amount of open text rendered with every piece, in UTF-16 units: it takes less than a millisecond. */
const FREE = 4_000;
/** Longer open text (one long code block or list) is rerendered after growing by this fraction … */
const GROWTH = 1 / 16;
/** … or after this time, in milliseconds. */
export const PATIENCE = 1_000;

/** The function that renders blocks; see [`parseBlocks`]. */
export type Parse = typeof parseBlocks;

export class StreamedMarkdown {
  readonly #options: MarkdownOptions;
  readonly #parse: Parse;
  /** The HTML of the final blocks, and the text they cover. */
  #settled: string[] = [];
  #before = "";
  #references: References = {};
  /** The last HTML of the rest, the length of its text, and when it was rendered. */
  #rest: readonly string[] = [];
  #length = -1;
  #at = -Infinity;
  /** The sanitised parts of the rest. */
  #clean = new Map<string, string>();
  #behind = false;

  constructor(options: MarkdownOptions, parse: Parse = parseBlocks) {
    this.#options = options;
    this.#parse = parse;
  }

  /** Whether some text is not rendered yet; it will be after [`PATIENCE`]. */
  get behind(): boolean {
    return this.#behind;
  }

  /** Returns the blocks of the text so far; `now` is in milliseconds. */
  render(text: string, now: number): readonly string[] {
    // The text was replaced, so this starts over.
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
    const references = this.#clean;
    // A link's address may still be growing: the open part leaves the references unchanged.
    const blocks = this.#parse(
      rest,
      this.#options,
      { ...this.#references },
      {
        get: (raw) => {
          const html = references.get(raw);
          if (html !== undefined) clean.set(raw, html);
          return html;
        },
        set: (raw, html) => clean.set(raw, html),
      },
    );
    this.#clean = clean;
    this.#length = text.length;
    this.#at = now;
    // The last line may still change its meaning, and with it end the block before: only the block before the
    // last is final.
    const last = blocks[blocks.length - 2];
    const from = last === undefined ? 0 : offsetOf(rest, last.line);
    if (from === 0) {
      this.#rest = blocks.map(({ html }) => html);
      return;
    }
    const done = rest.slice(0, from);
    // Parses it once more, only for its references.
    if (/^ {0,3}\[/m.test(done)) this.#parse(done, this.#options, this.#references, clean);
    this.#before += done;
    this.#settled.push(...blocks.slice(0, -2).map(({ html }) => html));
    this.#rest = blocks.slice(-2).map(({ html }) => html);
  }
}

/** Returns the offset of a line, counted like the parser. */
function offsetOf(text: string, line: number): number {
  const ends = /\r\n|\r|\n/g;
  let from = 0;
  for (let index = 0; index < line; index += 1) {
    if (!ends.exec(text)) return from;
    from = ends.lastIndex;
  }
  return from;
}
