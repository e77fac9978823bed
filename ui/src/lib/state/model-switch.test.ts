import { expect, it } from "vitest";
import { needsConfirmation } from "./model-switch";

it("asks before many tokens are read anew, and when nobody knows how many", () => {
  expect(needsConfirmation({ tokens: 4_999, cost: 1, instead: null })).toBe(false);
  expect(needsConfirmation({ tokens: 5_000, cost: null, instead: null })).toBe(true);
  expect(needsConfirmation(null)).toBe(true);
});
