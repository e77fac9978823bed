import { describe, expect, it } from "vitest";
import { answerDraftsOf } from "./answer-drafts.svelte";

describe("answers that were begun", () => {
  it("are the session's own, and stay as long as their questions are open", () => {
    const begun = answerDraftsOf("a");
    begun.words.set("1", "because");
    begun.words.set("2", "not that");
    begun.choices.set("2", "the first");
    expect(answerDraftsOf("b").words.size).toBe(0);
    answerDraftsOf("a").keep(["2"]);
    expect([...answerDraftsOf("a").words]).toEqual([["2", "not that"]]);
    expect([...answerDraftsOf("a").choices]).toEqual([["2", "the first"]]);
    answerDraftsOf("a").keep([]);
    expect([begun.words.size, begun.choices.size]).toEqual([0, 0]);
  });
});
