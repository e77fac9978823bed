import { describe, expect, it } from "vitest";
import { characters, isComplete, same } from "./memories";

const text = { topic: "Rust style", description: "How code is written", body: "- tables\n" };

describe("memories", () => {
  it("compare equal regardless of line endings", () => {
    expect(same(text, { ...text, topic: " Rust style ", body: "- tables\r\n\n" })).toBe(true);
    expect(same(text, { ...text, body: "- tables\n- tests\n" })).toBe(false);
    expect(same(text, { ...text, description: "" })).toBe(false);
  });
  it("are counted in characters, not code units", () => {
    expect(characters("né 👍 中文")).toBe(7);
    expect(characters("")).toBe(0);
  });
  it("need a topic and a body", () => {
    expect(isComplete(text)).toBe(true);
    expect(isComplete({ ...text, description: "" })).toBe(true);
    expect(isComplete({ ...text, topic: " " })).toBe(false);
    expect(isComplete({ ...text, body: "\n" })).toBe(false);
  });
});
