import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearness } from "./fuzzy";

describe("the match score", () => {
  it.each([
    ["model", "model", 5],
    ["mo", "model", 4],
    ["notes", "release-notes", 3],
    ["el", "model", 2],
    ["xyz", "model", null],
    ["ledom", "model", null],
  ])("of %s to %s", (query, name, score) => expect(nearness(query, name)).toBe(score));

  it("prefers letters that start words or are adjacent", () => {
    const score = (name: string): number => nearness("rn", name) ?? 0;
    expect(score("release-notes")).toBeGreaterThan(score("personal"));
    expect(score("release-notes")).toBeGreaterThan(score("review-ignored"));
    // A later occurrence of a letter may score better.
    expect(nearness("rln", "r-xl-ln")).toBeGreaterThan(nearness("rln", "r-xl-xn") ?? 9);
  });

  it("matches exactly the names that contain the letters in order", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 6 });
    fc.assert(
      fc.property(letters, letters, (query, name) => {
        let index = 0;
        for (const letter of name) if (letter === query[index]) index += 1;
        const score = nearness(query, name);
        expect(score !== null).toBe(index === query.length);
        if (score === null || query === "") return;
        if (name === query) expect(score).toBe(5);
        else if (name.startsWith(query)) expect(score).toBe(4);
        else if (name.includes(query)) expect(score).toBeGreaterThanOrEqual(2);
        else expect(score >= 1 && score < 2).toBe(true);
      }),
    );
  });
});
