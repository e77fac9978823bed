/** What applying an update gave. */
export type Outcome<S> =
  /** The new state (the same object when nothing changed). */
  | { type: "applied"; state: S }
  /** Something was missed: the subscription must begin again with a fresh snapshot. */
  | { type: "gap" }
  /** The topic's subject is gone. */
  | { type: "ended" }
  /** The subscription itself failed. */
  | { type: "fault"; error: ApiError };

import type { ApiError } from "$lib/ipc/types";

/** Fails to compile when a case of a union was forgotten; at run time an unknown case changes nothing. */
export function unreachable<T>(_case: never, unchanged: T): T {
  return unchanged;
}
