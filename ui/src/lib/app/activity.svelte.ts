/** Everything that runs in this Octo, kept current, with ways to stop it. */
import { call } from "$lib/ipc";
import type { ActivityRow, ActivityState } from "$lib/ipc/types";
import { aheadOf, apply, counts, keyOf } from "$lib/state/activity";
import { tn } from "$lib/words/words.svelte";
import { SvelteSet } from "svelte/reactivity";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Activity {
  #state = $state.raw<ActivityState | null>(null);
  #following: Following<ActivityState> | undefined;
  /** The keys of items being stopped, so that no second request is sent. */
  readonly #stopping = new SvelteSet<string>();
  /** Whether everything is being stopped. */
  ending = $state(false);
  readonly counts = $derived(counts(this.rows));

  /** (Re)subscribes. */
  begin(): void {
    this.#following?.stop();
    this.#following = follow<ActivityState>({ type: "activity" }, apply, {
      state: (state) => (this.#state = state),
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }

  /** Whether the activity is loaded. */
  get loaded(): boolean {
    return this.#state !== null;
  }

  get rows(): readonly ActivityRow[] {
    return this.#state?.rows ?? [];
  }

  /** The number of turn permits in use. */
  get taken(): number {
    return this.#state?.taken ?? 0;
  }

  /** The maximum number of concurrent turns. */
  get places(): number {
    return this.#state?.places ?? 0;
  }

  /** The number of turns queued before a session's; null if it is not queued. */
  ahead(session: string): number | null {
    return aheadOf(this.rows, session);
  }

  isStopping(row: ActivityRow): boolean {
    return this.ending || this.#stopping.has(keyOf(row.id));
  }

  async stop(row: ActivityRow): Promise<void> {
    const key = keyOf(row.id);
    if (this.isStopping(row)) return;
    this.#stopping.add(key);
    try {
      await call("activity", "stop_activity", { id: row.id });
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.#stopping.delete(key);
    }
  }

  async stopAll(): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    try {
      const { count } = await call("activity", "stop_all_activity", {});
      toasts.show(tn("activity.stopped", count));
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.ending = false;
    }
  }
}

/** This window's activity. */
export const activity = new Activity();
