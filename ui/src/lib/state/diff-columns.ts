/** A diff as two columns of lines. Pure. */
import type { DiffView } from "$lib/ipc/types";

/** A line of a diff. */
export type DiffLine = DiffView["hunks"][number]["lines"][number];

/** A row of the two columns. */
export type SideRow =
  | { readonly type: "same" | "changed"; readonly old: DiffLine | null; readonly new: DiffLine | null }
  /** Unchanged lines that are not shown. */
  | { readonly type: "skipped"; readonly lines: number };

/** Returns the rows of a diff: removed lines next to their replacements. */
export function diffColumns(diff: DiffView): readonly SideRow[] {
  const rows: SideRow[] = [];
  let next = 1;
  for (const hunk of diff.hunks) {
    const first = hunk.lines.find((line) => line.old !== null)?.old;
    if (first !== undefined && first !== null && first > next) rows.push({ type: "skipped", lines: first - next });
    let removed: DiffLine[] = [];
    let added: DiffLine[] = [];
    const flush = (): void => {
      for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
        rows.push({ type: "changed", old: removed[index] ?? null, new: added[index] ?? null });
      }
      removed = [];
      added = [];
    };
    for (const line of hunk.lines) {
      if (line.old !== null) next = line.old + 1;
      if (line.old === null) added.push(line);
      else if (line.new === null) {
        // A removal after an addition starts another change.
        if (added.length > 0) flush();
        removed.push(line);
      } else {
        flush();
        rows.push({ type: "same", old: line, new: line });
      }
    }
    flush();
  }
  return rows;
}

/** Returns the reverse diff: added lines become removed ones. */
export function reverseDiff(diff: DiffView): DiffView {
  const hunks = diff.hunks.map((hunk) => {
    const lines: DiffLine[] = [];
    let removed: DiffLine[] = [];
    let added: DiffLine[] = [];
    const flush = (): void => {
      // Removals come first, as in every diff.
      lines.push(...removed, ...added);
      removed = [];
      added = [];
    };
    for (const line of hunk.lines) {
      const swapped = { ...line, old: line.new, new: line.old };
      if (swapped.new === null) removed.push(swapped);
      else if (swapped.old === null) added.push(swapped);
      else {
        flush();
        lines.push(swapped);
      }
    }
    flush();
    return { ...hunk, lines };
  });
  return { ...diff, hunks, change: "edited", added: diff.removed, removed: diff.added };
}
