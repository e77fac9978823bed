// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { Message, Request, SessionSnapshot, TranscriptPage, Update } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "./conversation.svelte";

const COUNT = 10_000;
const id = (n: number): string => `m${n}`;
const message = (n: number): Message => ({
  id: id(n),
  turn: `t${n}`,
  role: "user",
  blocks: [{ type: "text", text: `words ${n}` }],
  meta: { origin: "person", at: n },
});
/** Returns the messages of a range as the core gives them; `to` is exclusive. */
function page(from: number, to: number): TranscriptPage {
  const [first, end] = [Math.max(0, from), Math.min(COUNT, to)];
  const messages = Array.from({ length: Math.max(0, end - first) }, (_, index) => message(first + index));
  return { messages, turns: [], calls: [], earlier: first > 0 };
}
const numberOf = (name: string): number => Number(name.slice(1));

let calls: Request["call"][] = [];
let deliver: (batch: Update[]) => void = () => undefined;

function answer(request: Request): unknown {
  const { call } = request;
  if (call.type === "messages") return page(numberOf(call.before) - call.limit, numberOf(call.before));
  if (call.type !== "read_transcript") return {};
  const from = numberOf(call.place.message) + (call.place.type === "after" ? 1 : -call.limit / 2);
  const part = page(from, Math.max(0, from) + call.limit);
  return { page: part, later: Math.max(0, from) + call.limit < COUNT };
}

const transport: Transport = {
  request: (request) => {
    calls.push(request.call);
    return Promise.resolve().then(() => answer(request));
  },
  subscribe: (_, onBatch) => {
    deliver = onBatch;
    return Promise.resolve(() => undefined);
  },
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

function snapshot(): Update {
  const info = {
    id: "s",
    title: "long",
    folder: "/x",
    profile: "general",
    mode: "ask",
    model: null,
    source: "window",
    pinned: false,
    status: "idle",
    created_at: 1,
    updated_at: 1,
    usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  } as const;
  const whole: SessionSnapshot = {
    seq: 1,
    info,
    page: page(COUNT - 200, COUNT),
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
  return { type: "snapshot", snapshot: { topic: "session", ...whole } };
}

function open(): Conversation {
  const session = new Conversation("s", () => undefined);
  deliver([snapshot()]);
  return session;
}
const indexes = (session: Conversation): number[] =>
  session.rows.flatMap((row) => (row.kind === "user" && row.message !== null ? [numberOf(row.message)] : []));

beforeEach(() => {
  calls = [];
  useTransport(transport);
});

describe("a jump into a conversation of ten thousand messages", () => {
  it("loads only the part around the message", async () => {
    const session = open();
    await session.jump(id(5_000));
    expect(calls).toHaveLength(1);
    expect(session.target).toEqual({ message: id(5_000) });
    expect(indexes(session)).toContain(5_000);
    expect(indexes(session).length).toBe(200);
    // A loaded part is not read again.
    await session.jump(id(5_010));
    expect(calls).toHaveLength(1);
    await session.jump(id(COUNT - 10));
    expect(session.away).toBeNull();
    expect(calls).toHaveLength(1);
    expect(indexes(session).at(-1)).toBe(COUNT - 1);
  });

  it("loads in both directions until it reaches the newest messages", async () => {
    const session = open();
    await session.jump(id(9_500));
    const first = indexes(session)[0] ?? 0;
    await session.loadEarlier();
    expect(indexes(session)[0]).toBe(first - 200);
    for (let rounds = 0; session.away !== null && rounds < 10; rounds += 1) await session.loadLater();
    expect(session.away).toBeNull();
    const all = indexes(session);
    expect(all).toEqual(Array.from({ length: COUNT - (first - 200) }, (_, index) => first - 200 + index));
    expect(session.state?.earlier).toBe(true);
  });

  it("misses no updates and returns to the newest messages", async () => {
    const session = open();
    await session.jump(id(10));
    expect(indexes(session)[0]).toBe(0);
    const added = { ...message(COUNT), id: id(COUNT) };
    const envelope = { topic: { type: "session", id: "s" } as const, seq: 2, at: 1, v: 1 };
    deliver([{ type: "event", envelope: { ...envelope, event: { type: "message_added", message: added } } }]);
    expect(indexes(session)).not.toContain(COUNT);
    session.comeBack();
    expect(indexes(session).at(-1)).toBe(COUNT);
    expect(session.target).toBeNull();
    // Sending returns to the end.
    await session.jump(id(10));
    await session.send([{ type: "text", text: "x" }]);
    expect(session.away).toBeNull();
  });

  it("into the part next to the newest joins the two", async () => {
    const session = open();
    await session.jump(id(COUNT - 250));
    expect(session.away).toBeNull();
    expect(indexes(session)).toContain(COUNT - 250);
    expect(indexes(session).at(-1)).toBe(COUNT - 1);
  });
});
