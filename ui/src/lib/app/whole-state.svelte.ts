/** The state of a topic whose updates carry it whole, kept current. */
import type { Topic, Update } from "$lib/ipc/types";
import type { Outcome } from "$lib/state/outcome";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

export class WholeState<State> {
  protected state = $state.raw<State | null>(null);
  #following: Following<State> | undefined;

  constructor(
    private readonly topic: Topic,
    private readonly apply: (state: State | null, update: Update) => Outcome<State | null>,
  ) {}

  /** (Re)subscribes. */
  begin(): void {
    this.#following?.stop();
    this.#following = follow<State>(this.topic, this.apply, {
      state: (state) => (this.state = state),
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }
}
