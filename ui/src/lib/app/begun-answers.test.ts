import { describe, expect, it } from "vitest";
import { begunIn } from "./begun-answers.svelte";

describe("answers that were begun", () => {
  it("are the session's own, and stay as long as their questions are open", () => {
    const begun = begunIn("a");
    begun.words.set("1", "because");
    begun.words.set("2", "not that");
    begun.choices.set("2", "the first");
    expect(begunIn("b").words.size).toBe(0);
    begunIn("a").keep(["2"]);
    expect([...begunIn("a").words]).toEqual([["2", "not that"]]);
    expect([...begunIn("a").choices]).toEqual([["2", "the first"]]);
    begunIn("a").keep([]);
    expect([begun.words.size, begun.choices.size]).toEqual([0, 0]);
  });
});
