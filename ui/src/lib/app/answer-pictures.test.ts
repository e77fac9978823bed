import { expect, it } from "vitest";
import { forgetOldest } from "./answer-pictures";

it("the oldest pictures are forgotten where they are too much, those on their way and the newest are not", () => {
  const kept = (sizes: Record<string, number>, newest: string, most: number): string[] => {
    const pictures = new Map(Object.entries(sizes).map(([key, size]) => [key, { url: "x".repeat(size) }]));
    forgetOldest(pictures, newest, most);
    return [...pictures.keys()];
  };
  expect(kept({ a: 4, b: 4, c: 4 }, "c", 12)).toEqual(["a", "b", "c"]);
  expect(kept({ a: 4, b: 4, c: 4 }, "c", 11)).toEqual(["b", "c"]);
  expect(kept({ a: 0, b: 4, c: 4 }, "c", 4)).toEqual(["a", "c"]);
  // An earlier request may finish last.
  expect(kept({ a: 9, b: 4 }, "a", 8)).toEqual(["a"]);
});
