import { describe, expect, it } from "vitest";
import { spans } from "./ansi";
import { baseName, duration, localPath, percent, shortPath, tokens } from "./figures";

const units = { s: "s", min: "min", h: "h" };

describe("figures", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1000, "1k"],
    [48_240, "48.2k"],
    [99_960, "100k"],
    [200_000, "200k"],
    [999_600, "1.00M"],
    [1_214_000, "1.21M"],
    [9_996_000, "10.0M"],
    [53_620_000, "53.6M"],
  ])("writes %i tokens as %s", (n, words) => expect(tokens(n)).toBe(words));

  it.each([
    [80, "0.1 s"],
    [11_400, "11.4 s"],
    [41_000, "41 s"],
    [59_700, "1 min"],
    [112_000, "1 min 52 s"],
    [7_500_000, "2 h 5 min"],
  ])("writes %i ms as %s", (ms, words) => expect(duration(ms, units)).toBe(words));

  it('shows "all" only for all', () => {
    expect(percent(0.999)).toBe("99%");
    expect(percent(1)).toBe("100%");
  });

  it("shortens paths by whole parts only", () => {
    expect(shortPath("/home/mei/x", "/home/mei/")).toBe("~/x");
    expect(shortPath("/home/meier/x", "/home/mei")).toBe("/home/meier/x");
    expect(localPath("/home/mei/p/src/a.rs", "/home/mei/p", "/home/mei")).toBe("src/a.rs");
    expect(localPath("/home/mei/other", "/home/mei/p", "/home/mei")).toBe("~/other");
    expect(shortPath("C:\\Users\\mei\\x", "C:\\Users\\mei")).toBe("~\\x");
    expect(baseName("/a/b/")).toBe("b");
  });
});

describe("terminal colours", () => {
  it("become classes; other sequences are dropped", () => {
    expect(spans("\u001b[1;32mok\u001b[0m plain \u001b[2Kx\u001b]0;title\u0007y")).toEqual([
      { text: "ok", classes: "a-g a-bold" },
      { text: " plain xy", classes: "" },
    ]);
  });

  it("support bright and palette colours and reset each separately", () => {
    expect(spans("\u001b[91;1ma\u001b[39mb\u001b[22mc\u001b[38;5;4md\u001b[38;2;1;2;3me")).toEqual([
      { text: "a", classes: "a-r a-bold" },
      { text: "b", classes: "a-bold" },
      { text: "c", classes: "" },
      { text: "d", classes: "a-b" },
      { text: "e", classes: "" },
    ]);
  });
});
