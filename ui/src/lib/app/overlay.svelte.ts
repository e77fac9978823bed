/** What lies over the window: the palette, or the list of shortcuts. */

class Overlay {
  open = $state.raw<{ what: "palette" | "shortcuts"; nth: number } | null>(null);
  #nth = 0;

  palette(): void {
    this.#show("palette");
  }

  shortcuts(): void {
    this.#show("shortcuts");
  }

  /**
   * The `nth` one closed. A dialog tells so a moment after it gave the focus back: one opened by a key in between stays.
   */
  closed(nth: number): void {
    if (this.open?.nth === nth) this.open = null;
  }

  #show(what: "palette" | "shortcuts"): void {
    this.#nth += 1;
    this.open = { what, nth: this.#nth };
  }
}

/** The window's overlay. */
export const overlay = new Overlay();
