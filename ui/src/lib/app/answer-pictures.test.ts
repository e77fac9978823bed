import { expect, it } from "vitest";
import { forgetOldest } from "./answer-pictures";

it("forgets the oldest pictures over the limit, except loading ones and the newest", () => {
  const remainingPictures = (sizes: Record<string, number>, newest: string, limit: number): string[] => {
    const pictures = new Map(Object.entries(sizes).map(([key, size]) => [key, { url: "x".repeat(size) }]));
    forgetOldest(pictures, newest, limit);
    return [...pictures.keys()];
  };
  expect(remainingPictures({ a: 4, b: 4, c: 4 }, "c", 12)).toEqual(["a", "b", "c"]);
  expect(remainingPictures({ a: 4, b: 4, c: 4 }, "c", 11)).toEqual(["b", "c"]);
  expect(remainingPictures({ a: 0, b: 4, c: 4 }, "c", 4)).toEqual(["a", "c"]);
  // An earlier request may finish last.
  expect(remainingPictures({ a: 9, b: 4 }, "a", 8)).toEqual(["a"]);
});
