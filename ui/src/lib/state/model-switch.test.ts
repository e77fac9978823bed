import { expect, it } from "vitest";
import { needsConfirmation } from "./model-switch";

it("is confirmed if many tokens, or an unknown number, are read again", () => {
  expect(needsConfirmation({ tokens: 4_999, cost: 1, instead: null })).toBe(false);
  expect(needsConfirmation({ tokens: 5_000, cost: null, instead: null })).toBe(true);
  expect(needsConfirmation(null)).toBe(true);
});
