/**
 * Activity in a replay: the running sessions of its list, and some of every other kind. `?no-activity` leaves it empty,
 * and with `?queued` the running session waits in the queue.
 */
import { KINDS, keyOf } from "$lib/state/activity";
import type { ActivityId, ActivityRequest, ActivityRow, ActivityState, SessionInfo, Spending } from "./types";

const MINUTE = 60_000;
const FOLDER = "/home/mei/code/harbor";
/** The id of the queued run. */
const RUN = "e0000000000000000000000000000001";

const spent = (calls: number, dollars: number, tokens: number): Spending => ({
  calls,
  usage: { input: tokens / 10, cache_read: (tokens * 8) / 10, cache_write: tokens / 20, output: tokens / 20 },
  cost: dollars * 1_000_000_000,
  unpriced: 0,
});

export class FakeActivity {
  readonly #stopped = new Set<string>();
  readonly #began = Date.now();
  readonly #query = new URLSearchParams(location.search);

  constructor(
    private readonly core: {
      sessions: () => readonly SessionInfo[];
      places: () => number;
      stop: (session: string) => void;
      tell: (state: ActivityState) => void;
    },
  ) {}

  get state(): ActivityState {
    const rows = this.#query.has("no-activity") ? [] : this.#rows();
    const usesSlot = (row: ActivityRow): boolean => row.id.type === "session" || row.id.type === "task";
    const used = rows.filter((row) => usesSlot(row) && row.status.type === "working").length;
    return { rows, taken: this.#query.has("queued") ? this.core.places() : used, places: this.core.places() };
  }

  /** Called when sessions changed. */
  changed(): void {
    this.core.tell(this.state);
  }

  answer(call: ActivityRequest): unknown {
    switch (call.type) {
      case "get_activity":
        return this.state;
      case "stop_activity":
        this.#stop(call.id);
        this.changed();
        return {};
      case "stop_all_activity": {
        const { rows } = this.state;
        for (const row of rows) this.#stop(row.id);
        this.changed();
        return { count: rows.length };
      }
      default:
        return call satisfies never;
    }
  }

  #stop(id: ActivityId): void {
    this.#stopped.add(keyOf(id));
    if (id.type === "session") this.core.stop(id.session);
  }

  #rows(): ActivityRow[] {
    const works = ({ status }: SessionInfo): number => Number(status !== "running");
    const live = this.core
      .sessions()
      .filter(({ status }) => status === "running" || status === "waiting")
      .toSorted((a, b) => works(a) - works(b));
    const first = live.find(({ status }) => status === "running");
    const rows = live.map((info, index) => this.#turn(info, index));
    const subject = first ? { session: first.id, title: first.title } : null;
    const rest: ActivityRow[] =
      subject === null
        ? []
        : [
            {
              ...this.#row({ type: "task", run: RUN }, "Morning brief", 2),
              task: "morning-brief",
              session: null,
              folder: "",
              status: { type: "queued", ahead: 0 },
            },
            {
              ...this.#row({ type: "sub_agent", session: "e0000000000000000000000000000002" }, "code-explorer", 1.4),
              of: subject,
              steps: 6,
              spending: spent(6, 0.041, 82_000),
            },
            {
              ...this.#row(
                { type: "command", session: subject.session, handle: "1" },
                "npm run dev -- --port 4173",
                38,
              ),
              session: subject.session,
              of: subject,
            },
          ];
    return [...rows, ...rest]
      .filter((row) => !this.#stopped.has(keyOf(row.id)))
      .toSorted((a, b) => KINDS.indexOf(a.id.type) - KINDS.indexOf(b.id.type));
  }

  #row(id: ActivityId, name: string, minutes: number): ActivityRow {
    const session = id.type === "sub_agent" ? id.session : null;
    const since = this.#began - minutes * MINUTE;
    return {
      id,
      name,
      of: null,
      folder: FOLDER,
      session,
      task: null,
      status: { type: "working" },
      since,
      steps: null,
      spending: null,
      process: null,
    };
  }

  #turn(info: SessionInfo, index: number): ActivityRow {
    const id: ActivityId =
      info.source === "task" ? { type: "task", run: info.id } : { type: "session", session: info.id };
    const queued = info.status === "running" && this.#query.has("queued");
    return {
      ...this.#row(id, info.title, 3 + index * 9),
      folder: info.folder,
      session: info.id,
      task: info.source === "task" ? "staging-certificates" : null,
      status: queued ? { type: "queued", ahead: 2 } : { type: info.status === "waiting" ? "needs_you" : "working" },
      steps: queued ? 0 : 12 - index,
      spending: queued ? spent(0, 0, 0) : spent(12 - index, 0.38 / (index + 1), 412_000 / (index + 1)),
    };
  }
}
