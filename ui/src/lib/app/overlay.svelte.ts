/** What lies over the window: the palette, or the list of shortcuts. */

class Overlay {
  open = $state<"palette" | "shortcuts" | null>(null);

  /** Opens the palette; closes it when it is open. */
  togglePalette(): void {
    this.open = this.open === "palette" ? null : "palette";
  }

  /** Opens the list of shortcuts. */
  shortcuts(): void {
    this.open = "shortcuts";
  }

  close(): void {
    this.open = null;
  }
}

/** The window's overlay. */
export const overlay = new Overlay();
