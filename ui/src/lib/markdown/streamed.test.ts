// @vitest-environment jsdom
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBlocks, renderBlocks, spokenText } from "./markdown";
import { type Parse, StreamedMarkdown } from "./streamed";

const options = {
  files: "named" as const,
  words: {
    copy: "Copy",
    code: "Text",
    remotePicture: "Remote picture:",
    localPicture: "Picture:",
    showFile: (path: string) => `Show ${path}`,
  },
};

/** Streams a text in pieces, one every 30 ms, and returns the final blocks. */
function streamed(text: string, pieces: readonly number[], parse?: Parse): readonly string[] {
  const stream = new StreamedMarkdown(options, parse);
  let rendered: readonly string[] = [];
  let length = 0;
  let now = 0;
  for (let index = 0; length < text.length; index += 1) {
    length = Math.min(text.length, length + (pieces[index % pieces.length] ?? 1));
    rendered = stream.render(text.slice(0, length), (now += 30));
  }
  // Deferred text is rendered a moment later.
  return stream.behind ? stream.render(text, now + 10_000) : rendered;
}

// Sanitising is slow outside a browser, so each block is sanitised once for all texts.
const sanitised = new Map<string, string>();
const parseOnce: Parse = (part, words, references) => parseBlocks(part, words, references, sanitised);
const whole = (text: string): readonly string[] => renderBlocks(text, options, sanitised);

const line = fc.oneof(
  fc.constantFrom(
    "",
    "",
    "# Heading",
    "#",
    "===",
    "---",
    "- item",
    "  - below",
    "  continued",
    "1. one",
    "> quoted",
    "```",
    "```rust",
    "~~~",
    "    code",
    "a | b",
    "--- | ---",
    "1 | 2",
    "***",
    "plain text with `code` and **marks**",
    "中文一行。",
    "<b>no html</b>",
    "$$",
    "\\[",
    "\\]",
    "so $x$ and $5",
    "$$ a $$",
    "$$ a",
    "\tindented",
  ),
  fc.string({ maxLength: 12 }),
);
const source = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"))
  .map(([lines, end]) => lines.join(end));

describe("streamed Markdown", () => {
  it("ends like the full text rendered at once, however it is split", () => {
    fc.assert(
      fc.property(source, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }), (text, pieces) => {
        // Reference links resolve only backwards while the text is incomplete.
        fc.pre(!/^ {0,3}\[/m.test(text));
        expect(streamed(text, pieces, parseOnce).join("")).toBe(whole(text).join(""));
      }),
      { numRuns: 100 },
    );
  }, 60_000);

  it("resolves earlier references", () => {
    const text = `[a]: https://example.org/long\n\n${"Words.\n\n".repeat(9)}See [a].`;
    expect(streamed(text, [3]).join("")).toContain('href="https://example.org/long"');
  });

  it("restarts with another text", () => {
    const stream = new StreamedMarkdown(options);
    stream.render("One.\n\nTwo.\n\nThree.\n\nFour.", 0);
    expect(stream.render("Other.\n\nTwo.\n\nThree.\n\nFour, and more.", 30)).toEqual(
      whole("Other.\n\nTwo.\n\nThree.\n\nFour, and more."),
    );
    expect(stream.render("Short.", 60)).toEqual(whole("Short."));
  });

  it.each([
    ["an answer of many blocks", "A paragraph of some words that goes on for a while.\n\n".repeat(400)],
    ["one long block of code", `\`\`\`text\n${"let a = compute(b, c);\n".repeat(4_000)}\`\`\`\n`],
    ["one long list", "- an item of the list\n".repeat(4_000)],
  ])("does bounded work for each piece of %s", (_, text) => {
    let parsed = 0;
    const parse: Parse = (part, ...rest) => {
      parsed += part.length;
      // Only the amount parsed matters here.
      return text.startsWith("A ") ? parseBlocks(part, ...rest) : [{ html: "", line: 0 }];
    };
    streamed(text, [60], parse);
    const pieces = text.length / 60;
    // Reparsing everything with each piece would average half the text per piece.
    expect(parsed / pieces).toBeLessThan(Math.min(5_000, text.length / 8));
    expect(parsed).toBeGreaterThan(text.length);
  });

  it("renders the pending text when the stream pauses", () => {
    const stream = new StreamedMarkdown(options);
    const text = `\`\`\`text\n${"x = 1\n".repeat(2_000)}`;
    stream.render(text, 0);
    const more = `${text}the end\n`;
    expect(stream.render(more, 30).join("")).not.toContain("the end");
    expect(stream.behind).toBe(true);
    expect(stream.render(more, 1_030).join("")).toContain("the end");
    expect(stream.behind).toBe(false);
  });
});

describe("Markdown read aloud", () => {
  it("is text without markup, with code named as such", () => {
    expect(
      spokenText(
        "# Done\n\nI **fixed** `a.rs`,\nsee [it](https://example.org).\n\n```rust\nlet a;\n```\n- one",
        "code",
      ),
    ).toBe("Done\nI fixed a.rs, see it.\ncode\none");
  });
});
