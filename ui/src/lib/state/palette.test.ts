import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuery, marked, bestMatch, step } from "./palette";

const names = ["New session", "Search sessions", "Settings: Rules", "设置: 模型", "Trash"].map((label) => ({ label }));
const labels = (query: string) => bestMatch(query, names, 9).map(({ label }) => label);

describe("the palette", () => {
  it("finds by beginnings, parts and letters, the nearest first", () => {
    expect(labels("se")).toEqual(["Search sessions", "Settings: Rules", "New session"]);
    expect(labels("rules")[0]).toBe("Settings: Rules");
    expect(labels("模型")).toEqual(["设置: 模型"]);
    expect(labels("nwsn")).toEqual(["New session"]);
    expect(labels("zzz")).toEqual([]);
  });

  it("knows how near the nearest is, in whole steps", () => {
    expect(["trash", "sea", "rul", "nwsn", "zzz", ""].map((query) => step(query, names))).toEqual([5, 4, 3, 1, 0, 0]);
    expect(step("models", [{ label: "设置: 模型", also: "Settings: Models" }])).toBe(3);
  });

  it("finds by the other name too", () => {
    expect(bestMatch("mod", [{ label: "设置: 模型", also: "Settings: Models" }], 5)).toHaveLength(1);
  });

  it("shows everything until something is typed, up to its limit", () => {
    expect(bestMatch(" ", names, 3)).toEqual(names.slice(0, 3));
  });

  it("marks what was typed, together or letter by letter", () => {
    expect(marked("re", "Resume")).toEqual([
      { text: "Re", hit: true },
      { text: "sume", hit: false },
    ]);
    expect(marked("rsm", "Resume").filter(({ hit }) => hit)).toEqual([
      { text: "R", hit: true },
      { text: "s", hit: true },
      { text: "m", hit: true },
    ]);
  });

  it("never loses or adds a letter by marking", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (query, name) => {
        expect(
          marked(query, name)
            .map(({ text }) => text)
            .join(""),
        ).toBe(name);
      }),
    );
  });

  it("takes a sign at the start for commands only", () => {
    expect(parseQuery("> theme")).toEqual({ wanted: "theme", only: "commands" });
    expect(parseQuery("＞主题")).toEqual({ wanted: "主题", only: "commands" });
    expect(parseQuery(" a > b ")).toEqual({ wanted: "a > b", only: "everything" });
  });
});
