/** The list of sessions, kept current. Pure. */
import type { SessionInfo, Trouble, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** The sessions that are loaded, in the order they are shown, and how many there are in all. */
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
          // Told again after it, where there still is any.
          troubles: new Map(),
        },
      };
    case "event": {
      const { seq, event } = update.envelope;
      if (!state || seq > state.seq + 1) return { type: "gap" };
      if (seq <= state.seq) return { type: "applied", state };
      if (event.type === "session_listed") {
        const known = state.sessions.find((info) => info.id === event.info.id);
        // A line that is not loaded may be an old one that changed: the total is then counted again on the next page.
        const total = known || !isNew(state, event.info) ? state.total : state.total + 1;
        const sessions = liesBeyond(state, event.info, known)
          ? state.sessions.filter((info) => info !== known)
          : placed(state.sessions, event.info);
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

/** Adds a further page. */
export function extend(state: ListState, page: readonly SessionInfo[], total: number): ListState {
  const known = new Set(state.sessions.map((info) => info.id));
  return { ...state, sessions: inOrder([...state.sessions, ...page.filter((info) => !known.has(info.id))]), total };
}

/**
 * Whether a line belongs among those that are not loaded yet, or went there: it comes with their page. Were it listed,
 * that page would begin one place too late and leave out another one.
 */
function liesBeyond(state: ListState, info: SessionInfo, known: SessionInfo | undefined): boolean {
  if (state.sessions.length >= state.total || (known && before(info, known) <= 0)) return false;
  const last = state.sessions.findLast((other) => other !== known);
  return last !== undefined && before(last, info) < 0;
}

function isNew(state: ListState, info: SessionInfo): boolean {
  return state.sessions.length === state.total || state.sessions.every((other) => other.created_at < info.created_at);
}

/** Those that wait for the person, then pinned ones, then the rest; newest first. As the core has it. */
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

/** A list in order with a line put where it belongs, in the place of the one it had. */
function placed(sessions: readonly SessionInfo[], info: SessionInfo): readonly SessionInfo[] {
  const others = sessions.filter((known) => known.id !== info.id);
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

/** Whether something happened since the person last looked. What runs or waits says so itself. */
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

/** Sorts sessions into groups as of `now`; empty groups are left out. */
export function grouped(sessions: readonly SessionInfo[], now: number): readonly Group[] {
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
