/** Keys of the window that the person chose in place of the usual ones: kept here so that whatever names a key reads it. */
import type { Settings } from "$lib/ipc/types";

/** The keys by what they do, written as the settings have them. */
export type ChosenKeys = Settings["shortcuts"];

let keys = $state.raw<ChosenKeys>({});

/** The keys that are chosen now. */
export function chosenKeys(): ChosenKeys {
  return keys;
}

/** Takes the person's choice into use. */
export function chooseKeys(next: ChosenKeys): void {
  keys = next;
}
