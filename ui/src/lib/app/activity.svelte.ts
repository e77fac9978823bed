/** All that runs in this Octo, kept current, and how it is stopped. */
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
  /** What is being stopped, so that it is not asked for twice. */
  readonly #stopping = new SvelteSet<string>();
  /** Whether all of it is. */
  ending = $state(false);
  readonly counts = $derived(counts(this.rows));

  /** (Re)begins to follow it. */
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

  /** Whether it is known what runs. */
  get known(): boolean {
    return this.#state !== null;
  }

  get rows(): readonly ActivityRow[] {
    return this.#state?.rows ?? [];
  }

  /** How many places for turns are taken. */
  get taken(): number {
    return this.#state?.taken ?? 0;
  }

  /** How many there are. */
  get places(): number {
    return this.#state?.places ?? 0;
  }

  /** How many get a place before the turn of a session; null for one that does not wait for one. */
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

/** What runs, for this window. */
export const activity = new Activity();
