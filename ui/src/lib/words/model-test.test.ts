import { describe, expect, it } from "vitest";
import enErrors from "@words/en/errors.json";
import { explainTest } from "./model-test";

describe("a failed model test", () => {
  it("mentions no stored message and no retry", () => {
    const provider = Object.keys(enErrors).filter((key) => key.startsWith("error.provider."));
    expect(provider.length).toBeGreaterThan(10);
    // Neither can happen with one short message; a cancelled one is not reported.
    const never = ["error.provider.context_too_long", "error.provider.cancelled"];
    for (const key of provider.filter((key) => !never.includes(key))) {
      const text = explainTest({ key: key.slice("error.".length), args: {}, retryable: false });
      expect(text, key).not.toMatch(/message was kept|so far was kept|press Retry/);
    }
  });

  it("explains other errors as elsewhere", () => {
    const error = { key: "model.name_missing", args: {}, retryable: false };
    expect(explainTest(error)).toBe(enErrors["error.model.name_missing"]);
  });
});
