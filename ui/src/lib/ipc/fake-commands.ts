/** The core's answer to an unknown slash command in a replay: generated locally, without a model. */
import { failure } from "./fake-parts";
import type { ApiError, CommandInfo } from "./types";

const NAMES = ["new", "model", "mode", "folder", "rename", "stop", "retry", "undo", "redo", "help"];
/** The separator between list items, which each language replaces with its own. */
const LIST = "\u001f";
/** The maximum number of suggested names. */
const MOST = 3;

/** Returns the edit distance between two words. */
function distance(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, at) => at);
  [...a].forEach((from, i) => {
    let diagonal = row[0] ?? 0;
    row[0] = i + 1;
    [...b].forEach((to, j) => {
      const changed = diagonal + Number(from !== to);
      diagonal = row[j + 1] ?? 0;
      row[j + 1] = Math.min(changed, (row[j] ?? 0) + 1, diagonal + 1);
    });
  });
  return row[b.length] ?? 0;
}

/** Returns the answer to an unknown command, with similar names; null for a known command, and for a message. */
export function unknownCommand(text: string, skills: readonly CommandInfo[]): ApiError | null {
  const name = /^\/([\w-]+)(?:\s|$)/.exec(text.trim())?.[1]?.toLowerCase();
  if (name === undefined || NAMES.includes(name) || skills.some((skill) => skill.name === name)) return null;
  const near = NAMES.map((known) => [distance(name, known), known] as const)
    .filter(([changes, known]) => changes <= 2 || known.startsWith(name))
    .toSorted(([a, one], [b, other]) => a - b || one.localeCompare(other))
    .slice(0, MOST)
    .map(([, known]) => `/${known}`);
  if (near.length === 0) return failure("command.unknown", { name });
  return failure("command.unknown_near", { name, near: near.join(LIST) });
}
