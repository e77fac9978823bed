/** A line diff of two texts for a diff view. Pure. */
import type { DiffView } from "$lib/ipc/types";
import type { DiffLine } from "./diff-columns";

/** The number of unchanged lines shown around a change. */
const AROUND = 3;
/** The maximum number of line pairs compared; above it everything between the common ends counts as replaced. */
const PAIRS = 4_000_000;

interface EditedLine {
  readonly line: DiffLine;
  readonly changed: boolean;
}

const linesOf = (text: string): string[] =>
  text === "" ? [] : text.replace(/\r\n/g, "\n").replace(/\n$/, "").split("\n");

/** Returns the diff from `old` to `now`; without hunks if their lines are equal. */
export function difference(path: string, old: string, now: string): DiffView {
  const before = linesOf(old);
  const after = linesOf(now);
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const maximum = Math.min(before.length, after.length) - head;
  while (tail < maximum && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;

  const lines: EditedLine[] = [];
  let oldLine = 0;
  let right = 0;
  const same = (): void => void lines.push(draw(before[oldLine] ?? "", ++oldLine, ++right, false));
  const remove = (): void => void lines.push(draw(before[oldLine] ?? "", ++oldLine, null, true));
  const add = (): void => void lines.push(draw(after[right] ?? "", null, ++right, true));
  while (oldLine < head) same();
  for (const step of script(before.slice(head, before.length - tail), after.slice(head, after.length - tail))) {
    if (step === "same") same();
    else if (step === "gone") remove();
    else add();
  }
  while (oldLine < before.length) same();

  const added = lines.filter(({ line }) => line.old === null).length;
  const removed = lines.filter(({ line }) => line.new === null).length;
  const change = old === "" ? "created" : "edited";
  return { path, change, added, removed, hunks: hunksOf(lines), truncated: false };
}

function draw(text: string, old: number | null, now: number | null, changed: boolean): EditedLine {
  return { line: { old, new: now, parts: [{ text, emphasis: false }] }, changed };
}

/** Returns the shortest edit script from one list to the other, removals before their replacements. */
function script(before: readonly string[], after: readonly string[]): readonly ("same" | "gone" | "come")[] {
  const width = after.length + 1;
  if (before.length * after.length > PAIRS)
    return [...before.map(() => "gone" as const), ...after.map(() => "come" as const)];
  // The length of the longest common subsequence of the two remainders, by where each starts.
  const common = new Uint32Array((before.length + 1) * width);
  const lengthAt = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        before[i] === after[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const steps: ("same" | "gone" | "come")[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      steps.push("same");
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      steps.push("gone");
      i += 1;
    } else {
      steps.push("come");
      j += 1;
    }
  }
  return steps;
}

function hunksOf(diffLines: readonly EditedLine[]): DiffView["hunks"] {
  const hunks: DiffLine[][] = [];
  let end = 0;
  diffLines.forEach(({ changed }, index) => {
    if (!changed) return;
    const from = Math.max(index - AROUND, 0);
    if (hunks.length === 0 || from > end) {
      hunks.push([]);
      end = from;
    }
    const to = Math.min(index + AROUND + 1, diffLines.length);
    for (; end < to; end += 1) {
      const next = diffLines[end];
      if (next) hunks.at(-1)?.push(next.line);
    }
  });
  return hunks.map((lines) => ({ lines }));
}
