/** Keeps a state current from a subscription; resubscribes for a fresh snapshot when updates were missed. */
import { subscribe } from "$lib/ipc";
import type { ApiError, Topic, Update } from "$lib/ipc/types";
import type { Outcome } from "$lib/state/outcome";

/** How long to wait before resubscribing when updates were missed twice in a row, in milliseconds. */
const PAUSE = 500;
/** How long to wait after a fault, in milliseconds; doubles up to the last. */
const AFTER_FAULT = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;

/** The reaction to a fault: resubscribe automatically, or wait for an explicit call. */
export type AfterFault = "again" | "wait";

/** The callbacks of a follower. */
export interface Follower<S> {
  state(state: S): void;
  ended(): void;
  /** Called on a fault. With automatic retries it is called once until the subscription works again. */
  fault(error: ApiError): AfterFault;
}

/** A state being kept current. */
export interface Following<S> {
  /** Changes the state by something other than an update, for example a loaded page. */
  change(change: (state: S) => S): void;
  stop(): void;
}

/** Follows `topic` until stopped. */
export function follow<S>(
  topic: Topic,
  apply: (state: S | null, update: Update) => Outcome<S | null>,
  follower: Follower<S>,
): Following<S> {
  let state: S | null = null;
  let stopped = false;
  let end: () => void = () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let missedAt = -Infinity;
  let faults = 0;

  const begin = (): void => {
    let missed = false;
    const failed = (error: ApiError): void => {
      if (faults === 0 && follower.fault(error) === "wait") return;
      missed = true;
      end();
      timer = setTimeout(begin, AFTER_FAULT[Math.min(faults, AFTER_FAULT.length - 1)]);
      faults += 1;
    };
    end = subscribe(
      topic,
      (batch) => {
        const before = state;
        for (const update of batch) {
          // Later events of a subscription that missed some are part of the next snapshot.
          if (missed || stopped) return;
          const outcome = apply(state, update);
          if (outcome.type === "applied") {
            state = outcome.state;
            faults = 0;
          } else if (outcome.type === "gap") {
            missed = true;
            reconnect();
          } else if (outcome.type === "ended") {
            stop();
            follower.ended();
          } else failed(outcome.error);
        }
        if (state !== null && state !== before) follower.state(state);
      },
      failed,
    );
  };
  const reconnect = (): void => {
    end();
    const now = performance.now();
    const wait = now - missedAt < PAUSE ? PAUSE : 0;
    missedAt = now;
    timer = setTimeout(begin, wait);
  };
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
    end();
  };
  const change = (update: (state: S) => S): void => {
    if (state === null || stopped) return;
    state = update(state);
    follower.state(state);
  };
  begin();
  return { change, stop };
}
