/** Activity as text. */
import type { ActivityRow, ActivityStatus } from "$lib/ipc/types";
import { type ActivityCounts, tokensOf } from "$lib/state/activity";
import { t, tn } from "$lib/words/words.svelte";
import { tokens } from "./figures";
import { costBriefly, costWords } from "./ledger";

/** Describes a turn's position in the queue. */
export function queueWords(queuedBefore: number): string {
  return queuedBefore === 0 ? t("activity.next") : tn("activity.ahead", queuedBefore);
}

/** Describes a status. */
export function statusWords(status: ActivityStatus): string {
  if (status.type === "queued") return queueWords(status.ahead);
  return t(status.type === "needs_you" ? "session.status.waiting" : "activity.working");
}

/** Returns an item's name: the first line of a command, and the usual name for a session without a title. */
export function activityName({ id, name }: ActivityRow): string {
  if (id.type === "command") return name.split("\n")[0] ?? "";
  return name || t("session.untitled");
}

/** Returns the cost so far, briefly; empty if there is none. */
export function spentBriefly({ spending }: ActivityRow): string {
  return spending && spending.calls > 0 ? costBriefly(spending) : "";
}

/** Returns the cost in full, with the tokens. */
export function spentWords(row: ActivityRow): string {
  if (!row.spending || row.spending.calls === 0) return "";
  return t("activity.spent", { cost: costWords(row.spending), tokens: tokens(tokensOf(row)) });
}

/** Describes the number of items by status, for a screen reader; empty if nothing runs. */
export function countsWords({ working, needs_you, queued }: ActivityCounts): string {
  const parts = [
    ...(working > 0 ? [tn("activity.count.working", working)] : []),
    ...(needs_you > 0 ? [tn("activity.count.needs_you", needs_you)] : []),
    ...(queued > 0 ? [tn("activity.count.queued", queued)] : []),
  ];
  return parts.join(t("list.comma"));
}
