import type { DiffView } from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiffLine, reverseDiff, diffColumns } from "./diff-columns";

const text = (line: DiffLine | null): string | null => line && line.parts.map((part) => part.text).join("");
const view = (...hunks: DiffLine[][]): DiffView => ({
  path: "/p/a.rs",
  change: "edited",
  added: hunks.flat().filter((line) => line.old === null).length,
  removed: hunks.flat().filter((line) => line.new === null).length,
  hunks: hunks.map((lines) => ({ lines })),
  truncated: false,
});
const line = (old: number | null, now: number | null, words: string): DiffLine => ({
  old,
  new: now,
  parts: [{ text: words, emphasis: false }],
});

/** Generates diffs in the usual form: context, then removals, then additions. */
const anyDiff = fc
  .array(fc.record({ same: fc.nat(3), gone: fc.nat(3), come: fc.nat(3), skip: fc.nat(5) }), { maxLength: 6 })
  .map((parts) => {
    let old = 1;
    let now = 1;
    return view(
      ...parts.map(({ same, gone: removed, come: added, skip }) => {
        const lines: DiffLine[] = [];
        for (let index = 0; index < same; index += 1) lines.push(line(old++, now++, `same ${old}`));
        for (let index = 0; index < removed; index += 1) lines.push(line(old++, null, `gone ${old}`));
        for (let index = 0; index < added; index += 1) lines.push(line(null, now++, `come ${now}`));
        old += skip;
        now += skip;
        return lines;
      }),
    );
  });

describe("two columns", () => {
  it("put what was removed beside what came in its place", () => {
    const rows = diffColumns(
      view(
        [line(3, 3, "a"), line(4, null, "old"), line(null, 4, "new"), line(null, 5, "more"), line(5, 6, "b")],
        [line(9, 10, "c"), line(10, null, "gone")],
      ),
    );
    expect(rows.map((row) => (row.type === "skipped" ? row.lines : [text(row.old), text(row.new)]))).toEqual([
      2,
      ["a", "a"],
      ["old", "new"],
      [null, "more"],
      ["b", "b"],
      3,
      ["c", "c"],
      ["gone", null],
    ]);
  });

  it("begin another change where something is removed after something was added", () => {
    const rows = diffColumns(view([line(1, null, "x"), line(null, 1, "y"), line(2, null, "z")]));
    expect(rows.map((row) => row.type !== "skipped" && [text(row.old), text(row.new)])).toEqual([
      ["x", "y"],
      ["z", null],
    ]);
  });

  it("lose and invent no line, and keep each side in order", () => {
    fc.assert(
      fc.property(anyDiff, (diff) => {
        const rows = diffColumns(diff);
        const lines = diff.hunks.flatMap((hunk) => hunk.lines);
        const column = (side: "old" | "new") =>
          rows.flatMap((row) => (row.type === "skipped" ? [] : (row[side]?.[side] ?? [])));
        expect(column("old")).toEqual(lines.flatMap((line) => line.old ?? []));
        expect(column("new")).toEqual(lines.flatMap((line) => line.new ?? []));
      }),
    );
  });
});

describe("a flipped diff", () => {
  it("removes what was added, the removed lines first", () => {
    const reversedView = reverseDiff(
      view([line(1, 1, "a"), line(2, null, "old"), line(null, 2, "new"), line(3, 3, "b")]),
    );
    expect(reversedView.hunks[0]?.lines.map((line) => [line.old, line.new, text(line)])).toEqual([
      [1, 1, "a"],
      [2, null, "new"],
      [null, 2, "old"],
      [3, 3, "b"],
    ]);
    expect([reversedView.added, reversedView.removed]).toEqual([1, 1]);
  });

  it("flipped again is what it was", () => {
    fc.assert(
      fc.property(anyDiff, (diff) => {
        expect(reverseDiff(reverseDiff(diff))).toEqual(diff);
      }),
    );
  });
});
