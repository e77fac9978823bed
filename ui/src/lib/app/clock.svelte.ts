/** The time, for counters that run. */

/** A reader of the present time that is kept current, once a second, while `runs` says so. */
export function ticking(runs: () => boolean): () => number {
  let now = $state(Date.now());
  $effect(() => {
    if (!runs()) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), 1000);
    return () => clearInterval(timer);
  });
  return () => now;
}
