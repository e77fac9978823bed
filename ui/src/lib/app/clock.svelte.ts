/** The time, for counters that run and for words that name a day. Nobody sees a hidden window: there it stands still. */
import { midnight, nextMidnight } from "$lib/format/figures";
import { attention } from "./attention.svelte";

const SECOND = 1_000;
/** A timer stands still while the computer sleeps, so the day is not waited for in one. */
const LONGEST = 60_000;

/** A reader of the present time that is kept current, once a second, while `runs` says so. */
export function ticking(runs: () => boolean): () => number {
  let now = $state(Date.now());
  $effect(() => {
    if (!attention.here || !runs()) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), SECOND);
    return () => clearInterval(timer);
  });
  return () => now;
}

/** A reader of the moment after the last midnight: another one when the day is another. */
export function today(): () => number {
  let day = $state(midnight(Date.now()));
  $effect(() => {
    if (!attention.here) return;
    let timer: ReturnType<typeof setTimeout>;
    const look = (): void => {
      const now = Date.now();
      day = midnight(now);
      timer = setTimeout(look, Math.min(LONGEST, nextMidnight(now) - now));
    };
    look();
    return () => clearTimeout(timer);
  });
  return () => day + 1;
}
