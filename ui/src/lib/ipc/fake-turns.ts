/** The core's events when the person stops a turn of a replay, or answers one of its questions. */
import type { SessionState } from "$lib/state/session";
import type { Answer, Block, CallView, Event, ToolView } from "./types";

/** Returns the view of a stopped command. */
function withStoppedCommand(view: ToolView | null): ToolView | null {
  return view?.type === "command" ? { ...view, state: { type: "killed" } } : view;
}

/**
 * Returns the events of a stop, in order: existing content stays, running and waiting calls end. The queue is not
 * touched.
 */
export function stopped(state: SessionState, now: number): Event[] {
  const turn = state.turns.at(-1);
  if (!turn || turn.ended_at !== null) return [];
  const texts = state.streaming.flatMap((stream): Event[] => {
    if (stream.kind.type !== "text" && stream.kind.type !== "reasoning") return [];
    const block: Block =
      stream.kind.type === "text" ? { type: "text", text: stream.text } : { type: "reasoning", text: stream.text };
    return [{ type: "block_added", message: stream.message, index: stream.block, block }];
  });
  const open = state.messages.filter(
    (message) => message.turn === turn.id && message.role === "assistant" && message.meta.end === undefined,
  );
  const calls = [...state.calls.values()].filter((call) => call.turn === turn.id && call.state.type !== "ended");
  const finished = (call: CallView): CallView => ({
    ...call,
    view: withStoppedCommand(call.view),
    state: {
      type: "ended",
      status: "stopped",
      at: now,
      duration_ms: call.state.type === "started" ? now - call.state.at : 0,
    },
  });
  return [
    { type: "turn_stopping", turn: turn.id },
    ...texts,
    ...open.map((message): Event => ({ type: "message_ended", message: message.id, end: "stopped", usage: null })),
    ...state.questions.map((question): Event => ({ type: "question_closed", question: question.id, answer: null })),
    ...calls.map((call): Event => ({ type: "call_changed", call: finished(call) })),
    { type: "turn_ended", turn: { ...turn, ended_at: now, end: { type: "stopped" } } },
  ];
}

/** Returns the events of an answer: its question closes, and its call continues, is refused or receives the answer. */
export function answered(state: SessionState, question: string, answer: Answer, now: number): Event[] {
  const asked = state.questions.find((candidate) => candidate.id === question);
  const call = state.calls.get(asked?.call ?? "");
  const closed: Event = { type: "question_closed", question, answer };
  if (!call) return [closed];
  const endState = (status: "done" | "denied"): CallView["state"] => ({
    type: "ended",
    status,
    at: now,
    duration_ms: 0,
  });
  const changed = (change: Partial<CallView>): Event => ({ type: "call_changed", call: { ...call, ...change } });
  if (answer.type === "no") return [closed, changed({ state: endState("denied") })];
  if (answer.type !== "text") return [closed, changed({ state: { type: "started", at: now } })];
  const view: ToolView | null =
    call.view?.type === "feedback" ? { ...call.view, answer: answer.text } : (call.view ?? null);
  return [closed, changed({ state: endState("done"), view })];
}
