/** The activity as published by one subscription, and its display groups. Pure. */
import type { ActivityId, ActivityRow, ActivityState } from "$lib/ipc/types";
import { wholeState } from "./whole-state";

/** Applies an update of the subscription. */
export const apply = wholeState<ActivityState>((update) => {
  if (update.type === "activity") return update.state;
  return update.type === "snapshot" && update.snapshot.topic === "activity" ? update.snapshot.state : null;
});

/** The kinds of activity, in display order. */
export const KINDS = ["session", "task", "sub_agent", "command"] as const satisfies readonly ActivityId["type"][];

/** The rows under one heading. */
export interface ActivityGroup {
  readonly kind: ActivityId["type"];
  readonly rows: readonly ActivityRow[];
}

/** Groups the rows by kind, leaving out empty groups. */
export function groups(rows: readonly ActivityRow[]): readonly ActivityGroup[] {
  return KINDS.map((kind) => ({ kind, rows: rows.filter((row) => row.id.type === kind) })).filter(
    (group) => group.rows.length > 0,
  );
}

/** Returns a unique text key of an item. */
export function keyOf(id: ActivityId): string {
  switch (id.type) {
    case "session":
    case "sub_agent":
      return `${id.type} ${id.session}`;
    case "task":
      return `task ${id.run}`;
    case "command":
      return `command ${id.session} ${id.handle}`;
    default:
      return id satisfies never;
  }
}

/** The numbers of items that are working, need the person, or are queued. */
export interface ActivityCounts {
  readonly working: number;
  readonly needs_you: number;
  readonly queued: number;
}

export function counts(rows: readonly ActivityRow[]): ActivityCounts {
  const count = (type: ActivityRow["status"]["type"]): number => rows.filter((row) => row.status.type === type).length;
  return { working: count("working"), needs_you: count("needs_you"), queued: count("queued") };
}

/** Returns the number of turns queued before a session's; null if it is not queued. */
export function aheadOf(rows: readonly ActivityRow[], session: string): number | null {
  const row = rows.find(
    ({ id, session: rowSession }) => rowSession === session && (id.type === "session" || id.type === "task"),
  );
  return row?.status.type === "queued" ? row.status.ahead : null;
}

/** Returns the total number of tokens spent. */
export function tokensOf({ spending }: ActivityRow): number {
  if (!spending) return 0;
  const { input, cache_read, cache_write, output } = spending.usage;
  return input + cache_read + cache_write + output;
}
