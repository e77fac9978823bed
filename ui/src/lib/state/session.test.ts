import { snapshotOf } from "$lib/ipc/fake-states";
import type {
  BackgroundCommand,
  BilledCall,
  Delta,
  Event,
  Message,
  SessionInfo,
  SessionSnapshot,
  StreamKind,
  TurnView,
  Update,
} from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SessionState, apply, freshSuggestion, open, prepend } from "./session";

const id = "5".repeat(32);
const info: SessionInfo = {
  id,
  title: "Test",
  folder: "/tmp/x",
  profile: "general",
  mode: "ask",
  model: null,
  source: "window",
  pinned: false,
  status: "running",
  created_at: 1,
  updated_at: 1,
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
};
const empty: SessionSnapshot = {
  seq: 0,
  info,
  page: { messages: [], turns: [], calls: [], earlier: false },
  questions: [],
  queue: [],
  todos: [],
  commands: [],
  streaming: [],
  retry: null,
  draft: { text: "", attachments: [], foreign: false },
  notes: [],
  context_tokens: 0,
  spending: { calls: 0, usage: info.usage, cost: 0, unpriced: 0 },
  suggestion: null,
  budget: null,
};
const background = (handle: string): BackgroundCommand => ({
  handle,
  call: "c1",
  command: "npm run dev",
  cwd: "/tmp/x",
  started_at: 1,
  ended_at: null,
  state: { type: "running" },
  log: null,
  last_line: "",
});
const started = (name: string): Message => ({
  id: name,
  turn: "t",
  role: "assistant",
  blocks: [],
  meta: { origin: "model", at: 1 },
});
const event = (seq: number, eventBody: Event): Update => ({
  type: "event",
  envelope: { topic: { type: "session", id }, seq, at: seq, v: 1, event: eventBody },
});
const delta = (
  message: string,
  offset: number,
  text: string,
  kind: StreamKind = { type: "text" },
  block = 0,
): Update => ({
  type: "delta",
  delta: { session: id, message, block, kind, offset, text } satisfies Delta,
});
const utf8 = (text: string): number => new TextEncoder().encode(text).length;

function run(updates: readonly Update[], from: SessionState | null = open(empty)): SessionState {
  let state = from;
  for (const update of updates) {
    const outcome = apply(state, update);
    if (outcome.type !== "applied") throw new Error(outcome.type);
    state = outcome.state;
  }
  if (!state) throw new Error("no state");
  return state;
}

/** Returns the core's snapshot of a state. */
const updateOf = (state: SessionState): Update => ({
  type: "snapshot",
  snapshot: { topic: "session", ...snapshotOf(state) },
});

/** Returns the comparable part. Snapshots do not contain a pending stop, which is over before it is visible again. */
const visible = ({ stopping: _, compacting: __, ...state }: SessionState) => ({
  ...state,
  calls: [...state.calls],
});

describe("events", () => {
  it("are applied once and in order; a gap requests a snapshot", () => {
    const first = event(1, { type: "message_started", message: started("m1") });
    const state = run([first]);
    expect(apply(state, first)).toEqual({ type: "applied", state });
    expect(apply(state, event(3, { type: "retry_started" }))).toEqual({ type: "gap" });
    expect(apply(null, first)).toEqual({ type: "gap" });
  });

  it("end a stream with the complete block", () => {
    const state = run([
      event(1, { type: "message_started", message: started("m1") }),
      delta("m1", 0, "Hal"),
      event(2, { type: "block_added", message: "m1", index: 0, block: { type: "text", text: "Hallo" } }),
      delta("m1", 3, "lo"),
    ]);
    expect(state.streaming).toEqual([]);
    expect(state.messages[0]?.blocks).toEqual([{ type: "text", text: "Hallo" }]);
  });

  it("remove a discarded message with its calls and streams", () => {
    const state = run([
      event(1, { type: "message_started", message: started("m1") }),
      event(2, {
        type: "block_added",
        message: "m1",
        index: 0,
        block: { type: "tool_call", id: "c1", provider_id: "p", name: "edit", arguments: "{}" },
      }),
      event(3, {
        type: "call_changed",
        call: { id: "c1", turn: "t", tool: "edit", state: { type: "planned" }, view: null },
      }),
      delta("m1", 0, "later", { type: "text" }, 1),
      event(4, { type: "message_discarded", message: "m1" }),
      delta("m1", 5, "late"),
    ]);
    expect(state.messages).toEqual([]);
    expect(state.calls.size).toBe(0);
    expect(state.streaming).toEqual([]);
  });

  it("count the context from the last model call", () => {
    const usage = { input: 5, cache_read: 90, cache_write: 4, output: 7 };
    const state = run([
      event(1, { type: "message_started", message: started("m1") }),
      event(2, { type: "message_ended", message: "m1", end: "complete", usage }),
    ]);
    expect(state.contextTokens).toBe(106);
  });

  it("keep a command's reply as in a snapshot", () => {
    const note = { key: "command.unknown", args: {}, retryable: false };
    const state = run([event(1, { type: "command_answered", note })]);
    expect(state.notes).toEqual([{ seq: 1, at: 1, kind: "answer", note }]);
    expect(run([updateOf(state)], null).notes).toEqual(state.notes);
  });

  it("sum the cost of calls and count those of unknown price", () => {
    const call: BilledCall = {
      turn: "t",
      message: null,
      purpose: "turn",
      model: null,
      name: "m",
      at: 1,
      usage: { input: 1, cache_read: 2, cache_write: 3, output: 4 },
      written_for_an_hour: 0,
      again: 0,
      again_cost: 0,
      cost: 70,
      first_byte_ms: null,
      total_ms: 5,
      outcome: "answered",
      expected_read: null,
      miss: null,
    };
    const state = run([
      event(1, { type: "call_billed", call }),
      event(2, { type: "call_billed", call: { ...call, usage: null, cost: null } }),
    ]);
    expect(state.spending).toEqual({ calls: 2, usage: call.usage, cost: 70, unpriced: 1 });
  });

  it("report a running compaction and the tokens it freed", () => {
    const making = run([event(1, { type: "compaction_started" })]);
    expect(making.compacting).toBe(true);
    const state = run([event(2, { type: "context_compacted", tokens: 900 })], making);
    expect([state.compacting, state.contextTokens]).toEqual([false, 900]);
    const error = { key: "provider.overloaded", args: {}, retryable: true };
    const failed = run([event(2, { type: "compaction_failed", error })], making);
    expect([failed.compacting, failed.notes]).toEqual([false, [{ seq: 2, at: 2, kind: "not_compacted", note: error }]]);
    expect(run([updateOf(failed)], null).notes).toEqual(failed.notes);
  });

  it("report a used-up budget until it is answered or the turn ends", () => {
    const stop = { scope: "session", spent: 5, limit: 4, unpriced: 1 } as const;
    const waiting = run([event(1, { type: "budget_reached", stop })]);
    expect(waiting.budget).toEqual(stop);
    expect(run([updateOf(waiting)]).budget).toEqual(stop);
    expect(run([event(2, { type: "budget_answered" })], waiting).budget).toBeNull();
    const turn: TurnView = { id: "t", started_at: 1, ended_at: 2, end: { type: "stopped" }, usage: info.usage };
    expect(run([event(2, { type: "turn_ended", turn })], waiting).budget).toBeNull();
  });

  it("offer a suggestion only after the newest turn while idle", () => {
    const turn = (name: string): TurnView => ({
      id: name,
      started_at: 1,
      ended_at: 2,
      end: { type: "finished" },
      usage: info.usage,
    });
    const idle = { ...info, status: "idle" } as const;
    const state = run([
      event(1, { type: "turn_started", turn: turn("t1") }),
      event(2, { type: "session_changed", info: idle }),
      event(3, { type: "suggested", suggestion: { turn: "t1", text: "And now?" } }),
    ]);
    expect(freshSuggestion(state)).toBe("And now?");
    expect(freshSuggestion(run([event(4, { type: "session_changed", info })], state))).toBeNull();
    // A late event for a turn that another one has followed.
    const next = run(
      [
        event(4, { type: "turn_started", turn: turn("t2") }),
        event(5, { type: "suggested", suggestion: { turn: "t1", text: "And now?" } }),
      ],
      state,
    );
    expect(freshSuggestion(next)).toBeNull();
    expect(freshSuggestion({ ...state, suggestion: { turn: "t1", text: "  " } })).toBeNull();
  });

  it("report that a turn is stopping until it ends", () => {
    const turn: TurnView = { id: "t", started_at: 1, ended_at: null, end: null, usage: info.usage };
    const stopping = run([event(1, { type: "turn_started", turn }), event(2, { type: "turn_stopping", turn: "t" })]);
    expect(stopping.stopping).toBe(true);
    const endedTurn = { ...turn, ended_at: 3, end: { type: "stopped" } as const };
    expect(run([event(3, { type: "turn_ended", turn: endedTurn })], stopping).stopping).toBe(false);
  });
});

describe("trouble", () => {
  const trouble = { error: { key: "store.full", args: {}, retryable: true }, stage: "waiting" as const };

  it("is shown for this session until it ends or a new snapshot arrives", () => {
    const other: Update = { type: "trouble", session: "6".repeat(32), trouble };
    expect(run([other]).trouble).toBeNull();
    const state = run([{ type: "trouble", session: id, trouble }]);
    expect(state.trouble).toEqual(trouble);
    expect(run([event(1, { type: "retry_started" })], state).trouble).toEqual(trouble);
    expect(run([{ type: "trouble", session: id, trouble: null }], state).trouble).toBeNull();
    expect(run([updateOf(state)], state).trouble).toBeNull();
  });
});

describe("deltas", () => {
  const streaming = run([event(1, { type: "message_started", message: started("m1") })]);

  it("have byte offsets: overlaps are skipped, missing bytes are gaps", () => {
    const state = run([delta("m1", 0, "héé"), delta("m1", 3, "é中"), delta("m1", 0, "h")], streaming);
    expect(state.streaming[0]?.text).toBe("héé中");
    expect(state.streaming[0]?.bytes).toBe(utf8("héé中"));
    expect(apply(state, delta("m1", 40, "x"))).toEqual({ type: "gap" });
    expect(apply(streaming, delta("m1", 1, "x"))).toEqual({ type: "gap" });
  });

  it("of a command's output belong to the call and end with it", () => {
    const output: StreamKind = { type: "output", call: "c1" };
    const end = event(2, {
      type: "call_changed",
      call: {
        id: "c1",
        turn: "t",
        tool: "terminal",
        state: { type: "ended", status: "done", at: 2, duration_ms: 1 },
        view: null,
      },
    });
    const state = run([delta("m1", 0, "a\n", output), delta("m1", 2, "b\n", output)], streaming);
    expect(state.streaming[0]?.text).toBe("a\nb\n");
    expect(run([end, delta("m1", 4, "c\n", output)], state).streaming).toEqual([]);
  });

  it("of long output keep its end and count every byte", () => {
    const output: StreamKind = { type: "output", call: "c1" };
    const line = `${"é".repeat(99)}\n`;
    let state = streaming;
    let offset = 0;
    for (let i = 0; i < 60; i += 1) {
      const text = line.repeat(100);
      state = run([delta("m1", offset, text, output)], state);
      offset += utf8(text);
    }
    const stream = state.streaming[0];
    expect(stream?.bytes).toBe(offset);
    expect(stream?.text.length).toBeLessThan(400_001);
    expect(stream?.text.startsWith("é")).toBe(true);
    expect((stream?.start ?? 0) + utf8(stream?.text ?? "")).toBe(offset);
  });

  it("yield the same text however they are split and repeated", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 60 }),
        fc.array(fc.nat(60), { maxLength: 8 }),
        (text, cuts) => {
          const characters = [...text];
          const offsets = [0, ...cuts.map((cut) => cut % (characters.length + 1)), characters.length].sort(
            (a, b) => a - b,
          );
          const pieces = offsets.slice(1).map((to, index) => {
            // Every other piece starts a little earlier, so that it overlaps.
            const from = Math.max(0, (offsets[index] ?? 0) - (index % 2));
            return delta("m1", utf8(characters.slice(0, from).join("")), characters.slice(from, to).join(""));
          });
          expect(run(pieces, streaming).streaming[0]?.text ?? "").toBe(text);
        },
      ),
    );
  });
});

describe("a snapshot at any point and the remaining events", () => {
  const log: Update[] = [
    event(1, { type: "turn_started", turn: { id: "t", started_at: 1, ended_at: null, end: null, usage: info.usage } }),
    event(2, { type: "message_added", message: { ...started("u1"), role: "user", meta: { origin: "person", at: 1 } } }),
    event(3, { type: "message_started", message: started("m1") }),
    delta("m1", 0, "thinking", { type: "reasoning" }),
    event(4, { type: "block_added", message: "m1", index: 0, block: { type: "reasoning", text: "thinking" } }),
    delta("m1", 0, "Ans", { type: "text" }, 1),
    delta("m1", 3, "wer", { type: "text" }, 1),
    event(5, { type: "block_added", message: "m1", index: 1, block: { type: "text", text: "Answer" } }),
    delta("m1", 0, '{"command":', { type: "arguments", tool: "terminal" }, 2),
    event(6, {
      type: "block_added",
      message: "m1",
      index: 2,
      block: { type: "tool_call", id: "c1", provider_id: "p", name: "terminal", arguments: "{}" },
    }),
    event(7, { type: "message_ended", message: "m1", end: "complete", usage: { ...info.usage, input: 10 } }),
    event(8, {
      type: "call_changed",
      call: { id: "c1", turn: "t", tool: "terminal", state: { type: "asking" }, view: null },
    }),
    event(9, {
      type: "question_asked",
      question: {
        id: "q1",
        call: "c1",
        tool: "terminal",
        at: 2,
        ask: { type: "feedback", question: "?", context: null, options: [] },
      },
    }),
    event(10, { type: "question_closed", question: "q1", answer: { type: "once" } }),
    event(11, {
      type: "call_changed",
      call: { id: "c1", turn: "t", tool: "terminal", state: { type: "started", at: 3 }, view: null },
    }),
    delta("m1", 0, "out\n", { type: "output", call: "c1" }),
    event(12, {
      type: "call_changed",
      call: {
        id: "c1",
        turn: "t",
        tool: "terminal",
        state: { type: "ended", status: "done", at: 4, duration_ms: 1 },
        view: null,
      },
    }),
    event(13, { type: "todos_changed", todos: [{ id: 1, task: "x", status: "pending" }] }),
    event(14, { type: "queue_changed", queue: [{ id: "w1", blocks: [], at: 3 }] }),
    event(15, {
      type: "retry_scheduled",
      retry: { attempt: 2, attempts: 4, at: 9, error: { key: "x", args: {}, retryable: true } },
    }),
    event(16, { type: "retry_started" }),
    event(17, { type: "message_started", message: started("m2") }),
    delta("m2", 0, "half"),
    event(18, { type: "message_discarded", message: "m2" }),
    event(19, { type: "session_changed", info: { ...info, status: "idle" } }),
    event(20, { type: "commands_changed", commands: [background("a"), background("b")] }),
    event(21, { type: "commands_changed", commands: [background("b")] }),
    event(22, {
      type: "turn_ended",
      turn: { id: "t", started_at: 1, ended_at: 9, end: { type: "finished" }, usage: info.usage },
    }),
  ];
  const whole = run(log);

  it.each(log.map((_, index) => index))("equal the whole log (cut after %i)", (index) => {
    const first = run(log.slice(0, index));
    // Events already in the snapshot may arrive again.
    const overlapping = log.slice(Math.max(0, index - 3));
    expect(
      visible(
        run(
          [updateOf(first), ...overlapping.filter((update) => update.type !== "delta" || log.indexOf(update) >= index)],
          null,
        ),
      ),
    ).toEqual(visible(whole));
  });
});

describe("earlier pages", () => {
  const page = { messages: [started("m1")], turns: [], calls: [], earlier: true };

  it("are prepended without duplicates and survive a fresh snapshot", () => {
    const newest = run([event(1, { type: "message_started", message: started("m2") })]);
    const state = prepend(prepend(newest, page), page);
    expect(state.messages.map((message) => message.id)).toEqual(["m1", "m2"]);
    expect(state.earlier).toBe(true);
    const reloaded = run([updateOf(newest)], state);
    expect(reloaded.messages.map((message) => message.id)).toEqual(["m1", "m2"]);
    expect(reloaded.earlier).toBe(true);
  });
});
