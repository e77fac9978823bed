import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { difference } from "./lines";

const render = (old: string, now: string): string[] =>
  difference("SKILL.md", old, now).hunks.flatMap((hunk, index) => [
    ...(index > 0 ? ["~"] : []),
    ...hunk.lines.map((line) => {
      const sign = line.old === null ? "+" : line.new === null ? "-" : " ";
      return sign + line.parts.map((part) => part.text).join("");
    }),
  ]);

describe("the difference of two texts", () => {
  it("shows removed lines, then added ones, with context", () => {
    expect(render("a\nb\nc\nd\ne\nf\n", "a\nb\nC\nD\ne\nf\n")).toEqual([
      " a",
      " b",
      "-c",
      "-d",
      "+C",
      "+D",
      " e",
      " f",
    ]);
    expect(render("", "a\nb\n")).toEqual(["+a", "+b"]);
    expect(render("same\n", "same")).toEqual([]);
    // A changed line ending is not a changed line.
    expect(render("a\r\nb\r\n", "a\nb\n")).toEqual([]);
  });

  it("separates distant changes into hunks", () => {
    const text = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const now = text.with(1, "first").with(18, "last");
    const lines = render(text.join("\n"), now.join("\n"));
    expect(lines.filter((line) => line === "~")).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("+"))).toEqual(["+first", "+last"]);
  });

  it("can be applied to turn one text into the other", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (old, now) => {
        const diff = difference("x", old, now);
        const before = old === "" ? [] : old.split("\n");
        const after = now === "" ? [] : now.split("\n");
        const steps: string[] = [];
        let next = 0;
        for (const line of diff.hunks.flatMap((hunk) => hunk.lines)) {
          const words = line.parts.map((part) => part.text).join("");
          if (line.old !== null) {
            while (next < line.old - 1) steps.push(before[next++] ?? "");
            expect(before[next]).toBe(words);
            next += 1;
          }
          if (line.new !== null) {
            steps.push(words);
            expect(line.new).toBe(steps.length);
          }
        }
        steps.push(...before.slice(next));
        expect(steps).toEqual(after);
        expect(before.length + diff.added - diff.removed).toBe(after.length);
      }),
    );
  });

  it("is limited for very long texts", () => {
    const long = (word: string): string => Array.from({ length: 3000 }, (_, index) => `${word}${index}`).join("\n");
    const diff = difference("x", `top\n${long("a")}\nend`, `top\n${long("b")}\nend`);
    expect([diff.added, diff.removed, diff.hunks.length]).toEqual([3000, 3000, 1]);
  });
});
