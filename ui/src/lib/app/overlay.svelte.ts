/** The window's overlay: the palette, or the list of shortcuts. */

class Overlay {
  open = $state.raw<{ name: "palette" | "shortcuts"; id: number } | null>(null);
  #id = 0;

  palette(): void {
    this.#show("palette");
  }

  shortcuts(): void {
    this.#show("shortcuts");
  }

  /**
   * Closes the overlay of an id. A dialog reports closing after it returned the focus; one opened by a key in between
   * stays open.
   */
  closed(id: number): void {
    if (this.open?.id === id) this.open = null;
  }

  #show(overlay: "palette" | "shortcuts"): void {
    this.#id += 1;
    this.open = { name: overlay, id: this.#id };
  }
}

/** This window's overlay. */
export const overlay = new Overlay();
