/** An open session: its snapshot, kept current by events and streamed text. Pure. */
import type {
  ApiError,
  BackgroundCommand,
  BudgetStop,
  CallView,
  Delta,
  Draft,
  Envelope,
  Event,
  SubAgentOrigin,
  LivePage,
  Message,
  Note,
  Question,
  QueuedMessage,
  Retry,
  SessionInfo,
  SessionOrigin,
  SessionSnapshot,
  Spending,
  Suggestion,
  Todo,
  TranscriptPage,
  Trouble,
  TurnView,
  Update,
} from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";
import { totalInput, withCall } from "./spending";
import { type Stream, append, begin, sameStream } from "./stream";

/** The displayed state of a session. */
export interface SessionState {
  readonly seq: number;
  readonly info: SessionInfo;
  readonly messages: readonly Message[];
  readonly turns: readonly TurnView[];
  readonly calls: ReadonlyMap<string, CallView>;
  readonly earlier: boolean;
  readonly questions: readonly Question[];
  readonly queue: readonly QueuedMessage[];
  readonly todos: readonly Todo[];
  /** Background commands: running ones, and ended ones not yet reported to the model. */
  readonly commands: readonly BackgroundCommand[];
  readonly streaming: readonly Stream[];
  readonly retry: Retry | null;
  readonly draft: Draft;
  readonly contextTokens: number;
  /** Octo's own notes, oldest first: answers to slash commands, and reasons for a missing summary. */
  readonly notes: readonly Note[];
  /** The session's spending. */
  readonly spending: Spending;
  /** Set while earlier messages are being summarised. */
  readonly compacting: boolean;
  /** A suggested next message; its turn may no longer be the newest. */
  readonly suggestion: Suggestion | null;
  /** Set while the turn waits because of a used-up budget. */
  readonly budget: BudgetStop | null;
  /** The parent, for a sub-agent. */
  readonly fork: SubAgentOrigin | null;
  /** Where its conversation was copied from; null if it is all its own. */
  readonly origin: SessionOrigin | null;
  /** Set from the acceptance of Stop until the turn ends. */
  readonly stopping: boolean;
  /** Set while the session cannot be stored. */
  readonly trouble: Trouble | null;
  /** The agent's current page; null without one. */
  readonly page: LivePage | null;
}

/** Returns the state a snapshot describes. The trouble and the page are not part of it and arrive later. */
export function open(snapshot: SessionSnapshot): SessionState {
  return {
    seq: snapshot.seq,
    info: snapshot.info,
    messages: snapshot.page.messages,
    turns: snapshot.page.turns,
    calls: new Map(snapshot.page.calls.map((call) => [call.id, call])),
    earlier: snapshot.page.earlier,
    questions: snapshot.questions,
    queue: snapshot.queue,
    todos: snapshot.todos,
    commands: snapshot.commands,
    streaming: snapshot.streaming.map(begin),
    retry: snapshot.retry,
    draft: snapshot.draft,
    contextTokens: snapshot.context_tokens,
    notes: snapshot.notes,
    spending: snapshot.spending,
    compacting: false,
    suggestion: snapshot.suggestion,
    budget: snapshot.budget,
    fork: snapshot.fork ?? null,
    origin: snapshot.origin ?? null,
    stopping: false,
    trouble: null,
    page: null,
  };
}

/**
 * Returns the state of a fresh snapshot, with the earlier pages loaded before: history never changes, and the reader
 * keeps their position.
 */
function reopen(before: SessionState | null, snapshot: SessionSnapshot): SessionState {
  const state = open(snapshot);
  const first = state.messages[0];
  const index = before && first ? before.messages.findIndex((message) => message.id === first.id) : -1;
  if (!before || index <= 0) return state;
  const messages = before.messages.slice(0, index);
  const mentioned = new Set(messages.map((message) => message.turn));
  const calls = [...before.calls.values()].filter((call) => mentioned.has(call.turn));
  const turns = before.turns.filter((turn) => mentioned.has(turn.id));
  return prepend(state, { messages, turns, calls, earlier: before.earlier });
}

/** Applies an update of this session's subscription; `state` is null before the first snapshot. */
export function apply(state: SessionState | null, update: Update): Outcome<SessionState | null> {
  switch (update.type) {
    case "snapshot":
      if (update.snapshot.topic !== "session") return { type: "applied", state };
      return { type: "applied", state: reopen(state, update.snapshot) };
    case "event":
      return state ? applyEnvelope(state, update.envelope) : { type: "gap" };
    case "delta":
      return state ? applyDelta(state, update.delta) : { type: "gap" };
    case "trouble":
      if (!state || update.session !== state.info.id) return { type: "applied", state };
      return { type: "applied", state: { ...state, trouble: update.trouble } };
    case "page":
      return { type: "applied", state: state ? { ...state, page: update.page } : state };
    case "billed":
    case "policy":
    case "browser":
    case "library":
    case "tasks":
    case "activity":
    case "chats":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}

/** Prepends a page of earlier messages. */
export function prepend(state: SessionState, page: TranscriptPage): SessionState {
  const ids = new Set(state.messages.map((message) => message.id));
  const turns = new Set(state.turns.map((turn) => turn.id));
  return {
    ...state,
    messages: [...page.messages.filter((message) => !ids.has(message.id)), ...state.messages],
    turns: [...page.turns.filter((turn) => !turns.has(turn.id)), ...state.turns],
    // The current state is newer than a page read a moment ago.
    calls: new Map([...page.calls.map((call) => [call.id, call] as const), ...state.calls]),
    earlier: page.earlier,
  };
}

function applyEnvelope(state: SessionState, envelope: Envelope): Outcome<SessionState> {
  if (envelope.seq <= state.seq) return { type: "applied", state };
  if (envelope.seq > state.seq + 1) return { type: "gap" };
  return { type: "applied", state: { ...applyEvent(state, envelope.event, envelope), seq: envelope.seq } };
}

function applyEvent(state: SessionState, event: Event, envelope: Envelope): SessionState {
  switch (event.type) {
    case "session_changed":
      return { ...state, info: event.info };
    case "turn_started":
      return {
        ...state,
        turns: upsert(state.turns, event.turn),
        stopping: false,
        suggestion: null,
        compacting: false,
      };
    case "turn_stopping":
      return { ...state, stopping: true };
    case "turn_ended":
      return {
        ...state,
        turns: upsert(state.turns, event.turn),
        streaming: [],
        retry: null,
        stopping: false,
        compacting: false,
        budget: null,
      };
    case "call_billed":
      return { ...state, spending: withCall(state.spending, event.call) };
    case "suggested":
      return { ...state, suggestion: event.suggestion };
    case "budget_reached":
      return { ...state, budget: event.stop };
    case "budget_answered":
      return { ...state, budget: null };
    case "compaction_started":
      return { ...state, compacting: true };
    case "compaction_failed":
      return { ...withNote(state, envelope, "not_compacted", event.error), compacting: false };
    case "context_compacted":
      return { ...state, compacting: false, contextTokens: event.tokens };
    case "message_added":
    case "message_started":
      return { ...state, messages: upsert(state.messages, event.message) };
    case "block_added":
      return {
        ...withMessage(state, event.message, (message) => {
          const blocks = [...message.blocks];
          blocks[event.index] = event.block;
          return { ...message, blocks };
        }),
        streaming: state.streaming.filter(
          (stream) => stream.kind.type === "output" || stream.message !== event.message || stream.block !== event.index,
        ),
      };
    case "message_ended":
      return {
        ...withMessage(state, event.message, (message) => ({
          ...message,
          meta: { ...message.meta, end: event.end, ...(event.usage ? { usage: event.usage } : {}) },
        })),
        streaming: withoutBlocksOf(state.streaming, event.message),
        contextTokens: event.usage ? totalInput(event.usage) + event.usage.output : state.contextTokens,
      };
    case "message_discarded":
      return {
        ...state,
        messages: state.messages.filter((message) => message.id !== event.message),
        calls: withoutCallsOf(state, event.message),
        streaming: withoutBlocksOf(state.streaming, event.message),
      };
    case "call_changed": {
      const calls = new Map(state.calls).set(event.call.id, event.call);
      if (event.call.state.type !== "ended") return { ...state, calls };
      return {
        ...state,
        calls,
        streaming: state.streaming.filter(
          (stream) => stream.kind.type !== "output" || stream.kind.call !== event.call.id,
        ),
      };
    }
    case "question_asked":
      return { ...state, questions: upsert(state.questions, event.question) };
    case "question_closed":
      return { ...state, questions: state.questions.filter((question) => question.id !== event.question) };
    case "todos_changed":
      return { ...state, todos: event.todos };
    case "commands_changed":
      return { ...state, commands: event.commands };
    case "queue_changed":
      return { ...state, queue: event.queue };
    case "retry_scheduled":
      return { ...state, retry: event.retry };
    case "retry_started":
      return { ...state, retry: null };
    case "command_answered":
      return withNote(state, envelope, "answer", event.note);
    // The timeline reloads; the session itself does not change.
    case "tasks_changed":
      return state;
    case "went_to":
      return {
        ...state,
        turns: state.turns.map((turn) => ({ ...turn, undone: event.undone.includes(turn.id) })),
      };
    // Events of other topics, which never arrive here.
    case "session_listed":
    case "session_removed":
    case "settings_changed":
    case "trash_changed":
      return state;
    default:
      return unreachable(event, state);
  }
}

function applyDelta(state: SessionState, delta: Delta): Outcome<SessionState> {
  // Searches from the end: a long session is not scanned from its start with every piece of text.
  const message = state.messages.findLast((candidate) => candidate.id === delta.message);
  // The message was discarded or the block is complete: late text adds nothing.
  if (!message) return { type: "applied", state };
  if (delta.kind.type === "output") {
    if (state.calls.get(delta.kind.call)?.state.type === "ended") return { type: "applied", state };
  } else if (message.blocks[delta.block] !== undefined || message.meta.end !== undefined) {
    return { type: "applied", state };
  }
  const index = state.streaming.findIndex((stream) => sameStream(stream, delta));
  const outcome = append(state.streaming[index], delta);
  switch (outcome.type) {
    case "gap":
      return { type: "gap" };
    case "known":
      return { type: "applied", state };
    case "grown": {
      const streaming = index < 0 ? [...state.streaming, outcome.stream] : state.streaming.with(index, outcome.stream);
      return { type: "applied", state: { ...state, streaming } };
    }
    default:
      return unreachable(outcome, { type: "applied", state });
  }
}

/** Returns the suggested next message if it follows the newest turn and nothing runs. */
export function freshSuggestion(state: SessionState): string | null {
  const { suggestion, info, turns } = state;
  if (!suggestion || info.status !== "idle" || turns.at(-1)?.id !== suggestion.turn) return null;
  return suggestion.text.trim() === "" ? null : suggestion.text;
}

function withNote(state: SessionState, { seq, at }: Envelope, kind: Note["kind"], note: ApiError): SessionState {
  return { ...state, notes: [...state.notes, { seq, at, kind, note }] };
}

function upsert<T extends { id: string }>(items: readonly T[], item: T): readonly T[] {
  const index = items.findLastIndex((candidate) => candidate.id === item.id);
  return index < 0 ? [...items, item] : items.with(index, item);
}

function withMessage(state: SessionState, id: string, change: (message: Message) => Message): SessionState {
  const index = state.messages.findLastIndex((message) => message.id === id);
  const message = state.messages[index];
  return message ? { ...state, messages: state.messages.with(index, change(message)) } : state;
}

function withoutBlocksOf(streaming: readonly Stream[], message: string): readonly Stream[] {
  return streaming.filter((stream) => stream.kind.type === "output" || stream.message !== message);
}

function withoutCallsOf(state: SessionState, id: string): ReadonlyMap<string, CallView> {
  const message = state.messages.find((candidate) => candidate.id === id);
  const callIds = message?.blocks.flatMap((block) => (block.type === "tool_call" ? [block.id] : [])) ?? [];
  if (callIds.length === 0) return state.calls;
  const calls = new Map(state.calls);
  for (const call of callIds) calls.delete(call);
  return calls;
}
