/** The spending of a period, kept current while sessions work: reloaded when a call is billed, never by a timer. */
import { asApiError, call, subscribe } from "$lib/ipc";
import type { ApiError, SpendingReport } from "$lib/ipc/types";
import { type Period, type Range, periodOf } from "$lib/state/spending";

/** How long billed calls are gathered before the figures are reloaded, in milliseconds. */
const GATHER = 1_000;

/** A report with its period. */
export interface Report extends SpendingReport {
  readonly period: Period;
}

export class SpendingReportStore {
  report = $state.raw<Report | null>(null);
  failure = $state.raw<ApiError | null>(null);

  /** Loads the figures of a range and follows them until the returned function is called. */
  follow(range: Range): () => void {
    let disposed = false;
    let reading = false;
    let isStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.failure = null;

    const read = async (): Promise<void> => {
      reading = true;
      isStale = false;
      const period = periodOf(range, Date.now());
      try {
        const report = await call("ledger", "report_spending", { from: period.from, to: period.to });
        if (!disposed) {
          this.report = { ...report, period };
          this.failure = null;
        }
      } catch (error) {
        if (!disposed) this.failure = asApiError(error);
      }
      timer = setTimeout(() => {
        reading = false;
        if (isStale && !disposed) void read();
      }, GATHER);
    };
    // Subscribes before reading the figures, so that no call falls between the two.
    const end = subscribe(
      { type: "ledger" },
      (batch) => {
        if (disposed || !batch.some(({ type }) => type === "billed" || type === "snapshot")) return;
        if (reading) isStale = true;
        else void read();
      },
      (error) => (this.failure = error),
    );
    return () => {
      disposed = true;
      clearTimeout(timer);
      end();
    };
  }
}
