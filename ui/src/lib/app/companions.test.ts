import { factsOf, fakePresets } from "$lib/ipc/fake-models";
import type { ModelEntry } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { offersFor } from "./companions";

const preset = fakePresets.presets.find(({ id }) => id === "anthropic") ?? null;
const facts = factsOf({
  id: null,
  protocol: "anthropic",
  base_url: "https://api.anthropic.com",
  model: "claude-sonnet-4-5",
  key: null,
});
const entry: ModelEntry = {
  id: "1",
  protocol: "anthropic",
  base_url: "https://api.anthropic.com",
  model: "claude-sonnet-4-5",
  context_window: 200_000,
  max_output: 64_000,
  vision: true,
  key: { type: "missing" },
  headers: [],
  facts,
  fallback: null,
};
const roles = (...args: Parameters<typeof offersFor>) => offersFor(...args).map(({ role, name }) => [role, name]);

describe("companion models", () => {
  it("are offered until one is chosen", () => {
    expect(roles(entry, preset, null)).toEqual([
      ["light", "claude-haiku-4-5"],
      ["fallback", "claude-haiku-4-5"],
    ]);
    expect(roles(entry, preset, "2")).toEqual([["fallback", "claude-haiku-4-5"]]);
    expect(roles({ ...entry, fallback: "2" }, preset, null)).toEqual([["light", "claude-haiku-4-5"]]);
  });

  it("are not offered if the presets name none", () => {
    expect(roles({ ...entry, model: "claude-haiku-4-5" }, preset, null)).toEqual([]);
    expect(roles({ ...entry, model: "mystery" }, preset, null)).toEqual([]);
    expect(roles(entry, null, null)).toEqual([]);
  });
});
