import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearness } from "./fuzzy";

describe("nearness", () => {
  it.each([
    ["model", "model", 5],
    ["mo", "model", 4],
    ["notes", "release-notes", 3],
    ["el", "model", 2],
    ["xyz", "model", null],
    ["ledom", "model", null],
  ])("of %s to %s", (typed, name, near) => expect(nearness(typed, name)).toBe(near));

  it("prefers letters that begin parts or stand together", () => {
    const of = (name: string): number => nearness("rn", name) ?? 0;
    expect(of("release-notes")).toBeGreaterThan(of("personal"));
    expect(of("release-notes")).toBeGreaterThan(of("review-ignored"));
    // A later occurrence of a letter may score better.
    expect(nearness("rln", "r-xl-ln")).toBeGreaterThan(nearness("rln", "r-xl-xn") ?? 9);
  });

  it("finds exactly the names whose letters are there in order, and keeps its steps apart", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 6 });
    fc.assert(
      fc.property(letters, letters, (typed, name) => {
        let at = 0;
        for (const letter of name) if (letter === typed[at]) at += 1;
        const near = nearness(typed, name);
        expect(near !== null).toBe(at === typed.length);
        if (near === null || typed === "") return;
        if (name === typed) expect(near).toBe(5);
        else if (name.startsWith(typed)) expect(near).toBe(4);
        else if (name.includes(typed)) expect(near).toBeGreaterThanOrEqual(2);
        else expect(near >= 1 && near < 2).toBe(true);
      }),
    );
  });
});
