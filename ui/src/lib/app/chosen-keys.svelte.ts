/** The key bindings chosen by the person, kept in one reactive place that all displayed keys read. */
import type { Settings } from "$lib/ipc/types";

/** The chosen keys by action, in the form of the settings. */
export type ChosenKeys = Settings["shortcuts"];

let keys = $state.raw<ChosenKeys>({});

/** Returns the chosen keys. */
export function chosenKeys(): ChosenKeys {
  return keys;
}

/** Applies the person's choice. */
export function chooseKeys(next: ChosenKeys): void {
  keys = next;
}
