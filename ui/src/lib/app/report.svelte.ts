/** What was spent in a time, kept current while sessions work: read again when a call is billed, never by the clock. */
import { asApiError, call, subscribe } from "$lib/ipc";
import type { ApiError, SpendingReport } from "$lib/ipc/types";
import { type Period, type Range, periodOf } from "$lib/state/spending";

/** How long calls that are billed one after the other are gathered before the figures are read again, in milliseconds. */
const GATHER = 1_000;

/** A report with the time it is of. */
export interface Report extends SpendingReport {
  readonly period: Period;
}

export class Spent {
  report = $state.raw<Report | null>(null);
  failure = $state.raw<ApiError | null>(null);

  /** Reads the figures of a range and follows them until the returned function is called. */
  follow(range: Range): () => void {
    let over = false;
    let reading = false;
    let again = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.failure = null;

    const read = async (): Promise<void> => {
      reading = true;
      again = false;
      const period = periodOf(range, Date.now());
      try {
        const found = await call("ledger", "report_spending", { from: period.from, to: period.to });
        if (!over) {
          this.report = { ...found, period };
          this.failure = null;
        }
      } catch (error) {
        if (!over) this.failure = asApiError(error);
      }
      timer = setTimeout(() => {
        reading = false;
        if (again && !over) void read();
      }, GATHER);
    };
    // Subscribed before the figures are read: no call falls between the two.
    const end = subscribe(
      { type: "ledger" },
      (batch) => {
        if (over || !batch.some(({ type }) => type === "billed" || type === "snapshot")) return;
        if (reading) again = true;
        else void read();
      },
      (error) => (this.failure = error),
    );
    return () => {
      over = true;
      clearTimeout(timer);
      end();
    };
  }
}
