// @vitest-environment jsdom
import type { BilledCall, CacheMiss, Spending } from "$lib/ipc/types";
import { nothing } from "$lib/state/spending";
import { setLanguage } from "$lib/words/words.svelte";
import { beforeAll, describe, expect, it } from "vitest";
import { costBriefly, costWords, missWords } from "./ledger";

beforeAll(() => setLanguage("en"));

const spent = (part: Partial<Spending>): Spending => ({ ...nothing, calls: 3, ...part });
const call = (expected_read: number | null, miss: CacheMiss | null): BilledCall => ({
  turn: "t",
  message: null,
  purpose: "turn",
  model: null,
  name: "m",
  at: 1,
  usage: { input: 1, cache_read: 12_000, cache_write: 0, output: 1 },
  written_for_an_hour: 0,
  again: 0,
  again_cost: 0,
  cost: 1,
  first_byte_ms: null,
  total_ms: 1,
  outcome: "answered",
  expected_read,
  miss,
});

describe("costs", () => {
  it("are not guessed if unknown", () => {
    expect(costWords(spent({ cost: 830_000_000 }))).toBe("$0.83");
    expect(costWords(spent({ cost: 830_000_000, unpriced: 1 }))).toBe("$0.83 + 1 unpriced");
    expect(costWords(spent({ unpriced: 3 }))).toBe("price unknown");
    expect([costBriefly(spent({ unpriced: 3 })), costBriefly(spent({ cost: 1e9, unpriced: 1 }))]).toEqual([
      "$?",
      "$1.00 +",
    ]);
  });
});

describe("a miss", () => {
  it("shows the expected and the actual amount", () => {
    const words = missWords(call(41_000, { class: "expired" }));
    expect(words).toMatch(/^41k tokens were expected from the cache; 12k were read\. .*expired/);
    expect(missWords(call(41_000, null))).toBeNull();
  });

  it("has text for every class in both languages, with the position of a message", async () => {
    const classes: CacheMiss[] = [
      { class: "model" },
      { class: "tools" },
      { class: "system" },
      { class: "messages", first: 6 },
      { class: "expired" },
      { class: "below_minimum" },
      { class: "provider_silent" },
    ];
    for (const language of ["en", "zh"] as const) {
      await setLanguage(language);
      const words = classes.map((miss) => missWords(call(null, miss)) ?? "");
      expect(new Set(words).size).toBe(classes.length);
      for (const text of words) expect(text).not.toMatch(/miss\.|\{/);
      expect(words[3]).toContain("7");
    }
    await setLanguage("en");
  });
});
