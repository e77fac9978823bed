/** The window's overlay: the palette, or the list of shortcuts. */

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
   * Closes the `nth` overlay. A dialog reports closing after it returned the focus; one opened by a key in between
   * stays open.
   */
  closed(id: number): void {
    if (this.open?.nth === id) this.open = null;
  }

  #show(overlay: "palette" | "shortcuts"): void {
    this.#nth += 1;
    this.open = { what: overlay, nth: this.#nth };
  }
}

/** This window's overlay. */
export const overlay = new Overlay();
