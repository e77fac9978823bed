/** What runs, in words. */
import type { ActivityRow, ActivityStatus } from "$lib/ipc/types";
import { type ActivityCounts, tokensOf } from "$lib/state/activity";
import { t, tn } from "$lib/words/words.svelte";
import { tokens } from "./figures";
import { costBriefly, costWords } from "./ledger";

/** How long a turn waits for its place still. */
export function queueWords(ahead: number): string {
  return ahead === 0 ? t("activity.next") : tn("activity.ahead", ahead);
}

/** How something stands. */
export function statusWords(status: ActivityStatus): string {
  if (status.type === "queued") return queueWords(status.ahead);
  return t(status.type === "needs_you" ? "session.status.waiting" : "activity.working");
}

/** What it is called: the first line of a command, and a session without a title as everywhere. */
export function activityName({ id, name }: ActivityRow): string {
  if (id.type === "command") return name.split("\n")[0] ?? "";
  return name || t("session.untitled");
}

/** What it cost so far, in a word or two; empty while nothing was paid. */
export function spentBriefly({ spending }: ActivityRow): string {
  return spending && spending.calls > 0 ? costBriefly(spending) : "";
}

/** The same in whole words, with the tokens. */
export function spentWords(row: ActivityRow): string {
  if (!row.spending || row.spending.calls === 0) return "";
  return t("activity.spent", { cost: costWords(row.spending), tokens: tokens(tokensOf(row)) });
}

/** How many things stand how, for whoever does not see them; empty where nothing runs. */
export function countsWords({ working, needs_you, queued }: ActivityCounts): string {
  const parts = [
    ...(working > 0 ? [tn("activity.count.working", working)] : []),
    ...(needs_you > 0 ? [tn("activity.count.needs_you", needs_you)] : []),
    ...(queued > 0 ? [tn("activity.count.queued", queued)] : []),
  ];
  return parts.join(t("list.comma"));
}
