/** Detection of a double Escape. Pure except for its memory. */

/** The longest time between two presses of a pair, in milliseconds: an unhurried double press. */
const TOGETHER = 600;

export class EscapePairs {
  #last: number | null = null;

  /** Records a press at a time in milliseconds; returns whether it is the second of a pair. */
  press(time: number): boolean {
    const isSecondPress = this.#last !== null && time - this.#last <= TOGETHER;
    // A third press starts a new pair.
    this.#last = isSecondPress ? null : time;
    return isSecondPress;
  }

  /** Forgets a press that had another effect. */
  forget(): void {
    this.#last = null;
  }
}
