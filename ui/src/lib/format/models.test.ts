// @vitest-environment jsdom
import type { ModelFacts, PriceFacts } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { beforeEach, describe, expect, it } from "vitest";
import { dollars, factsLine, priceLine } from "./models";

const price = (input: number | null, cache_read: number | null, output: number | null): PriceFacts => ({
  input,
  output,
  cache_read,
  cache_write: null,
  more_above: null,
  date: "2026-11-22",
});
const facts: ModelFacts = {
  preset: "anthropic",
  known: true,
  context_window: 1_000_000,
  max_output: 128_000,
  vision: true,
  documents: false,
  tools: true,
  efforts: [],
  price: price(2e9, 0.2e9, 10e9),
  caching: "marked_long",
};

beforeEach(() => setLanguage("en"));

describe("a price", () => {
  it("keeps the significant digits", () => {
    for (const [nano, text] of [
      [0, "$0.00"],
      [15e9, "$15.00"],
      [0.3e9, "$0.30"],
      [0.1e9, "$0.10"],
      [0.075e9, "$0.075"],
      [0.0028e9, "$0.0028"],
      [1, "$0.000000001"],
    ] as const)
      expect(dollars(nano)).toBe(text);
  });

  it("is unknown if a part of it is", () => {
    expect(priceLine(null)).toBe("price unknown");
    expect(priceLine(price(1e9, null, null))).toBe("price unknown");
    expect(priceLine(price(null, 1e9, 1e9))).toBe("price unknown");
    expect(priceLine(price(1e9, null, 2e9))).toBe("$1.00 in, $2.00 out per 1M tokens");
    expect(priceLine(price(0, 0, 0))).toBe("free");
    expect(priceLine({ ...price(1e9, 0.1e9, 2e9), more_above: 272_000 })).toBe(
      "$1.00 in, $0.10 cached, $2.00 out per 1M tokens, more above 272k",
    );
  });
});

describe("a model's facts", () => {
  it("are one line", () => {
    expect(factsLine(facts)).toBe(
      "1.00M context · accepts pictures · $2.00 in, $0.20 cached, $10.00 out per 1M tokens",
    );
    expect(factsLine({ ...facts, vision: false, tools: false, price: null })).toBe(
      "1.00M context · text only · no tools · price unknown",
    );
  });

  it("mark an assumed context size", () => {
    expect(factsLine({ ...facts, known: false, price: null, context_window: 128_000 })).toBe(
      "Not in Octo's table: a context of 128k is assumed, and the price is unknown.",
    );
    expect(factsLine({ ...facts, known: false, price: price(0, 0, 0), context_window: 128_000 })).toBe(
      "128k context assumed · free",
    );
  });
});
