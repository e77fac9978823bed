/**
 * What is said when a model could not be tried. The same faults have other words than in the middle of work: no message
 * was sent that could have been kept, and what follows is another test and no retry.
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

/** Why a model could not be tried, and what to do. */
export function explainTest(error: ApiError): string {
  const key = WORDS[error.key];
  return key === undefined ? explain(error) : t(key, error.args);
}
