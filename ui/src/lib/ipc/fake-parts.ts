/** What every part of a replay needs. */
import type { ApiError } from "./types";

/** What is refused. */
export const failure = (key: string, args: Record<string, string> = {}): ApiError => ({ key, args, retryable: false });

let ids = 0;
/** An id nobody has. */
export const newId = (): string => (++ids).toString(16).padStart(32, "f");

/** How many ids were given out. */
export const idsSoFar = (): number => ids;

/** Gives out further ids than those of before a reload. */
export function idsFrom(given: number): void {
  ids = Math.max(ids, given);
}
