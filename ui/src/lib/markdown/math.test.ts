// @vitest-environment jsdom
import { beforeAll, describe, expect, it, vi } from "vitest";
import { formula, typesetter } from "./formulas.svelte";
import { type MarkdownWords, renderBlocks, spokenText } from "./markdown";

const words: MarkdownWords = {
  copy: "Copy",
  code: "Text",
  remotePicture: "Remote picture:",
  localPicture: "Picture:",
  showFile: (path: string) => `Show ${path}`,
};
const render = (source: string) => renderBlocks(source, { words, files: "named" }, new Map());

function page(source: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = render(source).join("");
  return element;
}
/** Returns the TeX of the formulas found; display formulas in brackets. */
const formulas = (source: string) =>
  [...page(source).querySelectorAll(".katex")].map((set) => {
    const tex = set.querySelector("annotation")?.textContent ?? "";
    return set.closest(".katex-display") ? `[${tex}]` : tex;
  });
/** Returns the text outside formulas. */
const rest = (source: string) => {
  const element = page(source);
  element.querySelectorAll(".katex").forEach((set) => set.replaceWith("∎"));
  return (element.textContent ?? "").trim();
};

it("is shown as source until the typesetter has loaded", async () => {
  expect(page("so $a < b$ holds").innerHTML).toBe("<p>so <code>a &lt; b</code> holds</p>\n");
  await vi.waitFor(() => expect(typesetter()).not.toBeNull(), { timeout: 20_000 });
  expect(formulas("so $a < b$ holds")).toEqual(["a < b"]);
});

describe("mathematics", () => {
  beforeAll(() => vi.waitFor(() => expect(formula("a", "inline")).not.toBeNull(), { timeout: 20_000 }));

  it.each([
    ["$x^2$", ["x^2"]],
    ["where $a_1 * b_2$ and *c* $d * e$", ["a_1 * b_2", "d * e"]],
    ["($x$, “$y$”), 设$z$为", ["x", "y", "z"]],
    ["**$x$** is", ["x"]],
    ["$$x^2$$", ["[x^2]"]],
    ["so $$x$$ is", ["[x]"]],
    ["\\(x + y\\)", ["x + y"]],
    ["\\( x \\)", ["x"]],
    ["\\[x\\]", ["[x]"]],
    ["$$\n\\frac{a}{b}\n- c\n+ d\n= e\n$$", ["[\\frac{a}{b}\n- c\n+ d\n= e]"]],
    ["text:\n$$\na\n$$\nmore", ["[a]"]],
    ["\\[\na \\\\[2pt] b\n\\]", ["[a \\\\[2pt] b]"]],
    ["- one\n\n  $$\n  a\n  + b\n  $$\n- two", ["[a\n+ b]"]],
    ["> $$\n> a\n> $$", ["[a]"]],
    ["| a | b |\n| --- | --- |\n| $x$ | \\(y\\) |", ["x", "y"]],
    ["$a\\$b$", ["a\\$b"]],
    ["# On $x$", ["x"]],
    ["$velocity$ and $3 \\cdot 4$ and $2 x$", ["velocity", "3 \\cdot 4", "2 x"]],
  ])("is found in %j", (source, expected) => expect(formulas(source)).toEqual(expected));

  it.each([
    "It costs $5 and $10.",
    "$5–$10, or 5$ and 6$",
    "US$5 or A$6, $1,000 and $2,000.50",
    "$5 per month or $50 a year, 7$",
    "from $HOME to $PATH, $HOME/$USER and $A$B",
    "https://example.org/?a=$x$&b=1",
    "\\$x\\$ and $ x $ and $x $",
    "$a\n\nb$",
    "$$\na\n\nb\n$$",
    "$$\n\n$$",
    "`$x$` and ``\\(x\\)`` and `$$x$$`",
    "a $b `c$ d` e$",
    "```tex\n$$x$$\n\\[x\\]\n```",
    "    $x$",
    "\\[see below\\] and \\(note\\)",
    "\\\\(x\\\\)",
    "make $@ $< $$",
  ])("is not in %j", (source) => expect(formulas(source)).toEqual([]));

  it("leaves the surrounding text unchanged", () => {
    expect(rest("It costs $5; so $x$ is *5*.")).toBe("It costs $5; so ∎ is 5.");
    expect(rest("`a` $x$ [b](https://example.org)")).toBe("a ∎ b");
    expect(page("[b $x$](https://example.org)").querySelector("a .katex")).toBeTruthy();
  });

  it("that is invalid or very long is shown as source", () => {
    expect(page("a $\\frac{$ b").querySelector(".katex")).toBeNull();
    expect(page("$\\nonsense{x}$").querySelector("code")?.textContent).toBe("\\nonsense{x}");
    const long = "x + ".repeat(5000) + "y";
    expect(page(`$${long}$`).querySelector("code")?.textContent).toBe(long);
    expect(page("$\\def\\a{\\a\\a}\\a$").querySelector("code")?.textContent).toBe("\\def\\a{\\a\\a}\\a");
  });

  it.each([
    "\\href{https://example.org/leak}{x}",
    "\\href{javascript:alert(1)}{x}",
    "\\url{https://example.org}",
    "\\includegraphics[height=9em]{https://example.org/x.png}",
    "\\htmlId{app}{x}",
    "\\htmlClass{ask}{x}",
    "\\htmlStyle{position:fixed}{x}",
    "\\htmlData{testid=question-once}{x}",
    "\\text{<img src=x onerror=alert(1)>}",
    "\\text{</annotation></semantics></math><script>alert(1)</script>}",
    "x</span><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\\color{red;position:fixed}{x}",
    "\\textcolor{url(https://example.org)}{x}",
    "\\rule{900em}{900em}",
    "\\kern{-900em}x",
    "\\verb|<b onclick=x>|",
  ])("does nothing but show: %s", (tex) => {
    for (const source of [`$${tex}$`, `$$${tex}$$`, `\\(${tex}\\)`, `\\[\n${tex}\n\\]`]) {
      const rendered = page(source);
      expect(
        rendered.querySelector("script, img, iframe, a, form, input, [href], [src], [id], [data-testid]"),
      ).toBeNull();
      for (const element of rendered.querySelectorAll("*")) {
        for (const { name } of element.attributes) expect(name).not.toMatch(/^on|^data-|href/);
        expect(element.getAttribute("class") ?? "").not.toMatch(/\bask\b/);
        // Sizes and positions within the text; anything outside it is clipped.
        expect(element.getAttribute("style") ?? "").not.toMatch(/url|position|transform|content|display|z-index/);
      }
    }
  });

  it("keeps sizes, positions and the screen reader text", () => {
    const rendered = page("$$\\sqrt{\\frac{a}{b}}$$");
    expect(rendered.querySelectorAll(".katex-html [style]").length).toBeGreaterThan(5);
    expect(rendered.querySelector(".katex-html")?.getAttribute("aria-hidden")).toBe("true");
    expect(rendered.querySelector("svg path")?.getAttribute("d")).toMatch(/^M/);
    expect(rendered.querySelector("math msqrt mfrac")).toBeTruthy();
    expect(rendered.querySelector("annotation")?.getAttribute("encoding")).toBe("application/x-tex");
  });

  it("keeps its styles, which other HTML may not have", () => {
    expect(
      page('<span style="position:fixed">x</span> <span data-math="inline">x</span>').querySelector("span"),
    ).toBeNull();
  });

  it("is read aloud as source", () => {
    expect(spokenText("so $x^2$ is\n\n$$\ny\n$$", "code")).toBe("so x^2 is\ny");
  });
});
