/** The session list, kept current. Pure. */
import type { SessionInfo, Trouble, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** The loaded sessions in display order, and the total number of sessions. */
export interface ListState {
  readonly seq: number;
  readonly sessions: readonly SessionInfo[];
  readonly total: number;
  /** Sessions that cannot be stored at present. */
  readonly troubles: ReadonlyMap<string, Trouble>;
}

/** Applies an update of the list's subscription. */
export function apply(state: ListState | null, update: Update): Outcome<ListState | null> {
  switch (update.type) {
    case "snapshot":
      if (update.snapshot.topic !== "sessions") return { type: "applied", state };
      return {
        type: "applied",
        state: {
          seq: update.snapshot.seq,
          sessions: inOrder(update.snapshot.sessions),
          total: update.snapshot.total,
          // Sent again after the snapshot if any remain.
          troubles: new Map(),
        },
      };
    case "event": {
      const { seq, event } = update.envelope;
      if (!state || seq > state.seq + 1) return { type: "gap" };
      if (seq <= state.seq) return { type: "applied", state };
      if (event.type === "session_listed") {
        const previous = state.sessions.find((info) => info.id === event.info.id);
        // An unknown row may be an old session that changed: the next page corrects the total.
        const total = previous || !isNew(state, event.info) ? state.total : state.total + 1;
        const sessions = liesBeyond(state, event.info, previous)
          ? state.sessions.filter((info) => info !== previous)
          : insertInOrder(state.sessions, event.info);
        return { type: "applied", state: { ...state, seq, sessions, total } };
      }
      if (event.type === "session_removed") {
        const sessions = state.sessions.filter((info) => info.id !== event.id);
        const total = Math.max(sessions.length, state.total - 1);
        return { type: "applied", state: { ...state, seq, sessions, total } };
      }
      return { type: "applied", state: { ...state, seq } };
    }
    case "delta":
    case "billed":
    case "policy":
    case "browser":
    case "page":
    case "library":
    case "tasks":
    case "activity":
    case "chats":
      return { type: "applied", state };
    case "trouble": {
      if (!state) return { type: "applied", state };
      const troubles = new Map(state.troubles);
      if (update.trouble) troubles.set(update.session, update.trouble);
      else troubles.delete(update.session);
      return { type: "applied", state: { ...state, troubles } };
    }
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}

/** Adds another page. */
export function extend(state: ListState, page: readonly SessionInfo[], total: number): ListState {
  const ids = new Set(state.sessions.map((info) => info.id));
  return { ...state, sessions: inOrder([...state.sessions, ...page.filter((info) => !ids.has(info.id))]), total };
}

/**
 * Returns whether a row belongs, or moved, to the part not yet loaded: it arrives with its page. If it were listed,
 * that page would start one row too late and skip another.
 */
function liesBeyond(state: ListState, info: SessionInfo, previous: SessionInfo | undefined): boolean {
  if (state.sessions.length >= state.total || (previous && before(info, previous) <= 0)) return false;
  const last = state.sessions.findLast((other) => other !== previous);
  return last !== undefined && before(last, info) < 0;
}

function isNew(state: ListState, info: SessionInfo): boolean {
  return state.sessions.length === state.total || state.sessions.every((other) => other.created_at < info.created_at);
}

/** Orders sessions like the core: those waiting for the person, then pinned ones, then the rest; newest first. */
function before(a: SessionInfo, b: SessionInfo): number {
  return (
    Number(b.status === "waiting") - Number(a.status === "waiting") ||
    Number(b.pinned) - Number(a.pinned) ||
    b.updated_at - a.updated_at ||
    (a.id < b.id ? 1 : -1)
  );
}

export function inOrder(sessions: readonly SessionInfo[]): readonly SessionInfo[] {
  return sessions.toSorted(before);
}

/** Returns an ordered list with a row inserted, replacing its old position. */
function insertInOrder(sessions: readonly SessionInfo[], info: SessionInfo): readonly SessionInfo[] {
  const others = sessions.filter((session) => session.id !== info.id);
  let low = 0;
  let high = others.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = others[middle];
    if (other && before(other, info) < 0) low = middle + 1;
    else high = middle;
  }
  others.splice(low, 0, info);
  return others;
}

/**
 * Returns whether a session changed since the person last looked. Running and waiting ones show their status instead.
 */
export function isUnread(info: SessionInfo): boolean {
  return (info.status === "idle" || info.status === "failed") && info.updated_at > (info.read_at ?? 0);
}

/** The groups of the sidebar. */
export type GroupName = "needs_you" | "pinned" | "today" | "yesterday" | "earlier";

/** A group with its sessions. */
export interface Group {
  readonly name: GroupName;
  readonly sessions: readonly SessionInfo[];
}

/** Groups sessions as of `now`, leaving out empty groups. */
export function groupSessions(sessions: readonly SessionInfo[], now: number): readonly Group[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const before = new Date(today);
  const yesterday = before.setDate(before.getDate() - 1);
  const names: GroupName[] = ["needs_you", "pinned", "today", "yesterday", "earlier"];
  const groupOf = (info: SessionInfo): GroupName => {
    if (info.status === "waiting") return "needs_you";
    if (info.pinned) return "pinned";
    if (info.updated_at >= today) return "today";
    return info.updated_at >= yesterday ? "yesterday" : "earlier";
  };
  const members: Record<GroupName, SessionInfo[]> = {
    needs_you: [],
    pinned: [],
    today: [],
    yesterday: [],
    earlier: [],
  };
  for (const info of sessions) members[groupOf(info)].push(info);
  return names.map((name) => ({ name, sessions: members[name] })).filter((group) => group.sessions.length > 0);
}
