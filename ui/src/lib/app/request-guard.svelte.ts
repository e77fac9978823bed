/** A page's requests to the core, one at a time. */
import { asApiError } from "$lib/ipc";
import type { ApiError } from "$lib/ipc/types";

export abstract class RequestGuard<What extends string> {
  /** The running request. */
  busy = $state<What | null>(null);
  /** The error of the last request. */
  problem = $state.raw<ApiError | null>(null);

  /** Runs a request unless another one is running. */
  protected async while(operation: What, work: () => Promise<void>): Promise<void> {
    if (this.busy !== null) return;
    this.busy = operation;
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
