/** Speed tests of the connected models, one after the other, until done or stopped. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, ModelSpeed } from "$lib/ipc/types";
import { SvelteMap } from "svelte/reactivity";
import { toasts } from "./toasts.svelte";

/** The result of a model's speed test. */
export type SpeedResult = { type: "speed"; speed: ModelSpeed } | { type: "failed"; error: ApiError };

class SpeedTests {
  /** The model being tested. */
  now = $state<string | null>(null);
  /** Results by model; kept until its next test. */
  readonly results = new SvelteMap<string, SpeedResult>();
  #stopped = false;

  /** Tests the models with these ids in this order. */
  async all(models: readonly string[]): Promise<void> {
    if (this.now !== null) return;
    this.#stopped = false;
    for (const model of models) {
      this.now = model;
      try {
        const speed = await call("models", "measure_model", { model });
        this.results.set(model, { type: "speed", speed });
      } catch (error) {
        if (this.#stopped) break;
        this.results.set(model, { type: "failed", error: asApiError(error) });
      }
      if (this.#stopped) break;
    }
    this.now = null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    try {
      await call("models", "stop_measuring", {});
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** This window's speed tests. */
export const speedTests = new SpeedTests();

/** Returns the tokens per second after the first byte; null if unknown. */
export function rate({ first_byte_ms, total_ms, output_tokens }: ModelSpeed): number | null {
  const streamed = total_ms - first_byte_ms;
  return output_tokens === null || streamed <= 0 ? null : (output_tokens * 1000) / streamed;
}
