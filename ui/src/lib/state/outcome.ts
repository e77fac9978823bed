/** The result of applying an update. */
export type Outcome<S> =
  /** The new state (the same object when nothing changed). */
  | { type: "applied"; state: S }
  /** Updates were missed: the subscription must restart with a fresh snapshot. */
  | { type: "gap" }
  /** The topic's subject no longer exists. */
  | { type: "ended" }
  /** The subscription itself failed. */
  | { type: "fault"; error: ApiError };

import type { ApiError } from "$lib/ipc/types";

/** Fails to compile when a case of a union is missing; at run time an unknown case changes nothing. */
export function unreachable<T>(_case: never, unchanged: T): T {
  return unchanged;
}
