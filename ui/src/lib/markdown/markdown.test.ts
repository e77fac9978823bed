import { describe, expect, it } from "vitest";
import { renderBlocks } from "./markdown";

const words = { copy: "Copy", code: "Text", showPicture: "Load picture", localPicture: "Picture:" };
const render = (source: string, pictures: string[] = []) =>
  renderBlocks(source, { words, pictures: new Set(pictures) }, new Map());

describe("Markdown", () => {
  it("comes block by block, so that a stream changes only the last one", () => {
    const known = new Map<string, string>();
    const options = { words, pictures: new Set<string>() };
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
    page.innerHTML = render(source, ["https://example.org/x.png"]).join("");
    expect(page.querySelector("script, iframe, style, form, [style], [id]")).toBeNull();
    for (const element of page.querySelectorAll("*")) {
      for (const attribute of element.attributes) expect(attribute.name.startsWith("on")).toBe(false);
      expect(element.getAttribute("href") ?? "https:").toMatch(/^https?:/);
    }
  });

  it("loads remote pictures only when asked", () => {
    const source = "![cat](https://example.org/cat.png)";
    expect(render(source).join("")).not.toContain("<img");
    expect(render(source).join("")).toContain('data-picture="https://example.org/cat.png"');
    expect(render(source, ["https://example.org/cat.png"]).join("")).toContain(
      '<img src="https://example.org/cat.png"',
    );
    expect(render("![x](file:///etc/passwd)", ["file:///etc/passwd"]).join("")).not.toContain("<img");
  });

  it("labels code and offers to copy it", () => {
    const html = render("```rust\nlet a = 1 < 2;\n```").join("");
    expect(html).toContain("<figcaption><span>rust</span>");
    expect(html).toContain("data-copy");
    expect(html).toContain("1 &lt; 2");
  });
});
