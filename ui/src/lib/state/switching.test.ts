import { expect, it } from "vitest";
import { worthAsking } from "./switching";

it("asks before many tokens are read anew, and when nobody knows how many", () => {
  expect(worthAsking({ tokens: 4_999, cost: 1, instead: null })).toBe(false);
  expect(worthAsking({ tokens: 5_000, cost: null, instead: null })).toBe(true);
  expect(worthAsking(null)).toBe(true);
});
