/**
 * The words for a failed model test. The same errors need other words than during a turn: no message was sent that
 * could have been kept, and the next action is another test, not a retry.
 */
import type { ApiError } from "$lib/ipc/types";
import { type WordKey, explain, t } from "./words.svelte";

const WORDS: Readonly<Record<string, WordKey>> = {
  "key.not_read": "error.model.test.not_read",
  "provider.auth": "error.model.test.auth",
  "provider.billing": "error.model.test.billing",
  "provider.cut_off": "error.model.test.cut_off",
  "provider.forbidden": "error.model.test.forbidden",
  "provider.invalid": "error.model.test.invalid",
  "provider.malformed": "error.model.test.malformed",
  "provider.network": "error.model.test.network",
  "provider.not_found": "error.model.test.not_found",
  "provider.overloaded": "error.model.test.overloaded",
  "provider.rate_limited": "error.model.test.rate_limited",
  "provider.untrusted": "error.model.test.untrusted",
};

/** Explains why a model test failed, and how to fix it. */
export function explainTest(error: ApiError): string {
  const key = WORDS[error.key];
  return key === undefined ? explain(error) : t(key, error.args);
}
