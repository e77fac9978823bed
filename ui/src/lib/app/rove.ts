/** Moves the focus up and down between the rows of a list, which are buttons marked by `data-row-open`. */
export function moveBetweenRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.target instanceof HTMLElement) || !event.target.matches("[data-row-open]")) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[data-row-open]")];
  event.preventDefault();
  rows[rows.indexOf(event.target) + step]?.focus();
}
