/** Known providers and their models: loaded once, stored by the core. */
import { call } from "$lib/ipc";
import type { ApiError, PresetInfo } from "$lib/ipc/types";

/** The preset of a server no other preset covers. */
export const CUSTOM = "custom";

class Presets {
  list = $state.raw<readonly PresetInfo[]>([]);
  /** Errors in the person's own table. */
  warnings = $state.raw<readonly ApiError[]>([]);
  #reading: Promise<void> | null = null;

  /** Loads the list, once. */
  read(): Promise<void> {
    this.#reading ??= call("models", "list_presets", {}).then(
      (list) => {
        this.list = list.presets;
        this.warnings = list.warnings;
      },
      (error: unknown) => {
        this.#reading = null;
        throw error;
      },
    );
    return this.#reading;
  }

  find(id: string | null): PresetInfo | null {
    return this.list.find((preset) => preset.id === id) ?? null;
  }
}

/** This window's presets. */
export const presets = new Presets();
