/** Escape pressed twice. Pure but for what it remembers. */

/** The longest time between two presses that belong together, in milliseconds: an unhurried double press. */
const TOGETHER = 600;

export class EscapePairs {
  #last: number | null = null;

  /** Notes a press at a moment in milliseconds; whether it is the second of two. */
  press(at: number): boolean {
    const second = this.#last !== null && at - this.#last <= TOGETHER;
    // A third one begins anew.
    this.#last = second ? null : at;
    return second;
  }

  /** Another use was made of the press. */
  forget(): void {
    this.#last = null;
  }
}
