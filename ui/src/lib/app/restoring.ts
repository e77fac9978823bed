/** The way back for what was just put into the trash from its own page. */
import { baseName } from "$lib/format/figures";
import { call } from "$lib/ipc";
import type { Restored, TrashKind } from "$lib/ipc/types";
import { t, tn } from "$lib/words/words.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

/** How many of the newest things are looked through for it. */
const NEWEST = 20;

/** Says that something went to the trash, and offers to bring it back; `names` are those it may have there. A kind that
 * is null is any. */
export async function offerBack(kind: TrashKind | null, names: readonly string[], words: string): Promise<void> {
  const since = Date.now();
  const look = { query: "", kind, project: null, offset: 0, limit: NEWEST };
  const known = await call("trash", "list_trash", look).then(
    ({ entries }) => entries.find((entry) => names.includes(entry.name) || names.includes(baseName(entry.name))),
    () => undefined,
  );
  // One of that name may lie there from an earlier time; what just went is at most a minute old.
  if (!known || known.at < since - 60_000) {
    toasts.show(words, { label: t("toast.open_trash"), run: () => navigation.trash() });
    return;
  }
  toasts.show(words, { label: t("toast.undo"), run: () => void bringBack(known.id) });
}

/** Says which tasks came back paused, since a time of theirs passed meanwhile. */
export function sayPaused(outcomes: readonly Restored[]): void {
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
    if (outcome) sayPaused([outcome]);
    if (outcome?.type === "failed") toasts.fail(outcome.error);
    // Something of its name is there again: the trash shows both.
    else if (outcome?.type === "taken") navigation.trash();
  } catch (error) {
    toasts.fail(error);
  }
}
