/** The current time, for running counters and for words that name a day. It pauses in a hidden window. */
import { midnight, nextMidnight } from "$lib/format/figures";
import { windowVisibility } from "./window-visibility.svelte";

const SECOND = 1_000;
/**
 * The longest timer, in milliseconds: timers pause while the computer sleeps, so a single timer must not span a day.
 */
const LONGEST = 60_000;

/** Returns a reader of the current time, updated once a second while `runs` returns true. */
export function everySecond(runs: () => boolean): () => number {
  let now = $state(Date.now());
  $effect(() => {
    if (!windowVisibility.visible || !runs()) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), SECOND);
    return () => clearInterval(timer);
  });
  return () => now;
}

/** Returns a reader of the moment after the last midnight, updated when the day changes. */
export function startOfToday(): () => number {
  let day = $state(midnight(Date.now()));
  $effect(() => {
    if (!windowVisibility.visible) return;
    let timer: ReturnType<typeof setTimeout>;
    const update = (): void => {
      const now = Date.now();
      day = midnight(now);
      timer = setTimeout(update, Math.min(LONGEST, nextMidnight(now) - now));
    };
    update();
    return () => clearTimeout(timer);
  });
  return () => day + 1;
}
