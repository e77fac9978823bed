import type { Onboarding, Source } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { NOTHING, STEPS, after, before, beginning, isDue, isPlain } from "./onboarding";

const phase = (
  step: Onboarding["step"],
  welcomed: boolean,
  default_model: string | null = null,
  sources: readonly Source[] = [],
) => ({ settings: { welcomed, onboarding: { ...NOTHING, step }, default_model }, sources });

describe("the first run", () => {
  it("goes through its steps in order, there and back", () => {
    const path = [];
    for (let step: (typeof STEPS)[number] | null = "language"; step !== null; step = after(step)) path.push(step);
    expect(path).toEqual([...STEPS]);
    for (const step of STEPS.slice(1)) expect(after(before(step) ?? "first")).toBe(step);
    expect(before("language")).toBeNull();
  });

  it.each([
    ["a new home", phase(null, false), true],
    ["one that was left half-way", phase("browser", false), true],
    ["one that was left half-way after a model was connected", phase("persona", true, "m1"), true],
    ["a home from before there was one", phase(null, true, "m1", ["window"]), false],
    ["one where everything was skipped", phase(null, true), false],
    ["a home another program set up", phase(null, false, "m1"), false],
    ["a home with sessions and no model", phase(null, false, null, ["headless", "window"]), false],
    ["a home of the command line alone", phase(null, false, null, ["headless"]), true],
  ])("is shown at the start: %s", (_, opening, due) => {
    expect(isDue(opening)).toBe(due);
  });

  it.each([
    [["zh-CN", "en"], "model"],
    [["en-US"], "model"],
    [["C"], "model"],
    [["fr-FR", "en"], "model"],
    [["fr-FR"], "language"],
    [["english-like"], "language"],
    [[], "language"],
  ])("asks for the language where the system's (%s) is none of ours", (languages, step) => {
    expect(beginning(languages)).toBe(step);
  });

  it("leaves Octo's own words where nothing was answered", () => {
    expect(isPlain(NOTHING)).toBe(true);
    expect(isPlain({ ...NOTHING, name: " " })).toBe(true);
    expect(isPlain({ ...NOTHING, name: "Juno" })).toBe(false);
    expect(isPlain({ ...NOTHING, manner: "concise" })).toBe(false);
  });
});
