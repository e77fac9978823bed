import type { SpendingLine } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { csvOf } from "./csv";

const line = (name: string, cost = 0): SpendingLine => ({
  day: "2026-11-22",
  name,
  purpose: "turn",
  spending: { calls: 2, usage: { input: 1, cache_read: 20, cache_write: 3, output: 4 }, cost, unpriced: 1 },
});
const HEAD =
  "day,model,purpose,calls,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,cost_usd,calls_without_price";

describe("the report as CSV", () => {
  it("has a row per line with exact amounts", () => {
    expect(csvOf([])).toBe(`${HEAD}\r\n`);
    expect(csvOf([line("m", 1)])).toBe(`${HEAD}\r\n2026-11-22,m,turn,2,1,20,3,4,0.000000001,1\r\n`);
    expect(csvOf([line("m", 12_345_678_901)])).toContain(",12.345678901,1");
  });

  it.each([
    { name: 'a,"b"\n', cell: '"a,""b""\n"' },
    { name: "=SUM(A1)", cell: "'=SUM(A1)" },
    { name: "@x", cell: "'@x" },
    { name: "-1+2", cell: "'-1+2" },
    { name: "qwen3:8b", cell: "qwen3:8b" },
  ])("keeps $name a name", ({ name, cell }) => {
    expect(csvOf([line(name)])).toBe(`${HEAD}\r\n2026-11-22,${cell},turn,2,1,20,3,4,0.000000000,1\r\n`);
  });
});
