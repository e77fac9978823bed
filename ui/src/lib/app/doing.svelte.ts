/** What a page asks of the core one thing at a time. */
import { asApiError } from "$lib/ipc";
import type { ApiError } from "$lib/ipc/types";

export abstract class Doing<What extends string> {
  /** What is being done. */
  busy = $state<What | null>(null);
  /** What went wrong with the last thing. */
  problem = $state.raw<ApiError | null>(null);

  /** Does something, unless something is being done already. */
  protected async while(what: What, work: () => Promise<void>): Promise<void> {
    if (this.busy !== null) return;
    this.busy = what;
    this.problem = null;
    try {
      await work();
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.busy = null;
    }
  }
}
