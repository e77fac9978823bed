/** Undo for an entry that its own page just moved to the trash. */
import { baseName } from "$lib/format/figures";
import { call } from "$lib/ipc";
import type { RestoreOutcome, TrashKind } from "$lib/ipc/types";
import { t, tn } from "$lib/words/words.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

/** How many of the newest entries are searched for it. */
const NEWEST = 20;

/**
 * Shows that something went to the trash and offers to restore it; `names` are the possible names of the entry. A null
 * kind matches any.
 */
export async function offerUndo(kind: TrashKind | null, names: readonly string[], words: string): Promise<void> {
  const since = Date.now();
  const request = { query: "", kind, project: null, offset: 0, limit: NEWEST };
  const storedEntries = await call("trash", "list_trash", request).then(
    ({ entries }) => entries.find((entry) => names.includes(entry.name) || names.includes(baseName(entry.name))),
    () => undefined,
  );
  // An older entry of that name may exist; the one just removed is at most a minute old.
  if (!storedEntries || storedEntries.at < since - 60_000) {
    toasts.show(words, { label: t("toast.open_trash"), run: () => navigation.trash() });
    return;
  }
  toasts.show(words, { label: t("toast.undo"), run: () => void bringBack(storedEntries.id) });
}

/** Shows which tasks came back paused because a scheduled time passed in the meantime. */
export function reportPaused(outcomes: readonly RestoreOutcome[]): void {
  const paused = outcomes.flatMap((outcome) => (outcome.type === "paused" ? [outcome.task] : []));
  if (paused.length === 0) return;
  const tasks = paused.join(t("list.comma"));
  toasts.show(tn("trash.paused", paused.length, { tasks }), {
    label: t("trash.paused.open"),
    run: () => navigation.tasks(),
  });
}

async function bringBack(id: string): Promise<void> {
  try {
    const { outcomes } = await call("trash", "restore_trash", { ids: [id], to: null, on_conflict: "ask" });
    const outcome = outcomes[0];
    if (outcome) reportPaused([outcome]);
    if (outcome?.type === "failed") toasts.fail(outcome.error);
    // The name is taken again: the trash shows both.
    else if (outcome?.type === "taken") navigation.trash();
  } catch (error) {
    toasts.fail(error);
  }
}
