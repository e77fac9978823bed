// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { renderBlocks } from "./markdown";

const words = { copy: "Copy", code: "Text", remotePicture: "Remote picture:", localPicture: "Picture:" };
const render = (source: string) => renderBlocks(source, { words }, new Map());

describe("Markdown", () => {
  it("comes block by block, so that a stream changes only the last one", () => {
    const known = new Map<string, string>();
    const options = { words };
    const before = renderBlocks("# A\n\n- one\n- two\n\nHal", options, known);
    const after = renderBlocks("# A\n\n- one\n- two\n\nHallo", options, known);
    expect(before).toHaveLength(3);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]).toBe("<p>Hallo</p>\n");
  });

  it("resolves references over blocks", () => {
    expect(render("[x][1]\n\n[1]: https://example.org/a").join("")).toContain('href="https://example.org/a"');
  });

  it.each([
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    '<iframe src="https://example.org"></iframe>',
    '```x" onclick="alert(1)\ncode\n```',
    '![a" onerror="alert(1)](https://example.org/x.png)',
    '<a href="https://example.org" style="position:fixed" id="app">x</a>',
  ])("lets nothing active through: %s", (source) => {
    const page = document.createElement("div");
    page.innerHTML = render(source).join("");
    expect(page.querySelector("script, iframe, style, form, img, [style], [id], [src]")).toBeNull();
    for (const element of page.querySelectorAll("*")) {
      for (const attribute of element.attributes) expect(attribute.name.startsWith("on")).toBe(false);
      expect(element.getAttribute("href") ?? "https:").toMatch(/^https?:/);
    }
  });

  it("makes links of addresses of the web only: whatever else is named is text that says what", () => {
    const page = document.createElement("div");
    const source = "[the *loop*](src/main.rs) [报告](文/a.md) [top](#top) [mail](mailto:a@b.example) [same](//host/x)";
    page.innerHTML = render(`${source} https://example.org/a`).join("");
    expect([...page.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["https://example.org/a"]);
    const named = [...page.querySelectorAll("span")].map((text) => [text.innerHTML, text.title]);
    expect(named.slice(0, 2)).toEqual([
      ["the <em>loop</em>", "src/main.rs"],
      ["报告", "文/a.md"],
    ]);
    expect(named.map(([, title]) => title).slice(2)).toEqual(["#top", "mailto:a@b.example", "//host/x"]);
  });

  it("never fetches a picture, of the web or of the disk", () => {
    const html = render("![cat](https://example.org/cat.png)\n\n![x](file:///etc/passwd)").join("");
    expect(html).not.toContain("<img");
    expect(html).toContain('data-picture="https://example.org/cat.png"');
    expect(html).not.toMatch(/(?:src|href|data-picture)="file:/);
  });

  it("labels code and offers to copy it", () => {
    const html = render("```rust\nlet a = 1 < 2;\n```").join("");
    expect(html).toContain("<figcaption><span>rust</span>");
    expect(html).toContain("data-copy");
    expect(html).toContain("1 &lt; 2");
  });
});
