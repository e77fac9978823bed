/**
 * Handles arrow keys in a list of rows marked `data-rove`: up and down focus the same kind of button in the adjacent
 * row; focusing a file's own button also opens that row.
 */
export function rove(list: HTMLElement): { destroy(): void } {
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-rove]") : null;
    if (step === undefined || !from || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...list.querySelectorAll<HTMLElement>("[data-rove]")];
    const next = rows[rows.indexOf(from) + step];
    event.preventDefault();
    if (!next) return;
    const selector =
      event.target instanceof HTMLElement && event.target.matches('[role="checkbox"]') ? "" : ".file-open";
    const open = next.querySelector<HTMLElement>(".file-open");
    const check = next.querySelector<HTMLButtonElement>('[role="checkbox"]:not(:disabled)');
    open?.click();
    (selector === "" && check ? check : open)?.focus();
  };
  list.addEventListener("keydown", key);
  return { destroy: () => list.removeEventListener("keydown", key) };
}
