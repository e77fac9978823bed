// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { renderBlocks } from "./markdown";

const words = {
  copy: "Copy",
  code: "Text",
  remotePicture: "Remote picture:",
  localPicture: "Picture:",
  showFile: (path: string) => `Show ${path}`,
};
/** Renders as in a session, where files can be shown. */
function inSession(source: string): HTMLElement {
  const page = document.createElement("div");
  page.innerHTML = renderBlocks(source, { words, files: "shown" }, new Map()).join("");
  return page;
}
const filesIn = (page: HTMLElement): (string | undefined)[] =>
  [...page.querySelectorAll<HTMLElement>("button[data-file]")].map((button) => button.dataset["file"]);
const render = (source: string) => renderBlocks(source, { words, files: "named" }, new Map());

describe("Markdown", () => {
  it("is rendered block by block, so that a stream changes only the last block", () => {
    const references = new Map<string, string>();
    const options = { words, files: "named" as const };
    const before = renderBlocks("# A\n\n- one\n- two\n\nHal", options, references);
    const after = renderBlocks("# A\n\n- one\n- two\n\nHallo", options, references);
    expect(before).toHaveLength(3);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]).toBe("<p>Hallo</p>\n");
  });

  it("resolves references across blocks", () => {
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

  it("links only web addresses and renders others as text with the address", () => {
    const page = document.createElement("div");
    const source = "[the *loop*](src/main.rs) [报告](文/a.md) [top](#top) [mail](mailto:a@b.example) [same](//host/x)";
    page.innerHTML = render(`${source} https://example.org/a`).join("");
    expect([...page.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["https://example.org/a"]);
    const rendered = [...page.querySelectorAll("span")].map((text) => [text.innerHTML, text.title]);
    expect(rendered.slice(0, 2)).toEqual([
      ["the <em>loop</em>", "src/main.rs"],
      ["报告", "文/a.md"],
    ]);
    expect(rendered.map(([, title]) => title).slice(2)).toEqual(["#top", "mailto:a@b.example", "//host/x"]);
  });

  it("never fetches a remote or local picture", () => {
    const html = render("![cat](https://example.org/cat.png)\n\n![x](file:///etc/passwd)").join("");
    expect(html).not.toContain("<img");
    expect(html).toContain('data-picture="https://example.org/cat.png"');
    expect(html).not.toMatch(/(?:src|href|data-picture)="file:/);
  });

  it("labels code blocks and adds a copy button", () => {
    const html = render("```rust\nlet a = 1 < 2;\n```").join("");
    expect(html).toContain("<figcaption><span>rust</span>");
    expect(html).toContain("data-copy");
    expect(html).toContain("1 &lt; 2");
  });
});

describe("files mentioned in an answer", () => {
  it.each([
    ["src/main.rs", "src/main.rs"],
    ["./a", "./a"],
    ["../other/b.txt", "../other/b.txt"],
    ["/home/mei/code/a.rs", "/home/mei/code/a.rs"],
    ["<my plan.md>", "my plan.md"],
    ["my%20plan.md", "my plan.md"],
    ["文/报告.md", "文/报告.md"],
    ["100%.md", "100%.md"],
    ["C:\\Users\\mei\\a.txt", "C:\\Users\\mei\\a.txt"],
    ["d:/a.txt", "d:/a.txt"],
    ["src/main.rs#L10", "src/main.rs"],
    ["main.rs:42", "main.rs"],
    ["src/main.rs:10-20", "src/main.rs"],
    ["notes/10:30.txt", "notes/10:30.txt"],
    ["file:///home/mei/a%20b.md", "file:///home/mei/a%20b.md"],
    ["FILE:/home/mei/a.md", "FILE:/home/mei/a.md"],
    ["file://localhost/home/mei/a.md", "file://localhost/home/mei/a.md"],
    ["file:///C:/a.md", "file:///C:/a.md"],
  ])("are shown in their folder: %s", (address, file) => {
    const page = inSession(`[the *loop*](${address})`);
    expect(filesIn(page)).toEqual([file]);
    const button = page.querySelector("button");
    expect([button?.type, button?.innerHTML, button?.title]).toEqual(["button", "the <em>loop</em>", `Show ${file}`]);
    expect(page.querySelector("a, [href], [src]")).toBeNull();
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "<javascript:alert(1).png>",
    "&#106;avascript:alert(1)",
    "<\u0001javascript:a.png>",
    "java\u0000script:a.png",
    "vbscript:a.png",
    "data:image/png;base64,AAAA",
    "mailto:a@b.example",
    "tel:42",
    "ms-settings:a.png",
    "blob:a.png",
    "octo-blob:a.png",
    "x:a.png",
    "#top",
    "?a.png",
    "",
    "//server/share/a.png",
    "\\\\\\\\server\\share\\a.png",
    "\\\\?\\C:\\a.png",
    "/\\server/a.png",
    "\\\\server\\share\\a.png",
    "%5C/server/a.png",
    "%5C%5Cserver/a.png",
    "/%2Fserver/a.png",
    "file://server/share/a.png",
    "file:////server/share/a.png",
    "file:/%2Fserver/a.png",
    "file:///%5C%5Cserver/a.png",
    "file:\\\\server\\a.png",
    "file:a.png",
    "file:",
    "a%00b.png",
    "a%0Ab.png",
    `${"a/".repeat(4_000)}a.png`,
  ])("are none where it is another kind of address: %.60s", (address) => {
    const page = inSession(`[x](${address}) ![y](${address})`);
    expect([...page.querySelectorAll("button, a, img, [data-file], [data-shown], [href], [src]")]).toEqual([]);
  });

  it("are plain text outside a session", () => {
    const html = render("[x](src/main.rs) ![y](a.png) [z](file:///a)").join("");
    expect(html).toBe(
      '<p><span title="src/main.rs">x</span> <span class="chip">Picture: y</span> <span title="file:///a">z</span></p>\n',
    );
  });

  it("are shown inline if they are pictures, and as a button until then", () => {
    const page = inSession("![a **chart**](<out/my plot.PNG>) ![](a.svg) ![w](https://example.org/a.png)");
    const chips = [...page.querySelectorAll("button")].map(({ className, dataset, textContent }) => {
      return [className, dataset["file"], dataset["shown"], textContent];
    });
    expect(chips).toEqual([
      ["chip", "out/my plot.PNG", "a **chart**", "Picture: a **chart**"],
      ["chip", "a.svg", undefined, "Picture: a.svg"],
      ["chip", undefined, undefined, "Remote picture: w"],
    ]);
    expect(page.querySelector("img")).toBeNull();
  });

  it("have escaped names", () => {
    const file = 'a" onclick="alert(1)<b>.png';
    const page = inSession(`[x](<${file.replace("<b>", "\\<b\\>")}>) ![" onerror="alert(1)](a.png)`);
    for (const element of page.querySelectorAll("*")) {
      for (const attribute of element.attributes) expect(attribute.name.startsWith("on")).toBe(false);
    }
    expect(filesIn(page)).toEqual([file, "a.png"]);
    expect(page.querySelector<HTMLElement>(".chip")?.dataset["shown"]).toBe('" onerror="alert(1)');
  });

  it("are separate buttons inside links", () => {
    expect(filesIn(inSession("[![y](a.png)](src/main.rs)"))).toEqual(["a.png"]);
    const page = inSession("[![y](a.png)](https://example.org/)");
    expect([filesIn(page), page.querySelector("a")?.getAttribute("href")]).toEqual([["a.png"], "https://example.org/"]);
  });
});
