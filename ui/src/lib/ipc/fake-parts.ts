/** Shared helpers of the replay's parts. */
import type { ApiError } from "./types";

/** Returns an error. */
export const failure = (key: string, args: Record<string, string> = {}): ApiError => ({ key, args, retryable: false });

let ids = 0;
/** Returns a unique id. */
export const newId = (): string => (++ids).toString(16).padStart(32, "f");
