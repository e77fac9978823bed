/** Sessions of a replay: in the page's form, and in the core's. */
import type { SessionState } from "$lib/state/session";
import { nothing } from "$lib/state/spending";
import type { SessionInfo, SessionSnapshot } from "./types";

/** Returns the state of an empty session. */
export function emptyState(info: SessionInfo): SessionState {
  return {
    seq: 0,
    info,
    messages: [],
    turns: [],
    calls: new Map(),
    earlier: false,
    questions: [],
    queue: [],
    todos: [],
    commands: [],
    streaming: [],
    retry: null,
    draft: { text: "", attachments: [], foreign: false },
    contextTokens: 0,
    notes: [],
    spending: { ...nothing, usage: info.usage },
    compacting: false,
    suggestion: null,
    budget: null,
    stopping: false,
    trouble: null,
    page: null,
    fork: null,
    origin: null,
  };
}

/** Returns the full snapshot of a session. */
export function snapshotOf(state: SessionState): SessionSnapshot {
  return {
    seq: state.seq,
    info: state.info,
    page: {
      messages: [...state.messages],
      turns: [...state.turns],
      calls: [...state.calls.values()],
      earlier: state.earlier,
    },
    questions: [...state.questions],
    queue: [...state.queue],
    todos: [...state.todos],
    commands: [...state.commands],
    streaming: state.streaming.map(({ message, block, kind, start, text }) => ({ message, block, kind, start, text })),
    retry: state.retry,
    draft: state.draft,
    notes: [...state.notes],
    spending: state.spending,
    context_tokens: state.contextTokens,
    suggestion: state.suggestion,
    budget: state.budget,
    ...(state.origin ? { origin: state.origin } : {}),
  };
}
