/** The model's Markdown as sanitised HTML, block by block, so that a stream only rerenders its end. */
import DOMPurify from "dompurify";
import MarkdownIt, { type Env } from "markdown-it";
import { fileOf, isShownPicture } from "./addresses";
import { formula } from "./formulas.svelte";
import { highlight } from "./highlight.svelte";
import { findFormulas, setFormulas } from "./math";

/** The UI words inside rendered Markdown. */
export interface MarkdownWords {
  readonly copy: string;
  readonly code: string;
  readonly remotePicture: string;
  readonly localPicture: string;
  /** Describes a click on a file name. */
  readonly showFile: (path: string) => string;
}

/** The options of rendering. */
export interface MarkdownOptions {
  readonly words: MarkdownWords;
  /** Whether named files can be shown, as in a session with its folder, or only named. */
  readonly files: "shown" | "named";
}

const engine = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });
// Only full addresses: "readme.md" is a file name, not a site in Moldova.
engine.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// The parser rejects `file:` as dangerous; here it never becomes an address that can be followed.
const isValid = engine.validateLink;
engine.validateLink = (address) => /^\s*file:/i.test(address) || isValid(address);

findFormulas(engine);

const escape = engine.utils.escapeHtml;

function optionsOf(env: unknown): MarkdownOptions {
  return (env as { options: MarkdownOptions }).options;
}

/** Returns the file an address names, if files can be shown. */
function shownFile(address: string, env: unknown): string | null {
  // Text that is only spoken is parsed without options.
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
    // Wide code also scrolls by keyboard.
    `<pre tabindex="0"><code>${body}</code></pre></figure>`
  );
}

// The window never fetches pictures from the web: fetching tells their server that the text was read, and which
// one. They can be opened in the browser like a link.
engine.renderer.rules["image"] = (tokens, index, _options, env) => {
  const token = tokens[index];
  const { words } = optionsOf(env);
  const address = String(token?.attrGet("src") ?? "");
  const name = token?.content || address;
  if (!/^https?:/i.test(address)) {
    const text = `${escape(words.localPicture)} ${escape(name)}`;
    const file = shownFile(address, env);
    if (file === null) return `<span class="chip">${text}</span>`;
    // The picture replaces the chip once loaded, with the name as its alt text.
    const shownAttribute = isShownPicture(file) ? ` data-shown="${escape(name)}"` : "";
    const title = escape(words.showFile(file));
    return `<button type="button" class="chip" data-file="${escape(file)}"${shownAttribute} title="${title}">${text}</button>`;
  }
  return (
    `<button type="button" class="chip" data-picture="${escape(address)}" title="${escape(address)}">` +
    `${escape(words.remotePicture)} ${escape(name)}</button>`
  );
};
// Only web addresses can be opened. A link to a file becomes a button that shows it in its folder; any other
// link becomes text that names its target, not a link that does nothing.
engine.core.ruler.push("links", ({ tokens, env }) => {
  for (const { children } of tokens) {
    let tag = "a";
    for (const [index, token] of (children ?? []).entries()) {
      if (token.type === "link_open") {
        const address = String(token.attrGet("href") ?? "");
        const file = shownFile(address, env);
        tag = /^https?:/i.test(address)
          ? "a"
          : file === null || holdsPicture(children ?? [], index)
            ? "span"
            : "button";
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

/** Returns whether the link at an index contains a picture, which is a separate button. */
function holdsPicture(tokens: readonly { readonly type: string }[], index: number): boolean {
  for (let next = index + 1; next < tokens.length; next += 1) {
    const type = tokens[next]?.type;
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
  // File names, which are never put into an address.
  ADD_URI_SAFE_ATTR: ["data-file", "data-shown"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** A top-level block of a source. */
export interface MarkdownBlock {
  /** Its sanitised HTML. */
  readonly html: string;
  /** Its first line in the source, from 0. */
  readonly line: number;
}

/** The targets of reference links by name; maintained by the parser. */
export type References = NonNullable<Env["references"]>;

/**
 * Returns the top-level blocks of `source`, in order. `references` contains those of the text before it, and receives
 * its own; `clean` maps raw HTML to sanitised HTML, and receives new entries.
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
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token && (token.level > 0 || token.nesting === 1)) continue;
    const group = tokens.slice(from, index + 1);
    from = index + 1;
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

/** Returns the top-level blocks of `source` as sanitised HTML, in order. */
export function renderBlocks(
  source: string,
  options: MarkdownOptions,
  references: Map<string, string>,
): readonly string[] {
  return parseBlocks(source, options, {}, references).map(({ html }) => html);
}

/** Returns Markdown as text for speech: without syntax, one line per block, code replaced by `code`. */
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
