/** Tools that are only counted, such as a sub-agent's, as text: a model's names for them mean nothing to a person. */
import type { ToolCount } from "$lib/ipc/types";
import { STEP_KINDS, type StepKind } from "$lib/state/group";
import { t, tn } from "$lib/words/words.svelte";

/** The step kind of each tool; a test compares the names with the existing tools. */
export const TOOL_KINDS: Readonly<Record<string, StepKind>> = {
  browser: "browser",
  edit: "change",
  file_reader: "look",
  glob: "look",
  grep: "look",
  invoke_skill: "skill",
  list_tasks: "look",
  redo_task: "change",
  request_user_feedback: "other",
  terminal: "command",
  todo_manager: "other",
  trash_manager: "other",
  undo_task: "change",
  web_fetch: "web",
  web_search: "web",
  write: "change",
};

/** Summarises tool use, like "2 looks, 1 command". */
export function countedWork(tools: readonly ToolCount[]): string {
  const counts = new Map<StepKind, number>();
  for (const { tool, count } of tools) {
    const kind = TOOL_KINDS[tool] ?? "other";
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const named = STEP_KINDS.filter((kind) => counts.has(kind));
  return named.map((kind) => tn(`steps.${kind}`, counts.get(kind) ?? 0)).join(t("list.comma"));
}
