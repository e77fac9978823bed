/** Moves the focus to the row above or below; returns whether the key asked for that. */
export function stepRow(event: KeyboardEvent): boolean {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
  const rows = [...document.querySelectorAll<HTMLElement>(".side-list .row")];
  rows[rows.indexOf(event.currentTarget as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  event.preventDefault();
  return true;
}
