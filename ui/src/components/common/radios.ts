/** Handles arrow keys in a group of radio buttons: selects and focuses the next one. */
export function arrows(event: KeyboardEvent, chosen: number, count: number, choose: (index: number) => void): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  // The window handles keys with Alt.
  if (step === undefined || count === 0 || event.altKey) return;
  event.preventDefault();
  const next = (Math.max(chosen, step > 0 ? -1 : 0) + step + count) % count;
  choose(next);
  const group = event.currentTarget as HTMLElement;
  group.querySelectorAll<HTMLElement>("[role=radio]")[next]?.focus();
}
