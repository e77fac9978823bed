/** The model's Markdown as sanitised HTML, block by block, so that a stream only redraws its end. */
import DOMPurify from "dompurify";
import MarkdownIt, { type Env } from "markdown-it";
import { fileOf, isShownPicture } from "./addresses";
import { formula } from "./formulas.svelte";
import { highlight } from "./highlight.svelte";
import { findFormulas, setFormulas } from "./math";

/** The words that appear inside rendered Markdown. */
export interface MarkdownWords {
  readonly copy: string;
  readonly code: string;
  readonly remotePicture: string;
  readonly localPicture: string;
  /** What a click on the name of a file does. */
  readonly showFile: (path: string) => string;
}

/** What rendering depends on besides the text. */
export interface MarkdownOptions {
  readonly words: MarkdownWords;
  /** Whether the files it names can be shown, as in a session, which has a folder, or are no more than named. */
  readonly files: "shown" | "named";
}

const engine = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });
// Only full addresses: "readme.md" is a file name, not a site in Moldova.
engine.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// The parser takes `file:` for a danger: here it never becomes an address that could be followed.
const isValid = engine.validateLink;
engine.validateLink = (address) => /^\s*file:/i.test(address) || isValid(address);

findFormulas(engine);

const escape = engine.utils.escapeHtml;

function optionsOf(env: unknown): MarkdownOptions {
  return (env as { options: MarkdownOptions }).options;
}

/** The file an address names, where files can be shown. */
function shownFile(address: string, env: unknown): string | null {
  // What is only heard is parsed without options.
  const { options } = env as { options?: MarkdownOptions };
  return options?.files === "shown" ? fileOf(address) : null;
}

engine.renderer.rules["fence"] = (tokens, index, _options, env) => {
  const token = tokens[index];
  return codeBlock(token?.content ?? "", token?.info.trim().split(/\s+/)[0] ?? "", optionsOf(env).words);
};
engine.renderer.rules["code_block"] = (tokens, index, _options, env) =>
  codeBlock(tokens[index]?.content ?? "", "", optionsOf(env).words);

function codeBlock(content: string, language: string, words: MarkdownWords): string {
  const code = content.replace(/\n$/, "");
  const body = highlight(code, language.toLowerCase()) ?? escape(code);
  return (
    `<figure class="code"><figcaption><span>${escape(language || words.code)}</span>` +
    `<button type="button" class="linkish" data-copy>${escape(words.copy)}</button></figcaption>` +
    // Wide code scrolls by keyboard too.
    `<pre tabindex="0"><code>${body}</code></pre></figure>`
  );
}

// Pictures of the web are never fetched by the window: fetching tells their server that, and what, was read.
// They can be opened in the browser like a link.
engine.renderer.rules["image"] = (tokens, index, _options, env) => {
  const token = tokens[index];
  const { words } = optionsOf(env);
  const address = String(token?.attrGet("src") ?? "");
  const name = token?.content || address;
  if (!/^https?:/i.test(address)) {
    const text = `${escape(words.localPicture)} ${escape(name)}`;
    const file = shownFile(address, env);
    if (file === null) return `<span class="chip">${text}</span>`;
    // The picture takes the chip's place once it was read, with the name as what it shows.
    const shown = isShownPicture(file) ? ` data-shown="${escape(name)}"` : "";
    const title = escape(words.showFile(file));
    return `<button type="button" class="chip" data-file="${escape(file)}"${shown} title="${title}">${text}</button>`;
  }
  return (
    `<button type="button" class="chip" data-picture="${escape(address)}" title="${escape(address)}">` +
    `${escape(words.remotePicture)} ${escape(name)}</button>`
  );
};
// Only addresses of the web can be opened. What names a file is a button that shows it in its folder, and what names
// something else is text that says what it names, not a link that does nothing.
engine.core.ruler.push("links", ({ tokens, env }) => {
  for (const { children } of tokens) {
    let tag = "a";
    for (const [at, token] of (children ?? []).entries()) {
      if (token.type === "link_open") {
        const address = String(token.attrGet("href") ?? "");
        const file = shownFile(address, env);
        tag = /^https?:/i.test(address) ? "a" : file === null || holdsPicture(children ?? [], at) ? "span" : "button";
        if (tag === "span") token.attrs = [["title", engine.normalizeLinkText(address)]];
        else if (tag === "button" && file !== null) {
          const title = optionsOf(env).words.showFile(file);
          token.attrs = Object.entries({ type: "button", class: "file-link", "data-file": file, title });
        }
      }
      if (token.type === "link_open" || token.type === "link_close") token.tag = tag;
    }
  }
});

/** Whether the link that begins at a place has a picture in it, which is a button by itself. */
function holdsPicture(tokens: readonly { readonly type: string }[], at: number): boolean {
  for (let place = at + 1; place < tokens.length; place += 1) {
    const type = tokens[place]?.type;
    if (type === "image") return true;
    if (type === "link_close") break;
  }
  return false;
}

engine.renderer.rules["table_open"] = () => '<div class="table-scroll" tabindex="0"><table>';
engine.renderer.rules["table_close"] = () => "</table></div>";

const purify = {
  ALLOWED_TAGS: [
    "p",
    "br",
    "hr",
    "strong",
    "em",
    "s",
    "del",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "a",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "figure",
    "figcaption",
    "span",
    "div",
    "button",
  ],
  ALLOWED_ATTR: [
    ..."href title class type start tabindex".split(" "),
    ..."data-copy data-picture data-math data-file data-shown".split(" "),
  ],
  // Names of files, which are put into no address.
  ADD_URI_SAFE_ATTR: ["data-file", "data-shown"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** A top-level block of a source. */
export interface MarkdownBlock {
  /** Its sanitised HTML. */
  readonly html: string;
  /** The line of the source it begins on, from 0. */
  readonly line: number;
}

/** Where links by reference lead to, by their names; kept by the parser. */
export type References = NonNullable<Env["references"]>;

/**
 * The top-level blocks of `source`, in order. `references` are those of what stands before it, and gain its own; `clean`
 * holds what was sanitised before, by what it was, and gains what was not.
 */
export function parseBlocks(
  source: string,
  options: MarkdownOptions,
  references: References,
  clean: { get(raw: string): string | undefined; set(raw: string, html: string): unknown },
): readonly MarkdownBlock[] {
  const env = { options, references };
  const tokens = engine.parse(source, env);
  const blocks: MarkdownBlock[] = [];
  let from = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token && (token.level > 0 || token.nesting === 1)) continue;
    const group = tokens.slice(from, at + 1);
    from = at + 1;
    const raw = engine.renderer.render(group, engine.options, env);
    let html = clean.get(raw);
    if (html === undefined) {
      html = setFormulas(DOMPurify.sanitize(raw, purify), formula);
      clean.set(raw, html);
    }
    blocks.push({ html, line: group[0]?.map?.[0] ?? 0 });
  }
  return blocks;
}

/** The top-level blocks of `source` as sanitised HTML, in order. */
export function renderBlocks(source: string, options: MarkdownOptions, known: Map<string, string>): readonly string[] {
  return parseBlocks(source, options, {}, known).map(({ html }) => html);
}

/** What Markdown says, for whoever hears it: text without its marks, one line for each block, code by its name alone. */
export function spokenText(source: string, code: string): string {
  return engine
    .parse(source, { references: {} })
    .flatMap((token) => {
      if (token.type === "fence" || token.type === "code_block") return [code];
      if (token.type.startsWith("formula")) return [token.content];
      if (token.type !== "inline") return [];
      const parts = (token.children ?? []).map((child) => {
        if (child.type === "softbreak" || child.type === "hardbreak") return " ";
        return ["text", "code_inline", "image", "formula"].includes(child.type) ? child.content : "";
      });
      return [parts.join("")];
    })
    .filter((line) => line.trim() !== "")
    .join("\n");
}
