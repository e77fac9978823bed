/**
 * Very many sessions and a very long one, for a replay: `?sessions=10000` lengthens the list, `?messages=10000` the
 * opened session. They are always the same, so that counts are too.
 */
import type {
  Message,
  SessionInfo,
  TranscriptPage,
  TranscriptPart,
  TranscriptRequest,
  TurnView,
  Update,
} from "./types";

/** The number of rows of the list, and of messages, delivered at first; the rest is loaded page by page. */
export const FIRST_PAGE = 100;
const FIRST_MESSAGES = 200;
/** The sequence number of the last event of a lengthened session. */
const SEQ = 1_000;

const MINUTE = 60_000;
const id = (kind: string, n: number): string => kind + n.toString(16).padStart(32 - kind.length, "0");

/** All messages of a long session. */
export interface History extends TranscriptPage {
  readonly info: SessionInfo;
}

/** Appends older sessions to a recorded list until there are `count`. */
export function manySessions([list]: readonly Update[], count: number): void {
  if (list?.type !== "snapshot" || list.snapshot.topic !== "sessions") return;
  const { sessions } = list.snapshot;
  const like = sessions.at(-1);
  if (!like) return;
  const oldest = Math.min(...sessions.map((info) => info.updated_at));
  const added = Array.from({ length: Math.max(0, count - sessions.length) }, (_, n): SessionInfo => {
    const time = oldest - (n + 1) * 7 * MINUTE;
    return {
      ...like,
      id: id("5e", n),
      title: `Old session ${n}`,
      pinned: false,
      status: "idle",
      created_at: time,
      updated_at: time,
    };
  });
  list.snapshot.sessions = [...sessions, ...added];
  list.snapshot.total = list.snapshot.sessions.length;
}

const WORDS = "The part was sent again after the connection came back, so the store has it twice and says so.";

/** Returns the text of a message: some are short, some contain lists or code, like real answers. */
function textOf(n: number): string {
  if (n % 2 === 0) return `Question ${n}: ${WORDS.slice(0, 20 + (n % 7) * 10)}`;
  const more =
    n % 11 === 0
      ? "\n\n```rust\nlet part = store.put(id, n, body).await?;\n```"
      : n % 5 === 0
        ? "\n\n- one\n- two"
        : "";
  return `Answer ${n}: ${`${WORDS} `.repeat(1 + (n % 4)).trim()}${more}`;
}

/** Lengthens a snapshot's session to `count` messages, of them only the newest in the snapshot; returns all. */
export function longHistory(opened: Update | undefined, count: number): History | null {
  if (count <= 0 || opened?.type !== "snapshot" || opened.snapshot.topic !== "session") return null;
  const { snapshot } = opened;
  const began = snapshot.info.updated_at - count * MINUTE;
  const messages = Array.from({ length: count }, (_, n): Message => {
    const question = n % 2 === 0;
    return {
      id: id("e0", n),
      turn: id("7e", Math.floor(n / 2)),
      role: question ? "user" : "assistant",
      blocks: [{ type: "text", text: textOf(n) }],
      meta: {
        origin: question ? "person" : "model",
        at: began + n * MINUTE,
        ...(question ? {} : { end: "complete" as const }),
      },
    };
  });
  const turns = Array.from({ length: Math.ceil(count / 2) }, (_, n): TurnView => ({
    id: id("7e", n),
    started_at: began + 2 * n * MINUTE,
    ended_at: began + (2 * n + 1) * MINUTE,
    end: { type: "finished" },
    usage: { input: 900, cache_read: 8_000, cache_write: 100, output: 200 },
  }));
  const history: History = { info: { ...snapshot.info, status: "idle" }, messages, turns, calls: [], earlier: false };
  Object.assign(snapshot, {
    seq: SEQ,
    info: history.info,
    page: pageOf(history, count - FIRST_MESSAGES, count),
    questions: [],
    queue: [],
    todos: [],
    commands: [],
    streaming: [],
    notes: [],
    suggestion: null,
    budget: null,
  });
  return history;
}

function pageOf(history: History, from: number, to: number): TranscriptPage {
  const messages = history.messages.slice(Math.max(0, from), to);
  const mentioned = new Set(messages.map((message) => message.turn));
  return { messages, turns: history.turns.filter((turn) => mentioned.has(turn.id)), calls: [], earlier: from > 0 };
}

/** Returns the messages before one; empty if the session is not long. */
export function pageBefore(history: History | null, session: string, before: string, limit: number): TranscriptPage {
  const index = history?.info.id === session ? history.messages.findIndex((message) => message.id === before) : -1;
  if (!history || index < 0) return { messages: [], turns: [], calls: [], earlier: false };
  return pageOf(history, index - limit, index);
}

/** Returns a part of a long session around or after a message; null for any other session. */
export function partAt(
  history: History | null,
  call: Extract<TranscriptRequest, { type: "read_transcript" }>,
): TranscriptPart | null {
  if (history?.info.id !== call.session) return null;
  const index = history.messages.findIndex(({ id }) => id === call.place.message);
  if (index < 0) return null;
  const from = call.place.type === "after" ? index + 1 : Math.max(0, index - Math.floor(call.limit / 2));
  const to = from + call.limit;
  return { page: pageOf(history, from, to), later: to < history.messages.length };
}
